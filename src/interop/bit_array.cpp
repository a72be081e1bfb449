// A plain bit array: only the bits of a filter, as Python's bitarray or Java's BitSet writes them.
#include "interop/interop.hpp"

namespace bfstore::interop {
namespace {

// The default never matters: a missing order was refused before, or no bit is read.
Turn given_turn(const ForeignForm& form) noexcept { return turn_of(form.order.value_or(BitOrder::kLittle)); }

Result<Told> read_bit_array(std::span<const std::byte> /*first*/, const ForeignForm& form) {
  return Told{.turn = given_turn(form)};
}

Result<Outline> write_bit_array(const Saying& /*filter*/, const ForeignForm& form) {
  return Outline{.turn = given_turn(form)};
}

}  // namespace

constinit const Row kBitArrayRow{
    .info = {.name = "raw", .about = "the bits alone", .needs_size = true, .needs_order = true},
    .read = read_bit_array,
    .write = write_bit_array};

}  // namespace bfstore::interop
