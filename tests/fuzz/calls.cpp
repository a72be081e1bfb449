#include "calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include "../support/abi_calls.h"

namespace fuzz {
namespace {

constexpr std::size_t kFixedBytes = 8;

double real_from(Bytes& input) {
  constexpr std::array<double, 16> kReals{
      0.01,     0.5,       0.001, 1e-6,   10,    12.5, 1, 0, -1, std::numeric_limits<double>::quiet_NaN(),
      HUGE_VAL, -HUGE_VAL, 1e-9,  1e-300, 1e300, 64};
  return kReals[input.u8() % kReals.size()];
}

// Returns a small number, one at an edge, or any.
std::uint64_t number_from(Bytes& input) {
  constexpr std::array<std::uint64_t, 12> kEdges{0,
                                                 1,
                                                 512,
                                                 std::uint64_t{1} << 48,
                                                 (std::uint64_t{1} << 48) + 1,
                                                 UINT64_MAX,
                                                 INT64_MAX,
                                                 std::uint64_t{1} << 63,
                                                 UINT64_MAX - 511,
                                                 std::uint64_t{1} << 32,
                                                 16384,
                                                 16448};
  const unsigned kind = input.u8();
  if (kind < 192) return input.u16();
  if (kind < 240) return kEdges[kind % kEdges.size()];
  return input.u64();
}

template <std::size_t kBits>
std::uint64_t flags_of(std::uint64_t bits, const std::array<std::uint64_t, kBits>& flags) noexcept {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kBits; ++i) all |= (bits >> i & 1U) != 0 ? flags[i] : 0;
  return all;
}

// Gives mostly the size that is computed fast.
void give_size(Bytes& input, bfs_options& options) {
  switch (input.u8() % 32) {
    default:
      options.num_bits = number_from(input);
      options.num_probes = input.u8() % 70;
      break;
    case 27:
      options.capacity = number_from(input);
      options.fpr = real_from(input);
      break;
    case 28:
      options.capacity = number_from(input);
      options.bits_per_key = real_from(input);
      break;
    case 29:
      options.capacity = number_from(input);
      options.max_bytes = number_from(input);
      break;
    case 30:
      options.capacity = input.u8();
      break;
    case 31:  // too much, or a contradiction
      options.capacity = number_from(input);
      options.num_bits = number_from(input);
      options.num_probes = input.u32();
      options.fpr = real_from(input);
      break;
  }
}

template <class Answers>
void check_refused(std::int64_t code, const Answers& answers) {
  check(code < 0, "what can not be meant is refused", code);
  check_code(code, "a code of bfstore.h");
  check(std::all_of(answers.begin(), answers.end(), [](auto answer) { return answer == 1; }), "refused is maybe");
}

}  // namespace

std::uint64_t make_flags(std::uint64_t bits) noexcept {
  constexpr std::uint64_t kSeed = 0;  // bit 0 gives a seed
  constexpr std::array<std::uint64_t, 10> kFlags{kSeed,         BFS_REPLACE,  BFS_UNPUBLISHED, BFS_BARE,
                                                 BFS_EXCLUSIVE, BFS_POPULATE, BFS_RANDOM,      BFS_ANY_FILESYSTEM,
                                                 BFS_LIMIT,     BFS_GUARD};
  return flags_of(bits, kFlags);
}

std::uint64_t open_flags(std::uint64_t bits) noexcept {
  constexpr std::uint64_t kUnknown = 1ULL << 63;
  constexpr std::array<std::uint64_t, 16> kFlags{BFS_READ,     BFS_WRITE,          BFS_EXCLUSIVE,       BFS_NOFOLLOW,
                                                 BFS_POPULATE, BFS_RANDOM,         BFS_RECOVER,         BFS_ACCEPT_LOSS,
                                                 BFS_STRICT,   BFS_ANY_FILESYSTEM, BFS_LIMIT,           BFS_PRIVATE,
                                                 BFS_GUARD,    BFS_VERIFY,         BFS_TOLERATE_DAMAGE, kUnknown};
  return flags_of(bits, kFlags);
}

std::uint64_t seal_flags(std::uint64_t bits) noexcept {
  constexpr std::array<std::uint64_t, 2> kFlags{BFS_ANY_FILESYSTEM, BFS_REPLACE};
  return flags_of(bits, kFlags);
}

void GivenOptions::point() noexcept {
  if (!like.empty()) options.like = like.c_str();
  if (!note.empty()) options.note = note.data();
  if (seed) options.seed = &*seed;
  options.note_bytes = note.size();
}

GivenOptions options_from(Bytes& input, std::string (*path_of)(unsigned)) {
  GivenOptions given;
  bfs_options& options = given.options;
  options.struct_bytes = sizeof options;
  const unsigned kind = input.u8();
  if (kind % 16 == 1) {
    const unsigned number = input.u8();
    given.like = path_of(number);
    if (number >= 128) options.secret = secret();
  } else {
    give_size(input, options);
  }
  const unsigned bits = input.u16();
  constexpr unsigned kEither = 1U << 10;
  given.flags = make_flags(bits);
  given.either = (bits & kEither) != 0;
  const unsigned kinds = input.u8();
  options.layout = kinds >= 128 && kinds % 4 == 3 ? kinds : kinds % 4;
  constexpr unsigned kWindow = 1U << 11;
  if ((bits & kWindow) != 0) {
    options.layout = BFS_LAYOUT_WINDOW + kinds % 4 % 3;
    options.window_ms = kinds % 4 == 3 ? 1 : 1'000'000'000'000;
  }
  constexpr unsigned kStatic = 1U << 12;  // mostly unpublished, as it has to be, and sometimes without a size
  if ((bits & kStatic) != 0) {
    options.layout = BFS_LAYOUT_STATIC;
    if (kinds % 4 != 3) given.flags |= BFS_UNPUBLISHED;
    if (kinds % 4 == 2) options.capacity = options.num_bits = options.num_probes = 0;
  }
  options.hash = kinds / 4 % 8 == 2   ? BFS_HASH_EXTERNAL
                 : kinds / 4 % 8 == 3 ? BFS_HASH_SIPHASH
                 : kinds / 4 % 8 == 7 ? kinds
                                      : 0;
  if ((bits & 1) != 0) given.seed = kind;
  if (options.hash == BFS_HASH_SIPHASH ? kind != 204 : kind == 205) options.secret = secret();
  options.secret_bytes = options.secret == nullptr ? 0 : 16;
  given.note.assign(kind % 32 == 2 ? input.u16() % 1100U : 0, 'n');
  static constexpr std::int32_t kNoDescriptor = -1;
  if (kind == 200) options.fd = &kNoDescriptor;  // no function that makes a filter takes it
  if (kind == 201) given.flags |= 1U << 30;
  if (kind == 202) options.struct_bytes = input.u8();
  if (kind == 203) options.mode = input.u32();
  return given;
}

Batch::Batch(Bytes& input, const bfs_filter* filter, const std::function<bool(std::uint64_t)>& wanted)
    : form_(static_cast<Form>(input.u8() % 5)) {
  std::uint64_t any = 0;
  takes_keys_ = bfs_digest(filter, "", 0, &any) != BFS_EDIGESTONLY;
  const std::size_t count = input.u8() % 48;
  offsets32_.push_back(0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t number = input.u8();
    std::string one = form_ == kFixed ? std::string(kFixedBytes, static_cast<char>(number)) : key(number);
    std::uint64_t of_key = fuzz::digest(number);
    bfs_digest(filter, one.data(), one.size(), &of_key);  // leaves it as it is where the hash is external
    if (!wanted(of_key)) continue;
    digests_.push_back(of_key);
    lengths_.push_back(one.size());
    bytes_ += one;
    offsets32_.push_back(static_cast<std::int32_t>(bytes_.size()));
  }
  offsets64_.assign(offsets32_.begin(), offsets32_.end());
  for (std::size_t i = 0; i < lengths_.size(); ++i) keys_.push_back(bytes_.data() + offsets32_[i]);
}

std::int64_t Batch::add(bfs_filter* filter) const {
  switch (form_) {
    case kMany:
      return add_many(filter, keys_.data(), lengths_.data(), keys_.size());
    case kFixed:
      return add_fixed(filter, bytes_.data(), kFixedBytes, keys_.size());
    case kColumn32:
      return add_column32(filter, bytes_.data(), offsets32_.data(), keys_.size());
    case kColumn64:
      return add_column64(filter, bytes_.data(), offsets64_.data(), keys_.size());
    default:
      return add_digests(filter, digests_.data(), digests_.size());
  }
}

std::int64_t Batch::remove(bfs_filter* filter) const {
  const auto remove_keys = [filter](const bfs_keys& keys) { return bfs_remove_keys(filter, &keys); };
  switch (form_) {
    case kMany:
      return remove_keys(bfs_keys_pointers(keys_.data(), lengths_.data(), keys_.size()));
    case kFixed:
      return remove_keys(bfs_keys_fixed(bytes_.data(), kFixedBytes, keys_.size()));
    case kColumn32:
      return remove_keys(column32_of(bytes_.data(), offsets32_.data(), keys_.size()));
    case kColumn64:
      return remove_keys(column64_of(bytes_.data(), offsets64_.data(), keys_.size()));
    default:
      return remove_keys(bfs_keys_digests(digests_.data(), digests_.size()));
  }
}

std::int64_t Batch::contains(const bfs_filter* filter, std::uint8_t* answers) const {
  switch (form_) {
    case kMany:
      return contains_many(filter, keys_.data(), lengths_.data(), keys_.size(), answers);
    case kFixed:
      return contains_fixed(filter, bytes_.data(), kFixedBytes, keys_.size(), answers);
    case kColumn32:
      return contains_column32(filter, bytes_.data(), offsets32_.data(), keys_.size(), answers);
    case kColumn64:
      return contains_column64(filter, bytes_.data(), offsets64_.data(), keys_.size(), answers);
    default:
      return contains_digests(filter, digests_.data(), digests_.size(), answers);
  }
}

std::int64_t Batch::select(const bfs_filter* filter, std::uint32_t* indices) const {
  switch (form_) {
    case kMany:
      return select_many(filter, keys_.data(), lengths_.data(), keys_.size(), indices);
    case kFixed:
      return select_fixed(filter, bytes_.data(), kFixedBytes, keys_.size(), indices);
    case kColumn32:
      return select_column32(filter, bytes_.data(), offsets32_.data(), keys_.size(), indices);
    case kColumn64:
      return select_column64(filter, bytes_.data(), offsets64_.data(), keys_.size(), indices);
    default:
      return select_digests(filter, digests_.data(), digests_.size(), indices);
  }
}

void Batch::ask(const bfs_filter* filter) const {
  std::vector<std::uint8_t> answers(keys_.size());
  std::vector<std::uint32_t> selected(keys_.size());
  const std::int64_t count = contains(filter, answers.data());
  const std::int64_t selected_count = select(filter, selected.data());
  check_code(count, "asking a batch");
  check(count == selected_count, "contains and select count the same", selected_count);
  if (count < 0) {
    check(!takes_keys_ && form_ != kDigests, "a batch that is all right is answered", count);
    check_refused(count, answers);
    for (std::size_t i = 0; i < selected.size(); ++i) check(selected[i] == i, "an error selects every key");
    return;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    check(answers[i] == bfs_contains_digest(filter, digests_[i]), "a batch answers as each key alone is answered");
    if (answers[i] != 0) check(selected[next++] == i, "the selected are those that are answered maybe");
  }
  check(static_cast<std::int64_t>(next) == count, "a batch returns how many may be present", count);
}

void call_absurdly(Bytes& input, bfs_filter* filter) {
  constexpr std::size_t kCount = 3;
  constexpr std::array<std::size_t, 5> kHuge{SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 8 + 1, std::size_t{1} << 32, 1};
  const std::size_t huge = kHuge[input.u8() % kHuge.size()];
  std::array<std::uint8_t, kCount> answers{};
  const std::array<std::int64_t, kCount + 1> falling{0, 9, 4, 9};
  const std::array<std::int32_t, kCount + 1> negative{-3, 0, 2, 5};
  const std::string bytes(16, 'b');
  switch (input.u8() % 9) {
    case 0:
      check(add_many(filter, nullptr, nullptr, huge) == BFS_EINVAL, "no keys");
      check(add_digests(filter, nullptr, huge) == BFS_EINVAL, "no digests");
      check(add_fixed(filter, nullptr, 8, huge) == BFS_EINVAL, "no keys");
      return;
    case 1:
      check_refused(contains_many(filter, nullptr, nullptr, kCount, answers.data()), answers);
      return;
    case 2:
      check(contains_digests(filter, nullptr, huge, nullptr) < 0, "nowhere to answer");
      check(select_many(filter, nullptr, nullptr, huge, nullptr) < 0, "nowhere to answer");
      check(contains_fixed(filter, bytes.data(), 8, huge, nullptr) < 0, "nowhere to answer");
      return;
    case 3:
      check_refused(contains_column64(filter, bytes.data(), falling.data(), kCount, answers.data()), answers);
      check(add_column64(filter, bytes.data(), falling.data(), kCount) < 0, "offsets that fall");
      return;
    case 4:
      check_refused(contains_column32(filter, bytes.data(), negative.data(), kCount, answers.data()), answers);
      check(add_column32(filter, bytes.data(), negative.data(), kCount) < 0, "offsets below zero");
      return;
    case 5:
      check_refused(contains_fixed(filter, bytes.data(), SIZE_MAX / 2, kCount, answers.data()), answers);
      check_refused(contains_fixed(filter, bytes.data(), 0, kCount, answers.data()), answers);
      return;
    case 6:
      check(bfs_contains(filter, nullptr, huge) < 0 && bfs_add(filter, nullptr, huge) < 0, "no key");
      check(bfs_digest(filter, "", 0, nullptr) < 0, "nowhere to put a digest");
      return;
    case 7: {
      bfs_statistics facts{};
      facts.struct_bytes = input.u8() % 112U;
      check(bfs_stats(filter, 0, &facts, nullptr) == BFS_EINVAL && bfs_stats(filter, 0, nullptr, nullptr) == BFS_EINVAL,
            "too short");
      return;
    }
    default:
      check(bfs_open(nullptr, BFS_READ, nullptr, nullptr, nullptr) == BFS_EINVAL, "no path");
      check(bfs_open(nullptr, BFS_WRITE | BFS_CREATE, nullptr, nullptr, nullptr) == BFS_EINVAL, "no path");
      check(bfs_create(nullptr, 0, nullptr, nullptr, nullptr) == BFS_EINVAL, "no path");
      check(bfs_build(nullptr, 0, nullptr, nullptr, nullptr, nullptr) == BFS_EINVAL, "no path, no keys");
      check(bfs_copy(nullptr, nullptr, BFS_SEALED, nullptr, nullptr) == BFS_EINVAL, "no filter to seal");
      check(copy_with(filter, "", BFS_SEALED | BFS_BARE, 0, nullptr) == BFS_EINVAL, "no way to seal");
      check(bfs_verify(nullptr, 0, nullptr, 0, nullptr) == BFS_EINVAL, "no path");
      check(bfs_verify("", 0, nullptr, huge, nullptr) == BFS_EINVAL, "nowhere to tell of damage");
      check(bfs_copy(filter, nullptr, 0, nullptr, nullptr) == BFS_EINVAL, "no path");
      check(copy_with(filter, "", BFS_BARE, 0, nullptr) == BFS_EINVAL, "no way to save");
      check(bfs_dump(nullptr, nullptr, huge, 0, nullptr) == BFS_EINVAL, "nothing to dump");
      check(bfs_open_memory(nullptr, huge, BFS_READ | BFS_PRIVATE, nullptr, nullptr, nullptr) == BFS_EINVAL,
            "no bytes");
      check(bfs_open_memory(nullptr, huge, BFS_READ, nullptr, nullptr, nullptr) == BFS_EINVAL, "no buffer");
      return;
  }
}

}  // namespace fuzz
