// bf seal: makes a copy of a filter that detects damage.
#include "amounts.hpp"
#include "derived.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <bfstore/seal.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace bf {
namespace {

void declare_seal(CLI::App& app, Arguments& arguments) {
  add_help_and_version(
      app, "bf seal FILE SEALED [--to-fpr P] [--mode MODE] [--force [--accept-loss] [--secret-file PATH]] [-q]");
  add_file(app, arguments, "the filter, which may be in use");
  add_path(app, "SEALED", "the file to make; it appears when it is complete", "", arguments.target)->required();
  add_to_fpr(app, arguments, "fold it, too: make it as small as this false-positive rate allows (see bf fold)");
  add_mode(app, arguments.options);
  app.add_flag("--force", arguments.options.replace,
               "replace SEALED if it exists; it may be FILE itself, while no process writes to it");
  add_accept_loss(app, arguments, "SEALED");
  add_secret_file(app, arguments);
  add_lock_timeout(app, arguments);
  add_any_filesystem(app, arguments);
  add_quiet(app, arguments);
  add_texts(
      app,
      "A sealed filter is never written to again, and has a checksum for each 64 KiB. bf verify names the damaged\n"
      "bytes. Readers use it as before. A damaged SEALED is replaced (--force) if FILE is an undamaged copy of that "
      "same\n"
      "sealed file: readers that follow the path go on with the new one.\n" +
          std::string(kAboutLoss) + "The secret is needed for that alone.\n",
      "  bf seal users.bf users.sealed.bf && bf verify users.sealed.bf\n"
      "  # The last keys have come: bring the filter to its size, and seal it.\n"
      "  bf seal users.bf users.small.bf --to-fpr 0.01");
}

// Sealing needs no secret, and comparing does.
void refuse_loss(const Arguments& arguments, Replaced& replaced) {
  if (!replaced.is_there()) return;
  replaced.refuse_loss_of_file(unwrap(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file),
                               arguments.file);
}

// What the report says after "sealed". The sizes are those of the files, because sealing needs no secret.
std::string fold_words(const Arguments& arguments, std::uintmax_t bytes_before) {
  if (arguments.options.fpr == 0) return "";
  std::error_code gone;
  const std::uintmax_t bytes = std::filesystem::file_size(arguments.target, gone);
  if (gone || bytes >= bytes_before) return not_smaller_words(arguments.file);
  return " and folded from " + tools::human_bytes(bytes_before) + " to " + tools::human_bytes(bytes);
}

int seal(const Arguments& arguments) {
  interrupt::defer();
  std::error_code gone;
  const std::uintmax_t bytes_before = std::filesystem::file_size(arguments.file, gone);
  refuse_taken(arguments.target, arguments.options.replace);
  std::optional<Replaced> replaced;
  if (!is_same_file(arguments.target, arguments.file)) {
    replaced.emplace(arguments, arguments.target);
    refuse_loss(arguments, *replaced);
  }
  bfstore::SealOptions options;
  options.mode = arguments.options.mode;
  options.replace = arguments.options.replace;
  options.any_filesystem = arguments.any_filesystem;
  options.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  options.fpr = arguments.options.fpr;
  HoleWarning hole(arguments);
  options.watch = hole.watch();
  const bfstore::Error error = bfstore::seal(arguments.file, arguments.target, options);
  if (error.code == bfstore::Code::kExists) fail_exists(arguments.target);
  check(error, arguments.file);
  hole.warn();
  if (!arguments.quiet) report(arguments.target + ": sealed" + fold_words(arguments, bytes_before));
  return 0;
}

}  // namespace

const Command kSeal{"seal", "Make a sealed copy of a filter, which detects damage", declare_seal, seal};

}  // namespace bf
