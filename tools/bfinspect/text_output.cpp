// See text_output.hpp.
#include "text_output.hpp"

#include "page.hpp"
#include "sections.hpp"
#include "text.hpp"
#include "words.hpp"

namespace bfinspect {

// True if no section asks for an action: the state alone does not say so.
static bool is_all_well(const Facts& facts) {
  using bfstore::FileState;
  const bfstore::Report& report = facts.report;
  if (facts.verdict != Verdict::kHealthy || facts.foreign || !facts.counted || facts.unverified()) return false;
  const bool is_full = facts.remaining_keys == 0 && !(report.identity && report.identity->seal);
  return !is_full && !(report.turning && report.turning->due) &&
         (report.state == FileState::kClean || report.state == FileState::kInUse);
}

std::string page_of(const Facts& facts, const Style& style) {
  Page page(style);
  page.title(escaped(facts.report.path, page.ascii()), headline(facts) + (is_all_well(facts) ? ": nothing to do" : ""),
             colour_of(facts.verdict));
  put_facts(page, facts);
  return page.text();
}

}  // namespace bfinspect
