// The commands of the worker program, and the memory that it shares with the test which started it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace store_test {

constexpr std::uint32_t kNeverAsks = UINT32_MAX;  // writeback_check_ms of a writer that does not live so long

// The progress of an adding worker. Written after each add has returned, as one word, so that a kill cannot separate
// the numbers.
struct alignas(64) Progress {
  std::atomic<std::uint64_t> word{0};    // keys whose add returned: low 32 bits; of these, certainly new: high 32 bits
  std::atomic<std::uint32_t> adding{0};  // 1: it has the file open, and is not about to close it

  [[nodiscard]] std::uint64_t acknowledged() const noexcept { return word.load() & 0xffffffffU; }
  [[nodiscard]] std::uint64_t certainly_new() const noexcept { return word.load() >> 32; }
};

// A file that the test and its workers map.
struct Board {
  static constexpr unsigned kMostWorkers = 8;
  std::atomic<std::uint32_t> stop{0};
  std::array<Progress, kMostWorkers> workers;
};

// Maps the file, which is made if it is not there; all zero at first. nullptr on failure.
Board* map_board(const std::string& path);

// The keys of one worker follow the ones that it, or a killed one with its number, acknowledged.
std::uint64_t packed(std::uint64_t acknowledged, std::uint64_t certainly_new) noexcept;

int run_remote(const std::string& path);
int run_add(const std::vector<std::string>& words);     // add PATH BOARD NUMBER BATCH: until it is told to stop
int run_live(const std::vector<std::string>& words);    // live PATH BOARD NUMBER: adds, syncs, recovers if need be
int run_churn(const std::vector<std::string>& words);   // churn PATH read|write|exclusive ROUNDS: open, use, close
int run_create(const std::vector<std::string>& words);  // create PATH new|replace: 40 MB, then closes
int run_sync(const std::vector<std::string>& words);    // sync PATH OWNER ROUNDS: adds and syncs with rising marks

}  // namespace store_test
