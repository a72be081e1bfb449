// The C ABI as a program calls it that is linked with libbfstore.so, next to a call that does nothing (plt_calls.h).
#pragma once

#include "abi_subject.hpp"
#include "keys.hpp"
#include "plt_calls.h"
#include "row.hpp"

namespace bench {

// Loaded after the library whose functions it calls.
class PltCalls {
 public:
  explicit PltCalls(const SharedLibrary& library);

  decltype(&bfbench_ask_digests) ask_digests;
  decltype(&bfbench_ask_keys) ask_keys;
  decltype(&bfbench_digest_and_ask_keys) digest_and_ask_keys;
  decltype(&bfbench_call_nothing) call_nothing;
};

// Rows of lookups in a filter that is filled. All arguments outlive the rows. Throws if an answer is another one.
Rows plt_rows(const std::string& place, const PltCalls& calls, const AbiSubject& filter, const Population& population);

}  // namespace bench
