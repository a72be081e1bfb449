#include "store/home/foreign.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/bytes.hpp"
#include "base/fail.hpp"
#include "hash/hash.hpp"
#include "store/file/memory.hpp"
#include "store/file/reached.hpp"
#include "store/file/refusals.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using region::File;
using region::FileFacts;

constexpr std::int64_t kSecond = 1'000'000'000;

// The clock from which the kernel takes the times of files.
std::int64_t file_clock_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::int64_t{now.tv_sec} * kSecond + now.tv_nsec;
}

// True if a change of the file now would get another time than its last one. A filesystem that keeps whole seconds only
// needs two: the clock may be ahead of it by a part of one.
bool would_show(const FileFacts& facts) noexcept {
  const std::int64_t now = file_clock_ns();
  const std::int64_t since = now - facts.changed_ns;
  const bool whole_seconds = facts.changed_ns % kSecond == 0;
  return since < 0 || since > (whole_seconds ? 2 * kSecond : 0);
}

Result<FileFacts> settled_facts(const File& file) {
  for (;;) {
    auto facts = file.facts();
    if (!facts || would_show(*facts)) return facts;
    constexpr timespec kMoment{0, 1'000'000};
    nanosleep(&kMoment, nullptr);
  }
}

class InForeignFile final : public Home {
 public:
  InForeignFile(ForeignFile opened, std::vector<ForeignBits> filters, region::Mapping mapping)
      : file_(std::move(opened.file)),
        by_name_(opened.by_name),
        facts_(opened.facts),
        filters_(std::move(filters)),
        mapping_(std::move(mapping)) {}

  [[nodiscard]] std::string name(const char*) const override { return file_.path(); }
  [[nodiscard]] const format::Identity* identity() const noexcept override {
    return filters_.size() == 1 ? &filters_.front().identity : nullptr;
  }
  [[nodiscard]] const region::Mapping* mapping() const noexcept override { return &mapping_; }
  [[nodiscard]] Stats stats(const Ask& ask, StatsWish wish) const override;
  [[nodiscard]] bool is_shut() const noexcept override { return shut_.load(); }
  [[nodiscard]] Code health(const layout::Sentinel&) const noexcept override;
  [[nodiscard]] Result<Code> read_health(const layout::Sentinel& none) const override { return health(none); }
  [[nodiscard]] bool is_unchanged() const noexcept override;
  [[nodiscard]] Result<bool> is_current() override;
  [[nodiscard]] Result<Moment> moment() const override;
  [[nodiscard]] Error read_body(const std::uint64_t*, std::span<std::byte> into, std::uint64_t offset) const override {
    return read_words(filters_.front(), into, offset);
  }
  Error shut(const std::function<void()>&) override;

 private:
  [[nodiscard]] Error read_words(const ForeignBits& filter, std::span<std::byte> into, std::uint64_t offset) const;
  [[nodiscard]] std::optional<Fill> fill_of(const ForeignBits& filter) const;
  [[nodiscard]] std::optional<Fill> fill() const;

  File file_;
  bool by_name_;
  FileFacts facts_;
  std::vector<ForeignBits> filters_;
  region::Mapping mapping_;  // of the whole file
  static constexpr std::uint64_t kNotCounted = UINT64_MAX;
  mutable std::atomic<std::uint64_t> keys_{kNotCounted};  // an estimate
  mutable std::atomic<bool> changed_{false};
  std::atomic<bool> shut_{false};
};

// A file that changed once stays in doubt: its bytes may be those of another filter, whatever its times say later.
bool InForeignFile::is_unchanged() const noexcept {
  if (shut_.load() || changed_.load()) return false;
  if (mapping_.is_copy()) return true;
  std::atomic_thread_fence(std::memory_order_acquire);  // this looks after the bits were read
  bool same = !mapping_.faulted();
  if (same) {
    const auto now = by_name_ ? file_.facts_by_name() : file_.facts_now();
    same = now && now->has_bytes_of(facts_);
  }
  if (!same) changed_ = true;
  return same;
}

Code InForeignFile::health(const layout::Sentinel&) const noexcept {
  if (is_shut()) return Code::kShut;
  if (mapping_.faulted()) return Code::kFault;
  return is_unchanged() ? Code::kOk : Code::kLost;
}

Result<bool> InForeignFile::is_current() {
  if (is_shut()) return store::shut(file_.path());
  if (!mapping_.is_copy()) return is_unchanged() && file_.has_its_path();
  const auto now = file_.facts();
  if (!now) return now.error();
  return now->has_bytes_of(facts_) && file_.has_its_path();
}

Result<Moment> InForeignFile::moment() const {
  if (filters_.size() > 1) {
    return fail(Code::kInvalid, file_.path() + ": has " + std::to_string(filters_.size()) +
                                    " filters, which only lookups take as one. Import one of them (bf import).");
  }
  Moment moment;
  moment.keys_added = filters_.front().keys.value_or(0);
  if (filters_.front().keys) return moment;
  // A copy is as full as its bits say. It asks twice, and the file does not change.
  if (keys_.load() == kNotCounted) {
    const auto counted = fill_of(filters_.front());
    if (!counted) return fail(Code::kFault, file_.path() + ": cannot be read. Copy it to a disk that works.");
    keys_ = static_cast<std::uint64_t>(std::min(counted->estimated_keys, 0x1p48));
  }
  moment.keys_added = keys_.load();
  return moment;
}

// The bytes may end in the middle of a word. Bits after the last one are not the filter's, and no other place has them.
Error InForeignFile::read_words(const ForeignBits& filter, std::span<std::byte> into, std::uint64_t offset) const {
  constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
  const std::uint64_t num_bits = filter.identity.shape.num_bits;
  const std::uint64_t array_bytes = filter.turn.bytes(num_bits);
  const std::size_t there = std::min<std::uint64_t>(into.size(), array_bytes - std::min(offset, array_bytes));
  std::fill(into.begin() + static_cast<std::ptrdiff_t>(there), into.end(), std::byte{0});
  if (Error error = mapping_.read(into.first(there), filter.offset + offset); !error.ok()) return error;
  for (std::size_t at = 0; at + kWordBytes <= into.size(); at += kWordBytes) {
    std::uint64_t word = filter.turn(base::load<std::uint64_t>(into.data() + at));
    const std::uint64_t first_bit = 8 * (offset + at);
    if (num_bits - first_bit < 64) word &= (std::uint64_t{1} << (num_bits - first_bit)) - 1;
    base::store(into.data() + at, word);
  }
  return {};
}

std::optional<Fill> InForeignFile::fill_of(const ForeignBits& filter) const {
  const Shape& shape = filter.identity.shape;
  const auto counter =
      std::make_unique<layout::FillCounter>(fill_counter(shape, geometry_of(shape)));  // stacks are small
  std::vector<std::uint64_t> words(std::min<std::uint64_t>(filter.identity.body_bytes / 8, 1 << 15));
  for (std::uint64_t done = 0; done < filter.identity.body_bytes;) {
    const std::uint64_t now = std::min<std::uint64_t>(words.size() * 8, filter.identity.body_bytes - done);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(words)).first(now);
    if (!read_words(filter, bytes, done).ok()) return std::nullopt;
    counter->take(words.data(), now / 8);
    done += now;
  }
  return counter->fill();
}

// A key is absent if it is absent from each of the filters.
std::optional<Fill> InForeignFile::fill() const {
  Fill all;
  double absent = 1;
  std::uint64_t num_bits = 0;
  for (const ForeignBits& filter : filters_) {
    const auto one = fill_of(filter);
    if (!one) return std::nullopt;
    if (filters_.size() == 1) return one;
    all.set_bits += one->set_bits;
    all.estimated_keys += one->estimated_keys;
    all.estimated_keys_low += one->estimated_keys_low;
    all.estimated_keys_high += one->estimated_keys_high;
    absent *= 1 - one->estimated_fpr;
    num_bits += filter.identity.shape.num_bits;
  }
  all.fill_ratio = static_cast<double>(all.set_bits) / static_cast<double>(num_bits);
  all.estimated_fpr = 1 - absent;
  return all;
}

Stats InForeignFile::stats(const Ask& ask, StatsWish wish) const {
  Stats stats = Home::stats(ask, {.fill = false, .memory = wish.memory});
  if (wish.fill) {
    if (const auto counted = fill()) stats.fill = *counted;
  }
  return stats;
}

Error InForeignFile::shut(const std::function<void()>&) {
  shut_ = true;
  return {};
}

Result<region::Mapping> map_whole(const ForeignFile& opened, const MapOptions& options) {
  const std::uint64_t bytes = opened.facts.bytes;
  if (options.copy) return region::Mapping::copy(opened.file, {}, 0, 0, bytes);
  auto mapping = region::Mapping::map(opened.file, File::Access::kRead, 0, bytes,
                                      options.random_access ? region::Pages::kSmall : region::Pages::kHuge);
  if (!mapping) return mapping;
  if (Error error = mapping->fill_holes(opened.file, 0, {{0, bytes}}); !error.ok()) return error;
  if (options.populate) {
    if (Error error = mapping->populate(0, bytes); !error.ok()) return error;
  }
  // The home asks the guard itself, so no word of the file has to say it.
  if (Error error = mapping->guard({}); !error.ok()) return error;
  return mapping;
}

Shape shape_of_all(const std::vector<ForeignBits>& filters) {
  Shape shape = filters.front().identity.shape;
  for (std::size_t i = 1; i < filters.size(); ++i) {
    shape.num_bits += filters[i].identity.shape.num_bits;
    shape.capacity += filters[i].identity.shape.capacity;
  }
  return shape;
}

}  // namespace

Result<ForeignFile> open_foreign_file(const std::string& path, const OpenOptions& options) {
  if (options.follow)
    return fail(Code::kInvalid, path + ": a file of another program is not followed. Open it again when it changed.");
  auto file = open_for_reading(path, options);
  if (!file) return file.error();
  const auto sharing = file->sharing();
  if (!sharing) return sharing.error();
  if (*sharing == region::Sharing::kRemote && !options.any_filesystem && !options.map.copy)
    return remote_filesystem(*file);
  auto facts = settled_facts(*file);
  if (!facts) return facts.error();
  if (!facts->regular) return fail(Code::kNotRegular, path + ": not a regular file. Give the path of a regular file.");
  if (facts->bytes == 0) return fail(Code::kTooShort, path + ": is empty. Give the path of a filter.");
  return ForeignFile{std::move(*file), *facts, *sharing == region::Sharing::kOverlay && !options.descriptor};
}

namespace {

// A kernel that looks for a digest reads aligned words of bfstore's own order.
Error check_hash(const ForeignFile& opened, const ForeignBits& filter) {
  const HashInfo& hash = hash::row_of(filter.identity.shape.hash).info;
  if (hash.gives_positions) return {};
  return fail(Code::kUnsupported, opened.file.path() + ": a filter with the hash " + hash.name +
                                      " is not asked where it is. Make a filter file of it (bf import).");
}

}  // namespace

Result<std::unique_ptr<Ask>> ask_foreign(ForeignFile opened, std::vector<ForeignBits> filters,
                                         const OpenOptions& options) {
  if (Error error = check_hash(opened, filters.front()); !error.ok()) return error;
  auto mapping = map_whole(opened, options.map);
  if (!mapping) return mapping.error();
  const auto now = opened.file.facts();
  if (!now) return now.error();
  if (!now->has_bytes_of(opened.facts))
    return fail(Code::kBusy, opened.file.path() + ": changed while it was opened. Open it again.");
  const auto functions = functions_for(filters.front().identity.shape.layout, Adding::kNever);
  if (!functions) return functions.error();
  const Shape shape = shape_of_all(filters);
  const std::byte* const start = mapping->data();
  std::uint64_t body_bytes = 0;
  for (const ForeignBits& filter : filters) body_bytes += filter.identity.body_bytes;
  auto home = std::make_unique<InForeignFile>(std::move(opened), filters, std::move(*mapping));
  auto ask = std::make_unique<Ask>(*functions, BodyWords{nullptr, shape, body_bytes}, Adding::kNever, std::move(home));
  for (const ForeignBits& filter : filters)
    ask->positioned.emplace_back(filter.identity, start + filter.offset, filter.turn);
  ask->has_live_word = false;
  for (const ForeignBits& filter : filters) ask->keys_told += filter.keys.value_or(0);
  return ask;
}

}  // namespace bfstore::store
