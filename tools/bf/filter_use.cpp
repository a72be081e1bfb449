// See filter_use.hpp.
#include "filter_use.hpp"

#include "amounts.hpp"
#include "damaged.hpp"
#include "failures.hpp"
#include "in_parallel.hpp"
#include "interrupt.hpp"
#include "library_names.hpp"
#include "link.hpp"
#include "list_kind.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "promise.hpp"
#include "secret.hpp"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace bf {
namespace {

// The number of keys that a thread hashes before it adds them. Threads of a filter's only writer take turns in adding.
// Reading this many keys takes much longer than waking the thread that waits for its turn.
constexpr std::size_t kDigestsAtOnce = 65'536;

// True for keys that a script makes of an empty variable.
bool is_blank(std::string_view key) { return key.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// True for a file whose first bytes are text.
bool looks_like_a_list(const std::string& file) {
  std::array<char, 256> head{};
  std::ifstream from(file, std::ios::binary);
  from.read(head.data(), head.size());
  const std::string_view there(head.data(), static_cast<std::size_t>(from.gcount()));
  return looks_like_text(there) && !kind_of(there);
}

bool is_zeros(std::string_view head) { return head.find_first_not_of('\0') == std::string_view::npos; }

// Throws Failure if the error is that this file, and not another one, is no filter, and its first bytes tell what it
// is. `keys`: the command takes a list of keys, too.
void refuse_other_kind(const bfstore::Error& error, const std::string& file, bool keys) {
  const bool is_no_filter = error.code == bfstore::Code::kMagic || error.code == bfstore::Code::kTooShort;
  if (!is_no_filter || !error.message.starts_with(file + ": not a bfstore file")) return;
  std::string head(kHeadBytes, '\0');
  std::ifstream from(file, std::ios::binary);
  from.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(from.gcount()));
  if (head.empty())
    throw Failure(file + ": is empty. To make a filter in its place: bf build, create or copy with --force.");
  const auto kind = kind_of(head);
  if (!kind && looks_like_a_list(file))
    throw Failure(file +
                  ": is no bfstore filter, and looks like text, such as a list of keys. Give the path of a filter: bf "
                  "build makes one of a list.");
  if (!kind && is_zeros(head))
    throw Failure(file +
                  ": begins with zeros, as a file does whose content a crash took. If it was a filter, build it " +
                  "again (bf build --force), " + tools::kByThreeSteps +
                  " If it is another program's filter: bf contains --format.");
  if (!kind) return;
  throw Failure(file + ": is no bfstore filter, but " + std::string(kind->words) + ". " +
                way_out_instead_of_filter(*kind, file, keys));
}

// Throws Failure if the file lists the parts of a set, and the error is that one of them does not exist.
void refuse_set_without_part(const bfstore::Error& error, const std::string& file) {
  constexpr std::string_view kGone = ": no such file.";
  const std::size_t at = error.message.rfind(kGone);
  if (at == std::string::npos || !error.message.starts_with(file + ", line ")) return;
  throw Failure(error.message.substr(0, at + kGone.size()) + " Put this part back, or correct its path in " + file +
                ". Without its line, each of its keys is maybe.");
}

// The library's message does not name the link's target.
void refuse_link(const std::string& file) {
  if (const std::string refused = tools::refused_link(file); !refused.empty()) throw Failure(refused);
}

// A file that may be read and not written is a mistake of another kind, so the message says what it was opened for.
bfstore::Result<bfstore::Filter> with_purpose(bfstore::Result<bfstore::Filter> opened, bfstore::OpenMode mode) {
  constexpr std::string_view kOpening = ": opening: ";
  if (opened.ok() || mode == bfstore::OpenMode::kRead || opened.error().code != bfstore::Code::kAccess) return opened;
  bfstore::Error error = opened.error();
  if (const std::size_t at = error.message.find(kOpening); at != std::string::npos)
    error.message.replace(at, kOpening.size(), ": opening it for writing: ");
  return error;
}

void complete(bfstore::OpenOptions& options, const Arguments& arguments) {
  options.secret = arguments.secret;
  options.any_filesystem = arguments.any_filesystem;
  options.map.random_access = arguments.small_pages;
  options.lock_timeout_ms = arguments.lock_timeout_ms.value_or(bfstore::kLockTimeoutMs);
  options.map.guard = true;
}

// The library's message about a damaged file fits every file. The header may still say that this one is sealed.
std::string with_way_back(std::string message, const std::string& file) {
  if (!message.starts_with(file + ": ") || !message.ends_with(tools::kByThreeSteps)) return message;
  const auto report = bfstore::inspect(file, false);
  if (!report.ok() || !report->identity || !report->identity->seal) return message;
  message.resize(message.size() - std::strlen(tools::kByThreeSteps));
  return message + tools::or_put_copy_back(file, true);
}

}  // namespace

void check(const bfstore::Error& error, const std::string& file) {
  if (error.ok()) return;
  if (error.code == bfstore::Code::kSecret) throw Failure(error.message + " (Option: --secret-file.)");
  if (std::error_code ignored; error.code == bfstore::Code::kNotRegular && std::filesystem::is_directory(file, ignored))
    throw Failure(file + ": a directory. Give the path of a filter file.");
  if (error.code == bfstore::Code::kSymlink || error.code == bfstore::Code::kNotFound) refuse_link(file);
  refuse_other_kind(error, file, false);
  refuse_set_without_part(error, file);
  if (error.code == bfstore::Code::kNoMemory && !error.message.empty())
    throw Failure(with_names_of_options(
        error.message + (error.message.ends_with('.') ? " " : ". ") + tools::memory_words(), file));
  throw Failure(error.message.empty() ? file + ": " + bfstore::code_text(error.code)
                                      : with_names_of_options(with_way_back(error.message, file), file));
}

bfstore::Result<bfstore::Filter> open_filter(const Arguments& arguments, bfstore::OpenMode mode,
                                             bfstore::OpenOptions options) {
  return open_filter_at(arguments.file, arguments, mode, std::move(options));
}

bfstore::Result<bfstore::Filter> open_filter_at(const std::string& path, const Arguments& arguments,
                                                bfstore::OpenMode mode, bfstore::OpenOptions options) {
  const SecretWiper wiper(options.secret);
  complete(options, arguments);
  return with_purpose(bfstore::Filter::open(path, mode, options), mode);
}

bfstore::Result<bfstore::Filter> open_foreign(const Arguments& arguments, bfstore::OpenOptions options) {
  const SecretWiper wiper(options.secret);
  complete(options, arguments);
  return with_new_options(arguments, arguments.options, [&](const bfstore::Options& unsaid) {
    return bfstore::Filter::open_foreign(arguments.file, arguments.form, unsaid, options);
  });
}

// The library says what is wrong with a file that cannot be read.
std::string note_of_like(const Arguments& arguments) {
  if (arguments.options.like.empty()) return {};
  const auto report = bfstore::inspect(arguments.options.like, false);
  return report && report->identity ? report->identity->note.value_or("") : std::string();
}

std::string note_of_new(const Arguments& arguments) {
  const std::string& note = arguments.options.note;
  const std::string like = note_of_like(arguments);
  const std::string& file = arguments.options.like;
  if (!arguments.key_form && !form_in_note(like, file)) return note;
  const KeyForm form = form_of_keys(like, arguments.key_form, file);
  form_of_keys(note, form, "--note");
  return form_in_note(note, "--note") ? note : with_form(note, form);
}

// A file that is there keeps its note. Keys in another form than its own would be lost in it.
void refuse_other_form(const bfstore::Filter& filter, const Arguments& arguments) {
  const auto wanted = arguments.create ? form_in_note(note_of_new(arguments), arguments.file) : std::nullopt;
  const KeyForm its = form_of_keys(filter.note(), std::nullopt, arguments.file);
  if (wanted && its.name() != wanted->name())
    throw Failure(arguments.file + ": is there, and its keys have the form " + its.name() + ", and not " +
                  wanted->name() + ". Make another file, or give the form of this one.");
  refuse_to_add_unnoted(filter.note(), arguments.key_form, arguments.file);
}

bfstore::Result<bfstore::Filter> open_or_make_filter(const Arguments& arguments, bfstore::OpenMode mode,
                                                     bool* created) {
  bfstore::OpenOptions opening;
  const SecretWiper wiper(opening.secret);
  complete(opening, arguments);
  bfstore::Options noted = arguments.options;
  noted.note = note_of_new(arguments);
  return with_new_options(arguments, noted, [&](const bfstore::Options& making) {
    return with_purpose(bfstore::Filter::open_or_create(arguments.file, mode, making, opening, created), mode);
  });
}

bfstore::Result<bfstore::Filter> open_set(const Arguments& arguments, bfstore::OpenOptions options) {
  const SecretWiper wiper(options.secret);
  complete(options, arguments);
  return bfstore::Filter::open_set(arguments.file, options);
}

bool may_be_replaced(const std::string& path) {
  std::array<char, 512> first{};
  std::ifstream file(path, std::ios::binary);
  file.read(first.data(), first.size());
  const std::string_view head(first.data(), static_cast<std::size_t>(file.gcount()));
  return kFilterMagic.starts_with(head.substr(0, kFilterMagic.size())) || is_zeros(head);  // zeros: after a power cut
}

[[noreturn]] void fail_exists(const std::string& file, const std::string& instead) {
  if (!may_be_replaced(file)) throw Failure(file + ": exists already, and is no filter. Choose another name.");
  struct stat facts {};
  if (::stat(file.c_str(), &facts) == 0 && facts.st_size == 0)
    throw Failure(file + ": exists already, and is empty. Replace it (--force), or choose another name.");
  const std::string ways = instead.empty()
                               ? "Replace it (--force; if it has keys that the new one lacks, --accept-loss, too)"
                               : instead + ", replace it and lose its keys (--force)";
  throw Failure(file + ": exists already. " + ways + ", or choose another name.");
}

bool refuse_taken(const std::string& file, bool replace, const std::string& instead) {
  struct stat facts {};
  if (::lstat(file.c_str(), &facts) != 0) return false;
  if (S_ISLNK(facts.st_mode)) throw Failure(tools::refused_link(file));
  if (S_ISDIR(facts.st_mode)) throw Failure(file + ": a directory. Give a file name in it.");
  if (!S_ISREG(facts.st_mode)) throw Failure(file + ": not a regular file. Choose another name.");
  if (!replace) fail_exists(file, instead);
  return true;
}

bfstore::Filter made_filter(bfstore::Result<bfstore::Filter> made, const std::string& file) {
  if (!made.ok() && made.error().code == bfstore::Code::kExists) fail_exists(file);
  return unwrap(std::move(made), file);
}

bfstore::Filter make_filter(const Arguments& arguments, const bfstore::Options& options) {
  return with_new_options(arguments, options, [&](const bfstore::Options& all) {
    return made_filter(bfstore::Filter::create(arguments.file, all), arguments.file);
  });
}

void publish(bfstore::Filter& filter, const std::string& file) {
  const bfstore::Error error = filter.publish();
  if (error.code == bfstore::Code::kExists)
    throw Failure(
        file + ": exists already: it came while bf made the filter, which is lost. Look at it, and begin again with " +
        "--force, or choose another name.");
  check(error, file);
}

[[noreturn]] static void fail_list(const std::string& file) {
  throw Failure(file +
                ": is no bfstore filter, and looks like a list of keys. The filter comes first, and then --from " +
                file + ".");
}

void refuse_list(const bfstore::Error& error, const std::string& file) {
  const bool is_no_filter = error.code == bfstore::Code::kMagic || error.code == bfstore::Code::kTooShort;
  if (is_no_filter && looks_like_a_list(file)) fail_list(file);
  refuse_other_kind(error, file, true);
}

void refuse_set(const bfstore::Report& report) {
  if (!report.identity && report.first_bytes.starts_with(kSetBegin))
    throw Failure(with_names_of_options(report.path + ": " + report.problems.front().text, report.path));
}

void refuse_itself(const KeySource& source, const std::string& file) {
  if (!source.is_same_file(file)) return;
  if (looks_like_a_list(file)) fail_list(file);
  throw Failure(file + ": is the filter itself, not a list of keys. Name another file with --from.");
}

void refuse_own_output(const KeySource& source) {
  if (source.is_standard_output())
    throw Failure(source.name() +
                  ": is also the standard output, so the output would be read as keys. Write to another file.");
}

bfstore::Filter filter_of_keys(bfstore::Result<bfstore::Filter> opened, const std::string& file) {
  const bool of_a_set = !opened.ok() && !opened.error().message.starts_with(file + ": ");  // a part of it is gone
  if (!opened.ok() && opened.error().code == bfstore::Code::kNotFound && !of_a_set) {
    refuse_link(file);
    throw Failure(file +
                  ": no such file. Give the path of a filter. To make one: bf build of a list of keys, bf create for "
                  "keys to come, or --create of bf add and bf dedup.");
  }
  if (!opened.ok()) refuse_list(opened.error(), file);
  bfstore::Filter filter = unwrap(std::move(opened), file);
  refuse_external(filter, file);
  return filter;
}

bool lost_its_bits(bfstore::Code code) { return code == bfstore::Code::kLost || code == bfstore::Code::kFault; }

std::string doubt_words(bfstore::Code code, const std::string& file) {
  const std::string words = bfstore::code_text(code);
  if (code == bfstore::Code::kFilling) return words + ". When every key was added: bf finish-filling " + file + ".";
  if (code == bfstore::Code::kRecovering) return words + ". Finish it: bf recover " + file + ".";
  if (lost_its_bits(code))
    return words + ". Another program wrote to the file, or the disk failed. Build it again from all keys (" +
           tools::build_again(file) + "), " + tools::kByThreeSteps;
  if (code == bfstore::Code::kNoMemory) return words + ". " + tools::memory_words();
  if (code == bfstore::Code::kSuperseded) return "another file replaced this one, or is replacing it. Run bf again.";
  return words;
}

std::string writer_named_in(const std::string& error, const std::string& file) {
  const std::string_view said = std::string_view(error).substr(error.starts_with(file) ? file.size() : 0);
  constexpr std::string_view kProcess = " (process ";
  const std::size_t at = said.rfind(kProcess);
  if (at == std::string_view::npos) return "another process";
  std::string who(said.substr(at + 2, said.find(')', at) - at - 2));
  if (const std::size_t comma = who.find(", "); comma != std::string::npos) who.replace(comma, 2, " (") += ")";
  return who;
}

void refuse_moved(const bfstore::Filter& filter, const std::string& file, const std::string& advice) {
  if (unwrap(filter.is_current(), file) || filter.health() == bfstore::Code::kSuperseded) return;
  throw Failure(file +
                ": another program moved it away or removed it meanwhile, so what was done is not in a file of " +
                "this name. " + advice);
}

void refuse_external(const bfstore::Filter& filter, const std::string& file) {
  if (bfstore::hash_of(filter.shape().hash)->takes_keys) return;
  throw Failure(
      file +
      ": takes digests, not keys (its hash is external). Use bfs_add_digest and bfs_contains_digest of the library.");
}

void swap_if_big_endian(std::span<std::uint64_t> digests) noexcept {
  if constexpr (std::endian::native == std::endian::big) {
    for (std::uint64_t& digest : digests) digest = __builtin_bswap64(digest);
  }
}

namespace {

// Half of the bytes of Latin text in UTF-16 are zeros. A digest has four of them once in sixty million.
bool has_many_zeros(std::string_view bytes) {
  const auto zeros = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\0'));
  return zeros * 8 > bytes.size() * 3;
}

// Says what these bytes are instead of digests, and what helps, or nothing. Digests are random bytes, so the first 8
// are not those of a filter, and 64 are not all text.
std::string not_digests_words(std::string_view first, const std::string& name) {
  constexpr std::size_t kEnough = 64;
  const std::string_view head = first.substr(0, kEnough);
  const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r'; };
  const std::string rest = ", and not digests as bf digest writes them.";
  if (head.starts_with(kFilterMagic)) return "is a filter" + rest;
  if (const auto kind = sure_kind_of(first)) {
    const std::string decompress = std::string(kind->program) + " " + std::string(kind->options);
    return "is " + std::string(kind->words) + rest +
           (kind->program.empty() ? "" : " If they are in it: " + decompress + " < " + name + " > DIGESTS.");
  }
  if (head.size() == kEnough && std::all_of(head.begin(), head.end(), is_text)) return "is text" + rest;
  if (head.empty() || !has_many_zeros(head)) return "";
  return (is_zeros(head) ? "begins with zeros" : "is half zeros, as text in UTF-16 is") + rest;
}

void refuse_other_bytes(const KeySource& source, std::span<const std::byte> first) {
  const std::string_view bytes(reinterpret_cast<const char*>(first.data()), std::min(first.size(), kHeadBytes));
  if (const std::string words = not_digests_words(bytes, source.name()); !words.empty())
    throw Failure(source.name() + ": " + words);
}

}  // namespace

void read_digests(const KeySource& source, const std::function<bool(std::span<const std::uint64_t>)>& take) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::vector<std::uint64_t> piece(kPiece);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(piece));
  bool is_first = true;
  for (std::size_t there = 0;;) {
    const ssize_t got = ::read(source.fd(), bytes.data() + there, bytes.size() - there);
    if (got < 0 && errno == EINTR && !interrupt::pending()) continue;
    if (got < 0) throw Failure(source.name() + ": cannot be read: " + tools::system_words(errno) + ".");
    there += static_cast<std::size_t>(got);
    const std::size_t whole = there / sizeof(std::uint64_t);
    if (got == 0 || whole == kPiece) {
      if (std::exchange(is_first, false)) refuse_other_bytes(source, bytes.first(there));
      swap_if_big_endian(std::span(piece).first(whole));
      if (whole != 0 && !take(std::span<const std::uint64_t>(piece).first(whole))) return;
      if (got == 0 && there % sizeof(std::uint64_t) != 0)
        throw Failure(source.name() + ": ends within a digest, which has 8 bytes: it was truncated. Write it again.");
      if (got == 0) return;
      there = 0;
    }
  }
}

namespace {

std::string past_promise_words(const bfstore::Shape& shape, const std::string& file, std::uint64_t most_keys) {
  return file + ": holds more than the " + key_words(most_keys) +
         " with which it keeps its promised false-positive rate of " + short_number(shape.fpr);
}

}  // namespace

Loader::Loader(bfstore::Filter& filter, std::string file, const std::optional<KeyForm>& form)
    : filter_(filter),
      file_(std::move(file)),
      form_(form_of_keys(filter.note(), form, file_)),
      keys_before_(keys_left(filter.stats())),
      most_keys_(keys_within_promise(filter.stats())),
      expires_(filter.stats().turning.has_value()),
      grows_(filter.stats().growing.has_value()),
      counts_(bfstore::layout_of(filter.shape().layout)->can.remove) {}

void Loader::add(std::span<const std::string_view> lines) {
  KeyMaker maker(form_, "KEY");
  add_keys(lines, maker.keys_of(lines));
}

void Loader::add_keys(std::span<const std::string_view> lines, std::span<const std::string_view> keys) {
  const bfstore::Count count = filter_.add_keys(bfstore::Keys::views(keys));
  for (std::size_t i = 0; i < keys.size() && count.code() == bfstore::Code::kPart; ++i)
    refuse_other_part(lines[i], filter_.digest(keys[i]).value_or(0), keys_read_ + i + 1);
  take(count, keys.size());
}

void Loader::refuse_other_part(std::string_view line, std::uint64_t digest, std::uint64_t number) const {
  const bfstore::Part own = filter_.part();
  const std::uint32_t other = bfstore::Part::number_of(digest, own.parts);
  if (other == own.number) return;
  const std::string parts = "/" + std::to_string(own.parts);
  throw Failure(
      file_ + ": adding stopped after " + key_words(keys_read_) + ": it is part " + std::to_string(own.number) + parts +
      ", and the key '" + std::string(line) + "'" + (number == 0 ? "" : " (number " + grouped(number) + ")") +
      " belongs to part " + std::to_string(other) + parts + ". Add it there." +
      (expires_ ? ""  // filters of a window do not merge
                : " To add those keys of a list that belong here: bf build NEW --like " + file_ + " --part " +
                      std::to_string(own.number) + parts + " --from LIST, then bf merge " + file_ + " NEW --into."));
}

void Loader::refuse_digests_of_other_part(std::span<const std::uint64_t> digests, const std::string& list) const {
  const bfstore::Part own = filter_.part();
  if (own.parts == 1 || leaves_out_) return;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const std::uint32_t other = bfstore::Part::number_of(digests[i], own.parts);
    if (other == own.number) continue;
    const std::string parts = std::to_string(own.parts);
    throw Failure(list + ": its digest number " + grouped(keys_read_ + i + 1) + " belongs to part " +
                  std::to_string(other) + "/" + parts + ", and " + file_ + " is part " + std::to_string(own.number) +
                  "/" + parts + ". Give the digests of that part alone: bf digest --parts " + parts +
                  " --to PREFIX writes them to PREFIX" + std::to_string(own.number) + ".");
  }
}

void Loader::take(bfstore::Count count, std::size_t keys) {
  if (!count.ok()) fail(count.code());
  keys_read_ += keys;
  keys_new_ += count.keys();
  if (!expires_ && keys_held() > most_keys_) warn(past_promise_words(filter_.shape(), file_, most_keys_));
}

void Loader::fail(bfstore::Code code) const {
  const bool replaced = code == bfstore::Code::kSuperseded;
  throw Failure(file_ + ": adding stopped after " + key_words(keys_read_) + ": " +
                (replaced ? "another file replaced this one, or is replacing it. The new file has none of these keys: "
                            "add all of them again."
                          : doubt_words(code, file_)));
}

void Loader::add_all(KeySource& source) {
  Progress progress("adding " + source.name(), source.bytes(), !source.is_terminal());
  if (!form_.is_text()) return add_part(source, std::nullopt, &progress);  // in order, so that each line has a number
  in_parallel(source, [&](std::optional<Range> part, std::size_t number) {
    try {
      add_part(source, part, number == 0 ? &progress : nullptr);
    } catch (...) {
      failed_ = true;
      throw;
    }
  });
}

void Loader::add_all(const KeptDigests& digests) {
  Progress progress("adding keys", digests.count() * sizeof(std::uint64_t));
  digests.each_piece([&](std::span<const std::uint64_t> piece) {
    if (interrupt::pending()) return;
    add_digests(piece);
    progress.show(keys_read_, keys_read_ * sizeof(std::uint64_t));
  });
}

void Loader::add_all_digests(const KeySource& source) {
  Progress progress("adding " + source.name(), source.bytes(), !source.is_terminal());
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> own;
  read_digests(source, [&](std::span<const std::uint64_t> digests) {
    refuse_digests_of_other_part(digests, source.name());
    own.assign(digests.begin(), digests.end());
    add_own(own);
    progress.show(keys_read_, bytes += digests.size_bytes());
    return !interrupt::pending();
  });
}

void Loader::add_own(std::vector<std::uint64_t>& digests) {
  if (leaves_out_) {
    const bfstore::Part own = filter_.part();
    keys_left_out_ += std::erase_if(
        digests, [own](std::uint64_t digest) { return bfstore::Part::number_of(digest, own.parts) != own.number; });
  }
  if (!digests.empty()) add_digests(digests);
  digests.clear();
}

void Loader::add_digests(std::span<const std::uint64_t> digests) {
  take(filter_.add_keys(bfstore::Keys::digests(digests)), digests.size());
}

// Only the thread of the first part has a `progress`.
void Loader::add_part(KeySource& source, std::optional<Range> part, Progress* progress) {
  std::vector<std::uint64_t> digests;
  std::uint64_t before = 0;
  KeyMaker maker(form_, source.name());
  const bool has_digests = !bfstore::hash_of(filter_.shape().hash)->gives_positions;
  read_keys(source, part, [&](std::span<const std::string_view> lines, std::uint64_t bytes) {
    if (!read_a_byte_) read_a_byte_ = !std::all_of(lines.begin(), lines.end(), is_blank);
    const auto keys = maker.keys_of(lines);
    if (has_digests && (part || leaves_out_)) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        digests.push_back(*filter_.digest(keys[i]));
        if (!leaves_out_) refuse_other_part(lines[i], digests.back());
      }
      if (digests.size() >= kDigestsAtOnce) add_own(digests);
    } else {
      add_keys(lines, keys);
    }
    bytes_read_ += bytes - before;
    before = bytes;
    if (progress != nullptr) progress->show(keys_read_, bytes_read_);
    return !failed_;
  });
  add_own(digests);
}

// Where keys expire, all bits are read, so not after a few keys.
void Loader::finish() {
  constexpr std::uint64_t kFew = 8;  // of a filter full of keys
  if (expires_ && keys_new_ < most_keys_ / kFew) return;
  const std::string words = overfull_words(filter_, file_, most_keys_);
  if (!words.empty()) warn(words);
}

void Loader::warn(const std::string& words) {
  if (!warned_.exchange(true)) bf::warn(words + way_out());
}

std::string Loader::way_out() const {
  if (expires_) return ". The rate falls as epochs end (bf turn). For so many keys make a larger one (bf create).";
  if (!grows_) return ". Make a larger one with bf build; if nobody knows how many keys will come, see bf help fold.";
  return filter_.stats().growing->can_grow()
             ? ". The next new key tries again."
             : ". It has all its slices, and grows no more. Make one with a larger --capacity, of all keys, with bf "
               "build.";
}

// What seems to keep the file from growing, and the way out. The library does not say why it did not grow.
static std::string why_ungrown(const bfstore::Stats& stats, const std::string& file) {
  const bfstore::Growing& growing = *stats.growing;
  std::uint64_t needed = growing.first.num_bits / 8;
  for (std::uint32_t i = 0; i < growing.num_slices; ++i) needed *= growing.growth;
  const std::string needs = "Its next slice needs " + tools::human_bytes(needed);
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
  struct rlimit limit {};
  if (!unknown && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      bytes + needed > limit.rlim_cur)
    return needs + ", and this process may write files of " + tools::human_bytes(limit.rlim_cur) +
           ": raise that limit (ulimit -f)";
  const std::filesystem::space_info space = std::filesystem::space(file, unknown);
  if (!unknown && space.available < needed)
    return needs + ", and " + tools::human_bytes(space.available) +
           " are free: free some disk space, or copy it to another file system";
  struct statfs facts {};
  if (::statfs(file.c_str(), &facts) == 0 && facts.f_type == OVERLAYFS_SUPER_MAGIC)
    return "It is on an overlay file system, where a file may be unable to grow: copy it to another one";
  return needs + ", which seem to be free now";
}

// Threads that add at once begin a slice a little late, which is no failure (store/home/ask.cpp).
static std::string ungrown_words(const bfstore::Stats& stats, const std::string& file) {
  constexpr double kLate = 1.25;
  const auto room = static_cast<double>(stats.shape.capacity);
  if (static_cast<double>(keys_left(stats)) <= kLate * room) return "";
  return file + ": has not grown, and holds " + key_words(keys_left(stats)) + " in slices for " +
         grouped(stats.shape.capacity) + ", so that its false-positive rate rises. " + why_ungrown(stats, file);
}

std::string overfull_words(const bfstore::Filter& filter, const std::string& file, std::uint64_t most_keys) {
  constexpr double kBeyondChance = 1.5;
  const bfstore::Stats stats = filter.stats();
  if (stats.growing && stats.growing->can_grow()) return ungrown_words(stats, file);
  if (!stats.turning) return keys_left(stats) <= most_keys ? "" : past_promise_words(stats.shape, file, most_keys);
  const auto fill = filter.stats({.fill = true}).fill;
  if (!fill || fill->estimated_fpr <= kBeyondChance * stats.shape.fpr) return "";
  return file + ": its false-positive rate is about " + short_number(fill->estimated_fpr, 2) +
         " now, and it was made for " + short_number(stats.shape.fpr);
}

void advise_if_past_capacity(const bfstore::Stats& stats, const std::string& file) {
  const bfstore::Shape& shape = stats.shape;
  const std::uint64_t capacity = stats.growing ? stats.growing->at_most.capacity : shape.capacity;
  const std::uint64_t held = keys_left(stats);
  const std::uint64_t most = keys_within_promise(stats);
  if (held <= capacity || held > most || stats.turning) return;  // the count of a window has keys that expired
  warn(file + ": has " + key_words(held) + ", and was made for " + grouped(capacity) +
       ". It is a little larger than that needs, so it keeps its promised false-positive rate of " +
       short_number(shape.fpr) + " up to " + key_words(most) + ". Make a larger one before that, of all keys (" +
       tools::build_again(file) + "; if nobody knows how many will come, see bf help fold).");
}

void warn_if_useless(const bfstore::Shape& shape, const std::string& file) {
  constexpr double kUseless = 0.9;
  if (shape.fpr < kUseless) return;
  warn(file + ": has so few bits that with " + key_words(shape.capacity) + " nearly every absent key is maybe. Give " +
       "more --bits, or --capacity and --fpr alone.");
}

std::string rounded_words(const Arguments& arguments, const bfstore::Filter& filter) {
  const bfstore::Shape shape = filter.shape();
  const std::uint32_t parts = filter.part().parts;
  const std::uint64_t made = shape.num_bits * parts;
  if (arguments.bits_asked == 0 || arguments.bits_asked == made) return "";
  const auto layout = bfstore::layout_of(shape.layout);
  return ". --bits " + grouped(arguments.bits_asked) + " was rounded up to " + grouped(made) +
         (parts == 1 ? "" : " in all parts") +
         (layout && !layout->can.build ? std::string(": the layout ") + layout->name + " has whole lines of 64 bytes"
                                       : "");
}

std::uint64_t keys_within_promise(const bfstore::Stats& stats) {
  const bfstore::Shape& shape = stats.shape;
  bfstore::PlanRequest request;
  request.layout = shape.layout;
  request.hash = shape.hash;
  request.capacity = shape.capacity;
  request.fpr = shape.fpr;
  request.num_bits = shape.num_bits;
  request.num_probes = shape.num_probes;
  if (stats.growing) {
    request.capacity = stats.growing->first.capacity;
    request.num_bits = stats.growing->first.num_bits;
    request.capacity_at_most = stats.growing->at_most.capacity;
  }
  return tools::keys_within_promise(request);
}

std::uint64_t keys_left(const bfstore::Stats& stats) {
  return stats.keys_added - std::min(stats.keys_removed, stats.keys_added);
}

std::string shape_words(const bfstore::Stats& stats, const std::string& file) {
  std::error_code gone;
  const std::uintmax_t bytes = std::filesystem::file_size(file, gone);
  const bfstore::Shape& shape = stats.shape;
  const auto layout = bfstore::layout_of(shape.layout);
  const bool grows = stats.growing && stats.growing->can_grow();
  return "room for " + key_words(shape.capacity) +
         (grows ? ", grows to " + grouped(stats.growing->at_most.capacity) + "," : "") +
         " at a false-positive rate of " + short_number(shape.fpr) + "; " + (layout ? layout->name : "unknown layout") +
         ", " + std::to_string(shape.num_probes) + (shape.num_probes == 1 ? " probe" : " probes") +
         (stats.turning ? ", keys of " + time_words(stats.turning->window_ms) : "") +
         (gone ? "" : ", " + human_bytes(bytes));
}

std::string key_words(std::uint64_t count) { return grouped(count) + (count == 1 ? " key" : " keys"); }

std::string new_words(const Loader& loader) {
  return grouped(loader.keys_new()) + (loader.keys_read() == 1 ? "" : " of them") + " certainly new";
}

// A list that was cut ends within a line, as one does whose editor writes no newline at its end.
void warn_if_unended(const KeySource& source) {
  if (!source.ended_without_separator()) return;
  warn(source.name() + ": no " + (source.format().separator == '\0' ? "NUL" : "newline") +
       " ends the last key, which may be cut. It was taken as it is.");
}

// A shell's loop over a list of Windows passes "alice\r", which is another key than the "alice" that bf reads from it.
static bool warns_of_line_end(const Arguments& arguments) {
  if (arguments.list.any_bytes) return false;
  for (const std::string& key : arguments.keys) {
    if (!key.ends_with('\r') && !key.ends_with('\n')) continue;
    warn("the key '" + key + "' ends in " + (key.ends_with('\n') ? "LF" : "CR") +
         ", which was taken for a byte of it. For the lines of a list: --from LIST. If it is meant: --binary.");
    return true;
  }
  return false;
}

void warn_of_doubtful_keys(const Arguments& arguments) {
  if (warns_of_line_end(arguments)) return;
  for (const std::string& key : arguments.keys) {
    struct stat facts {};
    if (key.size() != std::strlen(key.c_str()) || ::stat(key.c_str(), &facts) != 0 || S_ISDIR(facts.st_mode)) continue;
    return warn("'" + key + "' is also a file, and was taken for a key. For the keys in it: --from " + key);
  }
}

void report_text(const std::string& text) {
  try {
    Output output;
    output.append(text + "\n");
    output.flush();
  } catch (const Failure& failure) {
    throw Failure(std::string(failure.what()) + " What is done: " + text);
  }
}

void report(const std::string& line) { report_text(printable(line)); }

}  // namespace bf
