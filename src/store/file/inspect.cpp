// Reports everything that a file says, good or bad. Reads through the descriptor, so that a truncation meanwhile is an
// error, not a signal.
#include <bfstore/inspect.hpp>

#include <algorithm>
#include <vector>

#include "base/fail.hpp"
#include "format/sections.hpp"
#include "layout/growing.hpp"
#include "layout/layout.hpp"
#include "region/mapping.hpp"
#include "sizing/epochs.hpp"
#include "store/file/evidence.hpp"
#include "store/file/header.hpp"
#include "store/file/reached.hpp"
#include "store/file/turn.hpp"

namespace bfstore {
namespace {

using format::Form;
using region::File;

constexpr std::uint32_t kShortWaitMs = 100;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // whole blocks

void report_slots(const format::SlotPair& pair, Report& report) {
  for (std::size_t i = 0; i < pair.slots.size(); ++i) {
    report.slots[i] = ReportedSlot{};
    if (!pair.slots[i]) continue;
    report.slots[i] = ReportedSlot{true, pair.slots[i]->sequence, static_cast<std::uint32_t>(pair.slots[i]->state)};
  }
  const format::Slot* newest = pair.newest();
  if (newest == nullptr) {
    report.problems.push_back({Code::kSlots, "no state slot is valid: the header was damaged"});
    return;
  }
  report.state_sequence = newest->sequence;
  report.marks = format::marks_of(*newest);
}

// At the end of a turn the slot's time is too early: then no turn is due.
void report_epoch(const store::Evidence& evidence, Report& report) {
  const format::Slot* const newest = evidence.slots.newest();
  if (!evidence.expires || newest == nullptr || !report.identity->window_ms) return;
  const std::uint32_t epochs = layout::row_of(static_cast<Layout>(report.identity->layout)).info.epochs;
  const std::uint64_t window_ms = *report.identity->window_ms;
  const bool ends = evidence.syncing || !store::in_one_epoch(evidence);
  const bool due = !ends && store::is_turn_due(*newest, evidence.place.boot_id, sizing::epoch_ms(window_ms, epochs));
  report.turning = Turning{epochs, window_ms, evidence.epoch.number(), newest->turned_at, due};
}

void report_slices(std::uint32_t num_slices, Report& report) {
  const ReportedIdentity& id = *report.identity;
  if (id.growth) report.growing = format::growing_of(id.num_bits, id.capacity, *id.growth, num_slices);
}

// An exclusive writer has the locks of all writers.
Error report_exclusive(const File& file, Report& report) {
  if (report.state != FileState::kInUse) return {};
  const auto exclusive = region::wholly_locked_by_other(file, store::kWriterLocks);
  if (!exclusive.ok()) return exclusive.error();
  report.exclusive = *exclusive;
  return {};
}

// Everything that is reported comes from one reading of the header, the one that the state is judged by.
Error report_state(const File& file, Report& report) {
  store::HeaderBytes header;
  const auto evidence = store::gather_evidence(file, report.identity->file_id, kShortWaitMs, &header);
  if (!evidence) return evidence.error();
  report_slots(evidence->slots, report);
  report_epoch(*evidence, report);
  if (evidence->grows && evidence->num_slices >= 1 && evidence->num_slices <= kMaxSlices)
    report_slices(static_cast<std::uint32_t>(evidence->num_slices), report);
  const auto live_page = std::span<const std::byte>(header).subspan(format::kLivePageOffset);
  report.keys_added = format::keys_added_in(live_page);
  report.keys_removed = format::keys_removed_in(live_page);
  if (!evidence->live_word.is_own(report.identity->file_id)) {
    report.problems.push_back(
        {Code::kLiveWord, "the live word is not the file's own: the file was overwritten or zero-filled"});
    return {};
  }
  if (evidence->live_word.has(format::LiveWord::kLaterStates)) {
    report.problems.push_back({Code::kLater, "a later bfstore has it in a state that this one does not know"});
    return {};
  }
  report.state = store::judge(*evidence);
  report.filling = evidence->slots.newest() != nullptr && store::filling(*evidence);
  const auto being_changed = region::locked_by_other(file, {format::kStateLock});
  if (!being_changed.ok()) return being_changed.error();
  report.being_changed = *being_changed;
  report.syncing = evidence->syncing && evidence->writer_alive;
  return report_exclusive(file, report);
}

Error check_end_word(const File& file, const format::Identity& identity, Report& report) {
  const auto uncut = store::has_end_word(file, identity);
  if (!uncut.ok()) return uncut.error();
  if (!*uncut)
    report.problems.push_back(
        {Code::kLiveWord, "the word at its end is not the file's own: the file was cut or overwritten"});
  return {};
}

Error count_section(const File& file, const format::Section& section, layout::FillCounter& counter) {
  std::vector<std::uint64_t> piece(kPieceBytes / 8);
  for (std::uint64_t at = section.offset; at < section.end(); at += kPieceBytes) {
    const std::uint64_t wanted = std::min<std::uint64_t>(kPieceBytes, section.end() - at);
    const auto got = file.read_at(std::as_writable_bytes(std::span(piece)).first(wanted), at);
    if (!got) return got.error();
    if (*got != wanted) return base::fail(Code::kLost, file.path() + ": truncated while it was read. Try again.");
    counter.take(piece.data(), wanted / 8);
  }
  return {};
}

Error count_body(const File& file, const format::Identity& identity, Report& report) {
  const Shape& shape = identity.shape;
  layout::Geometry geometry = store::geometry_of(shape);
  const std::uint64_t epoch =
      base::little_endian(report.turning ? format::LiveEpoch::at(report.turning->epoch).word : 0);
  if (report.turning) geometry.epoch = &epoch;
  layout::Slices slices;
  if (identity.growth) {
    for (std::uint32_t i = 0; i < kMaxSlices; ++i)
      slices.of[i].lines = format::slice_of(identity, i).body.bytes * 8 / kLineBits;
    geometry.slices = &slices;
  }
  layout::FillCounter counter = store::fill_counter(shape, geometry);
  for (const ReportedSlice& slice : report.slices) {
    if (Error error = count_section(file, {slice.offset, slice.bytes}, counter); !error.ok()) return error;
  }
  report.fill = counter.fill();
  return {};
}

void report_memory(const File& file, Report& report) {
  const std::uint64_t begin = report.slices.front().offset;
  const ReportedSlice& last = report.slices.back();
  auto mapping = region::Mapping::map(file, File::Access::kRead, begin, last.offset + last.bytes - begin);
  if (!mapping) return;
  report.resident_bytes = mapping->resident_bytes();
  mapping->touch_sparsely();
  report.huge_page_bytes = mapping->huge_page_bytes();
}

}  // namespace

const char* file_state_name(FileState state) noexcept {
  switch (state) {
    case FileState::kClean:
      return "clean";
    case FileState::kInUse:
      return "in use";
    case FileState::kAdoptable:
      return "adoptable";
    case FileState::kUnclean:
      return "unclean";
    case FileState::kRecovering:
      return "recovering";
    case FileState::kPoisoned:
      return "poisoned";
    case FileState::kSuperseded:
      return "superseded";
    case FileState::kEmbedded:
      return "embedded";
    case FileState::kUnknown:
      break;
  }
  return "unknown";
}

Result<Report> inspect(const std::string& path, bool count_bits) {
  Report report;
  report.path = path;
  const auto file = File::open(path, File::Access::kRead, File::Links::kFollow);
  if (!file) {
    const Code code = file.error().code;
    if (code != Code::kNotRegular) return file.error();
    report.problems.push_back({code, file.error().message.substr(path.size() + 2)});  // the path is in the report
    return report;
  }
  const auto facts = file->facts();
  if (!facts) return facts.error();
  if (!facts->regular) {
    report.problems.push_back({Code::kNotRegular, "not a regular file"});
    return report;
  }
  report.file_bytes = facts->bytes;
  report.allocated_bytes = facts->allocated_bytes;
  const auto header = store::read_header(*file);
  if (!header) return header.error();
  const std::span<const std::byte> there = store::header_there(*header, *facts);
  report.first_bytes.assign(reinterpret_cast<const char*>(there.data()), std::min<std::size_t>(16, there.size()));
  auto checked = format::check_identity(there, Form::kFile, facts->bytes, false);
  const auto identity = checked.identity();  // if it is good
  report.identity = std::move(checked.reported);
  report.problems = std::move(checked.problems);
  if (std::string words = store::set_words(*file, *facts, there); !words.empty())
    report.problems.front().text = std::move(words);
  if (identity) {
    if (Error error = check_end_word(*file, *identity, report); !error.ok()) return error;
  }
  const bool has_state = report.identity && !report.identity->embedded && facts->bytes >= format::kFileHeaderBytes;
  if (report.identity && report.identity->embedded) report.state = FileState::kEmbedded;
  if (has_state) {
    if (Error error = report_state(*file, report); !error.ok()) return error;
  }
  for (std::uint32_t i = 0; identity && i < (report.growing ? report.growing->num_slices : 1); ++i) {
    const format::Section body = format::slice_of(*identity, i).body;
    report.slices.push_back({body.offset, body.bytes});
  }
  if (identity) {
    const auto num_slices = static_cast<std::uint32_t>(report.slices.size());
    report.bytes_after = facts->bytes - std::min(facts->bytes, format::sections_of(*identity, num_slices).end);
  }
  if (identity) report_memory(*file, report);
  if (identity && count_bits) {
    if (Error error = count_body(*file, *identity, report); !error.ok()) return error;
  }
  return report;
}

}  // namespace bfstore
