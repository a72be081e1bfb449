#include "inline_subject.hpp"

#include <bfstore/inline.hpp>

#include "check.hpp"

namespace bench {
namespace {

// The code that an engine would write: single lookups, and its own loop with prefetches some digests ahead.
class InlineSubject {
 public:
  static constexpr bool kIsSmallValue = true;

  explicit InlineSubject(const bfstore::Filter& filter) noexcept : lookup_(filter.lookup()) {}

  [[nodiscard]] bool contains_digest(std::uint64_t digest) const noexcept { return lookup_.contains_digest(digest); }

  std::uint64_t contains_digests(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const {
    constexpr std::size_t kAhead = 128;
    const bfstore::Lookup lookup = lookup_;
    std::uint64_t maybes = 0;
    for (std::size_t i = 0; i < std::min(kAhead, digests.size()); ++i) lookup.prefetch(digests[i]);
    for (std::size_t i = 0; i < digests.size(); ++i) {
      if (i + kAhead < digests.size()) lookup.prefetch(digests[i + kAhead]);
      answers[i] = lookup.contains_digest(digests[i]) ? 1 : 0;
      maybes += answers[i];
    }
    return maybes;
  }

 private:
  bfstore::Lookup lookup_;
};

// What a C header could inline: a call of the kernel that was chosen for this CPU, by the handle's own pointer.
class PointerSubject {
 public:
  static constexpr bool kIsSmallValue = true;

  explicit PointerSubject(const bfstore::Filter& filter) noexcept : lookup_(filter.lookup()) {}

  [[nodiscard]] bool contains_digest(std::uint64_t digest) const noexcept { return lookup_.call(digest) != 0; }

 private:
  bfstore::Lookup lookup_;
};

Row pointer_row(const std::string& place, const BfstoreSubject& filter, std::span<const std::uint64_t> digests,
                std::uint64_t expected) {
  RowMaker maker{place, filter.layout_name() + "-pointer", {}, {}};
  Row& row = maker.make("contains", "single", "digests", "mixed", digests.size(), expected);
  row.pass = [subject = PointerSubject(filter.filter()), digests] { return ask_each(subject, digests); };
  return std::move(maker.rows.front());
}

}  // namespace

Rows inline_rows(const std::string& place, const BfstoreSubject& filter, const Population& population,
                 std::span<std::uint8_t> answers) {
  const auto subject = std::make_shared<const InlineSubject>(filter.filter());
  const std::string name = filter.layout_name() + "-inline";
  const std::uint64_t maybes = count_maybes(place + '/' + name, *subject, population.mixed.digests);
  const std::uint64_t absent = count_maybes(place + '/' + name, *subject, population.absent_queries);
  if (maybes != count_maybes(place, filter, population.mixed.digests)) fail(place + '/' + name + ": other answers");
  RowMaker maker{place, name, {}, {}};
  ask_rows(maker, *subject, "mixed", population.mixed.digests, answers, maybes);
  ask_rows(maker, *subject, "absent", population.absent_queries, answers, absent);
  ask_rows(maker, *subject, "present", population.present_queries, answers, population.num_queries);
  maker.rows.front().keep = subject;
  maker.rows.push_back(pointer_row(place, filter, population.mixed.digests, maybes));
  return std::move(maker.rows);
}

const char* inlined_for() noexcept {
#if defined(__AVX512F__) && defined(__AVX512VL__)
  return "AVX-512";
#elif defined(__AVX2__)
  return "AVX2";
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
  return "NEON";
#else
  return "none";
#endif
}

}  // namespace bench
