// See key_count.hpp.
#include "key_count.hpp"

#include "bytes.hpp"
#include "in_parallel.hpp"
#include "terminal.hpp"

#include <atomic>
#include <vector>

namespace bf {
namespace {

// The counts of all threads together.
struct Counts {
  std::atomic<std::uint64_t> keys{0};
  std::atomic<std::uint64_t> bytes{0};
};

void count_part(const KeySource& source, std::optional<Range> part, Counts& counts, auto&& show) {
  const char separator = source.format().separator;
  std::vector<char> buffer(kBufferBytes);
  const auto read = [&] {
    return part ? read_some(source.fd(), buffer.data(), buffer.size(), source.name(), *part)
                : read_some(source.fd(), buffer.data(), buffer.size(), source.name());
  };
  char last = separator;
  while (const std::size_t got = read()) {
    counts.keys += count_byte(buffer.data(), got, separator);
    counts.bytes += got;
    last = buffer[got - 1];
    show();
  }
  if (last != separator) ++counts.keys;
}

}  // namespace

std::uint64_t count_keys(const KeySource& source) {
  Counts counts;
  Progress progress("counting " + source.name(), source.bytes());
  in_parallel(source, [&](std::optional<Range> part, std::size_t number) {
    count_part(source, part, counts, [&] {
      if (number == 0) progress.show(counts.keys, counts.bytes);
    });
  });
  return counts.keys;
}

}  // namespace bf
