#include "store/plan/new_identity.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <numeric>

#include "base/arith.hpp"
#include "base/fail.hpp"
#include "base/libc.hpp"
#include "format/bare.hpp"
#include "format/sections.hpp"
#include "hash/hash.hpp"
#include "layout/layout.hpp"
#include "sizing/divisible.hpp"
#include "sizing/sizing.hpp"
#include "store/file/header.hpp"
#include "store/file/making.hpp"
#include "store/file/reached.hpp"
#include "store/file/secret.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using format::Form;
using format::Identity;

Error fill_random(void* bytes, std::size_t length) {
  const ssize_t got = base::random_bytes(bytes, length);
  return got == static_cast<ssize_t>(length) ? Error{} : base::fail_errno(errno, "", "asking for random bytes");
}

// Returns what is left of max_bytes after `other_bytes`, which are not for the body.
std::uint64_t left_of(std::uint64_t max_bytes, std::uint64_t other_bytes) noexcept {
  return max_bytes - std::min(max_bytes, other_bytes);
}

// Returns what is left of max_bytes for the body of a filter of this form, with a header of this length.
std::uint64_t body_budget(const Options& options, const Identity& identity) noexcept {
  if (options.bare) return left_of(options.max_bytes, format::kTrailerBytes);
  if (identity.form != Form::kEmbedded) return file_body_budget(options.max_bytes);
  return left_of(left_of(options.max_bytes, format::kEndWordBytes), identity.header_bytes);
}

bool anything_but_like(const Options& options) noexcept {
  return options.capacity != 0 || options.capacity_at_most != 0 || sizing::is_given(options.fpr) ||
         sizing::is_given(options.bits_per_key) || options.max_bytes != 0 || options.num_bits != 0 ||
         options.num_probes != 0 || options.layout || options.hash || options.seed || !options.seeds.empty() ||
         options.tutorial_sizing || options.window_ms != 0;
}

// A shape, and the parameters that belong to it.
struct Planned {
  Shape shape;
  std::optional<std::vector<std::uint32_t>> seeds;
  std::optional<PartOfWhole> part{};
  std::optional<std::uint64_t> window_ms{};
  std::optional<std::uint32_t> growth{};
};

// Reads only the other file's identity, so that file need not be clean.
Result<Planned> shape_like(const Options& options) {
  if (anything_but_like(options)) {
    return fail(Code::kInvalid, "the shape of " + options.like +
                                    " is copied whole. Give no size, layout, hash, seed or window with it.");
  }
  const auto file = region::File::open(options.like, region::File::Access::kRead, region::File::Links::kFollow);
  if (!file) return file.error();
  const auto header = checked_header(*file, {.secret = options.secret});
  if (!header) return header.error();
  return Planned{header->identity.shape, header->identity.seeds, header->identity.part, header->identity.window_ms,
                 header->identity.growth};
}

// Returns "Give blocked or classic.", with the names of a table's rows.
template <class Info>
std::string give_one_of(const std::vector<Info>& known) {
  std::string names;
  for (const Info& info : known) names += (names.empty() ? "Give " : " or ") + std::string(info.name);
  return names + ".";
}

// Checks the hash, its seeds and its secret. Digests depend on them, and on the keys.
Error check_hash(Hash hash, const Options& options) {
  const hash::Row* const row = hash::find(static_cast<std::uint16_t>(hash));
  if (row == nullptr) {
    const std::string number = std::to_string(static_cast<std::uint16_t>(hash));
    return fail(Code::kInvalid, "unknown hash " + number + ". " + give_one_of(hashes()));
  }
  if (!row->info.takes_seed && options.seed) {
    return fail(Code::kInvalid, std::string("a seed was given, and only xxh3 has one. ") +
                                    (row->info.takes_secret  ? "Give siphash a secret instead."
                                     : row->info.takes_seeds ? "Give a list of seeds instead."
                                                             : "Give none with " + std::string(row->info.name) + "."));
  }
  if (!row->info.takes_seeds && !options.seeds.empty())
    return fail(Code::kInvalid, std::string("a list of seeds was given, and ") + row->info.name + " takes none.");
  if (row->info.takes_seeds && !row->counts_seeds && options.seeds.empty()) {
    return fail(Code::kInvalid,
                std::string(row->info.name) + " has no usual list of seeds. Give one, such as 5,7,11,13,31,37,61.");
  }
  return check_secret_for(hash, options.secret);
}

// The program whose sizes filters of this hash have.
sizing::Program program_of(Hash hash) noexcept {
  switch (hash) {
    case Hash::kJaybird:
    case Hash::kPybloomLive:
      return sizing::Program::kPythonBloomfilter;
    case Hash::kPybloomfilter:
      return sizing::Program::kPybloomfilter;
    case Hash::kLibbloom:
      return sizing::Program::kLibbloom;
    default:
      return sizing::Program::kTutorials;
  }
}

// With seeds, k is their number.
Result<sizing::Size> size_of(const layout::Row& row, const hash::Row& hash, Options options, std::uint64_t body_bytes) {
  const std::size_t count = options.seeds.size();
  if (count > kMaxProbes)
    return fail(Code::kInvalid, std::to_string(count) + " seeds are out of range. Give 1 to 64, one for each probe.");
  if (options.num_bits != 0 && options.num_probes == 0)
    options.num_probes = count != 0 ? static_cast<std::uint32_t>(count) : hash.only_probes;
  if (options.capacity_at_most != 0 && !row.info.can.grow) options.capacity = options.capacity_at_most;
  auto size = solve_for_reached(hash, options, [&](const Options& reached) {
    return sizing::solve(row_of_rates(row, hash), reached, body_bytes, program_of(hash.info.hash), hash.only_probes);
  });
  if (!size || count == 0 || size->num_probes == count) return size;
  return fail(Code::kInvalid, "a key has " + std::to_string(size->num_probes) + " probes, and the number of seeds is " +
                                  std::to_string(count) + ". Give one seed for each probe, or num_bits and seeds.");
}

// An m and a k near these, for which the hash has positions.
std::string numbers_near(const hash::Row& hash, std::uint64_t num_bits, std::uint32_t num_probes) {
  const std::uint32_t probes = hash.only_probes != 0 ? hash.only_probes : num_probes;
  const std::uint64_t unit = hash.unit(probes);
  return "m " + std::to_string((num_bits + unit - 1) / unit * unit) + " and k " + std::to_string(probes);
}

// Checks what a hash that gives positions needs of the rest of the shape.
Error check_positions(const layout::Row& row, const hash::Row& hash, std::uint64_t num_bits, std::uint32_t num_probes) {
  if (!hash.info.gives_positions) return {};
  if (!layout::takes_positions(row)) {
    return fail(Code::kInvalid, std::string(hash.info.name) + " gives positions, which the layout " + row.info.name +
                                    " does not take. Use the classic layout.");
  }
  if (hash.reaches(num_bits, num_probes)) return {};
  const bool too_large = num_bits > hash.most_bits;
  return fail(
      too_large ? Code::kSizing : Code::kInvalid,
      "a filter with m " + std::to_string(num_bits) + " and k " + std::to_string(num_probes) +
          " cannot have the hash " + hash.info.name + ", which needs " + hash.limits() + ". " +
          (too_large ? "Ask for fewer keys or a higher rate" : "Give " + numbers_near(hash, num_bits, num_probes)) +
          ", or use xxh3.");
}

// An m that was computed keeps the promise only if keys reach all of its bits. One that was given is as it is.
Error check_reached(const hash::Row& hash, const Options& options, std::uint64_t num_bits) {
  if (options.num_bits != 0 || hash.num_reached(num_bits) == num_bits) return {};
  return fail(Code::kInvalid,
              std::string(hash.info.name) + " does not reach all of the " + std::to_string(num_bits) +
                  " bits that were computed: it needs a power of two. Give num_bits with the seeds, " + "such as " +
                  std::to_string(std::min(std::bit_ceil(num_bits), std::bit_floor(hash.most_bits))) + ".");
}

// A layout that is built once takes as many keys as its builder can place, and no more at a higher rate.
Error check_room(const layout::Row& row, const sizing::Size& size) {
  if (!row.info.can.build || sizing::false_positive_rate(row, size.capacity, size.num_bits, size.num_probes) < 1)
    return {};
  return fail(Code::kSizing, std::to_string(size.num_bits) + " bits of the " + row.info.name +
                                 " layout have no room for " + std::to_string(size.capacity) +
                                 " keys. Give more bits, or the number of keys and a rate alone.");
}

// Checks the numbers beside capacity_at_most. It gives m a number of divisors, so no other number gives m.
Error check_at_most(const layout::Row& row, const hash::Row& hash, const Options& options) {
  if (options.capacity_at_most == 0) return {};
  if (row.info.can.grow) {
    if (options.capacity > options.capacity_at_most)
      return fail(Code::kInvalid, "capacity_at_most is " + std::to_string(options.capacity_at_most) +
                                      " keys, fewer than the capacity of " + std::to_string(options.capacity) +
                                      " keys with which the filter begins. Give a smaller capacity.");
    if (options.capacity != 0 || options.num_bits != 0) return {};
    return fail(Code::kInvalid,
                "capacity_at_most was given without the number of keys to begin with. Give capacity, too.");
  }
  if (options.capacity != 0 || sizing::is_given(options.bits_per_key) || options.max_bytes != 0 ||
      options.num_bits != 0 || options.num_probes != 0 || !options.seeds.empty() || options.tutorial_sizing) {
    return fail(Code::kInvalid,
                "capacity_at_most was given, and another number that gives the size. Give it alone, or with fpr.");
  }
  if (row.info.can.fold && !hash.info.gives_positions) return {};
  return fail(Code::kUnsupported, std::string("filters of the layout ") + row.info.name + " with the hash " +
                                      hash.info.name +
                                      " cannot be folded to their size later. Give capacity instead of "
                                      "capacity_at_most, or another layout.");
}

// Gives the filter some more lines, so that their number has many divisors.
void make_divisible(Shape& shape) noexcept {
  const layout::Row& row = layout::row_of(shape.layout);
  const std::uint64_t units = sizing::most_divisible(shape.num_bits / row.unit_bits);
  if (units <= layout::most_bits(row) / row.unit_bits) shape.num_bits = units * row.unit_bits;
}

std::optional<std::vector<std::uint32_t>> seeds_of(const Options& options, Hash hash, std::uint32_t num_probes) {
  if (!hash::row_of(hash).info.takes_seeds) return std::nullopt;
  if (!options.seeds.empty()) return options.seeds;
  std::vector<std::uint32_t> counting(num_probes);
  std::iota(counting.begin(), counting.end(), 0U);
  return counting;
}

Error check_window(const layout::Row& row, const Options& options) {
  if (Error error = check_has_window(row, options.window_ms); !error.ok()) return error;
  if (row.info.epochs == 0 || options.window_ms != 0) return {};
  return fail(Code::kInvalid, std::string("the keys of the layout ") + row.info.name +
                                  " expire. Give the window: for how long they are kept.");
}

}  // namespace

Result<std::optional<std::uint32_t>> growth_of(const layout::Row& row, const sizing::Size& size,
                                               std::uint64_t capacity_at_most) {
  constexpr std::uint32_t kUsualGrowth = 10;
  constexpr std::uint64_t kUsualBits = std::uint64_t{1} << 45;  // 4 TiB: filesystems and address spaces have more
  if (!row.info.can.grow) return std::optional<std::uint32_t>();
  std::uint32_t growth = capacity_at_most == 0 ? kUsualGrowth : format::kLeastGrowth;
  while (capacity_at_most == 0 && growth > format::kLeastGrowth &&
         size.num_bits > kUsualBits / format::times_as_many(growth, kMaxSlices))
    --growth;
  while (growth < format::kMostGrowth && format::times_as_many(growth, kMaxSlices) * size.capacity < capacity_at_most)
    ++growth;
  const std::uint64_t times = format::times_as_many(growth, kMaxSlices);
  if (capacity_at_most > times * size.capacity || !format::can_grow_by(growth, size.num_bits, size.capacity)) {
    return fail(Code::kSizing, "a filter for " + std::to_string(size.capacity) + " keys at first grows to at most " +
                                   std::to_string(times) +
                                   " times as many, and to 2^48 bits. Give a larger capacity, or a smaller "
                                   "capacity_at_most.");
  }
  return std::optional(growth);
}

Layout usual_layout(const Options& options, bool gives_positions) noexcept {
  if (options.window_ms != 0) return Layout::kWindow;
  return gives_positions ? Layout::kClassic : Layout::kBlocked;
}

namespace {

Result<Planned> shape_of_size(const Options& options, std::uint64_t body_bytes) {
  const Hash hash = options.hash.value_or(Hash::kXxh3);
  const hash::Row* const hash_row = hash::find(static_cast<std::uint16_t>(hash));
  const bool gives_positions = hash_row != nullptr && hash_row->info.gives_positions;
  const auto layout_number =
      static_cast<std::uint16_t>(options.layout.value_or(usual_layout(options, gives_positions)));
  const layout::Row* const row = layout::find(layout_number);
  if (row == nullptr)
    return fail(Code::kInvalid, "unknown layout " + std::to_string(layout_number) + ". " + give_one_of(layouts()));
  if (Error error = check_window(*row, options); !error.ok()) return error;
  if (Error error = check_hash(hash, options); !error.ok()) return error;
  if (Error error = check_at_most(*row, *hash_row, options); !error.ok()) return error;
  const auto size = size_of(*row, *hash_row, options, body_bytes);
  if (!size) return size.error();
  if (Error error = check_hash_takes(*row, *hash_row, options, size->num_bits, size->num_probes); !error.ok())
    return error;
  if (Error error = check_room(*row, *size); !error.ok()) return error;
  Shape shape{row->info.layout, hash,      size->num_probes,        size->num_bits,
              size->capacity,   size->fpr, options.seed.value_or(0)};
  const bool needs_seed = hash::row_of(hash).info.takes_seed && !options.seed && !options.bare;
  if (needs_seed) {
    if (Error error = fill_random(&shape.seed, sizeof shape.seed); !error.ok()) return error;
  }
  Planned planned{shape, seeds_of(options, hash, shape.num_probes)};
  if (options.window_ms != 0) planned.window_ms = options.window_ms;
  const auto growth = growth_of(*row, *size, options.capacity_at_most);
  if (!growth) return growth.error();
  planned.growth = *growth;
  return planned;
}

// Returns the number of keys that a part is sized for: its share of n keys, and six standard deviations more, because
// chance decides which keys are in it.
std::uint64_t share_of(std::uint64_t capacity, std::uint32_t parts) noexcept {
  const double mean = static_cast<double>(capacity) / parts;
  const double share = std::ceil(mean + 6 * std::sqrt(mean));
  return share < static_cast<double>(capacity) ? static_cast<std::uint64_t>(share) : capacity;
}

Error check_part(const Part& part, const Options& options, const layout::Row& row) {
  if (part.parts == 0 || part.number >= part.parts) {
    return fail(Code::kInvalid, "part " + std::to_string(part.number) + " of " + std::to_string(part.parts) +
                                    " does not exist. Give one from 0 to the number of parts less 1.");
  }
  if (part.parts == 1 || (row.in_lines && !options.bare)) return {};
  if (options.bare)
    return fail(Code::kInvalid, "the bare form does not say which part of a filter it is. Use the embedded form.");
  const std::string of_like = options.like.empty() ? "" : options.like + ": ";
  return fail(Code::kInvalid, of_like + "the layout " + row.info.name +
                                  (row.info.can.build  ? " is built whole, and has no parts. Use blocked."
                                   : row.info.can.grow ? " grows as a whole, and has no parts. Use blocked."
                                                       : " has the bits of a key anywhere, so that no part has all of "
                                                         "them. Use blocked."));
}

// Turns the plan of a filter, whole or a part, into that of one part of the whole.
Error divide(Planned& planned, const Part& part, const Options& options) {
  Shape& shape = planned.shape;
  const layout::Row& row = layout::row_of(shape.layout);
  if (Error error = check_part(part, options, row); !error.ok()) return error;
  if (planned.part) {
    shape.num_bits *= planned.part->part.parts;
    shape.capacity = planned.part->capacity;
    planned.part.reset();
  }
  if (part.parts == 1) return {};
  const std::uint64_t unit = row.unit_bits * part.parts;
  if (!options.like.empty() && shape.num_bits % unit != 0) {
    return fail(Code::kInvalid, options.like + ": has " + std::to_string(shape.num_bits / row.unit_bits) +
                                    " lines, of which " + std::to_string(part.parts) +
                                    " parts would not be equal. Give a number of parts that divides them.");
  }
  shape.num_bits = (shape.num_bits + unit - 1) / unit * unit;
  if (shape.num_bits > layout::most_bits(row))
    return fail(Code::kSizing, "no filter has so many bits that each part has its line. Give fewer parts.");
  planned.part = PartOfWhole{part, shape.capacity};
  shape.num_bits /= part.parts;
  shape.capacity = share_of(shape.capacity, part.parts);
  return {};
}

// All zeros mean that the caller forgot the field.
Error check_file_id(const Options& options) {
  if (!options.file_id) return {};
  if (options.bare) return fail(Code::kInvalid, "a file_id was given, and the bare form has none. Leave it out.");
  if (*options.file_id != FileId{}) return {};
  return fail(Code::kInvalid, "the file_id is all zeros. Give 16 bytes that no other filter has.");
}

Error check_bare(const Options& options, const Shape& shape) {
  if (!hash::row_of(shape.hash).info.fits_bare)
    return fail(Code::kInvalid, "the bare form has no room for what the hash needs. Use the embedded form.");
  if (!options.note.empty() || shape.seed != 0)
    return fail(Code::kInvalid, "the bare form keeps no note, and its seed is 0. Give neither.");
  return {};
}

Result<Parameters> parameters_of(const Options& options) {
  Parameters parameters;
  if (!options.note.empty()) parameters.note = options.note;
  if (options.secret) {
    std::uint64_t salt = 0;
    if (options.file_id) {
      salt = hash::xxh3(options.file_id->data(), options.file_id->size(), 0);
    } else if (Error error = fill_random(&salt, sizeof salt); !error.ok()) {
      return error;
    }
    parameters.secret_check = format::secret_check_of(*options.secret, salt);
  }
  return parameters;
}

}  // namespace

Error check_has_window(const layout::Row& row, std::uint64_t window_ms) {
  if (row.info.epochs != 0 || window_ms == 0) return {};
  return fail(Code::kInvalid, std::string("the keys of the layout ") + row.info.name +
                                  " do not expire. Give no window, or a layout that has one.");
}

Error check_hash_takes(const layout::Row& row, const hash::Row& hash, const Options& options, std::uint64_t num_bits,
                       std::uint32_t num_probes) {
  if (Error error = check_positions(row, hash, num_bits, num_probes); !error.ok()) return error;
  return check_reached(hash, options, num_bits);
}

std::uint64_t file_body_budget(std::uint64_t max_bytes) noexcept {
  const std::uint64_t pages = base::round_down(left_of(max_bytes, format::kEndWordBytes), format::kPageBytes);
  const std::uint64_t small = left_of(pages, format::kFileHeaderBytes);
  if (small < format::kBigBodyBytes) return small;
  return std::max(left_of(pages, format::kBigBodyBytes), format::kBigBodyBytes - 1);
}

Result<Identity> new_identity(const Options& options, Form form) {
  if (options.note.size() > kMaxNoteBytes) {
    return fail(Code::kInvalid,
                "a note of " + std::to_string(options.note.size()) + " bytes is too long. Give at most 1024 bytes.");
  }
  const auto hash = hash_of(options.hash.value_or(Hash::kXxh3));
  if (options.bare && ((hash && !hash->fits_bare) || options.secret)) {
    return fail(Code::kInvalid,
                "the bare form has no room for a secret check or a list of seeds, so its hash is xxh3 or external. Use "
                "the embedded form.");
  }
  if (Error error = store::check_mode(options.mode); !error.ok()) return error;
  if (Error error = check_file_id(options); !error.ok()) return error;
  auto parameters = parameters_of(options);
  if (!parameters) return parameters.error();
  Identity identity{std::move(*parameters)};
  identity.form = form;
  if (hash && hash->takes_seeds) identity.seeds = std::vector<std::uint32_t>(kMaxProbes);  // k is not known yet
  identity.header_bytes = format::header_bytes_for(form, identity);
  auto planned = options.like.empty() ? shape_of_size(options, body_budget(options, identity)) : shape_like(options);
  if (!planned) return planned.error();
  if (options.part) {
    if (Error error = divide(*planned, *options.part, options); !error.ok()) return error;
  }
  if (options.capacity_at_most != 0 && !planned->growth) make_divisible(planned->shape);
  identity.shape = planned->shape;
  identity.seeds = std::move(planned->seeds);
  identity.part = planned->part;
  identity.window_ms = planned->window_ms;
  identity.growth = planned->growth;
  if (identity.growth && form == Form::kEmbedded)
    return fail(Code::kUnsupported, "the layout grows, and only a file does that. Make a file of it.");
  if (identity.window_ms && form == Form::kEmbedded)
    return fail(Code::kUnsupported,
                "the keys of the layout expire, and only a file has epochs that end. Make a file of it.");
  identity.header_bytes = format::header_bytes_for(form, identity);
  identity.body_bytes = layout::body_bytes(layout::row_of(identity.shape.layout), identity.shape.num_bits);
  if (options.bare) {
    if (Error error = check_bare(options, identity.shape); !error.ok()) return error;
    // m is not stored: it follows from the body's length.
    identity.shape.num_bits = layout::bits_in(layout::row_of(identity.shape.layout), identity.body_bytes);
  }
  identity.body_offset =
      form == Form::kEmbedded ? identity.header_bytes : format::body_offset_in_file(identity.body_bytes);
  if (options.bare) return identity;  // it has no id
  return as_new(std::move(identity), options.file_id);
}

std::uint64_t buffer_bytes_of(const Options& options, const Identity& identity) noexcept {
  return options.bare ? identity.body_bytes + format::kTrailerBytes : format::sections_of(identity).end;
}

Result<Identity> as_new(Identity identity, const std::optional<FileId>& file_id) {
  identity.seal.reset();
  if (file_id) {
    identity.file_id = *file_id;
    return identity;
  }
  if (Error error = fill_random(identity.file_id.data(), identity.file_id.size()); !error.ok()) return error;
  return identity;
}

Result<Identity> as_new(Identity identity, Form form, const std::optional<FileId>& file_id) {
  if (identity.growth && form == Form::kEmbedded)
    return fail(Code::kUnsupported, "a filter that grows is a file, and has no other form. Copy the file.");
  identity.seal.reset();  // before the header's length, which depends on it
  identity.form = form;
  identity.header_bytes = format::header_bytes_for(form, identity);
  identity.body_offset =
      form == Form::kEmbedded ? identity.header_bytes : format::body_offset_in_file(identity.body_bytes);
  return as_new(std::move(identity), file_id);
}

Result<Shape> with_a_promise(Shape bare) {
  Options options;
  options.num_bits = bare.num_bits;
  options.num_probes = bare.num_probes;
  const auto size = sizing::solve(layout::row_of(bare.layout), options, 0);
  if (!size) return size.error();
  bare.capacity = size->capacity;
  bare.fpr = size->fpr;
  return bare;
}

}  // namespace bfstore::store
