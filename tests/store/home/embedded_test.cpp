// Filters without a file of their own: in a caller's buffer, and in a range of another file.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "key_calls.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

// Pages of memory that can be made read-only, so that a write to them is a signal.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes), memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(memory_ != MAP_FAILED);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(memory_, bytes_); }

  [[nodiscard]] std::span<std::byte> first(std::size_t bytes, std::size_t from = 0) const {
    return {static_cast<std::byte*>(memory_) + from, bytes};
  }
  [[nodiscard]] std::span<const std::byte> constant(std::size_t bytes, std::size_t from = 0) const {
    return first(bytes, from);
  }
  void forbid_writing() const { REQUIRE(mprotect(memory_, bytes_, PROT_READ) == 0); }

 private:
  std::size_t bytes_;
  void* memory_;
};

Options bare_options() {
  Options options = small_options();
  options.bare = true;
  return options;
}

// Returns an embedded filter with 200 keys of writer 1. Its last byte, which tests cut off, is one of a random file_id.
// It is not 0 here, because a page has zeros after the end of its file.
std::string embedded_bytes(const Options& options = small_options()) {
  const std::uint64_t bytes = *Filter::required_bytes(options);
  const Pages pages(bytes);
  do {
    Filter filter = opened(Filter::format(pages.first(bytes), options));
    add_keys(filter, 1, 0, kSome);
  } while (pages.first(bytes).back() == std::byte{0});
  return {reinterpret_cast<const char*>(pages.first(bytes).data()), bytes};
}

void put_at(const std::string& path, std::uint64_t offset, const std::string& bytes, std::uint64_t behind) {
  std::ofstream(path, std::ios::binary) << std::string(offset, 'x') << bytes << std::string(behind, 'y');
}

}  // namespace

TEST_CASE("a range of a file is read at any multiple of 64") {
  TempDir dir;
  const std::string bytes = embedded_bytes();
  for (const std::uint64_t offset : {0U, 64U, 192U, 4032U, 4096U, 4160U, 65536U, 3145792U}) {
    CAPTURE(offset);
    put_at(dir.file(), offset, bytes, 100);
    for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{bytes.size()}, std::uint64_t{1} << 40}) {
      Filter filter = opened(Filter::open_range(dir.file(), offset, most));
      CHECK(maybes(filter, 1, 0, kSome) == kSome);
      CHECK(answers_no(filter));
      CHECK(filter.add("a key").code() == Code::kReadOnly);
      CHECK(filter.sync().code == Code::kInvalid);
      CHECK(filter.stats().keys_added == 0);
      CHECK(filter.close().ok());
    }
  }
}

TEST_CASE("a range that is not aligned, after the end, cut short or no filter is refused with a message") {
  TempDir dir;
  const std::string bytes = embedded_bytes();
  put_at(dir.file(), 128, bytes, 0);
  const std::uint64_t end = 128 + bytes.size();
  const std::vector<std::pair<std::uint64_t, Code>> bad{{1, Code::kInvalid},
                                                        {8, Code::kInvalid},
                                                        {130, Code::kInvalid},
                                                        {end - end % 64 + 64, Code::kTooShort},
                                                        {UINT64_MAX - 63, Code::kTooShort}};
  for (const auto& [at, code] : bad) {
    const std::uint64_t offset = at;  // clang 14 captures no structured binding
    CAPTURE(offset);
    const auto refused = Filter::open_range(dir.file(), offset, 0);
    REQUIRE(code_of(refused) == code);
    CHECK(refused.error().message.find(dir.file()) != std::string::npos);
  }
  CHECK(code_of(Filter::open_range(dir.file(), 0, 0)) == Code::kMagic);
  CHECK(code_of(Filter::open_range(dir.file(), 128, bytes.size() - 1)) == Code::kBody);
  CHECK(code_of(Filter::open_range(dir.file(), 128, 100)) == Code::kTooShort);
  REQUIRE(truncate(dir.file().c_str(), static_cast<off_t>(end - 1)) == 0);
  for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{bytes.size()}, std::uint64_t{1} << 40, UINT64_MAX})
    CHECK(code_of(Filter::open_range(dir.file(), 128, most)) == Code::kBody);  // no caller's word makes a file longer
  CHECK(code_of(Filter::open_range(dir.file("missing"), 0, 0)) == Code::kNotFound);
}

TEST_CASE("a file's filter is no embedded one, and an embedded one is no file's") {
  TempDir dir;
  CHECK(created(dir.file()).close().ok());
  CHECK(code_of(Filter::open_range(dir.file(), 0, 0)) == Code::kForm);
  put_at(dir.file("embedded"), 0, embedded_bytes(), 20'000);
  CHECK(open_code(dir.file("embedded"), OpenMode::kRead) == Code::kForm);
}

TEST_CASE("a filter that is wrapped for reading is never written to") {
  for (const bool bare : {false, true}) {
    const std::string bytes = embedded_bytes(bare ? bare_options() : small_options());
    const Pages pages(bytes.size());
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(pages.first(bytes.size()).data()));
    pages.forbid_writing();
    Filter filter = opened(Filter::wrap_to_read(pages.constant(bytes.size()), bare));
    CHECK(maybes(filter, 1, 0, kSome) == kSome);
    CHECK(answers_no(filter));
    CHECK(filter.stats({.fill = true}).fill->set_bits > 0);
    CHECK(filter.add("a key").code() == Code::kReadOnly);
    CHECK(filter.close().ok());
  }
}

TEST_CASE("a filter that is wrapped for writing takes keys, and another wrap finds them") {
  for (const bool bare : {false, true}) {
    const std::string bytes = embedded_bytes(bare ? bare_options() : small_options());
    const Pages pages(bytes.size());
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(pages.first(bytes.size()).data()));
    Filter filter = opened(Filter::wrap(pages.first(bytes.size()), bare));
    add_keys(filter, 2, 0, kSome);
    const Filter other = opened(Filter::wrap_to_read(pages.constant(bytes.size()), bare));
    CHECK(maybes(other, 1, 0, kSome) + maybes(other, 2, 0, kSome) == 2 * kSome);
    CHECK(filter.sync().code == Code::kInvalid);
    CHECK(filter.publish().code == Code::kInvalid);
  }
}

TEST_CASE("a buffer that is too small, misaligned or null is refused, and nothing is written to it") {
  for (const Options& options : {small_options(), bare_options()}) {
    const std::uint64_t bytes = *Filter::required_bytes(options);
    const Pages pages(bytes + 64);
    pages.forbid_writing();
    CHECK(code_of(Filter::format(pages.first(bytes - 1), options)) == Code::kInvalid);
    CHECK(code_of(Filter::format(pages.first(0), options)) == Code::kInvalid);
    CHECK(code_of(Filter::format(pages.first(bytes, 1), options)) == Code::kInvalid);
    CHECK(code_of(Filter::format(pages.first(bytes, 32), options)) == Code::kInvalid);
    CHECK(code_of(Filter::format({}, options)) == Code::kInvalid);
    CHECK(code_of(Filter::wrap_to_read(pages.constant(bytes, 8), options.bare)) == Code::kInvalid);
    CHECK(code_of(Filter::wrap_to_read(std::span<const std::byte>(), options.bare)) == Code::kInvalid);
  }
}

TEST_CASE("formatting writes exactly the bytes that were asked for") {
  for (const Options& options : {small_options(), bare_options()}) {
    const std::uint64_t bytes = *Filter::required_bytes(options);
    const Pages pages(bytes + 4096);
    std::ranges::fill(pages.first(bytes + 4096), std::byte{0xa5});
    Filter filter = opened(Filter::format(pages.first(bytes + 4096), options));
    add_keys(filter, 1, 0, kSome);
    for (const std::byte byte : pages.first(4096, bytes)) REQUIRE(byte == std::byte{0xa5});
  }
}

TEST_CASE("a buffer whose embedded filter was cut or damaged is refused") {
  const std::string bytes = embedded_bytes();
  const Pages pages(bytes.size());
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(pages.first(bytes.size()).data()));
  CHECK(code_of(Filter::wrap_to_read(pages.constant(bytes.size() - 1))) == Code::kBody);
  CHECK(code_of(Filter::wrap_to_read(pages.constant(64))) == Code::kTooShort);
  pages.first(bytes.size())[40] ^= std::byte{1};
  CHECK(code_of(Filter::wrap_to_read(pages.constant(bytes.size()))) == Code::kChecksum);
  CHECK(code_of(Filter::wrap_to_read(pages.constant(bytes.size()), true)) != Code::kOk);
}

namespace {

struct RangeDamage {
  std::string name;
  std::function<void(const std::string& path, std::uint64_t at, const std::string& whole)> inflict;
};

void resize(const std::string& path, std::uint64_t bytes) {
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(bytes)) == 0);
}

void cut_and_grow(const std::string& path, std::uint64_t to, std::uint64_t all) {
  resize(path, to);
  resize(path, all);
}

// Damages of a file that ends with an embedded filter, which begins at byte `at`; `whole` are its bytes.
const std::vector<RangeDamage>& range_damages() {
  static const std::vector<RangeDamage> all{
      {"zero-filled", [](const std::string& path, std::uint64_t at,
                         const std::string& whole) { write_bytes(path, at, std::string(whole.size(), '\0')); }},
      {"cut to nothing and grown again", [](const std::string& path, std::uint64_t at,
                                            const std::string& whole) { cut_and_grow(path, 0, at + whole.size()); }},
      {"cut in its body and grown again",
       [](const std::string& path, std::uint64_t at, const std::string& whole) {
         cut_and_grow(path, at + whole.size() / 2, at + whole.size());
       }},
      {"its last byte cut off and grown again",
       [](const std::string& path, std::uint64_t at, const std::string& whole) {
         cut_and_grow(path, at + whole.size() - 1, at + whole.size());
       }},
      {"its last byte cut off", [](const std::string& path, std::uint64_t at,
                                   const std::string& whole) { resize(path, at + whole.size() - 1); }},
      {"rewritten by cp, which has come as far as its length",
       [](const std::string& path, std::uint64_t at, const std::string& whole) {
         cut_and_grow(path, 0, at + whole.size());
         write_bytes(path, 0, std::string(at, 'x') + whole.substr(0, whole.size() / 2));
       }},
      {"overwritten with another filter",
       [](const std::string& path, std::uint64_t at, const std::string&) { write_bytes(path, at, embedded_bytes()); }},
      {"only its front overwritten with another filter",
       [](const std::string& path, std::uint64_t at, const std::string& whole) {
         write_bytes(path, at, embedded_bytes().substr(0, whole.size() / 2));
       }},
      {"only its end overwritten with another filter",
       [](const std::string& path, std::uint64_t at, const std::string& whole) {
         write_bytes(path, at + whole.size() / 2, embedded_bytes().substr(whole.size() / 2));
       }},
      {"overwritten with ones", [](const std::string& path, std::uint64_t at, const std::string& whole) {
         write_bytes(path, at, std::string(whole.size(), '\xff'));
       }}};
  return all;
}

void check_all_maybe(const Filter& filter) {
  for (const AskForm& form : ask_forms()) {
    CAPTURE(form.name);
    CHECK(form.ask(filter, kNobody, 700) == 700);
    CHECK(form.ask(filter, 1, kSome) == kSome);
  }
  CHECK(filter.health() == Code::kLost);
}

}  // namespace

TEST_CASE("after any damage to a range every form of lookup answers maybe, and it is not current") {
  for (const RangeDamage& damage : range_damages()) {
    for (const std::uint64_t at : {0U, 64U, 4096U, 4160U}) {
      CAPTURE(damage.name);
      CAPTURE(at);
      const TempDir dir;
      const std::string whole = embedded_bytes();
      put_at(dir.file(), at, whole, 0);
      const Filter range = opened(Filter::open_range(dir.file(), at, 0));
      const Filter copy = opened(Filter::open_range(dir.file(), at, 0, {.map = {.copy = true}}));
      CHECK(answers_no(range));
      CHECK(range.health() == Code::kOk);
      CHECK(*range.is_current());
      damage.inflict(dir.file(), at, whole);
      check_all_maybe(range);
      CHECK_FALSE(*range.is_current());
      CHECK(answers_no(copy));
      CHECK(maybes(copy, 1, 0, kSome) == kSome);
      CHECK_FALSE(*copy.is_current());
    }
  }
}

TEST_CASE("a range whose path names another file, or none, is not current, and answers as before") {
  const TempDir dir;
  const std::string whole = embedded_bytes();
  put_at(dir.file(), 64, whole, 10);
  const Filter range = opened(Filter::open_range(dir.file(), 64, 0));
  put_at(dir.file("other"), 64, whole, 10);
  CHECK(*range.is_current());
  REQUIRE(rename(dir.file("other").c_str(), dir.file().c_str()) == 0);
  CHECK_FALSE(*range.is_current());
  REQUIRE(unlink(dir.file().c_str()) == 0);
  CHECK_FALSE(*range.is_current());
  CHECK(range.health() == Code::kOk);
  CHECK(answers_no(range));
  CHECK(maybes(range, 1, 0, kSome) == kSome);
}

TEST_CASE("a range and a buffer whose end word is wrong are refused when they are opened") {
  const TempDir dir;
  std::string bytes = embedded_bytes();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  put_at(dir.file(), 64, bytes, 0);
  const auto refused = Filter::open_range(dir.file(), 64, 0);
  REQUIRE(code_of(refused) == Code::kLiveWord);
  CHECK(refused.error().message.find(dir.file()) != std::string::npos);
  CHECK(refused.error().message.find("cut or overwritten") != std::string::npos);
  const Pages pages(bytes.size());
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(pages.first(bytes.size()).data()));
  CHECK(code_of(Filter::wrap_to_read(pages.constant(bytes.size()))) == Code::kLiveWord);
  CHECK(code_of(Filter::wrap(pages.first(bytes.size()))) == Code::kLiveWord);
}

TEST_CASE("a filter in a buffer that is zero-filled or loses its front or its end answers maybe, and takes nothing") {
  const std::uint64_t bytes = *Filter::required_bytes(small_options());
  for (const auto& [from, length] :
       {std::pair{std::uint64_t{0}, bytes}, {std::uint64_t{0}, bytes / 2}, {bytes / 2, bytes - bytes / 2}}) {
    const Pages pages(bytes);
    Filter made = opened(Filter::format(pages.first(bytes), small_options()));
    add_keys(made, 1, 0, kSome);
    Filter wrapped = opened(Filter::wrap(pages.first(bytes)));
    CHECK(answers_no(wrapped));
    std::memset(pages.first(bytes).data() + from, 0, length);
    for (Filter* filter : {&made, &wrapped}) {
      check_all_maybe(*filter);
      CHECK(filter->add("a key").code() == Code::kLost);
    }
  }
}

TEST_CASE("with a guard a range that cannot be read any more answers maybe") {
  const TempDir dir(memory_folder());
  Options options = small_options();
  options.bits_per_key = 0;
  options.max_bytes = 100'000;
  const std::string whole = embedded_bytes(options);
  for (const std::uint64_t to : {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{64'000}}) {
    put_at(dir.file(), 4096, whole, 0);
    const Filter range = opened(Filter::open_range(dir.file(), 4096, 0, {.map = {.guard = true}}));
    CHECK(answers_no(range));
    resize(dir.file(), to);
    CHECK(maybes(range, 1, 0, kSome) == kSome);
    CHECK(maybes(range, kNobody, 0, kSome) == kSome);
    CHECK(range.health() == Code::kFault);
    CHECK_FALSE(*range.is_current());
    put_at(dir.file(), 4096, whole, 0);  // this handle does not believe it
    CHECK(maybes(range, kNobody, 0, kSome) == kSome);
  }
}
