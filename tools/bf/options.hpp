// The options that commands share, and the other functions with which a command declares its arguments.
#pragma once

#include "commands.hpp"
#include "description.hpp"
#include "help.hpp"
#include "words.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace bf {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

inline constexpr double kUsualFpr = 0.01;  // if nothing else gives the size

// Texts in the help of several commands.
// The usage after the file's name, for create and build.
inline constexpr const char* kShapeUsage =
    "[--layout L] [--window TIME] [--hash H] [--seed S | --secret-file PATH] [--note TEXT] [--mode MODE] [--force] "
    "[-q]";
inline constexpr const char* kAboutNumbers =
    "Numbers: 10M, 1.5G (k M G T are powers of 1000), 1e7, 10_000_000, 64MiB (Ki Mi Gi Ti: of 1024).\n";
inline constexpr const char* kAboutForce =
    "\n--force keeps the hash, its seed and its secret of the filter that it replaces, unless --hash, --seed or --like "
    "say\n"
    "otherwise: so readers that follow the path (BFS_FOLLOW) continue with the new file. Its writers get an error, "
    "and\n"
    "its other readers get maybe until they open the path again. --hash xxh3 takes a new seed. A file that is no "
    "filter is not replaced.\n";
inline constexpr const char* kAboutKeys =
    "Keys are bytes, one on each line of a list. Put -- before a key that begins with a dash. Without KEY and --from,\n"
    "and for -, they are read from standard input. How lists are read, and which are refused: bf help keys.\n";

// What the long help says besides the arguments: what the command does, examples that can be typed, and its exit codes.
inline constexpr const char* kErrorCode = "an error: one line on standard error says what to do";
std::vector<tools::Entry> usual_codes();
std::vector<tools::Entry> answer_codes();  // of a command that asks for keys
void add_texts(CLI::App& app, const std::string& about, const std::string& examples,
               const std::vector<tools::Entry>& codes = usual_codes(), const std::vector<tools::Entry>& topics = {});

// Divides the options into groups, the same in every command. Call it after all options were added.
void add_groups(CLI::App& app);

// The numbers of a filter. Each has one name in all commands.
CLI::Option* add_capacity(CLI::App& app, bfstore::Options& options, const std::string& help);
// Instead of --capacity: after the other options for the size.
void add_capacity_at_most(CLI::App& app, bfstore::Options& options);
CLI::Option* add_fpr(CLI::App& app, bfstore::Options& options, const std::string& help);
CLI::Option* add_bits_per_key(CLI::App& app, bfstore::Options& options, const std::string& help);
CLI::Option* add_max_bytes(CLI::App& app, bfstore::Options& options, const std::string& help);
CLI::Option* add_bits(CLI::App& app, bfstore::Options& options, const std::string& help);
CLI::Option* add_probes(CLI::App& app, bfstore::Options& options, const std::string& help);
CLI::Option* add_layout(CLI::App& app, bfstore::Options& options, const std::string& help);
CLI::Option* add_window(CLI::App& app, bfstore::Options& options, const std::string& help);

void add_file(CLI::App& app, Arguments& arguments, const std::string& help);
void add_keys(CLI::App& app, Arguments& arguments);  // KEY..., --from and how keys end
void add_separator(CLI::App& app, Arguments& arguments);
void add_key_form(CLI::App& app, Arguments& arguments);
CLI::Option* add_any(CLI::App& app, Arguments& arguments);
void add_sources(CLI::App& app, Arguments& arguments, const std::string& help);
void add_secret_file(CLI::App& app, Arguments& arguments);
void add_lock_timeout(CLI::App& app, Arguments& arguments, const std::string& usually = "default: 5000");
void add_any_filesystem(CLI::App& app, Arguments& arguments);
void add_small_pages(CLI::App& app, Arguments& arguments);
void add_quiet(CLI::App& app, Arguments& arguments);
void add_mode(CLI::App& app, bfstore::Options& options);
void add_part(CLI::App& app, bfstore::Options& options);
void add_parts(CLI::App& app, Arguments& arguments, const std::string& help);

// Adds --key-form to a command that makes one filter of several.
void add_form_of_sources(CLI::App& app, Arguments& arguments);

// Adds the options of commands that make a new file of filters. `force` is the help of --force.
void add_new_file(CLI::App& app, Arguments& arguments, const std::string& force);

// Adds --accept-loss (replaced.hpp) to a command that makes a filter of filters, after its --force.
void add_accept_loss(CLI::App& app, Arguments& arguments, const std::string& replaced);

// The same words in the help of each of these commands.
inline constexpr const char* kAboutLoss =
    "\nA filter that may have keys which the new file lacks is not replaced without --accept-loss: bf compares the\n"
    "bits. It cannot compare another filter (seed, size, layout), a static one or one whose keys expire: unless such "
    "a\n"
    "filter is empty, it is not replaced without --accept-loss either.\n";

// The help of --force of the commands that keep the hash of the filter that they replace: see kAboutForce.
inline constexpr const char* kForce = "replace FILE if it exists; keep its hash, seed and secret";

// Adds the options for the shape and the file of a new filter. `counted`: bf counts the keys, so --capacity may be left
// out. `force` is the help of --force.
void add_shape(CLI::App& app, Arguments& arguments, bool counted, const std::string& force);

// Adds the options for what another program's bytes do not say of their filter: its size, hash and seeds. They need
// `format`, and so do the options from number `first` on.
void add_unsaid(CLI::App& app, Arguments& arguments, CLI::Option* format, std::size_t first);

// The options from number `first` on need `option`.
void need(CLI::App& app, CLI::Option* option, std::size_t first);

// Adds --create, and the options for the shape and the file of the new filter, which need it.
void add_create(CLI::App& app, Arguments& arguments);

void add_filling(CLI::App& app, bfstore::Options& options);

// These check rules for a new filter's shape that the grammar cannot express. They throw Failure.
void check_bits(const Arguments& arguments);
void check_create(Arguments& arguments);  // that a size is given, and all the rest; completes it
// Of --bits and --probes, adds the one that was not given: the best for the capacity, or for the usual rate.
void complete_size(Arguments& arguments);
void check_hash(const Arguments& arguments);
[[noreturn]] void fail_unsized(const Arguments& arguments);

// The words that the parsers of these options know.
tools::Words known_words();

}  // namespace bf
