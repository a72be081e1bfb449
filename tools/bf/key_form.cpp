// See key_form.hpp.
#include "key_form.hpp"

#include "failures.hpp"
#include "key_form_line.hpp"

#include <bfstore/options.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

namespace bf {
namespace {

// As ASCII alone, in every locale.
bool make_upper(std::string& key) {
  for (char& c : key) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return true;
}

bool make_lower(std::string& key) {
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return true;
}

bool keep(std::string& /*key*/) { return true; }

std::optional<unsigned> digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool make_bytes(std::string& key) {
  if (key.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < key.size(); i += 2) {
    const auto high = digit_of(key[i]);
    const auto low = digit_of(key[i + 1]);
    if (!high || !low) return false;
    key[i / 2] = static_cast<char>(*high * 16 + *low);
  }
  key.resize(key.size() / 2);
  return true;
}

bool take_json(std::string& key) {
  constexpr bool kThrows = false;
  const auto value = nlohmann::json::parse(key, nullptr, kThrows);
  if (value.is_discarded()) return false;
  if (value.is_string()) {
    key = value.get_ref<const std::string&>();
    return true;
  }
  constexpr const char* kBlanks = " \t\r\n";
  key.erase(key.find_last_not_of(kBlanks) + 1);
  key.erase(0, key.find_first_not_of(kBlanks));
  return true;
}

template <class Number>
std::string lowest_first(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <class Number>
bool make_number(std::string& key) {
  const auto number = number_in<Number>(key);
  if (number) key = lowest_first(static_cast<std::make_unsigned_t<Number>>(*number));
  return number.has_value();
}

// A NaN has many values, and the other program's is not known.
template <class Number, class Bits>
bool make_floating(std::string& key) {
  const auto number = number_in<Number>(key);
  if (!number || std::isnan(*number)) return false;
  key = lowest_first(std::bit_cast<Bits>(*number));
  return true;
}

// Returns the code point at the beginning of the text, and removes it. Empty if the bytes there are not UTF-8.
std::optional<std::uint32_t> next_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || text.size() < length) return std::nullopt;
  constexpr std::array<unsigned, 5> kFirstBits{0, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t point = first & kFirstBits[length];
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80) return std::nullopt;
    point = point << 6 | (next & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = point >= 0xd800 && point < 0xe000;
  if (point < kLeast[length] || point > 0x10ffff || is_surrogate) return std::nullopt;
  text.remove_prefix(length);
  return point;
}

bool make_utf16(std::string& key) {
  std::string units;
  for (std::string_view rest = key; !rest.empty();) {
    const auto point = next_code_point(rest);
    if (!point) return false;
    if (*point < 0x10000) {
      units += lowest_first(static_cast<std::uint16_t>(*point));
    } else {
      units += lowest_first(static_cast<std::uint16_t>(0xd800 + ((*point - 0x10000) >> 10)));
      units += lowest_first(static_cast<std::uint16_t>(0xdc00 + ((*point - 0x10000) & 0x3ff)));
    }
  }
  key = std::move(units);
  return true;
}

// Notes of filters keep these names, so no name and no meaning ever changes.
constexpr KeyStep kText{"text", "the line itself", keep};
constexpr std::array kSteps{
    kText,
    KeyStep{"upper", "with A to Z for a to z", make_upper},
    KeyStep{"lower", "with a to z for A to Z", make_lower},
    KeyStep{"hex", "two hexadecimal digits for each byte", make_bytes},
    KeyStep{"json", "a JSON string, for its characters, or another JSON value, for its text", take_json},
    KeyStep{"utf16le", "UTF-8, for its UTF-16 with the lower byte first (Guava's unencodedCharsFunnel)", make_utf16},
    KeyStep{"int32le", "a decimal number, for 4 bytes, the lowest first (Guava's integerFunnel, Parquet)",
            make_number<std::int32_t>},
    KeyStep{"int64le", "a decimal number, for 8 bytes, the lowest first (Guava's longFunnel, Parquet)",
            make_number<std::int64_t>},
    KeyStep{"double", "a decimal number, for the 8 bytes of an IEEE double, the lowest first; 0 and -0 are two keys",
            make_floating<double, std::uint64_t>},
    KeyStep{"float", "a decimal number, for the 4 bytes of an IEEE float, the lowest first; 0 and -0 are two keys",
            make_floating<float, std::uint32_t>},
};

}  // namespace

std::optional<KeyForm> KeyForm::named(std::string_view text) {
  KeyForm form;
  for (bool more = true; more;) {
    const std::string_view name = text.substr(0, text.find(','));
    const auto* const step =
        std::find_if(kSteps.begin(), kSteps.end(), [&](const KeyStep& one) { return one.name == name; });
    if (step == kSteps.end()) return std::nullopt;
    if (step->apply != keep) form.steps_.push_back(step);
    more = name.size() < text.size();
    text.remove_prefix(name.size() + (more ? 1 : 0));
  }
  return form;
}

std::string KeyForm::name() const {
  if (is_text()) return kText.name;
  std::string names;
  for (const KeyStep* step : steps_) names += (names.empty() ? "" : ",") + std::string(step->name);
  return names;
}

const char* KeyForm::last_step() const { return is_text() ? kText.name : steps_.back()->name; }

const KeyStep* KeyForm::apply(std::string& key) const {
  for (const KeyStep* step : steps_) {
    if (!step->apply(key)) return step;
  }
  return nullptr;
}

std::vector<std::string> key_step_names() {
  std::vector<std::string> names;
  for (const KeyStep& step : kSteps) names.emplace_back(step.name);
  return names;
}

std::span<const KeyStep> key_steps() { return kSteps; }

KeyForm parse_key_form(const std::string& option, const std::string& text) {
  if (const auto form = KeyForm::named(text)) return *form;
  std::string names;
  for (const std::string& name : key_step_names()) names += (names.empty() ? "" : ", ") + name;
  throw Failure(option + ": '" + text + "' is not a form of keys. Give one of " + names +
                ", or several, joined by a comma.");
}

KeyMaker::KeyMaker(KeyForm form, std::string list) : form_(std::move(form)), list_(std::move(list)) {}

std::span<const std::string_view> KeyMaker::keys_of(std::span<const std::string_view> lines) {
  if (form_.is_text()) return lines;
  bytes_.clear();
  std::vector<std::size_t> sizes;
  std::string key;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    key = lines[i];
    if (const KeyStep* const step = form_.apply(key)) refuse(lines[i], i, *step);
    bytes_ += key;
    sizes.push_back(key.size());
  }
  lines_ += lines.size();
  keys_.clear();
  std::size_t begin = 0;
  for (const std::size_t size : sizes) {
    keys_.push_back(std::string_view(bytes_).substr(begin, size));
    begin += size;
  }
  return keys_;
}

void KeyMaker::refuse(std::string_view line, std::size_t number, const KeyStep& step) const {
  constexpr std::size_t kMost = 100;
  const std::string shown = std::string(line.substr(0, kMost)) + (line.size() > kMost ? "..." : "");
  throw BadList(list_ + ": key " + std::to_string(lines_ + number + 1) + " ('" + shown + "') has not the form " +
                step.name + ": " + step.about + ".");
}

std::optional<KeyForm> form_in_note(const std::string& note, const std::string& file) {
  const auto name = tools::key_form_in(note);
  if (!name) return std::nullopt;
  if (auto form = KeyForm::named(*name)) return form;
  throw Failure(file + ": its note says that its keys have the form '" + std::string(*name) +
                "', which this bf does not know. Use the bf that made it, or a later one.");
}

KeyForm form_of_keys(const std::string& note, const std::optional<KeyForm>& given, const std::string& file) {
  const auto named = form_in_note(note, file);
  if (!named) return given.value_or(KeyForm());
  if (given && given->name() != named->name())
    throw Failure(file + ": its keys have the form " + named->name() + ", so the form " + given->name() +
                  " would make every answer no. Leave --key-form out.");
  return *named;
}

namespace {

// " --key-form lower", if the user gave a form that no note names.
std::string unnoted(const std::string& note, const std::optional<KeyForm>& given, const std::string& file) {
  return given && !given->is_text() && !form_in_note(note, file) ? " --key-form " + given->name() : std::string();
}

}  // namespace

void refuse_to_add_unnoted(const std::string& note, const std::optional<KeyForm>& given, const std::string& file) {
  const std::string form = unnoted(note, given, file);
  if (form.empty()) return;
  throw Failure(file + ": its note names no form of keys, so bf contains would look for keys of the form text. Make " +
                "a file with that form (bf create" + form + "). If all keys of this one have it: bf merge NEW " + file +
                form + ".");
}

void refuse_to_ask_unnoted(const std::string& note, const std::optional<KeyForm>& given, const std::string& file) {
  const std::string form = unnoted(note, given, file);
  if (form.empty()) return;
  throw Failure(file + ": its note names no form of keys. If its lines were taken as they are, the form " +
                given->name() + " would make every answer no: leave --key-form out. If all of its keys have that " +
                "form: bf merge NEW " + file + form + ", and ask NEW.");
}

OneForm::OneForm(std::optional<KeyForm> given, std::string way_out)
    : given_(std::move(given)),
      way_out_(std::move(way_out)),
      form_(given_.value_or(KeyForm())),
      is_named_(given_.has_value()) {}

// A filter whose note names no form may have keys in any one: only the user knows.
void OneForm::take(const std::string& note, const std::string& file) {
  const KeyForm its = form_of_keys(note, given_, file);
  const bool named = given_ || form_in_note(note, file);
  is_named_ = is_named_ || named;
  is_noted_ = is_noted_ || form_in_note(note, file);
  if (file_.empty()) {
    file_ = file;
    form_ = its;
    note_ = note;
    first_is_named_ = named;
    return;
  }
  is_same_note_ = is_same_note_ && note == note_;
  if (its.name() == form_.name()) return;
  std::string words = file + ": its keys have the form " + its.name() + ", and those of " + file_ + " the form " +
                      form_.name() + ". " + way_out_;
  if (named != first_is_named_)
    words += " The note of " + (named ? file_ : file) + " names no form: if its keys have the other one, too, give " +
             "--key-form " + (named ? its : form_).name() + ".";
  throw Failure(words);
}

void OneForm::refuse_to_ask() const {
  if (!is_noted_) refuse_to_ask_unnoted("", given_, file_);
}

std::string OneForm::note() const {
  const std::string same = is_same_note_ ? note_ : std::string();
  return !is_named_ || form_in_note(same, file_) ? same : with_form(same, form_);
}

std::string with_form(std::string note, const KeyForm& form) {
  if (!note.empty() && !note.ends_with('\n')) note += '\n';
  note.append(tools::kKeyFormLine).append(form.name());
  if (note.size() <= bfstore::kMaxNoteBytes) return note;
  throw Failure("--note: " + std::to_string(note.size()) + " bytes with the form of the keys are too long: at most " +
                std::to_string(bfstore::kMaxNoteBytes) + ".");
}

}  // namespace bf
