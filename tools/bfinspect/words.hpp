// The words for the facts, and advice about them. Pure functions; every result is safe for a terminal.
#pragma once

#include <string>
#include <string_view>

#include "facts.hpp"

namespace bfinspect {

// "blocked", "classic", "unknown (7)"
std::string layout_name(std::uint16_t persisted);

// "xxh3", "external", "siphash", "unknown (7)"
std::string hash_name(std::uint16_t persisted);

// 16 hexadecimal digits.
std::string secret_check_text(std::uint64_t check);

// "41..47", or all of them if they do not ascend one by one.
std::string seeds_text(const std::vector<std::uint32_t>& seeds);

// "1.0"
std::string format_version(const bfstore::ReportedIdentity& identity);

// A few words for the title: "in use", "sealed, not verified", "in use, overfull", "not a good filter
// file".
std::string headline(const Facts& facts);

// True if keys expire, and a turn is due.
bool is_epoch_over(const bfstore::Report& report);
// What to do about that, or nothing.
std::string epoch_advice(const bfstore::Report& report);

// What to do about an overfull filter.
std::string overfull_advice(const bfstore::Report& report);

// Why it is overfull: "It has more keys than it was made for".
std::string overfull_cause(const bfstore::Report& report);

// How many keys fit into a file that grows: "900 more keys until its next slice, about 11.1 million with all
// slices".
std::string room_to_grow_text(const bfstore::Report& report, std::uint64_t remaining);

// What to do about a filter of which much has leaked.
std::string leaky_advice();

// So many bits are set that any higher number of keys would have set them.
bool is_past_estimate(const bfstore::Fill& fill);

// "about 506", or "at least 506". The report has a fill.
std::string keys_now_text(const bfstore::Report& report);

// What it means that bits may be missing, and what to do.
std::string missing_bits_advice(const Facts& facts);

// One or two sentences: what the state means and what to do.
std::string state_advice(const Facts& facts);

// The kind of a file without the magic bytes: "a directory", "an SQLite database", "text".
std::string likeness(const Facts& facts);

// True if the first bytes of a file are those of a delta.
bool is_like_a_delta(std::string_view first_bytes);

// The way out for a file that is not a good filter file.
std::string way_out(const Facts& facts);

}  // namespace bfinspect
