// Makes a filter from all of its keys. A layout that is built once gets its file only when its keys are known, and
// every key is asked before the file gets its name: a key that the builder lost would be a wrong "no".
#include "store/derive/build.hpp"

#include <bfstore/inspect.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "format/identity.hpp"
#include "layout/layout.hpp"
#include "layout/roll.hpp"
#include "sizing/sizing.hpp"
#include "store/derive/derive.hpp"
#include "store/file/sealed.hpp"
#include "store/home/file.hpp"
#include "store/home/gathered.hpp"
#include "store/plan/new_identity.hpp"

namespace bfstore {
namespace store {
namespace {

using base::fail;

// Calls work(i) for each i below `count`, in that many threads. Returns the first error.
Error in_threads(unsigned threads, std::uint64_t count, const std::function<Error(std::uint64_t)>& work) {
  std::atomic<std::uint64_t> next{0};
  std::mutex one;
  Error first;
  const auto run = [&] {
    for (std::uint64_t i = next++; i < count; i = next++) {
      Error error;
      try {
        error = work(i);
      } catch (const std::bad_alloc&) {
        error = {Code::kNoMemory, ENOMEM, {}};  // there may be no memory for words
      }
      if (error.ok()) continue;
      next = count;
      const std::lock_guard lock(one);
      if (first.ok()) first = std::move(error);
    }
  };
  std::vector<std::thread> others;
  others.reserve(threads);
  try {
    while (others.size() + 1 < std::min<std::uint64_t>(threads, count)) others.emplace_back(run);
  } catch (const std::exception&) {  // there are no more threads, or no memory for one: those that there are do it
  }
  run();
  for (std::thread& other : others) other.join();
  return first;
}

// Of each value of a byte: the place of the next digest that has it, and the end of their places.
struct Places {
  std::array<std::size_t, 256> next, end;
};
using PlacesOfBytes = std::array<Places, sizeof(std::uint64_t)>;

// Sorts in place, first by the byte at `shift` (the "American flag sort" of McIlroy, Bostic and McIlroy, 1993). The
// tables are not on the stack: a fiber's is small.
void sort_by_bytes(std::span<std::uint64_t> digests, unsigned shift, PlacesOfBytes& places) {
  constexpr std::size_t kFew = 512;
  if (digests.size() < kFew) return std::sort(digests.begin(), digests.end());
  auto& [next, end] = places[shift / 8];
  const auto byte_of = [shift](std::uint64_t digest) { return static_cast<std::uint8_t>(digest >> shift); };
  end.fill(0);
  for (const std::uint64_t digest : digests) ++end[byte_of(digest)];
  std::size_t before = 0;
  for (std::size_t byte = 0; byte < end.size(); ++byte) {
    next[byte] = before;
    before = end[byte] += before;
  }
  for (std::size_t byte = 0; byte < end.size(); ++byte) {
    while (next[byte] < end[byte]) {
      std::uint64_t digest = digests[next[byte]];
      while (byte_of(digest) != byte) std::swap(digest, digests[next[byte_of(digest)]++]);
      digests[next[byte]++] = digest;
    }
  }
  if (shift == 0) return;
  std::size_t begin = 0;
  for (const std::size_t its_end : end) {
    sort_by_bytes(digests.subspan(begin, its_end - begin), shift - 8, places);
    begin = its_end;
  }
}

void sort(std::span<std::uint64_t> digests) { sort_by_bytes(digests, 56, *std::make_unique<PlacesOfBytes>()); }

// Sorts in place. After an error, for which memory was lacking, the same digests are in another order.
Error sort(std::span<std::uint64_t> digests, unsigned threads) {
  constexpr unsigned kRangeBits = 6;
  if (threads <= 1) {
    sort(digests);
    return {};
  }
  // Ranges of the highest bits are sorted apart. A bit at a time, so that no second copy is needed.
  std::vector<std::span<std::uint64_t>> ranges{digests};
  for (unsigned bit = 63; bit > 63 - kRangeBits; --bit) {
    std::vector<std::span<std::uint64_t>> halves(ranges.size() * 2);
    const auto divide = [&](std::uint64_t i) -> Error {
      const auto is_low = [bit](std::uint64_t digest) { return (digest >> bit & 1) == 0; };
      const auto middle = std::partition(ranges[i].begin(), ranges[i].end(), is_low);
      const auto low = static_cast<std::size_t>(middle - ranges[i].begin());
      halves[i * 2] = ranges[i].first(low);
      halves[i * 2 + 1] = ranges[i].subspan(low);
      return {};
    };
    if (Error error = in_threads(threads, ranges.size(), divide); !error.ok()) return error;
    ranges = std::move(halves);
  }
  return in_threads(threads, ranges.size(), [&](std::uint64_t i) -> Error {
    sort(ranges[i]);
    return {};
  });
}

std::size_t number_found(const layout::Lookups& contains, const std::uint64_t* words, const layout::Geometry& geometry,
                         std::span<const std::uint64_t> digests) {
  std::array<std::uint8_t, layout::kStep> answers{};
  std::size_t found = 0;
  layout::roll(digests.data(), digests.size(), [&](const layout::Step& step, std::size_t) {
    found += contains.step(words, geometry, step, answers.data());
    return true;
  });
  return found;
}

Error no_memory_for(const std::string& path) {
  return fail(Code::kNoMemory, path + ": not built, for there is not enough memory.");
}

Error not_found(const std::string& path) {
  return fail(Code::kInternal, path + ": not built, for a key that was given is not found in it.");
}

// Makes a sealed file: its body never changes again.
class Build final : public Transform {
 public:
  Build(const format::Identity& identity, std::span<const std::uint64_t> ascending, unsigned threads) noexcept
      : identity_(identity), ascending_(ascending), threads_(threads) {}

  Result<format::Identity> identity(const Sources&) override { return identity_; }

  Result<Facts> fill(const Sources&, OpenFile& made) override {
    const auto functions = functions_for(identity_.shape.layout, Adding::kNever);
    if (!functions) return functions.error();
    const std::uint64_t parts = std::uint64_t{1} << row_.part_bits(geometry_);
    std::atomic<std::uint64_t> built_in{0};
    Error error = in_threads(threads_, parts,
                             [&](std::uint64_t part) { return fill_part(part, functions->contains, made, built_in); });
    if (error.code == Code::kNoMemory) error = no_memory_for(made.file().path());
    if (error.ok() && built_in != ascending_.size()) error = not_found(made.file().path());
    if (error.ok()) error = seal(made);
    if (!error.ok()) return error;
    return Facts{ascending_.size()};
  }

 private:
  // The part that has the digest.
  [[nodiscard]] std::uint64_t part_of(std::uint64_t digest) const noexcept {
    return digest >> 1 >> (63 - row_.part_bits(geometry_));
  }

  Error fill_part(std::uint64_t part, const layout::Lookups& contains, const OpenFile& made,
                  std::atomic<std::uint64_t>& built_in) const {
    auto* const words = reinterpret_cast<std::uint64_t*>(made.body());
    const auto begin = std::partition_point(ascending_.begin(), ascending_.end(),
                                            [&](std::uint64_t digest) { return part_of(digest) < part; });
    const auto end =
        std::partition_point(begin, ascending_.end(), [&](std::uint64_t digest) { return part_of(digest) == part; });
    const std::span<const std::uint64_t> digests(begin, end);
    if (Error error = row_.build(words, geometry_, part, digests); !error.ok())
      return fail(error.code, made.file().path() + ": not made: " + error.message);
    built_in += digests.size();
    return number_found(contains, words, geometry_, digests) == digests.size() ? Error{}
                                                                               : not_found(made.file().path());
  }

  [[nodiscard]] Error seal(OpenFile& made) const {
    Sealing sealing(made, ascending_.size());
    if (Error error = sealing.make_room(); !error.ok()) return error;
    if (Error error = sealing.put(0, {made.body(), identity_.body_bytes}); !error.ok()) return error;
    return sealing.finish();
  }

  const format::Identity& identity_;
  const layout::Row& row_ = layout::row_of(identity_.shape.layout);
  const layout::Geometry geometry_ = row_.geometry(identity_.shape.num_bits, identity_.shape.num_probes);
  std::span<const std::uint64_t> ascending_;
  unsigned threads_;
};

// A list that could not be read has no keys, and the filter that had its keys would go.
Error no_key_to_replace_it_with(const std::string& path, const char* way) {
  return fail(Code::kInvalid, path +
                                  ": not replaced, for no key was given, and an empty filter calls every key absent. "
                                  "To make an empty one in its place, " +
                                  way + ".");
}

bool is_sized(const Options& options) noexcept {
  return options.capacity != 0 || options.capacity_at_most != 0 || options.num_bits != 0 || !options.like.empty();
}

// What is needed to make the file when its keys are known.
class ToBuild {
 public:
  ToBuild(std::string path, const Options& options, const Making& making, const format::Identity& identity)
      : path_(std::move(path)), options_(options), making_(making), identity_(identity) {}

  Result<Built> operator()(std::span<std::uint64_t> digests, unsigned threads) {
    if (!sort(digests, threads).ok()) return no_memory_for(path_);
    const auto distinct = static_cast<std::size_t>(std::unique(digests.begin(), digests.end()) - digests.begin());
    if (distinct == 0 && making_.name == NameBefore::kMayBeTaken)
      return no_key_to_replace_it_with(path_, "remove the file first");
    Error error = make(digests.first(distinct), threads);
    if (error.code == Code::kPoisoned) return poisoned(std::move(error));
    if (!error.ok()) return error;
    return opened();
  }

 private:
  // If the file has its name, no process believes it, and no file with the same id replaces it. So the next file gets
  // another id, unless the caller chose this one.
  [[gnu::noinline]] Error poisoned(Error error) {
    const auto there = inspect(path_, false);
    const bool has_name = there && there->identity && there->identity->file_id == identity_.file_id;
    const bool chosen = options_.file_id.has_value();
    if (const auto renewed = as_new(identity_); renewed && has_name && !chosen) identity_.file_id = renewed->file_id;
    error.message =
        base::sentences(error.message, std::string("A handle that is still open has the keys: ") +
                                           (has_name && chosen ? "remove the file, since it has the file_id that was "
                                                                 "chosen, and publish again."
                                                               : "publish again."));
    return error;
  }

  // Not inlined, so that what it needs is not on the stack while the file is opened.
  [[gnu::noinline]] Error make(std::span<const std::uint64_t> digests, unsigned threads) const {
    const auto identity = identity_for(digests.size());
    if (!identity) return identity.error();
    if (digests.size() > identity->shape.capacity)
      return fail(Code::kFull, path_ + ": not built, for there are " + std::to_string(digests.size()) +
                                   " keys, and its capacity is " + std::to_string(identity->shape.capacity) +
                                   ". Give a greater one, or none.");
    Build build(*identity, digests, threads);
    return derive({}, path_, making_, build);
  }

  [[nodiscard, gnu::noinline]] Result<format::Identity> identity_for(std::uint64_t distinct) const {
    const std::uint64_t capacity = std::max<std::uint64_t>(1, distinct);
    if (!options_.like.empty()) return like_with(capacity);
    if (is_sized(options_)) return identity_;
    OwnOptions sized(static_cast<const Options&>(options_));
    sized.capacity = capacity;
    if (hash::row_of(identity_.shape.hash).info.takes_seed) sized.seed = identity_.shape.seed;
    sized.file_id = identity_.file_id;
    return new_identity(sized, format::Form::kFile);
  }

  // Everything but the size is that of the file at `like`, as it was when the handle was made.
  [[nodiscard]] Result<format::Identity> like_with(std::uint64_t capacity) const {
    format::Identity sized = identity_;
    Shape& shape = sized.shape;
    const layout::Row& row = layout::row_of(shape.layout);
    // The lowest rate of these probes. The stated one may be any number, and need not be within reach.
    const double rate = sizing::false_positive_rate(row, 1, layout::most_bits(row), shape.num_probes);
    if (rate >= 1) return sized;  // no size has room for keys, and the builder says so
    const auto size = sizing::solve_for_rate(row, capacity, rate, shape.num_probes);
    if (!size) return fail(size.error().code, path_ + ": not built: " + size.error().message);
    shape.capacity = capacity;
    shape.num_bits = size->num_bits;
    sized.body_bytes = layout::body_bytes(row, shape.num_bits);
    sized.body_offset = format::body_offset_in_file(sized.body_bytes);
    return sized;
  }

  // The file has its name, so this fails no more.
  [[nodiscard]] Built opened() const noexcept try {
    OpenOptions reading;
    reading.map = options_.map;
    reading.secret = options_.secret;
    reading.any_filesystem = options_.any_filesystem;
    reading.lock_timeout_ms = options_.lock_timeout_ms;
    auto ask = open_file(path_, OpenMode::kRead, reading);
    if (reading.secret) explicit_bzero(reading.secret->data(), reading.secret->size());
    if (!ask) return {nullptr, Code::kLost};
    if ((*ask)->identity()->file_id != identity_.file_id) return {nullptr, Code::kSuperseded};
    return {std::move(*ask)};
  } catch (const std::bad_alloc&) {
    return {nullptr, Code::kLost};
  }

  std::string path_;
  OwnOptions options_;
  Making making_;
  format::Identity identity_;
};

}  // namespace

bool counts_its_keys(const Options& options) noexcept {
  if (!options.layout || is_sized(options)) return false;
  const layout::Row* const row = layout::find(static_cast<std::uint16_t>(*options.layout));
  return row != nullptr && row->info.can.build;
}

Result<std::unique_ptr<Ask>> gather_for(const std::string& path, const Options& options, const Making& making,
                                        const format::Identity& identity) {
  const std::string name = layout::row_of(identity.shape.layout).info.name;
  if (!options.unpublished)
    return fail(Code::kUnsupported, path + ": a filter of the layout " + name +
                                        " is built once, from all of its keys, and takes none later. Build it (bf "
                                        "build, bfs_build), or create it unpublished, add the keys and publish it.");
  if (Error error = check_name(path, making); !error.ok()) return error;
  const auto to_build = std::make_shared<ToBuild>(path, options, making, identity);
  const bool sized = options.like.empty() && is_sized(options);
  return gather(path, identity, options.secret, sized, [to_build](std::span<std::uint64_t> digests, unsigned threads) {
    return (*to_build)(digests, threads);
  });
}

}  // namespace store

// The keys of a window come evenly in its epochs but one: that is what capacity and rate are for (FORMAT.md, "Epochs").
// Keys that are there at once are all in one epoch.
static std::uint64_t capacity_for(std::uint64_t keys, const Options& options) noexcept {
  const Layout layout = options.layout.value_or(store::usual_layout(options, false));
  const layout::Row* const row = layout::find(static_cast<std::uint16_t>(layout));
  const std::uint64_t epochs = row == nullptr ? 0 : row->info.epochs;
  return std::max<std::uint64_t>(1, keys) * (epochs == 0 ? 1 : epochs - 1);
}

Result<Filter> Filter::build(const std::string& path, const Options& options, const Keys& keys, unsigned threads) {
  store::OwnOptions all(options);
  if (!store::is_sized(all) && !store::counts_its_keys(all)) all.capacity = capacity_for(keys.size(), all);
  all.unpublished = true;
  all.exclusive = true;
  auto made = create(path, all);
  if (!made) return made;
  Error error = threads > 1 ? made->use_threads(threads) : Error{};
  if (!error.ok()) return error;
  const Count added = made->add_keys(keys);
  if (!added.ok()) return store::fail(added.code(), path + ": not built: " + code_text(added.code()));
  const bool at_once = layout::row_of(made->shape().layout).info.can.build;  // publish() looks for itself
  if (added.keys() == 0 && !at_once && store::look_at_name(path, all.replace) == store::NameBefore::kMayBeTaken)
    return store::no_key_to_replace_it_with(path, "create it");
  const bool promised = all.num_bits == 0 || all.capacity != 0;
  if (promised && made->stats({}).saturated)
    return store::fail(Code::kFull,
                       path + ": not built, for there are more keys than its capacity. Give a greater one, or none.");
  error = made->publish();
  if (!error.ok()) return error;
  return made;
}

}  // namespace bfstore
