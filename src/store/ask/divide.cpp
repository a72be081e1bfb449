#include "store/ask/divide.hpp"

#include <system_error>
#include <thread>

namespace bfstore::store {

Ranges::Ranges(const Lines& lines, std::size_t count) : parts_(lines.part.parts) {
  using layout::Product;
  for (std::size_t number = 0; number < count; ++number) {
    const Product first_line =
        Product{lines.count} * lines.part.number + (Product{lines.count} * number + count - 1) / count;
    const Product range = Product{lines.count} * lines.part.parts;
    first_digests_.push_back(static_cast<std::uint64_t>(((first_line << 64) + range - 1) / range));
  }
}

// A counting sort: the number of digests of each range says where the next range's digests begin.
void Share::sort(std::size_t count, const Ranges& ranges) noexcept {
  std::fill(ends_.begin(), ends_.end(), 0);
  for (std::size_t i = 0; i < count; ++i) ++ends_[ranges.of(unsorted_[i]) + 1];
  for (std::size_t range = 1; range < ends_.size(); ++range) ends_[range] += ends_[range - 1];
  for (std::size_t i = 0; i < count; ++i) sorted_[ends_[ranges.of(unsorted_[i])]++] = unsorted_[i];
  // Each begin has moved to its end, which is where the next range begins.
  std::copy_backward(ends_.begin(), ends_.end() - 1, ends_.end());
  ends_.front() = 0;
}

bool run_at_once(unsigned threads, const std::function<void(unsigned)>& work) {
  enum class Signal { kWait, kGo, kCancel };
  std::atomic<Signal> signal{Signal::kWait};
  std::vector<std::thread> others;
  const auto wait_and_work = [&](unsigned self) {
    signal.wait(Signal::kWait);
    if (signal == Signal::kGo) work(self);
  };
  bool all = true;
  try {
    others.reserve(threads - 1);
    for (unsigned self = 1; self < threads; ++self) others.emplace_back(wait_and_work, self);
  } catch (const std::exception&) {
    all = false;
  }
  signal = all ? Signal::kGo : Signal::kCancel;
  signal.notify_all();
  if (all) work(0);
  for (std::thread& other : others) other.join();
  return all;
}

}  // namespace bfstore::store
