// How a line of a list becomes the bytes of a key: other programs have keys that are not lines of text. A form is one
// step or several, applied in order. A new step is a row of the table in key_form.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cstddef>
#include <cstdint>

namespace bf {

struct KeyStep {
  const char* name;
  const char* about;                // a few words for the help and for errors
  bool (*apply)(std::string& key);  // false: the text has no such key
};

class KeyForm {
 public:
  // The form `text`: the line itself.
  KeyForm() = default;
  // Reads "lower,hex". Empty if a step is unknown.
  static std::optional<KeyForm> named(std::string_view text);

  [[nodiscard]] std::string name() const;
  // The name of the step that makes the bytes.
  [[nodiscard]] const char* last_step() const;
  [[nodiscard]] bool is_text() const noexcept { return steps_.empty(); }
  // Turns a line into its key. Returns the step that the line does not fit, or nullptr.
  [[nodiscard]] const KeyStep* apply(std::string& key) const;

 private:
  std::vector<const KeyStep*> steps_;
};

// "text, upper, ...": what an option takes.
std::vector<std::string> key_step_names();
std::span<const KeyStep> key_steps();
// Reads the value of an option. Throws Failure.
KeyForm parse_key_form(const std::string& option, const std::string& text);

// Makes the keys of the lines of one list.
class KeyMaker {
 public:
  // `list` names it in messages.
  KeyMaker(KeyForm form, std::string list);

  // Returns the keys of the next lines. They are valid until the next call, and as long as the lines. Throws BadList.
  std::span<const std::string_view> keys_of(std::span<const std::string_view> lines);

 private:
  [[noreturn]] void refuse(std::string_view line, std::size_t number, const KeyStep& step) const;

  KeyForm form_;
  std::string list_;
  std::uint64_t lines_ = 0;  // before these
  std::string bytes_;
  std::vector<std::string_view> keys_;
};

// The form that a note names, if it names one. Throws Failure if it is unknown. `file` has the note.
std::optional<KeyForm> form_in_note(const std::string& note, const std::string& file);

// The form of the keys of a file with this note: the one that the note names, or `given`. Throws Failure if both are
// there and differ.
KeyForm form_of_keys(const std::string& note, const std::optional<KeyForm>& given, const std::string& file);

// Throws Failure if this form, which was given, is not that of keys whose note names none. A note is never changed
// while others have the file open, so commands that read keys later would make other keys of the lines that are added
// now.
void refuse_to_add_unnoted(const std::string& note, const std::optional<KeyForm>& given, const std::string& file);
// The same for a command that asks: bf added the keys as they are, and another form would make every answer no.
void refuse_to_ask_unnoted(const std::string& note, const std::optional<KeyForm>& given, const std::string& file);

// The form that the keys of several filters have, to ask or to unite them: one form for all.
class OneForm {
 public:
  // `given`: --key-form. `way_out` ends the message about two that differ.
  OneForm(std::optional<KeyForm> given, std::string way_out);

  // Takes the next filter. Throws Failure if its keys have another form than those of the first one.
  void take(const std::string& note, const std::string& file);

  [[nodiscard]] const KeyForm& form() const noexcept { return form_; }
  // Throws Failure if no note names the form that was given: see refuse_to_ask_unnoted().
  void refuse_to_ask() const;
  // The note of a file with keys of all of them: the note that all have, or the line alone that names the form.
  [[nodiscard]] std::string note() const;

 private:
  std::optional<KeyForm> given_;
  std::string way_out_;
  KeyForm form_;
  bool is_named_;       // by a note, or given
  std::string file_{};  // the first one
  std::string note_{};
  bool first_is_named_ = false;
  bool is_noted_ = false;  // by a note
  bool is_same_note_ = true;
};

// Adds a line to the note that names the form. Throws Failure if the note is too long then.
std::string with_form(std::string note, const KeyForm& form);

}  // namespace bf
