#include "support.hpp"

#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include "../support/abi_calls.h"

namespace fuzz {
namespace {

class Folder {
 public:
  Folder() {
    const char* given = std::getenv("TMPDIR");
    std::string name = given != nullptr ? given : std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    name += "/bfstore-fuzz-XXXXXX";
    check(mkdtemp(name.data()) != nullptr, "a folder of its own");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

std::array<std::string, kKeys> make_keys() {
  constexpr std::array<std::size_t, kKeys> kLengths{0,  1,  2,  3,  4,   5,   8,   9,   15,  16,  17,  31,
                                                    32, 33, 64, 96, 128, 129, 200, 240, 241, 300, 511, 1025};
  std::array<std::string, kKeys> keys;
  for (std::size_t i = 0; i < kKeys; ++i) {
    for (std::size_t j = 0; j < kLengths[i]; ++j) keys[i].push_back(static_cast<char>(i * 31 + j * 7));
  }
  return keys;
}

struct Batch {
  std::array<const void*, kKeys> keys{};
  std::array<std::size_t, kKeys> lengths{};
  std::array<std::uint64_t, kKeys> digests{};
};

const Batch& batch() {
  static const Batch all = [] {
    Batch made;
    for (std::size_t i = 0; i < kKeys; ++i) {
      made.keys[i] = key(i).data();
      made.lengths[i] = key(i).size();
      made.digests[i] = digest(i);
    }
    return made;
  }();
  return all;
}

// Checks that the selection vector names the keys whose answer is 1, and no other.
void check_selected(std::int64_t count, const std::array<std::uint32_t, kKeys>& selected,
                    const std::array<std::uint8_t, kKeys>& answers) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < kKeys; ++i) {
    if (answers[i] == 0) continue;
    check(next < kKeys && selected[next] == i, "the selected keys are those that are answered maybe",
          static_cast<std::int64_t>(i));
    ++next;
  }
  check(count == static_cast<std::int64_t>(next), "select returns how many it selected", count);
}

void check_digest_only(const bfs_filter* filter) {
  std::array<std::uint8_t, kKeys> answers{};
  check(bfs_contains(filter, "x", 1) == BFS_EDIGESTONLY, "keys are refused where the hash is external");
  check(contains_many(filter, batch().keys.data(), batch().lengths.data(), kKeys, answers.data()) == BFS_EDIGESTONLY,
        "keys are refused where the hash is external");
  check(std::count(answers.begin(), answers.end(), std::uint8_t{1}) == kKeys, "every answer of an error is maybe");
}

// Asks a filter whose hash gives positions.
void ask_keys(const bfs_filter* filter, const KeySet& present) {
  check(bfs_contains_digest(filter, digest(0)) != 0, "a digest is no where there are none");
  std::array<std::uint8_t, kKeys> one{};
  for (std::size_t i = 0; i < kKeys; ++i) {
    const std::int32_t answer = bfs_contains(filter, key(i).data(), key(i).size());
    check(answer == 0 || answer == 1, "an answer is 0 or 1", answer);
    check(answer == 1 || !present.contains(i), "a key that was added is never answered no",
          static_cast<std::int64_t>(i));
    one[i] = static_cast<std::uint8_t>(answer);
  }
  std::array<std::uint8_t, kKeys> many{};
  const auto maybes = contains_many(filter, batch().keys.data(), batch().lengths.data(), kKeys, many.data());
  check(maybes == std::count(one.begin(), one.end(), std::uint8_t{1}) && many == one, "batches of keys agree", maybes);
}

}  // namespace

bool takes_digests(const bfs_filter* filter) {
  std::uint64_t any = 0;
  return bfs_digest(filter, "", 0, &any) != BFS_EKEYONLY;
}

void check(bool good, const char* expected, std::int64_t got) {
  if (good) return;
  std::fprintf(stderr, "expected: %s (%lld)\n", expected, static_cast<long long>(got));
  std::abort();
}

void check_code(std::int64_t code, const char* call) {
  constexpr std::int32_t kNobodys = -12345;
  if (code >= 0) return;
  const bool known = std::strcmp(bfs_strerror(static_cast<std::int32_t>(code)), bfs_strerror(kNobodys)) != 0;
  check(known && code > INT32_MIN && code != BFS_EINTERNAL, call, code);
}

std::string scratch(const std::string& name) {
  static const Folder folder;
  return folder.path() + "/" + name;
}

Input Bytes::take(std::size_t most) noexcept {
  const std::size_t length = std::min(most, rest_.size());
  const Input taken = rest_.first(length);
  rest_ = rest_.subspan(length);
  return taken;
}

std::uint64_t Bytes::number(std::size_t bytes) noexcept {
  std::uint64_t value = 0;
  const Input there = take(bytes);
  for (std::size_t i = 0; i < there.size(); ++i) value |= std::uint64_t{there[i]} << (8 * i);
  return value;
}

const std::string& key(std::size_t number) noexcept {
  static const std::array<std::string, kKeys> keys = make_keys();
  return keys[number % kKeys];
}

std::uint64_t digest(std::size_t number) noexcept {
  switch (number % kKeys) {
    case 0:
      return 0;
    case 1:
      return UINT64_MAX;
    default:
      return 0x9e3779b97f4a7c15U * (number % kKeys);
  }
}

const void* secret() noexcept { return "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"; }
const void* other_secret() noexcept { return "sixteen bytes...."; }

bfs_error no_error() noexcept {
  bfs_error error{};
  error.struct_bytes = sizeof error;
  return error;
}

Opened made(std::int32_t code, bfs_filter* filter, const bfs_error& error) {
  check_code(code, "a code of bfstore.h");
  check((code == BFS_OK) == (filter != nullptr), "a handle if and only if all is well", code);
  if (code == BFS_OK) return {code, filter, false};
  check(code < 0, "no positive code where a handle is made", code);
  check(error.code == code && error.message[0] != '\0', "an error with its code and a message", code);
  check((code == BFS_EMALFORMED) == (error.rule != 0), "the rule that is broken", error.rule);
  return {code, nullptr, false, error.rule};
}

std::pair<std::int32_t, std::uint32_t> in_c(bfstore::Code code) noexcept {
  using bfstore::Code;
  const auto number = static_cast<std::int32_t>(code);
  if (code == Code::kVersion) return {BFS_EVERSION, 0};
  if (code == Code::kFeature || code == Code::kLayout || code == Code::kHash) return {BFS_EFEATURE, 0};
  if (number >= BFS_ESYMLINK) return {number, 0};
  return {BFS_EMALFORMED, static_cast<std::uint32_t>(BFS_ENOTREGULAR - number)};
}

Opened open_file(const char* path, std::uint64_t flags) {
  bfs_error error = no_error();
  bfs_filter* filter = nullptr;
  const std::int32_t code = bfs_open(path, flags, nullptr, &filter, &error);
  const Opened opened = made(code, filter, error);
  if (code != BFS_ESECRET) return opened;
  const std::int32_t other = open_with(path, flags, other_secret(), &filter, &error);
  check(other == BFS_ESECRET && filter == nullptr, "another secret is refused", other);
  error = no_error();
  const std::int32_t code_with_it = open_with(path, flags, secret(), &filter, &error);
  Opened with_secret = made(code_with_it, filter, error);
  with_secret.needs_secret = true;
  return with_secret;
}

std::int32_t add(bfs_filter* filter, std::size_t number) {
  const std::int32_t added = bfs_add(filter, key(number).data(), key(number).size());
  return added == BFS_EDIGESTONLY ? bfs_add_digest(filter, digest(number)) : added;
}

void add_some(bfs_filter* filter, std::size_t first, std::size_t count, KeySet& present) {
  for (std::size_t i = first; i < first + count; ++i) {
    const std::int32_t added = add(filter, i);
    check_code(added, "adding a key");
    check(added <= 1, "a key is new or it is not", added);
    if (added >= 0) present.insert(i % kKeys);
  }
}

std::int32_t remove(bfs_filter* filter, std::size_t number) {
  const std::int32_t removed = bfs_remove(filter, key(number).data(), key(number).size());
  return removed == BFS_EDIGESTONLY ? static_cast<std::int32_t>(remove_digest(filter, digest(number))) : removed;
}

bool counts(const bfs_filter* filter) { return count_digest(filter, 0) >= 0; }

bool removes_nothing(std::int64_t code) {
  return code == BFS_EINVAL || code == BFS_EREADONLY || code == BFS_EUNSUPPORTED || code == BFS_EDIGESTONLY;
}

void remove_some(bfs_filter* filter, std::size_t first, std::size_t count, KeySet& present) {
  for (std::size_t i = first; i < first + count; ++i) {
    if (!present.contains(i % kKeys)) continue;
    const bool can = counts(filter) && bfs_health(filter) == BFS_OK;
    const std::int32_t removed = remove(filter, i);
    check_code(removed, "removing a key");
    check(can ? removed == 1 : removed < 0, "what was added is removed, where keys can be and nothing is in doubt",
          removed);
    if (removed >= 0) present.erase(i % kKeys);
  }
  ask(filter, present);
}

void ask(const bfs_filter* filter, const KeySet& present) {
  if (!takes_digests(filter)) return ask_keys(filter, present);
  std::uint64_t of_key = 0;
  const bool external = bfs_digest(filter, "", 0, &of_key) == BFS_EDIGESTONLY;
  if (external) check_digest_only(filter);
  std::array<std::uint8_t, kKeys> one{};
  std::array<std::uint64_t, kKeys> digests = batch().digests;
  for (std::size_t i = 0; i < kKeys; ++i) {
    if (!external) check(bfs_digest(filter, key(i).data(), key(i).size(), &digests[i]) == BFS_OK, "a digest");
    const std::int32_t answer = bfs_contains_digest(filter, digests[i]);
    check(answer == 0 || answer == 1, "an answer is 0 or 1", answer);
    check(answer == 1 || !present.contains(i), "a key that was added is never answered no",
          static_cast<std::int64_t>(i));
    if (!external) check(bfs_contains(filter, key(i).data(), key(i).size()) == answer, "key and digest agree");
    one[i] = static_cast<std::uint8_t>(answer);
  }
  const auto maybes = std::count(one.begin(), one.end(), std::uint8_t{1});
  std::array<std::uint8_t, kKeys> many{};
  std::array<std::uint32_t, kKeys> selected{};
  check(contains_digests(filter, digests.data(), kKeys, many.data()) == maybes && many == one, "batches agree");
  check_selected(select_digests(filter, digests.data(), kKeys, selected.data()), selected, one);
  if (external) return;
  const auto count = contains_many(filter, batch().keys.data(), batch().lengths.data(), kKeys, many.data());
  check(count == maybes && many == one, "batches agree", count);
  check_selected(select_many(filter, batch().keys.data(), batch().lengths.data(), kKeys, selected.data()), selected,
                 one);
}

bfs_statistics facts(const bfs_filter* filter) {
  bfs_statistics facts{};
  facts.struct_bytes = sizeof facts;
  const std::int32_t code = bfs_stats(filter, BFS_STATS_FILL, &facts, nullptr);
  check(code == BFS_OK, "the facts about an open filter", code);
  const bool gathers = facts.layout == BFS_LAYOUT_STATIC && facts.has_fill == 0;  // there are no bits yet
  check(gathers || (facts.has_fill == 1 && facts.set_bits <= facts.num_bits), "no more bits are set than there are",
        static_cast<std::int64_t>(facts.set_bits));
  check(facts.fill_ratio >= 0 && facts.fill_ratio <= 1, "a fill ratio from 0 to 1");
  check(facts.estimated_fpr >= 0 && facts.estimated_fpr <= 1, "an estimated rate from 0 to 1");
  check(facts.estimated_keys >= 0, "an estimated number of keys");
  check_code(facts.health, "a health that is known");
  return facts;
}

}  // namespace fuzz
