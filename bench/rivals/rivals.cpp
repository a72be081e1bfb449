// The rivals, and the words of the table about a rival whose library this build lacks.
#include <array>
#include <span>

#include "rival.hpp"
#include "rivals_found.hpp"  // made by meson: BFBENCH_WITH_...

namespace bench {
namespace {

struct Rival {
  const char* name;
  void (*add)(RivalSite&);  // null: this build lacks it
  const char* needs;
};

#if BFBENCH_WITH_BOOST_BLOOM
constexpr auto kBoostBloom = add_boost_bloom;
#else
constexpr void (*kBoostBloom)(RivalSite&) = nullptr;
#endif
#if BFBENCH_WITH_ROCKSDB
constexpr auto kRocksdb = add_rocksdb;
#else
constexpr void (*kRocksdb)(RivalSite&) = nullptr;
#endif
#if BFBENCH_WITH_LEVELDB
constexpr auto kLeveldb = add_leveldb;
#else
constexpr void (*kLeveldb)(RivalSite&) = nullptr;
#endif
#if BFBENCH_WITH_LIBBLOOM
constexpr auto kLibbloom = add_libbloom;
#else
constexpr void (*kLibbloom)(RivalSite&) = nullptr;
#endif

#if BFBENCH_WITH_BTLLIB
constexpr auto kBtllib = add_btllib;
#else
constexpr void (*kBtllib)(RivalSite&) = nullptr;
#endif

constexpr std::array<Rival, 5> kRivals{{{"Boost.Bloom", kBoostBloom, "the headers of Boost 1.90 or later"},
                                        {"RocksDB", kRocksdb, "librocksdb 7.8"},
                                        {"LevelDB", kLeveldb, "libleveldb"},
                                        {"libbloom", kLibbloom, "libbloom"},
                                        {"std::unordered_set", add_unordered_set, ""}}};

// Few libraries count. Boost.Bloom, libbloom, RocksDB and LevelDB have only bits, and Debian has no dablooms and no
// cuckoo filter for C or C++. Filters with counters or with removes for Python are in python_rivals.py.
constexpr std::array<Rival, 2> kCountingRivals{
    {{"btllib", kBtllib, "libbtllib"}, {"std::unordered_set", add_unordered_set, ""}}};

void add_each(std::span<const Rival> rivals, RivalSite& site) {
  for (const Rival& rival : rivals) {
    if (rival.add != nullptr) {
      rival.add(site);
    } else {
      site.not_measured[rival.name] = std::string(rival.needs) + ": not there when this was built";
    }
  }
}

}  // namespace

void add_rivals(RivalSite& site) { add_each(kRivals, site); }
void add_counting_rivals(RivalSite& site) { add_each(kCountingRivals, site); }

}  // namespace bench
