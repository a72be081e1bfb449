// See sections.hpp. Each section is a function.
#include "sections.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "key_form_line.hpp"
#include "page.hpp"
#include "text.hpp"
#include "words.hpp"

namespace bfinspect {
namespace {

using bfstore::FileState;
using bfstore::Report;
using bfstore::ReportedIdentity;

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return {};
  const double share = static_cast<double>(part) / static_cast<double>(whole);  // in whole pages, so it may be above 1
  return ", " + percent_text(std::min(share, 1.0)) + " of the body";
}

std::string keys_text(std::uint64_t keys) {
  if (keys == 0) return "unknown";
  return count_text(keys) + (keys == 1 ? " key" : " keys");
}

// A person who knows the seed can choose keys that collide.
constexpr const char* kNotForOthers = "not on this page, since a person who knows it can choose keys that collide";

// How far a file grows. The rows around it are those of now.
void put_slices(Sheet& sheet, const Report& report) {
  if (!report.growing) return;
  const bfstore::Growing& growing = *report.growing;
  sheet.row("slices", std::to_string(growing.num_slices) + " of " + std::to_string(growing.most_slices) + ", each " +
                          std::to_string(growing.growth) + " times as large as the one before");
  sheet.row("made for", keys_text(growing.first.capacity) + " at first, " + count_text(growing.at_most.capacity) +
                            " with " + std::to_string(growing.most_slices) + " slices");
}

void put_shape(Sheet& sheet, const Facts& facts) {
  const ReportedIdentity& id = *facts.report.identity;
  sheet.section("Shape");
  sheet.row("layout", layout_name(id.layout));
  sheet.row("hash", facts.foreign ? hash_names(*facts.foreign)
                                  : hash_name(id.hash) + (id.secret_check ? " (with a secret)" : ""));
  const Body body = body_of(facts.report);
  sheet.row(has_counters(id) ? "counters (m)" : "bits (m)", count_text(body.num_bits));
  sheet.row(is_built_once(id) ? "columns (k)" : "probes (k)", std::to_string(id.num_probes));
  sheet.row("capacity (n)", keys_text(body.capacity));
  put_slices(sheet, facts.report);
  if (id.part) {
    sheet.row("part", std::to_string(id.part->part.number) + " of " + std::to_string(id.part->part.parts) +
                          " (from 0), of " + count_text(id.part->capacity) +
                          (id.part->capacity == 1 ? " key" : " keys"));
  }
  const std::string promised = id.fpr == 0 ? "unknown" : rate_text(id.fpr);
  sheet.row("promised (p)",
            id.fpr != 0 && std::isfinite(id.fpr)
                ? promised + " false positives " + (facts.report.growing ? "when all slices are full" : "at capacity")
                : promised);
  if (std::isfinite(bits_per_key(id))) sheet.row("bits per key", fixed_text(bits_per_key(id), 2));
  if (id.secret_check) {
    sheet.row("secret check", secret_check_text(id.secret_check->tag));
  } else if (id.seeds) {
    sheet.row("seeds", sheet.is_for_others() ? kNotForOthers : seeds_text(*id.seeds));
  } else if (!facts.foreign) {
    sheet.row("seed", sheet.is_for_others() ? kNotForOthers : std::to_string(id.seed));
  }
}

void put_features(Sheet& sheet, const ReportedIdentity& id) {
  const auto put = [&](const char* label, std::uint32_t bits) {
    if (bits != 0) sheet.row(label, std::to_string(bits));
  };
  put("compat", id.compat);
  put("ro_compat", id.ro_compat);
  put("incompat", id.incompat);
}

void put_link(Sheet& sheet, const Facts& facts) {
  if (!facts.link_target.empty()) sheet.row("leads to", escaped(facts.link_target, sheet.ascii()));
}

void put_file(Sheet& sheet, const Facts& facts) {
  const Report& report = facts.report;
  sheet.section("File");
  put_link(sheet, facts);
  if (const auto& id = report.identity) {
    sheet.row("format", format_version(*id) + (id->embedded ? ", embedded" : ""));
    sheet.row("id", hex({reinterpret_cast<const char*>(id->file_id.data()), id->file_id.size()}));
    sheet.row("header", bytes_text(id->header_bytes));
    put_features(sheet, *id);
    sheet.row("body", bytes_text(body_of(report).bytes) + " from byte " + grouped(id->body_offset));
    if (id->seal) {
      sheet.row("sealed", grouped(id->seal->num_chunks) + (id->seal->num_chunks == 1 ? " checksum" : " checksums") +
                              " from byte " + grouped(id->seal->checksums_offset) +
                              (facts.unverified() ? ", not verified" : ""));
    }
  }
  sheet.row("length", bytes_text(report.file_bytes) +
                          (report.bytes_after == 0 ? "" : ": " + tools::bytes_after_words(report.bytes_after)));
  sheet.row("on disk", bytes_text(report.allocated_bytes));
}

// The record with the lower number was the state once.
std::string slot_text(const std::optional<bfstore::ReportedSlot>& slot,
                      const std::optional<bfstore::ReportedSlot>& other) {
  if (!slot) return "missing";
  if (!slot->valid) return "invalid";
  constexpr const char* kNames[] = {"clean", "dirty", "recovering", "recovery, paused"};  // persisted as 1, 2, 3, 4
  const bool known = slot->state >= 1 && slot->state <= 4;
  const std::string name = known ? kNames[slot->state - 1] : "unknown (" + std::to_string(slot->state) + ')';
  const bool is_older = other && other->valid && other->sequence > slot->sequence;
  return (is_older ? "before: " : "") + name + ", sequence " + grouped(slot->sequence);
}

// A slot that is not valid matters to everybody.
void put_slot(Sheet& sheet, const char* name, const std::optional<bfstore::ReportedSlot>& slot,
              const std::optional<bfstore::ReportedSlot>& other) {
  if (sheet.has_details() || !slot || !slot->valid) sheet.row(name, slot_text(slot, other));
}

// Epoch 0 belongs to an owner whose logs have no epochs.
std::string mark_text(const bfstore::OwnerMark& mark) {
  return grouped(mark.mark) + " of owner " + grouped(mark.owner) +
         (mark.epoch != 0 ? ", epoch " + grouped(mark.epoch) : "") +
         (mark.recovered ? ", and its later keys were added again" : "");
}

// Whole numbers of a unit that a person reads.
std::string time_text(std::uint64_t milliseconds) {
  constexpr std::uint64_t kHour = 3'600'000;
  if (milliseconds % kHour == 0) return grouped(milliseconds / kHour) + (milliseconds == kHour ? " hour" : " hours");
  if (milliseconds % 1000 == 0) return grouped(milliseconds / 1000) + (milliseconds == 1000 ? " second" : " seconds");
  return grouped(milliseconds) + " ms";
}

// Minutes say nothing of a window of some seconds.
bool needs_seconds(const bfstore::Turning& turning) { return turning.window_ms < 3'600'000; }

// For how long a key of now is found at most.
std::string longest_text(const bfstore::Turning& turning) {
  if (turning.due) return "for longer the later the turn comes that is due";
  constexpr std::uint64_t kMillisecond = 1'000'000;
  const std::uint64_t others = turning.epochs - 1;
  const std::uint64_t epoch_ms = turning.window_ms / others + (turning.window_ms % others != 0 ? 1 : 0);
  const std::uint64_t began_ms = turning.turned_at / kMillisecond;
  const std::uint64_t seconds =
      began_ms / 1000 + epoch_ms / 1000 * turning.epochs + (began_ms % 1000 + epoch_ms % 1000 * turning.epochs) / 1000;
  return "until " + moment_text(static_cast<std::time_t>(seconds), needs_seconds(turning)) +
         " at most, if each turn comes in time";
}

void put_epoch(Sheet& sheet, const Report& report) {
  if (!report.turning) return;
  const bfstore::Turning& turning = *report.turning;
  sheet.row("window", time_text(turning.window_ms) + ", in " + std::to_string(turning.epochs) + " epochs");
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::string began =
      ", since " + moment_text(static_cast<std::time_t>(turning.turned_at / kSecond), needs_seconds(turning));
  sheet.row("epoch", grouped(turning.epoch) + began + (turning.due ? ". It is over: bf turn" : ""),
            turning.due ? Colour::kWarning : Colour::kNone);
  sheet.row("a key of now", "stays for " + time_text(turning.window_ms) + " at least, and " + longest_text(turning));
}

// The header of a bad file may still say that it is clean.
std::string state_text(const Facts& facts) {
  const FileState state = facts.report.state;
  if (state == FileState::kUnknown) return "unknown. " + state_advice(facts);
  const std::string name = bfstore::file_state_name(state);
  if (!facts.report.valid()) return '"' + name + "\" is what its header says. The problems above count.";
  return name + ". " + state_advice(facts);
}

void put_state(Sheet& sheet, const Facts& facts) {
  const Report& report = facts.report;
  sheet.section("State");
  const bool good = report.valid() && is_good(report.state);
  sheet.row("state", state_text(facts), good ? Colour::kNone : Colour::kWarning);
  if (report.identity && report.identity->embedded) return;
  if (report.syncing && report.state == FileState::kInUse) sheet.row("sync", "under way");
  if (report.filling) {
    sheet.row("filling", "Every answer is \"maybe\" until all keys were added, and bf finish-filling says so.",
              Colour::kWarning);
  }
  put_epoch(sheet, report);
  put_slot(sheet, "slot A", report.slots[0], report.slots[1]);
  put_slot(sheet, "slot B", report.slots[1], report.slots[0]);
  for (const bfstore::OwnerMark& mark : report.marks) {
    sheet.row("mark", mark_text(mark));
  }
  if (report.marks.empty()) sheet.row("marks", "none");
  const bool counts = report.identity && has_counters(*report.identity);
  const bool built = report.identity && is_built_once(*report.identity);
  if (report.keys_added) {
    sheet.row("keys added",
              count_text(*report.keys_added) +
                  (counts  ? ""
                   : built ? " different ones"
                           : " that changed a bit") +
                  (report.state == FileState::kInUse ? ", without those of a call that has not ended" : ""));
  }
  if (counts && report.keys_removed) sheet.row("keys removed", count_text(*report.keys_removed));
}

// Shows the leaked keys, which no remove takes away any more.
void put_leaks(Sheet& sheet, const Facts& facts) {
  const auto leaked = keys_leaked(facts.report);
  if (!leaked) return;
  const bfstore::Fill& fill = *facts.report.fill;
  const bool leaky = facts.leaky.value_or(false);
  sheet.row("leaked",
            *leaked == 0 ? std::string("none")
                         : "about " + about_text(*leaked) + " of the keys now" + (leaky ? ". " + leaky_advice() : ""),
            leaky ? Colour::kWarning : Colour::kNone);
  if (fill.counters_at_15 != 0)
    sheet.row("counters at 15", count_text(fill.counters_at_15) + ", which no remove lowers any more");
}

// The keys of each epoch, the current one first.
std::string epochs_text(const Report& report) {
  std::string words;
  for (std::uint32_t age = 0; age < report.turning->epochs; ++age)
    words += (age == 0 ? "" : ", ") + about_text(report.fill->keys_of_epochs[age]);
  return words;
}

constexpr const char* kUnknownForHoles = "unknown, since bits may be missing";

// "about 996 more keys to its capacity, 1,027 until the promised rate is exceeded": m may have been rounded up to whole
// lines.
std::string room_text(const Facts& facts) {
  if (facts.overfull.value_or(false)) return "none: overfull. " + overfull_advice(facts.report);
  if (facts.lacks_bits()) return kUnknownForHoles;
  const auto room = static_cast<double>(*facts.remaining_keys);
  if (room == 0) return "none: the promised rate is reached, within the error of the estimate";
  if (can_grow(facts.report)) return room_to_grow_text(facts.report, *facts.remaining_keys);
  const double to_capacity = static_cast<double>(body_of(facts.report).capacity) - facts.report.fill->estimated_keys;
  const std::string words = "about " + about_text(room) + (room == 1 ? " more key" : " more keys");
  if (to_capacity < 0.5 || about_text(to_capacity) == about_text(room)) return words;
  return "about " + about_text(to_capacity) + " more to its capacity, " + about_text(room) +
         " until the promised rate is exceeded";
}

std::string rates_text(const Report& report) {
  const double promised = report.identity->fpr;
  const std::string by_bits = rate_text(report.fill->estimated_fpr);
  return (answers_maybe_alone(report) ? "every absent key now, " + by_bits + " by the bits" : by_bits + " now") +
         (promised == 0 ? "" : ", " + rate_text(promised) + " promised");
}

void put_keys_now(Sheet& sheet, const Facts& facts) {
  if (facts.lacks_bits()) return sheet.row("keys now", kUnknownForHoles);
  const bfstore::Fill& fill = *facts.report.fill;
  const std::uint64_t capacity = body_of(facts.report).capacity;
  sheet.row("keys now",
            keys_now_text(facts.report) + (capacity == 0 ? "" : " of " + about_text(static_cast<double>(capacity))));
  if (fill.set_bits != 0 && !is_past_estimate(fill))
    sheet.row("95 % interval", interval_text(fill.estimated_keys_low, fill.estimated_keys_high));
}

void put_fill(Sheet& sheet, const Facts& facts) {
  sheet.section("Fill");
  const ReportedIdentity& id = *facts.report.identity;
  const Body body = body_of(facts.report);
  if (!facts.report.fill) {
    sheet.paragraph(facts.counted ? "unknown: the bits could not be counted" : "not counted (--quick)");
    return;
  }
  const bfstore::Fill& fill = *facts.report.fill;
  const double fullest = fullest_epoch(facts.report).value_or(fill.fill_ratio);
  sheet.fill(fullest, fill_at_capacity(facts.report), facts.overfull.value_or(false));
  if (facts.report.turning)
    sheet.row("fullest epoch",
              percent_text(fullest) + " of its bits set (the bar), " + percent_text(fill.fill_ratio) + " of all");
  sheet.row(has_counters(id) ? "counters set" : "bits set",
            count_text(fill.set_bits) + " of " + count_text(body.num_bits));
  put_keys_now(sheet, facts);
  if (facts.report.turning) sheet.row("keys of epochs", epochs_text(facts.report));
  if (facts.lacks_bits()) sheet.row("missing bits", missing_bits_advice(facts), Colour::kWarning);
  put_leaks(sheet, facts);
  const Colour colour = facts.overfull.value_or(false) ? Colour::kBad : Colour::kNone;
  if (facts.remaining_keys) sheet.row("room for", room_text(facts), colour);
  sheet.row("false positives", rates_text(facts.report), colour);
}

void put_memory(Sheet& sheet, const Report& report) {
  sheet.section("Memory");
  const std::uint64_t body = report.identity ? body_of(report).bytes : 0;
  const auto text = [&](const std::optional<std::uint64_t>& bytes) {
    if (!bytes) return std::string("unknown");
    return *bytes == 0 ? std::string("none") : bytes_text(*bytes) + share_text(*bytes, body);
  };
  sheet.row("page cache", text(report.resident_bytes));
  sheet.row("huge pages", text(report.huge_page_bytes));
}

std::string opener_text(const Opener& opener, bool ascii) {
  const std::string mode = opener.writing ? (*opener.writing ? "writing" : "reading") : "mode unknown";
  return std::to_string(opener.process) + "  " + escaped(opener.command, ascii) + "  " + mode;
}

// A root without all capabilities, or in a sandbox, may not look into every process, either.
std::vector<std::string> unseen(const Facts& facts, bool ascii) {
  const Openers& openers = *facts.openers;
  std::vector<std::string> all;
  if (openers.of_other_users > 0)
    all.push_back(grouped(openers.of_other_users) +
                  (openers.of_other_users == 1 ? " of another user" : " of other users") +
                  (geteuid() == 0 ? " (the system forbids to look)" : " (root may see more)"));
  if (!openers.forbidden.empty()) {
    const Opener& first = openers.forbidden.front();
    all.push_back(grouped(openers.forbidden.size()) +
                  " of this user (the system forbids to look: " + std::to_string(first.process) + " " +
                  escaped(first.command, ascii) + (openers.forbidden.size() == 1 ? ")" : ", ...)"));
  }
  if (openers.others_are_hidden) all.emplace_back("any outside this container or hidden in /proc");
  if (facts.report.state == FileState::kInUse && openers.complete()) all.emplace_back("the writer that holds its lock");
  return all;
}

// "no process that can be seen from here. Not seen: 2 of other users (root may see more)": one line where it fits.
std::string unseen_text(const Facts& facts, bool ascii) {
  std::string text = facts.openers->seen.empty() ? "no process that can be seen from here. " : "";
  text += "Not seen:";
  std::string before = " ";
  for (const std::string& one : unseen(facts, ascii)) {
    text += before + one;
    before = "; ";
  }
  return text;
}

// The lock that a writer holds shows in the state, also if the writer's process cannot be looked at. A reader that is
// not seen matters to no decision.
bool has_no_writer(FileState state) { return state == FileState::kClean || state == FileState::kAdoptable; }

void put_openers(Sheet& sheet, const Facts& facts) {
  sheet.section("Open by");
  if (!facts.openers) {
    sheet.paragraph("unknown");
    return;
  }
  const Openers& openers = *facts.openers;
  for (const Opener& opener : openers.seen) sheet.paragraph(opener_text(opener, sheet.ascii()));
  if (facts.all_openers_seen()) {
    if (openers.seen.empty()) sheet.paragraph("no process");
    return;
  }
  if (!has_no_writer(facts.report.state)) return sheet.paragraph(unseen_text(facts, sheet.ascii()));
  sheet.paragraph(openers.seen.empty() ? "no process that can be seen from here"
                                       : "and perhaps others that cannot be seen from here");
}

void put_note(Sheet& sheet, const ReportedIdentity& id) {
  if (!id.note || id.note->empty()) return;
  sheet.section("Note");
  sheet.paragraph(escaped(*id.note, sheet.ascii()));
  if (const auto form = tools::key_form_in(*id.note))
    sheet.row("key form", escaped(*form, sheet.ascii()) + ": bf makes keys of lines in this form");
}

void put_way_out(Sheet& sheet, const Facts& facts) {
  if (!sheet.begins_with_advice()) sheet.row("what to do", way_out(facts));
}

// The library's message says what to do, for programs that show it alone.
std::string without_advice(const std::string& message) {
  const std::size_t advice = message.find(" Rebuild it, or put a copy back");
  return message.substr(0, std::min(advice, message.find(" Give the path of a filter")));
}

void put_problems(Sheet& sheet, const Facts& facts) {
  const bool ascii = sheet.ascii();
  sheet.section("Problems");
  for (const bfstore::Problem& problem : facts.report.problems) {
    const char* name = bfstore::code_name(problem.code);
    sheet.row(name == nullptr ? "?" : name, escaped_message(without_advice(problem.text), ascii), Colour::kBad);
  }
  put_way_out(sheet, facts);
}

void put_stranger(Sheet& sheet, const Facts& facts) {
  sheet.section("What it is");
  sheet.row("looks like", likeness(facts));
  put_link(sheet, facts);
  if (facts.kind != FileKind::kRegular) return;
  sheet.row("length", bytes_text(facts.report.file_bytes));
  if (!facts.report.first_bytes.empty())
    sheet.row("first bytes", '\'' + escaped(facts.report.first_bytes, true) + '\'');
}

// The formats that the file has, and what its bytes say of more than one filter.
void put_formats(Sheet& sheet, const Facts& facts) {
  const Foreign& foreign = *facts.foreign;
  sheet.section("What it is");
  for (const bfstore::ForeignFormat& format : foreign.formats)
    sheet.row(foreign.formats.size() == 1 ? "format" : "perhaps", std::string(format.name) + ": " + format.about);
  put_link(sheet, facts);
  sheet.row("length", bytes_text(facts.report.file_bytes));
  if (!foreign.filter) return;
  sheet.row("filters", grouped(foreign.filter->filters) +
                           (foreign.has_several_filters() ? ": a key is in the file if one of them has it" : ""));
  if (foreign.filter->keys) sheet.row("keys added", count_text(*foreign.filter->keys) + " by its own count");
  if (foreign.filter->format.keys != nullptr) sheet.row("keys are", foreign.filter->format.keys);
}

void put_foreign(Sheet& sheet, const Facts& facts) {
  put_formats(sheet, facts);
  if (!facts.report.valid()) return put_problems(sheet, facts);
  put_way_out(sheet, facts);
  if (facts.report.identity) {
    put_shape(sheet, facts);
    put_fill(sheet, facts);
    put_memory(sheet, facts.report);
  }
  put_openers(sheet, facts);
}

void put_filter(Sheet& sheet, const Facts& facts) {
  const Report& report = facts.report;
  if (!report.valid()) put_problems(sheet, facts);  // first, where a reader sees it
  put_shape(sheet, facts);
  put_file(sheet, facts);
  put_state(sheet, facts);
  put_fill(sheet, facts);
  put_memory(sheet, report);
  put_openers(sheet, facts);
  put_note(sheet, *report.identity);
}

}  // namespace

Colour colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHealthy:
      return Colour::kGood;
    case Verdict::kNeedsAttention:
      return Colour::kWarning;
    case Verdict::kNotGood:
    case Verdict::kFailed:
      break;
  }
  return Colour::kBad;
}

void put_facts(Sheet& sheet, const Facts& facts) {
  if (facts.foreign) {
    put_foreign(sheet, facts);
  } else if (facts.report.identity) {
    put_filter(sheet, facts);
  } else {
    put_stranger(sheet, facts);
    put_problems(sheet, facts);
  }
}

}  // namespace bfinspect
