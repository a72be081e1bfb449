#include "store/home/set.hpp"

#include <exception>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "format/manifest.hpp"
#include "layout/layout.hpp"
#include "region/file.hpp"
#include "store/home/file.hpp"
#include "store/home/parts.hpp"

namespace bfstore::store {
namespace {

using base::fail;

// Reads a regular file that is not longer than a manifest may be.
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

Error check_kind(const Ask& part) {
  const std::string path = part.home->name("");
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

class Set final : public Home {
 public:
  // `path` is the absolute path of the manifest, and `name` the one that the caller gave.
  static Result<std::unique_ptr<Set>> open(const std::string& path, const std::string& name,
                                           const OpenOptions& options);

  // The functions of the handle, whose words point to this object.
  static std::int32_t ask(const layout::Target& target, std::uint64_t digest) noexcept;
  static std::size_t ask_step(const std::uint64_t* words, const layout::Geometry&, const layout::Step& step,
                              std::uint8_t* answers) noexcept;
  static unsigned count(const std::uint64_t* words, const layout::Geometry&, std::uint64_t digest) noexcept;

  // The first part in doubt says why.
  [[nodiscard]] Code health(const layout::Sentinel&) const noexcept override;
  [[nodiscard]] Result<bool> is_current() override;
  // The bits are in several files.
  [[nodiscard]] Result<Moment> moment() const override { return refusal(); }
  // Shuts all parts, whatever happens. Returns the first error.
  Error shut(const std::function<void()>& adds_are_over) override;
  // Reports the parts that there are, and the shape of the whole filter.
  [[nodiscard]] Stats stats(const Ask& whole, StatsWish wish) const override;

  [[nodiscard]] std::vector<const Ask*> parts() const override {
    std::vector<const Ask*> all;
    for (const auto& part : there_) all.push_back(part.get());
    return all;
  }

  // The shape of the whole filter.
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] const layout::Functions& functions() const noexcept { return there_.front()->functions; }

 private:
  [[nodiscard]] Error refusal() const override {
    return fail(Code::kInvalid, name_ + ": " + format::one_file_words(text_, true, name_));
  }

  // The part that a digest is asked in. Does not check that the digest is the part's own, because it is.
  struct Member {
    const layout::Target* target;
    layout::Ask ask;
    const std::uint64_t* lines;  // nullptr if the part is not in the set
    const Ask* part;
  };

  Set(std::string path, std::string name, std::string text, bool no_follow) noexcept
      : path_(std::move(path)), name_(std::move(name)), text_(std::move(text)), no_follow_(no_follow) {}
  Error open_parts(const OpenOptions& options);
  [[nodiscard]] const Member& member_of(std::uint64_t digest) const noexcept {
    return by_number_[Part::number_of(digest, parts_)];
  }
  [[nodiscard]] Fill fill() const;

  std::vector<Member> by_number_;  // by the parts' numbers
  std::uint32_t parts_ = 1;
  layout::Geometry geometry_;                // of the whole filter, in lines; every part's is the same
  std::vector<std::unique_ptr<Ask>> there_;  // in the manifest's order
  const std::string path_;
  const std::string name_;  // for messages
  const std::string text_;  // the manifest
  const bool no_follow_;
};

Result<std::unique_ptr<Set>> Set::open(const std::string& path, const std::string& name, const OpenOptions& options) {
  auto text = text_of(name, options.no_follow);
  if (!text) return text.error();
  std::unique_ptr<Set> set(new Set(path, name, std::move(*text), options.no_follow));
  if (Error error = set->open_parts(options); !error.ok()) return error;
  return set;
}

// A part's file keeps the folder that its path led to, so the path may be relative.
Error Set::open_parts(const OpenOptions& options) {
  const auto listed = format::read_manifest(text_, name_);
  if (!listed) return listed.error();
  PartsInOrder order;
  for (const format::ListedFile& file : *listed) {
    auto opened = open_file(format::path_of_listed(name_, file.path), OpenMode::kRead, options);
    Error error = opened ? Error{} : opened.error();
    if (error.ok()) error = check_kind(**opened);
    if (error.ok()) error = order.add(**opened);
    if (!error.ok()) {
      error.message = format::line_of(name_, file.line) + ": " + error.message;
      return error;
    }
    there_.push_back(std::move(*opened));
  }
  static constexpr layout::Target kNoFile{};
  parts_ = order.first().part().parts;
  geometry_ = order.first().target.geometry;
  by_number_.assign(parts_, Member{&kNoFile, always_maybe, nullptr, nullptr});
  for (const auto& [number, part] : order.by_number()) {
    const layout::Target& its = part->target;
    const bool looks_before = its.kernel != nullptr;
    by_number_[number] = {&its, !looks_before && its.of_part != nullptr ? its.of_part : its.ask, part->lines, part};
  }
  return {};
}

std::int32_t Set::ask(const layout::Target& target, std::uint64_t digest) noexcept {
  const Member& member = reinterpret_cast<const Set*>(target.words)->member_of(digest);
  return member.ask(*member.target, digest);
}

std::size_t Set::ask_step(const std::uint64_t* words, const layout::Geometry&, const layout::Step& step,
                          std::uint8_t* answers) noexcept {
  const auto& set = *reinterpret_cast<const Set*>(words);
  for (std::size_t i = 0; i < step.num_later; ++i) {
    const Member& member = set.member_of(step.later[i]);
    if (member.lines != nullptr) layout::prefetch<layout::Blocked>(member.lines, set.geometry_, step.later[i]);
  }
  std::size_t maybes = 0;
  for (std::size_t i = 0; i < step.num_now; ++i) {
    // Loaded once: another thread may change the array between the choice of the part and the lookup.
    const std::uint64_t digest = __atomic_load_n(&step.now[i], __ATOMIC_RELAXED);
    const Member& member = set.member_of(digest);
    answers[i] = static_cast<std::uint8_t>(member.ask(*member.target, digest));
    maybes += answers[i];
  }
  return maybes;
}

unsigned Set::count(const std::uint64_t* words, const layout::Geometry&, std::uint64_t digest) noexcept {
  const Ask* const part = reinterpret_cast<const Set*>(words)->member_of(digest).part;
  return part != nullptr ? static_cast<unsigned>(part->count(digest)) : layout::Counters::kMost;
}

Code Set::health(const layout::Sentinel&) const noexcept {
  for (const auto& part : there_) {
    if (const Code code = part->health(); code != Code::kOk) return code;
  }
  return Code::kOk;
}

// Asks every part, whatever the ones before it say: a reader asks the kernel in this call whether it failed to write.
Result<bool> Set::is_current() {
  Result<bool> outcome = true;
  for (const auto& part : there_) {
    auto current = part->home->is_current();
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

Error Set::shut(const std::function<void()>& adds_are_over) {
  Error first;
  std::exception_ptr no_memory;
  for (const auto& part : there_) {
    try {
      Error error = part->home->shut(adds_are_over);
      if (first.ok()) first = std::move(error);
    } catch (const std::bad_alloc&) {
      no_memory = std::current_exception();
    }
  }
  if (no_memory) std::rethrow_exception(no_memory);
  return first;
}

Shape Set::shape() const {
  const Ask& part = *there_.front();
  Shape whole = part.shape;
  if (const auto& its = part.identity()->part) {
    whole.num_bits *= its->part.parts;
    whole.capacity = its->capacity;
  }
  return whole;
}

Fill Set::fill() const {
  const Ask& first = *there_.front();
  const layout::Geometry listed = first.row.geometry(first.shape.num_bits * there_.size(), first.shape.num_probes);
  const auto counter = std::make_unique<layout::FillCounter>(first.row, listed);  // stacks are small
  for (const auto& part : there_) counter->take(part->words, part->body_bytes / 8);
  Fill fill = counter->fill();
  // A key of a part that is not in the set is always "maybe".
  const auto there = static_cast<double>(there_.size());
  fill.estimated_fpr = (fill.estimated_fpr * there + (parts_ - there)) / parts_;
  return fill;
}

Stats Set::stats(const Ask& ask, StatsWish wish) const {
  const Shape& whole = ask.shape;
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
    stats.memory->huge_page_bytes += part->home->mapping()->huge_page_bytes();
    const auto resident = part->home->mapping()->resident_bytes();
    auto& sum = stats.memory->resident_bytes;
    if (sum && resident) *sum += *resident;
    if (!resident) sum.reset();
  }
  stats.health = health(ask.target.sentinel);
  // True if these parts have more keys than their share.
  const auto share = static_cast<layout::Product>(whole.capacity) * there_.size();
  stats.saturated = static_cast<layout::Product>(left) * parts_ > share;
  if (wish.fill) stats.fill = fill();
  return stats;
}

}  // namespace

// The working folder may change before the manifest is read again.
Result<std::unique_ptr<Ask>> open_set(const std::string& manifest, const OpenOptions& options) {
  if (options.follow) {
    return fail(Code::kInvalid,
                manifest + ": a set does not follow its paths. Open it again when it is not current any more.");
  }
  if (options.descriptor)
    return fail(Code::kInvalid, manifest + ": a set is opened by the path of its list, and not by a descriptor.");
  std::error_code failed;
  const std::string absolute = manifest.empty() ? "" : std::filesystem::absolute(manifest, failed).string();
  if (failed) return base::fail_errno(failed.value(), manifest, "asking for the working folder");
  auto set = Set::open(absolute, manifest, options);
  if (!set) return set.error();
  layout::Functions functions = (*set)->functions();
  functions.contains.step = Set::ask_step;
  functions.counts.count = Set::count;
  const BodyWords none{reinterpret_cast<std::uint64_t*>(set->get()), (*set)->shape(), 0};
  auto ask = std::make_unique<Ask>(functions, none, Adding::kNever, std::move(*set));
  ask->target.ask = Set::ask;
  ask->target.inlined = false;
  ask->secret.keep(options.secret);
  return ask;
}

}  // namespace bfstore::store
