// Code that the rivals' files share: the place of their rows, and the function that fills, checks and adds a rival.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "hasher.hpp"
#include "memory.hpp"
#include "subject.hpp"

namespace bench {

// The rivals for one number of keys and one number of bits a key. Its arguments outlive it, and it outlives the rows.
struct RivalSite {
  const Hasher& hasher;
  const Population& population;
  std::span<std::uint8_t> answers;
  double bits_per_key = 0;
  double rate = 0;  // bfstore's, of its blocked filter: some rivals also have as many bits as that rate needs
  bool first_of_its_size = true;  // for rivals that do not depend on the number of bits a key
  std::string place;

  Rows rows;
  std::vector<std::shared_ptr<const void>> subjects;  // objects that the rows refer to
  std::map<std::string, std::string> not_measured;    // a rival's name, and why

  [[nodiscard]] std::uint64_t num_keys() const noexcept { return population.added.digests.size(); }
};

// The facts about a rival in the table, except its FPR, which is measured here.
struct RivalFacts {
  double num_probes = 0;
  double body_bytes = 0;
  const void* body = nullptr;  // to see whether it is in huge pages
};

// Fills a rival and checks its answers. Then adds all rows that its functions allow.
template <class S>
Truth add_rival(RivalSite& site, const std::string& name, std::shared_ptr<S> subject) {
  double fpr = 0;
  const Truth truth = fill_and_check(site.place + '/' + name, *subject, site.population, std::nullopt, fpr);
  const RivalFacts facts = subject->facts();
  RowMaker maker{site.place, name, {}, {}};
  maker.facts = {{"k", facts.num_probes},
                 {"body_bytes", facts.body_bytes},
                 {"huge", huge_page_share(static_cast<const std::byte*>(facts.body))},
                 {"fpr", fpr},
                 {"asked", static_cast<double>(site.population.absent.size())}};
  for (Row& row : subject_rows(std::move(maker), *subject, site.population, truth, site.answers))
    site.rows.push_back(std::move(row));
  site.subjects.push_back(std::move(subject));
  return truth;
}

// Each adds its own rows, or says why there are none. A build without the rival's library leaves its file out.
void add_boost_bloom(RivalSite& site);
void add_rocksdb(RivalSite& site);
void add_leveldb(RivalSite& site);
void add_libbloom(RivalSite& site);
void add_unordered_set(RivalSite& site);
void add_btllib(RivalSite& site);

// add_rivals() calls those without counters, in turn; add_counting_rivals() calls those that count or remove keys.
void add_rivals(RivalSite& site);
void add_counting_rivals(RivalSite& site);

}  // namespace bench
