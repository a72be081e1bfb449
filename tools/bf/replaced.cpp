// See replaced.hpp.
#include "replaced.hpp"

#include "damaged.hpp"
#include "failures.hpp"
#include "filter_use.hpp"
#include "key_form_line.hpp"
#include "list_kind.hpp"
#include "numbers.hpp"

#include <bfstore/seal.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

namespace bf {
namespace {

using bfstore::ReportedIdentity;

constexpr const char* kAdvice =
    "To put an old copy back, take the three steps of bf copy --help (--filling). If these keys may go: --accept-loss.";

std::string name_of(bfstore::Layout layout) { return bfstore::layout_of(layout)->name; }

std::string bits_do_not_show(bfstore::Layout layout) {
  return "has the layout " + name_of(layout) + ", whose bits do not show its keys";
}

// True if the larger filter can be folded to the size of the smaller one.
bool fold_onto_each_other(std::uint64_t one, std::uint64_t other) { return one % other == 0 || other % one == 0; }

// Returns why the bits of a valid filter cannot be compared with those of the new one, or "".
std::string why_not_comparable(const ReportedIdentity& old, const bfstore::Shape& made) {
  const auto layout = static_cast<bfstore::Layout>(old.layout);
  if (layout != made.layout)
    return "has the layout " + name_of(layout) + ", and the new file the layout " + name_of(made.layout);
  if (bfstore::layout_of(layout)->can.build) return bits_do_not_show(layout);
  if (static_cast<bfstore::Hash>(old.hash) != made.hash) return "has another hash than the new file";
  if (old.seed != made.seed) return "has another seed than the new file";
  if (old.num_probes != made.num_probes) return "has another number of probes than the new file";
  if (!fold_onto_each_other(old.num_bits, made.num_bits))
    return "has a size that is neither a multiple nor a divisor of the new file's";
  return "";
}

// The same for what only the open filters tell.
std::string why_not_comparable(const bfstore::Differences& differ) {
  return differ.part ? "is another part than the new file" : "has other seeds than the new file";
}

// Bytes of a file, from an offset on.
class Bytes {
 public:
  Bytes(const std::string& path, std::uint64_t offset) : file_(path, std::ios::binary) {
    file_.seekg(static_cast<std::streamoff>(offset));
  }

  // Fills the buffer, or returns false.
  bool read(std::span<char> buffer) {
    return static_cast<bool>(file_.read(buffer.data(), static_cast<std::streamsize>(buffer.size())));
  }

 private:
  std::ifstream file_;
};

// True if each bit of `whole` in the place of this part is a bit of the part.
bool has_bits_of(const std::string& part_path, const ReportedIdentity& part, const std::string& whole_path,
                 const ReportedIdentity& whole) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
  std::vector<char> ours(kPiece);
  std::vector<char> others(kPiece);
  Bytes own(part_path, part.body_offset);
  Bytes other(whole_path, whole.body_offset + part.part->part.number * part.body_bytes);
  for (std::uint64_t left = part.body_bytes; left != 0;) {
    const std::size_t size = std::min(left, kPiece);
    if (!own.read(std::span(ours).first(size)) || !other.read(std::span(others).first(size))) return false;
    for (std::size_t i = 0; i < size; ++i) {
      if ((others[i] & ~ours[i]) != 0) return false;
    }
    left -= size;
  }
  return true;
}

// " of about 5 keys". The count of a window has keys that expired.
std::string about_keys(const bfstore::Report& report) {
  if (!report.keys_added || !report.keys_removed || report.turning) return "";
  return " of about " + key_words(*report.keys_added - std::min(*report.keys_removed, *report.keys_added));
}

// A wrong secret would be noticed only by readers.
void refuse_other_secret(const Arguments& arguments) {
  const std::string ways =
      " Give its secret (--secret-file), so that its readers continue. For a new one give --hash siphash, too; for "
      "none, "
      "--hash xxh3.";
  if (!arguments.secret) throw Failure(arguments.file + ": the filter that is replaced has a secret." + ways);
  const auto old = open_filter_at(arguments.file, arguments, bfstore::OpenMode::kRead);
  if (!old.ok() && old.error().code == bfstore::Code::kSecret)
    throw Failure(arguments.file + ": the filter that is replaced has another secret." + ways);
}

}  // namespace

bool is_sealed(const std::string& file) {
  const auto report = bfstore::inspect(file, false);
  return report.ok() && report->identity && report->identity->seal;
}

Replaced::Replaced(const Arguments& arguments, std::string path) : arguments_(arguments), path_(std::move(path)) {
  refuse_no_filter(arguments, path_);
  const bfstore::Options& options = arguments.options;
  if (!options.replace || options.filling || arguments.accept_loss) return;
  auto found = bfstore::inspect(path_, false);
  if (!found.ok() && found.error().code == bfstore::Code::kNotFound) return;
  const bfstore::Report report = unwrap(std::move(found), path_);
  if (report.file_bytes == 0) return;
  if (!report.valid()) {
    problem_ = "is no filter file, or damaged (" + std::string(bfstore::code_name(report.problems.front().code)) + ")";
  }
  identity_ = report.identity;
}

bool Replaced::has_the_keys_of(const std::string& name) const {
  if (!identity_ || !identity_->seal) return false;
  const auto made = bfstore::inspect(name, false);
  return made.ok() && made->valid() && made->identity->file_id == identity_->file_id &&
         made->identity->seal == identity_->seal;
}

void Replaced::refuse_damaged(const std::string& name) const {
  std::string what = problem_;
  if (what.empty() && identity_ && identity_->seal) {
    const auto found = bfstore::verify(path_);
    if (found.ok() && !found->damaged.empty()) what = "is damaged";
  }
  if (what.empty()) return;
  const std::string has_them =
      "If " + name + " was copied from this file after its last key came, or if these keys " + "may go: --accept-loss.";
  const auto source = bfstore::inspect(name, false);
  std::string way_out = kAdvice;
  if (identity_ && identity_->seal) {
    way_out = "Give an undamaged copy of this same sealed file (bf seal COPY " + path_ +
              " --force), or build it again (" + tools::build_again(path_) + "). " + has_them;
  } else if (source.ok() && source->identity && source->identity->seal) {  // nothing is added to it
    way_out = "Build it again (bf build --force" + tools::layout_to_keep(*source) + "). " + has_them;
  }
  throw Failure(path_ + ": " + what + ", so bf cannot tell whether keys would be lost that " + name +
                " lacks. They would be called absent. " + way_out);
}

void Replaced::fail(const std::string& name) const {
  throw Failure(path_ + ": may have keys that " + name + " lacks, and they would be called absent. " + kAdvice);
}

// A killed add may have set bits that it did not count, and the one key of a static filter may have none. Bits that the
// file lost in a crash, and keys that a filling still lacks, are not in the body.
bool Replaced::has_no_keys() const {
  using State = bfstore::FileState;
  const auto report = bfstore::inspect(path_);
  if (!report.ok() || !report->valid() || report->filling) return false;
  const bool whole =
      report->state == State::kClean || report->state == State::kInUse || report->state == State::kAdoptable;
  return whole && report->fill && report->fill->set_bits == 0 && report->keys_added == report->keys_removed;
}

void Replaced::refuse_unless_empty(const std::string& why) const {
  if (has_no_keys()) return;
  throw Failure(path_ + ": " + why +
                ", so bf cannot tell whether keys would be lost. They would be called absent. If its keys may go, "
                "replace it with --force --accept-loss.");
}

std::optional<bfstore::Filter> Replaced::opened(const std::string& name) const {
  auto old = open_filter_at(path_, arguments_, bfstore::OpenMode::kRead);
  if (old.ok() && old->health() == bfstore::Code::kOk) return std::move(old).value();
  if (old.ok() || old.error().code != bfstore::Code::kSecret) fail(name);
  refuse_unless_empty("has another secret than the new file");
  return std::nullopt;
}

void Replaced::refuse_loss(const bfstore::Filter& made, const std::string& name) const {
  if (!is_there() || made.health() != bfstore::Code::kOk) return;  // the library says what `made` is
  refuse_damaged(name);
  const bfstore::Shape shape = made.shape();
  if (const std::string why = why_not_comparable(*identity_, shape); !why.empty()) return refuse_unless_empty(why);
  const auto old = opened(name);
  if (!old) return;
  const auto comparison = old->compare(made);
  if (comparison.ok() && !comparison->comparable) return refuse_unless_empty(why_not_comparable(comparison->differ));
  if (comparison.ok() && comparison->a_in_b) return;
  if (!comparison.ok() && comparison.error().code == bfstore::Code::kUnsupported)
    return refuse_unless_empty(bits_do_not_show(shape.layout));
  if (bfstore::layout_of(shape.layout)->can.remove)
    return refuse_unless_empty("has counters that the new file lacks, of keys that were removed or of others");
  fail(name);
}

void Replaced::refuse_loss_of_file(const bfstore::Filter& made, const std::string& path) const {
  if (!has_the_keys_of(path)) refuse_loss(made, path);
}

// The intersection has a bit if each of the filters has it.
void Replaced::refuse_loss_of_each(std::span<const bfstore::Filter> filters) const {
  for (std::size_t i = 0; i < filters.size(); ++i) refuse_loss_of_file(filters[i], arguments_.sources[i]);
}

void Replaced::refuse_loss_of_parts(std::span<const bfstore::Filter> parts) const {
  if (!is_there()) return;
  refuse_damaged(arguments_.sources.front());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& path = arguments_.sources[i];
    const auto report = bfstore::inspect(path, false);
    if (!report.ok() || !report->valid() || !report->identity->part) return;  // the library says why it cannot join
    const ReportedIdentity& part = *report->identity;
    bfstore::Shape whole = parts[i].shape();
    whole.num_bits *= part.part->part.parts;
    std::string why = why_not_comparable(*identity_, whole);
    if (why.empty() && bfstore::layout_of(whole.layout)->can.remove)
      why = "has counters, which bf does not compare with those of parts";
    if (why.empty() && identity_->part) why = "is a part, and the new file is a whole filter";
    if (why.empty() && whole.num_bits != identity_->num_bits) why = "has another size than the new file";
    if (!why.empty()) return refuse_unless_empty(why);
    if (opened(path) && !has_bits_of(path, part, path_, *identity_)) fail(path);
  }
}

void refuse_no_filter(const Arguments& arguments, const std::string& path) {
  if (!arguments.options.replace || may_be_replaced(path)) return;
  throw Failure(path +
                ": is no filter, and --force replaces filters alone. Choose another name, or move it away first " +
                "(mv).");
}

void keep_hash_of_replaced(const Arguments& arguments, bfstore::Options& options) {
  if (!options.replace || !options.like.empty() || options.hash || options.seed) return;
  const auto found = bfstore::inspect(arguments.file, false);
  if (!found.ok() || !found->valid()) return;
  const auto hash = bfstore::hash_of(static_cast<bfstore::Hash>(found->identity->hash));
  if (!hash || hash->gives_positions || !hash->takes_keys) return;
  if (hash->takes_secret) refuse_other_secret(arguments);
  options.hash = hash->hash;
  if (hash->takes_seed) options.seed = found->identity->seed;
}

std::string with_form_of_replaced(const Arguments& arguments, std::string note) {
  if (!arguments.options.replace || !arguments.options.like.empty() || form_in_note(note, "--note")) return note;
  const auto found = bfstore::inspect(arguments.file, false);
  if (!found.ok() || !found->valid()) return note;
  const auto form = form_in_note(found->identity->note.value_or(""), arguments.file);
  return form ? with_form(std::move(note), *form) : note;
}

Displaced::Displaced(const Arguments& arguments) : arguments_(arguments) {
  if (!arguments.options.replace) return;
  const auto found = bfstore::inspect(arguments.file, false);
  if (!found.ok() || found->file_bytes == 0) return;
  is_there_ = true;
  identity_ = found->identity;
  const bool is_in_use = found->state == bfstore::FileState::kInUse;
  if (found->identity && found->keys_added == 0 && !is_in_use) return;  // it has none to lose
  what_ = found->identity ? "a filter" + about_keys(*found) : "a damaged filter";
  in_use_ = is_in_use;
}

std::string Displaced::lost(const bfstore::Stats& made, const std::string& note) const {
  std::string words;
  const auto layout = bfstore::layout_of(bfstore::Layout{identity_->layout});
  const std::string option =
      layout && layout->layout != made.shape.layout ? std::string(" --layout ") + layout->name : "";
  const std::uint64_t window_ms = identity_->window_ms.value_or(0);
  if (window_ms != 0 && (!made.turning || made.turning->window_ms != window_ms)) {
    words += " It had a window of " + time_words(window_ms) + " (bf build" + option + " --window " +
             time_option(window_ms) + ").";
  } else if (!option.empty()) {
    words += std::string(" It had the layout ") + layout->name + " (bf build" + option + ").";
  }
  const std::string& file = arguments_.file;
  if (identity_->seal && !is_sealed(file))
    words += " It was sealed" + std::string(layout && layout->can.build
                                                ? "."
                                                : ": bf seal " + file + " " + file + " --force seals the new one.");
  const std::string old = identity_->note.value_or("");
  const std::string own_words = old.substr(0, old.find(tools::kKeyFormLine));
  if (!own_words.empty() && !note.starts_with(own_words)) words += " Its note is gone.";
  return words;
}

void Displaced::report(const bfstore::Stats& made, const std::string& note) const {
  if (!is_there_) return;
  const auto form_of = [](const std::string& of) { return std::string(tools::key_form_in(of).value_or("text")); };
  const std::string old_form = identity_ ? form_of(identity_->note.value_or("")) : "";
  const std::string other_form = identity_ && old_form != form_of(note)
                                     ? " Its keys had the form " + old_form + ", and the new ones have the form " +
                                           form_of(note) +
                                           ": a program that makes its keys in the old form looks for others."
                                     : "";
  if (what_.empty()) {
    if (!other_form.empty()) warn(arguments_.file + ": replaced an empty filter." + other_form);
    return;
  }
  const bfstore::Shape& shape = made.shape;
  const bool goes_on = !identity_ || (static_cast<std::uint16_t>(shape.hash) == identity_->hash &&
                                      (shape.hash != bfstore::Hash::kXxh3 || shape.seed == identity_->seed));
  warn(arguments_.file + ": replaced " + what_ + ". Its keys were not compared with those of the new file" +
       (in_use_ ? ", and a writer had it open, which gets an error." : ".") + (identity_ ? lost(made, note) : "") +
       other_form +
       (goes_on ? "" : " Readers that follow the path answer maybe until they open it again: another hash or seed."));
}

}  // namespace bf
