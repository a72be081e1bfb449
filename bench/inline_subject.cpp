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
  return std::move(maker.rows);
}

}  // namespace bench
