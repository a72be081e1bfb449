// Pages that cannot be read: mapped pages after the end of their file.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support.hpp"

namespace store_test {

class Unreadable {
 public:
  Unreadable() : path_(dir_.file("a file")) {
    std::ofstream(path_) << std::string(kBytes, 'x');
    const int descriptor = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    memory_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    REQUIRE(truncate(path_.c_str(), 0) == 0);
  }
  Unreadable(const Unreadable&) = delete;
  Unreadable& operator=(const Unreadable&) = delete;
  ~Unreadable() { munmap(memory_, kBytes); }

  static constexpr std::size_t kBytes = 65536;
  [[nodiscard]] volatile std::uint64_t* words() const { return static_cast<volatile std::uint64_t*>(memory_); }

 private:
  TempDir dir_;
  std::string path_;
  void* memory_ = nullptr;
};

}  // namespace store_test
