#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "../support/abi_calls.h"
#include "sequence.hpp"

namespace fuzz {
namespace {

constexpr std::size_t kMostHandles = 6;
constexpr std::size_t kMostSteps = 64;

}  // namespace

std::string path_of(unsigned number) {
  constexpr std::array<const char*, kPaths> kNames{"one", "two", "three"};
  return scratch(kNames[number % kPaths]);
}

Answers answers_of(const bfs_filter* filter) {
  Answers answers{};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i] = bfs_contains_digest(filter, i < kKeys ? digest(i) : kNeverAdded * i);
  }
  return answers;
}

void Sequence::check_opened(std::size_t path, std::uint64_t flags, bool needs_secret) const {
  check(files_[path] != nullptr, "what is opened was made");
  const Content& content = *files_[path];
  check(needs_secret == content.needs_secret, "a file with a secret needs it, and no other file does");
  const bool writes = (flags & (BFS_WRITE | BFS_EXCLUSIVE)) != 0;
  check(!writes || !content.sealed, "a sealed file is never written to");
  check(!writes || (flags & BFS_PRIVATE) == 0, "a copy is read");
  const bool tolerates = (flags & BFS_TOLERATE_DAMAGE) != 0;
  const bool compares = tolerates || (flags & BFS_VERIFY) != 0;
  check(!compares || content.sealed, "what is not sealed has no checksums");
  check(!compares || tolerates || !content.damaged, "what is damaged is not as it was sealed");
}

Sequence::~Sequence() {
  for (const Handle& handle : handles_) bfs_close(handle.filter, nullptr);
  for (unsigned i = 0; i < kPaths; ++i) unlink(path_of(i).c_str());
}

void Sequence::run() {
  for (std::size_t steps = 0; steps < kMostSteps && !input_.empty(); ++steps) {
    step();
    check_all();
  }
  while (!handles_.empty()) close(handles_.size() - 1);
  for (unsigned i = 0; i < kPaths; ++i) {
    const auto [code, filter, needs_secret, rule] = open_file(path_of(i).c_str(), BFS_READ);
    check((code == BFS_ENOENT) == (files_[i] == nullptr), "files are where they were made", code);
    check(filter != nullptr || files_[i] == nullptr || files_[i]->in_doubt, "what was closed is read again", code);
    if (filter == nullptr) continue;
    handles_.push_back({filter, files_[i], i});
    if (files_[i]->sealed) check_seal(i);
  }
  check_all();
}

void Sequence::check_all() const {
  for (const Handle& handle : handles_) {
    const Present known = handle.must_have();
    std::vector<std::uint64_t> digests;
    for (const auto& [digest, times] : known) digests.push_back(digest);
    std::vector<std::uint8_t> answers(digests.size());
    const std::int64_t maybes = contains_digests(handle.filter, digests.data(), digests.size(), answers.data());
    check(maybes == static_cast<std::int64_t>(digests.size()), "a key that was added is never answered no", maybes);
    if (counts(handle.filter)) check_counts(handle.filter, known);
    if (handle.copied) {
      check(answers_of(handle.filter) == handle.answers, "a copy is as old as its opening");
      continue;
    }
    if (!handle.content->superseded) continue;
    check(bfs_contains_digest(handle.filter, kNeverAdded) == 1, "a superseded file answers maybe");
    check(bfs_add_digest(handle.filter, kNeverAdded) < 0, "a superseded file takes no more keys");
  }
}

// Checks that each count of a key is at least the number of its adds that were not undone, or is at the limit.
void Sequence::check_counts(const bfs_filter* filter, const Present& known) {
  constexpr std::uint64_t kMost = 15;
  for (const auto& [digest, times] : known) {
    const std::int64_t count = count_digest(filter, digest);
    check(count >= static_cast<std::int64_t>(std::min(times, kMost)), "a count is never too low", count);
  }
}

Handle& Sequence::keep(Handle handle) {
  handles_.push_back(std::move(handle));
  return handles_.back();
}

Handle* Sequence::any() {
  const std::size_t number = input_.u8();
  return handles_.empty() ? nullptr : &handles_[number % handles_.size()];
}

bool Sequence::held(std::size_t path) const {
  return std::any_of(handles_.begin(), handles_.end(),
                     [path](const Handle& handle) { return handle.path == path && handle.supersedes; });
}

void Sequence::supersede_file(std::size_t path, bool superseded) {
  if (files_[path] != nullptr) files_[path]->superseded = superseded;
}

// Makes a file, or opens the one that is there.
void Sequence::create() {
  const std::size_t path = input_.u8() % kPaths;
  GivenOptions given = options_from(input_, path_of);
  given.point();
  const std::string name = path_of(static_cast<unsigned>(path));
  const bool replaces = (given.flags & BFS_REPLACE) != 0;
  if (handles_.size() >= kMostHandles || ((replaces || given.either) && held(path))) return;
  bfs_error error = no_error();
  bfs_filter* filter = nullptr;
  std::int32_t code = BFS_OK;
  if (given.either) {
    const std::uint64_t mode = (given.flags & BFS_EXCLUSIVE) != 0 ? BFS_EXCLUSIVE : BFS_WRITE;
    code = bfs_open(name.c_str(), given.flags | mode | BFS_CREATE, &given.options, &filter, &error);
  } else {
    code = bfs_create(name.c_str(), given.flags, &given.options, &filter, &error);
  }
  const bool unpublished = (given.flags & BFS_UNPUBLISHED) != 0;
  if (made(std::min(code, 0), filter, error).filter == nullptr) return;
  const bool needs_secret = given.options.secret != nullptr;
  if (given.either && code == 0) {
    check_opened(path, BFS_WRITE, needs_secret);
    keep({filter, files_[path], path}).writes = true;
    return;
  }
  check(code == (given.either ? 1 : 0), "whether the file was made", code);
  check(replaces || files_[path] == nullptr, "what is there is not replaced unless that is asked for");
  Handle& made = keep({filter, std::make_shared<Content>(), path, unpublished});
  made.writes = true;
  made.content->needs_secret = needs_secret;
  if (unpublished) return;
  const Opened reader = open_file(name.c_str(), BFS_READ);
  check(reader.filter != nullptr, "what is made is read", reader.code);
  bfs_close(reader.filter, nullptr);
  supersede_file(path, true);
  files_[path] = made.content;
}

void Sequence::open() {
  const std::size_t path = input_.u8() % kPaths;
  const std::uint64_t bits = input_.u16();
  if (handles_.size() >= kMostHandles || held(path)) return;
  // Mostly one of the three modes; otherwise any flags, and one that no function knows.
  const std::uint64_t flags = open_flags(bits < 0x8000     ? (bits & 0x7ff0U) | (1U << bits % 3)
                                         : (bits & 1) != 0 ? bits
                                                           : bits & 0x7fffU);
  const auto [code, filter, needs_secret, rule] = open_file(path_of(static_cast<unsigned>(path)).c_str(), flags);
  if (filter != nullptr) check_opened(path, flags, needs_secret);
  if (filter == nullptr) return;
  Handle& opened = keep({filter, files_[path], path});
  opened.writes = (flags & BFS_READ) == 0;
  opened.checked = (flags & BFS_TOLERATE_DAMAGE) != 0;
  if ((flags & BFS_PRIVATE) == 0) return;
  opened.copied = opened.must_have();
  opened.answers = answers_of(filter);
}

void Sequence::format() {
  GivenOptions given = options_from(input_, path_of);
  given.point();
  const unsigned wrong = input_.u8();
  if (handles_.size() >= kMostHandles) return;
  const std::int64_t size = bfs_format(nullptr, 0, given.flags, &given.options, nullptr, nullptr);
  if (size <= 0) check_code(size, "the bytes that are needed");
  const std::uint64_t needed = size > 0 ? static_cast<std::uint64_t>(size) : 0;
  auto buffer = std::make_shared<Buffer>();
  const std::uint64_t room =
      wrong == 1 && needed > 0 ? std::min<std::uint64_t>(needed - 1, kBufferBytes) : kBufferBytes;
  bfs_error error = no_error();
  bfs_filter* filter = nullptr;
  const std::int64_t code = bfs_format(buffer->bytes.data() + (wrong == 2 ? 8 : 0), room - (wrong == 2 ? 8 : 0),
                                       given.flags, &given.options, &filter, &error);
  if (made(static_cast<std::int32_t>(std::min<std::int64_t>(code, 0)), filter, error).filter == nullptr) return;
  check(code == size && needed <= room && wrong != 2, "a filter fits into its buffer");
  buffer->used = needed;
  buffer->bare = (given.flags & BFS_BARE) != 0;
  buffers_.push_back(buffer);
  const Handle& made = keep({filter, std::make_shared<Content>(), kPaths, false, false, buffer});
  made.content->needs_secret = given.options.secret != nullptr;
  in_buffers_[buffer.get()] = made.content;
}

void Sequence::wrap() {
  const unsigned number = input_.u8();
  if (buffers_.empty() || handles_.size() >= kMostHandles) return;
  const std::shared_ptr<Buffer>& buffer = buffers_[number / 2 % buffers_.size()];
  const std::uint64_t flags = (number % 2 == 0 ? BFS_READ : BFS_WRITE) | (buffer->bare ? BFS_BARE : 0U);
  bfs_error error = no_error();
  bfs_filter* filter = nullptr;
  std::int32_t code = open_memory_with(buffer->bytes.data(), buffer->used, flags, nullptr, &filter, &error);
  const bool needs_secret = in_buffers_[buffer.get()]->needs_secret;
  check((code == BFS_ESECRET) == needs_secret, "a filter with a secret needs it, and no other filter does", code);
  const void* const wrong = needs_secret ? other_secret() : secret();
  bfs_filter* none = nullptr;
  check(open_memory_with(buffer->bytes.data(), buffer->used, flags, wrong, &none, nullptr) == BFS_ESECRET,
        "another secret is refused");
  if (needs_secret) code = open_memory_with(buffer->bytes.data(), buffer->used, flags, secret(), &filter, &error);
  check(made(code, filter, error).filter != nullptr, "what was made in a buffer is found there", code);
  keep({filter, in_buffers_[buffer.get()], kPaths, false, false, buffer});
}

void Sequence::add(Handle& handle) {
  const std::uint8_t number = input_.u8();
  const std::int32_t added = fuzz::add(handle.filter, number);
  check_code(added, "adding a key");
  if (added < 0) return;
  std::uint64_t digest = fuzz::digest(number);
  const std::string& key = fuzz::key(number);
  bfs_digest(handle.filter, key.data(), key.size(), &digest);
  ++handle.content->digests[digest];
}

// If the layout removes no keys, checks that the remove is refused, and adds the key. So the kept inputs keep their
// meaning.
void Sequence::remove_or_add(Handle& handle) {
  if (counts(handle.filter)) return remove_key(handle);
  check(fuzz::remove(handle.filter, 0) < 0, "a layout without counters removes nothing");
  add(handle);
}

// Removing an absent key is a mistake of the caller, unless the filter sees it (a certain no).
void Sequence::remove_key(Handle& handle) {
  const std::uint8_t number = input_.u8();
  std::uint64_t digest = fuzz::digest(number);
  const std::string& key = fuzz::key(number);
  bfs_digest(handle.filter, key.data(), key.size(), &digest);
  Present& present = handle.content->digests;
  const auto found = present.find(digest);
  const bool maybe = bfs_contains_digest(handle.filter, digest) != 0;
  if (found == present.end() && maybe) return;
  const std::int32_t removed = fuzz::remove(handle.filter, number);
  check_code(removed, "removing a key");
  if (removed >= 0) check(removed == (maybe ? 1 : 0), "what was added is removed, and a certain no is not", removed);
  if (removed >= 0 ? found == present.end() : removes_nothing(removed)) return;
  if (--found->second == 0) present.erase(found);  // also after an error: the key may be gone
}

void Sequence::add_batch(Handle& handle) {
  const Batch batch(input_, handle.filter);
  const std::int64_t added = batch.add(handle.filter);
  check_code(added, "adding a batch");
  check(added <= static_cast<std::int64_t>(batch.digests().size()), "no more keys are new than were given", added);
  if (added >= 0) {
    for (const std::uint64_t digest : batch.digests()) ++handle.content->digests[digest];
  }
  batch.ask(handle.filter);
}

// Removes those of the input's keys that are there, each as often as it is there.
void Sequence::remove_or_add_batch(Handle& handle) {
  if (!counts(handle.filter)) return add_batch(handle);
  Present left = handle.content->digests;
  const Batch batch(input_, handle.filter, [&left](std::uint64_t digest) {
    const auto found = left.find(digest);
    if (found == left.end()) return false;
    if (--found->second == 0) left.erase(found);
    return true;
  });
  const std::int64_t removed = batch.remove(handle.filter);
  check_code(removed, "removing a batch");
  if (removed >= 0) {
    check(removed == static_cast<std::int64_t>(batch.digests().size()), "what was added is removed", removed);
  } else if (removes_nothing(removed)) {
    return;
  }
  handle.content->digests = left;
  batch.ask(handle.filter);
}

// A key is forgotten by the turn that ends the last of the epochs after its own ones: all but one of the layout's.
void Sequence::turn(Handle& handle) {
  const bfs_statistics said = facts(handle.filter);
  const std::int32_t code = bfs_turn(handle.filter, said.epoch, nullptr);
  check_code(code, "a turn");
  check(said.epochs != 0 || code < 0, "keys that do not expire have no epochs", code);
  if (code != 1) return;
  check(facts(handle.filter).epoch == said.epoch + 1, "a turn begins the next epoch");
  std::vector<Present>& ended = handle.content->ended;
  ended.push_back(handle.content->digests);
  if (ended.size() < said.epochs) return;
  const Present gone = ended.front();
  ended.erase(ended.begin());
  const auto forget = [&gone](Present& of) {
    for (const auto& [digest, times] : gone) {
      const auto found = of.find(digest);
      if ((found->second -= times) == 0) of.erase(found);  // what is left was added again
    }
  };
  forget(handle.content->digests);
  std::ranges::for_each(ended, forget);
}

void Sequence::sync(Handle& handle) {
  constexpr std::uint64_t kTurns = 240;
  const std::uint64_t owner = input_.u8();
  if (owner >= kTurns) turn(handle);
  const std::uint64_t mark = input_.u8();
  const std::uint64_t epoch = mark / 64;
  const std::int32_t code = sync_at(handle.filter, owner, epoch, mark, nullptr);
  check_code(code, "a sync");
  check(code <= BFS_OK, "a sync returns nothing but a code", code);
  auto& [known_epoch, known] = handle.content->marks[owner];
  if (code == BFS_OK && (epoch != 0 || mark != 0)) {
    known = known_epoch == epoch ? std::max(known, mark) : mark;
    known_epoch = epoch;
  }
  if (code == BFS_EOWNERS) check(handle.content->marks.size() > 64, "there are lanes for 64 owners");
  if (handle.path == kPaths || handle.copied) return;
  for (std::uint64_t asked = 0; asked < 4; ++asked) {
    const std::uint64_t expected = asked == known_epoch ? known : 0;
    check(bfs_get_mark(handle.filter, owner, asked) == expected, "a mark is where it was put, in its epoch alone");
  }
}

void Sequence::supersede(Handle& handle) {
  if (handle.path == kPaths || held(handle.path)) return;
  const std::int32_t code = bfs_supersede(handle.filter, nullptr);
  check_code(code, "superseding");
  check(code != BFS_OK || handle.unpublished, "only what is unpublished supersedes");
  if (code != BFS_OK) return;
  handle.supersedes = files_[handle.path] != nullptr;  // otherwise there is nothing to hold yet
  supersede_file(handle.path, true);
}

void Sequence::publish(Handle& handle) {
  if (held(handle.path) && !handle.supersedes) return;
  bfs_error error = no_error();
  const std::int32_t code = bfs_publish(handle.filter, &error);
  check_code(code, "publishing");
  check(code <= BFS_OK && (code == BFS_OK || error.message[0] != '\0'), "publishing says why not", code);
  check(code != BFS_OK || handle.unpublished, "only what is unpublished is published");
  if (code != BFS_OK) return;
  supersede_file(handle.path, true);
  files_[handle.path] = handle.content;
  handle.unpublished = handle.supersedes = handle.writes = false;
  handle.content->sealed = facts(handle.filter).layout == BFS_LAYOUT_STATIC;
  if (handle.content->sealed) check_seal(handle.path);
  check(bfs_add(handle.filter, "x", 1) < 0, "what was published is read");
}

void Sequence::close(std::size_t index) {
  const std::int32_t code = bfs_close(handles_[index].filter, nullptr);
  if (handles_[index].supersedes) supersede_file(handles_[index].path, false);  // it continues
  handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(index));
  check_code(code, "closing");
  check(code <= BFS_OK && code != BFS_ELOST, "nobody damaged the file", code);
}

// Copies a file as `cp` does, to a name that no file has.
void Sequence::copy() {
  const unsigned from = input_.u8() % kPaths;
  const unsigned to = (from + 1) % kPaths;
  if (files_[from] == nullptr || files_[to] != nullptr) return;
  std::filesystem::copy_file(path_of(from), path_of(to));
  files_[to] = std::make_shared<Content>(*files_[from]);
  files_[to]->in_doubt = true;
  files_[to]->superseded = false;  // a process that opens the copy finds that no process replaces it
}

void Sequence::remove() {
  const std::size_t path = input_.u8() % kPaths;
  if (held(path)) return;
  unlink(path_of(static_cast<unsigned>(path)).c_str());
  files_[path] = nullptr;
}

void Sequence::is_current(const Handle& handle) {
  const std::int32_t code = bfs_is_current(handle.filter, nullptr);
  check_code(code, "whether it is current");
  if (handle.path == kPaths) check(code == BFS_EINVAL, "a buffer has no path", code);
  if (handle.path == kPaths || handle.unpublished) return;
  const bool expected = files_[handle.path] == handle.content && !held(handle.path);
  check(code == (expected ? 1 : 0), "a file is current while its path names it", code);
}

void Sequence::step() {
  switch (const unsigned what = input_.u8() % 22; what) {
    case 0:
      return create();
    case 1:
    case 2:
      return open();
    case 3:
      return format();
    case 4:
      return wrap();
    case 5:
      return copy();
    case 6:
      return remove();
    case 20:
      return seal();
    case 21:
      return damage();
    default:
      break;
  }
  Handle* handle = any();
  const unsigned what = input_.u8() % 13;
  if (handle == nullptr || what == 0) return call_absurdly(input_, handle == nullptr ? nullptr : handle->filter);
  switch (what) {
    case 1:
      return add(*handle);
    case 2:
      return remove_or_add(*handle);
    case 3:
      return add_batch(*handle);
    case 4:
      return remove_or_add_batch(*handle);
    case 5:
      return sync(*handle);
    case 6: {
      const std::int32_t over = bfs_finish_recovery(handle->filter, input_.u8(), nullptr);
      check_code(over, "an owner recovered");
      return check(over <= 1, "a recovery is over or not", over);
    }
    case 7:
      if (input_.u8() % 16 == 1) facts(handle->filter);  // rarely: it reads /proc/self/smaps
      return ask(handle->filter, {});
    case 8:
      return is_current(*handle);
    case 9:
      return supersede(*handle);
    case 10:
      return publish(*handle);
    case 11:
      input_.u8();  // once a number of threads: the kept inputs keep their meaning
      return check_code(bfs_sync(handle->filter, nullptr, nullptr), "a sync without a mark");
    default:
      return close(static_cast<std::size_t>(handle - handles_.data()));
  }
}

}  // namespace fuzz
