// Reads the caller's structs, which may be shorter or longer than the library's, and fills them in.
#pragma once

#include <bfstore.h>
#include <bfstore_interop.h>
#include <bfstore/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace capi {

// The size of release 1.0. No caller's struct is smaller.
template <class Struct>
inline constexpr std::uint32_t kLeastBytes = sizeof(Struct);

// Reads a struct's size field. The caller may pass garbage.
inline std::uint32_t size_said_by(const void* caller) noexcept {
  std::uint32_t struct_bytes = 0;
  std::memcpy(&struct_bytes, caller, sizeof struct_bytes);
  return struct_bytes;
}

// True if a caller's struct can be as long as it says. The size in garbage is usually larger than any struct will ever
// be.
template <class Struct>
bool possible_size(std::uint32_t struct_bytes) noexcept {
  constexpr std::uint32_t kMostBytes = 4096;
  return struct_bytes >= kLeastBytes<Struct> && struct_bytes <= kMostBytes;
}

// Returns nullptr, or the mistake in the caller's struct. Fields that a shorter struct lacks are zero in `known`.
// Fields of a longer struct that this library does not know must be zero.
template <class Struct>
const char* read_struct(const Struct* caller, Struct& known) noexcept {
  if (caller == nullptr) return " is null";
  const std::uint32_t struct_bytes = size_said_by(caller);
  if (!possible_size<Struct>(struct_bytes)) return ".struct_bytes is not its size";
  const auto* bytes = reinterpret_cast<const unsigned char*>(caller);
  const std::size_t known_bytes = std::min<std::size_t>(struct_bytes, sizeof known);
  if (std::any_of(bytes + known_bytes, bytes + struct_bytes, [](unsigned char byte) { return byte != 0; }))
    return " has fields that this version of bfstore does not know";
  known = {};
  std::memcpy(&known, caller, known_bytes);
  return nullptr;
}

// Fills in as much as fits the caller's struct, whose size is a possible one. Fields that this library does not know
// become zero.
template <class Struct>
void fill_struct(Struct* caller, Struct known) noexcept {
  const std::uint32_t struct_bytes = known.struct_bytes = size_said_by(caller);
  auto* const bytes = reinterpret_cast<unsigned char*>(caller);
  const std::size_t known_bytes = std::min<std::size_t>(struct_bytes, sizeof known);
  std::memcpy(bytes, &known, known_bytes);
  std::fill(bytes + known_bytes, bytes + struct_bytes, static_cast<unsigned char>(0));
}

}  // namespace capi
