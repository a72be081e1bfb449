// bfinspect's report about the processes that have a file open, which never says "no process" if there may be one that
// it cannot see; and about files of other programs that may have several formats, columns or filters.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "json_output.hpp"
#include "text_output.hpp"
#include "words.hpp"

using namespace bfinspect;

namespace {

Facts clean_filter(Openers openers) {
  Facts facts;
  facts.report.path = "f.bf";
  facts.report.state = bfstore::FileState::kClean;
  facts.report.identity.emplace();
  facts.kind = FileKind::kRegular;
  facts.openers = std::move(openers);
  facts.verdict = Verdict::kHealthy;
  return facts;
}

Facts filter_in_use(Openers openers) {
  Facts facts = clean_filter(std::move(openers));
  facts.report.state = bfstore::FileState::kInUse;
  return facts;
}

bool page_says(const Facts& facts, const std::string& words) {
  return page_of(facts, Style{.columns = 200}).find(words) != std::string::npos;
}

Facts foreign_filter(std::vector<bfstore::ForeignFormat> formats, std::uint32_t filters) {
  Facts facts;
  facts.report.path = "f";
  facts.kind = FileKind::kRegular;
  facts.foreign = Foreign{std::move(formats), std::nullopt};
  if (filters != 0) {
    facts.foreign->filter.emplace();
    facts.foreign->filter->filters = filters;
    facts.report.identity.emplace();
  }
  facts.verdict = verdict_of(*facts.foreign, facts.report, facts.overfull);
  return facts;
}

nlohmann::json json_says(const Facts& facts) { return nlohmann::json::parse(json_of(facts)); }

}  // namespace

TEST_CASE("the report says no process after every process was looked at") {
  const Facts facts = clean_filter(Openers{});
  CHECK(page_says(facts, "\n  no process\n"));
  CHECK(json_says(facts)["open_by"] == nlohmann::json::array());
  CHECK(json_says(facts)["open_by_complete"] == true);
}

TEST_CASE("the report does not say no process if some processes were not looked at") {
  const Facts facts = filter_in_use(Openers{{}, 2, {{77, "one\n", std::nullopt}}, false});
  CHECK_FALSE(page_says(facts, "\n  no process\n"));
  CHECK(page_says(facts, "\n  no process that can be seen from here. Not seen: 2 of other users ("));
  CHECK(page_says(facts, "; 1 of this user (the system forbids to look: 77 one\\n)\n"));
  CHECK(json_says(facts)["open_by"].is_null());
  CHECK(json_says(facts)["open_by_complete"] == false);
  CHECK(json_says(facts)["processes_not_looked_at"] == 3);
  CHECK(page_says(filter_in_use(Openers{{}, 1, {}, false}), "Not seen: 1 of another user ("));
}

TEST_CASE("the page of a file without a writer does not count the processes that could not be looked at") {
  // "1 process of this user could not be looked at" stood under every report of a healthy file.
  for (const auto state : {bfstore::FileState::kClean, bfstore::FileState::kAdoptable}) {
    for (const auto& openers : {Openers{{}, 2, {{77, "one", std::nullopt}}, false}, Openers{{}, 0, {}, true}}) {
      Facts facts = clean_filter(openers);
      facts.report.state = state;
      CHECK(page_says(facts, "\n  no process that can be seen from here\n"));
      CHECK_FALSE(page_says(facts, "Not seen"));
      CHECK(json_says(facts)["open_by"].is_null());
      CHECK(json_says(facts)["processes_not_looked_at"] == openers.not_looked_at());
      facts.openers->seen.push_back({8, "reader", false});
      CHECK(page_says(facts, "8  reader  reading\n  and perhaps others that cannot be seen from here\n"));
      CHECK_FALSE(page_says(facts, "Not seen"));
    }
  }
  for (const auto state : {bfstore::FileState::kUnclean, bfstore::FileState::kUnknown, bfstore::FileState::kEmbedded}) {
    Facts facts = clean_filter(Openers{{}, 2, {}, false});
    facts.report.state = state;
    CHECK(page_says(facts, "Not seen: 2 of other users ("));
  }
}

TEST_CASE("the report does not say no process if processes may be hidden") {
  const Facts facts = filter_in_use(Openers{{}, 0, {}, true});
  CHECK_FALSE(page_says(facts, "\n  no process\n"));
  CHECK(page_says(facts,
                  "no process that can be seen from here. Not seen: any outside this container or hidden in /proc\n"));
  CHECK(json_says(facts)["open_by"].is_null());
}

TEST_CASE("the report has a writer whose lock is held and that is not seen") {
  Facts facts = filter_in_use(Openers{{{7, "reader", false}}, 0, {}, false});
  CHECK(page_says(facts, "7  reader  reading"));
  CHECK(page_says(facts, "7  reader  reading\n  Not seen: the writer that holds its lock\n"));
  CHECK(json_says(facts)["open_by"].size() == 1);
  CHECK(json_says(facts)["open_by_complete"] == false);
  facts.openers->seen.clear();
  CHECK_FALSE(page_says(facts, "\n  no process\n"));
  CHECK(json_says(facts)["open_by"].is_null());
  facts.openers->seen.push_back({8, "writer", true});
  CHECK_FALSE(page_says(facts, "Not seen"));
  CHECK(json_says(facts)["open_by_complete"] == true);
}

TEST_CASE("a process of which the mode is unknown may be the writer that holds the lock") {
  const Facts facts = filter_in_use(Openers{{{7, "unknown", std::nullopt}}, 0, {}, false});
  CHECK_FALSE(page_says(facts, "Not seen"));
  CHECK(json_says(facts)["open_by_complete"] == true);
}

TEST_CASE("a process of which the mode is unknown is listed without one") {
  const Facts facts = clean_filter(Openers{{{7, "some\nname", std::nullopt}}, 0, {}, false});
  CHECK(page_says(facts, "7  some\\nname  mode unknown"));
  CHECK(json_says(facts)["open_by"][0]["mode"].is_null());
}

TEST_CASE("the text of a problem does not reach a terminal raw, nor break the JSON") {
  Facts facts = clean_filter(Openers{});
  facts.report.problems.push_back({bfstore::Code::kChecksum, "bad \x1b[31m\xff name"});
  CHECK(page_says(facts, "bad \\x1b[31m\\xff name"));
  CHECK(json_says(facts)["problems"][0]["code"] == "BFS_ECHECKSUM");
  CHECK(json_says(facts)["problems"][0]["text"] == "bad \\x1b[31m\\xff name");
}

TEST_CASE("unknown openers are null in JSON, and the page does not say no process") {
  Facts facts = clean_filter(Openers{});
  facts.openers.reset();
  CHECK(page_says(facts, "Open by"));
  CHECK_FALSE(page_says(facts, "no process"));
  CHECK(json_says(facts)["open_by"].is_null());
  CHECK(json_says(facts)["processes_not_looked_at"].is_null());
}

TEST_CASE("a file that may have several formats lists them and needs attention") {
  const Facts facts =
      foreign_filter({{.name = "one", .about = "of a program"}, {.name = "two", .about = "of another"}}, 0);
  CHECK(facts.verdict == Verdict::kNeedsAttention);
  CHECK(page_says(facts, "perhaps another program's filter"));
  CHECK(page_says(facts, "one: of a program"));
  CHECK(page_says(facts, "two: of another"));
  CHECK(page_says(facts, "Find out which program made it"));
  CHECK(json_says(facts)["foreign_formats"] == nlohmann::json({"one", "two"}));
  CHECK(json_says(facts)["looks_like"] == "a filter in the format one or two");
  CHECK(json_says(facts)["foreign_filters"].is_null());
}

TEST_CASE("a stretch that is too empty may be due to digests that are not well mixed, where they came from outside") {
  Facts facts = clean_filter(Openers{});
  facts.report.fill.emplace();
  facts.stretches = Stretches{.all = {{512, 9}, {512, 400}}, .judged = true, .hole_would_show = true, .emptier = {0}};
  for (const auto hash : {bfstore::Hash::kXxh3, bfstore::Hash::kExternal}) {
    facts.report.identity->hash = static_cast<std::uint16_t>(hash);
    CHECK(missing_bits_advice(facts).find("1 of 2 stretches") == 0);
    CHECK((missing_bits_advice(facts).find("not well mixed") != std::string::npos) ==
          (hash == bfstore::Hash::kExternal));
    CHECK(page_says(facts, "clean, bits may be missing"));
    CHECK(json_says(facts)["emptier_stretches"] == 1);
  }
}

TEST_CASE("a file of several columns says that one has to be given") {
  const Facts facts = foreign_filter({{.name = "one", .about = "of a program", .needs_column = true}}, 0);
  CHECK(facts.verdict == Verdict::kNeedsAttention);
  CHECK(page_says(facts, "--format one --column C"));
}

TEST_CASE("a file of several filters says how many, and has no promise") {
  const Facts facts = foreign_filter({{.name = "one", .about = "of a program"}}, 3);
  CHECK(facts.verdict == Verdict::kHealthy);
  CHECK(page_says(facts, "3: a key is in the file if one of them has it"));
  CHECK(page_says(facts, "--member N"));
  CHECK(page_says(facts, "unknown"));
  CHECK(json_says(facts)["foreign_filters"] == 3);
  CHECK(json_says(facts)["capacity"].is_null());
  CHECK(json_says(facts)["fpr"].is_null());
}
