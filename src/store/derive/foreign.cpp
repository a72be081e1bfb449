// Says what the bytes of another program's filter are, and opens a file of them in place.
#include "store/derive/foreign.hpp"

#include <bfstore/filter.hpp>

#include <string.h>

#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "store/home/foreign.hpp"
#include "store/plan/new_identity.hpp"

namespace bfstore {
namespace {

using base::fail;

// The bytes of an open file.
class SourceInFile final : public interop::Source {
 public:
  explicit SourceInFile(const store::ForeignFile& opened) noexcept : opened_(opened) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return opened_.facts.bytes; }
  [[nodiscard]] Error read(std::span<std::byte> into, std::uint64_t offset) const override {
    const auto got = opened_.file.read_at(into, offset);
    if (!got) return got.error();
    if (*got == into.size()) return {};
    return fail(Code::kTooShort, "ends after " + std::to_string(size()) + " bytes, within a filter.");
  }

 private:
  const store::ForeignFile& opened_;
};

ForeignFilter told_alone(const interop::Row& row, const std::vector<interop::Told>& found) {
  const interop::Told& first = found.front();
  const std::uint64_t bytes =
      first.num_bits == 0 || row.find != nullptr ? 0 : interop::whole_bytes(first, first.num_bits);
  ForeignFilter filter{interop::info_of(row), first.hash, first.num_bits, first.num_probes,
                       first.capacity,        first.fpr,  first.keys,     bytes};
  filter.filters = static_cast<std::uint32_t>(found.size());
  return filter;
}

// Finds the filters that the form means.
Result<std::vector<interop::Told>> find_meant(const interop::Row& row, const interop::Source& source,
                                              const ForeignForm& form) {
  auto found = interop::find(row, source, form);
  if (!found || form.member == 0) return found;
  auto one = interop::choose(row, std::move(*found), form);
  if (!one) return one.error();
  return std::vector<interop::Told>{std::move(*one)};
}

}  // namespace

namespace store {

CompletedOptions::~CompletedOptions() {
  if (options.secret) explicit_bzero(options.secret->data(), options.secret->size());
}

Result<format::Identity> foreign_identity(const interop::Row& row, const interop::Told& told, const ForeignForm& form,
                                          Options& options) {
  if (Error error = interop::complete(row, told, form, options); !error.ok()) return error;
  auto identity = new_identity(options, format::Form::kFile);
  const std::string name = interop::name_of(form);
  if (!identity && !options.like.empty()) return identity.error();  // the error names that file
  if (!identity) return fail(identity.error().code, name + ": " + identity.error().message);
  if (Error error = interop::check_shape(row, identity->shape, name); !error.ok()) return error;
  return identity;
}

}  // namespace store

Result<ForeignFilter> inspect_foreign(std::span<const std::byte> first, const ForeignForm& form,
                                      const Options* options) {
  const auto row = interop::row_of(form);
  if (!row) return row.error();
  const auto found = find_meant(**row, interop::SourceInMemory(first), form);
  if (!found) return found.error();
  ForeignFilter filter = told_alone(**row, *found);
  if (options == nullptr) return filter;
  store::CompletedOptions all(*options);
  const auto identity = store::foreign_identity(**row, found->front(), form, all.options);
  if (!identity) return identity.error();
  const Shape& shape = identity->shape;
  filter.hash = shape.hash;
  filter.num_bits = shape.num_bits;
  filter.num_probes = shape.num_probes;
  filter.capacity = shape.capacity;
  filter.fpr = shape.fpr;
  if ((*row)->find == nullptr) filter.bytes = interop::whole_bytes(found->front(), shape.num_bits);
  return filter;
}

Result<ForeignFilter> inspect_foreign_file(const std::string& path, const ForeignForm& form,
                                           const OpenOptions& opening) {
  ForeignForm named = form;
  if (named.name.empty()) named.name = path;
  const auto row = interop::row_of(named);
  if (!row) return row.error();
  const auto opened = store::open_foreign_file(path, opening);
  if (!opened) return opened.error();
  const auto found = find_meant(**row, SourceInFile(*opened), named);
  if (!found) return found.error();
  if (!(*row)->info.needs_size) {
    for (const interop::Told& told : *found) {
      if (Error error = interop::check_place(**row, told, opened->facts.bytes, told.num_bits, named); !error.ok())
        return error;
    }
  }
  return told_alone(**row, *found);
}

Result<std::vector<const char*>> recognize_foreign(const std::string& path, const OpenOptions& opening) {
  const auto opened = store::open_foreign_file(path, opening);
  if (!opened) return opened.error();
  return interop::recognized(SourceInFile(*opened));
}

Result<Filter> Filter::open_foreign(const std::string& path, const ForeignForm& form, const Options& options,
                                    const OpenOptions& opening) {
  ForeignForm named = form;
  if (named.name.empty()) named.name = path;
  const auto row = interop::row_of(named);
  if (!row) return row.error();
  auto opened = store::open_foreign_file(path, opening);
  if (!opened) return opened.error();
  const auto found = find_meant(**row, SourceInFile(*opened), named);
  if (!found) return found.error();
  std::vector<store::ForeignBits> filters;
  for (const interop::Told& told : *found) {
    store::CompletedOptions all(options);
    auto identity = store::foreign_identity(**row, told, named, all.options);
    if (!identity) return identity.error();
    if (Error error = interop::check_place(**row, told, opened->facts.bytes, identity->shape.num_bits, named);
        !error.ok())
      return error;
    if (!told.decoded.empty()) {
      return fail(Code::kUnsupported, named.name + ": a file in the format " + named.format +
                                          " has its bits as text, and is not asked in place. Import it.");
    }
    filters.push_back({std::move(*identity), told.offset, told.turn, told.keys});
  }
  return made_of(store::ask_foreign(std::move(*opened), std::move(filters), opening));
}

}  // namespace bfstore
