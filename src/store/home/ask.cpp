#include "store/home/ask.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <thread>

#include "base/fail.hpp"
#include "format/sections.hpp"
#include "store/file/reached.hpp"

namespace bfstore::store {
namespace {

// A handle that adds alone counts its single adds there, without atomic instructions. No thread counts there in another
// way: one that merges counts without the lock, for instance.
constexpr std::size_t kStripeOfSingleAdds = 0;

// Threads count on separate cache lines, unless there are more threads than stripes.
std::size_t own_stripe() noexcept {
  thread_local const std::size_t stripe =
      1 + (std::hash<std::thread::id>{}(std::this_thread::get_id()) + static_cast<std::size_t>(getpid())) %
              (format::kNumStripes - 1);
  static_assert(kStripeOfSingleAdds == 0);
  return stripe;
}

// In nanoseconds. The coarse clock costs only a read of memory, and is good to some milliseconds.
std::int64_t coarse_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<layout::Functions> functions_for(Layout layout, Adding how) {
  const layout::Row& row = layout::row_of(layout);
  const bool can = how == Adding::kNever || (how == Adding::kAlone ? row.info.can.add_alone : row.info.can.add);
  if (!can) {
    return base::fail(Code::kUnsupported,
                      std::string("a filter of the ") + row.info.name + " layout takes no keys" +
                          (row.info.can.add     ? " from an exclusive writer. Open it for shared writing."
                           : row.info.can.build ? " once it is built. Build another one from all keys (bf build)."
                                                : ""));
  }
  return layout::choose(row, secure_getenv("BFSTORE_FORCE_ISA"));
}

Error check_memory_takes_keys(Layout layout, Adding how) {
  if (how == Adding::kNever || layout::row_of(layout).info.epochs == 0) return {};
  return base::fail(
      Code::kUnsupported,
      "the keys of the layout expire, and only a file has epochs that end. Make it a file, or open it for "
      "reading.");
}

std::uint64_t sum_of_stripes(const std::byte* stripes, std::size_t in_stripe) noexcept {
  auto* const first = const_cast<std::byte*>(stripes) + in_stripe;  // only read
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < format::kNumStripes; ++i)
    sum += base::SharedWord(first + i * format::kStripeBytes).load_relaxed();
  return sum;
}

Ask::Ask(const layout::Functions& best, const BodyWords& body, Adding how, std::unique_ptr<Home> its_home)
    : row(layout::row_of(body.shape.layout)),
      functions(best),
      words(body.words),
      lines(body.words),
      shape(body.shape),
      gives_positions(hash::row_of(body.shape.hash).info.gives_positions),
      body_bytes(body.length),
      writable(how != Adding::kNever),
      alone(how == Adding::kAlone),
      adds(alone ? functions.add_alone : functions.add),
      home(std::move(its_home)) {
  layout::Geometry geometry = geometry_of(shape);
  if (row.info.epochs != 0) geometry.epoch = &own_word;
  adds.one = adds.one_for(geometry);
  const layout::Sentinel none{&own_word, &own_word, 0};
  target = {words, geometry, none, functions.contains.one_for(geometry), row.inlined};
  if (gives_positions) {
    target.inlined = false;
    target.ask = [](const layout::Target&, std::uint64_t) noexcept {
      return static_cast<std::int32_t>(Code::kKeyOnly);
    };
  }
}

PositionedBits::PositionedBits(const format::Identity& identity, const std::byte* at, layout::Turn its_turn)
    : source(identity.shape.hash, identity.shape.num_bits, identity.shape.num_probes,
             identity.seeds.value_or(std::vector<std::uint32_t>())),
      bytes(at),
      turn(its_turn) {}

void Ask::settle(const format::Identity& identity) {
  if (gives_positions) positioned.emplace_back(identity, reinterpret_cast<const std::byte*>(words), layout::kAsItIs);
  be_part(identity);
}

void Ask::see_slices(const format::Identity& identity, const std::uint64_t* number, bool end_words) {
  if (!identity.growth) return;
  growth = *identity.growth;
  slices = std::make_unique<layout::Slices>();
  slices->number = number;
  for (std::uint32_t i = 0; i < kMaxSlices; ++i) {
    const format::Slice slice = format::slice_of(identity, i);
    slices->of[i] = {(slice.body.offset - identity.body_offset) / sizeof(std::uint64_t),
                     slice.body.bytes * 8 / kLineBits};
    if (!end_words) continue;
    slices->end[i] = words + (slice.end_word.offset - identity.body_offset) / sizeof(std::uint64_t);
    slices->expected_end[i] = base::little_endian(format::end_word(identity.file_id, i));
  }
  target.geometry.slices = slices.get();
}

// A number of slices that no body has is as bad as a lost end word. The end word of the first slice counts, too:
// lookups compare it as in every layout.
layout::Sentinel Ask::newest_sentinel() const noexcept {
  layout::Sentinel newest = target.sentinel;
  const std::uint32_t number = slices->load();
  if (slices->lost(1)) return newest;
  if (number == 0) {
    newest.expected = ~newest.expected;
  } else if (slices->end[number - 1] != nullptr) {
    newest.end = slices->end[number - 1];
    newest.expected ^= base::little_endian(slices->expected_end[0] ^ slices->expected_end[number - 1]);
  }
  return newest;
}

std::optional<Growing> Ask::growing() const noexcept {
  if (slices == nullptr) return std::nullopt;
  return format::growing_of(shape.num_bits, shape.capacity, growth, num_slices());
}

Shape Ask::shape_of_all() const noexcept {
  Shape all = shape;
  if (slices == nullptr) return all;
  const std::uint64_t times = format::times_as_many(growth, num_slices());
  all.num_bits *= times;
  all.capacity *= times;
  return all;
}

std::uint64_t Ask::end_in(const std::byte* first) const noexcept {
  if (slices == nullptr) return UINT64_MAX;
  const layout::Slices::One& last = slices->of[num_slices() - 1];
  const auto* const body = reinterpret_cast<const std::byte*>(words);
  return static_cast<std::uint64_t>(body - first) + last.first_word * sizeof(std::uint64_t) +
         last.lines * kLineBits / 8;
}

// While another thread or process adds a slice, the keys for that slice are let in: they wait for nothing.
bool Ask::full() const noexcept {
  const bool is_growing = grow_for(1) == Code::kBusy;
  if (slices == nullptr) return keys_left() >= shape.capacity;
  const std::uint32_t number = std::min(num_slices() + (is_growing ? 1 : 0), kMaxSlices);
  return keys_left() >= shape.capacity * format::times_as_many(growth, number);
}

// Threads do not look at each other's counters for each key. So a body may get some more keys than it was made for
// before it grows: with 32 threads at most 1 of 64. The first new key of a handle looks, too: the body may be one that
// could not grow while an earlier process added, and there may be room now.
void Ask::grow_in_time(std::uint64_t before, std::uint64_t after) const noexcept {
  constexpr std::uint64_t kLooks = 2048;
  constexpr std::uint64_t kKeysAfterFailure = 256;  // a try takes as long as a hundred adds
  const std::uint64_t room = shape.capacity * format::times_as_many(growth, num_slices());
  const LastLook last = last_look.load(std::memory_order_relaxed);
  const std::uint64_t step = std::max(last == LastLook::kFailed ? kKeysAfterFailure : 1, room / kLooks);
  if (last != LastLook::kNone && before / step == after / step) return;
  const Code code = grow_for(0);
  const bool failed = code != Code::kOk && code != Code::kBusy;
  last_look.store(failed ? LastLook::kFailed : LastLook::kGood, std::memory_order_relaxed);
}

// A body that is exactly full stays as it is: one that was built of all its keys would otherwise get another slice.
Code Ask::grow_for(std::uint64_t more) const noexcept {
  if (slices == nullptr || !writable) return Code::kUnsupported;
  const std::uint32_t number = num_slices();
  const std::uint64_t room = shape.capacity * format::times_as_many(growth, number);
  if (number == kMaxSlices || keys_left() + more <= room) return Code::kOk;
  const int callers = errno;  // no call changes errno
  const Code code = home->grow(number);
  errno = callers;
  return code;
}

// A line has the same number in the whole filter and in its part, so the number of a part's first line is not 0. A
// digest is mapped to the lines of the whole, and `lines` begins where the words of the whole would. Nothing is read or
// written for a digest of another part, which has no memory here.
void Ask::be_part(const format::Identity& identity) noexcept {
  if (!identity.part) return;
  const Part part = identity.part->part;
  const std::uint64_t in_part = target.geometry.range;
  const std::uint64_t before = in_part * part.number;
  target.geometry.range = in_part * part.parts;
  lines = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uintptr_t>(words) - before * (kLineBits / 8));
  target.words = lines;
  const auto first_digest = [&](std::uint32_t number) {  // the least digest with digest * parts >= number * 2^64
    return ((layout::Product{number} << 64) + part.parts - 1) / part.parts;
  };
  target.first_digest = static_cast<std::uint64_t>(first_digest(part.number));
  target.more_digests = static_cast<std::uint64_t>(first_digest(part.number + 1) - 1) - target.first_digest;
  target.inlined = false;
  target.of_part = target.ask;
  target.ask = [](const layout::Target& asked, std::uint64_t digest) noexcept {
    return asked.has(digest) ? asked.of_part(asked, digest) : static_cast<std::int32_t>(Code::kPart);
  };
}

const std::vector<std::uint32_t>& Ask::seeds() const noexcept {
  static const std::vector<std::uint32_t> kNone;
  return positioned.empty() ? kNone : positioned.front().source.seeds();
}

bool Ask::not_yet(const layout::Target& target) noexcept {
  const bool early = target.sentinel.differing() != 0;
  std::atomic_thread_fence(std::memory_order_acquire);  // the bits are read after it
  return early;
}

void Ask::look_before_too() noexcept {
  target.kernel = target.ask;
  if (gives_positions) return;  // answers no digest; by_position.hpp looks before, too
  target.inlined = false;
  target.ask = [](const layout::Target& asked, std::uint64_t digest) noexcept {
    return not_yet(asked) ? 1 : asked.kernel(asked, digest);
  };
}

Code Ask::why_not(std::uint64_t compared) const noexcept {
  if (home->is_shut()) return Code::kShut;
  if (!writable) return row.info.can.build ? Code::kSealed : Code::kReadOnly;
  return born.here() ? home->why_in_doubt(sentinel(), compared) : Code::kForked;
}

Count Ask::add(std::uint64_t digest) noexcept {
  if (!target.has(digest)) return Code::kPart;
  std::unique_lock lock(one_at_a_time, std::defer_lock);
  if (alone) {
    if (!born.here()) return Code::kForked;  // a thread of the parent may hold the lock, and is not in this child
    lock.lock();
  }
  if (const Code code = may_add(); code != Code::kOk) return code;
  const bool changed = adds.one(lines, target.geometry, digest);
  if (!alone) {
    count_adds(1, changed ? 1 : 0);
  } else if (changed || removes()) {
    count_alone();
  }
  if (const Code code = was_added(); code != Code::kOk) [[unlikely]]
    return code;
  return std::uint64_t{changed ? 1U : 0U};
}

Count Ask::remove(std::uint64_t digest) noexcept {
  if (!removes()) return Code::kUnsupported;
  if (!target.has(digest)) return Code::kPart;
  std::unique_lock lock(one_at_a_time, std::defer_lock);
  if (alone) {
    if (!born.here()) return Code::kForked;  // as in add()
    lock.lock();
  }
  if (const Code code = may_remove(); code != Code::kOk) return code;
  const layout::Changes& removing = alone ? functions.counts.remove_alone : functions.counts.remove;
  const bool changed = removing.one(lines, target.geometry, digest);
  count_removes(changed ? 1 : 0);
  if (const Code code = was_removed(); code != Code::kOk) [[unlikely]]
    return code;
  return std::uint64_t{changed ? 1U : 0U};
}

std::uint64_t Ask::count(std::uint64_t digest) const noexcept {
  const bool early = not_yet(target);
  const unsigned found = functions.counts.count(lines, target.geometry, digest);
  return early || layout::in_doubt(target.sentinel) ? layout::Counters::kMost : found;
}

// Another writer may have been let in since the lock was lost. The plain stores of a writer that adds alone may have
// erased bits of that writer, so every process must doubt. Otherwise the live word of the file stays as it is, because
// the other writers have their locks, and miss no key.
Code Ask::lost_lock(bool stored) const noexcept {
  home->poison(stored && alone);
  const Code code = why_not(adds_compare);
  return code != Code::kOk ? code : Code::kLost;
}

void Ask::count_in(std::size_t in_stripe, std::uint64_t keys) noexcept {
  if (stripes == nullptr || keys == 0) return;
  const base::SharedWord counter(stripes + own_stripe() * format::kStripeBytes + in_stripe);
  counter.add_relaxed(keys);
  if (slices != nullptr) [[unlikely]] {
    const std::uint64_t after = counter.load_relaxed();
    grow_in_time(after - keys, after);
  }
  if (is_written_back) check_writeback_in_time();
}

void Ask::count_alone() noexcept {
  if (stripes == nullptr) return;
  constexpr std::size_t kAt = kStripeOfSingleAdds * format::kStripeBytes + format::kKeysAddedInStripe;
  const base::SharedWord counter(stripes + kAt);
  counter.add_alone(1);
  if (slices != nullptr) [[unlikely]]
    grow_in_time(counter.load_relaxed() - 1, counter.load_relaxed());
  if (is_written_back) check_writeback_in_time();
}

void Ask::check_writeback_every(std::chrono::nanoseconds pause) noexcept {
  is_written_back = true;
  writeback_check = pause;
  next_writeback_check.store(coarse_now() + pause.count(), std::memory_order_relaxed);
}

// Only one of the threads that add asks.
void Ask::check_writeback_in_time() noexcept {
  const std::int64_t now = coarse_now();
  std::int64_t next = next_writeback_check.load(std::memory_order_relaxed);
  if (now < next) [[likely]]
    return;
  if (next_writeback_check.compare_exchange_strong(next, now + writeback_check.count(), std::memory_order_relaxed)) {
    const int callers = errno;  // no call changes errno
    home->check_writeback();
    errno = callers;
  }
}

}  // namespace bfstore::store
