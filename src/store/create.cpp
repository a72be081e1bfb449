// From Options to a filter: in a file, in a caller's buffer, or found in one.
#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/arith.hpp"
#include "base/fail.hpp"
#include "format/bare.hpp"
#include "format/identity.hpp"
#include "format/sections.hpp"
#include "hash/hash.hpp"
#include "sizing/sizing.hpp"
#include "store/core.hpp"

namespace bfstore {
namespace {

using base::fail;
using format::Form;
using format::Identity;

constexpr std::uint64_t kBufferAlignment = 64;

Error fill_random(void* bytes, std::size_t length) {
  const ssize_t got = getrandom(bytes, length, 0);
  return got == static_cast<ssize_t>(length) ? Error{} : base::fail_errno(errno, "", "asking for random bytes");
}

// What is left of max_bytes when so many bytes of it are not the body's.
std::uint64_t left_of(std::uint64_t max_bytes, std::uint64_t other_bytes) noexcept {
  return max_bytes - std::min(max_bytes, other_bytes);
}

// What of max_bytes is left for the body.
std::uint64_t body_budget(const Options& options, Form form) noexcept {
  if (options.bare) return left_of(options.max_bytes, format::kTrailerBytes);
  const std::uint64_t bytes = left_of(options.max_bytes, format::kEndWordBytes);
  if (form == Form::kEmbedded)
    return left_of(bytes, format::header_bytes_for(form, options.note.size(), options.key.has_value()));
  const std::uint64_t pages = base::round_down(bytes, format::kPageBytes);
  const std::uint64_t small = left_of(pages, format::kFileHeaderBytes);
  if (small < format::kBigBodyBytes) return small;
  return std::max(left_of(pages, format::kBigBodyBytes), format::kBigBodyBytes - 1);
}

bool anything_but_like(const Options& options) noexcept {
  return options.capacity != 0 || options.fpr != 0 || options.bits_per_key != 0 || options.max_bytes != 0 ||
         options.num_bits != 0 || options.num_probes != 0 || options.layout || options.hash || options.seed;
}

// The identity of another file is enough: that one need not be clean.
Result<Identity> shape_like(const Options& options) {
  if (anything_but_like(options)) {
    return fail(Code::kInvalid,
                "the shape of " + options.like + " is copied whole: give no size, layout, hash or seed beside it");
  }
  const auto file = region::File::open(options.like, region::File::Access::kRead);
  if (!file) return file.error();
  const auto facts = file->facts();
  if (!facts) return facts.error();
  if (!facts->regular) return fail(Code::kNotRegular, options.like + ": not a regular file");
  const auto header = store::read_header(*file);
  if (!header) return header.error();
  return store::trusted_identity(store::header_there(*header, *facts), Form::kFile, facts->bytes, false, options.key,
                                 options.like + ": ");
}

// "; give blocked or classic"
std::string known_layouts() {
  std::string names;
  for (const LayoutInfo& info : layouts()) names += (names.empty() ? "; give " : " or ") + std::string(info.name);
  return names;
}

// What digests depend on besides the keys.
Error check_hash(Hash hash, const Options& options) {
  if (!hash::is_known(static_cast<std::uint16_t>(hash)))
    return fail(Code::kHash, "unknown hash: give xxh3, external or siphash");
  if (hash != Hash::kXxh3 && options.seed) {
    return fail(Code::kInvalid,
                std::string("a seed was given, and only xxh3 has one: ") +
                    (hash == Hash::kSipHash ? "siphash has a key" : "external digests are the owner's"));
  }
  return store::check_key_for(hash, options.key);
}

Result<Identity> shape_of_size(const Options& options, Form form) {
  const auto layout_number = static_cast<std::uint16_t>(options.layout.value_or(Layout::kBlocked));
  const Hash hash = options.hash.value_or(Hash::kXxh3);
  const layout::Row* const row = layout::find(layout_number);
  if (row == nullptr) return fail(Code::kLayout, "unknown layout " + std::to_string(layout_number) + known_layouts());
  if (Error error = check_hash(hash, options); !error.ok()) return error;
  const auto size = sizing::solve(*row, options, body_budget(options, form));
  if (!size) return size.error();
  Identity identity;
  identity.layout = layout_number;
  identity.hash = static_cast<std::uint16_t>(hash);
  identity.num_probes = size->num_probes;
  identity.num_bits = size->num_bits;
  identity.capacity = size->capacity;
  identity.fpr = size->fpr;
  identity.seed = options.seed.value_or(0);
  const bool needs_seed = hash == Hash::kXxh3 && !options.seed && !options.bare;
  if (needs_seed) {
    if (Error error = fill_random(&identity.seed, sizeof identity.seed); !error.ok()) return error;
  }
  return identity;
}

Error check_bare(const Options& options, const Identity& identity) {
  if (!options.note.empty() || identity.seed != 0)
    return fail(Code::kInvalid, "the bare form keeps no note, and its seed is 0");
  return {};
}

Result<Identity> plan(const Options& options, Form form) {
  if (options.note.size() > kMaxNoteBytes) {
    return fail(Code::kInvalid, "a note of " + std::to_string(options.note.size()) + " bytes is longer than 1024");
  }
  if (options.bare && (options.hash == Hash::kSipHash || options.key)) {
    return fail(
        Code::kInvalid,
        "the bare form has no room for what tells a wrong key, so its hash can not be siphash: make it embedded");
  }
  if ((options.mode & ~0777U) != 0) return fail(Code::kInvalid, "the mode has other bits than rwxrwxrwx");
  auto planned = options.like.empty() ? shape_of_size(options, form) : shape_like(options);
  if (!planned) return planned;
  Identity& identity = *planned;
  if (options.bare) {
    if (Error error = check_bare(options, identity); !error.ok()) return error;
    identity.num_bits = base::round_up(identity.num_bits, 64);  // m is not stored, but follows from the body's length
  }
  identity.embedded = form == Form::kEmbedded;
  identity.header_bytes =
      static_cast<std::uint32_t>(format::header_bytes_for(form, options.note.size(), options.key.has_value()));
  identity.body_bytes = layout::body_bytes(*layout::find(identity.layout), identity.num_bits);
  identity.body_offset = identity.embedded ? identity.header_bytes : format::body_offset_in_file(identity.body_bytes);
  identity.note.reset();
  if (!options.note.empty()) identity.note = options.note;
  identity.key_check.reset();
  if (options.key) {
    std::uint64_t salt = 0;
    if (Error error = fill_random(&salt, sizeof salt); !error.ok()) return error;
    identity.key_check = format::key_check_of(*options.key, salt);
  }
  return store::as_new(std::move(identity));
}

std::uint64_t buffer_bytes_of(const Options& options, const Identity& identity) noexcept {
  return options.bare ? identity.body_bytes + format::kTrailerBytes : format::sections_of(identity).end;
}

Error check_buffer(const void* buffer) {
  if (buffer == nullptr) return fail(Code::kInvalid, "the buffer is null");
  if (reinterpret_cast<std::uintptr_t>(buffer) % kBufferAlignment == 0) return {};
  return fail(Code::kInvalid, "the buffer is not aligned to 64 bytes");
}

std::uint64_t* words_at(const std::byte* bytes) noexcept {
  return reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(bytes));
}

}  // namespace

Result<Identity> store::as_new(Identity identity) {
  identity.compat = identity.ro_compat = 0;
  identity.seal.reset();
  if (Error error = fill_random(identity.file_id.data(), identity.file_id.size()); !error.ok()) return error;
  return identity;
}

Result<Filter> Filter::create(const std::string& path, const Options& options) {
  if (path.empty()) return fail(Code::kInvalid, "the path is empty");
  if (options.bare) return fail(Code::kInvalid, path + ": the bare form is for buffers, not for files");
  if (options.map.copy) return fail(Code::kInvalid, path + ": a copy is for reading only");
  const auto identity = plan(options, Form::kFile);
  if (!identity && !options.like.empty()) return identity.error();  // which names that file
  if (!identity) return fail(identity.error().code, path + ": " + identity.error().message);
  // What is not published has the writers' lock for itself, too.
  const Adding how = options.exclusive || options.unpublished ? Adding::kAlone : Adding::kShared;
  const auto functions = store::functions_for(static_cast<Layout>(identity->layout), how);
  if (!functions) return fail(functions.error().code, path + ": " + functions.error().message);
  auto session = store::Session::create(path, *identity, options);
  if (!session) return session.error();
  auto core = std::make_unique<Core>(*functions, std::move(*session), how);
  core->secret.keep(options.key);
  core->hard_limit = options.hard_limit;
  core->writeback_check = std::chrono::milliseconds(options.writeback_check_ms);
  // Last: nothing that is made after it could fail, and leave the file to no one.
  if (!options.unpublished) {
    if (Error error = core->session->publish_in_use(); !error.ok()) return error;
  }
  return Filter(std::move(core));
}

Result<std::uint64_t> Filter::required_bytes(const Options& options) {
  const auto identity = plan(options, Form::kEmbedded);
  if (!identity) return identity.error();
  return buffer_bytes_of(options, *identity);
}

Result<Filter> Filter::format(std::span<std::byte> buffer, const Options& options) {
  if (Error error = check_buffer(buffer.data()); !error.ok()) return error;
  const auto identity = plan(options, Form::kEmbedded);
  if (!identity) return identity.error();
  const std::uint64_t needed = buffer_bytes_of(options, *identity);
  if (buffer.size() < needed) {
    return fail(Code::kInvalid, "the buffer has " + std::to_string(buffer.size()) + " bytes, the filter needs " +
                                    std::to_string(needed));
  }
  Shape shape = store::shape_of(*identity);
  const Adding how = options.exclusive ? Adding::kAlone : Adding::kShared;
  const auto functions = store::functions_for(shape.layout, how);
  if (!functions) return functions.error();
  std::memset(buffer.data(), 0, needed);
  if (options.bare) {
    shape.capacity = 0;  // as who wraps it will see it: the bare form has no room for them
    shape.fpr = 0;
    const auto trailer = format::encode_trailer(shape, identity->body_bytes);
    std::memcpy(buffer.data() + identity->body_bytes, trailer.data(), trailer.size());
    return Filter(std::make_unique<Core>(*functions, words_at(buffer.data()), shape, identity->body_bytes, how));
  }
  const auto record = format::encode_identity(*identity);
  const format::Sections sections = format::sections_of(*identity);
  const store::Embedded embedded{*identity,
                                 base::load<std::uint64_t>(record.data() + sections.identity_checksum.offset)};
  std::memcpy(buffer.data(), record.data(), record.size());
  base::store(buffer.data() + sections.end_word.offset, format::end_word(identity->file_id));
  auto core = std::make_unique<Core>(*functions, buffer.data(), embedded, how);
  core->secret.keep(options.key);
  return Filter(std::move(core));
}

Result<Filter> Filter::wrap_as(std::span<const std::byte> buffer, bool bare, bool writing,
                               const std::optional<Key>& key) {
  if (Error error = check_buffer(buffer.data()); !error.ok()) return error;
  const Adding how = writing ? Adding::kShared : Adding::kNever;
  if (bare) {
    const auto shape = store::trusted_bare(buffer, key);
    if (!shape) return shape.error();
    const auto functions = store::functions_for(shape->layout, how);
    if (!functions) return functions.error();
    return Filter(std::make_unique<Core>(*functions, words_at(buffer.data()), *shape,
                                         buffer.size() - format::kTrailerBytes, how));
  }
  const auto found = store::find_embedded(buffer, writing, key);
  if (!found) return found.error();
  const auto functions = store::functions_for(static_cast<Layout>(found->identity.layout), how);
  if (!functions) return functions.error();
  auto core = std::make_unique<Core>(*functions, const_cast<std::byte*>(buffer.data()), *found, how);
  core->secret.keep(key);
  return Filter(std::move(core));
}

Result<Filter> Filter::wrap(std::span<std::byte> buffer, bool bare, const std::optional<Key>& key) {
  return wrap_as(buffer, bare, true, key);
}

Result<Filter> Filter::wrap(std::span<const std::byte> buffer, bool bare, const std::optional<Key>& key) {
  return wrap_as(buffer, bare, false, key);
}

Result<Filter> Filter::open_range(const std::string& path, std::uint64_t offset, std::uint64_t max_bytes,
                                  const OpenOptions& options) {
  auto range = store::Range::open(path, offset, max_bytes, options);
  if (!range) return range.error();
  const store::Embedded& embedded = (*range)->embedded();
  const auto functions = store::functions_for(static_cast<Layout>(embedded.identity.layout), Adding::kNever);
  if (!functions) return functions.error();
  auto core = std::make_unique<Core>(*functions, (*range)->start(), embedded, Adding::kNever);
  core->range = std::move(*range);
  core->secret.keep(options.key);
  return Filter(std::move(core));
}

}  // namespace bfstore
