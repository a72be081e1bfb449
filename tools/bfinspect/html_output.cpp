// See html_output.hpp.
#include "html_output.hpp"

#include <bfstore/bfstore.hpp>

#include <ctime>

#include "html_charts.hpp"
#include "html_page.hpp"
#include "sections.hpp"
#include "text.hpp"
#include "words.hpp"

namespace bfinspect {
namespace {

// The policy forbids everything that a browser could fetch or run, should text from the file ever become HTML.
constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
)";

constexpr const char* kStyle = R"(<style>
:root { --back: #f6f7f9; --card: #fff; --text: #1b1f24; --dim: #57606a; --line: #d8dee4;
  --bar: #2f6fb3; --curve: #0b5cad; --limit: #9a4a00; --good: #116329; --warning: #7a4f00; --bad: #b3201c; }
@media (prefers-color-scheme: dark) { :root { --back: #14171b; --card: #1e2329; --text: #e6e9ed; --dim: #a3adb8;
  --line: #3a424b; --bar: #5a9be0; --curve: #7db5f0; --limit: #f0a35c; --good: #6fce84; --warning: #e8b64c;
  --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0 0 .75rem; font-size: 1.15rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
section, .verdict { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem;
  margin-top: 1rem; }
.verdict { border-left: .4rem solid currentColor; }
.verdict p { color: var(--text); }
.verdict strong { font-size: 1.15rem; }
.good { color: var(--good); } .warning { color: var(--warning); } .bad { color: var(--bad); }
.dim, .meaning, figcaption, footer { color: var(--dim); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; margin: 1rem 0 0;
  padding: 0; list-style: none; }
.figures li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1.25rem; }
.figures b { display: block; font-size: 1.5rem; line-height: 1.3; }
.figures span { display: block; color: var(--dim); font-size: .9rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); column-gap: 1rem; }
figure { margin: 0; }
figcaption { font-size: .9rem; max-width: 38rem; }
svg { display: block; width: 100%; max-width: 38rem; height: auto; font: 14px system-ui, sans-serif; }
svg text { fill: var(--text); }
svg .halo { paint-order: stroke; stroke: var(--card); stroke-width: 5px; stroke-linejoin: round; }
svg .strong { font-weight: 700; }
svg .grid { stroke: var(--line); }
svg .bar { fill: var(--bar); } svg .bad { fill: var(--bad); } svg .hole { fill: var(--bad); opacity: .35; } svg .frame { fill: var(--line); }
svg .curve { stroke: var(--curve); stroke-width: 3; }
svg .under { stroke: var(--card); stroke-width: 4; }
svg .limit { stroke: var(--limit); stroke-width: 2; stroke-dasharray: 5 4; }
svg .here { fill: var(--text); stroke: var(--card); stroke-width: 2; }
svg .arrow { stroke: var(--text); stroke-width: 3; }
.bar svg { height: 1rem; border-radius: .25rem; }
.bar .limit { stroke-dasharray: none; }
dl { margin: .5rem 0 0; }
dl > div { display: grid; grid-template-columns: 11rem minmax(0, 1fr) minmax(0, 1fr); gap: 0 1.25rem; padding: .4rem 0;
  border-top: 1px solid var(--line); }
dt { font-weight: 600; overflow-wrap: anywhere; }
dd { margin: 0; overflow-wrap: anywhere; }
dd:nth-child(2):last-child { grid-column: 2 / -1; }
.meaning { font-size: .9rem; }
footer { margin-top: 1rem; font-size: .9rem; }
@media (max-width: 44rem) { dl > div { grid-template-columns: minmax(0, 1fr); }
  dd:nth-child(2):last-child { grid-column: auto; } .figures b { font-size: 1.25rem; } .figures li { padding: .75rem .9rem; }
  main { padding: 1rem .6rem; }
  section, .verdict { padding: .9rem; } }
</style>
)";

std::string words_for(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHealthy:
      return "Healthy";
    case Verdict::kNeedsAttention:
      return "Needs attention";
    case Verdict::kNotGood:
    case Verdict::kFailed:
      break;
  }
  return "Not to be trusted";
}

// That it was closed well, or answers, is no comfort for a file that needs attention for another reason.
bool is_only_good(const bfstore::Report& report) {
  using bfstore::FileState;
  const bool sealed = report.identity && report.identity->seal;
  return (report.state == FileState::kClean && !sealed) || report.state == FileState::kEmbedded;
}

std::string advice(const Facts& facts) {
  if (facts.foreign || !facts.report.valid()) return way_out(facts);
  std::string said;
  if (facts.lacks_bits()) said = missing_bits_advice(facts) + " ";
  if (facts.overfull.value_or(false)) {
    said += overfull_cause(facts.report) + ", and answers \"maybe\" more often than it promised. " +
            overfull_advice(facts.report) + ". ";
  }
  if (facts.leaky.value_or(false)) {
    said += "It has keys that no remove takes away any more, so it answers \"maybe\" more often than it would. " +
            leaky_advice() + ". ";
  }
  if (facts.report.filling) said += "Every answer is \"maybe\" until bf finish-filling says that all keys were added. ";
  if (facts.verdict == Verdict::kHealthy && facts.remaining_keys == 0U)
    said += "It is full: more keys would break its promise. Build a larger one before they come (bf build). ";
  if (is_epoch_over(facts.report)) said += epoch_advice(facts.report) + " ";
  if (!said.empty() && facts.verdict != Verdict::kHealthy && is_only_good(facts.report)) {
    said.pop_back();  // the blank
    return said;
  }
  return said + state_advice(facts);
}

std::string verdict_box(const Facts& facts) {
  return "<div class=\"verdict " + std::string(html_class(colour_of(facts.verdict))) + "\"><strong>" +
         words_for(facts.verdict) + ": " + html_escaped(headline(facts)) + "</strong><p>" +
         html_escaped(advice(facts)) + "</p></div>\n";
}

std::string key_figure(const std::string& name, const std::string& value, const std::string& more) {
  return "<li><span>" + html_escaped(name) + "</span><b>" + html_escaped(value) + "</b><span>" + html_escaped(more) +
         "</span></li>\n";
}

constexpr const char* kForHoles = "since bits may be missing";

// The rate alone may be above the promise by chance, in a filter that is filled exactly to its capacity.
std::string room_figure(const Facts& facts) {
  if (!facts.remaining_keys) return {};
  if (facts.overfull.value_or(false)) return key_figure("Room", "none", "the promised rate is exceeded");
  if (facts.lacks_bits()) return key_figure("Room", "unknown", kForHoles);
  if (*facts.remaining_keys == 0)
    return key_figure("Room", "none", "the promised rate is reached, within the error of the estimate");
  if (can_grow(facts.report))
    return key_figure("Room", "it grows", room_to_grow_text(facts.report, *facts.remaining_keys));
  const auto room = static_cast<double>(*facts.remaining_keys);
  const double to_capacity = static_cast<double>(body_of(facts.report).capacity) - facts.report.fill->estimated_keys;
  const bool differ = to_capacity >= 0.5 && about_text(to_capacity) != about_text(room);
  return key_figure("Room", "about " + about_text(room),
                    "more keys until the promised rate is exceeded" +
                        (differ ? ", " + about_text(to_capacity) + " of them to the capacity" : std::string()));
}

std::string key_figures(const Facts& facts) {
  const bfstore::Report& report = facts.report;
  if (!report.valid() || !report.identity || !report.fill) return {};
  const bfstore::ReportedIdentity& id = *report.identity;
  const bfstore::Fill& fill = *report.fill;
  std::string list = "<ul class=\"figures\">\n";
  const auto capacity = static_cast<double>(body_of(report).capacity);
  const std::string of_all = capacity == 0 ? "capacity unknown"
                                           : "of its capacity of " + about_text(capacity) +
                                                 (can_grow(report) ? " with the slices of now" : "");
  list += facts.lacks_bits() ? key_figure("Keys now", "unknown", kForHoles)
                             : key_figure("Keys now", keys_now_text(report), of_all);
  const auto full = fill_at_capacity(report);
  list += key_figure(has_counters(id) ? "Counters set" : "Bits set", percent_text(fill.fill_ratio),
                     full ? percent_text(*full) + " at capacity" : "");
  list += key_figure("False positives now", rate_text(*rate_now(report)),
                     (answers_maybe_alone(report) ? rate_text(fill.estimated_fpr) + " by the bits" : "") +
                         (answers_maybe_alone(report) && id.fpr != 0 ? ", " : "") +
                         (id.fpr == 0 ? "" : rate_text(id.fpr) + " promised"));
  return list + room_figure(facts) + "</ul>\n";
}

std::string chart_section(const std::string& name, const std::string& chart) {
  return chart.empty() ? std::string() : "<section>\n<h2>" + name + "</h2>\n" + chart + "</section>\n";
}

std::string charts(const Facts& facts) {
  const std::string all = chart_section("Damage along the file", damage_chart(facts)) +
                          chart_section("Fill along the file", fill_chart(facts)) +
                          chart_section("False positives as the filter fills", rate_chart(facts));
  return all.empty() ? all : "<div class=\"charts\">\n" + all + "</div>\n";
}

}  // namespace

std::string html_of(const Facts& facts) {
  const std::string path = html_escaped(escaped(facts.report.path, false));
  HtmlPage sections;
  put_facts(sections, facts);
  return kHead + ("<title>" + path + ": " + html_escaped(headline(facts)) + "</title>\n") + kStyle +
         "</head>\n<body>\n<main>\n<h1>" + path + "</h1>\n" + verdict_box(facts) + key_figures(facts) + charts(facts) +
         sections.finished() + "<footer><p>As bfinspect " + bfstore::version() + " saw the file at " +
         moment_text(std::time(nullptr)) +
         ". The file may have changed since.</p></footer>\n</main>\n</body>\n</html>\n";
}

}  // namespace bfinspect
