// A delta makes of the earlier file what its maker had, byte for byte, or it makes nothing.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bfstore/delta.hpp>
#include <bfstore/seal.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>
#include <utility>

#include "base/bytes.hpp"
#include "faults.hpp"
#include "format/delta.hpp"
#include "format/locks.hpp"
#include "hash/hash.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using faults::LockCall;

namespace {

constexpr std::uint64_t kPieceBits = format::kDeltaPieceBytes * 8;
const DeltaOptions kReplacing{.replace = true};

Options shape(Layout layout, std::uint64_t num_bits) {
  Options options;
  options.layout = layout;
  options.num_bits = num_bits;
  options.num_probes = 4;
  options.seed = 1;
  options.note = "words";
  return options;
}

// Makes a copy or a sealed file of the filter as it is now.
void keep(const std::string& from, const std::string& to, bool sealed, const OpenOptions& opening = {}) {
  const Error error =
      sealed ? seal(from, to) : opened(Filter::open(from, OpenMode::kRead, opening)).save(to, SaveOptions{});
  REQUIRE_MESSAGE(error.ok(), error.message);
}

// Two states of a filter: "old" and "new", in which these writers' keys are, too.
struct Pair {
  TempDir dir{memory_folder()};
  std::string before = dir.file("old");
  std::string after = dir.file("new");
  std::string delta = dir.file("delta");
  std::string made = dir.file("made");

  explicit Pair(const Options& options = shape(Layout::kBlocked, 1 << 16), std::uint64_t more = kSome,
                std::uint64_t first = kSome, bool sealed = true) {
    const std::string path = dir.file("filter");
    const OpenOptions opening{.secret = options.secret};
    Filter filter = created(path, options);
    add_keys(filter, 1, 0, first);
    CHECK(filter.sync({.owner = 5, .mark = 7}).ok());
    CHECK(filter.close().ok());
    keep(path, before, sealed, opening);
    filter = opened(Filter::open(path, OpenMode::kWrite, opening));
    add_keys(filter, 2, 0, more);
    CHECK(filter.sync({.owner = 6, .epoch = 9, .mark = 8}).ok());
    CHECK(filter.close().ok());
    keep(path, after, sealed, opening);
    unlink(path.c_str());
  }
  [[nodiscard]] Code make() const { return make_delta(before, after, delta).code; }
  [[nodiscard]] Error apply() const { return apply_delta(before, delta, made); }
};

void check_round_trip(const Pair& pair) {
  const std::string before = read_bytes(pair.before);
  REQUIRE(pair.make() == Code::kOk);
  const Error error = pair.apply();
  REQUIRE_MESSAGE(error.ok(), error.message);
  CHECK((read_bytes(pair.made) == read_bytes(pair.after)));
  CHECK((read_bytes(pair.before) == before));
}

void make_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  REQUIRE(read_bytes(path) == bytes);
}

// Writes the right checksum to a header that was changed.
void repair_header(std::string& delta) {
  auto* const bytes = reinterpret_cast<std::byte*>(delta.data());
  const std::size_t checked = base::load<std::uint32_t>(bytes + 12) - 8;
  base::store(bytes + checked, hash::xxh3(bytes, checked, 0));
}

// The same for the codes, of which there are few.
void repair_codes(std::string& delta) {
  auto* const bytes = reinterpret_cast<std::byte*>(delta.data());
  const std::size_t header = base::load<std::uint32_t>(bytes + 12);
  base::store<std::uint64_t>(bytes + 64, delta.size() - header);
  base::store(bytes + 72, delta.size() == header ? 0 : hash::xxh3(bytes + header, delta.size() - header, 0));
  repair_header(delta);
}

std::string with(std::string bytes, std::size_t offset, std::uint64_t number, std::size_t length = 4) {
  for (std::size_t i = 0; i < length; ++i) bytes[offset + i] = static_cast<char>(number >> 8 * i);
  return bytes;
}

// Checks that nothing is made. Returns the code with which a delta of these bytes is refused. No file appears.
Code refusal(const Pair& pair, const std::string& bytes) {
  make_file(pair.delta, bytes);
  const Error error = pair.apply();
  CHECK_FALSE(std::filesystem::exists(pair.made));
  CHECK(!error.ok());
  return error.code;
}

}  // namespace

TEST_CASE("a delta makes the file that its maker had, byte for byte, in every shape and with any number of new keys") {
  for (const bool sealed : {true, false}) {
    for (const auto& of_shape :
         {std::pair{Layout::kBlocked, std::uint64_t{512}}, std::pair{Layout::kBlocked, std::uint64_t{1} << 16},
          std::pair{Layout::kBlocked, 2 * kPieceBits + 512}, std::pair{Layout::kClassic, std::uint64_t{1}},
          std::pair{Layout::kClassic, std::uint64_t{1000}}, std::pair{Layout::kClassic, kPieceBits},
          std::pair{Layout::kClassic, 3 * kPieceBits - 77}}) {
      const Layout layout = of_shape.first;  // clang 14 captures no structured binding
      const std::uint64_t num_bits = of_shape.second;
      for (const std::uint64_t more : {std::uint64_t{0}, std::uint64_t{1}, kSome}) {
        CAPTURE(sealed);
        CAPTURE(num_bits);
        CAPTURE(more);
        check_round_trip(Pair(shape(layout, num_bits), more, kSome, sealed));
        check_round_trip(Pair(shape(layout, num_bits), more, 0, sealed));
      }
    }
  }
}

// All bits of the body are set before. A machine must get the later count and marks, although no bit is new.
TEST_CASE("a delta of keys that set no new bit is a header, and makes the later file") {
  for (const bool sealed : {true, false}) {
    for (const Layout layout : {Layout::kBlocked, Layout::kClassic}) {
      CAPTURE(sealed);
      const Pair pair(shape(layout, 512), kSome, 3000, sealed);
      check_round_trip(pair);
      const std::string delta = read_bytes(pair.delta);
      const auto* const bytes = reinterpret_cast<const std::byte*>(delta.data());
      CHECK(delta.size() == base::load<std::uint32_t>(bytes + 12));
      CHECK(inspect_delta(pair.delta)->num_bits == 0);
      const Filter made = opened(Filter::open(pair.made, OpenMode::kRead));
      CHECK(maybes(made, 2, 0, kSome) == kSome);
      CHECK(made.get_mark(6, 9) == 8);
      CHECK(made.stats().file_id == opened(Filter::open(pair.after, OpenMode::kRead)).stats().file_id);
      // A record without a bit, or a number of bits that are not there, is no delta.
      std::string more = with(delta, 56, 1, 8);
      repair_header(more);
      unlink(pair.made.c_str());
      CHECK(refusal(pair, more) == Code::kRecord);
      more = delta + std::string(16, '\0');
      repair_codes(more);
      CHECK(refusal(pair, more) == Code::kRecord);
    }
  }
}

TEST_CASE("a delta keeps capacity, marks, count, note, part and secret check of the later file, and needs no secret") {
  Options options = shape(Layout::kBlocked, 1 << 16);
  options.hash = Hash::kSipHash;
  options.secret = Secret{1, 2, 3};
  options.seed.reset();
  const Pair pair(options);
  check_round_trip(pair);
  OpenOptions opening;
  opening.secret = options.secret;
  const Filter made = opened(Filter::open(pair.made, OpenMode::kRead, opening));
  CHECK(maybes(made, 2, 0, kSome) == kSome);
  CHECK(made.get_mark(5) == 7);
  CHECK(made.get_mark(6, 9) == 8);
  CHECK(made.note() == "words");
}

TEST_CASE("deltas follow one another, and the file that each makes replaces the one before in its own place") {
  const TempDir dir(memory_folder());
  const std::string path = dir.file();
  Filter filter = created(path, shape(Layout::kBlocked, 1 << 16));
  std::vector<std::string> states;
  for (unsigned writer = 1; writer <= 4; ++writer) {
    add_keys(filter, writer, 0, kSome);
    CHECK(filter.sync({.owner = 1, .mark = writer}).ok());
    states.push_back(dir.file("state" + std::to_string(writer)));
    keep(path, states.back(), writer % 2 == 0);
  }
  CHECK(filter.close().ok());
  std::filesystem::copy(states.front(), dir.file("here"));
  const Filter reader = opened(Filter::open(dir.file("here"), OpenMode::kRead, {.follow = true}));
  for (unsigned i = 1; i < states.size(); ++i) {
    CHECK(make_delta(states[i - 1], states[i], dir.file("delta"), kReplacing).ok());
    CHECK(apply_delta(dir.file("here"), dir.file("delta"), dir.file("here")).code == Code::kExists);
    const Filter other = opened(Filter::open(dir.file("here"), OpenMode::kRead));
    CHECK(apply_delta(dir.file("here"), dir.file("delta"), dir.file("here"), kReplacing).ok());
    CHECK(other.health() == Code::kSuperseded);
    CHECK((read_bytes(dir.file("here")) == read_bytes(states[i])));
    CHECK(maybes(reader, i + 1, 0, kSome) == kSome);
    CHECK(maybes(reader, 1, 0, kSome) == kSome);
  }
  while (reader.get_mark(1) != 4) {  // the handle looks at its path again now and then
    static_cast<void>(reader.contains("key"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(answers_no(reader));
}

TEST_CASE("equal inputs give an equal delta, which is small") {
  const Pair pair(shape(Layout::kBlocked, 1 << 20), 1000);
  CHECK(pair.make() == Code::kOk);
  CHECK(make_delta(pair.before, pair.after, pair.dir.file("again")).ok());
  CHECK((read_bytes(pair.delta) == read_bytes(pair.dir.file("again"))));
  const auto facts = inspect_delta(pair.delta);
  REQUIRE(facts.ok());
  CHECK(facts->num_bits > 3900);
  CHECK(facts->bytes == read_bytes(pair.delta).size());
  CHECK(facts->bytes < 6000);
  CHECK(facts->sealed);
  CHECK(facts->before == look_at(pair.before).file_id);
  CHECK(facts->after == look_at(pair.after).file_id);
  CHECK(facts->shape.num_bits == 1 << 20);
}

TEST_CASE("a delta of 10,000 keys of a filter of a million at 1 percent has at most 40,000 bytes") {
  for (const Layout layout : {Layout::kBlocked, Layout::kClassic}) {
    Options options;
    options.layout = layout;
    options.capacity = 1'000'000;
    options.fpr = 0.01;
    options.seed = 1;
    const Pair pair(options, 10'000, 990'000);
    check_round_trip(pair);
    CHECK(read_bytes(pair.delta).size() <= 40'000);
  }
}

TEST_CASE("filters that are not one filter and its later state have no delta, and the message says what to do") {
  const Pair pair;
  const auto refused = [&](const std::string& before, const std::string& after) {
    const Error error = make_delta(before, after, pair.delta);
    CHECK_FALSE(std::filesystem::exists(pair.delta));
    if (error.code == Code::kMismatch || error.code == Code::kUnsupported)
      CHECK(error.message.find("Send a new file.") != std::string::npos);
    return error.code;
  };
  CHECK(refused(pair.after, pair.before) == Code::kMismatch);  // it lacks bits
  CHECK(refused(pair.before, pair.before) == Code::kInvalid);
  std::filesystem::copy(pair.before, pair.dir.file("cp"));
  CHECK(refused(pair.before, pair.dir.file("cp")) == Code::kInvalid);
  CHECK(refused(pair.before, pair.dir.file("none")) == Code::kNotFound);
  // Makes a filter of all keys that differs from the earlier file as the function says.
  const auto differing = [&](const std::function<void(Options&)>& difference) {
    Options options = shape(Layout::kBlocked, 1 << 16);
    difference(options);
    const std::string path = pair.dir.file("other");
    Filter other = created(path, options);
    const Shape made = other.shape();
    for (unsigned writer = 1; writer <= 2; ++writer) {
      if (made.hash == Hash::kXxh3 && !options.part) add_keys(other, writer, 0, kSome);
    }
    CHECK(other.close().ok());
    const Code code = refused(pair.before, path);
    unlink(path.c_str());
    return code;
  };
  CHECK(differing([](Options& options) { options.num_bits += 512; }) == Code::kMismatch);
  CHECK(differing([](Options& options) { options.num_probes = 5; }) == Code::kMismatch);
  CHECK(differing([](Options& options) { options.seed = 2; }) == Code::kMismatch);
  CHECK(differing([](Options& options) { options.layout = Layout::kClassic; }) == Code::kMismatch);
  CHECK(differing([](Options& options) {
          options.hash = Hash::kExternal;
          options.seed.reset();
        }) == Code::kMismatch);
  CHECK(differing([](Options& options) { options.part = Part{.number = 1, .parts = 2}; }) == Code::kMismatch);
  CHECK(differing([](Options& options) { options.layout = Layout::kCounting; }) == Code::kUnsupported);
  CHECK(differing([](Options& options) {
          options.layout = Layout::kWindow;
          options.window_ms = 1000;
        }) == Code::kUnsupported);
  const std::string path = pair.dir.file("other");
  Filter same = created(path, shape(Layout::kBlocked, 1 << 16));  // the control: only its keys count
  for (unsigned writer = 1; writer <= 2; ++writer) add_keys(same, writer, 0, kSome);
  CHECK(same.close().ok());
  CHECK(make_delta(pair.before, path, pair.delta).ok());
}

TEST_CASE("every layout whose bits can go away has no delta") {
  for (const LayoutInfo& layout : layouts()) {
    if (layout.can.build) continue;  // its files take no keys: the next case
    if (layout.can.grow) continue;   // it is not sealed
    Options options = shape(layout.layout, 1 << 16);
    if (layout.can.expire) options.window_ms = 1000;
    const Pair pair(options);
    CHECK((pair.make() == Code::kUnsupported) == (layout.can.remove || layout.can.expire));
  }
}

// Its bits follow from all of its keys: those of fewer keys are other ones.
TEST_CASE("files that are built once have no delta") {
  const TempDir dir;
  Options options = shape(Layout::kStatic, 1 << 16);
  options.seed = 1;
  for (unsigned writers = 1; writers <= 2; ++writers) {
    options.unpublished = true;
    Filter filter = created(dir.file(std::to_string(writers)), options);
    for (unsigned writer = 1; writer <= writers; ++writer) add_keys(filter, writer, 0, kSome);
    REQUIRE(filter.publish().ok());
  }
  CHECK(make_delta(dir.file("1"), dir.file("2"), dir.file("delta")).code == Code::kUnsupported);
  CHECK(dir.names().size() == 2);
}

TEST_CASE("only the file from which a delta was made takes it") {
  const Pair pair;
  CHECK(pair.make() == Code::kOk);
  CHECK(apply_delta(pair.after, pair.delta, pair.made).code == Code::kMismatch);
  // The same file_id, and a key more.
  Pair plain(shape(Layout::kBlocked, 1 << 16), kSome, kSome, false);
  CHECK(plain.make() == Code::kOk);
  Filter filter = opened(Filter::open(plain.before, OpenMode::kWrite));
  CHECK(filter.add("key").ok());
  CHECK(filter.close().ok());
  const Error error = plain.apply();
  CHECK(error.code == Code::kMismatch);
  CHECK(error.message.find("Send a new file.") != std::string::npos);
  CHECK(apply_delta(plain.before, plain.delta, plain.before, kReplacing).code == Code::kMismatch);
  CHECK(opened(Filter::open(plain.before, OpenMode::kRead)).contains("key"));
  // So many keys that the last gaps lead out of the body.
  filter = opened(Filter::open(plain.before, OpenMode::kWrite));
  add_keys(filter, 3, 0, 100'000);
  CHECK(filter.close().ok());
  CHECK(plain.apply().code == Code::kMismatch);
  CHECK_FALSE(std::filesystem::exists(plain.made));
}

TEST_CASE("a delta with any byte changed, cut off or added makes no file") {
  const Pair pair(shape(Layout::kBlocked, 1 << 12), 20);
  CHECK(pair.make() == Code::kOk);
  const std::string good = read_bytes(pair.delta);
  for (std::size_t at = 0; at < good.size(); ++at) {
    CAPTURE(at);
    for (const char bit : {'\x01', '\x10', '\x80'}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ bit);
      if (at < 8) {
        CHECK(refusal(pair, bad) == Code::kMagic);
      } else {
        refusal(pair, bad);
      }
    }
    CHECK(refusal(pair, good.substr(0, at)) == (at < 8 ? Code::kMagic : Code::kTooShort));
  }
  for (const std::size_t more : {1U, 8U, 4096U}) CHECK(refusal(pair, good + std::string(more, '\0')) == Code::kBody);
  CHECK(refusal(pair, read_bytes(pair.before)) == Code::kMagic);
  make_file(pair.delta, good);
  CHECK(pair.apply().ok());
}

TEST_CASE("a delta whose checksums are right, and whose numbers are not, makes no file") {
  const Pair pair(shape(Layout::kBlocked, 1 << 12), 20);
  CHECK(pair.make() == Code::kOk);
  const std::string good = read_bytes(pair.delta);
  const std::size_t codes = base::load<std::uint32_t>(reinterpret_cast<const std::byte*>(good.data()) + 12);
  const auto header = [&](std::size_t offset, std::uint64_t number, std::size_t length = 4) {
    std::string bad = with(good, offset, number, length);
    repair_header(bad);
    return refusal(pair, bad);
  };
  CHECK(header(8, 2, 2) == Code::kVersion);
  CHECK(header(16, 1) == Code::kFeature);
  CHECK(header(20, 2) == Code::kReserved);
  CHECK(header(24, static_cast<unsigned char>(good[24]) ^ 1U, 1) == Code::kMismatch);  // of another file
  CHECK(header(40, 1, 8) == Code::kMismatch);                                          // of another body
  CHECK(header(48, 1, 8) == Code::kChecksum);                                          // makes another body
  CHECK(header(56, 1, 8) == Code::kRecord);                                            // another number of bits
  CHECK(header(64, ~std::uint64_t{0}, 8) == Code::kTooShort);                          // more codes than there are
  CHECK(header(72, 1, 8) == Code::kChecksum);
  CHECK(header(88, 65) == Code::kReserved);
  CHECK(header(92, ~std::uint32_t{0}) == Code::kReserved);
  CHECK(header(92, 128) == Code::kReserved);
  CHECK(header(96 + 40, 1 << 13, 8) == Code::kChecksum);  // the identity has a checksum of its own
  const auto code = [&](std::size_t offset, std::uint64_t number) {
    std::string bad = with(good, codes + offset, number);
    repair_codes(bad);
    return refusal(pair, bad);
  };
  CHECK(code(0, 1) == Code::kRecord);  // a piece that the body has not
  CHECK(code(4, 0) == Code::kRecord);
  CHECK(code(4, 100'000) == Code::kRecord);
  CHECK(code(8, 22) == Code::kRecord);
  CHECK(code(12, 1 << 20) == Code::kRecord);
  CHECK(code(12, ~std::uint32_t{0}) == Code::kRecord);
  std::string twice = good + good.substr(codes);
  repair_codes(twice);
  CHECK(refusal(pair, twice) == Code::kRecord);
  std::string none = good.substr(0, codes);
  repair_codes(none);
  CHECK(refusal(pair, none) == Code::kRecord);
  std::string header_alone = good.substr(0, codes + 15);
  repair_codes(header_alone);
  CHECK(refusal(pair, header_alone) == Code::kRecord);
}

TEST_CASE("no code with right checksums makes another file than the one that the delta was made from") {
  const Pair pair(shape(Layout::kClassic, 5000), 20);
  CHECK(pair.make() == Code::kOk);
  const std::string good = read_bytes(pair.delta);
  const std::size_t codes = base::load<std::uint32_t>(reinterpret_cast<const std::byte*>(good.data()) + 12);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = good;
    for (std::uint64_t changes = 1 + random() % 3; changes != 0; --changes) {
      const std::size_t at = codes + random() % (bad.size() - codes);
      bad[at] = static_cast<char>(bad[at] ^ 1 << random() % 7);
    }
    if (random() % 4 == 0) bad.resize(codes + random() % (bad.size() - codes));
    repair_codes(bad);
    if (bad == good) continue;
    const Code code = refusal(pair, bad);
    CHECK((code == Code::kRecord || code == Code::kChecksum));
  }
}

TEST_CASE("a larger minor version of a delta is read as far as it is known") {
  const Pair pair;
  CHECK(pair.make() == Code::kOk);
  std::string later = with(read_bytes(pair.delta), 10, 7, 2);
  repair_header(later);
  make_file(pair.delta, later);
  CHECK(pair.apply().ok());
}

TEST_CASE("files that a writer has open, or that are in doubt, have no delta and take none") {
  const Pair pair(shape(Layout::kBlocked, 1 << 16), kSome, kSome, false);
  CHECK(pair.make() == Code::kOk);
  for (const std::string* const path : {&pair.before, &pair.after}) {
    Filter writer = opened(Filter::open(*path, OpenMode::kWrite));
    CHECK(make_delta(pair.before, pair.after, pair.dir.file("another")).code == Code::kBusy);
    if (path == &pair.before) CHECK(pair.apply().code == Code::kBusy);
    CHECK(writer.close().ok());
  }
  CHECK(pair.apply().ok());
  unlink(pair.made.c_str());
  for (const std::uint64_t state :
       {format::LiveWord::kPoisoned, format::LiveWord::kRecovering, format::LiveWord::kFilling}) {
    const std::uint64_t was = look_at(pair.before).live_word;
    set_live_word(pair.before, was | state);
    const Code code = pair.apply().code;
    CHECK((code == Code::kPoisoned || code == Code::kRecovering || code == Code::kFilling));
    CHECK(make_delta(pair.before, pair.after, pair.dir.file("another")).code == code);
    set_live_word(pair.before, was);
  }
  edit_slots(pair.before, [](format::Slot& slot) {
    slot.state = format::SlotState::kDirty;
    slot.place.boot_id[0] ^= 1;
  });
  CHECK(pair.apply().code == Code::kUnclean);
  CHECK(make_delta(pair.before, pair.after, pair.dir.file("another")).code == Code::kUnclean);
  CHECK(pair.dir.names().size() == 3);
}

TEST_CASE("a damaged sealed file has no delta and takes none") {
  const Pair pair;
  CHECK(pair.make() == Code::kOk);
  write_bytes(pair.before, format::kFileHeaderBytes + 100, "damage");
  CHECK(pair.apply().code == Code::kDamaged);
  CHECK(make_delta(pair.before, pair.after, pair.dir.file("another")).code == Code::kDamaged);
  CHECK(pair.dir.names().size() == 3);
}

TEST_CASE("a writer that comes while a delta is made or applied ends that, and its keys stay") {
  for (const bool applies : {false, true}) {
    for (const bool in_place : {false, true}) {
      const Pair pair(shape(Layout::kBlocked, 1 << 16), kSome, kSome, false);
      if (applies) CHECK(pair.make() == Code::kOk);
      const std::string& written = applies || in_place ? pair.before : pair.after;
      const faults::Scope scope;
      bool came = false;
      faults::on_read = [&](int, std::uint64_t offset, std::uint64_t) {
        if (came || offset != format::kFileHeaderBytes) return 0;  // the first bits
        came = true;
        Filter writer = opened(Filter::open(written, OpenMode::kWrite));
        CHECK(writer.add("late").ok());
        CHECK(writer.close().ok());
        return 0;
      };
      const Code code = applies
                            ? apply_delta(pair.before, pair.delta, in_place ? pair.before : pair.made, kReplacing).code
                            : pair.make();
      CHECK((code == Code::kBusy || (written == pair.before && code == Code::kMismatch)));  // the key may show first
      CHECK(came);
      CHECK(opened(Filter::open(written, OpenMode::kRead)).contains("late"));
      CHECK(pair.dir.names().size() == (applies ? 3 : 2));
    }
  }
}

// The writer's key may set bits of the body that the file was read with, too: only its slots tell that it came.
TEST_CASE("a writer that comes between the last bit and the new name ends the applying, and its keys stay") {
  const Pair pair(shape(Layout::kBlocked, 1 << 16), kSome, kSome, false);
  CHECK(pair.make() == Code::kOk);
  const faults::Scope scope;
  bool came = false;
  faults::before_lock = [&](const LockCall& made) {
    if (came || made.command != F_OFD_SETLK || made.byte != static_cast<long>(format::kStateLock)) return;
    came = true;
    Filter writer = opened(Filter::open(pair.before, OpenMode::kWrite));
    CHECK(writer.add("late").ok());
    CHECK(writer.close().ok());
  };
  CHECK(apply_delta(pair.before, pair.delta, pair.before, kReplacing).code == Code::kBusy);
  CHECK(came);
  CHECK(opened(Filter::open(pair.before, OpenMode::kRead)).contains("late"));
  CHECK(pair.dir.names().size() == 3);
}

TEST_CASE("no failed write or sync leaves a delta, or a file that was made of one") {
  const Pair pair(shape(Layout::kClassic, 1 << 16), kSome, kSome, false);
  const std::string before = read_bytes(pair.before);
  for (const bool applies : {false, true}) {
    if (applies) CHECK(pair.make() == Code::kOk);
    const auto run = [&] {
      return applies ? apply_delta(pair.before, pair.delta, pair.before, kReplacing).code : pair.make();
    };
    const std::size_t names = pair.dir.names().size();
    const faults::Scope scope;
    faults::on_sync = [](int) { return EIO; };
    CHECK(run() == Code::kSystem);
    faults::on_sync = nullptr;
    faults::naming_errno = ENOSPC;
    CHECK(run() == Code::kNoSpace);
    faults::naming_errno = 0;
    faults::on_read = [](int, std::uint64_t offset, std::uint64_t) {
      return offset == format::kFileHeaderBytes ? EIO : 0;
    };
    CHECK(run() != Code::kOk);
    faults::on_read = nullptr;
    CHECK(pair.dir.names().size() == names);
    CHECK((look_at(pair.before).file_id == look(before).file_id));
    CHECK(maybes(opened(Filter::open(pair.before, OpenMode::kRead)), 1, 0, kSome) == kSome);
  }
}

TEST_CASE("a delta replaces another delta if that is wanted, and no other file") {
  const Pair pair;
  CHECK(pair.make() == Code::kOk);
  CHECK(pair.make() == Code::kExists);
  CHECK(make_delta(pair.before, pair.after, pair.delta, kReplacing).ok());
  const std::string filter = read_bytes(pair.after);
  CHECK(make_delta(pair.before, pair.after, pair.after, kReplacing).code == Code::kInvalid);
  CHECK((read_bytes(pair.after) == filter));
  make_file(pair.dir.file("text"), "text");
  CHECK(make_delta(pair.before, pair.after, pair.dir.file("text"), kReplacing).code == Code::kInvalid);
  CHECK(make_delta(pair.before, pair.after, "", kReplacing).code == Code::kInvalid);
  CHECK(make_delta(pair.before, pair.after, pair.dir.file("mode"), {.mode = 01000}).code == Code::kInvalid);
  CHECK(make_delta(pair.before, pair.after, pair.dir.file("mode"), {.mode = 0444}).ok());
  struct stat facts {};
  CHECK(stat(pair.dir.file("mode").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0444);
  CHECK(apply_delta(pair.before, pair.dir.path(), pair.made).code == Code::kNotRegular);
  CHECK(apply_delta(pair.before, pair.dir.file("none"), pair.made).code == Code::kNotFound);
}
