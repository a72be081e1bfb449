// See text_output.hpp.
#include "text_output.hpp"

#include "page.hpp"
#include "sections.hpp"
#include "text.hpp"
#include "words.hpp"

namespace bfinspect {

std::string page_of(const Facts& facts, const Style& style) {
  Page page(style);
  page.title(escaped(facts.report.path, page.ascii()), headline(facts), colour_of(facts.verdict));
  put_facts(page, facts);
  return page.text();
}

}  // namespace bfinspect
