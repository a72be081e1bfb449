// See foreign.hpp.
#include "foreign.hpp"

#include <bfstore/filter.hpp>
#include <bfstore/hashes.hpp>

#include <utility>

namespace bfinspect {
namespace {

const bfstore::OpenOptions kOpening{.any_filesystem = true};  // a look needs no writes of other processes

// What the bytes say of the only filter, or of the first one.
bfstore::ReportedIdentity shape_of(const bfstore::ForeignFilter& told) {
  bfstore::ReportedIdentity identity;
  identity.layout = static_cast<std::uint16_t>(told.format.layout);
  if (told.hash) identity.hash = static_cast<std::uint16_t>(*told.hash);
  identity.num_bits = told.num_bits;
  identity.num_probes = told.num_probes;
  if (told.filters == 1) {  // several have no promise together
    identity.capacity = told.capacity;
    identity.fpr = told.fpr;
  }
  identity.body_bytes = (told.num_bits + 7) / 8;
  return identity;
}

void look_inside(bfstore::Report& report, const bfstore::Filter& filter, bool count_bits) {
  const bfstore::Stats stats = filter.stats({.fill = count_bits, .memory = true});
  report.identity->hash = static_cast<std::uint16_t>(stats.shape.hash);
  report.identity->num_bits = stats.shape.num_bits;
  report.identity->body_bytes = stats.body_bytes;
  if (report.identity->capacity != 0) report.identity->fpr = stats.shape.fpr;
  if (const auto seeds = filter.seeds(); !seeds.empty()) report.identity->seeds = seeds;
  report.fill = stats.fill;
  if (!stats.memory) return;
  report.huge_page_bytes = stats.memory->huge_page_bytes;
  report.resident_bytes = stats.memory->resident_bytes;
}

bfstore::Error look(Foreign& foreign, bfstore::Report& report, const bfstore::ForeignForm& form, bool count_bits) {
  const auto told = bfstore::inspect_foreign_file(report.path, form, kOpening);
  if (!told) return told.error();
  foreign.filter = *told;
  report.identity = shape_of(*told);
  report.keys_added = told->keys;
  bfstore::Options unsaid;
  if (!told->hash) {
    if (told->format.hashes.empty()) return {};
    unsaid.hash = told->format.hashes.front();  // the bits are counted, and no key is asked
  }
  const auto filter = bfstore::Filter::open_foreign(report.path, form, unsaid, kOpening);
  if (filter) {
    look_inside(report, *filter, count_bits);
    return {};
  }
  foreign.asked_in_place = filter.error().code != bfstore::Code::kUnsupported;
  return foreign.asked_in_place ? filter.error() : bfstore::Error();
}

// What is true of the file as a file.
bfstore::Report without_filter(const bfstore::Report& report) {
  bfstore::Report file;
  file.path = report.path;
  file.file_bytes = report.file_bytes;
  file.allocated_bytes = report.allocated_bytes;
  file.first_bytes = report.first_bytes;
  return file;
}

// The wanted format, or those that the file has.
std::vector<bfstore::ForeignFormat> formats_of(const bfstore::Report& report, const bfstore::ForeignForm& wanted) {
  std::vector<bfstore::ForeignFormat> formats;
  if (!wanted.format.empty()) {
    formats.push_back(*bfstore::foreign_format_named(wanted.format));
  } else if (!report.identity) {
    if (const auto found = bfstore::recognize_foreign(report.path, kOpening)) {
      for (const char* const name : *found) formats.push_back(*bfstore::foreign_format_named(name));
    }
  }
  return formats;
}

}  // namespace

std::optional<Foreign> look_at_foreign(bfstore::Report& report, const bfstore::ForeignForm& wanted, bool count_bits) {
  Foreign foreign{formats_of(report, wanted), std::nullopt};
  if (foreign.formats.empty()) return std::nullopt;
  report = without_filter(report);
  const bfstore::ForeignFormat& first = foreign.formats.front();
  if (foreign.formats.size() > 1 || (first.needs_column && wanted.column.empty())) return foreign;
  bfstore::ForeignForm form = wanted;
  form.format = first.name;
  const bfstore::Error error = look(foreign, report, form, count_bits);
  if (!error.ok()) {
    report.identity.reset();
    report.problems.push_back({error.code, error.message});
  }
  return foreign;
}

std::string format_names(const Foreign& foreign) {
  std::string names;
  for (const bfstore::ForeignFormat& format : foreign.formats)
    names += (names.empty() ? "" : " or ") + std::string(format.name);
  return names;
}

std::string hash_names(const Foreign& foreign) {
  if (!foreign.filter) return "unknown";
  if (foreign.filter->hash) return bfstore::hash_of(*foreign.filter->hash)->name;
  std::string names;
  for (const bfstore::Hash hash : foreign.filter->format.hashes)
    names += (names.empty() ? "" : " or ") + std::string(bfstore::hash_of(hash)->name);
  return names.empty() ? "unknown" : names;
}

Verdict verdict_of(const Foreign& foreign, const bfstore::Report& report, std::optional<bool> overfull) {
  if (!report.valid()) return Verdict::kNotGood;
  return foreign.filter && !overfull.value_or(false) ? Verdict::kHealthy : Verdict::kNeedsAttention;
}

}  // namespace bfinspect
