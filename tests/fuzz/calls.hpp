// The pieces of a sequence of calls that the input decides: options, batches of keys in every form, and absurd
// arguments.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support.hpp"

namespace fuzz {

// Return flags of bfstore.h for the bits of an input. The header's own numbers would not do: inputs would seldom have
// the high flags, and kept inputs would lose their meaning when numbers change.
std::uint64_t make_flags(std::uint64_t bits) noexcept;  // of bfs_create and bfs_format: 10 bits
std::uint64_t open_flags(std::uint64_t bits) noexcept;  // of bfs_open: 16 bits
std::uint64_t seal_flags(std::uint64_t bits) noexcept;  // of bfs_copy with BFS_SEALED: 2 bits

// Options whose pointers live as long as this does.
struct GivenOptions {
  std::uint64_t flags = 0;  // of the function
  bool either = false;      // open the file, or make it
  std::optional<std::uint64_t> seed;
  bfs_options options{};
  std::string like;
  std::string note;
  void point() noexcept;  // sets the struct's pointers to what is here
};

// Returns options with small sizes and impossible ones. `path_of` gives the path of a numbered file.
GivenOptions options_from(Bytes& input, std::string (*path_of)(unsigned));

// Keys in the form of one of the batch functions.
class Batch {
 public:
  // Takes those keys that the input names whose digest is wanted.
  Batch(
      Bytes& input, const bfs_filter* filter,
      const std::function<bool(std::uint64_t)>& wanted = [](std::uint64_t) { return true; });
  std::int64_t add(bfs_filter* filter) const;
  std::int64_t remove(bfs_filter* filter) const;
  // Checks that the answers are those that each key gets alone.
  void ask(const bfs_filter* filter) const;
  [[nodiscard]] const std::vector<std::uint64_t>& digests() const noexcept { return digests_; }

 private:
  enum Form { kMany, kFixed, kColumn32, kColumn64, kDigests };
  std::int64_t contains(const bfs_filter* filter, std::uint8_t* answers) const;
  std::int64_t select(const bfs_filter* filter, std::uint32_t* indices) const;

  Form form_;
  bool takes_keys_;  // whether the filter takes keys
  std::vector<const void*> keys_;
  std::vector<std::size_t> lengths_;
  std::string bytes_;  // keys without gaps
  std::vector<std::int32_t> offsets32_;
  std::vector<std::int64_t> offsets64_;
  std::vector<std::uint64_t> digests_;
};

// Makes calls with arguments that no caller can mean. Each is refused, and changes nothing. `filter` may be null.
void call_absurdly(Bytes& input, bfs_filter* filter);

}  // namespace fuzz
