// See words.hpp.
#include "words.hpp"

#include <bfstore/hashes.hpp>
#include <bfstore/layouts.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "damaged.hpp"
#include "text.hpp"

namespace bfinspect {
namespace {

using bfstore::Code;
using bfstore::FileState;
using namespace std::string_view_literals;

constexpr std::string_view kSetBegin = "bfstore-set ";

struct Signature {
  std::string_view bytes;
  const char* name;
};

constexpr Signature kSignatures[] = {
    {kSetBegin, "a set: the list of the parts of a filter"},
    {"<svg"sv, "an SVG picture"},
    {"<?xml"sv, "an XML document"},
    {"<!DOCTYPE"sv, "a page for a browser"},
    {"SQLite format 3\0"sv, "an SQLite database"},
    {"\x89PNG"sv, "a PNG image"},
    {"\x7f"
     "ELF"sv,
     "a program or a library"},
    {"\x1f\x8b"sv, "gzip data: perhaps a compressed filter; decompress it first"},
    {"\x28\xb5\x2f\xfd"sv, "zstd data: perhaps a compressed filter; decompress it first"},
    {"\xfd"
     "7zXZ\0"sv,
     "xz data: perhaps a compressed filter; decompress it first"},
    {"BZh"sv, "bzip2 data: perhaps a compressed filter; decompress it first"},
    {"PK\3\4"sv, "a zip archive"},
    {"\x89"
     "BFS"sv,
     "a filter file whose first bytes are damaged"},
};

bool is_text(std::string_view bytes) {
  // The last code point may be incomplete.
  for (std::size_t at = 0; at < bytes.size();) {
    const auto code_point = next_code_point(bytes, at);
    if (!code_point) return at > 0 && bytes.size() - at < 4 && static_cast<unsigned char>(bytes[at]) >= 0xc2;
    const bool is_blank = *code_point == '\n' || *code_point == '\r' || *code_point == '\t';
    if (!is_printable(*code_point) && !is_blank) return false;
  }
  return true;
}

constexpr const char* kTextLikeness = "text: perhaps a list of keys";

std::string content_likeness(std::string_view first_bytes) {
  if (const char* const changed = tools::changed_filter(first_bytes); changed != nullptr)
    return std::string(changed) + ": copy it again, in binary mode";
  for (const Signature& signature : kSignatures) {
    if (first_bytes.starts_with(signature.bytes)) return signature.name;
  }
  const bool all_zero = std::all_of(first_bytes.begin(), first_bytes.end(), [](char c) { return c == 0; });
  if (all_zero) return "zeros: perhaps a copy or a download that did not finish";
  return is_text(first_bytes) ? kTextLikeness : "unknown data";
}

std::string id_text(const bfstore::FileId& id) { return hex({reinterpret_cast<const char*>(id.data()), id.size()}); }

std::string delta_likeness(const std::optional<bfstore::DeltaFacts>& delta) {
  if (!delta) return "a damaged delta: get it again";
  return "a delta: with the filter of file_id " + id_text(delta->before) + " it makes the filter of file_id " +
         id_text(delta->after) + ", which has " + std::to_string(delta->num_bits) + " bits more (bf apply)";
}

std::string kind_name(FileKind kind) {
  switch (kind) {
    case FileKind::kDirectory:
      return "a directory";
    case FileKind::kFifo:
      return "a FIFO (named pipe)";
    case FileKind::kSocket:
      return "a socket";
    case FileKind::kDevice:
      return "a device";
    case FileKind::kRegular:
    case FileKind::kUnknown:
      break;
  }
  return "unknown";
}

bool has_problem(const Facts& facts, Code code) {
  const auto& problems = facts.report.problems;
  return std::any_of(problems.begin(), problems.end(), [=](const auto& problem) { return problem.code == code; });
}

// True of what a truncation leaves of a filter file, if that is not even its identity.
bool is_start_of_filter(const Facts& facts) {
  constexpr std::string_view kMagic =
      "\x89"
      "BFS\r\n\x1a\n"sv;
  const std::string_view first = std::string_view(facts.report.first_bytes).substr(0, kMagic.size());
  return has_problem(facts, Code::kTooShort) && !first.empty() && kMagic.starts_with(first);
}

std::string unclean_advice(const bfstore::Report& report) {
  const std::string cause = report.syncing
                                ? "One of its writers was killed in the middle of a sync"
                                : "It was not closed cleanly: the machine went down, a writer was killed in the middle "
                                  "of a sync, or this is a copy of a file in use";
  if (report.marks.empty()) {
    return cause +
           ". No sync stored a mark, so any key may be missing. Add all keys again (bf recover), or rebuild it (bf "
           "build).";
  }
  return cause +
         ". Keys up to the marks are in it. Later ones may be missing: add those again (bf recover), or rebuild it "
         "from all keys (bf build).";
}

// "owners 1 and 7 have"
std::string awaited(const bfstore::Report& report) {
  std::vector<std::string> owners;
  for (const bfstore::OwnerMark& mark : report.marks) {
    if (!mark.recovered) owners.push_back(std::to_string(mark.owner));
  }
  if (owners.empty()) return "the owner of the keys has";
  std::string words = (owners.size() == 1 ? "owner " : "owners ") + owners.front();
  for (std::size_t i = 1; i < owners.size(); ++i) words += (i + 1 == owners.size() ? " and " : ", ") + owners[i];
  return words + (owners.size() == 1 ? " has" : " have");
}

std::string recovering_advice(const bfstore::Report& report) {
  return "A recovery was begun and is not finished: every answer is \"maybe\" until " + awaited(report) +
         " added again the keys after the mark (bf recover). Or rebuild it from all keys (bf "
         "build).";
}

std::string superseded_advice(const bfstore::Report& report) {
  if (report.being_changed)
    return "Another process is replacing it: every answer is \"maybe\". Open it again in a moment.";
  return "A process was killed while it replaced this file: every answer is \"maybe\" until "
         "a process opens it for writing. Nothing is lost.";
}

// What a killed bf add or bf remove leaves to do. A key may be removed once only.
std::string adoptable_advice(const bfstore::Report& report) {
  const std::string there =
      "A writer was killed after the machine was started. Every key whose add returned is there, and the next process "
      "that opens it continues. If a bf add was killed, run it again with the whole list";
  if (!report.identity || !has_counters(*report.identity)) return there + ", which is harmless.";
  return there +
         ": a key that is added twice costs false positives, and no wrong answers. Never run a killed bf remove again "
         "with the whole list: keys that are removed twice make wrong answers \"no\". Those that it left only cost "
         "false positives.";
}

std::string in_use_advice(const bfstore::Report& report) {
  return report.exclusive
             ? "An exclusive writer has it open. Other processes may ask, and can add when that writer has "
               "closed it."
             : "A writer has it open. Other processes may ask and add at the same time.";
}

std::string sealed_words(const Facts& facts) {
  if (!facts.verification)
    return "Sealed: it is never written to again. Its bits were not verified: bf verify says whether it is damaged.";
  return std::string("Sealed: it is never written to again") +
         (facts.verification->damaged.empty() ? ", and its bytes are those that were sealed." : ". It is damaged.");
}

// Without them a file whose bits were zeroed looks good.
std::string not_looked_at(const Facts& facts) {
  if (facts.unverified()) return ", not verified";
  return facts.counted ? "" : ", bits not looked at";
}

std::string foreign_headline(const Facts& facts) {
  if (!facts.report.valid()) return "not a good filter of the format " + format_names(*facts.foreign);
  if (!facts.foreign->filter) return "perhaps another program's filter";
  return std::string("another program's filter") + (facts.overfull.value_or(false) ? ", overfull" : "");
}

}  // namespace

std::string layout_name(std::uint16_t persisted) {
  const auto info = bfstore::layout_of(static_cast<bfstore::Layout>(persisted));
  return info ? info->name : "unknown (" + std::to_string(persisted) + ')';
}

std::string hash_name(std::uint16_t persisted) {
  const auto info = bfstore::hash_of(static_cast<bfstore::Hash>(persisted));
  return info ? info->name : "unknown (" + std::to_string(persisted) + ')';
}

std::string secret_check_text(std::uint64_t check) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(check));
  return digits.data();
}

std::string seeds_text(const std::vector<std::uint32_t>& seeds) {
  bool ascend = seeds.size() > 2;
  for (std::size_t i = 1; i < seeds.size(); ++i) ascend = ascend && seeds[i] == std::uint64_t{seeds[i - 1]} + 1;
  if (ascend) return std::to_string(seeds.front()) + ".." + std::to_string(seeds.back());
  std::string text;
  for (const std::uint32_t seed : seeds) text += (text.empty() ? "" : ", ") + std::to_string(seed);
  return text;
}

std::string format_version(const bfstore::ReportedIdentity& identity) {
  return std::to_string(identity.version_major) + '.' + std::to_string(identity.version_minor);
}

bool is_epoch_over(const bfstore::Report& report) { return report.turning && report.turning->due; }

std::string epoch_advice(const bfstore::Report& report) {
  if (!is_epoch_over(report)) return "";
  return "Its epoch is over: end it (bf turn). Until then keys are found for longer than they should be.";
}

// The keys of a window may be fewer than its capacity, and yet too many for the epochs that they came in.
std::string overfull_advice(const bfstore::Report& report) {
  if (can_grow(report))
    return "It could not get its next slice: the disk was full, or the file system takes no such file. The next add "
           "tries again";
  if (report.growing) return "It has all its slices, and grows no more. Build a larger one from all keys (bf build)";
  if (!report.turning) return "Build a larger one from all keys (bf build; bf help fold, if nobody knows how many)";
  return "The rate falls as epochs end (bf turn). If so many keys of one epoch will come again, make a larger one (bf "
         "create)";
}

std::string overfull_cause(const bfstore::Report& report) {
  if (report.turning) return "It has more keys in one epoch, or in all, than it was made for";
  return can_grow(report) ? "It has far more keys than its slices have room for"
                          : "It has more keys than it was made for";
}

std::string room_to_grow_text(const bfstore::Report& report, std::uint64_t remaining) {
  const auto until = keys_until_next_slice(report);
  const std::string with_all = "about " + about_text(static_cast<double>(remaining)) +
                               (until.value_or(0) == 0 ? " more keys" : "") + " with all slices";
  if (!until) return with_all;
  if (*until == 0) return "its slices are full, and the next add makes another one: " + with_all;
  return grouped(*until) + (*until == 1 ? " more key" : " more keys") + " until its next slice, " + with_all;
}

std::string leaky_advice() { return "Build a new one from all keys (bf build)"; }

std::string headline(const Facts& facts) {
  const bfstore::Report& report = facts.report;
  if (facts.foreign) return foreign_headline(facts);
  if (!report.valid() && has_problem(facts, Code::kDamaged)) return "damaged";
  if (!report.valid())
    return report.identity || is_start_of_filter(facts) ? "not a good filter file" : "not a filter file";
  const bool sealed = report.identity && report.identity->seal;
  const std::string name =
      sealed && report.state == FileState::kClean ? "sealed" : bfstore::file_state_name(report.state);
  return name + (report.filling ? ", filling" : "") + not_looked_at(facts) +
         (is_epoch_over(report) ? ", its epoch is over" : "") + (facts.overfull.value_or(false) ? ", overfull" : "") +
         (facts.leaky.value_or(false) ? ", leaky" : "") + (facts.lacks_bits() ? ", bits may be missing" : "");
}

bool is_past_estimate(const bfstore::Fill& fill) {
  return fill.estimated_keys_low == 0 && !std::isfinite(fill.estimated_keys_high);
}

std::string keys_now_text(const bfstore::Report& report) {
  const bfstore::Fill& fill = *report.fill;
  if (!is_past_estimate(fill)) return "about " + about_text(fill.estimated_keys);
  const auto counted = static_cast<double>(keys_counted(report).value_or(0));
  return "at least " +
         about_text(std::isfinite(fill.estimated_keys) ? std::max(fill.estimated_keys, counted) : counted);
}

// The header's count says it plainer than the stretches do.
static std::string keys_without_bits_advice(const bfstore::Report& report) {
  const std::uint64_t keys = *keys_counted(report);
  return grouped(keys) + (keys == 1 ? " key was" : " keys were") + " counted, and the bits are those of about " +
         about_text(report.fill->estimated_keys) +
         ": a part of the file was zeroed, or a copy did not finish. A \"no\" may be wrong. Rebuild it from all keys "
         "(bf "
         "build).";
}

std::string missing_bits_advice(const Facts& facts) {
  if (counts_keys_without_bits(facts.report)) return keys_without_bits_advice(facts.report);
  const bool in_use = facts.report.state == FileState::kInUse;
  const bool external = facts.report.identity->hash == static_cast<std::uint16_t>(bfstore::Hash::kExternal);
  return grouped(facts.stretches->emptier.size()) + " of " + grouped(facts.stretches->all.size()) +
         " stretches of the body are much emptier than the others: " +
         (in_use ? "an add of millions of keys that is under way, " : "") +
         "a hole, a copy that did not finish, or a killed add" + (in_use ? "" : " of millions of keys") +
         (external ? ", or digests that are not well mixed" : "") + ". If bits are missing, a \"no\" may be wrong. " +
         (in_use ? "Unless it is even again when that add has ended, rebuild" : "Rebuild") +
         " it from all keys (bf build).";
}

std::string state_advice(const Facts& facts) {
  switch (facts.report.state) {
    case FileState::kClean:
      return facts.report.identity && facts.report.identity->seal ? sealed_words(facts) : "Synced and closed.";
    case FileState::kInUse:
      return in_use_advice(facts.report);
    case FileState::kAdoptable:
      return adoptable_advice(facts.report);
    case FileState::kUnclean:
      return unclean_advice(facts.report);
    case FileState::kRecovering:
      return recovering_advice(facts.report);
    case FileState::kSuperseded:
      return superseded_advice(facts.report);
    case FileState::kPoisoned:
      return "A sync did not end, so memory and disk may differ: every answer is \"maybe\". A process was killed in "
             "the sync, or the disk refused a write: then the system's log has disk errors. Add again the keys after "
             "the marks (bf recover), or rebuild it (bf build).";
    case FileState::kEmbedded:
      return "An embedded filter has no state of its own.";
    case FileState::kUnknown:
      break;
  }
  return "The state cannot be read.";
}

bool is_like_a_delta(std::string_view first_bytes) {
  return first_bytes.starts_with(
      "\x89"
      "BFD\r\n\x1a\n"sv);
}

std::string likeness(const Facts& facts) {
  if (facts.kind != FileKind::kRegular && facts.kind != FileKind::kUnknown) return kind_name(facts.kind);
  if (facts.foreign && facts.report.valid()) return "a filter in the format " + format_names(*facts.foreign);
  if (facts.report.file_bytes == 0) return "an empty file";
  if (is_start_of_filter(facts))
    return "the start of a filter file: perhaps of a copy or a download that did not finish";
  if (facts.is_tar) return "a tar archive: perhaps with a filter in it; take it out first";
  if (is_like_a_delta(facts.report.first_bytes)) return delta_likeness(facts.delta);
  return content_likeness(facts.report.first_bytes);
}

// " --hash rbloom", if the bytes do not tell the hash and only one can be meant.
std::string untold_hash(const Foreign& foreign) {
  if (!foreign.filter || foreign.filter->hash || foreign.filter->format.hashes.size() != 1) return "";
  return " --hash " + hash_names(foreign);
}

std::string foreign_way_out(const Facts& facts) {
  const Foreign& foreign = *facts.foreign;
  if (!facts.report.valid())
    return "Do not trust its \"no\". Get the file again, or give the format that it has (--format).";
  if (foreign.formats.size() > 1) return "Find out which program made it, and give its format (--format).";
  const std::string format = std::string("--format ") + foreign.formats.front().name + untold_hash(foreign);
  if (!foreign.filter) return "Give the column that is meant: " + format + " --column C.";
  if (!foreign.asked_in_place)
    return "Make a filter file of it (bf import " + format + "): its bits are not asked where they are.";
  if (foreign.has_several_filters())
    return "Ask all of its filters (bf contains " + format + "), or make a filter file of one (bf import " + format +
           " --member N).";
  return "Ask it where it is (bf contains " + format + "), or make a filter file of it (bf import " + format + ").";
}

std::string way_out(const Facts& facts) {
  if (facts.foreign) return foreign_way_out(facts);
  if (facts.kind != FileKind::kRegular && facts.kind != FileKind::kUnknown) return "Give the path of a filter file.";
  if (facts.report.first_bytes.starts_with(kSetBegin))
    return "Give the paths of the parts that it lists. To ask all of them together: bf contains.";
  if (!facts.report.identity && !is_start_of_filter(facts)) {
    const std::string list = likeness(facts) == kTextLikeness ? facts.report.path : "KEYS";
    return std::string("Give the path of a filter file, or make one") +
           (facts.report.file_bytes == 0 ? " in its place (--force)" : "") +
           ": bf create FILE --capacity N, or bf build FILE --from " + list + ".";
  }
  if (has_problem(facts, Code::kVersion) || has_problem(facts, Code::kFeature) || has_problem(facts, Code::kCanary)) {
    return "Use the bfstore that made it or a later one, or rebuild it from its keys (bf build).";
  }
  const auto& identity = facts.report.identity;
  const std::string again = "Do not trust its \"no\". Rebuild it from its keys (bf build" +
                            tools::layout_to_keep(facts.report) + "), " +
                            tools::or_put_copy_back(facts.report.path, identity && identity->seal);
  if (has_problem(facts, Code::kDamaged)) {
    return again + " Until then bf contains --tolerate-damage answers \"maybe\" for keys in damaged places.";
  }
  return again;
}

}  // namespace bfinspect
