// The C ABI of other programs' filters.
#include <bfstore_interop.h>

#include <bfstore/interop.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "handle.hpp"
#include "keys.hpp"
#include "options.hpp"
#include "structs.hpp"

using capi::Filter;
using capi::Given;
using capi::guarded;
using capi::invalid;
using capi::key_of;
using capi::null_keys;
using capi::possible;
using capi::report;
using capi::with_given;

namespace {

constexpr std::uint64_t kFlagsOfImport = capi::kFlagsOfCreate & ~BFS_FILLING;
constexpr std::uint32_t kFieldsOfImport = capi::kMaking & ~capi::kThreads;
constexpr std::uint64_t kFlagsToLook = BFS_ANY_FILESYSTEM | BFS_NOFOLLOW;
constexpr std::uint64_t kFlagsOfForeign = kFlagsToLook | capi::kMapFlags | BFS_PRIVATE | BFS_TUTORIAL_SIZING;
constexpr std::uint32_t kFieldsOfForeign = capi::kRate | capi::kSize | capi::kShape | capi::kSecret | capi::kFd;

// Calls `use` with what the caller's struct says.
template <class Use>
auto with_form(const bfs_foreign_form* from, const char* function, bfs_error* error, Use use) noexcept
    -> decltype(use(std::declval<const bfstore::ForeignForm&>())) {
  return guarded(error, [&]() -> decltype(use(std::declval<const bfstore::ForeignForm&>())) {
    bfs_foreign_form known;
    if (const char* wrong = capi::read_struct(from, known); wrong != nullptr)
      return report(error, invalid(std::string("bfs_foreign_form") + wrong));
    if (known.format == nullptr) return report(error, invalid(std::string(function) + ": format is null"));
    const auto text = [](const char* given) { return given == nullptr ? std::string() : std::string(given); };
    bfstore::ForeignForm form{known.format, {}, text(known.name), text(known.column), known.member};
    if (known.order != 0) form.order = static_cast<bfstore::BitOrder>(known.order);
    return use(form);
  });
}

bfs_foreign foreign_of(const bfstore::ForeignFilter& from, std::uint32_t needs) noexcept {
  bfs_foreign all{};
  all.needs = needs;
  all.layout = static_cast<std::uint32_t>(from.format.layout);
  all.hash = from.hash ? static_cast<std::uint32_t>(*from.hash) : 0;
  all.num_bits = from.num_bits;
  all.capacity = from.capacity;
  all.fpr = from.fpr;
  all.keys = from.keys.value_or(0);
  all.bytes = from.bytes;
  all.num_probes = from.num_probes;
  all.has_keys = from.keys ? 1 : 0;
  all.filters = from.filters;
  return all;
}

std::uint32_t needs_of(const bfstore::ForeignFilter& told) noexcept {
  return (told.format.needs_size ? BFS_FOREIGN_NEEDS_SIZE : 0) |
         (told.format.needs_order ? BFS_FOREIGN_NEEDS_ORDER : 0) | (told.hash ? 0 : BFS_FOREIGN_NEEDS_HASH) |
         (told.format.needs_column ? BFS_FOREIGN_NEEDS_COLUMN : 0) |
         (told.format.needs_all ? BFS_FOREIGN_NEEDS_ALL : 0);
}

}  // namespace

int32_t bfs_import_bits(bfs_filter* filter, const void* bits, uint64_t num_bytes, uint32_t order, bfs_error* error) {
  if (filter == nullptr || bits == nullptr) return invalid(error, "bfs_import_bits: filter or bits is null");
  if (!possible(static_cast<const std::byte*>(bits), num_bytes))
    return invalid(error, "bfs_import_bits: num_bytes is greater than any array");
  return guarded(error, [&] {
    return report(error, filter->filter.import_bits({static_cast<const std::byte*>(bits), num_bytes},
                                                    static_cast<bfstore::BitOrder>(order)));
  });
}

int32_t bfs_export_bits(const bfs_filter* filter, void* bits, uint64_t num_bytes, uint32_t order, bfs_error* error) {
  if (filter == nullptr || bits == nullptr) return invalid(error, "bfs_export_bits: filter or bits is null");
  if (!possible(static_cast<const std::byte*>(bits), num_bytes))
    return invalid(error, "bfs_export_bits: num_bytes is greater than any array");
  return guarded(error, [&] {
    return report(error, filter->filter.export_bits({static_cast<std::byte*>(bits), num_bytes},
                                                    static_cast<bfstore::BitOrder>(order)));
  });
}

const char* bfs_foreign_name(uint32_t index) {
  const capi::ErrnoKeeper keeper;
  return bfstore::foreign_format_name(index);
}

int32_t bfs_foreign_inspect(const bfs_foreign_form* form, const void* first, uint64_t first_bytes, uint64_t flags,
                            const bfs_options* options, bfs_foreign* out, bfs_error* error) {
  if (out == nullptr) return invalid(error, "bfs_foreign_inspect: out is null");
  if (!capi::possible_size<bfs_foreign>(capi::size_said_by(out)))
    return invalid(error, "bfs_foreign.struct_bytes is not its size");
  if (!possible(static_cast<const std::byte*>(first), first_bytes))
    return invalid(error, "bfs_foreign_inspect: first is null, or first_bytes is greater than any array");
  return with_form(form, "bfs_foreign_inspect", error, [&](const bfstore::ForeignForm& known) {
    const std::span bytes(static_cast<const std::byte*>(first), first_bytes);
    const auto told = bfstore::inspect_foreign(bytes, known);
    if (!told) return report(error, told.error());
    const std::uint32_t needs = needs_of(*told);
    if (options == nullptr && flags == 0) {
      capi::fill_struct(out, foreign_of(*told, needs));
      return BFS_OK;
    }
    return with_given(flags, options, {"bfs_foreign_inspect", kFlagsOfImport, kFieldsOfImport}, error,
                      [&](const Given& given) {
                        const auto read = given.making();
                        const auto made = bfstore::inspect_foreign(bytes, known, &read);
                        if (!made) return report(error, made.error());
                        capi::fill_struct(out, foreign_of(*made, needs));
                        return BFS_OK;
                      });
  });
}

int32_t bfs_foreign_recognize(const char* path, uint64_t flags, uint32_t index, const char** name, bfs_error* error) {
  if (name != nullptr) *name = nullptr;
  if (path == nullptr || name == nullptr) return invalid(error, "bfs_foreign_recognize: path or name is null");
  const capi::Taken taken{"bfs_foreign_recognize", kFlagsToLook, capi::kNoFields};
  return with_given(flags, nullptr, taken, error, [&](const Given& given) {
    const auto found = bfstore::recognize_foreign(path, given.opening());
    if (!found) return report(error, found.error());
    if (index < found->size()) *name = (*found)[index];
    return BFS_OK;
  });
}

int32_t bfs_foreign_open(const char* path, const bfs_foreign_form* form, uint64_t flags, const bfs_options* options,
                         bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (out == nullptr) return invalid(error, "bfs_foreign_open: out is null");
  return with_form(form, "bfs_foreign_open", error, [&](const bfstore::ForeignForm& known) {
    const capi::Taken taken{"bfs_foreign_open", kFlagsOfForeign, kFieldsOfForeign};
    return with_given(flags, options, taken, error, [&](const Given& given) {
      const auto opening = given.opening();
      if (path == nullptr && !opening.descriptor) return invalid(error, "bfs_foreign_open: path is null");
      const std::string name = path == nullptr ? "" : path;
      return capi::hand_out(out, error, [&] { return Filter::open_foreign(name, known, given.making(), opening); });
    });
  });
}

int32_t bfs_foreign_import(const char* path, const bfs_foreign_form* form, const void* bytes, uint64_t num_bytes,
                           uint64_t flags, const bfs_options* options, bfs_filter** out, bfs_error* error) {
  if (out != nullptr) *out = nullptr;
  if (path == nullptr || out == nullptr) return invalid(error, "bfs_foreign_import: path or out is null");
  if (!possible(static_cast<const std::byte*>(bytes), num_bytes))
    return invalid(error, "bfs_foreign_import: bytes is null, or num_bytes is greater than any array");
  return with_form(form, "bfs_foreign_import", error, [&](const bfstore::ForeignForm& known) {
    return with_given(
        flags, options, {"bfs_foreign_import", kFlagsOfImport, kFieldsOfImport}, error, [&](const Given& given) {
          const std::span whole(static_cast<const std::byte*>(bytes), num_bytes);
          return capi::hand_out(out, error, [&] {
            return with_threads(given, [&] { return Filter::import_foreign(path, whole, known, given.making()); });
          });
        });
  });
}

int64_t bfs_foreign_export(const bfs_filter* filter, const bfs_foreign_form* form, void* buffer, uint64_t buffer_bytes,
                           bfs_error* error) {
  if (buffer != nullptr && !possible(static_cast<const std::byte*>(buffer), buffer_bytes))
    return invalid(error, "bfs_foreign_export: buffer_bytes is greater than any array");
  if (buffer != nullptr) std::memset(buffer, 0xff, buffer_bytes);  // what stays there on an error
  if (filter == nullptr) return invalid(error, "bfs_foreign_export: filter is null");
  return with_form(form, "bfs_foreign_export", error, [&](const bfstore::ForeignForm& known) -> std::int64_t {
    if (buffer == nullptr) return capi::bytes_or_code(error, filter->filter.exported_bytes(known));
    std::uint64_t bytes = 0;
    const std::span to(static_cast<std::byte*>(buffer), buffer_bytes);
    const std::int32_t code = report(error, filter->filter.export_foreign(to, known, &bytes));
    return code < 0 ? code : static_cast<std::int64_t>(bytes);
  });
}

int32_t bfs_contains_any(const bfs_filter* const* filters, size_t count, const void* key, size_t key_bytes,
                         uint8_t* which) {
  if (count > PTRDIFF_MAX / sizeof(filters) || null_keys(filters, count) || null_keys(key, key_bytes))
    return BFS_EINVAL;
  const std::span given(filters, count);
  if (which != nullptr) std::memset(which, 1, count);
  if (std::find(given.begin(), given.end(), nullptr) != given.end()) return BFS_EINVAL;
  std::array<const Filter*, 64> some;  // no allocation, however many there are
  std::uint64_t maybes = 0;
  for (std::size_t first = 0; first < count; first += some.size()) {
    const std::size_t size = std::min(some.size(), count - first);
    std::transform(&given[first], &given[first] + size, some.begin(),
                   [](const bfs_filter* one) { return &one->filter; });
    const std::span<std::uint8_t> answers(which == nullptr ? nullptr : which + first, which == nullptr ? 0 : size);
    const bfstore::Count found = Filter::contains_any({some.data(), size}, key_of(key, key_bytes), answers);
    if (!found.ok()) return static_cast<std::int32_t>(found.code());
    maybes += found.keys();
    if (which == nullptr && maybes != 0) break;
  }
  return static_cast<std::int32_t>(std::min<std::uint64_t>(maybes, INT32_MAX));
}
