// See arguments.hpp. The one source of bfinspect that includes CLI11.
#include "arguments.hpp"

#include <bfstore/bfstore.hpp>

#include <CLI/CLI.hpp>

#include <stdexcept>

namespace bfinspect {
namespace {

constexpr const char* kFooter =
    "Exit status:\n"
    "  0  healthy: clean, in use, or left by a killed writer and ready for use\n"
    "  1  needs attention: unclean, recovering, poisoned, filling, or overfull\n"
    "  2  not a good filter file: every broken rule is listed\n"
    "  3  bad usage, or the file could not be read\n"
    "\n"
    "JSON: every key is always present; null means unknown. Text in any encoding\n"
    "survives: path, note and command are null if they are not UTF-8, and\n"
    "path_bytes, note_bytes and command_bytes have the exact bytes in hex.\n"
    "\n"
    "Examples:\n"
    "  bfinspect users.bf\n"
    "  bfinspect --json --quick users.bf | jq .state";

}  // namespace

std::variant<Arguments, std::string> parse_arguments(int argc, const char* const* argv) {
  CLI::App app(
      "Shows all facts about a bfstore filter file, and every rule that it breaks.\n"
      "Writes nothing and takes no lock. Waits 0.1 s for a process that changes the\n"
      "state of the file, no longer.",
      "bfinspect");
  Arguments arguments;
  app.add_option("FILE", arguments.path, "the filter file")->required()->type_name("");
  app.add_flag("--json", arguments.json, "one JSON object instead of a page");
  app.add_flag("--quick", arguments.quick, "do not count the bits (for huge files)");
  app.set_version_flag("--version", std::string("bfinspect ") + bfstore::version(), "print the version and exit");
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion& version) {
    return version.what() + std::string("\n");
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error(std::string(error.what()) + ". See bfinspect --help.");
  }
  return arguments;
}

}  // namespace bfinspect
