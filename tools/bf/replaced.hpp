// The file that a new one replaces (--force). bf replaces no filter that may have keys which the new one lacks.
#pragma once

#include "arguments.hpp"

#include <bfstore/bfstore.hpp>
#include <bfstore/inspect.hpp>

#include <optional>
#include <span>
#include <string>

namespace bf {

class Replaced {
 public:
  // Looks at the file of that name that --force would replace, if there is one. Throws Failure if it is no filter. An
  // empty file has no keys. With --accept-loss or --filling any filter may go, and the functions below look at nothing.
  Replaced(const Arguments& arguments, std::string path);

  [[nodiscard]] bool is_there() const noexcept { return identity_.has_value() || !problem_.empty(); }

  // Throws Failure if the file is damaged, as far as it shows, and `name`, which is to replace it, is no copy of it.
  void refuse_damaged(const std::string& name) const;

  // Throws Failure if the file may have keys that `made` lacks, and if bf cannot tell, since the file is damaged for
  // instance. `made` is the new filter, or has each of its bits.
  void refuse_loss(const bfstore::Filter& made, const std::string& name) const;

  // The same, where `made` is the file of this path. Both may be one sealed file, of which the one to replace is
  // damaged.
  void refuse_loss_of_file(const bfstore::Filter& made, const std::string& path) const;

  // The same for the intersection of these filters, whose paths are arguments.sources.
  void refuse_loss_of_each(std::span<const bfstore::Filter> filters) const;

  // The same for the whole filter of these parts. No filter has all of its bits before it is made.
  void refuse_loss_of_parts(std::span<const bfstore::Filter> parts) const;

 private:
  // True if both are copies, byte for byte, of one sealed file, however damaged this one is since. A sealed file never
  // gets another key.
  [[nodiscard]] bool has_the_keys_of(const std::string& name) const;
  // Returns the file, if its keys are found at the same places, and nothing if it has no keys. Throws Failure if it
  // gives no answers.
  [[nodiscard]] std::optional<bfstore::Filter> opened(const std::string& name) const;
  // Returns true if no key is in the file. Reads its bits.
  [[nodiscard]] bool has_no_keys() const;
  // Throws Failure, unless the file has no keys. `why` is what the file is or has: bf cannot compare its keys.
  void refuse_unless_empty(const std::string& why) const;
  [[noreturn]] void fail(const std::string& name) const;

  const Arguments& arguments_;
  std::string path_;
  std::optional<bfstore::ReportedIdentity> identity_;  // if there is a file to compare
  std::string problem_;  // what the file is, if it is not a good filter file: no bits of it are compared
};

bool is_sealed(const std::string& file);

// What is said of the writer of a file that was replaced. It learns of it when it adds or syncs.
inline constexpr const char* kWriterHadIt =
    "a writer had the old file open. Its adds get an error until it opens the path again, and the keys that it added "
    "are gone.";

// Throws Failure if --force would replace a file that is no filter, which is rather a mistyped name. A damaged filter
// and an empty file may go.
void refuse_no_filter(const Arguments& arguments, const std::string& path);

// Gives `options` the hash and seed of the filter that --force replaces, unless the command line names them: readers
// that follow the path (BFS_FOLLOW) continue only with the same ones. Throws Failure if that hash has a secret, and it
// was not given. A hash that other options must fit, or one that takes no keys, is not taken.
void keep_hash_of_replaced(const Arguments& arguments, bfstore::Options& options);

// Returns the note with the form of keys of the filter that --force replaces, unless the note or the command line names
// one: its readers make their keys in that form.
std::string with_form_of_replaced(const Arguments& arguments, std::string note);

// The file that a command replaces by one whose keys are a list, or none (bf build, bf create): no bits are compared.
class Displaced {
 public:
  // Looks at the file of the command line, if --force would replace it.
  explicit Displaced(const Arguments& arguments);

  // Says what was replaced, now that it is by such a filter with this note.
  void report(const bfstore::Stats& made, const std::string& note) const;

 private:
  // What the file had, and the new one has not.
  [[nodiscard]] std::string lost(const bfstore::Stats& made, const std::string& note) const;

  const Arguments& arguments_;
  bool is_there_ = false;
  std::string what_;  // "a filter of about 5 keys", or empty if it has none
  std::optional<bfstore::ReportedIdentity> identity_;
  bool in_use_ = false;
};

}  // namespace bf
