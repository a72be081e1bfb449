// bf: make, fill and ask bfstore filters. This file turns arguments into an exit code (commands return 0 and 1; 2 is an
// error).
#include "arguments.hpp"
#include "commands.hpp"
#include "failures.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "program.hpp"
#include "secret.hpp"
#include "terminal.hpp"

#include <new>
#include <string>
#include <string_view>

namespace {

int run(bf::Arguments& arguments) {
  const bf::SecretWiper wiper(arguments.secret);
  if (!arguments.secret_file.empty()) {
    bf::read_secret_file(arguments.secret_file, arguments.secret);
    for (const std::string* name : {&arguments.file, &arguments.target, &arguments.raw})
      bf::refuse_secret_file(arguments.secret_file, *name);
  }
  try {
    return arguments.command->run(arguments);
  } catch (const std::bad_alloc&) {
    throw bf::Failure(std::string(arguments.command->name) + ": out of memory. " + tools::memory_words());
  }
}

int run(const std::string& text) {
  bf::Output output;
  output.append(text);
  output.flush();
  return 0;
}

int run_reporting(int argc, char** argv) {
  try {
    auto asked = bf::parse_arguments(argc, argv);
    return std::visit([](auto& one) { return run(one); }, asked);
  } catch (const bf::Failure& failure) {
    bf::complain(failure.what());
  } catch (const std::bad_alloc&) {
    bf::complain("out of memory. " + tools::memory_words());
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == bf::kInspect.name) return bfinspect::run_program(argc - 1, argv + 1);
  bf::prepare_process();
  const int code = run_reporting(argc, argv);
  bf::interrupt::obey();
  return code;
}
