// Makes a filter of a layout that is built once, from all of its keys. Every key is asked before the file gets its
// name: a key that the builder lost would be a wrong "no".
#include <bfstore/filter.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "base/fail.hpp"
#include "layout/layout.hpp"
#include "store/derive/derive.hpp"
#include "store/file/sealed.hpp"
#include "store/plan/new_identity.hpp"

namespace bfstore {
namespace {

using base::fail;

std::size_t number_found(const layout::Row& row, const std::uint64_t* words, const layout::Geometry& geometry,
                         std::span<const std::uint64_t> digests) {
  constexpr std::size_t kStep = 64;
  std::array<std::uint8_t, kStep> answers{};
  std::size_t found = 0;
  for (; !digests.empty(); digests = digests.subspan(std::min(kStep, digests.size())))
    found += row.scalar->contains.step(words, geometry, {digests.data(), std::min(kStep, digests.size()), nullptr, 0},
                                       answers.data());
  return found;
}

// Makes a sealed file: its body never changes again.
class Build final : public store::Transform {
 public:
  Build(const format::Identity& identity, std::span<const std::uint64_t> ascending) noexcept
      : identity_(identity), ascending_(ascending) {}

  Result<format::Identity> identity(const store::Sources&) override { return identity_; }

  Result<store::Facts> fill(const store::Sources&, store::OpenFile& made) override {
    auto* const words = reinterpret_cast<std::uint64_t*>(made.body());
    const unsigned bits = row_.part_bits(geometry_);
    for (std::uint64_t part = 0; part >> bits == 0; ++part) {
      if (Error error = fill_part(words, part, bits, made); !error.ok()) return error;
    }
    if (!rest_.empty()) return fail(Code::kInternal, made.file().path() + ": not made, for keys are of no part.");
    if (Error error = seal(made); !error.ok()) return error;
    return store::Facts{ascending_.size()};
  }

 private:
  Error fill_part(std::uint64_t* words, std::uint64_t part, unsigned bits, const store::OpenFile& made) {
    const auto of_part = [&](std::uint64_t digest) { return digest >> 1 >> (63 - bits) == part; };
    const auto end = std::partition_point(rest_.begin(), rest_.end(), of_part);
    const auto digests = rest_.first(static_cast<std::size_t>(end - rest_.begin()));
    rest_ = rest_.subspan(digests.size());
    if (Error error = row_.build(words, geometry_, part, digests); !error.ok())
      return fail(error.code, made.file().path() + ": not made: " + error.message);
    if (number_found(row_, words, geometry_, digests) == digests.size()) return {};
    return fail(Code::kInternal, made.file().path() + ": not made, for a key that was built in is not found.");
  }

  [[nodiscard]] Error seal(store::OpenFile& made) const {
    store::Sealing sealing(made, ascending_.size());
    if (Error error = sealing.make_room(); !error.ok()) return error;
    if (Error error = sealing.put(0, {made.body(), identity_.body_bytes}); !error.ok()) return error;
    return sealing.finish();
  }

  const format::Identity& identity_;
  const layout::Row& row_ = layout::row_of(identity_.shape.layout);
  const layout::Geometry geometry_ = row_.geometry(identity_.shape.num_bits, identity_.shape.num_probes);
  std::span<const std::uint64_t> ascending_;
  std::span<const std::uint64_t> rest_ = ascending_;
};

// A list that could not be read has no keys, and the filter that had its keys would go.
Error no_key_to_replace_it_with(const std::string& path) {
  return fail(Code::kInvalid, path +
                                  ": not replaced, for no key was given, and an empty filter calls every key absent. "
                                  "To make an empty one in its place, create it.");
}

}  // namespace

Error Filter::build(const std::string& path, const Options& options, std::span<const std::uint64_t> digests) {
  const auto making = store::making_at(path, options);
  if (!making) return making.error();
  const auto identity = store::new_identity(options, format::Form::kFile);
  if (!identity) return identity.error();
  const layout::Row& row = layout::row_of(identity->shape.layout);
  if (row.build == nullptr || identity->part)
    return fail(Code::kUnsupported, path + ": a filter of the layout " + row.info.name +
                                        (identity->part ? ", as a part," : "") +
                                        " is not built at once. Make it, and add its keys.");
  std::vector<std::uint64_t> ascending(digests.begin(), digests.end());
  std::sort(ascending.begin(), ascending.end());
  ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
  Build build(*identity, ascending);
  return store::derive({}, path, *making, build);
}

Result<Filter> Filter::build(const std::string& path, const Options& options, const Keys& keys, unsigned threads) {
  store::OwnOptions all(options);
  const bool sized = all.capacity != 0 || all.num_bits != 0 || !all.like.empty();
  if (!sized) all.capacity = std::max<std::uint64_t>(1, keys.size());
  all.unpublished = true;
  all.exclusive = true;
  auto made = create(path, all);
  if (!made) return made;
  Error error = threads > 1 ? made->use_threads(threads) : Error{};
  if (!error.ok()) return error;
  const Count added = made->add_keys(keys);
  if (!added.ok()) return fail(added.code(), path + ": not built: " + code_text(added.code()));
  if (added.keys() == 0 && store::look_at_name(path, all.replace) == store::NameBefore::kMayBeTaken)
    return no_key_to_replace_it_with(path);
  const bool promised = all.capacity != 0 || all.num_bits == 0;
  if (promised && made->stats({}).saturated)
    return fail(Code::kFull,
                path + ": not built, for there are more keys than its capacity. Give a greater one, or none.");
  error = made->publish();
  if (!error.ok()) return error;
  return made;
}

}  // namespace bfstore
