// The filter that the bytes of another program become.
#pragma once

#include <bfstore/interop.hpp>
#include <bfstore/options.hpp>

#include "format/identity.hpp"
#include "interop/interop.hpp"

namespace bfstore::store {

// A copy of the caller's options, to be completed. Wipes its copy of the secret.
struct CompletedOptions {
  explicit CompletedOptions(const Options& given) : options(given) {}
  CompletedOptions(const CompletedOptions&) = delete;
  CompletedOptions& operator=(const CompletedOptions&) = delete;
  ~CompletedOptions();

  Options options;
};

// Completes the options by what the bytes say. Returns the identity of the file that they would make.
Result<format::Identity> foreign_identity(const interop::Row& row, const interop::Told& told, const ForeignForm& form,
                                          Options& options);

}  // namespace bfstore::store
