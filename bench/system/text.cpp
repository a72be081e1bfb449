// Measures filters from text: bf builds, adds and asks. Compares it with wc -l, which only reads the text, and sort -u.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "children.hpp"
#include "filters.hpp"
#include "row.hpp"

namespace bench::system {
namespace {

constexpr std::size_t kLeastBytes = 16;
constexpr std::size_t kMostBytes = 32;

// `count` lines. Each begins with ten digits of its number and continues with random digits, so no two are equal. They
// are in no order, because otherwise sort would have nothing to do.
void write_lines(const std::string& path, std::uint64_t count) {
  constexpr std::array kDigits{'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  std::mt19937_64 random(1);
  std::ofstream file(path, std::ios::binary);
  for (std::uint64_t i = 0; i < count; ++i) {
    // Multiplying by an odd number is a bijection of 40 bits, which are ten of the digits.
    std::array<std::uint64_t, 2> bits{i * 0x9e3779b97fU & 0xff'ffff'ffffU, random()};
    std::array<char, kMostBytes + 1> line{};
    for (std::size_t digit = 0; digit < kMostBytes; ++digit) {
      std::uint64_t& from = bits[digit < 10 ? 0 : 1];
      line[digit] = kDigits[from & 15U];
      from = from >> 4U | from << 60U;
    }
    const std::size_t length = kLeastBytes + (random() >> 32U) % (kMostBytes - kLeastBytes + 1);
    line[length] = '\n';
    file.write(line.data(), static_cast<std::streamsize>(length + 1));
  }
  if (!file.flush()) fail(path + ": can not be written");
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The text, the filter made of it, and the programs' output.
class Text {
 public:
  Text(std::uint64_t count, const Places& places)
      : count_(count),
        bf_(places.bf),
        lines_(places.folder + "/lines.txt"),
        filter_(places.folder + "/lines.bf"),
        output_(places.folder + "/output") {}

  Measured count_lines() {
    const Measured measured = time({"wc", "-l", lines()});
    expect(text_of(output_).starts_with(std::to_string(count_) + ' '), "wc counts other lines");
    return measured;
  }

  Measured sort() {
    const std::string sorted = lines() + ".sorted";
    const Measured measured = time({"env", "LC_ALL=C", "sort", "-u", "-S", "2G", "-o", sorted, lines()});
    expect(std::filesystem::file_size(sorted) == std::filesystem::file_size(lines()), "sort finds lines twice");
    std::filesystem::remove(sorted);
    return measured;
  }

  Measured build(bool with_capacity) {
    find_bf();
    std::filesystem::remove(filter_);
    std::vector<std::string> command{bf_, "build", filter_, "--from", lines(), "--bits-per-key", "10", "-q"};
    if (with_capacity) command.insert(command.end(), {"--capacity", std::to_string(count_)});
    const Measured measured = time(command);
    check_filter();
    return measured;
  }

  Measured build_of_pipe() {
    find_bf();
    std::filesystem::remove(filter_);
    const std::string build = "'" + bf_ + "' build '" + filter_ + "' --from - --bits-per-key 10 -q";
    const Measured measured = time({"sh", "-c", "cat '" + lines() + "' | " + build});
    check_filter();
    return measured;
  }

  Measured add() {
    find_bf();
    std::filesystem::remove(filter_);
    check(make_file(filter_, count_, kBitsPerKey).close());
    const Measured measured = time({bf_, "add", filter_, "--from", lines(), "-q"});
    check_filter();
    return measured;
  }

  Measured ask() {
    find_bf();
    if (!std::filesystem::exists(filter_)) build(true);
    const Measured measured = time({bf_, "contains", filter_, "--from", lines(), "--count"});
    check_answers();
    return measured;
  }

 private:
  void find_bf() const {
    if (bf_.empty()) throw Unmeasurable("bf was not built with this program; name one with --bf");
  }

  const std::string& lines() {
    if (!std::filesystem::exists(lines_)) write_lines(lines_, count_);
    return lines_;
  }

  Measured time(const std::vector<std::string>& command) {
    const Run run = run_program(command, output_);
    return {run.seconds, {{"num_keys", static_cast<double>(count_)}, {"cpu_seconds", run.cpu}}};
  }

  static void expect(bool truth, const char* otherwise) {
    if (!truth) fail(otherwise);
  }

  void check_filter() {
    run_program({bf_, "contains", filter_, "--from", lines(), "--count"}, output_);
    check_answers();
  }

  void check_answers() {
    expect(text_of(output_) == "maybe\t" + std::to_string(count_) + "\nabsent\t0\n", "bf says a wrong no");
  }

  std::uint64_t count_;
  std::string bf_;
  std::string lines_;
  std::string filter_;
  std::string output_;
};

}  // namespace

Rows text_rows(const Scale& scale, const Places& places) {
  auto text = std::make_shared<Text>(scale.lines, places);
  return {{"text/wc -l", [=] { return text->count_lines(); }},
          {"text/sort -u", [=] { return text->sort(); }},
          {"text/bf build", [=] { return text->build(false); }},
          {"text/bf build --capacity", [=] { return text->build(true); }},
          {"text/bf build of a pipe", [=] { return text->build_of_pipe(); }},
          {"text/bf add", [=] { return text->add(); }},
          {"text/bf contains", [=] { return text->ask(); }}};
}

}  // namespace bench::system
