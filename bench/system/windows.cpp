// Layouts whose keys expire, next to the blocked layout and to what one does without them: two filters in turn, of
// which the newer one takes the keys and both are asked. All are sized for one rate.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>

#include "filters.hpp"
#include "row.hpp"

namespace bench::system {
namespace {

constexpr std::uint64_t kSeed = 32;
constexpr std::uint64_t kSeedOfOthers = 33;
constexpr double kRate = 0.01;
constexpr std::uint64_t kWindowMs = 86'400'000;  // no turn is due while this runs
constexpr std::uint64_t kFewestOthers = 1000;

struct Kind {
  const char* name;
  bfstore::Layout layout;
  std::uint64_t epochs;  // 0: keys do not expire
  int files;
};

constexpr std::array kKinds{
    Kind{"blocked", bfstore::Layout::kBlocked, 0, 1},     Kind{"window", bfstore::Layout::kWindow, 8, 1},
    Kind{"window-4", bfstore::Layout::kWindow4, 4, 1},    Kind{"window-2", bfstore::Layout::kWindow2, 2, 1},
    Kind{"two in turn", bfstore::Layout::kBlocked, 0, 2},
};

// The filters of one kind, with all keys of a window, as they are just before a turn.
class Filled {
 public:
  Filled(const Kind& kind, std::uint64_t keys, const std::string& folder) : kind_(kind) {
    for (int i = 0; i < kind.files; ++i)
      filters_.push_back(value_of(bfstore::Filter::create(path(folder, i), options(keys))));
    const std::vector<std::uint64_t> digests = digests_of(kSeed, keys);
    const std::uint64_t parts = kind.files == 2 ? 2 : std::max<std::uint64_t>(kind.epochs, 2) - 1;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::uint64_t first = keys * part / parts;
      const auto now = std::span(digests).subspan(first, keys * (part + 1) / parts - first);
      if (part != 0) turn();
      add_all(newest(), now);
    }
    std::uint64_t found = 0;
    for (const std::uint64_t digest : digests) found += contains(digest) ? 1U : 0U;
    if (found != keys) fail(std::string(kind.name) + ": a wrong no for " + std::to_string(keys - found) + " keys");
    check_rate(keys);
  }

  [[nodiscard]] bool contains(std::uint64_t digest) const noexcept {
    return filters_.front().contains_digest(digest) || (kind_.files == 2 && filters_.back().contains_digest(digest));
  }
  bool add(std::uint64_t digest) noexcept { return newest().add_digest(digest).ok(); }
  [[nodiscard]] std::uint64_t count(std::span<const std::uint64_t> digests) const {
    std::uint64_t present = 0;
    for (const bfstore::Filter& filter : filters_) present += count_present(filter, digests);
    return present;
  }
  void turn() {
    if (kind_.files == 2) return std::swap(filters_.front(), filters_.back());
    if (kind_.epochs == 0) return;
    const bfstore::Result<bool> turned = newest().turn(newest().stats().turning->epoch);
    if (!turned.ok() || !*turned) fail("no turn was made");
  }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t bits = 0;
    for (const bfstore::Filter& filter : filters_) bits += filter.shape().num_bits;
    return bits / 8;
  }

 private:
  static std::string path(const std::string& folder, int number) {
    const std::string file = folder + "/windows-" + std::to_string(number) + ".bf";
    std::filesystem::remove(file);
    return file;
  }
  [[nodiscard]] bfstore::Options options(std::uint64_t keys) const {
    bfstore::Options options;
    options.capacity = keys;
    // Each of two filters may say maybe, and has up to the whole window's keys.
    options.fpr = kind_.files == 2 ? kRate / 2 : kRate;
    options.layout = kind_.layout;
    options.seed = 0;
    if (kind_.epochs != 0) options.window_ms = kWindowMs;
    return options;
  }
  bfstore::Filter& newest() noexcept { return filters_.front(); }
  void check_rate(std::uint64_t keys) const {
    const std::vector<std::uint64_t> absent = digests_of(kSeedOfOthers, std::max(kFewestOthers, keys / 10));
    std::uint64_t maybes = 0;
    for (const std::uint64_t digest : absent) maybes += contains(digest) ? 1U : 0U;
    if (static_cast<double>(maybes) > 2 * kRate * static_cast<double>(absent.size()) + 10)
      fail(std::string(kind_.name) + ": " + std::to_string(maybes) + " false positives");
  }

  Kind kind_;
  std::vector<bfstore::Filter> filters_;
};

// A file that is mapped, of which every page was written once.
class Written {
 public:
  Written(const std::string& path, std::uint64_t bytes)
      : bytes_(bytes), fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0) fail(path + ": cannot be made");
    address_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (address_ == MAP_FAILED) fail(path + ": cannot be mapped");
    write_and_sync(1);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() {
    munmap(address_, bytes_);
    ::close(fd_);
  }

  void write_and_sync(int value) const {
    std::memset(address_, value, bytes_);
    if (fdatasync(fd_) != 0) fail("a sync failed");
  }

 private:
  std::uint64_t bytes_;
  int fd_;
  void* address_;
};

// Each measurement fills filters of its own, so all begin with the same keys.
class Windows {
 public:
  Windows(const Scale& scale, const Places& places)
      : keys_(scale.shared_keys),
        others_(digests_of(kSeed + 2, std::max(kFewestOthers, keys_ / 10))),
        folder_(places.folder) {}

  Measured add(const Kind& kind) const {
    Filled filled(kind, keys_, folder_);
    bool all = true;
    const Measured measured = timed(filled, others_.size(), [&] {
      for (const std::uint64_t digest : others_) all = filled.add(digest) && all;
    });
    if (!all) fail("adding was refused");
    return measured;
  }
  Measured ask(const Kind& kind) const {
    const Filled filled(kind, keys_, folder_);
    std::uint64_t maybes = 0;
    const Measured measured = timed(filled, others_.size(), [&] {
      for (const std::uint64_t digest : others_) maybes += filled.contains(digest) ? 1U : 0U;
    });
    if (maybes == others_.size()) fail("every absent key is there");
    return measured;
  }
  Measured ask_many(const Kind& kind) const {
    const Filled filled(kind, keys_, folder_);
    std::uint64_t maybes = 0;
    const Measured measured = timed(filled, others_.size(), [&] { maybes = filled.count(others_); });
    if (maybes == others_.size()) fail("every absent key is there");
    return measured;
  }
  Measured turn(const Kind& kind) const {
    Filled filled(kind, keys_, folder_);
    return timed(filled, keys_, [&] { filled.turn(); });
  }
  // What a turn is compared with: as many bytes, written to a file that is mapped, and synced.
  Measured write(const Kind& kind) const {
    const Filled filled(kind, keys_, folder_);
    const std::string path = folder_ + "/windows-written";
    const Written file(path, filled.bytes());
    std::filesystem::remove(path);
    return timed(filled, keys_, [&] { file.write_and_sync(2); });
  }

 private:
  template <class Work>
  Measured timed(const Filled& filled, std::uint64_t keys, Work work) const {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const double seconds = seconds_since(begin);
    const auto bytes = static_cast<double>(filled.bytes());
    return {seconds,
            {{"num_keys", static_cast<double>(keys)},
             {"bytes", bytes},
             {"bits_per_key", 8 * bytes / static_cast<double>(keys_)}}};
  }

  std::uint64_t keys_;
  std::vector<std::uint64_t> others_;
  std::string folder_;
};

}  // namespace

Rows window_rows(const Scale& scale, const Places& places) {
  using Measure = Measured (Windows::*)(const Kind&) const;
  auto windows = std::make_shared<Windows>(scale, places);
  Rows rows;
  const auto add_row = [&](const char* what, const Kind& kind, Measure measure) {
    rows.push_back(
        {std::string("windows/") + what + "/" + kind.name, [=, &kind] { return ((*windows).*measure)(kind); }});
  };
  for (const Kind& kind : kKinds) {
    add_row("add", kind, &Windows::add);
    add_row("ask", kind, &Windows::ask);
    add_row("ask many", kind, &Windows::ask_many);
    if (kind.epochs == 0) continue;
    add_row("turn", kind, &Windows::turn);
    add_row("write", kind, &Windows::write);
  }
  return rows;
}

}  // namespace bench::system
