// The key reader agrees with a splitter of a few lines, with every size of its buffer. Also tested: which bytes are a
// list, and the reader's limits.
#include "key_reader.hpp"

#include "bytes.hpp"
#include "failures.hpp"
#include "list_kind.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

class Pipe {
 public:
  Pipe() { REQUIRE(::pipe(ends_) == 0); }
  ~Pipe() {
    ::close(ends_[0]);
    close_input();
  }
  void put(std::string_view text) { REQUIRE(::write(ends_[1], text.data(), text.size()) == std::ssize(text)); }
  void close_input() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  [[nodiscard]] int output() const { return ends_[0]; }
  // Opening this path makes another description of the pipe.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2] = {-1, -1};
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> keys;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find(separator, at), text.size());
    keys.push_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return keys;
}

using Keys = std::optional<std::vector<std::string>>;  // empty: the bytes are not a list

Keys read_all(const std::string& text, bf::ListFormat format, std::size_t buffer_bytes) {
  Pipe pipe;
  pipe.put(text);
  pipe.close_input();
  bf::KeySource source(pipe.path(), format);
  bf::KeyReader reader(source, std::nullopt, buffer_bytes);
  std::vector<std::string_view> batch;
  std::vector<std::string> keys;
  try {
    while (reader.next(batch)) {
      REQUIRE(!batch.empty());
      keys.insert(keys.end(), batch.begin(), batch.end());
    }
  } catch (const bf::BadList& bad) {
    REQUIRE(std::string_view(bad.what()).starts_with("/proc/self/fd/"));
    return std::nullopt;
  }
  CHECK(batch.empty());
  CHECK(!reader.next(batch));
  CHECK(reader.bytes_read() == text.size());
  return keys;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Splits lines of text by the reader's rule, written independently.
Keys lines_of(const std::string& text) {
  const std::size_t pairs = count_of(text, "\r\n");
  const bool all_lf = count_of(text, "\r") == 0;
  const bool all_crlf = pairs == count_of(text, "\r") && pairs == count_of(text, "\n");
  if (count_of(text, std::string_view("\0", 1)) != 0 || !(all_lf || all_crlf)) return std::nullopt;
  std::vector<std::string> keys = split(text, '\n');
  for (std::size_t i = 0; !all_lf && i < pairs; ++i) keys[i].pop_back();
  return keys;
}

}  // namespace

TEST_CASE("an instruction of the processor finds the bytes that a loop finds") {
  std::mt19937 random(3);
  std::string block(bf::kBlockBytes, '\0');
  for (int round = 0; round < 1000; ++round) {
    for (char& byte : block) byte = static_cast<char>(random() % 7 == 0 ? 0x80 : random() % 3);
    for (const char wanted : {'\0', '\1', '\x7f', '\x80'})
      REQUIRE(bf::matches(block.data(), wanted) == bf::matches_on_any_processor(block.data(), wanted));
  }
}

TEST_CASE("keys are split alike whatever the buffer's size") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (auto i = random() % 60; i > 0; --i) text += "ab\n\r\0"[random() % 5];
    for (const char separator : {'\n', '\0'}) {
      for (std::size_t bytes = 1; bytes <= 64; ++bytes)
        REQUIRE(read_all(text, {separator, true}, bytes) == split(text, separator));
    }
  }
}

TEST_CASE("lines end in LF, or all in CR LF, and have no NUL and no other CR, whatever the buffer's size") {
  std::mt19937 random(2);
  std::size_t good = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<std::string> pieces = round % 3 == 0   ? std::vector<std::string>{"a", "bc", "\r\n"}
                                            : round % 3 == 1 ? std::vector<std::string>{"a", "bc", "\n"}
                                                             : std::vector<std::string>{"a", "\r\n", "\n", "b"};
    std::string text;
    for (auto i = random() % 80; i > 0; --i) text += pieces[random() % pieces.size()];
    if (random() % 3 == 0) text.insert(random() % (text.size() + 1), 1, "\r\0\n"[random() % 3]);
    const Keys expected = lines_of(text);
    good += expected ? 1U : 0U;
    CAPTURE(text);
    for (const std::size_t bytes : {1U, 2U, 3U, 63U, 64U, 65U, 200U}) REQUIRE(read_all(text, {}, bytes) == expected);
  }
  CHECK(good > 500);
  CHECK(good < 1900);
}

TEST_CASE("a byte order mark is left out at the beginning and refused later") {
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(read_all(mark + "a\nb\n", {.any_bytes = true}, 64) == std::vector<std::string>{mark + "a", "b"});
  CHECK(read_all(mark + "a\n" + mark + "b\n", {}, 64) == std::nullopt);
  CHECK(read_all("a\n" + mark, {}, 64) == std::nullopt);
  Pipe pipe;
  pipe.put(mark + "a\nb" + mark + "\n");  // inside a line it is a character
  pipe.close_input();
  bf::KeySource source(pipe.path(), bf::ListFormat{});
  bf::KeyReader reader(source);
  std::vector<std::string_view> batch;
  REQUIRE(reader.next(batch));
  CHECK(batch == std::vector<std::string_view>{"a", "b\xEF\xBB\xBF"});
}

TEST_CASE("the first bytes tell the kind of a list, and fewer bytes may still become one") {
  for (const std::string_view head : {"\x1F\x8B", "BZh91AY&SY", "(\xB5/\xFD", "\xFE\xFF", "PK\x03\x04"}) {
    CAPTURE(head);
    CHECK(bf::kind_of(head));
    CHECK(!bf::may_become_a_kind(head));
    CHECK(!bf::kind_of(head.substr(0, head.size() - 1)));
    for (std::size_t bytes = 1; bytes < head.size() - 1; ++bytes) CHECK(bf::may_become_a_kind(head.substr(0, bytes)));
  }
  for (const std::string_view head : {"alice\n", "B\n", "BZh", "BZh\n", "BZh9 is a name\n", "(1)\n", "PK\n", "\n"}) {
    CAPTURE(head);
    CHECK(!bf::kind_of(head));
    if (head.ends_with('\n')) CHECK(!bf::may_become_a_kind(head));
  }
}

TEST_CASE("a tar archive is known by a sign in the middle, for which no pipe is waited for") {
  const std::string name = std::string("names.txt") + std::string(248, '\0');
  for (const std::string& sign : {std::string("ustar") + '\0' + "00", std::string("ustar  ") + '\0'}) {
    const std::string head = name + sign;
    CHECK(head.size() == bf::kHeadBytes);
    REQUIRE(bf::kind_of(head));
    CHECK(bf::kind_of(head)->words == "a tar archive");
    CHECK(!bf::kind_of(head.substr(0, head.size() - 1)));
    CHECK(!bf::may_become_a_kind(head.substr(0, 10)));  // it may be a key that ends in NUL
  }
}

TEST_CASE("a batch has at most kMaxBatch keys and says whether more follow") {
  Pipe pipe;
  for (std::size_t i = 0; i < bf::KeyReader::kMaxBatch; ++i) pipe.put("x\n");
  bf::KeySource source(pipe.path(), bf::ListFormat{});
  bf::KeyReader reader(source);
  std::vector<std::string_view> batch;
  REQUIRE(reader.next(batch));
  CHECK(batch.size() == bf::KeyReader::kMaxBatch);
  CHECK(reader.drained());
  for (std::size_t i = 0; i <= bf::KeyReader::kMaxBatch; ++i) pipe.put("x\n");
  REQUIRE(reader.next(batch));
  CHECK(batch.size() == bf::KeyReader::kMaxBatch);
  CHECK(!reader.drained());
  REQUIRE(reader.next(batch));
  CHECK(batch.size() == 1);
  CHECK(reader.drained());
}

TEST_CASE("a key as long as the limit is read and a longer one refused") {
  for (const std::size_t buffer_bytes : {1U, 7U, 100U, 101U}) {
    for (const std::size_t length : {99U, 100U, 101U, 300U}) {
      Pipe pipe;
      pipe.put(std::string(length, 'x') + "\n");
      pipe.close_input();
      bf::KeySource source(pipe.path(), bf::ListFormat{});
      bf::KeyReader reader(source, std::nullopt, buffer_bytes, 100);
      std::vector<std::string_view> batch;
      if (length <= 100) {
        REQUIRE(reader.next(batch));
        CHECK(batch.at(0).size() == length);
      } else {
        CHECK_THROWS_WITH_AS(reader.next(batch), doctest::Contains(": a key is longer than 100 bytes"), bf::Failure);
      }
    }
  }
}

TEST_CASE("a source that cannot be read is a failure that names it") {
  const auto read = [] {
    bf::KeySource source("/proc/self/mem", bf::ListFormat{});  // its first page is not mapped
    bf::KeyReader reader(source);
    std::vector<std::string_view> batch;
    reader.next(batch);
  };
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("/proc/self/mem: cannot read the keys"), bf::Failure);
}
