// The file that another file replaces (FORMAT.md, "Replacing a file").
#pragma once

#include <bfstore/error.hpp>
#include <bfstore/options.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "region/file.hpp"
#include "region/lock.hpp"
#include "region/mapping.hpp"

namespace bfstore::store {

// While this object lives, the file is superseded, and no process can open it for writing. If the file still has its
// name in the destructor, no other file replaced it, and it continues as before.
class Replaced {
 public:
  // Supersedes the file that has the name which `successor` is to get. nullptr if no file has it. A file without a live
  // word is not written to. kInvalid if both files have the same id: a process would take pages of one for the other's.
  // kBusy if a writer has a file open in which this version cannot mark that it was replaced.
  static Result<std::unique_ptr<Replaced>> begin(const region::File& successor, const FileId& id,
                                                 std::uint32_t lock_timeout_ms);

  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  ~Replaced();

  // kLost if other code of this process closed the file's descriptor, or ended the lock that keeps writers out.
  [[nodiscard]] Error check() const;
  [[nodiscard]] bool has_its_path() const noexcept { return file_.has_its_path(); }
  [[nodiscard]] const region::File& file() const noexcept { return file_; }
  // From now on another handle of this process that wants to replace the file gets kBusy, and does not wait.
  void hold_for_long() const noexcept { file_.hold_for_long(); }

  // Called right before the system call that gives its name to another file.
  void about_to_go() const noexcept;
  // Called when another file has the name. No process uses this file again, whatever other names lead to it.
  void is_gone() const noexcept;

 private:
  explicit Replaced(region::File file) : file_(std::move(file)) {}
  Result<bool> supersede(const FileId& successor, std::uint32_t lock_timeout_ms);
  Error tell();
  [[nodiscard]] bool has_live_page() const noexcept;
  void set(std::uint64_t bits) const noexcept;

  region::File file_;
  region::MappedLock state_lock_;             // held for long, so it must not end when other code closes a descriptor
  std::optional<region::Mapping> live_page_;  // if the file has one
};

inline constexpr int kMostReopens = 100;  // for a path that other processes keep replacing
Error replaced_again_and_again(const std::string& path);

}  // namespace bfstore::store
