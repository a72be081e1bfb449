// bf: make, fill and ask bfstore filters. This file goes from arguments to exit code (commands return 0 and 1; 2 is an
// error).
#include "arguments.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "secret.hpp"
#include "terminal.hpp"

#include <new>

namespace {

int run(bf::Arguments& arguments) {
  const bf::KeyWiper wiper(arguments.key);
  if (!arguments.key_file.empty()) {
    bf::read_key_file(arguments.key_file, arguments.key);
    for (const std::string* name : {&arguments.file, &arguments.target, &arguments.raw})
      bf::refuse_key_file(arguments.key_file, *name);
  }
  switch (arguments.command) {
    case bf::Command::kCreate:
      return bf::create(arguments);
    case bf::Command::kBuild:
      return bf::build(arguments);
    case bf::Command::kAdd:
      return bf::add(arguments);
    case bf::Command::kRemove:
      return bf::remove(arguments);
    case bf::Command::kCount:
      return bf::count(arguments);
    case bf::Command::kContains:
      return bf::contains(arguments);
    case bf::Command::kRecover:
      return bf::recover(arguments);
    case bf::Command::kSeal:
      return bf::seal(arguments);
    case bf::Command::kVerify:
      return bf::verify(arguments);
    case bf::Command::kFinishFilling:
      return bf::finish_filling(arguments);
    case bf::Command::kMerge:
      return bf::merge(arguments);
    case bf::Command::kCopy:
      return bf::copy(arguments);
    case bf::Command::kFold:
      return bf::fold(arguments);
    case bf::Command::kIntersect:
      return bf::intersect(arguments);
    case bf::Command::kJoin:
      return bf::join(arguments);
    case bf::Command::kDigest:
      return bf::digest(arguments);
    case bf::Command::kCompare:
      return bf::compare(arguments);
    case bf::Command::kClear:
      return bf::clear(arguments);
    case bf::Command::kPlan:
      return bf::plan(arguments);
    case bf::Command::kImport:
      return bf::import_array(arguments);
    case bf::Command::kExport:
      return bf::export_array(arguments);
  }
  return 2;
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
    bf::complain("out of memory");
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  bf::prepare_process();
  const int code = run_reporting(argc, argv);
  bf::interrupt::obey();
  return code;
}
