// From Options to filters in files and buffers: a budget in bytes is kept to the block, a shape is copied as a whole,
// and bad options are refused by name.
#include <cstring>

#include "sizing/sizing.hpp"
#include "support/memory_layouts.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

constexpr std::uint64_t kFileHeader = 16384;
constexpr std::uint64_t kEndWord = 8;
constexpr std::uint64_t kBig = 2 << 20;
constexpr Secret kSecret{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

Options of_budget(Layout layout, std::uint64_t max_bytes) {
  Options options;
  options.layout = layout;
  options.capacity = 1000;
  options.max_bytes = max_bytes;
  return options;
}

Options of_capacity(std::uint64_t capacity) {
  Options options;
  options.capacity = capacity;
  return options;
}

std::uint64_t block_bytes(Layout layout) { return layout == Layout::kClassic ? 8 : 64; }
std::uint64_t cells_in(Layout layout, std::uint64_t bytes) { return bytes * 8 / layout_of(layout)->cell_bits; }

std::uint64_t file_bytes(std::uint64_t body_bytes) {
  const std::uint64_t pages = (body_bytes + 4095) / 4096;
  return (body_bytes >= kBig ? kBig : kFileHeader) + pages * 4096 + kEndWord;
}

// Returns the size of a buffer for a filter of exactly m bits.
std::uint64_t bytes_for(Options options, std::uint64_t num_bits) {
  options.capacity = 0;
  options.max_bytes = 0;
  options.num_bits = num_bits;
  options.num_probes = 1;
  return must(Filter::required_bytes(options));
}

// Checks that everything that makes a filter refuses the options.
void check_options_refused(const Options& options, Code code, std::initializer_list<const char*> words) {
  const TemporaryDirectory directory;
  Buffer buffer(1 << 16);
  check_refused(Filter::required_bytes(options), code, words);
  check_refused(Filter::format(buffer.bytes(), options), code, words);
  const auto created = Filter::create(directory.file("new.bf"), options);
  check_refused(created, code, words);
  // The message names the file whose shape is copied, if there is one; otherwise the file that was to be made.
  if (options.like.empty()) CHECK(created.error().message.find(directory.file("new.bf") + ": ") == 0);
  CHECK(directory.entries() == 0);
}

}  // namespace

TEST_CASE("a file is at most max_bytes long, and one block more would not fit") {
  const TemporaryDirectory directory;
  std::uint64_t made = 0;
  for (const Layout layout : every_layout_in_memory()) {
    for (const std::uint64_t max_bytes :
         {kFileHeader + 4104, kFileHeader + 8199, kFileHeader + 8200, std::uint64_t{100000}, std::uint64_t{1000001},
          kBig, kBig + kFileHeader - 65, kBig + kFileHeader + 7, kBig + kFileHeader + 8, kBig + kFileHeader + 4104,
          2 * kBig - 1, 2 * kBig, 2 * kBig + 7, 2 * kBig + 8, 2 * kBig + 4103, 2 * kBig + 4104, 3 * kBig + 12345}) {
      CAPTURE(layout);
      CAPTURE(max_bytes);
      const std::string path = directory.file(std::to_string(made++));
      Filter filter = must(Filter::create(path, of_budget(layout, max_bytes)));
      const Stats stats = filter.stats();
      CHECK(std::filesystem::file_size(path) == file_bytes(stats.body_bytes));
      CHECK(std::filesystem::file_size(path) <= max_bytes);
      CHECK(file_bytes(stats.body_bytes + block_bytes(layout)) > max_bytes);
      CHECK(stats.shape.num_bits == cells_in(layout, stats.body_bytes));
      CHECK(stats.shape.capacity == 1000);
      CHECK(stats.shape.num_probes == sizing::best_probes(layout::row_of(layout), 1000, stats.shape.num_bits));
    }
  }
}

TEST_CASE("a buffer's filter is at most max_bytes long, and one block more would not fit") {
  for (const Layout layout : every_layout_in_memory()) {
    for (const std::size_t note_bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100}, kMaxNoteBytes}) {
      for (std::uint64_t max_bytes = 192 + 1088 + 64 + 8; max_bytes < 3000; max_bytes += 13) {
        Options options = of_budget(layout, max_bytes);
        options.note = std::string(note_bytes, 'n');
        const std::uint64_t needed = must(Filter::required_bytes(options));
        Buffer buffer(needed);
        const std::uint64_t m = must(Filter::format(buffer.bytes(), options)).shape().num_bits;
        REQUIRE(needed <= max_bytes);
        REQUIRE(needed == bytes_for(options, m));
        REQUIRE(bytes_for(options, m + cells_in(layout, block_bytes(layout))) > max_bytes);
      }
    }
  }
}

TEST_CASE("a bare filter is at most max_bytes long, and one block more would not fit") {
  for (const Layout layout : every_layout_in_memory()) {
    for (std::uint64_t max_bytes = 72; max_bytes < 700; ++max_bytes) {
      Options options = of_budget(layout, max_bytes);
      options.bare = true;
      const std::uint64_t needed = must(Filter::required_bytes(options));
      REQUIRE(needed <= max_bytes);
      REQUIRE(needed + block_bytes(layout) > max_bytes);
      REQUIRE((needed - 8) % block_bytes(layout) == 0);
    }
  }
}

TEST_CASE("a budget for less than one block is refused, and one for more than 2^48 bits gives 2^48") {
  for (const Layout layout : every_layout_in_memory()) {
    const TemporaryDirectory directory;
    for (const std::uint64_t max_bytes :
         {std::uint64_t{1}, std::uint64_t{8}, kFileHeader, kFileHeader + kEndWord, kFileHeader + 4096 + kEndWord - 1}) {
      const auto made = Filter::create(directory.file("x"), of_budget(layout, max_bytes));
      check_refused(made, Code::kInvalid, {"too few", std::to_string(max_bytes).c_str()});
    }
    CHECK(Filter::create(directory.file("x"), of_budget(layout, kFileHeader + 4096 + kEndWord)).ok());
    const std::uint64_t least = 192 + block_bytes(layout) + kEndWord;
    check_refused(Filter::required_bytes(of_budget(layout, least - 1)), Code::kInvalid, {"too few"});
    CHECK(must(Filter::required_bytes(of_budget(layout, least))) == least);
    CHECK(must(Filter::required_bytes(of_budget(layout, UINT64_MAX))) == 192 + kMaxBits / 8 + kEndWord);
  }
}

TEST_CASE("like copies m, k, n, p, layout, hash and seed, so that one digest serves both; not the note") {
  const TemporaryDirectory directory;
  for (const Layout layout : every_layout_in_memory()) {
    for (const HashInfo& row : hashes()) {
      Options options;
      options.layout = layout;
      options.hash = row.hash;
      if (row.takes_secret) options.secret = kSecret;
      if (row.gives_positions && layout != Layout::kClassic) continue;
      if (row.takes_seeds) options.seeds = {9, 8, 7, 6, 5, 4, 3, 2};
      options.capacity = 12345;
      if (row.gives_positions) {  // some hashes have rules for m and k
        options.num_bits = 1 << 17;
        options.num_probes = 8;
      } else {
        options.fpr = 0.003;
      }
      options.note = std::string("mine");
      const std::string name = std::string(layout_of(layout)->name) + row.name;
      const Filter first = must(Filter::create(directory.file(name), options));  // open, so not clean
      Options like;
      like.like = directory.file(name);
      like.secret = options.secret;
      const Filter second = must(Filter::create(directory.file(name + "-like"), like));
      InMemory third = InMemory::make(like);
      for (const Shape& shape : {second.shape(), third.filter.shape()}) {
        CHECK(shape.layout == layout);
        CHECK(shape.hash == row.hash);
        CHECK(shape.num_bits == first.shape().num_bits);
        CHECK(shape.num_probes == first.shape().num_probes);
        CHECK(shape.capacity == 12345);
        CHECK(shape.fpr == first.shape().fpr);
        if (!row.gives_positions) CHECK(shape.fpr == 0.003);
        CHECK(shape.seed == first.shape().seed);
      }
      CHECK(second.digest("key") == first.digest("key"));
      CHECK(second.seeds() == options.seeds);
      CHECK(third.filter.seeds() == options.seeds);
      CHECK_FALSE(must(inspect(directory.file(name + "-like"))).identity->note.has_value());
      CHECK(must(inspect(directory.file(name + "-like"))).identity->file_id !=
            must(inspect(directory.file(name))).identity->file_id);
    }
  }
}

TEST_CASE("like with any other option of the shape is refused, and so is the path of a file that is no filter") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("first.bf");
  must(must(Filter::create(path, of_capacity(100))).close());
  const std::array<void (*)(Options&), 11> others{[](Options& options) { options.capacity = 1; },
                                                  [](Options& options) { options.fpr = 0.1; },
                                                  [](Options& options) { options.bits_per_key = 1; },
                                                  [](Options& options) { options.max_bytes = 1 << 20; },
                                                  [](Options& options) { options.num_bits = 512; },
                                                  [](Options& options) { options.num_probes = 1; },
                                                  [](Options& options) { options.layout = Layout::kBlocked; },
                                                  [](Options& options) { options.hash = Hash::kXxh3; },
                                                  [](Options& options) { options.seed = 0; },
                                                  [](Options& options) { options.seeds = {1}; },
                                                  [](Options& options) { options.tutorial_sizing = true; }};
  for (const auto& other : others) {
    Options options;
    options.like = path;
    other(options);
    check_options_refused(options, Code::kInvalid, {path.c_str(), "copied whole"});
  }
  Options options;
  options.like = directory.file("none.bf");
  check_options_refused(options, Code::kNotFound, {"none.bf"});
  options.like = directory.file("text.bf");
  std::ofstream(options.like) << std::string(20000, 'x');
  check_options_refused(options, Code::kMagic, {"text.bf", "not a bfstore file", "xxxx"});
  options.like = directory.file("");
  check_options_refused(options, Code::kNotRegular, {directory.file("").c_str(), "not a regular file"});
}

TEST_CASE("each bad option is refused by its name, in files and in buffers, and leaves nothing behind") {
  Options options = of_capacity(100);
  options.note = std::string(kMaxNoteBytes + 1, 'n');
  check_options_refused(options, Code::kInvalid, {"note", "1025", "1024"});
  for (const std::uint32_t mode : {01000U, 04755U, 010644U}) {
    options = of_capacity(100);
    options.mode = mode;
    check_options_refused(options, Code::kInvalid, {"mode"});
  }
  options = of_capacity(100);
  options.layout = static_cast<Layout>(65535);
  check_options_refused(options, Code::kInvalid, {"layout", "blocked", "classic"});
  options = of_capacity(100);
  options.hash = static_cast<Hash>(65535);
  check_options_refused(options, Code::kInvalid, {"hash", "xxh3", "external", "siphash"});
  options = of_capacity(100);
  options.fpr = 1e-9;
  check_options_refused(options, Code::kSizing, {"1e-09", "classic"});
  check_options_refused(Options{}, Code::kInvalid, {"no size was given"});
}

TEST_CASE("the bare form refuses notes, seeds and files; a file refuses an empty path") {
  const TemporaryDirectory directory;
  Options options = of_capacity(100);
  options.bare = true;
  CHECK(Filter::required_bytes(options).ok());
  check_refused(Filter::create(directory.file("x"), options), Code::kInvalid, {"bare", "buffers"});
  options.note = std::string("n");
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"bare", "note"});
  options.note.clear();
  options.seed = 5;
  check_refused(Filter::required_bytes(options), Code::kInvalid, {"bare", "seed"});
  check_refused(Filter::create("", of_capacity(100)), Code::kInvalid, {"path is empty"});
}

TEST_CASE("seeds are random unless given, and 0 where there is none") {
  const InMemory one = InMemory::make(of_capacity(100));
  const InMemory other = InMemory::make(of_capacity(100));
  CHECK(one.filter.shape().seed != other.filter.shape().seed);
  Options options = of_capacity(100);
  options.seed = 77;
  CHECK(InMemory::make(options).filter.shape().seed == 77);
  options.seed.reset();
  options.hash = Hash::kExternal;
  CHECK(InMemory::make(options).filter.shape().seed == 0);
  options.seed = 0;
  check_options_refused(options, Code::kInvalid, {"seed", "only xxh3"});
}
