// Makes a filter from Options, in a file or in a caller's buffer, and finds one in a buffer or in a range of a file.
#include <cstring>

#include "base/bytes.hpp"
#include "base/fail.hpp"
#include "format/bare.hpp"
#include "format/identity.hpp"
#include "format/sections.hpp"
#include "store/derive/build.hpp"
#include "store/home/embedded.hpp"
#include "store/home/file.hpp"
#include "store/home/range.hpp"
#include "store/plan/new_identity.hpp"

namespace bfstore {
namespace {

using base::fail;
using format::Form;

constexpr std::uint64_t kBufferAlignment = 64;

Error check_buffer(const void* buffer) {
  if (buffer == nullptr) return fail(Code::kInvalid, "the buffer is null. Give one that is aligned to 64 bytes.");
  if (reinterpret_cast<std::uintptr_t>(buffer) % kBufferAlignment == 0) return {};
  return fail(Code::kInvalid, "the buffer is not aligned to 64 bytes. Align it.");
}

std::uint64_t* words_at(const std::byte* bytes) noexcept {
  return reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(bytes));
}

}  // namespace

Result<Filter> Filter::create(const std::string& path, const Options& options) {
  if (options.bare) return fail(Code::kInvalid, path + ": the bare form is for buffers. Leave it out for a file.");
  if (options.map.copy)
    return fail(Code::kInvalid, path + ": a copy cannot be written to. Leave it out for a new file.");
  if (options.filling && options.unpublished) {
    return fail(Code::kInvalid,
                path + ": no process sees an unpublished filter while it is filled. Publish it when it has every key.");
  }
  const auto making = store::making_at(path, options);
  if (!making) return making.error();
  store::OwnOptions sized(options);
  if (store::counts_its_keys(options)) sized.capacity = 1;  // the rest of the identity is decided now
  const auto identity = store::new_identity(sized, Form::kFile);
  if (!identity && !options.like.empty()) return identity.error();  // the error names that file
  if (!identity) return fail(identity.error().code, path + ": " + identity.error().message);
  if (layout::row_of(identity->shape.layout).info.can.build)
    return made_of(store::gather_for(path, options, *making, *identity));
  const store::Adding how = making->alone ? store::Adding::kAlone : store::Adding::kShared;
  const auto functions = store::functions_for(identity->shape.layout, how);
  if (!functions) return fail(functions.error().code, path + ": " + functions.error().message);
  auto session = store::Session::make(path, *identity, *making);
  if (!session) return session.error();
  store::Session& made = **session;
  auto ask =
      store::ask_file(std::move(*session), how, {options.secret, options.hard_limit, options.writeback_check_ms});
  if (!ask) return ask.error();
  // Done last: nothing after it may fail, because the file would stay without an owner.
  if (!options.unpublished) {
    if (Error error = made.publish_in_use(); !error.ok()) return error;
  }
  return made_of(std::move(ask));
}

Result<std::uint64_t> Filter::required_bytes(const Options& options) {
  const auto identity = store::new_identity(options, Form::kEmbedded);
  if (!identity) return identity.error();
  return store::buffer_bytes_of(options, *identity);
}

Result<Filter> Filter::format(std::span<std::byte> buffer, const Options& options) {
  if (Error error = check_buffer(buffer.data()); !error.ok()) return error;
  const auto identity = store::new_identity(options, Form::kEmbedded);
  if (!identity) return identity.error();
  const std::uint64_t needed = store::buffer_bytes_of(options, *identity);
  if (buffer.size() < needed) {
    return fail(Code::kInvalid, "the buffer has " + std::to_string(buffer.size()) + " bytes, and the filter needs " +
                                    std::to_string(needed));
  }
  Shape shape = identity->shape;
  const store::Adding how = options.exclusive ? store::Adding::kAlone : store::Adding::kShared;
  const auto functions = store::functions_for(shape.layout, how);
  if (!functions) return functions.error();
  // Plain stores take turns by a lock, which other processes do not see. So a forked child must not add.
  const auto born = options.exclusive ? region::ForkMark::make() : region::ForkMark();
  if (!born) return born.error();
  base::clear(buffer.first(needed));
  if (options.bare) {
    shape.capacity = 0;  // the bare form has no room for n and p, so wrap() sees none
    shape.fpr = 0;
    const auto trailer = format::encode_trailer(shape, identity->body_bytes);
    std::memcpy(buffer.data() + identity->body_bytes, trailer.data(), trailer.size());
    auto ask = store::ask_bare({words_at(buffer.data()), shape, identity->body_bytes}, how);
    if (ask) (*ask)->born = *born;
    return made_of(std::move(ask));
  }
  const auto record = format::encode_identity(*identity);
  const format::Sections sections = format::sections_of(*identity);
  const store::Embedded embedded{*identity,
                                 base::load<std::uint64_t>(record.data() + sections.identity_checksum.offset)};
  std::memcpy(buffer.data(), record.data(), record.size());
  base::store(buffer.data() + sections.end_word.offset, format::end_word(identity->file_id));
  auto ask = store::ask_buffer(buffer.data(), embedded, how, options.secret);
  if (ask) (*ask)->born = *born;
  return made_of(std::move(ask));
}

Result<Filter> Filter::wrap_as(std::span<const std::byte> buffer, bool bare, bool writing,
                               const std::optional<Secret>& secret) {
  if (Error error = check_buffer(buffer.data()); !error.ok()) return error;
  const store::Adding how = writing ? store::Adding::kShared : store::Adding::kNever;
  if (bare) {
    const auto shape = store::trusted_bare(buffer, secret);
    if (!shape) return shape.error();
    return made_of(store::ask_bare({words_at(buffer.data()), *shape, buffer.size() - format::kTrailerBytes}, how));
  }
  const auto found = store::find_embedded(buffer, writing, secret);
  if (!found) return found.error();
  return made_of(store::ask_buffer(const_cast<std::byte*>(buffer.data()), *found, how, secret));
}

Result<Filter> Filter::wrap(std::span<std::byte> buffer, bool bare, const std::optional<Secret>& secret) {
  return wrap_as(buffer, bare, true, secret);
}

Result<Filter> Filter::wrap_to_read(std::span<const std::byte> buffer, bool bare, const std::optional<Secret>& secret) {
  return wrap_as(buffer, bare, false, secret);
}

Result<Filter> Filter::open_range(const std::string& path, std::uint64_t offset, std::uint64_t max_bytes,
                                  const OpenOptions& options) {
  if (options.descriptor && path.empty())
    return open_range(store::name_of(*options.descriptor), offset, max_bytes, options);
  return made_of(store::open_range(path, offset, max_bytes, options));
}

}  // namespace bfstore
