// bf compare: says in what two filters differ, and how many keys they have in common.
#include "filter_use.hpp"
#include "key_form.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>

namespace bf {
namespace {

void declare_compare(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf compare A B [--json | -q] [--key-form FORM] [--secret-file PATH]");
  add_path(app, "A", "the first filter; it may be in use", "", arguments.file)->required();
  add_path(app, "B", "the second filter", "", arguments.target)->required();
  app.add_flag("--json", arguments.json, "print one JSON object")
      ->excludes(app.add_flag("-q,--quiet", arguments.quiet, "print nothing: the exit code is the answer"));
  add_form_of_sources(app, arguments);
  add_secret_file(app, arguments);
  add_any_filesystem(app, arguments);
  add_texts(
      app,
      "The numbers of keys are estimates, each with the interval that has it in 95 of 100 cases. They need filters "
      "that\n"
      "differ in nothing but the number of bits, of which one is a multiple of the other; the larger filter then "
      "counts\n"
      "as folded to the size of the smaller one. Filters of the counting layout are equal if all counters are, and a\n"
      "key counts once in them, however often it was added. Filters whose notes name two forms of keys are refused.\n",
      "  bf compare customers.bf readers.bf\n  bf compare users.bf backup/users.bf -q || echo differs",
      {{"0", "the bits are equal: both say the same of every key"}, {"1", "they are not equal"}, {"2", kErrorCode}});
}

using bfstore::Comparison;
using bfstore::Interval;
using Json = nlohmann::ordered_json;

// One value of a filter that decides where the bits of a key are.
struct Trait {
  const char* name;
  const char* key;  // in JSON
  bool bfstore::Differences::*differs;
  std::string (*words)(const bfstore::Shape& shape);  // nullptr: it is secret, or not in the shape
};

std::string layout_words(const bfstore::Shape& shape) { return bfstore::layout_of(shape.layout)->name; }
std::string hash_words(const bfstore::Shape& shape) { return bfstore::hash_of(shape.hash)->name; }
std::string seed_words(const bfstore::Shape& shape) { return std::to_string(shape.seed); }
std::string probes_words(const bfstore::Shape& shape) { return std::to_string(shape.num_probes); }
std::string bits_words(const bfstore::Shape& shape) { return grouped(shape.num_bits); }

constexpr Trait kTraits[] = {{"layout", "layout", &bfstore::Differences::layout, layout_words},
                             {"hash", "hash", &bfstore::Differences::hash, hash_words},
                             {"seed", "seed", &bfstore::Differences::seed, seed_words},
                             {"secret", "secret", &bfstore::Differences::secret, nullptr},
                             {"number of probes", "num_probes", &bfstore::Differences::num_probes, probes_words},
                             {"number of bits", "num_bits", &bfstore::Differences::num_bits, bits_words},
                             {"part", "part", &bfstore::Differences::part, nullptr}};

struct Pair {
  std::string name_a;
  std::string name_b;
  bfstore::Shape a;
  bfstore::Shape b;
  Comparison found;
};

std::string number_words(double number) {
  if (std::isinf(number)) return "any number";
  return grouped(static_cast<std::uint64_t>(std::llround(number)));
}

// The ends of the interval are rounded outwards.
std::string keys_words(const Interval& keys) {
  return number_words(keys.estimate) + " (" + number_words(std::floor(keys.low)) + " to " +
         number_words(std::ceil(keys.high)) + ")";
}

// With as many digits as the ends of the interval need to differ.
std::string ratio_words(const Interval& ratio) {
  constexpr int kMostDigits = 12;
  int digits = 3;
  while (digits < kMostDigits && short_number(ratio.low, digits) == short_number(ratio.high, digits)) ++digits;
  return short_number(ratio.estimate, digits) + " (" + short_number(ratio.low, digits) + " to " +
         short_number(ratio.high, digits) + ")";
}

std::string differing_words(const Pair& pair) {
  std::string words;
  for (const Trait& trait : kTraits) {
    if (!(pair.found.differ.*trait.differs)) continue;
    words += words.empty() ? "" : ", ";
    words += trait.name;
    // Secrets and parts have no words, and a list of seeds has too many.
    if (trait.words == nullptr || trait.words(pair.a) == trait.words(pair.b)) continue;
    words.append(" ").append(trait.words(pair.a)).append(" and ").append(trait.words(pair.b));
  }
  return words;
}

std::string bits_of(const Pair& pair) {
  const Comparison& found = pair.found;
  if (found.equal) return "equal: both say the same of every key";
  const std::string folded = found.differ.num_bits ? ", in the size of the smaller one" : "";
  if (found.a_in_b && found.b_in_a) return "equal" + folded;
  if (found.a_in_b) return "every bit of " + pair.name_a + " is in " + pair.name_b + folded;
  if (found.b_in_a) return "every bit of " + pair.name_b + " is in " + pair.name_a + folded;
  return "each has some that the other lacks";
}

void print_text(const Pair& pair) {
  const Comparison& found = pair.found;
  const std::string differing = differing_words(pair);
  report(differing.empty() ? "shape: the same" : "differ in: " + differing);
  report("keys of " + pair.name_a + ": about " + keys_words(found.keys_a));
  report("keys of " + pair.name_b + ": about " + keys_words(found.keys_b));
  if (!found.comparable) {
    report("keys of both: cannot be told of filters that differ so. Make filters like each other (bf create --like)");
    return;
  }
  report("keys of either: about " + keys_words(found.keys_either));
  report("keys of both: about " + keys_words(found.keys_both) +
         (found.some_in_both ? "" : ", which cannot be told from none"));
  report("Jaccard: about " + ratio_words(found.jaccard));
  report("bits: " + bits_of(pair));
}

Json json_of(const Interval& interval) {
  Json object;
  object["estimate"] = interval.estimate;
  object["low"] = interval.low;
  object["high"] = std::isinf(interval.high) ? Json() : Json(interval.high);
  return object;
}

void print_json(const Pair& pair) {
  const Comparison& found = pair.found;
  Json out;
  out["schema"] = 2;  // in 1, which had no number, two names in differ were words
  out["a"] = pair.name_a;
  out["b"] = pair.name_b;
  out["differ"] = Json::array();
  for (const Trait& trait : kTraits) {
    if (found.differ.*trait.differs) out["differ"].push_back(trait.key);
  }
  out["comparable"] = found.comparable;
  out["keys_a"] = json_of(found.keys_a);
  out["keys_b"] = json_of(found.keys_b);
  for (const char* name : {"equal", "a_in_b", "b_in_a", "some_in_both", "num_bits", "set_bits_a", "set_bits_b",
                           "set_bits_both", "keys_either", "keys_both", "jaccard"})
    out[name] = Json();
  if (found.comparable) {
    out["equal"] = found.equal;
    out["a_in_b"] = found.a_in_b;
    out["b_in_a"] = found.b_in_a;
    out["some_in_both"] = found.some_in_both;
    out["num_bits"] = found.num_bits;
    out["set_bits_a"] = found.set_bits_a;
    out["set_bits_b"] = found.set_bits_b;
    out["set_bits_both"] = found.set_bits_both;
    out["keys_either"] = json_of(found.keys_either);
    out["keys_both"] = json_of(found.keys_both);
    out["jaccard"] = json_of(found.jaccard);
  }
  report_text(out.dump(2, ' ', false, Json::error_handler_t::replace));
}

int compare(const Arguments& arguments) {
  const bfstore::Filter a = unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  const bfstore::Filter b =
      unwrap(open_filter_at(arguments.target, arguments, bfstore::OpenMode::kRead), arguments.target);
  OneForm forms(arguments.key_form, "One key has other bits in each, so no number of common keys would mean anything.");
  forms.take(a.note(), arguments.file);
  forms.take(b.note(), arguments.target);
  const Pair pair{arguments.file, arguments.target, a.shape(), b.shape(), unwrap(a.compare(b), arguments.file)};
  if (arguments.json) {
    print_json(pair);
  } else if (!arguments.quiet) {
    print_text(pair);
  }
  return pair.found.equal ? 0 : 1;
}

}  // namespace

const Command kCompare{"compare", "Say in what two filters differ, and how many keys both have", declare_compare,
                       compare};

}  // namespace bf
