// Marks. An owner is a program that has a log of its keys and a number of its own: a process, a shard, a database. A
// mark is a position in that log: every key up to it is durable in the filter.
#pragma once

#include <cstdint>

namespace bfstore {

// A position in an owner's log.
struct LogPosition {
  std::uint64_t owner = 0;  // a number of the owner's choice
  std::uint64_t epoch = 0;  // which log: a number of the owner's choice, a new one whenever positions begin anew
  std::uint64_t mark = 0;   // every key up to this position is durable; 0: none yet

  bool operator==(const LogPosition&) const noexcept = default;
};

// The data that a filter keeps for an owner.
struct OwnerMark : LogPosition {
  bool recovered = false;  // in a recovery: the owner has finished it

  bool operator==(const OwnerMark&) const noexcept = default;
};

}  // namespace bfstore
