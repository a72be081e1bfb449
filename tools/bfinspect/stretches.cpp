// See stretches.hpp.
#include "stretches.hpp"

#include <bfstore/layouts.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace bfinspect {
namespace {

constexpr std::uint64_t kMostStretches = 64;
constexpr std::uint64_t kWordBits = 64;

class OpenedFile {
 public:
  explicit OpenedFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;
  ~OpenedFile() {
    if (fd_ >= 0) close(fd_);
  }

  [[nodiscard]] bool read(std::vector<std::uint64_t>& words, std::uint64_t offset) const {
    auto* const bytes = reinterpret_cast<char*>(words.data());
    for (std::size_t done = 0, wanted = words.size() * sizeof words[0]; done < wanted;) {
      const ssize_t got = pread(fd_, bytes + done, wanted - done, static_cast<off_t>(offset + done));
      if (got == 0 || (got < 0 && errno != EINTR)) return false;
      if (got > 0) done += static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  int fd_;
};

// Counts the cells of the words that are not 0. A cell has at most 32 bits. The order of the bytes of a word does not
// matter.
std::uint64_t set_cells(std::span<const std::uint64_t> words, unsigned cell_bits) {
  const std::uint64_t lowest_of_each = ~std::uint64_t{0} / ((std::uint64_t{1} << cell_bits) - 1);
  std::uint64_t count = 0;
  for (std::uint64_t word : words) {
    for (unsigned shift = 1; shift < cell_bits; shift *= 2) word |= word >> shift;
    count += static_cast<std::uint64_t>(std::popcount(word & lowest_of_each));
  }
  return count;
}

// A stretch that is expected to have k * `keys` set cells has fewer than k times the result with a chance of at most
// e^-50 (see judged()). By the same bound a stretch that has k * `keys` was expected to have at least k times the
// result.
double least_by_chance(double keys) {
  constexpr double kExponent = 50;
  return keys > 2 * kExponent ? keys - std::sqrt(2 * kExponent * keys) : 0;
}

// The set cells for each cell that are expected at least, divided by k.
double least_expected(const std::vector<Stretch>& stretches, double probes) {
  const auto by = [&](const Stretch& stretch) {
    return least_by_chance(static_cast<double>(stretch.set) / probes) / static_cast<double>(stretch.cells);
  };
  Stretch whole;
  double least = 0;
  for (const Stretch& stretch : stretches) {
    whole.cells += stretch.cells;
    whole.set += stretch.set;
    least = std::max(least, by(stretch));
  }
  return std::max(least, by(whole));
}

// True if a hole would show in a body that is full apart from it.
bool would_show_if_full(std::vector<Stretch> stretches, double probes) {
  for (Stretch& stretch : stretches) stretch.set = stretch.cells;
  return least_by_chance(least_expected(stretches, probes) * static_cast<double>(stretches.front().cells)) > 0;
}

// Other hashes are as uneven as the programs that they come from made them, and some reach a part of the body only. A
// layout that is built has more in its body than the bits of keys.
bool spreads_evenly(const bfstore::ReportedIdentity& id, const bfstore::LayoutInfo& layout) {
  if (layout.can.build) return false;
  const auto hash = static_cast<bfstore::Hash>(id.hash);
  return hash == bfstore::Hash::kXxh3 || hash == bfstore::Hash::kSipHash || hash == bfstore::Hash::kExternal;
}

std::optional<std::vector<Stretch>> read_stretches(const bfstore::Report& report, unsigned cell_bits) {
  constexpr std::uint64_t kPieceWords = std::uint64_t{1} << 17;  // 1 MiB
  const OpenedFile file(report.path);
  StretchCounter counter(report, cell_bits);
  std::vector<std::uint64_t> words;
  for (const bfstore::ReportedSlice& slice : report.slices) {
    const std::uint64_t slice_words = slice.bytes * 8 / kWordBits;
    for (std::uint64_t done = 0; done < slice_words; done += words.size()) {
      words.resize(std::min(kPieceWords, slice_words - done));
      if (!file.read(words, slice.offset + done * sizeof words[0])) return std::nullopt;
      counter.take(words);
    }
  }
  return counter.stretches();
}

}  // namespace

// With s slices, s - 1 of them end within a stretch.
StretchCounter::StretchCounter(const bfstore::Report& report, unsigned cell_bits) : cell_bits_(cell_bits) {
  for (const bfstore::ReportedSlice& slice : report.slices) slice_words_.push_back(slice.bytes * 8 / kWordBits);
  body_words_ = std::accumulate(slice_words_.begin(), slice_words_.end(), std::uint64_t{0});
  body_bits_ = report.growing ? body_words_ * kWordBits : report.identity->num_bits * cell_bits;
  const std::uint64_t most = kMostStretches - (std::max<std::uint64_t>(slice_words_.size(), 1) - 1);
  length_ = std::max<std::uint64_t>(1, (body_words_ + most - 1) / most);
}

void StretchCounter::begin_stretch() {
  const auto slice = static_cast<std::uint32_t>(taken_ == 0 ? 0 : stretches_.back().slice + (taken_ == slice_end_));
  if (taken_ == slice_end_) slice_end_ += slice_words_[slice];
  end_ = std::min(taken_ + length_, slice_end_);
  const std::uint64_t begin_bits = std::min(taken_ * kWordBits, body_bits_);
  stretches_.push_back({(std::min(end_ * kWordBits, body_bits_) - begin_bits) / cell_bits_, 0, slice});
}

void StretchCounter::take(std::span<const std::uint64_t> words) {
  while (!words.empty()) {
    if (taken_ >= body_words_) {  // more than the body had
      taken_ += words.size();
      return;
    }
    if (taken_ == end_) begin_stretch();
    const auto now = words.first(std::min<std::uint64_t>(words.size(), end_ - taken_));
    stretches_.back().set += set_cells(now, cell_bits_);
    taken_ += now.size();
    words = words.subspan(now.size());
  }
}

std::optional<std::vector<Stretch>> StretchCounter::stretches() const {
  return taken_ == body_words_ ? std::optional(stretches_) : std::nullopt;
}

// A healthy file must not be called damaged by chance. The number X of set cells of a stretch is a function of the
// different keys of the filter, whose digests are independent. Without one of the keys X is lower by at most k, and the
// sum of these differences over all keys is at most X, because a cell that two keys set is in none of them. So X / k is
// self-bounding (Boucheron, Lugosi & Massart, "A sharp concentration inequality with applications", 2000): it is below
// its mean mu by t with a chance of at most e^(-t^2 / (2 mu)), and it reaches a number x, t above mu, with at most
// e^(-t^2 / (2 x)). This needs no independence of the probes of a key, so it is true of every layout, of parts and of
// folded and merged filters, with few keys or many, and of the whole body. The mean of a stretch is proportional to its
// length. Hence mu is at least what the whole body, or any stretch, allows, and X at least what mu allows. With at most
// 64 stretches that is wrong for at most one healthy filter in 10^19 (129 e^-50). In the cells that two filters
// have in common a cell needs two keys, the sum is at most 2 X, and the exponent a half (Boucheron, Lugosi & Massart,
// "On concentration of self-bounding functions", 2009): one in 10^8.
//
// It is not chance if keys were chosen by their digests, if digests from outside are not well mixed (FORMAT.md demands
// it), or if an add of millions of keys, which are added from the start of the body to its end, was killed.
//
// A file that is written meanwhile: at the moment between two readings each cell count was not below the lower one of a
// stretch, nor above the higher one, while keys are only added, or only removed. So the means are estimated from
// `fewer`, and `more` is judged.
static Stretches judged_slice(const std::vector<Stretch>& fewer, const std::vector<Stretch>& more, double probes) {
  Stretches found{.all = more, .judged = true};
  const double expected = least_expected(fewer, probes);
  const auto least_of = [&](const Stretch& stretch) {
    return least_by_chance(expected * static_cast<double>(stretch.cells)) * probes;
  };
  found.hole_would_show = least_of(more.front()) > 0;
  found.too_short = !found.hole_would_show && !would_show_if_full(more, probes);
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (static_cast<double>(more[i].set) < least_of(more[i])) found.emptier.push_back(i);
  }
  return found;
}

// A hole is looked for in each slice. It would show if it would in the one that has most of the body.
Stretches judged(const std::vector<Stretch>& fewer, const std::vector<Stretch>& more, std::uint32_t num_probes) {
  Stretches found;
  found.judged = true;
  std::uint64_t most_cells = 0;
  for (std::size_t first = 0, end = 0; first < more.size(); first = end) {
    std::uint64_t cells = 0;
    for (; end < more.size() && more[end].slice == more[first].slice; ++end) cells += more[end].cells;
    const auto of_slice = [=](const std::vector<Stretch>& all) {
      return std::vector<Stretch>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                  all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const Stretches slice = judged_slice(of_slice(fewer), of_slice(more), num_probes);
    found.all.insert(found.all.end(), slice.all.begin(), slice.all.end());
    for (const std::size_t emptier : slice.emptier) found.emptier.push_back(first + emptier);
    if (cells < most_cells) continue;
    most_cells = cells;
    found.hole_would_show = slice.hole_would_show;
    found.too_short = slice.too_short;
  }
  return found;
}

std::optional<Stretches> judged_once(const bfstore::ReportedIdentity& id, std::vector<Stretch> stretches) {
  const auto layout = bfstore::layout_of(static_cast<bfstore::Layout>(id.layout));
  if (!layout) return std::nullopt;
  if (!spreads_evenly(id, *layout)) return Stretches{.all = std::move(stretches)};
  return judged(stretches, stretches, id.num_probes);
}

std::optional<Stretches> look_along(const bfstore::Report& report) {
  if (!report.valid() || !report.identity) return std::nullopt;
  const bfstore::ReportedIdentity& id = *report.identity;
  const auto layout = bfstore::layout_of(static_cast<bfstore::Layout>(id.layout));
  if (!layout) return std::nullopt;
  auto first = read_stretches(report, layout->cell_bits);
  if (!first) return std::nullopt;
  auto found = judged_once(id, *first);
  if (!found || found->emptier.empty()) return found;
  auto second = read_stretches(report, layout->cell_bits);
  if (!second || second->size() != first->size()) return std::nullopt;
  for (std::size_t i = 0; i < first->size(); ++i) {
    const auto [lower, higher] = std::minmax((*first)[i].set, (*second)[i].set);
    (*first)[i].set = lower;
    (*second)[i].set = higher;
  }
  return judged(*first, *second, id.num_probes);
}

}  // namespace bfinspect
