// The knowledge of fuzz_sequence while it calls: the files and buffers, the handles, and what each of them must have.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "calls.hpp"

namespace fuzz {

constexpr std::size_t kPaths = 3;
constexpr std::size_t kBufferBytes = 4096;
constexpr std::uint64_t kNeverAdded = 0x0123456789abcdef;

// Maps each digest to the number of its adds that were not removed. A layout without counters has it from the first add
// on.
using Present = std::map<std::uint64_t, std::uint64_t>;

// The contents of a file or a buffer, whatever its name is.
struct Content {
  Present digests;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> marks;  // epoch and mark of an owner
  std::vector<Present> ended;  // where keys expire: what was there at the end of each epoch
  bool superseded = false;     // another file has its place, or is about to
  bool in_doubt = false;       // copied while it may have been in use
  bool needs_secret = false;
  bool sealed = false;
  bool damaged = false;  // since it was sealed
};

// The answers of a handle in private memory, whatever happens to the file.
using Answers = std::array<std::int32_t, 2 * kKeys>;
Answers answers_of(const bfs_filter* filter);

struct alignas(64) Buffer {
  std::array<std::uint8_t, kBufferBytes> bytes{};
  std::uint64_t used = 0;
  bool bare = false;
};

struct Handle {
  bfs_filter* filter = nullptr;
  std::shared_ptr<Content> content{};
  std::size_t path = kPaths;  // kPaths: a buffer
  bool unpublished = false;   // has no name yet
  bool supersedes = false;    // holds the lock of the file that has the name
  std::shared_ptr<Buffer> buffer{};
  bool writes = false;
  bool checked = false;             // damage is covered with ones
  std::optional<Present> copied{};  // for a handle in private memory: the keys when it was made
  Answers answers{};                // and its answers

  // Returns the digests for which the handle never answers no.
  [[nodiscard]] Present must_have() const {
    if (copied) return *copied;
    return content->damaged && !checked ? Present{} : content->digests;
  }
};

std::string path_of(unsigned number);

class Sequence {
 public:
  explicit Sequence(Input input) : input_(input) {}
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence();
  void run();

 private:
  void step();
  void create();
  void open();
  void check_opened(std::size_t path, std::uint64_t flags, bool needs_secret) const;
  void seal();
  void check_seal(std::size_t path) const;
  void damage();
  void format();
  void wrap();
  void add(Handle& handle);
  void add_batch(Handle& handle);
  void remove_or_add(Handle& handle);
  void remove_key(Handle& handle);
  void remove_or_add_batch(Handle& handle);
  static void turn(Handle& handle);
  void sync(Handle& handle);
  void supersede(Handle& handle);
  void publish(Handle& handle);
  void close(std::size_t index);
  void copy();
  void remove();
  void is_current(const Handle& handle);
  void check_all() const;
  static void check_counts(const bfs_filter* filter, const Present& known);

  Handle& keep(Handle handle);
  Handle* any();
  // True if a call that takes the file's state lock would wait for a handle of this very sequence.
  [[nodiscard]] bool held(std::size_t path) const;
  [[nodiscard]] bool is_written(std::size_t path) const;
  void supersede_file(std::size_t path, bool superseded);

  Bytes input_;
  std::vector<Handle> handles_;
  std::array<std::shared_ptr<Content>, kPaths> files_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::map<const Buffer*, std::shared_ptr<Content>> in_buffers_;
};

}  // namespace fuzz
