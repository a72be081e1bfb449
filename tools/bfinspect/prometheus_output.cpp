// See prometheus_output.hpp. A metric is a row of kMetrics.
#include "prometheus_output.hpp"

#include <bfstore/bfstore.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "text.hpp"
#include "words.hpp"

namespace bfinspect {
namespace {

using bfstore::FileState;

using Number = std::optional<double>;

struct Sample {
  std::string labels;  // after the file's: `,state="clean"`
  double value;
};

struct Metric {
  const char* name;
  const char* type;
  const char* help;
  std::vector<Sample> (*samples)(const Facts& facts);
};

template <class Value>
Number number_of(const std::optional<Value>& value) {
  return value ? Number(static_cast<double>(*value)) : std::nullopt;
}

// What the header of a good file says; 0 is unknown in a file of another program.
template <class Value>
Number said(const Facts& facts, Value bfstore::ReportedIdentity::*field) {
  const auto& id = facts.report.identity;
  return facts.report.valid() && id && (*id).*field != Value{} ? Number(static_cast<double>((*id).*field))
                                                               : std::nullopt;
}

Number counted(const Facts& facts, double bfstore::Fill::*field) {
  return facts.report.fill ? Number((*facts.report.fill).*field) : std::nullopt;
}

bool has_state(const Facts& facts) { return facts.report.state != FileState::kUnknown; }

std::vector<Sample> one(Number value) {
  return value && std::isfinite(*value) ? std::vector<Sample>{{"", *value}} : std::vector<Sample>{};
}

// Each state has a sample in every report, so that no old one stays when the state changes.
std::vector<Sample> states(const Facts& facts) {
  if (!has_state(facts)) return {};
  std::vector<Sample> samples;
  for (const FileState state : {FileState::kClean, FileState::kInUse, FileState::kAdoptable, FileState::kUnclean,
                                FileState::kRecovering, FileState::kPoisoned, FileState::kSuperseded})
    samples.push_back(
        {std::string(",state=\"") + bfstore::file_state_name(state) + '"', state == facts.report.state ? 1.0 : 0.0});
  return samples;
}

std::vector<Sample> marks(const Facts& facts) {
  std::vector<Sample> samples;
  for (const bfstore::OwnerMark& mark : facts.report.marks) {
    samples.push_back({",owner=\"" + std::to_string(mark.owner) + "\",epoch=\"" + std::to_string(mark.epoch) + '"',
                       static_cast<double>(mark.mark)});
  }
  return samples;
}

Number growing(const Facts& facts, double (*number)(const bfstore::Growing& growing)) {
  return facts.report.growing ? Number(number(*facts.report.growing)) : std::nullopt;
}

Number turning(const Facts& facts, double (*number)(const bfstore::Turning& turning)) {
  return facts.report.turning ? Number(number(*facts.report.turning)) : std::nullopt;
}

std::vector<Sample> infos(const Facts& facts) {
  if (!facts.report.valid() || !facts.report.identity || facts.foreign) return {};
  const bfstore::ReportedIdentity& id = *facts.report.identity;
  return {{",layout=\"" + layout_name(id.layout) + "\",hash=\"" + hash_name(id.hash) + "\",format=\"" +
               format_version(id) + "\",bfinspect=\"" + bfstore::version() + '"',
           1}};
}

constexpr Metric kMetrics[] = {
    {"bfstore_info", "gauge", "1, with what the header of a good file says, and the version of bfinspect.", infos},
    {"bfstore_problems", "gauge", "Rules of the file format that the file breaks.",
     [](const Facts& facts) { return one(static_cast<double>(facts.report.problems.size())); }},
    {"bfstore_state", "gauge", "1 for the state that the file is in.", states},
    {"bfstore_filling", "gauge", "1 if the keys are not complete yet, and every answer is \"maybe\".",
     [](const Facts& facts) { return one(has_state(facts) ? Number(facts.report.filling ? 1 : 0) : std::nullopt); }},
    {"bfstore_window_seconds", "gauge", "How long keys are kept, at least, where they expire.",
     [](const Facts& facts) {
       return one(turning(facts, [](const auto& all) { return static_cast<double>(all.window_ms) / 1000; }));
     }},
    {"bfstore_turns_total", "counter", "Epochs that have ended.",
     [](const Facts& facts) {
       return one(turning(facts, [](const auto& all) { return static_cast<double>(all.epoch); }));
     }},
    {"bfstore_turned_timestamp_seconds", "gauge", "When the current epoch began.",
     [](const Facts& facts) {
       return one(turning(facts, [](const auto& all) { return static_cast<double>(all.turned_at) / 1e9; }));
     }},
    {"bfstore_turn_due", "gauge", "1 if the current epoch has lasted for its time, and bf turn would end it.",
     [](const Facts& facts) { return one(turning(facts, [](const auto& all) { return all.due ? 1.0 : 0.0; })); }},
    {"bfstore_overfull", "gauge", "1 if the filter has more keys than those with which it keeps its promised ratio.",
     [](const Facts& facts) { return one(number_of(facts.overfull)); }},
    {"bfstore_leaky", "gauge", "1 if more than 1 % of the keys are in the filter, and no remove takes them away.",
     [](const Facts& facts) { return one(number_of(facts.leaky)); }},
    {"bfstore_bits_may_be_missing", "gauge",
     "1 if parts of the filter have far fewer set bits than chance explains, so that a \"no\" may be wrong.",
     [](const Facts& facts) { return one(number_of(facts.missing_bits())); }},
    {"bfstore_capacity_keys", "gauge",
     "Keys that the filter was made for. Where it grows, those of the slices that it has now.",
     [](const Facts& facts) {
       const Number first = said(facts, &bfstore::ReportedIdentity::capacity);
       return one(first ? Number(static_cast<double>(body_of(facts.report).capacity)) : std::nullopt);
     }},
    {"bfstore_capacity_at_most_keys", "gauge", "Where the filter grows: keys of all slices that there may be.",
     [](const Facts& facts) {
       return one(growing(facts, [](const auto& all) { return static_cast<double>(all.at_most.capacity); }));
     }},
    {"bfstore_slices", "gauge", "Where the filter grows: slices that it has now.",
     [](const Facts& facts) {
       return one(growing(facts, [](const auto& all) { return static_cast<double>(all.num_slices); }));
     }},
    {"bfstore_slices_at_most", "gauge", "Where the filter grows: slices that there may be.",
     [](const Facts& facts) {
       return one(growing(facts, [](const auto& all) { return static_cast<double>(all.most_slices); }));
     }},
    {"bfstore_estimated_keys", "gauge", "Different keys in the filter, estimated from its bits.",
     [](const Facts& facts) { return one(counted(facts, &bfstore::Fill::estimated_keys)); }},
    {"bfstore_remaining_keys", "gauge", "Keys that fit until the promised rate is reached.",
     [](const Facts& facts) { return one(number_of(facts.remaining_keys)); }},
    {"bfstore_keys_added_total", "counter", "Adds that changed the filter.",
     [](const Facts& facts) { return one(number_of(facts.report.keys_added)); }},
    {"bfstore_keys_removed_total", "counter", "Removes.",
     [](const Facts& facts) { return one(number_of(facts.report.keys_removed)); }},
    {"bfstore_fill_ratio", "gauge", "Share of the bits (or counters) that are set.",
     [](const Facts& facts) { return one(counted(facts, &bfstore::Fill::fill_ratio)); }},
    {"bfstore_fill_at_capacity_ratio", "gauge", "Share of the bits (or counters) that are set at capacity.",
     [](const Facts& facts) { return one(fill_at_capacity(facts.report)); }},
    {"bfstore_false_positive_ratio", "gauge",
     "Share of absent keys that get the answer \"maybe\" now, estimated. 1 while every answer is \"maybe\".",
     [](const Facts& facts) { return one(rate_now(facts.report)); }},
    {"bfstore_promised_false_positive_ratio", "gauge",
     "Highest false-positive ratio that the filter promises at capacity.",
     [](const Facts& facts) { return one(said(facts, &bfstore::ReportedIdentity::fpr)); }},
    {"bfstore_file_bytes", "gauge", "Length of the file.",
     [](const Facts& facts) { return one(static_cast<double>(facts.report.file_bytes)); }},
    {"bfstore_disk_bytes", "gauge", "Space that the file takes on the disk.",
     [](const Facts& facts) { return one(static_cast<double>(facts.report.allocated_bytes)); }},
    {"bfstore_resident_bytes", "gauge", "Part of the filter that is in the page cache.",
     [](const Facts& facts) { return one(number_of(facts.report.resident_bytes)); }},
    {"bfstore_modified_timestamp_seconds", "gauge",
     "When the file was last changed, as the file system saw it. The format has no time of a sync.",
     [](const Facts& facts) { return one(facts.modified_seconds); }},
    {"bfstore_synced_mark", "gauge", "Position in an owner's log: every key up to it is on the disk.", marks},
};

std::string label_value(std::string_view path) {
  bool plain = is_utf8(path);
  for (std::size_t at = 0; plain && at < path.size();) {
    const char32_t code_point = *next_code_point(path, at);
    plain = code_point == '\n' || is_printable(code_point);
  }
  std::string value;
  for (const char c : plain ? std::string(path) : escaped(path, false)) {
    if (c == '\n') {
      value += "\\n";
    } else {
      if (c == '\\' || c == '"') value += '\\';
      value += c;
    }
  }
  return value;
}

std::string shortest(double value) {
  std::array<char, 32> digits{};
  return std::string(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

std::string sample_text(const char* metric, const std::string& path, const Sample& sample) {
  return std::string(metric) + "{file=\"" + label_value(path) + '"' + sample.labels + "} " + shortest(sample.value) +
         '\n';
}

std::string head_of(const char* name, const char* type, const char* help) {
  return std::string("# HELP ") + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n';
}

}  // namespace

std::string metrics_of(const std::vector<InspectedFile>& files) {
  std::string text = head_of("bfstore_up", "gauge", "1 if the file could be read.");
  for (const InspectedFile& file : files) text += sample_text("bfstore_up", file.path, {"", file.facts ? 1.0 : 0.0});
  text +=
      head_of("bfstore_healthy", "gauge",
              "1 if the file needs no attention: the exit code of bfinspect is 0. A file that cannot be read has 0.");
  for (const InspectedFile& file : files) {
    const bool healthy = file.facts && file.facts->verdict == Verdict::kHealthy;
    text += sample_text("bfstore_healthy", file.path, {"", healthy ? 1.0 : 0.0});
  }
  for (const Metric& metric : kMetrics) {
    std::string samples;
    for (const InspectedFile& file : files) {
      if (!file.facts) continue;
      for (const Sample& sample : metric.samples(*file.facts)) samples += sample_text(metric.name, file.path, sample);
    }
    if (!samples.empty()) text += head_of(metric.name, metric.type, metric.help) + samples;
  }
  return text;
}

bool may_be_metrics(std::string_view first) {
  constexpr std::string_view kBegin = "# HELP bfstore_";
  return kBegin.starts_with(first.substr(0, kBegin.size()));
}

}  // namespace bfinspect
