// bf digest: turns keys into digests, for builds elsewhere or later.
#include "failures.hpp"
#include "filter_use.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"
#include "spool.hpp"
#include "unfinished.hpp"

#include <CLI/CLI.hpp>
#include <bfstore/inspect.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace bf {
namespace {

void declare_digest(CLI::App& app, Arguments& arguments) {
  add_help_and_version(app, "bf digest FILE [KEY... | --from PATH] [-0] [--parts N --to PREFIX] [--secret-file PATH]");
  add_file(app, arguments, "a filter with the hash and the seed of the one to build, such as one of its parts");
  add_keys(app, arguments);
  add_parts(app, arguments, "sort the digests by the part that they belong to");
  CLI::Option* const to =
      add_path(app, "--to", "add those of part I to the end of the file PREFIXI", "PREFIX", arguments.spool_prefix);
  to->needs("--parts");
  app.get_option("--parts")->needs(to);
  add_secret_file(app, arguments);
  add_any_filesystem(app, arguments);
  add_texts(
      app,
      "A digest is 8 bytes, the lowest first, of a key in the form that FILE's note names. bf build --digests reads "
      "them. Without --parts they go to standard "
      "output.\n"
      "A part that no key belongs to gets an empty file. bf build refuses that, and bf create --like --part makes the "
      "filter.\n"
      "Up to 16 MiB of them are in memory, and each file is open.\n"
      "Digests of a filter with a secret are as secret as the secret itself.\n"
      "With --to the digests are first in files with names of their own, PREFIXI.unfinished-*, and are added to all\n"
      "parts at the end. After a kill or an error these files stay, and bf build refuses such a part until they are\n"
      "removed: remove them, and run bf digest again. Standard output, and a part that is a pipe, cannot be protected\n"
      "so: without the exit code 0 the digests are not all there (set -o pipefail).\n"
      "Processes of one machine may append to files of one prefix. Each machine takes a prefix of its own: on a "
      "network "
      "filesystem two would overwrite each other's digests.\n",
      "Two lists of keys, sorted into two parts, of which each is built alone.\n"
      "  bf create like.bf --part 0/2 --capacity 10M\n"
      "  bf digest like.bf --from list1.txt --parts 2 --to digests.\n"
      "  bf digest like.bf --from list2.txt --parts 2 --to digests.\n"
      "  bf build part0.bf --like like.bf --part 0/2 --from digests.0 --digests\n"
      "  bf build part1.bf --like like.bf --part 1/2 --from digests.1 --digests\n"
      "  bf join all.bf part0.bf part1.bf");
}

// The files of the parts. A build cannot see that digests are missing in one of them. So this run writes its digests to
// files of its own, whose names stop a build of each part, and adds them to the parts when it has all of them. After a
// kill or an error these files stay. Other processes may add to the same parts meanwhile: each write has whole digests,
// and goes to the end.
class PartFiles {
 public:
  // `list` is the source that is read meanwhile, or nullptr.
  PartFiles(const std::string& prefix, std::uint32_t parts, const KeySource* list)
      : prefix_(prefix), piece_(std::min(kPiece, kInMemory / parts)) {
    allow_files(parts);
    for (std::uint32_t part = 0; part < parts; ++part) refuse_other(prefix + std::to_string(part), list);
    for (std::uint32_t part = 0; part < parts; ++part) {
      files_.push_back({prefix + std::to_string(part), {}, -1, {}});
      files_.back().digests.reserve(piece_);
    }
    try {
      for (File& file : files_) open(file);
    } catch (const Failure&) {
      for (const File& file : files_) close(file, [&] { ::unlink(file.own.c_str()); });
      throw;
    }
  }
  // After an error the files with the digests of this run are empty, and stay.
  ~PartFiles() {
    for (const File& file : files_)
      close(file, [&] {
        if (!is_whole_) std::ignore = ::ftruncate(file.fd, 0);
      });
  }
  PartFiles(const PartFiles&) = delete;
  PartFiles& operator=(const PartFiles&) = delete;

  void append(std::span<const std::uint64_t> digests) {
    for (const std::uint64_t digest : digests) {
      File& file = files_[bfstore::Part::number_of(digest, static_cast<std::uint32_t>(files_.size()))];
      file.digests.push_back(digest);
      if (file.digests.size() == piece_) write(file);
    }
  }

  // Adds the digests to the parts. If that fails, the command fails.
  void finish() {
    for (File& file : files_) {
      write(file);
      sync(file.fd, file.path);
    }
    is_whole_ = true;
    for (const File& file : files_) {
      if (!file.own.empty()) publish(file);
    }
    for (const File& file : files_) {
      if (!file.own.empty()) ::unlink(file.own.c_str());
    }
  }

  // What a user does after an error.
  [[nodiscard]] std::string way_out() const {
    const std::string remove =
        "Remove " + prefix_ + "*" + suffix_ + " before you run it again: until then bf build " + "refuses these parts.";
    if (is_whole_)
      return "Some parts have these digests. Remove all files " + prefix_ + "*, and digest every list again.";
    return suffix_.empty() ? "Write them again from the first one on." : "Nothing was added to the parts. " + remove;
  }

 private:
  static constexpr std::size_t kPiece = 8192;
  static constexpr std::size_t kInMemory = std::size_t{1} << 21;  // of all files: 16 MiB

  struct File {
    std::string path;
    std::string own;  // the name of the file that this run writes; empty if it writes to `path`, which is a pipe
    int fd;
    std::vector<std::uint64_t> digests;
  };

  // Refuses an existing file with other contents than digests, because it would be appended to.
  static void refuse_other(const std::string& path, const KeySource* list) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
    const std::string there = path + ": is ";
    const std::string way_out = ", to which no digests are added. Choose another name.";
    if (list != nullptr && list->is_same_file(path)) throw Failure(there + "the list of keys itself" + way_out);
    const auto report = bfstore::inspect(path, false);
    if (report && report->identity) throw Failure(there + "a filter" + way_out);
    if (facts.st_size % static_cast<off_t>(sizeof(std::uint64_t)) != 0)
      throw Failure(there + "a file of another kind: its length is no multiple of a digest's" + way_out);
  }

  [[noreturn]] static void fail(const std::string& path) {
    throw Failure(path + ": cannot write the digests: " + tools::system_words(errno) + ".");
  }

  template <class Before>
  static void close(const File& file, Before before) {
    if (file.fd < 0) return;
    if (!file.own.empty()) before();
    ::close(file.fd);
  }

  static void sync(int fd, const std::string& path) {
    if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) fail(path);  // a pipe has nothing to sync
  }

  // All files of this run have one suffix, which the first one finds.
  void open(File& file) {
    struct stat facts {};
    if (::stat(file.path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
      file.fd = ::open(file.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
      if (file.fd < 0) fail(file.path);
      return;
    }
    file.own = file.path + (suffix_.empty() ? kUnfinished + std::string("XXXXXX") : suffix_);
    file.fd = suffix_.empty() ? ::mkostemp(file.own.data(), O_CLOEXEC)
                              : ::open(file.own.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file.fd < 0) throw Failure(tools::not_made_words(file.path, errno));
    suffix_ = file.own.substr(file.path.size());
  }

  // A part that does not exist gets the file as it is. The name of this run stays until all parts are complete.
  static void publish(const File& file) {
    if (::link(file.own.c_str(), file.path.c_str()) == 0) return;
    const int to = ::open(file.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (to < 0) fail(file.path);
    try {
      copy(file, to);
      sync(to, file.path);
    } catch (const Failure&) {
      ::close(to);
      throw;
    }
    if (::close(to) != 0) fail(file.path);
  }

  static void copy(const File& file, int to) {
    std::vector<char> buffer(kBufferBytes);
    Range rest{0, std::numeric_limits<off_t>::max()};
    while (const std::size_t got = read_some(file.fd, buffer.data(), buffer.size(), file.own, rest))
      write(to, std::as_bytes(std::span(buffer).first(got)), file.path);
  }

  // A write that was cut short is an error: it may end within a digest, and then the digests that other processes
  // append are not aligned.
  static void write(int fd, std::span<const std::byte> bytes, const std::string& path) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put >= 0 && static_cast<std::size_t>(put) != bytes.size()) errno = ENOSPC;
    if (put < 0 || static_cast<std::size_t>(put) != bytes.size()) fail(path);
  }

  static void write(File& file) {
    if (file.digests.empty()) return;
    swap_if_big_endian(file.digests);
    write(file.fd, std::as_bytes(std::span(file.digests)), file.path);
    file.digests.clear();
  }

  std::string prefix_;
  std::size_t piece_;
  std::string suffix_;     // of the names of this run's files
  bool is_whole_ = false;  // this run's files have all of its digests, and the parts may have some of them
  std::vector<File> files_;
};

// A program that fails in a pipe gives an empty list.
[[noreturn]] void fail_empty(const KeySource& source) {
  throw Failure(source.name() + ": holds no keys, so there is nothing to digest.");
}

// Calls take(digests), piece by piece, for all keys of `list`, or of the command line if there is no list.
template <class Take>
void each_digest(const bfstore::Filter& filter, const Arguments& arguments, std::optional<KeySource>& list, Take take) {
  std::vector<std::uint64_t> digests;
  const auto hash = [&](std::span<const std::string_view> keys) {
    digests.resize(keys.size());
    const bfstore::Count made = filter.digest_keys(bfstore::Keys::views(keys), digests);
    if (!made.ok()) throw Failure(arguments.file + ": " + bfstore::code_text(made.code()));
    take(std::span<std::uint64_t>(digests));
  };
  const KeyForm form = form_of_keys(filter.note(), std::nullopt, arguments.file);
  if (!list) {
    warn_of_doubtful_keys(arguments);
    const std::vector<std::string_view> lines(arguments.keys.begin(), arguments.keys.end());
    return hash(KeyMaker(form, "KEY").keys_of(lines));
  }
  KeySource& source = *list;
  KeyMaker maker(form, source.name());
  Progress progress("reading " + source.name(), source.bytes(), !source.is_terminal());
  std::uint64_t count = 0;
  read_keys(source, std::nullopt, [&](std::span<const std::string_view> lines, std::uint64_t bytes) {
    hash(maker.keys_of(lines));
    progress.show(count += lines.size(), bytes);
    return true;
  });
  if (count == 0 && !interrupt::pending()) fail_empty(source);
}

void write_parts(const bfstore::Filter& filter, const Arguments& arguments, std::optional<KeySource>& list) {
  const std::uint32_t parts = filter.part().parts;
  if (parts > 1 && parts != arguments.spools)
    throw Failure(arguments.file + ": is one of " + std::to_string(parts) + " parts. Give --parts " +
                  std::to_string(parts) + ".");
  PartFiles files(arguments.spool_prefix, arguments.spools, list ? &*list : nullptr);
  try {
    each_digest(filter, arguments, list, [&](std::span<const std::uint64_t> digests) { files.append(digests); });
    if (interrupt::pending()) throw Failure("digest: interrupted.");
    files.finish();
  } catch (const Failure& failure) {
    throw Failure(std::string(failure.what()) + " " + files.way_out());
  }
}

int digest(const Arguments& arguments) {
  interrupt::defer();
  const bfstore::Filter filter = filter_of_keys(open_filter(arguments, bfstore::OpenMode::kRead), arguments.file);
  std::optional<KeySource> list;
  if (arguments.keys.empty()) list.emplace(arguments.from, arguments.list);
  if (list) refuse_own_output(*list);
  // A pipe is not waited for: the files of a run show that it has begun.
  if (list && list->can_be_read_twice() && list->at_end()) fail_empty(*list);
  if (arguments.spools == 0) {
    if (::isatty(STDOUT_FILENO) == 1)
      throw Failure(
          "digest: standard output is a terminal, and digests are bytes, 8 of each key. Write them to a file (> "
          "FILE).");
    Output output;
    each_digest(filter, arguments, list, [&](std::span<std::uint64_t> digests) {
      swap_if_big_endian(digests);
      output.append({reinterpret_cast<const char*>(digests.data()), digests.size_bytes()});
    });
    output.flush();
  } else {
    write_parts(filter, arguments, list);
  }
  return interrupt::pending() ? 2 : 0;
}

}  // namespace

const Command kDigest{"digest", "Write the digests of keys, all of them or sorted by part", declare_digest, digest};

}  // namespace bf
