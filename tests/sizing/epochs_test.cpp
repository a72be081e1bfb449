// How long an epoch lasts, and for how long a key is found.
#include "sizing/epochs.hpp"

#include <bfstore/plan.hpp>

#include "support/support.hpp"

using namespace rooms;

TEST_CASE("an epoch is a part of the window, rounded up to whole milliseconds") {
  CHECK(sizing::epoch_ms(7, 8) == 1);
  CHECK(sizing::epoch_ms(8, 8) == 2);
  CHECK(sizing::epoch_ms(1, 8) == 1);
  CHECK(sizing::epoch_ms(10, 4) == 4);
  CHECK(sizing::epoch_ms(5, 2) == 5);
  CHECK(sizing::epoch_ms(UINT64_MAX, 2) == UINT64_MAX);
}

TEST_CASE("a key that was added when its epoch began is found for all epochs") {
  CHECK(sizing::longest_found_ms(7, 8) == 8);
  CHECK(sizing::longest_found_ms(8, 8) == 16);
  CHECK(sizing::longest_found_ms(9, 4) == 12);
  CHECK(sizing::longest_found_ms(5, 2) == 10);
  CHECK(sizing::longest_found_ms(UINT64_MAX / 2, 2) == UINT64_MAX - 1);
  CHECK(sizing::longest_found_ms(UINT64_MAX / 2 + 1, 2) == UINT64_MAX);
}

TEST_CASE("a plan has epochs where a window was given, and refuses one in a layout whose keys stay") {
  PlanRequest request;
  request.capacity = 1000;
  for (const LayoutInfo& layout : layouts()) {
    request.layout = layout.layout;
    request.window_ms = 0;
    const auto without = plan(request);
    REQUIRE(without.ok());
    CHECK(without->window_ms + without->epoch_ms + without->longest_found_ms + without->turn_bytes == 0);
    request.window_ms = 7001;
    const auto with = plan(request);
    REQUIRE(with.ok() == layout.can.expire);
    if (!with) {
      CHECK(with.error().code == Code::kInvalid);
      continue;
    }
    CHECK(with->window_ms == 7001);
    CHECK(with->epoch_ms == sizing::epoch_ms(7001, layout.epochs));
    CHECK(with->longest_found_ms == sizing::longest_found_ms(7001, layout.epochs));
    CHECK(with->turn_bytes == with->body_bytes);
    CHECK(with->num_bits == without->num_bits);
  }
}
