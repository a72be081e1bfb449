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
#include <optional>
#include <string>

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
std::uint64_t set_cells(const std::vector<std::uint64_t>& words, unsigned cell_bits) {
  const std::uint64_t lowest_of_each = ~std::uint64_t{0} / ((std::uint64_t{1} << cell_bits) - 1);
  std::uint64_t count = 0;
  for (std::uint64_t word : words) {
    for (unsigned shift = 1; shift < cell_bits; shift *= 2) word |= word >> shift;
    count += static_cast<std::uint64_t>(std::popcount(word & lowest_of_each));
  }
  return count;
}

std::optional<std::uint64_t> set_cells(const OpenedFile& file, std::uint64_t offset, std::uint64_t num_words,
                                       unsigned cell_bits) {
  constexpr std::uint64_t kPieceWords = std::uint64_t{1} << 17;  // 1 MiB
  std::uint64_t count = 0;
  std::vector<std::uint64_t> words;
  for (std::uint64_t done = 0; done < num_words; done += words.size()) {
    words.resize(std::min(kPieceWords, num_words - done));
    if (!file.read(words, offset + done * sizeof words[0])) return std::nullopt;
    count += set_cells(words, cell_bits);
  }
  return count;
}

// The share of set bits below which a stretch is emptier than by chance. 0 if none is, or the hash is not bfstore's
// own. A key sets at most k bits of a stretch, so the number of set bits varies at most k times as much as that of bits
// that are set one by one. Eight standard deviations do not happen by chance.
double least_by_chance(const std::vector<double>& shares, const bfstore::Report& report) {
  if (shares.empty() || !report.identity) return 0;
  const bfstore::ReportedIdentity& id = *report.identity;
  const auto hash = static_cast<bfstore::Hash>(id.hash);
  if (hash != bfstore::Hash::kXxh3 && hash != bfstore::Hash::kSipHash) return 0;
  std::vector<double> ascending = shares;
  const auto middle = ascending.begin() + static_cast<std::ptrdiff_t>(ascending.size() / 2);
  std::nth_element(ascending.begin(), middle, ascending.end());
  const double cells = static_cast<double>(id.num_bits) / static_cast<double>(shares.size());
  return std::max(*middle - 8 * std::sqrt(id.num_probes * *middle / cells), 0.0);
}

}  // namespace

std::vector<double> fill_along(const bfstore::Report& report) {
  if (!report.valid() || !report.identity) return {};
  const bfstore::ReportedIdentity& id = *report.identity;
  const auto layout = bfstore::layout_of(static_cast<bfstore::Layout>(id.layout));
  if (!layout) return {};
  const OpenedFile file(report.path);
  const std::uint64_t num_words = id.body_bytes * 8 / kWordBits;
  const std::uint64_t length = std::max<std::uint64_t>(1, (num_words + kMostStretches - 1) / kMostStretches);
  std::vector<double> shares;
  for (std::uint64_t first = 0; first < num_words; first += length) {
    const std::uint64_t words = std::min(length, num_words - first);
    const auto set = set_cells(file, id.body_offset + first * sizeof(std::uint64_t), words, layout->cell_bits);
    if (!set) return {};
    // Bits of the last word that are beyond m are never set.
    const std::uint64_t bits =
        std::min((first + words) * kWordBits, id.num_bits * layout->cell_bits) - first * kWordBits;
    shares.push_back(static_cast<double>(*set) * layout->cell_bits / static_cast<double>(bits));
  }
  return shares;
}

std::vector<std::size_t> emptier_stretches(const std::vector<double>& shares, const bfstore::Report& report) {
  const double least = least_by_chance(shares, report);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] < least) found.push_back(i);
  }
  return found;
}

bool hole_would_show(const std::vector<double>& shares, const bfstore::Report& report) {
  return least_by_chance(shares, report) > 0;
}

}  // namespace bfinspect
