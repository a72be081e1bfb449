// bfinspect's pure functions: escaping, UTF-8, numbers, wrapping, and when a filter is overfull.
#include "text.hpp"

#include <doctest/doctest.h>

#include <bfstore/inspect.hpp>
#include <bfstore/plan.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "page.hpp"
#include "verdict.hpp"

using namespace bfinspect;
using namespace std::string_literals;

TEST_CASE("UTF-8 is what RFC 3629 says and nothing more") {
  for (const auto& good : {""s, "plain"s, "\0"s, "\x7f"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xed\x9f\xbf"s,
                           "\xee\x80\x80"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s}) {
    CAPTURE(hex(good));
    CHECK(is_utf8(good));
  }
  for (const auto& bad :
       {"\x80"s, "\xbf"s, "\xc0\xaf"s, "\xc1\xbf"s, "\xc2"s, "\xc2 "s, "\xe0\x9f\xbf"s, "\xe2\x82"s, "\xed\xa0\x80"s,
        "\xf0\x8f\xbf\xbf"s, "\xf0\x9f\x98"s, "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xff"s, "ok\xfe"s}) {
    CAPTURE(hex(bad));
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("no byte and no code point that moves, hides or colors text gets through") {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string shown = escaped(std::string(1, static_cast<char>(byte)), false);
    CAPTURE(byte);
    for (const char c : shown) CHECK((c >= ' ' && c <= '~'));
    CHECK((shown.size() == 1) == (byte >= ' ' && byte <= '~' && byte != '\\'));
  }
  for (const char* hidden : {"\u0080", "\u009b", "\u00ad", "\u061c", "\u200b", "\u200e", "\u200f", "\u2028", "\u202a",
                             "\u202e", "\u2066", "\u2069", "\ufeff", "\U000e0041", "\ufe0f", "\ufffe", "\U0001fffe"}) {
    const std::string shown = escaped(hidden, false);
    CAPTURE(shown);
    CHECK(shown.substr(0, 3) == "\\u{");
  }
}

TEST_CASE("escaping keeps what is readable and is unambiguous") {
  CHECK(escaped("a\nb\tc\rd\\n", false) == "a\\nb\\tc\\rd\\\\n");
  CHECK(escaped("\x1b[31m\x07\x7f", false) == "\\x1b[31m\\x07\\x7f");
  CHECK(escaped("Grün 日本 😀", false) == "Grün 日本 😀");
  CHECK(escaped("Grün", true) == "Gr\\u{fc}n");
  CHECK(escaped("\xff"
                "ab\xe2\x82",
                false) == "\\xffab\\xe2\\x82");
  CHECK(escaped("x\u202ey", false) == "x\\u{202e}y");
  CHECK(escaped("\0z"s, false) == "\\x00z");
}

TEST_CASE("numbers are grouped, and those in human units have the exact one next to them") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(std::numeric_limits<std::uint64_t>::max()) == "18,446,744,073,709,551,615");
  CHECK(bytes_text(0) == "0 bytes");
  CHECK(bytes_text(1) == "1 byte");
  CHECK(bytes_text(1023) == "1023 bytes");
  CHECK(bytes_text(1024) == "1.0 KiB (1,024 bytes)");
  CHECK(bytes_text(1234567) == "1.2 MiB (1,234,567 bytes)");
  CHECK(bytes_text(1048524) == "1023.9 KiB (1,048,524 bytes)");
  CHECK(bytes_text(1048525) == "1.0 MiB (1,048,525 bytes)");
  CHECK(bytes_text(std::numeric_limits<std::uint64_t>::max()) == "16.0 EiB (18,446,744,073,709,551,615 bytes)");
  CHECK(count_text(999'999) == "999,999");
  CHECK(count_text(9'585'408) == "9.59 million (9,585,408)");
  CHECK(interval_text(9'997'000, 10'003'000) == "9.997 million to 10.003 million");
  CHECK(interval_text(9'999'999.8, 10'000'000.3) == "9.9999998 million to 10.0000003 million");
  CHECK(interval_text(2e6, 3e6) == "2.00 million to 3.00 million");
  CHECK(interval_text(12, 15.4) == "12 to 15");
  CHECK(interval_text(999'870, 1'000'123) == "999,870 to 1,000,123");
  CHECK(interval_text(999.2e6, 1'001.1e6) == "999.2 million to 1.0011 billion");
  CHECK(interval_text(999'000, 1'001'000) == "999,000 to 1,001,000");
  CHECK(interval_text(5e6, 5e6) == "5.00 million");
  CHECK(interval_text(3.9, 4.2) == "4");
  CHECK(interval_text(5e6, std::numeric_limits<double>::infinity()) == "5.00 million or more");
  CHECK(about_text(0.4) == "0");
  CHECK(about_text(-3) == "0");
  CHECK(about_text(512'345.4) == "512,345");
  CHECK(about_text(999'999.9) == "1.00 million");
  CHECK(about_text(1.5e300).ends_with(" quintillion"));
}

TEST_CASE("rates are percents, unless they are too low for percents") {
  CHECK(rate_text(0.0083) == "0.83 %");
  CHECK(rate_text(0.01) == "1.00 %");
  CHECK(rate_text(1) == "100.00 %");
  CHECK(rate_text(0.000953) == "0.10 %");
  CHECK(rate_text(0.0009) == "0.090 %");
  CHECK(rate_text(0.0001) == "0.010 %");
  CHECK(rate_text(1e-8) == "1 in 100 million");
  CHECK(rate_text(0) == "0 %");
}

TEST_CASE("no number that is not finite is ever printed") {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double number : {nan, infinity, -infinity}) {
    CHECK(about_text(number) == "unknown");
    CHECK(rate_text(number) == "unknown");
    CHECK(percent_text(number) == "unknown");
  }
  CHECK(rate_text(5e-324) == "less than 1 in a quintillion");
}

TEST_CASE("lines break at spaces, and in words that are longer than a line") {
  CHECK(wrapped("", 10) == std::vector<std::string>{""});
  CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("one two three", 6) == std::vector<std::string>{"one", "two", "three"});
  CHECK(wrapped("abcdefghij", 4) == std::vector<std::string>{"abcd", "efgh", "ij"});
  CHECK(wrapped("a bcdefghij", 4) == std::vector<std::string>{"a", "bcde", "fghi", "j"});
}

TEST_CASE("a page is never wider than its style, whatever is put on it") {
  for (const std::size_t columns : {24ULL, 40ULL, 80ULL}) {
    Page page(Style{false, false, columns});
    page.title(std::string(150, 'p'), "not a good filter file", Colour::kBad);
    page.section("Shape");
    page.row("label", std::string(150, 'v') + " and some words behind it");
    page.row("BFS_EHEADERSIZE", "words and words and words and words");
    page.paragraph("words and words and words and words and words");
    page.bar(0.5, 0.7, "50.0 %", Colour::kGood);
    std::size_t start = 0;
    for (std::size_t end; (end = page.text().find('\n', start)) != std::string::npos; start = end + 1) {
      CHECK(end - start <= columns);
    }
  }
}

TEST_CASE("a bar is as full as its ratio, and the tick stands at its own") {
  const auto drawn = [](double ratio, double tick) {
    Page page(Style{false, false, 20});
    page.bar(ratio, tick, "caption", Colour::kNone);  // leaves 8 cells
    return page.text();
  };
  CHECK(drawn(0, -1) == "  [........] caption\n");
  CHECK(drawn(0.5, -1) == "  [####....] caption\n");
  CHECK(drawn(1, -1) == "  [########] caption\n");
  CHECK(drawn(7, -1) == "  [########] caption\n");
  CHECK(drawn(std::nan(""), -1).size() == drawn(0, -1).size());
  CHECK(drawn(0.25, 0.5) == "  [##..|...] caption\n");
  CHECK(drawn(0.25, 1) == "  [##.....|] caption\n");
  Page page(Style{false, true, 20});
  page.bar(0.3, -1, "caption", Colour::kNone);
  CHECK(page.text() == "  [██▍·····] caption\n");
}

TEST_CASE("plain output has no color, and color ends with every line that has it") {
  Page plain(Style{false, false, 40});
  Page coloured(Style{true, false, 40});
  for (Page* page : {&plain, &coloured}) {
    page->title("name", "state", Colour::kGood);
    page->row("label", "a value that is longer than a line of this page is", Colour::kBad);
  }
  CHECK(plain.text().find('\x1b') == std::string::npos);
  CHECK(coloured.text().find("\x1b[1;31m") != std::string::npos);
  std::size_t start = 0;
  for (std::size_t end; (end = coloured.text().find('\n', start)) != std::string::npos; start = end + 1) {
    const std::string line = coloured.text().substr(start, end - start);
    if (line.find('\x1b') != std::string::npos) CHECK(line.rfind("\x1b[0m") == line.rfind('\x1b'));
  }
}

namespace {

// Returns the report of a classic filter with 9.6 bits a key, 7 probes and their promised rate, and an estimate of
// `keys` keys.
bfstore::Report classic_with(std::uint64_t capacity, double keys) {
  bfstore::Report report;
  report.state = bfstore::FileState::kClean;
  bfstore::ReportedIdentity id;
  id.layout = static_cast<std::uint16_t>(bfstore::Layout::kClassic);
  id.hash = static_cast<std::uint16_t>(bfstore::Hash::kXxh3);
  id.num_bits = static_cast<std::uint64_t>(9.6 * static_cast<double>(capacity));
  id.num_probes = 7;
  id.capacity = capacity;
  id.fpr = std::pow(1 - std::exp(-7 / 9.6), 7);
  bfstore::Fill fill;
  fill.fill_ratio = 1 - std::exp(-7 * keys / static_cast<double>(id.num_bits));
  fill.estimated_keys = keys;
  fill.estimated_fpr = std::pow(fill.fill_ratio, 7);
  report.identity = id;
  report.fill = fill;
  return report;
}

}  // namespace

TEST_CASE("the library escapes bytes of files in its messages, so that their backslashes stay") {
  CHECK(escaped_message("first bytes '\\x00'", false) == "first bytes '\\x00'");
  CHECK(escaped_message("\x1b[2J\xff", false) == "\\x1b[2J\\xff");
  CHECK(escaped("'\\x00'", false) == "'\\\\x00'");
}

TEST_CASE("a filter filled to its capacity is healthy, chance included, and a fuller one is overfull") {
  for (const std::uint64_t capacity : {10ULL, 1000ULL, 1'000'000ULL, 1'000'000'000ULL}) {
    const auto keys = static_cast<double>(capacity);
    CAPTURE(capacity);
    const double deviation = 0.26 * std::sqrt(keys);  // of the estimate at this shape: sqrt(m (e^rho - 1 - rho)) / k
    CHECK(is_overfull(classic_with(capacity, keys)) == false);
    CHECK(is_overfull(classic_with(capacity, keys + 3 * deviation)) == false);
    CHECK(is_overfull(classic_with(capacity, keys + 5 * deviation)) == true);
    CHECK(verdict_of(classic_with(capacity, keys)) == Verdict::kHealthy);
    CHECK(verdict_of(classic_with(capacity, keys * 3)) == Verdict::kNeedsAttention);
  }
}

TEST_CASE("the count of the header is the limit of bf, and counts without the bits, too") {
  for (const std::uint64_t more : {0ULL, 1ULL}) {
    bfstore::Report report = classic_with(1000, 990);
    report.keys_added = 1500 + more;
    report.keys_removed = 500;
    CHECK(is_overfull(report) == (more == 1));
    CHECK((remaining_keys(report) == 0U) == (more == 1));
    report.fill.reset();
    CHECK(is_overfull(report) == (more == 1));
    CHECK_FALSE(remaining_keys(report).has_value());
    report.keys_removed.reset();  // another program's count, of which nothing is known
    CHECK_FALSE(is_overfull(report).has_value());
  }
}

TEST_CASE("a filter that gives the answer maybe alone has a rate of 1, whatever its bits are") {
  bfstore::Report report = classic_with(1000, 500);
  CHECK(*rate_now(report) == report.fill->estimated_fpr);
  report.filling = true;
  CHECK(*rate_now(report) == 1);
  report.filling = false;
  for (const auto state :
       {bfstore::FileState::kRecovering, bfstore::FileState::kPoisoned, bfstore::FileState::kSuperseded}) {
    report.state = state;
    CHECK(*rate_now(report) == 1);
  }
  report.fill.reset();
  CHECK_FALSE(rate_now(report).has_value());
}

TEST_CASE("more keys than asked for are no harm while the promised rate holds") {
  bfstore::Report report = classic_with(1000, 1500);
  report.identity->fpr = report.fill->estimated_fpr * 1.01;
  CHECK(is_overfull(report) == false);
}

TEST_CASE("a full filter is overfull and has no room, whatever its estimate is") {
  bfstore::Report report = classic_with(1000, 5000);
  report.fill->estimated_keys = std::numeric_limits<double>::infinity();
  report.fill->estimated_fpr = 1;
  CHECK(is_overfull(report) == true);
  CHECK(remaining_keys(report) == 0);
}

TEST_CASE("a report without a fill, or with a problem, is not judged") {
  bfstore::Report uncounted = classic_with(1000, 5000);
  uncounted.fill.reset();
  CHECK_FALSE(is_overfull(uncounted).has_value());
  CHECK_FALSE(remaining_keys(uncounted).has_value());
  bfstore::Report broken = classic_with(1000, 5000);
  broken.problems.push_back({bfstore::Code::kChecksum, "broken"});
  CHECK_FALSE(is_overfull(broken).has_value());
  CHECK_FALSE(remaining_keys(broken).has_value());
  CHECK_FALSE(fill_at_capacity(broken).has_value());
  CHECK(verdict_of(broken) == Verdict::kNotGood);
}

TEST_CASE("how many more keys fit is the number that keeps the promised rate, less the estimate") {
  CHECK(remaining_keys(classic_with(1000, 0)) == 1000);
  CHECK(remaining_keys(classic_with(1000, 250.2)) == 749);
  CHECK(remaining_keys(classic_with(1000, 1000)) == 0);
  CHECK(remaining_keys(classic_with(1000, 1300)) == 0);
  bfstore::Report rounded_up = classic_with(1000, 250.2);
  rounded_up.identity->capacity = 500;
  CHECK(remaining_keys(rounded_up).value_or(0) > 740);  // the exact rate is a little above Bloom's
  CHECK(remaining_keys(rounded_up).value_or(999) < 750);
  bfstore::Report exceeded = classic_with(1000, 900);
  exceeded.fill->estimated_fpr = exceeded.identity->fpr * 1.001;
  CHECK(remaining_keys(exceeded) == 0);
  bfstore::Report no_rate = classic_with(1000, 250.2);
  no_rate.identity->fpr = 1;
  CHECK(remaining_keys(no_rate) == 749);
}

// m = 15 * 2^12, of which java-polynomial reaches 2^15 bits. The estimate's deviation is sqrt(2^15 (e^rho - 1 - rho)) /
// 7 = 13.1 keys with rho = 7 * 3000 / 2^15, and would be 9.1 if all m bits counted.
TEST_CASE("the expected fill and the limit of a masked m are those of the bits that are reached") {
  bfstore::Report report = classic_with(3000, 3045);
  report.identity->hash = static_cast<std::uint16_t>(bfstore::Hash::kJavaPolynomial);
  report.identity->num_bits = 15 << 12;
  CHECK(*fill_at_capacity(report) == doctest::Approx((1 - std::exp(-7.0 * 3000 / 32768)) * 8 / 15).epsilon(1e-4));
  bfstore::PlanRequest full;
  full.layout = bfstore::Layout::kClassic;
  full.hash = bfstore::Hash::kJavaPolynomial;
  full.capacity = 3000;
  full.num_bits = 15 << 12;
  full.num_probes = 7;
  report.identity->fpr = bfstore::plan(full)->fpr;
  CHECK(report.fill->estimated_fpr > report.identity->fpr);
  CHECK(is_overfull(report) == false);
  report.fill->estimated_keys = 3060;
  CHECK(is_overfull(report) == true);
}

TEST_CASE("the expected fill at capacity is that of the layout") {
  bfstore::Report report = classic_with(1'000'000, 0);
  CHECK(*fill_at_capacity(report) == doctest::Approx(1 - std::exp(-7 / 9.6)).epsilon(1e-4));
  report.identity->layout = static_cast<std::uint16_t>(bfstore::Layout::kBlocked);
  report.identity->num_bits = 9'600'000 / 512 * 512;
  // Computed by summing 1 - (1 - 1/512)^(7 x) over the Poisson distribution with the mean 512 / 9.6.
  double expected = 0;
  const double mean = 1e6 / static_cast<double>(report.identity->num_bits / 512);
  for (int x = 0; x < 300; ++x) {
    expected += std::exp(x * std::log(mean) - mean - std::lgamma(x + 1)) * (1 - std::pow(511.0 / 512, 7 * x));
  }
  CHECK(*fill_at_capacity(report) == doctest::Approx(expected).epsilon(1e-9));
}

TEST_CASE("keys are counted without bits only if no honest history explains it") {
  bfstore::Report report = classic_with(1000, 0);
  report.fill->estimated_keys_high = 0;
  const auto counts = [&](std::uint64_t added, std::uint64_t set, double high, std::uint64_t removed = 0) {
    report.keys_added = added;
    report.keys_removed = removed;
    report.fill->set_bits = set;
    report.fill->estimated_keys_high = high;
    return counts_keys_without_bits(report);
  };
  CHECK(counts(1, 0, 0));
  CHECK(!counts(0, 0, 0));
  CHECK(counts(1000, 700, 110));
  CHECK(!counts(1000, 700, 130));  // eight power cuts, or eight processes with one list
  CHECK(!counts(1000, 1000, 0));   // badly mixed digests
  CHECK(!counts(1000, 700, std::numeric_limits<double>::infinity()));
  CHECK(may_lack_bits(report, std::nullopt) == std::nullopt);
  CHECK(counts(1000, 0, 0));
  CHECK(may_lack_bits(report, std::nullopt) == true);
  CHECK(verdict_of(report) == Verdict::kNeedsAttention);
  report.turning = bfstore::Turning{};
  CHECK(counts(1000, 0, 0));
  report.turning->epoch = 1;
  CHECK(!counts(1000, 0, 0));
  report.turning.reset();
  report.identity->layout = static_cast<std::uint16_t>(bfstore::Layout::kCounting);
  CHECK(counts(1000, 0, 0));
  CHECK(!counts(1000, 0, 0, 900));  // a killed remove
  report.state = bfstore::FileState::kInUse;
  CHECK(!counts(1000, 0, 0));  // a remove may have begun after the counts were read
  report.state = bfstore::FileState::kClean;
  report.keys_added.reset();
  CHECK(!counts_keys_without_bits(report));
}

TEST_CASE("every state that needs attention says so in the verdict") {
  using bfstore::FileState;
  bfstore::Report report = classic_with(1000, 10);
  for (const FileState good : {FileState::kClean, FileState::kInUse, FileState::kAdoptable, FileState::kEmbedded}) {
    report.state = good;
    CHECK(verdict_of(report) == Verdict::kHealthy);
  }
  for (const FileState bad : {FileState::kUnclean, FileState::kRecovering, FileState::kPoisoned, FileState::kUnknown}) {
    report.state = bad;
    CHECK(verdict_of(report) == Verdict::kNeedsAttention);
    report.problems.push_back({bfstore::Code::kSlots, "broken"});
    CHECK(verdict_of(report) == Verdict::kNotGood);  // the worst counts
    report.problems.clear();
  }
}
