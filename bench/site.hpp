// All measurements with one number of keys and of bits a key: the filters in a file and on the heap, filled and
// checked, with the limit and the rivals.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "abi_subject.hpp"
#include "bfstore_subject.hpp"
#include "keys.hpp"
#include "plt_subject.hpp"
#include "row.hpp"

namespace bench {

struct RivalSite;

class Site {
 public:
  // The objects that all sites share. They outlive the sites.
  struct Surroundings {
    const Hasher& hasher;
    const SharedLibrary& library;
    const PltCalls& calls;
    std::string folder;
  };

  // Fills and checks everything. Throws if an answer is wrong. Files are made in the folder and have no name any more
  // when this returns. `first_of_its_size`: no earlier site has the same population.
  Site(const Surroundings& around, const Population& population, double bits_per_key, bool first_of_its_size);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  // The rows refer to the site.
  [[nodiscard]] Rows take_rows() { return std::move(rows_); }
  // "1000000/10/RocksDB", with the reason why it is not among the rows.
  [[nodiscard]] const std::map<std::string, std::string>& not_measured() const noexcept { return not_measured_; }

 private:
  void add_filter(std::unique_ptr<BfstoreSubject> made, const std::string& memory);
  template <class S>
  void fill_and_add_rows(S& filter, const std::string& place);
  void add_counting(const Surroundings& around, bfstore::Options options);
  void add_counting(CountingSubject made, const Hasher& hasher, const std::string& place);
  void add_abi(AbiSubject opened, const BfstoreSubject& filter, const std::string& memory);
  void add_alone(bfstore::Options options, const std::string& path, const std::string& prefix);
  void add_alone(std::unique_ptr<BfstoreSubject> made, const std::string& place);
  void add_abi_alone(const SharedLibrary& library, double bits_per_key, const std::string& place);
  void add_all_rivals(void (*add)(RivalSite&), const Hasher& hasher, double bits_per_key, const std::string& prefix,
                      bool first_of_its_size);

  const Population& population_;
  std::vector<std::uint8_t> answers_;
  std::list<std::unique_ptr<BfstoreSubject>> filters_;
  std::list<CountingSubject> counting_;
  std::list<AbiSubject> abi_;
  std::list<AloneSubject> alone_;
  std::list<AbiAloneSubject> abi_alone_;
  std::vector<std::shared_ptr<const void>> rivals_;
  std::map<std::string, std::string> not_measured_;
  Rows rows_;
};

}  // namespace bench
