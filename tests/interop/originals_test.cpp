// Every file that another program made (tests/data/foreign/files.tsv, by tests/originals/make.py): bfstore asks it in
// place and imports it, has every key, has exactly the false positives of that program, and exports the same bytes.
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "base/bytes.hpp"
#include "foreign.hpp"
#include "hash/utf16.hpp"

using namespace foreign;

namespace {

// These say more than a file of bfstore keeps: flags, words of their owner, or the number of a later filter of a chain.
// An export has the usual values there.
const std::set<std::string> kSayMore{"bip37.tweak-0.bloom", "dcso.data.bloom", "redisbloom.no-scaling.dump"};

// Nothing in their bytes tells the format.
const std::set<std::string> kUnmarked{"java-bytes", "leveldb", "raw"};

// Their files have the bits as text.
const std::set<std::string> kTexts{"bits-and-blooms-json"};

constexpr std::uint32_t kAbsent = 1'000'000, kFew = 10'000;

using Line = std::map<std::string, std::string>;

std::string folder() {
  const char* text = std::getenv("FOREIGN_FILES");
  REQUIRE(text != nullptr);
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<Line> lines() {
  std::ifstream file(folder() + "/files.tsv");
  std::string text;
  REQUIRE(std::getline(file, text));
  const std::vector<std::string> columns = split(text, '\t');
  std::vector<Line> all;
  while (std::getline(file, text)) {
    const std::vector<std::string> values = split(text, '\t');
    REQUIRE(values.size() == columns.size());
    Line line;
    for (std::size_t i = 0; i < values.size(); ++i) line[columns[i]] = values[i];
    all.push_back(std::move(line));
  }
  return all;
}

Bytes bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

template <class Integer>
std::string packed(Integer number) {
  std::array<std::byte, sizeof number> bytes;
  base::store(bytes.data(), number);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string in_utf16(const std::string& text) {
  std::string bytes;
  hash::each_utf16_unit(text, [&](std::uint16_t unit) { bytes += packed(unit); });
  return bytes;
}

// pickle.dumps(text, 4) of Python, for up to 255 bytes.
std::string pickled(const std::string& text) {
  return "\x80\x04\x95" + packed(std::uint64_t{text.size() + 4}) + "\x8c" +
         packed(static_cast<std::uint8_t>(text.size())) + text + "\x94.";
}

// The key of this number. The numbers of absent keys follow those of the keys, and their texts have another prefix.
std::string key_of(const std::string& form, const std::string& prefix, std::uint32_t number, std::uint32_t first) {
  if (form == "int32le") return packed(first + number);
  if (form == "int64le") return packed(std::uint64_t{first} + number);
  const std::string text = prefix + std::to_string(number);
  if (form == "utf16le") return in_utf16(text);
  if (form == "pickle4") return pickled(text);
  REQUIRE(form == "utf8");
  return text;
}

struct Found {
  std::uint32_t count = 0;
  std::uint64_t fold = 0xcbf29ce484222325;

  void take(std::uint32_t number) {
    ++count;
    for (unsigned i = 0; i < 4; ++i) fold = (fold ^ (number >> 8 * i & 255)) * 0x100000001b3;
  }
};

// `all`: asks every absent key, and otherwise the first ones.
void check_answers(const Line& line, bool all, const std::function<bool(const std::string& key)>& contains) {
  const std::string& form = line.at("form");
  const auto count = static_cast<std::uint32_t>(std::stoul(line.at("keys")));
  std::uint32_t missing = 0;
  for (std::uint32_t i = 0; i < count; ++i) missing += !contains(key_of(form, line.at("prefix"), i, 0));
  CHECK(missing == 0);
  Found found;
  for (std::uint32_t i = 0; i < (all ? kAbsent : kFew); ++i) {
    if (contains(key_of(form, "absent-", i, kAbsent))) found.take(i);
  }
  CHECK(found.count == std::stoul(line.at(all ? "false_positives" : "false_positives_of_10000")));
  CHECK(found.fold == std::stoull(line.at(all ? "fold" : "fold_of_10000"), nullptr, 16));
}

Options options_of(const Line& line, ForeignForm& as) {
  Options options;
  if (line.at("options") == "-") return options;
  for (const std::string& option : split(line.at("options"), ' ')) {
    const std::string name = option.substr(0, option.find('=')), value = option.substr(option.find('=') + 1);
    if (name == "hash") {
      options.hash = hash_named(value)->hash;
    } else if (name == "num_bits") {
      options.num_bits = std::stoull(value);
    } else if (name == "num_probes") {
      options.num_probes = static_cast<std::uint32_t>(std::stoul(value));
    } else if (name == "seeds") {
      for (const std::string& seed : split(value, ','))
        options.seeds.push_back(static_cast<std::uint32_t>(std::stoul(seed)));
    } else {
      REQUIRE(name == "column");
      as.column = value;
    }
  }
  return options;
}

ForeignForm form_of(const Line& line) {
  const std::string& order = line.at("order");
  if (order == "-") return form(line.at("format"));
  return form(line.at("format"), order == "big" ? BitOrder::kBig : BitOrder::kLittle);
}

void check_export(const std::string& name, const Bytes& bytes, const Filter& filter, const ForeignForm& as,
                  const Options& options) {
  const Bytes made = exported(filter, as);
  if (kSayMore.count(name) == 0) {
    CHECK(made == bytes);
    return;
  }
  CHECK(made != bytes);
  const Filter again = must(imported(made, as, options));
  CHECK(exported(again, as) == made);
  CHECK(exported(again, form("raw", BitOrder::kLittle)) == exported(filter, form("raw", BitOrder::kLittle)));
}

void check_in_place(const Line& line, const ForeignForm& as, const Options& options) {
  const Filter in_place =
      must(Filter::open_foreign(folder() + "/" + line.at("file"), as, options, {.any_filesystem = true}));
  check_answers(line, false, [&](const std::string& key) { return in_place.contains(key); });
  // Many at once.
  std::vector<std::string> keys;
  const auto count = static_cast<std::uint32_t>(std::stoul(line.at("keys")));
  for (std::uint32_t i = 0; i < count; ++i) keys.push_back(key_of(line.at("form"), line.at("prefix"), i, 0));
  for (std::uint32_t i = 0; i < kFew; ++i) keys.push_back(key_of(line.at("form"), "absent-", i, kAbsent));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<std::uint8_t> answers(keys.size());
  CHECK(in_place.contains_keys(Keys::views(views), answers).code() == Code::kOk);
  std::uint32_t other_answers = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) other_answers += in_place.contains(keys[i]) != (answers[i] != 0);
  CHECK(other_answers == 0);
}

// A handle in place is copied and exported as its import.
void check_bits_in_place(const std::string& name, const ForeignForm& as, const Options& options, const Filter& import) {
  const ForeignForm raw = form("raw", BitOrder::kLittle);
  const Filter in_place = must(Filter::open_foreign(folder() + "/" + name, as, options, {.any_filesystem = true}));
  CHECK(exported(in_place, raw) == exported(import, raw));
  CHECK(in_place.stats({.fill = true}).fill->set_bits == import.stats({.fill = true}).fill->set_bits);
}

void check_file(const Line& line) {
  const std::string& name = line.at("file");
  ForeignForm as = form_of(line);
  const Options options = options_of(line, as);
  const Bytes bytes = bytes_of(folder() + "/" + name);
  const ForeignFilter told = must(inspected(bytes, as, options));
  if (kTexts.count(as.format) != 0) {
    check_refused(Filter::open_foreign(folder() + "/" + name, as, options, {.any_filesystem = true}),
                  Code::kUnsupported, {name.c_str(), "Import it"});
  } else {
    check_in_place(line, as, options);
  }

  const auto names = must(recognize_foreign(folder() + "/" + name, {.any_filesystem = true}));
  if (kUnmarked.count(as.format) == 0) {
    REQUIRE(names.size() == 1);
    CHECK(names[0] == as.format);
    // Taken for a format without a mark, it would call every key absent.
    const std::string path = folder() + "/" + name;
    const bool has_weak_mark = as.format == "rbloom";
    for (const char* unmarked : {"java-bytes", "leveldb"}) {
      if (has_weak_mark) continue;
      check_refused(imported(bytes, {.format = unmarked}, {}), Code::kInvalid, {as.format.c_str(), unmarked});
      check_refused(Filter::open_foreign(path, {.format = unmarked}, {}, {.any_filesystem = true}), Code::kInvalid,
                    {as.format.c_str(), unmarked});
    }
  } else {
    CHECK(names.empty());
  }

  std::vector<Filter> filters;
  for (std::uint32_t i = 1; i <= told.filters; ++i) {
    as.member = i;
    filters.push_back(must(imported(bytes, as, options)));
  }
  check_answers(line, kKeyScale == 1, [&](const std::string& key) {
    return std::any_of(filters.begin(), filters.end(), [&](const Filter& filter) { return filter.contains(key); });
  });
  as.member = 0;
  if (told.filters == 1 && kTexts.count(as.format) == 0) check_bits_in_place(name, as, options, filters.front());
  const bool is_written = filters.front().exported_bytes(as).ok();
  if (told.filters == 1 && is_written) check_export(name, bytes, filters.front(), as, options);
}

}  // namespace

TEST_CASE("files of other programs have their keys and their false positives, and come out byte for byte") {
  const std::vector<Line> all = lines();
  CHECK(all.size() >= 36);
  std::set<std::string> say_more;
  for (const Line& line : all) {
    CAPTURE(line.at("file"));
    check_file(line);
    if (kSayMore.count(line.at("file")) != 0) say_more.insert(line.at("file"));
  }
  CHECK(say_more == kSayMore);
}
