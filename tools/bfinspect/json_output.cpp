// See json_output.hpp.
#include "json_output.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "key_form_line.hpp"
#include "text.hpp"
#include "words.hpp"

namespace bfinspect {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order in which a person would ask

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

// Puts a text in any encoding into the object, in both forms.
void put_text(Json& object, const std::string& key, const std::optional<std::string>& bytes) {
  object[key] = bytes && is_utf8(*bytes) ? Json(*bytes) : Json();
  object[key + "_bytes"] = bytes ? Json(hex(*bytes)) : Json();
}

Json problem_json(bfstore::Code code, const std::string& text) {
  const char* name = bfstore::code_name(code);
  Json object;
  object["code"] = name == nullptr ? Json() : Json(name);
  object["text"] = is_utf8(text) ? text : escaped(text, false);
  return object;
}

Json slot_json(const std::optional<bfstore::ReportedSlot>& slot) {
  Json object;
  if (!slot) return object;
  object["valid"] = slot->valid;
  object["sequence"] = slot->valid ? Json(slot->sequence) : Json();
  object["state"] = slot->valid ? Json(slot->state) : Json();
  return object;
}

// An object of a filter of another program has what its bytes say.
void put_foreign_shape(Json& out, const Facts& facts) {
  const bfstore::ReportedIdentity& id = *facts.report.identity;
  const auto said = [](const auto& value) { return value == 0 ? Json() : Json(value); };
  out["num_bits"] = id.num_bits;
  out["num_probes"] = id.num_probes;
  out["capacity"] = said(id.capacity);
  out["fpr"] = said(id.fpr);
  out["seeds"] = id.seeds ? Json(*id.seeds) : Json();
  out["layout"] = layout_name(id.layout);
  out["hash"] = facts.foreign->filter->hash ? Json(hash_name(id.hash)) : Json();
  out["bits_per_key"] = id.capacity == 0 ? Json() : Json(bits_per_key(id));
}

void put_foreign(Json& out, const std::optional<Foreign>& foreign) {
  out["foreign_formats"] = Json::array();
  if (foreign) {
    for (const bfstore::ForeignFormat& format : foreign->formats) out["foreign_formats"].push_back(format.name);
  }
  const bool known = foreign && foreign->filter;
  out["foreign_filters"] = known ? Json(foreign->filter->filters) : Json();
  const char* const keys = known ? foreign->filter->format.keys : nullptr;
  out["foreign_keys"] = keys != nullptr ? Json(keys) : Json();
}

void put_identity(Json& out, const Facts& facts) {
  const std::optional<bfstore::ReportedIdentity>& id = facts.report.identity;
  for (const char* key :
       {"num_bits",     "num_probes",     "capacity",       "fpr",        "seed",         "seeds",
        "part",         "num_parts",      "whole_capacity", "layout",     "hash",         "secret_check",
        "bits_per_key", "format_version", "form",           "file_id",    "header_bytes", "compat",
        "ro_compat",    "incompat",       "body_offset",    "body_bytes", "sealed",       "checksums_offset",
        "num_chunks",   "damaged"}) {
    out[key] = Json();
  }
  if (!id) return;
  if (facts.foreign) return put_foreign_shape(out, facts);
  const Body body = body_of(facts.report);
  out["num_bits"] = body.num_bits;
  out["num_probes"] = id->num_probes;
  out["capacity"] = body.capacity;
  out["fpr"] = id->fpr;
  out["seed"] = std::to_string(id->seed);
  out["seeds"] = id->seeds ? Json(*id->seeds) : Json();
  if (id->part) {
    out["part"] = id->part->part.number;
    out["num_parts"] = id->part->part.parts;
    out["whole_capacity"] = id->part->capacity;
  }
  out["layout"] = layout_name(id->layout);
  out["hash"] = hash_name(id->hash);
  out["secret_check"] = id->secret_check ? Json(secret_check_text(id->secret_check->tag)) : Json();
  out["bits_per_key"] = bits_per_key(*id);
  out["format_version"] = format_version(*id);
  out["form"] = id->embedded ? "embedded" : "file";
  out["file_id"] = hex({reinterpret_cast<const char*>(id->file_id.data()), id->file_id.size()});
  out["header_bytes"] = id->header_bytes;
  out["compat"] = id->compat;
  out["ro_compat"] = id->ro_compat;
  out["incompat"] = id->incompat;
  out["body_offset"] = id->body_offset;
  out["body_bytes"] = body.bytes;
  out["sealed"] = id->seal.has_value();
  if (!id->seal) return;
  out["checksums_offset"] = id->seal->checksums_offset;
  out["num_chunks"] = id->seal->num_chunks;
  if (!facts.verification) return;
  out["damaged"] = Json::array();
  for (const bfstore::DamagedRange& range : facts.verification->damaged)
    out["damaged"].push_back({{"offset", range.offset}, {"bytes", range.bytes}});
}

void put_growing(Json& out, const std::optional<bfstore::Growing>& growing) {
  out["growth"] = growing ? Json(growing->growth) : Json();
  out["num_slices"] = growing ? Json(growing->num_slices) : Json();
  out["most_slices"] = growing ? Json(growing->most_slices) : Json();
  out["first_capacity"] = growing ? Json(growing->first.capacity) : Json();
  out["capacity_at_most"] = growing ? Json(growing->at_most.capacity) : Json();
}

void put_state(Json& out, const bfstore::Report& report) {
  const bool known = report.state != bfstore::FileState::kUnknown;
  out["state"] = known ? Json(bfstore::file_state_name(report.state)) : Json();
  out["syncing"] = known ? Json(report.syncing) : Json();
  out["filling"] = known ? Json(report.filling) : Json();
  const auto& turning = report.turning;
  out["epochs"] = turning ? Json(turning->epochs) : Json();
  out["window_ms"] = turning ? Json(turning->window_ms) : Json();
  out["epoch"] = turning ? Json(turning->epoch) : Json();
  out["turned_at"] = turning ? Json(std::to_string(turning->turned_at)) : Json();  // nanoseconds: more than 2^53
  out["turn_due"] = turning ? Json(turning->due) : Json();
  out["state_sequence"] = or_null(report.state_sequence);
  out["slots"] = Json::array();
  for (const auto& slot : report.slots) out["slots"].push_back(slot_json(slot));
  out["marks"] = Json::array();
  const bool recovering = report.state == bfstore::FileState::kRecovering;
  for (const bfstore::OwnerMark& mark : report.marks) {
    Json object;
    object["owner"] = std::to_string(mark.owner);
    object["epoch"] = std::to_string(mark.epoch);
    object["mark"] = std::to_string(mark.mark);
    object["recovered"] = recovering ? Json(mark.recovered) : Json();
    out["marks"].push_back(std::move(object));
  }
  out["keys_added"] = or_null(report.keys_added);
  out["keys_removed"] = or_null(report.keys_removed);
}

void put_fill(Json& out, const Facts& facts) {
  const std::optional<bfstore::Fill>& fill = facts.report.fill;
  out["set_bits"] = fill ? Json(fill->set_bits) : Json();
  out["fill_ratio"] = fill ? Json(fill->fill_ratio) : Json();
  out["estimated_keys"] = fill ? Json(fill->estimated_keys) : Json();
  out["estimated_keys_low"] = fill ? Json(fill->estimated_keys_low) : Json();
  // JSON has no infinite number: null if the number of keys has no upper end.
  const bool ends = fill && std::isfinite(fill->estimated_keys_high);
  out["estimated_keys_high"] = ends ? Json(fill->estimated_keys_high) : Json();
  out["estimated_fpr"] = fill ? Json(fill->estimated_fpr) : Json();
  out["counters_at_15"] = fill ? Json(fill->counters_at_15) : Json();
  out["keys_of_epochs"] = Json();
  if (fill && facts.report.turning) {
    const auto first = fill->keys_of_epochs.begin();
    out["keys_of_epochs"] = std::vector<double>(first, first + facts.report.turning->epochs);
  }
  out["bits_may_be_missing"] = or_null(facts.missing_bits());
  const bool judged = facts.stretches && facts.stretches->judged;
  out["stretches"] = judged ? Json(facts.stretches->all.size()) : Json();
  out["emptier_stretches"] = judged ? Json(facts.stretches->emptier.size()) : Json();
  out["leaked_keys"] = or_null(keys_leaked(facts.report));
  out["leaky"] = or_null(facts.leaky);
  out["remaining_keys"] = or_null(facts.remaining_keys);
  out["keys_until_next_slice"] = or_null(keys_until_next_slice(facts.report));
  out["overfull"] = or_null(facts.overfull);
}

Json opener_json(const Opener& opener) {
  Json object;
  object["pid"] = opener.process;
  put_text(object, "command", opener.command);
  object["mode"] = opener.writing ? Json(*opener.writing ? "writing" : "reading") : Json();
  return object;
}

void put_openers(Json& out, const Facts& facts) {
  const bool complete = facts.all_openers_seen();
  out["open_by"] = complete ? Json::array() : Json();
  if (facts.openers && !facts.openers->seen.empty()) {
    out["open_by"] = Json::array();
    for (const Opener& opener : facts.openers->seen) out["open_by"].push_back(opener_json(opener));
  }
  out["open_by_complete"] = complete;
  out["processes_not_looked_at"] = facts.openers ? Json(facts.openers->not_looked_at()) : Json();
}

// The version of the keys and their meanings. It changes if a key goes or changes its meaning, and not if a key is
// added (capi/COMPATIBILITY.md).
constexpr int kSchema = 2;  // in 1 num_bits, num_probes, capacity and fpr were m, k, n and p

Json object_of(const Facts& facts) {
  const bfstore::Report& report = facts.report;
  Json out;
  out["schema"] = kSchema;
  put_text(out, "path", report.path);
  out["valid"] = report.valid();
  out["healthy"] = facts.verdict == Verdict::kHealthy;
  put_state(out, report);
  out["file_bytes"] = report.file_bytes;
  out["allocated_bytes"] = report.allocated_bytes;
  put_foreign(out, facts.foreign);
  put_identity(out, facts);
  put_growing(out, report.growing);
  put_fill(out, facts);
  out["resident_bytes"] = or_null(report.resident_bytes);
  out["huge_page_bytes"] = or_null(report.huge_page_bytes);
  put_openers(out, facts);
  const auto note = report.identity ? report.identity->note : std::nullopt;
  put_text(out, "note", note);
  const auto key_form = note ? tools::key_form_in(*note) : std::nullopt;
  put_text(out, "key_form", key_form ? std::optional(std::string(*key_form)) : std::nullopt);
  out["looks_like"] = report.identity && !facts.foreign ? Json() : Json(likeness(facts));
  out["first_bytes"] = hex(report.first_bytes);
  put_text(out, "link_target", facts.link_target.empty() ? std::nullopt : std::optional(facts.link_target));
  out["problems"] = Json::array();
  for (const bfstore::Problem& problem : report.problems)
    out["problems"].push_back(problem_json(problem.code, problem.text));
  out["error"] = Json();
  return out;
}

// The library writes null for a number that is not finite.
std::string dumped(const Json& object, bool on_one_line) {
  constexpr bool kAscii = true;  // the reader may be a terminal
  return object.dump(on_one_line ? -1 : 2, ' ', kAscii) + '\n';
}

}  // namespace

std::string json_of(const Facts& facts, bool on_one_line) { return dumped(object_of(facts), on_one_line); }

std::string json_of(const std::string& path, const bfstore::Error& error, bool on_one_line) {
  Json out = object_of(Facts{});
  for (auto& value : out) value = Json();
  out["schema"] = kSchema;
  put_text(out, "path", path);
  out["healthy"] = false;
  out["error"] = problem_json(error.code, error.message);
  return dumped(out, on_one_line);
}

}  // namespace bfinspect
