// Everything that is measured with one number of keys: the filters in a file and on the heap, filled and checked, and
// the limit beside them.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "abi_subject.hpp"
#include "bfstore_subject.hpp"
#include "keys.hpp"
#include "row.hpp"

namespace bench {

class Site {
 public:
  // Fills and checks everything; whatever is wrong with an answer is an exception. Files are made in `folder` and have
  // no name any more when this returns.
  Site(const Hasher& hasher, const SharedLibrary& library, std::uint64_t num_keys, double bits_per_key,
       const std::string& folder);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  // The rows refer to the site.
  [[nodiscard]] Rows take_rows() { return std::move(rows_); }

 private:
  void add_filter(std::unique_ptr<BfstoreSubject> made, const std::string& memory);
  void add_abi(AbiSubject opened, const BfstoreSubject& filter, const std::string& memory);

  Population population_;
  std::vector<std::uint8_t> answers_;
  std::list<std::unique_ptr<BfstoreSubject>> filters_;
  std::list<AbiSubject> abi_;
  Rows rows_;
};

}  // namespace bench
