// Makes a new file of others at rest, which need only be readable. It looks at them, fills a file without a name from
// them, looks at them again, and only then gives the new file its name.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/file/making.hpp"
#include "store/file/session.hpp"

namespace bfstore::store {

// A file that no process writes to, as it was at the first look.
struct Source {
  std::unique_ptr<Session> session;
  std::unique_ptr<const Evidence> before;  // on the heap: threads and fibers with small stacks come here, too

  [[nodiscard]] const OpenFile& file() const noexcept { return session->file(); }
  [[nodiscard]] const format::Slot& marks() const noexcept { return *before->slots.newest(); }
};

// What is made of the sources.
struct Recipe {
  std::string verb;        // for messages: "seal"
  std::string participle;  // "sealed"
  std::function<Result<format::Identity>(std::span<const Source> sources)> plan;
  std::function<Error(std::span<const Source> sources, OpenFile& made)> fill;
};

// The complete, durable file appears at `to`, or nothing does. kBusy if a source has writers, or was written to
// meanwhile. No secret is needed.
Error derive(std::span<const std::string> from, const std::string& to, const Making& how, const Recipe& recipe);

}  // namespace bfstore::store
