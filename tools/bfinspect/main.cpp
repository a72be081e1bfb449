// bfinspect: everything that a filter file says of itself, for a person or as JSON. Opens the file for reading alone,
// takes no lock and recovers nothing.
#include <bfstore/bfstore.hpp>

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <variant>

#include "arguments.hpp"
#include "facts.hpp"
#include "json_output.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "text_output.hpp"

namespace bfinspect {
namespace {

int complain(const std::string& message) {
  const std::string line = "bfinspect: " + escaped(message, !locale_is_utf8()) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return static_cast<int>(Verdict::kFailed);
}

// Writes all of `text` to standard output. Returns an errno on failure.
int write_out(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return 0;
}

// The verdict counts, even if no program reads the output (a closed pipe).
int finish(const std::string& text, Verdict verdict) {
  const int failed = write_out(text);
  if (failed != 0 && failed != EPIPE) return complain(std::string("standard output: ") + std::strerror(failed));
  return static_cast<int>(verdict);
}

std::string with_way_out(const bfstore::Error& error) {
  if (error.code != bfstore::Code::kNotFound) return error.message;
  return error.message + (error.message.ends_with('.') ? " " : ". ") + "bf create makes one.";
}

int inspect(const Arguments& arguments) {
  const bfstore::Result<bfstore::Report> report = bfstore::inspect(arguments.path, !arguments.quick);
  if (!report) {
    complain(with_way_out(report.error()));
    return finish(arguments.json ? json_of(arguments.path, report.error()) : "", Verdict::kFailed);
  }
  const Facts facts = gather(*report, !arguments.quick);
  return finish(arguments.json ? json_of(facts) : page_of(facts, style_of_output()), facts.verdict);
}

int run(int argc, char** argv) {
  const std::variant<Arguments, std::string> parsed = parse_arguments(argc, argv);
  if (const auto* const arguments = std::get_if<Arguments>(&parsed)) return inspect(*arguments);
  return finish(std::get<std::string>(parsed), Verdict::kHealthy);
}

}  // namespace
}  // namespace bfinspect

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  try {
    return bfinspect::run(argc, argv);
  } catch (const std::exception& error) {
    return bfinspect::complain(error.what());
  }
}
