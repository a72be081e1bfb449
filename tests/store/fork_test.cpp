// A forked child has its parent's handles: it may ask, and it may not add, sync or end the parent's part in the file.
#include <doctest/doctest.h>

#include "forms.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

TEST_CASE("a child adds nothing through a handle of its parent, and asks as before") {
  for (const OpenMode mode : {OpenMode::kWrite, OpenMode::kExclusive}) {
    TempDir dir;
    CHECK(created(dir.file()).close().ok());
    Filter filter = opened(Filter::open(dir.file(), mode));
    add_keys(filter, 1, 0, kSome);
    const std::string before = read_bytes(dir.file());
    CHECK(in_child([&] {
            for (const AddForm& form : add_forms()) {
              if (form.add(filter, 2, 300).code() != Code::kForked) return 1;
            }
            if (filter.sync(1, 1).code != Code::kForked) return 2;
            if (filter.recovered(1).error().code != Code::kForked) return 3;
            if (maybes(filter, 1, 0, kSome) != kSome || !answers_no(filter)) return 4;
            return filter.close().ok() ? 0 : 5;
          }) == 0);
    CHECK(read_bytes(dir.file()) == before);
    add_keys(filter, 2, 0, kSome);
    CHECK(filter.sync(1, 1).ok());
    CHECK(state_of(dir.file()) == FileState::kInUse);
    CHECK(filter.close().ok());
    CHECK(state_of(dir.file()) == FileState::kClean);
  }
}

TEST_CASE("a child opens the file again, and so does its child") {
  TempDir dir;
  Filter filter = created(dir.file());
  const auto add_as = [&](unsigned writer) {
    auto own = Filter::open(dir.file(), OpenMode::kWrite);
    if (!own || !own->add(key_of(writer, 0)).ok()) return 1;
    return in_child([&] {
      if (own->add(key_of(writer, 1)).code() != Code::kForked) return 2;
      auto next = Filter::open(dir.file(), OpenMode::kWrite);
      return next.ok() && next->add(key_of(writer, 2)).ok() && next->close().ok() ? 0 : 3;
    });
  };
  CHECK(in_child([&] { return add_as(7); }) == 0);
  CHECK(in_child([&] { return add_as(8); }) == 0);
  for (const unsigned writer : {7U, 8U}) {
    CHECK(filter.contains(key_of(writer, 0)));
    CHECK(filter.contains(key_of(writer, 2)));
  }
  CHECK(filter.add(key_of(9, 9)).ok());
}
