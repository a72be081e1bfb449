// Files of other programs, asked in place: they answer as their import does, and nothing that happens to the file makes
// a wrong "no".
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "foreign.hpp"

using namespace foreign;

namespace {

constexpr std::uint64_t kBits = 100'003;
const ForeignForm kRaw = form("raw", BitOrder::kBig);

Options raw_options() {
  Options options;
  options.hash = Hash::kMurmur3;
  options.num_bits = kBits;
  options.num_probes = 5;
  options.seeds = {41, 42, 43, 44, 45};
  return options;
}

std::string key_of(const char* prefix, int number) { return prefix + std::to_string(number); }

Bytes content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

void write(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

// The array of a filter of 8,000 keys, in a file of a directory of its own.
class ForeignArray {
 public:
  ForeignArray() {
    InMemory made = InMemory::make(raw_options());
    for (int i = 0; i < kKeys; ++i) CHECK(made.filter.add(key_of("key ", i)).ok());
    bytes = exported(made.filter, kRaw);
    write(path, bytes);
  }

  [[nodiscard]] Result<Filter> open(const OpenOptions& opening = {}) const {
    return Filter::open_foreign(path, kRaw, raw_options(), opening);
  }

  static constexpr int kKeys = 8000;
  const TemporaryDirectory directory;
  const std::string path = directory.file("array");
  Bytes bytes;
};

bool has_its_keys(const Filter& filter) {
  for (int i = 0; i < ForeignArray::kKeys; ++i) {
    if (!filter.contains(key_of("key ", i))) return false;
  }
  return true;
}

// A filter in doubt answers every question with "maybe", for one key and for many.
void check_in_doubt(const Filter& filter, Code code) {
  CHECK(filter.contains("absent 1"));
  CHECK(filter.contains("absent 2"));
  const std::array<std::string_view, 12> keys{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
  std::array<std::uint8_t, 12> answers{};
  CHECK(filter.contains_keys(Keys::views(keys), answers).keys() == 12);
  CHECK(filter.health() == code);
}

}  // namespace

TEST_CASE("a file in place answers, counts and is copied as its import") {
  const ForeignArray array;
  const Filter there = must(array.open());
  const Filter file = must(imported(array.bytes, kRaw, raw_options()));
  CHECK(has_its_keys(there));
  int false_positives = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string key = key_of("absent ", i);
    const bool is_maybe = there.contains(key);
    if (is_maybe != file.contains(key)) FAIL(key);
    false_positives += is_maybe ? 1 : 0;
  }
  CHECK(false_positives > 100);
  CHECK(there.seeds() == raw_options().seeds);
  CHECK(there.stats({.fill = true}).fill->set_bits == file.stats({.fill = true}).fill->set_bits);
  CHECK(there.stats({.fill = true}).fill->estimated_keys == doctest::Approx(ForeignArray::kKeys).epsilon(0.05));
  CHECK(there.stats().shape.num_bits == kBits);
  CHECK(exported(there, kRaw) == array.bytes);
  CHECK(must(there.compare(file)).equal);
  must(there.save(array.directory.file("saved")));
  const Filter saved = must(Filter::open(array.directory.file("saved"), OpenMode::kRead));
  CHECK(saved.seeds() == raw_options().seeds);
  CHECK(saved.stats().keys_added == file.stats().keys_added);
  CHECK(exported(saved, kRaw) == array.bytes);
  CHECK(has_its_keys(saved));
}

// Many keys are asked in another way if the bits are more than a core's caches hold.
TEST_CASE("a small and a large array in either order have one answer for a key, alone and among others") {
  for (const std::uint64_t num_bits : {kBits, std::uint64_t{4'000'003}}) {
    for (const BitOrder order : {BitOrder::kBig, BitOrder::kLittle}) {
      CAPTURE(num_bits);
      Options options = raw_options();
      options.num_bits = num_bits;
      InMemory made = InMemory::make(options);
      const int added = static_cast<int>(num_bits / 8);
      bool all = true;
      for (int i = 0; i < added; ++i) all = made.filter.add(key_of("key ", i)).ok() && all;
      CHECK(all);
      const ForeignForm raw = form("raw", order);
      const TemporaryDirectory directory;
      const std::string path = directory.file("array");
      write(path, exported(made.filter, raw));
      const Filter there = must(Filter::open_foreign(path, raw, options));
      std::vector<std::string> asked;
      for (int i = 0; i < 2000; ++i) asked.push_back(key_of(i % 2 == 0 ? "key " : "absent ", i));
      const std::vector<std::string_view> keys(asked.begin(), asked.end());
      std::vector<std::uint8_t> answers(keys.size());
      const Count maybes = there.contains_keys(Keys::views(keys), answers);
      REQUIRE(maybes.ok());
      CHECK(maybes.keys() >= 1000);
      CHECK(maybes.keys() < 1500);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if ((answers[i] != 0) != made.filter.contains(keys[i]) || (answers[i] != 0) != there.contains(keys[i]))
          FAIL(keys[i]);
      }
    }
  }
}

TEST_CASE("a file says what its bytes say, and a cut or a longer one is refused") {
  Options options;
  options.hash = Hash::kJaybird;
  options.capacity = 1000;
  options.fpr = 0.001;
  const InMemory made = InMemory::make(options);
  const ForeignForm jaybird = form("jaybird");
  const Bytes bytes = exported(made.filter, jaybird);
  const TemporaryDirectory directory;
  const std::string path = directory.file("file");
  write(path, bytes);
  const ForeignFilter told = must(inspect_foreign_file(path, jaybird));
  CHECK(told.num_bits == must(inspect_foreign(bytes, jaybird)).num_bits);
  CHECK(told.capacity == 1000);
  CHECK(told.keys == 0);
  CHECK(told.bytes == bytes.size());
  CHECK(told.filters == 1);
  CHECK(must(inspect_foreign_file(path, kRaw)).num_bits == 0);
  const auto code_of = [&](const ForeignForm& asked) { return inspect_foreign_file(path, asked).error().code; };
  ForeignForm second = jaybird;
  second.member = 2;
  CHECK(code_of(second) == Code::kInvalid);
  write(path, std::span(bytes).first(bytes.size() - 1));
  CHECK(code_of(jaybird) == Code::kBody);
  CHECK(inspect_foreign_file(path, jaybird).error().message.starts_with(path + ": has "));
  write(path, std::span(bytes).first(20));
  CHECK(code_of(jaybird) == Code::kTooShort);
  Bytes longer = bytes;
  longer.emplace_back();
  write(path, longer);
  CHECK(code_of(jaybird) == Code::kBody);
  CHECK(inspect_foreign_file(directory.file("none"), jaybird).error().code == Code::kNotFound);
}

// Once a lookup crashed: the kernels of digests got no words.
TEST_CASE("a filter with a hash that makes digests is not asked in place") {
  Options options;
  options.hash = Hash::kXxh3;
  options.seed = 5;
  options.layout = Layout::kClassic;
  options.num_bits = 4096;
  options.num_probes = 5;
  const InMemory made = InMemory::make(options);
  const TemporaryDirectory directory;
  write(directory.file("array"), exported(made.filter, kRaw));
  const auto there = Filter::open_foreign(directory.file("array"), kRaw, options);
  REQUIRE_FALSE(there);
  CHECK(there.error().code == Code::kUnsupported);
  CHECK(there.error().message.find("xxh3") != std::string::npos);
}

TEST_CASE("a file in place is only read") {
  const ForeignArray array;
  Filter there = must(array.open());
  CHECK(there.add("key").code() == Code::kReadOnly);
  CHECK(there.sync().code != Code::kOk);
  CHECK(content_of(array.path) == array.bytes);
  must(there.close());
}

TEST_CASE("after a change of the file every answer is maybe, for good") {
  const auto check = [](const std::string& what, auto change, auto change_back, Code code = Code::kLost) {
    CAPTURE(what);
    const ForeignArray array;
    const Filter there = must(array.open());
    const Filter late = must(array.open());
    CHECK_FALSE(there.contains("absent 1"));
    CHECK(there.health() == Code::kOk);
    CHECK(must(there.is_current()));
    change(array);
    check_in_doubt(there, code);
    CHECK_FALSE(must(there.is_current()));
    change_back(array);
    check_in_doubt(there, code);
    check_in_doubt(late, code);  // the first look of this handle
  };
  const auto nothing = [](const ForeignArray&) {};
  check(
      "zeroed in place", [](const ForeignArray& array) { write(array.path, Bytes(array.bytes.size())); },
      [](const ForeignArray& array) { write(array.path, array.bytes); });
  check(
      "one byte changed",
      [](const ForeignArray& array) {
        std::fstream file(array.path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(100).put('x');
      },
      nothing);
  check(
      "truncated", [](const ForeignArray& array) { CHECK(truncate(array.path.c_str(), 4096) == 0); }, nothing,
      Code::kFault);
  check(
      "grown", [](const ForeignArray& array) { CHECK(truncate(array.path.c_str(), 50'000) == 0); }, nothing);
  check(
      "removed", [](const ForeignArray& array) { CHECK(unlink(array.path.c_str()) == 0); }, nothing);
  check(
      "replaced",
      [](const ForeignArray& array) {
        const std::string other = array.directory.file("other");
        write(other, array.bytes);
        CHECK(rename(other.c_str(), array.path.c_str()) == 0);
      },
      nothing);
  check(
      "with other rights", [](const ForeignArray& array) { CHECK(chmod(array.path.c_str(), 0600) == 0); }, nothing);
  check(
      "renamed",
      [](const ForeignArray& array) { CHECK(rename(array.path.c_str(), array.directory.file("r").c_str()) == 0); },
      nothing);
  check(
      "with its old time",
      [](const ForeignArray& array) {
        struct stat before {};
        CHECK(stat(array.path.c_str(), &before) == 0);
        write(array.path, Bytes(array.bytes.size()));
        const std::array<timespec, 2> times{before.st_atim, before.st_mtim};
        CHECK(utimensat(AT_FDCWD, array.path.c_str(), times.data(), 0) == 0);
      },
      nothing);
}

TEST_CASE("a page that cannot be read is maybe, and no signal") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("array");
  Options options = raw_options();
  options.num_bits = std::uint64_t{1} << 23;
  write(path, Bytes(1 << 20));
  const Filter there = must(Filter::open_foreign(path, kRaw, options));
  CHECK_FALSE(there.contains("absent"));
  CHECK(truncate(path.c_str(), 0) == 0);
  check_in_doubt(there, Code::kFault);
}

TEST_CASE("a copy keeps its answers, whatever becomes of the file") {
  const ForeignArray array;
  OpenOptions copy;
  copy.map.copy = true;
  const Filter there = must(array.open(copy));
  write(array.path, Bytes(array.bytes.size()));
  CHECK(has_its_keys(there));
  CHECK_FALSE(there.contains("absent 1"));
  CHECK(there.health() == Code::kOk);
  CHECK_FALSE(must(there.is_current()));
  CHECK(truncate(array.path.c_str(), 0) == 0);
  CHECK(has_its_keys(there));
}

TEST_CASE("a handle that was shut answers maybe") {
  const ForeignArray array;
  Filter there = must(array.open());
  CHECK_FALSE(there.contains("absent 1"));
  must(there.shut());
  check_in_doubt(there, Code::kShut);
}

TEST_CASE("a file that is no such filter is refused") {
  const ForeignArray array;
  const auto refused = [&](const std::string& path, Code code, std::initializer_list<const char*> words) {
    check_refused(Filter::open_foreign(path, kRaw, raw_options()), code, words);
  };
  refused(array.directory.file("nothing"), Code::kNotFound, {"nothing"});
  refused(array.directory.file("."), Code::kNotRegular, {"regular file"});
  const std::string other = array.directory.file("other");
  write(other, {});
  refused(other, Code::kTooShort, {"is empty"});
  write(other, std::span(array.bytes).first(array.bytes.size() - 1));
  refused(other, Code::kInvalid, {"other: has 12500 bytes", "exactly 12501"});
  CHECK(mkfifo(array.directory.file("fifo").c_str(), 0600) == 0);
  refused(array.directory.file("fifo"), Code::kNotRegular, {"regular file"});
  check_refused(Filter::open_foreign(array.path, form("raw"), raw_options()), Code::kInvalid, {"order"});
  check_refused(Filter::open_foreign(array.path, kRaw), Code::kInvalid, {"hash"});
  OpenOptions follow;
  follow.follow = true;
  check_refused(array.open(follow), Code::kInvalid, {"not followed"});
  ForeignForm second = kRaw;
  second.member = 2;
  check_refused(Filter::open_foreign(array.path, second, raw_options()), Code::kInvalid, {"no number 2"});
  ForeignForm column = kRaw;
  column.column = "id";
  check_refused(Filter::open_foreign(array.path, column, raw_options()), Code::kInvalid, {"no columns"});
}

TEST_CASE("a file is recognized by its bytes, or not at all") {
  const ForeignArray array;
  CHECK(must(recognize_foreign(array.path)).empty());  // any bytes may be a bit array
  Options options;
  options.hash = Hash::kJaybird;
  options.capacity = 1000;
  options.fpr = 0.001;
  InMemory made = InMemory::make(options);
  CHECK(made.filter.add("key").ok());
  const Bytes bytes = exported(made.filter, form("jaybird"));
  const std::string path = array.directory.file("jaybird");
  write(path, bytes);
  const auto names = must(recognize_foreign(path));
  REQUIRE(names.size() == 1);
  CHECK(names[0] == std::string("jaybird"));
  CHECK(must(Filter::open_foreign(path, form("jaybird"))).contains("key"));
  CHECK_FALSE(must(Filter::open_foreign(path, form("jaybird"))).contains("absent"));
  write(path, std::span(bytes).first(bytes.size() - 1));
  CHECK(must(recognize_foreign(path)).empty());
}
