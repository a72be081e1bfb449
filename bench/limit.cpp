#include "limit.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace bench {
namespace {

__extension__ using Uint128 = unsigned __int128;

// The distances at which a rolling loop prefetches. The table takes the fastest one, or the plain loop.
constexpr std::array<std::size_t, 5> kDistances{16, 32, 64, 128, 256};
constexpr std::size_t kRing = 512;  // more than the longest distance

// Digests in an array are read twice and not kept: that is the cheapest.
struct Given {
  static constexpr bool kKeep = false;
  const std::uint64_t* digests;
  std::uint64_t operator()(std::size_t i) const noexcept { return digests[i]; }
};

struct Hashed {
  static constexpr bool kKeep = true;
  const Column* column;
  const Hasher* hasher;
  std::uint64_t operator()(std::size_t i) const noexcept { return (*hasher)((*column)[i]); }
};

inline Uint128 product(const Lines& lines, std::uint64_t digest) noexcept {
  return static_cast<Uint128>(digest) * lines.count;
}

inline std::uint64_t* line_of(const Lines& lines, std::uint64_t digest) noexcept {
  return lines.words + static_cast<std::uint64_t>(product(lines, digest) >> 64) * 8;
}

// Touches one word, which is enough to make the memory bring the whole line.
struct Word {
  static std::uint64_t read(const std::uint64_t* line) noexcept { return *line & 1; }
};

// Reads all 64 bytes, with vectors of 16 bytes, which every 64-bit machine has. (Word by word takes up to twice as
// long.)
struct WholeLine {
  using Part __attribute__((vector_size(16), may_alias)) = std::uint64_t;
  static std::uint64_t read(const std::uint64_t* line) noexcept {
    const auto* parts = reinterpret_cast<const Part*>(line);
    const Part all = (parts[0] | parts[1]) | (parts[2] | parts[3]);
    return all[0] & 1;
  }
};

template <class How>
struct Read {
  static constexpr int kForWriting = 0;
  std::uint8_t* answers;
  std::uint64_t operator()(const Lines& lines, std::size_t i, std::uint64_t digest) const noexcept {
    const std::uint64_t bit = How::read(line_of(lines, digest));
    answers[i] = static_cast<std::uint8_t>(bit);
    return bit;
  }
};

// Stores no answers, like a caller's loop over single lookups.
template <class How>
struct ReadOnly {
  std::uint64_t operator()(const Lines& lines, std::size_t, std::uint64_t digest) const noexcept {
    return How::read(line_of(lines, digest));
  }
};

// Reads all 64 bytes and writes them back, as a single writer may. It ORs with a mask that is 0, which the compiler
// does not know: every store happens, and no bit changes.
struct Rewrite {
  static constexpr int kForWriting = 1;
  using Part = WholeLine::Part;
  std::uint64_t no_bits;
  std::uint64_t operator()(const Lines& lines, std::size_t, std::uint64_t digest) const noexcept {
    auto* parts = reinterpret_cast<Part*>(line_of(lines, digest));
    for (std::size_t i = 0; i < 4; ++i) parts[i] |= Part{no_bits, no_bits};
    return digest & 1;
  }
};

// ORs each word that the blocked layout probes, atomically, with the same mask.
struct AtomicOr {
  static constexpr int kForWriting = 1;
  std::uint64_t no_bits;
  std::uint64_t operator()(const Lines& lines, std::size_t, std::uint64_t digest) const noexcept {
    std::uint64_t* line = line_of(lines, digest);
    auto h = static_cast<std::uint32_t>(digest);
    for (std::uint32_t i = 0; i < lines.num_probes; ++i) {
      h *= 0x9e3779b9;
      const std::uint64_t mask = (std::uint64_t{1} << ((h >> 23) & 63)) & no_bits;
      std::atomic_ref<std::uint64_t>(line[h >> 29]).fetch_or(mask, std::memory_order_relaxed);
    }
    return h & 1;
  }
};

// The arguments are passed by value. Otherwise, for the compiler, storing an answer could change them.
template <class Source, class Touch>
std::uint64_t plain(const Lines lines, const Source source, std::size_t count, const Touch touch) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += touch(lines, i, source(i));
  return sum;
}

template <class Source, class Touch>
std::uint64_t ahead(const Lines lines, const Source source, std::size_t count, std::size_t distance,
                    const Touch touch) noexcept {
  [[maybe_unused]] std::array<std::uint64_t, Source::kKeep ? kRing : 1> ring;
  // always_inline, because gcc 12 drops a helper that only prefetches as one without effect.
  const auto start = [&](std::size_t i) __attribute__((always_inline)) {
    const std::uint64_t digest = source(i);
    if constexpr (Source::kKeep) ring[i % kRing] = digest;
    __builtin_prefetch(line_of(lines, digest), Touch::kForWriting);
  };
  const auto again = [&](std::size_t i) __attribute__((always_inline)) {
    if constexpr (Source::kKeep)
      return ring[i % kRing];
    else
      return source(i);
  };
  const std::size_t lead = std::min(distance, count);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < lead; ++i) start(i);
  for (std::size_t i = 0; i + lead < count; ++i) {
    start(i + lead);
    sum += touch(lines, i, again(i));
  }
  for (std::size_t i = count - lead; i < count; ++i) sum += touch(lines, i, again(i));
  return sum;
}

// Makes the rows of one place.
class Builder {
 public:
  Builder(std::string place, const Lines& lines, std::uint64_t num_keys)
      : place_(std::move(place)), lines_(lines), num_keys_(num_keys) {}

  template <class Source, class Touch>
  void plain_row(const char* subject, const char* operation, const char* input, Source source, Touch touch) {
    Row& row = start_row(subject, operation, input);
    row.way = "plain";
    row.pass = [lines = lines_, count = num_keys_, source, touch] { return plain(lines, source, count, touch); };
  }

  template <class Source, class Touch>
  void ahead_row(const char* subject, const char* operation, const char* input, Source source, Touch touch,
                 std::size_t distance) {
    Row& row = start_row(subject, operation, input);
    row.way = "ahead-" + std::to_string(distance);
    row.pass = [lines = lines_, count = num_keys_, source, touch, distance] {
      return ahead(lines, source, count, distance, touch);
    };
  }

  Rows take() { return std::move(rows_); }

 private:
  Row& start_row(const char* subject, const char* operation, const char* input) {
    Row& row = rows_.emplace_back();
    row.place = place_;
    row.subject = subject;
    row.operation = operation;
    row.input = input;
    row.present = "mixed";
    row.num_keys = num_keys_;
    return row;
  }

  std::string place_;
  Lines lines_;
  std::uint64_t num_keys_;
  Rows rows_;
};

template <class Source>
void build(Builder& builder, const char* input, Source source, std::span<std::uint8_t> answers) {
  volatile std::uint64_t opaque = 0;
  const std::uint64_t no_bits = opaque;
  builder.plain_row("limit", "contains", input, source, ReadOnly<Word>{});
  builder.plain_row("limit-line", "contains", input, source, ReadOnly<WholeLine>{});
  builder.plain_row("limit", "add", input, source, Rewrite{no_bits});
  builder.plain_row("limit-atomic", "add", input, source, AtomicOr{no_bits});
  for (const std::size_t distance : kDistances) {
    builder.ahead_row("limit", "contains", input, source, Read<Word>{answers.data()}, distance);
    if (distance < 64 || distance > 128) continue;  // other distances are never faster there
    builder.ahead_row("limit-line", "contains", input, source, Read<WholeLine>{answers.data()}, distance);
    builder.ahead_row("limit", "add", input, source, Rewrite{no_bits}, distance);
    if (distance == 64) builder.ahead_row("limit-atomic", "add", input, source, AtomicOr{no_bits}, distance);
  }
}

}  // namespace

Rows limit_rows(const std::string& place, const Lines& lines, const Population& population, const Hasher& hasher,
                std::span<std::uint8_t> answers) {
  Builder builder(place, lines, population.num_queries);
  build(builder, "digests", Given{population.mixed.digests.data()}, answers);
  if (population.mixed.column.size() != 0) {
    build(builder, "keys", Hashed{&population.mixed.column, &hasher}, answers);
  }
  return builder.take();
}

}  // namespace bench
