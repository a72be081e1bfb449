// Stops in the middle of an add or a lookup, at a place that the test names: a process cannot read the memory of its
// filter without a fault, so each of its looks at the live page and at the body can be counted. On other processors
// than x86-64 nothing is counted.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>

namespace store_test {

// The addresses at which this process maps the file from its beginning.
std::set<std::size_t> mappings_of(const std::string& path);

// Runs `call`, and `before_look(n)` before its n-th look at a file that this process maps once from its beginning,
// except for the mappings in `others`. Returns the number of looks. One call at a time, in one thread.
unsigned watch_looks(const std::string& path, const std::set<std::size_t>& others,
                     const std::function<void(unsigned)>& before_look, const std::function<void()>& call);

}  // namespace store_test
