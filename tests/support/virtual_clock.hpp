// The clock of virtual_clock.h for a scope, and how long something waits by it.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "virtual_clock.h"

class VirtualClock {
 public:
  using Time = std::chrono::nanoseconds;

  VirtualClock() { virtual_clock_start(); }
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;
  ~VirtualClock() { virtual_clock_stop(); }

  void sleeps_last(Time at_least) { virtual_clock_sleeps_last(static_cast<std::uint64_t>(at_least.count())); }

  // The first thread whose sleep ends then or later runs `deed`, once.
  void after(Time time, std::function<void()> deed) {
    deed_ = std::move(deed);
    virtual_clock_call_at(virtual_clock_slept() + static_cast<std::uint64_t>(time.count()), [] { deed_(); });
  }

  // Returns how long the deed sleeps.
  [[nodiscard]] Time time_of(const std::function<void()>& deed) const {
    const std::uint64_t begin = virtual_clock_slept();
    deed();
    return Time(virtual_clock_slept() - begin);
  }

  // Checks that the deed sleeps as long as was asked for, and less than a poll longer.
  void check_waits(Time asked, Time poll, const std::function<void()>& deed) const {
    const Time waited = time_of(deed);
    CHECK(waited.count() >= asked.count());
    CHECK(waited.count() < (asked + poll).count());
  }

  void check_waits_not(const std::function<void()>& deed) const {
    const Time waited = time_of(deed);
    CHECK(waited.count() == 0);
  }

 private:
  inline static std::function<void()> deed_;
};
