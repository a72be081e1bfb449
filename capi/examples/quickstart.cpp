// The shortest whole story in C++: open a filter file or make it, add keys, and ask. Any number of processes may run
// this at once, with one file.
//
//   c++ -std=c++20 quickstart.cpp $(pkg-config --cflags --libs bfstore-cpp) -o quickstart && ./quickstart seen.bf
#include <bfstore/bfstore.hpp>

#include <cstdint>
#include <iostream>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  using namespace std::literals;
  const std::string path = argc > 1 ? argv[1] : "seen.bf";
  bfstore::Options options;
  options.capacity = 100'000;
  options.fpr = 0.001;  // one in a thousand keys that were never added may be answered "maybe"
  bool created = false;
  auto opened = bfstore::Filter::open_or_create(path, bfstore::OpenMode::kWrite, options, {}, &created);
  if (!opened) {
    std::cerr << "quickstart: " << opened.error().message << '\n';
    return 1;
  }
  bfstore::Filter& filter = *opened;
  std::cout << path << (created ? ": made\n" : ": opened\n");

  const std::vector keys{"ada"sv, "grace"sv, "edsger"sv, "barbara"sv};
  const bfstore::Count added = filter.add_keys(bfstore::Keys::views(keys));  // several times as fast as one by one
  if (!added.ok()) {
    std::cerr << "quickstart: " << path << ": " << bfstore::code_text(added.code()) << '\n';
    return 1;
  }
  std::cout << added.keys() << " of " << keys.size() << " keys were certainly new\n";
  for (const std::string_view key : {"ada"sv, "donald"sv, "barbara"sv, "niklaus"sv})
    std::cout << key << (filter.contains(key) ? ": maybe\n" : ": certainly not\n");

  // Closing syncs: only when it is ok are the keys safe from a power cut.
  if (const bfstore::Error error = filter.close(); !error.ok()) {
    std::cerr << "quickstart: " << error.message << '\n';
    return 1;
  }
  return 0;
}
