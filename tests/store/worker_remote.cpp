// A filter that obeys lines on standard input and answers each with one line:
//   open read|write|exclusive|recover   BFS_OK or the code's name
//   create | close | sync OWNER MARK | health     BFS_OK or the code's name
//   add WRITER FROM COUNT       how many keys were new, or the code's name
//   ask WRITER FROM COUNT       how many keys may be there
//   recovered OWNER             1 if the recovery is over, 0 if not, or the code's name
//   mark OWNER                  the mark
//   drop OWNER                  BFS_OK or the code's name
//   child                       what an inherited handle does in a forked child which just ends: "done"
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>

#include "keys.hpp"
#include "workers.hpp"

namespace store_test {

using namespace bfstore;

namespace {

class RemoteFilter {
 public:
  explicit RemoteFilter(std::string path) : path_(std::move(path)) {}

  std::string obey(std::istream& line) {
    std::string verb;
    line >> verb;
    if (verb == "open") return open(word(line));
    if (verb == "create") return take(Filter::create(path_, small_options()));
    if (verb == "create-filling") return create_filling();
    if (!filter_) return "not open";
    if (verb == "filled") return code_name(filter_->finish_filling().code);
    if (verb == "add") return add(line);
    if (verb == "ask") return ask(line);
    if (verb == "sync") return sync(line);
    if (verb == "recovered") return recovered(number(line));
    if (verb == "mark") return std::to_string(filter_->get_mark(number(line)));
    if (verb == "drop") return code_name(filter_->drop_owner(number(line)).code);
    if (verb == "health") return code_name(filter_->health());
    if (verb == "child") return end_in_child();
    if (verb == "close") return close();
    return "what?";
  }

 private:
  static std::string word(std::istream& line) {
    std::string found;
    line >> found;
    return found;
  }
  static std::uint64_t number(std::istream& line) { return std::stoull(word(line)); }

  std::string take(Result<Filter> result) {
    if (!result) return code_name(result.error().code);
    filter_.emplace(std::move(result).value());
    return "BFS_OK";
  }

  std::string create_filling() {
    Options options = small_options();
    options.filling = true;
    return take(Filter::create(path_, options));
  }

  std::string open(const std::string& mode) {
    filter_.reset();
    if (mode == "recover")
      return take(Filter::open(path_, OpenMode::kWrite, {.recover = true, .writeback_check_ms = kNeverAsks}));
    const auto wanted = mode == "read" ? OpenMode::kRead : mode == "write" ? OpenMode::kWrite : OpenMode::kExclusive;
    return take(Filter::open(path_, wanted, {.writeback_check_ms = kNeverAsks}));
  }

  std::string add(std::istream& line) {
    const auto writer = static_cast<unsigned>(number(line));
    const std::uint64_t from = number(line);
    const std::uint64_t count = number(line);
    std::uint64_t fresh = 0;
    for (std::uint64_t i = from; i < from + count; ++i) {
      const Count added = filter_->add(key_of(writer, i));
      if (!added.ok()) return code_name(added.code());
      fresh += added.keys();
    }
    return std::to_string(fresh);
  }

  std::string ask(std::istream& line) {
    const auto writer = static_cast<unsigned>(number(line));
    const std::uint64_t from = number(line);
    return std::to_string(maybes(*filter_, writer, from, number(line)));
  }

  std::string sync(std::istream& line) {
    const std::uint64_t owner = number(line);
    return code_name(filter_->sync({.owner = owner, .mark = number(line)}).code);
  }

  std::string recovered(std::uint64_t owner) {
    const auto over = filter_->finish_recovery(owner);
    return over.ok() ? (*over ? "1" : "0") : code_name(over.error().code);
  }

  // Ends as a program's forked helper does that ends by exit(): destructors run on the handle that it inherited.
  std::string end_in_child() {
    const pid_t pid = fork();
    if (pid == 0) {
      filter_.reset();
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status == 0 ? "done" : "the child failed";
  }

  std::string close() {
    const Error error = filter_->close();
    filter_.reset();
    return code_name(error.code);
  }

  std::string path_;
  std::optional<Filter> filter_;
};

}  // namespace

int run_remote(const std::string& path) {
  RemoteFilter filter(path);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::cout << filter.obey(words) << std::endl;
  }
  return 0;
}

}  // namespace store_test
