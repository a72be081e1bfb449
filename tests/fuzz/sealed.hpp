// Sealed files as FORMAT.md describes them, without the library's own reader: an image gets a seal, and a file is read
// again to know its damage and the right answer for every digest.
#pragma once

#include <optional>
#include <vector>

#include "format/identity.hpp"
#include "support.hpp"

namespace fuzz {

struct Checksums {
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
};

// Seals what the header says about a body that begins with these bytes and continues with zeros. Empty if the body
// cannot be that large.
Checksums put_seal(std::span<std::byte> header, Input body);

// Makes the header tell the fuzzers' key from others, if its hash has one.
void put_secret_check(std::span<std::byte> header);

constexpr std::int32_t writing_code(std::uint32_t ro_compat) noexcept {
  return (ro_compat & ~bfstore::format::kRoSealed) != 0 ? BFS_EFEATURE : BFS_ESEALED;
}

class Sealed {
 public:
  // Returns nothing for a file that is not sealed, or whose identity breaks a rule.
  static std::optional<Sealed> read(const char* path);
  // Returns the code that a writer gets: that the file is sealed, or first that it has a feature of a later version.
  [[nodiscard]] std::int32_t writing_code() const noexcept { return fuzz::writing_code(identity_.ro_compat); }
  // The ranges that bfs_verify must report.
  [[nodiscard]] const std::vector<bfs_range>& damaged() const noexcept { return damaged_; }
  // True if another file has its name for good, or if no process may write that it has not. Such a file is verified,
  // and not opened.
  [[nodiscard]] bool replaced() const noexcept;
  // Returns whether all bits of the digest are set, or none of its counters is 0. If damage is tolerated, the cells of
  // a damaged chunk count as set. A file that is still being filled may have every key.
  [[nodiscard]] bool may_have(std::uint64_t digest, bool tolerated) const;

 private:
  explicit Sealed(bfstore::ReportedIdentity identity) : identity_(std::move(identity)) {}
  void compare();
  void compare_state();
  [[nodiscard]] bool any_epoch_has(std::uint64_t digest, unsigned epochs, bool tolerated) const;
  [[nodiscard]] bool static_has(std::uint64_t digest, bool tolerated) const;
  // No writer seals a file that is being filled, but bytes may say so.
  [[nodiscard]] bool filling() const noexcept;
  void add_damage(std::uint64_t offset, std::uint64_t bytes);
  [[nodiscard]] bool bit(std::uint64_t number, bool tolerated) const;
  [[nodiscard]] bool counter(std::uint64_t number, bool tolerated) const;

  bfstore::ReportedIdentity identity_;
  std::vector<std::byte> file_;
  std::vector<bool> chunk_is_damaged_;
  std::vector<bfs_range> damaged_;
};

}  // namespace fuzz
