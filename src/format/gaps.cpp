// Golomb, "Run-length encodings", 1966, with parameters that are powers of two (Rice & Plaunt, 1971). If keys are
// distributed evenly, the gaps have a geometric distribution, for which this code is the best one of whole bits.
#include "format/gaps.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/bytes.hpp"

namespace bfstore::format {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr unsigned kWordBits = 64;

// The bits above the one with that number.
constexpr std::uint64_t above(unsigned bit) noexcept { return ~std::uint64_t{1} << bit; }

std::uint64_t word_at(Bytes piece, std::size_t offset) noexcept {
  return base::load<std::uint64_t>(piece.data() + offset);
}

// Appends the gaps that end in this word, and changes `run`, the number of zeros since the last new bit.
void append_gaps(std::vector<std::uint32_t>& gaps, std::uint64_t zeros, std::uint64_t fresh, std::uint32_t& run) {
  for (; fresh != 0; fresh &= fresh - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(fresh));
    gaps.push_back(run + static_cast<std::uint32_t>(std::popcount(zeros & ~above(bit))) - 1);
    zeros &= above(bit);
    run = 0;
  }
  run += static_cast<std::uint32_t>(std::popcount(zeros));
}

std::uint64_t code_bits(const std::vector<std::uint32_t>& gaps, std::uint32_t rice_bits) noexcept {
  const auto add = [rice_bits](std::uint64_t sum, std::uint32_t gap) { return sum + (gap >> rice_bits); };
  return std::accumulate(gaps.begin(), gaps.end(), gaps.size() * (std::uint64_t{rice_bits} + 1), add);
}

// Returns the parameter of the shortest code. The best one is within 1 of the logarithm of the mean. With 0 the code
// takes a bit for each bit that the earlier body lacks, so no code is longer than the piece.
std::uint32_t best_rice_bits(const std::vector<std::uint32_t>& gaps) noexcept {
  const std::uint64_t mean = std::accumulate(gaps.begin(), gaps.end(), std::uint64_t{0}) / gaps.size();
  const auto near = static_cast<std::uint32_t>(std::bit_width(mean));
  std::uint32_t best = 0;
  for (std::uint32_t bits = near < 2 ? 0 : near - 2; bits <= std::min(near + 1, kMostRiceBits); ++bits) {
    if (code_bits(gaps, bits) < code_bits(gaps, best)) best = bits;
  }
  return best;
}

class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& to) noexcept : to_(to) { to_.clear(); }

  // Takes at most 32 bits.
  void put(std::uint64_t bits, unsigned count) {
    waiting_ |= bits << num_waiting_;
    num_waiting_ += count;
    while (num_waiting_ >= 8) take_byte();
  }
  void put_ones(std::uint32_t count) {
    constexpr unsigned kMost = 32;
    for (; count > kMost; count -= kMost) put(~std::uint32_t{0}, kMost);
    put((std::uint64_t{1} << count) - 1, count);
  }
  void end() {
    if (num_waiting_ != 0) take_byte();
  }

 private:
  void take_byte() {
    to_.push_back(static_cast<std::byte>(waiting_));
    waiting_ >>= 8;
    num_waiting_ -= std::min(num_waiting_, 8U);
  }

  std::vector<std::byte>& to_;
  std::uint64_t waiting_ = 0;
  unsigned num_waiting_ = 0;
};

class BitReader {
 public:
  explicit BitReader(Bytes from) noexcept : from_(from) {}

  // Returns nothing if the code ends within the gap.
  std::optional<std::uint64_t> gap(std::uint32_t rice_bits) noexcept {
    std::uint64_t quotient = 0;
    for (;;) {
      const unsigned there = num_there();
      const unsigned ones = std::min(static_cast<unsigned>(std::countr_one(window())), there);
      quotient += ones;
      at_ += ones;
      if (there == 0) return std::nullopt;
      if (ones < there) break;
    }
    ++at_;
    if (num_bits() - at_ < rice_bits) return std::nullopt;
    const std::uint64_t rest = window() & ((std::uint64_t{1} << rice_bits) - 1);
    at_ += rice_bits;
    return quotient << rice_bits | rest;
  }

  // True if nothing is left but the zero bits that fill the last byte.
  [[nodiscard]] bool at_end() const noexcept { return num_bits() - at_ < 8 && window() == 0; }

 private:
  [[nodiscard]] std::uint64_t num_bits() const noexcept { return std::uint64_t{from_.size()} * 8; }
  // The next bits, of which num_there() are the code's.
  [[nodiscard]] std::uint64_t window() const noexcept {
    const Bytes left = from_.subspan(at_ / 8);
    const std::uint64_t word = left.size() >= kWordBytes ? word_at(left, 0) : base::load_rest(left.data(), left.size());
    return word >> at_ % 8;
  }
  [[nodiscard]] unsigned num_there() const noexcept {
    return static_cast<unsigned>(std::min<std::uint64_t>(kWordBits - at_ % 8, num_bits() - at_));
  }

  Bytes from_;
  std::uint64_t at_ = 0;  // in bits
};

// Walks over the bits of a piece that are 0, and sets some of them.
class Zeros {
 public:
  explicit Zeros(std::span<std::byte> piece) noexcept : piece_(piece) { look(); }

  // Skips that many zeros, and sets the next one. Returns false if there are not so many.
  bool set_after(std::uint64_t gap) noexcept {
    for (auto here = count(); here <= gap; here = count()) {
      gap -= here;
      if (offset_ + kWordBytes >= piece_.size()) return false;
      offset_ += kWordBytes;
      look();
    }
    for (; gap != 0; --gap) zeros_ &= zeros_ - 1;
    const std::uint64_t lowest = zeros_ & -zeros_;
    base::store(piece_.data() + offset_, word_at(piece_, offset_) | lowest);
    zeros_ ^= lowest;
    return true;
  }

 private:
  void look() noexcept { zeros_ = ~word_at(piece_, offset_); }
  [[nodiscard]] std::uint64_t count() const noexcept { return static_cast<std::uint64_t>(std::popcount(zeros_)); }

  std::span<std::byte> piece_;
  std::size_t offset_ = 0;
  std::uint64_t zeros_ = 0;  // in the word at offset_, after the last bit that was set
};

}  // namespace

std::optional<CodedBits> GapCoder::code(Bytes before, Bytes after) {
  gaps_.clear();
  std::uint32_t run = 0;
  for (std::size_t offset = 0; offset < before.size(); offset += kWordBytes) {
    const std::uint64_t was = word_at(before, offset);
    const std::uint64_t is = word_at(after, offset);
    if ((was & ~is) != 0) return std::nullopt;
    append_gaps(gaps_, ~was, is & ~was, run);
  }
  if (gaps_.empty()) return CodedBits{};
  const std::uint32_t rice_bits = best_rice_bits(gaps_);
  BitWriter writer(code_);
  for (const std::uint32_t gap : gaps_) {
    writer.put_ones(gap >> rice_bits);
    writer.put(0, 1);
    writer.put(gap & ((std::uint64_t{1} << rice_bits) - 1), rice_bits);
  }
  writer.end();
  return CodedBits{static_cast<std::uint32_t>(gaps_.size()), rice_bits, code_};
}

bool set_coded(std::span<std::byte> piece, const CodedBits& coded) noexcept {
  if (coded.rice_bits > kMostRiceBits || piece.empty()) return false;
  BitReader reader(coded.code);
  Zeros zeros(piece);
  for (std::uint32_t i = 0; i < coded.num_bits; ++i) {
    const auto gap = reader.gap(coded.rice_bits);
    if (!gap || !zeros.set_after(*gap)) return false;
  }
  return reader.at_end();
}

}  // namespace bfstore::format
