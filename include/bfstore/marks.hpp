// Marks: up to where the keys of an owner's log are durable in a filter. An owner is a process, a shard, a database:
// who keeps a log of keys and adds them to the filter.
#pragma once

#include <cstdint>

namespace bfstore {

// A position in the log of an owner.
struct LogPosition {
  std::uint64_t owner = 0;  // a number of the owner's choice
  std::uint64_t epoch = 0;  // which log: the owner takes a new number whenever the positions of its log begin anew
  std::uint64_t mark = 0;   // up to there; 0: nothing

  bool operator==(const LogPosition&) const noexcept = default;
};

// What a filter keeps for an owner.
struct OwnerMark : LogPosition {
  bool recovered = false;  // in a recovery: the owner has added again what came after the mark

  bool operator==(const OwnerMark&) const noexcept = default;
};

}  // namespace bfstore
