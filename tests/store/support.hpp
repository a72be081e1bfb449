// Shared by the tests of sharing and safety: files in a folder of their own, a look at a file's bytes without the
// library, and filters in other processes.
#pragma once

#include <bfstore/bfstore.hpp>

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "format/state.hpp"
#include "keys.hpp"
#include "support/scale.hpp"

namespace store_test {

using tests::kKeyScale;

// A new folder, removed with its contents.
class TempDir {
 public:
  TempDir();
  explicit TempDir(const std::string& parent);
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name = "filter.bf") const { return path_ + "/" + name; }
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::string path_;
};

// A folder in memory, if there is one: for tests that bring their own disk, or that want many rounds of what a disk
// does slowly.
std::string memory_folder();

// --- Filters and keys ------------------------------------------------------------------------------------------------

// Returns the value, or the test fails with the error's message.
bfstore::Filter opened(bfstore::Result<bfstore::Filter> result);
bfstore::Filter created(const std::string& path, const bfstore::Options& options = small_options());
bfstore::Code code_of(const bfstore::Result<bfstore::Filter>& result);
bfstore::Code open_code(const std::string& path, bfstore::OpenMode mode);
bfstore::FileState state_of(const std::string& path);

void add_keys(bfstore::Filter& filter, unsigned writer, std::uint64_t from, std::uint64_t count);
// Returns whether answers are real: a fresh key is not "maybe".
bool answers_no(const bfstore::Filter& filter);

// --- A file's bytes --------------------------------------------------------------------------------------------------

std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, std::uint64_t offset, const std::string& bytes);
void copy_file(const std::string& from, const std::string& to);

// The state of the file now, read through a descriptor of its own.
struct OnDisk {
  bfstore::format::FileId file_id{};
  bfstore::format::SlotPair slots;
  std::uint64_t live_word = 0;
  bool syncing = false;
  std::uint64_t keys_added = 0;

  [[nodiscard]] const bfstore::format::Slot& newest() const;
  [[nodiscard]] bool says_dirty() const;
};
OnDisk look(const std::string& bytes);
OnDisk look_at(const std::string& path);

// Changes every valid slot and writes it again with a good checksum.
void edit_slots(const std::string& path, const std::function<void(bfstore::format::Slot&)>& edit);
void set_word(const std::string& path, std::uint64_t offset, std::uint64_t word);
void set_live_word(const std::string& path, std::uint64_t word);
void set_syncing(const std::string& path, bool syncing = true);

// Returns this system's boot id as the kernel prints it, parsed without the library.
bfstore::format::BootId boot_id_here();

// --- Other processes -------------------------------------------------------------------------------------------------

// A process with a filter of its own, which obeys line by line (worker_remote.cpp has the list).
class Remote {
 public:
  explicit Remote(const std::string& path);
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;
  ~Remote();

  std::string call(const std::string& line);
  // Kills it by SIGKILL, and waits until it is gone.
  void kill();

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

// Starts the worker program; the caller waits for it.
pid_t start_worker(const std::vector<std::string>& arguments, int standard_input = -1, int standard_output = -1);
// Waits for it. Returns the exit code, or 1000 + the signal.
int wait_for(pid_t pid);
// Kills it by SIGKILL, and waits until it is gone.
void kill_and_wait(pid_t pid);

// Runs `body` in a forked child, which must not use doctest. Returns the exit code, or 1000 + the signal.
int in_child(const std::function<int()>& body);
// For in_child: root gives up its power over files. Any other user has none.
bool become_nobody();

// A process that stops in the middle of something, and is killed at the end.
class Stopped {
 public:
  // Runs `body` in a forked child, which must not use doctest, until the child stops itself, at the latest at the end.
  explicit Stopped(const std::function<void()>& body);
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;
  ~Stopped();

  // Returns the beginning of an error message's words for the process.
  [[nodiscard]] std::string in_words() const { return "(process " + std::to_string(pid_); }
  // Lets it continue, until it has stopped itself again.
  void go_on();
  void kill();

 private:
  void wait_for_its_stop();
  pid_t pid_ = -1;
};

// A lock of a program that knows nothing of filters, for a Stopped process: of a kind (F_RDLCK, F_WRLCK), by a command
// (F_SETLK, F_OFD_SETLK), of `count` bytes. 0: to the end of the file, wherever that is.
void lock_as_stranger(const std::string& path, short kind, int command, std::uint64_t first, std::uint64_t count);

// Makes a file that a killed process leaves: `count` keys of writer 1 are in it.
void leave_behind(const std::string& path, std::uint64_t count = kSome);

// Keeps the arguments of main(), for option().
void take_options(int count, char** values);
// Returns N of "--name=N" of the command line, or the default.
std::uint64_t option(const std::string& name, std::uint64_t otherwise);
// Returns N of "--seed=N" for a test of random accidents, and prints it. Each case has another default.
std::uint64_t first_seed(std::uint64_t otherwise = 1);

}  // namespace store_test
