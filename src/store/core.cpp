#include "store/core.hpp"

#include <unistd.h>

#include <array>
#include <functional>
#include <thread>

namespace bfstore {
namespace {

// Threads count on cache lines of their own, as far as the stripes go.
std::size_t own_stripe() noexcept {
  thread_local const std::size_t stripe =
      (std::hash<std::thread::id>{}(std::this_thread::get_id()) + static_cast<std::size_t>(getpid())) %
      format::kNumStripes;
  return stripe;
}

}  // namespace

namespace store {

Shape shape_of(const format::Identity& identity) noexcept {
  return {static_cast<Layout>(identity.layout),
          static_cast<Hash>(identity.hash),
          identity.num_probes,
          identity.num_bits,
          identity.capacity,
          identity.fpr,
          identity.seed};
}

}  // namespace store

Filter::Core::Core(std::unique_ptr<store::Session> file_session, bool may_write)
    : words(reinterpret_cast<std::uint64_t*>(file_session->body())),
      live_word(
          reinterpret_cast<std::atomic<std::uint64_t>*>(file_session->live_page() + format::kLiveWordField.offset)),
      healthy(format::healthy_live_word(file_session->identity().file_id)),
      shape(store::shape_of(file_session->identity())),
      body_bytes(file_session->identity().body_bytes),
      writable(may_write),
      stripes(file_session->live_page() + format::kStripesField.offset),
      session(std::move(file_session)) {
  functions = &layout::functions_for(shape.layout);
  geometry = layout::geometry_of(shape.layout, shape.num_bits, shape.num_probes);
}

Filter::Core::Core(std::uint64_t* body, const Shape& body_shape, std::uint64_t body_length, bool may_write)
    : functions(&layout::functions_for(body_shape.layout)),
      words(body),
      geometry(layout::geometry_of(body_shape.layout, body_shape.num_bits, body_shape.num_probes)),
      live_word(&own_live_word),
      healthy(1),
      shape(body_shape),
      body_bytes(body_length),
      writable(may_write) {}

Filter::Core::Core(region::Mapping mapped_range, std::uint64_t body_offset, const Shape& body_shape,
                   std::uint64_t body_length)
    : Core(reinterpret_cast<std::uint64_t*>(mapped_range.data() + body_offset), body_shape, body_length, false) {
  range = std::make_unique<region::Mapping>(std::move(mapped_range));
}

Count Filter::Core::add(std::uint64_t digest) noexcept {
  if (const Code code = may_add(); code != Code::kOk) return code;
  const bool changed = functions->add(words, geometry, digest);
  if (changed) count_keys(1);
  return std::uint64_t{changed ? 1U : 0U};
}

std::atomic_ref<std::uint64_t> Filter::Core::stripe(std::size_t index) const noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(stripes + index * format::kStripeBytes));
}

void Filter::Core::count_keys(std::uint64_t keys) noexcept {
  if (stripes != nullptr && keys != 0) stripe(own_stripe()).fetch_add(keys, std::memory_order_relaxed);
}

std::uint64_t Filter::Core::keys_added() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; stripes != nullptr && i < format::kNumStripes; ++i)
    sum += stripe(i).load(std::memory_order_relaxed);
  return sum;
}

}  // namespace bfstore
