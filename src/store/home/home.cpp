#include "store/home/home.hpp"

#include <cstring>

#include "store/file/reached.hpp"
#include "store/file/refusals.hpp"
#include "store/home/ask.hpp"

namespace bfstore::store {
namespace {

Result<std::uint64_t> differing_in(const region::Mapping& mapping, const layout::Sentinel& sentinel) {
  const auto read = [&](const std::uint64_t* from, std::uint64_t& word) {
    const std::ptrdiff_t offset = reinterpret_cast<const std::byte*>(from) - mapping.data();
    return mapping.read(std::as_writable_bytes(std::span(&word, 1)), static_cast<std::uint64_t>(offset));
  };
  std::uint64_t front = 0;
  std::uint64_t end = 0;
  if (Error error = read(sentinel.front, front); !error.ok()) return error;
  if (Error error = read(sentinel.end, end); !error.ok()) return error;
  return sentinel.differing(front, end);
}

}  // namespace

Code Home::why_in_doubt(const layout::Sentinel& sentinel, std::uint64_t compared) const noexcept {
  if (is_shut()) return Code::kShut;
  const std::uint64_t differing = sentinel.differing() & compared;
  // The words alone decide, as in a lookup: the guard knows of a fault before the words show it.
  if (differing != 0 && mapping() != nullptr && mapping()->faulted()) return Code::kFault;
  return why_in_doubt(differing);
}

Result<Code> Home::read_health(const layout::Sentinel& sentinel) const {
  const region::Mapping* const its = mapping();
  if (its == nullptr) return health(sentinel);
  const auto differing = differing_in(*its, sentinel);
  if (is_shut()) return Code::kShut;
  if (!differing) return differing.error();
  return its->faulted() ? Code::kFault : why_in_doubt(*differing);
}

Code Home::meaning_of(std::uint64_t) const noexcept { return Code::kLost; }

Error Home::refusal() const { return not_a_file(); }

Result<bool> Home::is_current() { return refusal(); }
Error Home::check_is_another(const std::string&) const { return {}; }
Error Home::sync(const LogPosition&) { return refusal(); }
std::uint64_t Home::get_mark(std::uint64_t, std::uint64_t) const noexcept { return 0; }
Error Home::drop_owner(std::uint64_t) { return refusal(); }
Result<bool> Home::finish_recovery(std::uint64_t) { return refusal(); }
Result<bool> Home::turn(std::optional<std::uint64_t>) { return refusal(); }
Error Home::shut(const std::function<void()>&) { return refusal(); }

// Other threads and processes may set bits of these words meanwhile.
Error Home::read_body(const std::uint64_t* words, std::span<std::byte> into, std::uint64_t offset) const {
  for (std::size_t at = 0; at < into.size(); at += sizeof *words) {
    const std::uint64_t word = layout::load_word(words, (offset + at) * 8);
    std::memcpy(into.data() + at, &word, sizeof word);
  }
  return {};
}

Stats Home::stats(const Ask& ask, StatsWish wish) const {
  Stats stats;
  stats.shape = ask.shape_of_all();
  stats.growing = ask.growing();
  if (stats.growing) {  // another process may add a slice meanwhile
    stats.shape.num_bits = stats.growing->now.num_bits;
    stats.shape.capacity = stats.growing->now.capacity;
  }
  stats.isa = ask.functions.isa;
  stats.body_bytes = ask.bytes_of_all();
  if (identity() != nullptr) stats.file_id = identity()->file_id;
  stats.keys_added = ask.keys_added();
  stats.keys_removed = ask.keys_removed();
  stats.health = health(ask.sentinel());
  stats.saturated = stats.shape.capacity != 0 && ask.keys_left() > stats.shape.capacity;
  if (wish.memory && mapping() != nullptr)
    stats.memory = {mapping()->huge_page_bytes(), mapping()->resident_bytes(ask.end_in(mapping()->data()))};
  if (wish.fill) {
    layout::FillCounter counter = fill_counter(ask.shape, ask.target.geometry);
    ask.each_slice([&](const std::uint64_t* words, std::uint64_t num_words) { counter.take(words, num_words); });
    stats.fill = counter.fill();
  }
  return stats;
}

}  // namespace bfstore::store
