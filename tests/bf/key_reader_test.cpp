// The reader of keys, with every size of its buffer, compared with a splitter of six lines; and its limits.
#include "key_reader.hpp"

#include "failure.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

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

std::vector<std::string> read_all(const std::string& text, char separator, std::size_t buffer_bytes) {
  Pipe pipe;
  pipe.put(text);
  pipe.close_input();
  bf::KeyReader reader(pipe.output(), "pipe", separator, buffer_bytes);
  std::vector<std::string_view> batch;
  std::vector<std::string> keys;
  while (reader.next(batch)) {
    REQUIRE(!batch.empty());
    keys.insert(keys.end(), batch.begin(), batch.end());
  }
  CHECK(batch.empty());
  CHECK(!reader.next(batch));
  CHECK(reader.bytes_read() == text.size());
  return keys;
}

}  // namespace

TEST_CASE("keys are split alike whatever the buffer's size") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (auto i = random() % 60; i > 0; --i) text += "ab\n\r\0"[random() % 5];
    for (const char separator : {'\n', '\0'}) {
      for (std::size_t bytes = 1; bytes <= 64; ++bytes)
        REQUIRE(read_all(text, separator, bytes) == split(text, separator));
    }
  }
}

TEST_CASE("a batch is at most kMaxBatch keys and says whether more are there") {
  Pipe pipe;
  for (std::size_t i = 0; i < bf::KeyReader::kMaxBatch; ++i) pipe.put("x\n");
  bf::KeyReader reader(pipe.output(), "pipe", '\n');
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
      bf::KeyReader reader(pipe.output(), "the-source", '\n', buffer_bytes, 100);
      std::vector<std::string_view> batch;
      if (length <= 100) {
        REQUIRE(reader.next(batch));
        CHECK(batch.at(0).size() == length);
      } else {
        CHECK_THROWS_WITH_AS(reader.next(batch), doctest::Contains("the-source: a key is longer than 100 bytes"),
                             bf::Failure);
      }
    }
  }
}

TEST_CASE("only a first line that ends in CR LF counts as one") {
  const auto ends_in_cr = [](std::string_view text, char separator) {
    Pipe pipe;
    pipe.put(text);
    pipe.close_input();
    bf::KeyReader reader(pipe.output(), "pipe", separator, 2);
    std::vector<std::string_view> batch;
    while (reader.next(batch)) {
    }
    return reader.first_line_ends_in_cr();
  };
  CHECK(ends_in_cr("abc\r\nd", '\n'));
  CHECK(ends_in_cr("\r\n", '\n'));
  CHECK(!ends_in_cr("abc\nd\r\n", '\n'));
  CHECK(!ends_in_cr("abc\r", '\n'));
  CHECK(!ends_in_cr("a\rb\n", '\n'));
  CHECK(!ends_in_cr(std::string_view("a\r\0", 3), '\0'));
}

TEST_CASE("a descriptor that can not be read is a failure that names the source") {
  std::vector<std::string_view> batch;
  bf::KeyReader closed(-1, "closed", '\n');
  CHECK_THROWS_WITH_AS(closed.next(batch), doctest::Contains("closed: cannot read the keys"), bf::Failure);
}
