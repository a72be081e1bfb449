#include "store/set.hpp"

#include <exception>
#include <filesystem>
#include <new>
#include <utility>

#include "base/fail.hpp"
#include "format/manifest.hpp"
#include "layout/layout.hpp"
#include "region/file.hpp"
#include "store/follower.hpp"
#include "store/parts.hpp"

namespace bfstore {
namespace {

using base::fail;

// Not longer than a manifest may be, of a regular file.
Result<std::string> text_of(const std::string& path, bool no_follow) {
  using region::File;
  const auto file = File::open(path, File::Access::kRead, no_follow ? File::Links::kRefuse : File::Links::kFollow);
  if (!file) return file.error();
  const auto facts = file->facts();
  if (!facts) return facts.error();
  if (!facts->regular)
    return fail(Code::kNotRegular, path + ": not a regular file. Give the path of a list of the parts of a set.");
  if (facts->bytes > format::kMaxManifestBytes) {
    return fail(Code::kInvalid, path + ": has " + std::to_string(facts->bytes) +
                                    " bytes, and a list of parts at most 16 MiB. Give the path of such a list.");
  }
  std::string text(facts->bytes, '\0');
  const auto got = file->read_at(std::as_writable_bytes(std::span(text)), 0);
  if (!got) return got.error();
  text.resize(*got);
  return text;
}

std::string folder_of(const std::string& absolute) { return absolute.substr(0, absolute.rfind('/') + 1); }

template <class Core>
Error check_kind(const Core& part) {
  const std::string& path = part.session->file().file().path();
  if (!part.row.in_lines) {
    return fail(Code::kUnsupported, path + ": is of the layout " + part.row.info.name +
                                        ", which has no parts. Open it by itself, or make it blocked or counting.");
  }
  if (part.part().parts <= format::kMaxPartsOfSet) return {};
  return fail(Code::kUnsupported, path + ": is one of " + std::to_string(part.part().parts) +
                                      " parts, and a set has at most " + std::to_string(format::kMaxPartsOfSet) +
                                      ". Open it by itself, or join parts to larger ones.");
}

std::int32_t always_maybe(const layout::Target&, std::uint64_t) noexcept { return 1; }

}  // namespace

Filter::Core::Core(const layout::Functions& best, std::unique_ptr<Set> parts, const Shape& whole)
    : Core(best, reinterpret_cast<std::uint64_t*>(parts.get()), whole, 0, Adding::kNever) {
  target.ask = Set::ask;
  target.inlined = false;
  set = std::move(parts);
}

// The working folder may change before the manifest is read again.
Result<Filter> Filter::open_set(const std::string& manifest, const OpenOptions& options) {
  if (options.follow) {
    return fail(Code::kInvalid,
                manifest + ": a set does not follow its paths. Open it again when it is not current any more.");
  }
  if (options.descriptor)
    return fail(Code::kInvalid, manifest + ": a set is opened by the path of its list, and not by a descriptor.");
  std::error_code failed;
  const std::string absolute = manifest.empty() ? "" : std::filesystem::absolute(manifest, failed).string();
  if (failed) return base::fail_errno(failed.value(), manifest, "asking for the working folder");
  auto set = Core::Set::open(absolute, options);
  if (!set) return set.error();
  const layout::Functions functions = (*set)->functions();
  const Shape whole = (*set)->shape();
  auto core = std::make_unique<Core>(functions, std::move(*set), whole);
  core->secret.keep(options.key);
  return Filter(std::move(core));
}

Result<std::unique_ptr<Filter::Core::Set>> Filter::Core::Set::open(const std::string& path,
                                                                   const OpenOptions& options) {
  auto text = text_of(path, options.no_follow);
  if (!text) return text.error();
  std::unique_ptr<Set> set(new Set(path, std::move(*text), options.no_follow));
  if (Error error = set->open_parts(options); !error.ok()) return error;
  return set;
}

Error Filter::Core::Set::open_parts(const OpenOptions& options) {
  const auto listed = format::read_manifest(text_, path_);
  if (!listed) return listed.error();
  store::PartsInOrder<Core> order;
  for (const format::ListedFile& file : *listed) {
    const std::string where = file.path.front() == '/' ? file.path : folder_of(path_) + file.path;
    auto opened = Filter::open(where, OpenMode::kRead, options);
    Error error = opened ? Error{} : opened.error();
    if (error.ok()) error = check_kind(*opened->core_);
    if (error.ok()) error = order.add(*opened->core_);
    if (!error.ok()) {
      error.message = format::line_of(path_, file.line) + ": " + error.message;
      return error;
    }
    there_.push_back(std::move(opened->core_));
  }
  static constexpr layout::Target kNoFile{};
  parts_ = order.first().part().parts;
  geometry_ = order.first().target.geometry;
  places_.assign(parts_, Place{&kNoFile, always_maybe, nullptr, nullptr});
  for (const auto& [number, part] : order.places()) {
    const layout::Target& its = part->target;
    const bool looks_before = its.kernel != nullptr;
    places_[number] = {&its, !looks_before && its.of_part != nullptr ? its.of_part : its.ask, part->lines, part};
  }
  return {};
}

std::int32_t Filter::Core::Set::ask(const layout::Target& target, std::uint64_t digest) noexcept {
  const Place& place = reinterpret_cast<const Set*>(target.words)->place_of(digest);
  return place.ask(*place.target, digest);
}

std::size_t Filter::Core::Set::ask_step(const layout::Step& step, std::uint8_t* answers) const noexcept {
  for (std::size_t i = 0; i < step.num_later; ++i) {
    const Place& place = place_of(step.later[i]);
    if (place.lines != nullptr) layout::prefetch<layout::Blocked>(place.lines, geometry_, step.later[i]);
  }
  std::size_t maybes = 0;
  for (std::size_t i = 0; i < step.num_now; ++i) {
    // Read once: the part that it chooses is the part that has memory for it, whatever other threads do to the array.
    const std::uint64_t digest = __atomic_load_n(&step.now[i], __ATOMIC_RELAXED);
    const Place& place = place_of(digest);
    answers[i] = static_cast<std::uint8_t>(place.ask(*place.target, digest));
    maybes += answers[i];
  }
  return maybes;
}

std::uint64_t Filter::Core::Set::count(std::uint64_t digest) const noexcept {
  const Core* const part = place_of(digest).part;
  return part != nullptr ? part->count(digest) : layout::Counters::kMost;
}

Code Filter::Core::Set::health() const noexcept {
  for (const auto& part : there_) {
    if (const Code code = part->health(); code != Code::kOk) return code;
  }
  return Code::kOk;
}

// Every part, whatever the ones before it say: a reader asks the kernel in this call whether it failed to write.
Result<bool> Filter::Core::Set::is_current() const {
  Result<bool> outcome = true;
  for (const auto& part : there_) {
    auto current = part->session->is_current();
    const bool good_so_far = outcome.ok() && *outcome;
    if (good_so_far) outcome = std::move(current);
  }
  if (!outcome.ok() || !*outcome) return outcome;
  const auto text = text_of(path_, no_follow_);
  if (text) return *text == text_;
  const Code code = text.error().code;
  const bool cannot_tell = code == Code::kNoMemory || code == Code::kSystem || code == Code::kAccess;
  return cannot_tell ? Result<bool>(text.error()) : false;
}

Error Filter::Core::Set::shut() {
  Error first;
  std::exception_ptr no_memory;
  for (const auto& part : there_) {
    try {
      Error error = part->session->shut([] {});
      if (first.ok()) first = std::move(error);
    } catch (const std::bad_alloc&) {
      no_memory = std::current_exception();
    }
  }
  if (no_memory) std::rethrow_exception(no_memory);
  return first;
}

Shape Filter::Core::Set::shape() const {
  const Core& part = *there_.front();
  Shape whole = part.shape;
  if (const auto& its = part.identity()->part) {
    whole.num_bits *= its->part.parts;
    whole.capacity = its->capacity;
  }
  return whole;
}

Fill Filter::Core::Set::fill() const {
  const Core& first = *there_.front();
  const layout::Geometry listed = first.row.geometry(first.shape.num_bits * there_.size(), first.shape.num_probes);
  const auto counter = std::make_unique<layout::FillCounter>(first.row, listed);  // stacks are small
  for (const auto& part : there_) counter->take(part->words, part->body_bytes / 8);
  Fill fill = counter->fill();
  // A key of a part that is not there is "maybe" always.
  const auto there = static_cast<double>(there_.size());
  fill.estimated_fpr = (fill.estimated_fpr * there + (parts_ - there)) / parts_;
  return fill;
}

Stats Filter::Core::Set::stats(const Shape& whole, StatsWish wish) const {
  Stats stats;
  stats.shape = whole;
  stats.isa = functions().isa;
  if (wish.memory) stats.memory = MemoryUse{0, 0};
  std::uint64_t left = 0;
  for (const auto& part : there_) {
    stats.body_bytes += part->body_bytes;
    stats.keys_added += part->keys_added();
    stats.keys_removed += part->keys_removed();
    left += part->keys_left();
    if (!wish.memory) continue;
    stats.memory->huge_page_bytes += part->mapping()->huge_page_bytes();
    const auto resident = part->mapping()->resident_bytes();
    auto& sum = stats.memory->resident_bytes;
    if (sum && resident) *sum += *resident;
    if (!resident) sum.reset();
  }
  stats.health = health();
  // More keys than the share of these parts.
  const auto share = static_cast<layout::Product>(whole.capacity) * there_.size();
  stats.saturated = static_cast<layout::Product>(left) * parts_ > share;
  if (wish.fill) stats.fill = fill();
  return stats;
}

}  // namespace bfstore
