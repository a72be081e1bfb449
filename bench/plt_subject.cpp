#include "plt_subject.hpp"

#include <dlfcn.h>

#include <memory>
#include <vector>

#include "check.hpp"

namespace bench {
namespace {

template <class Function>
void find(void* handle, const char* name, Function& out) {
  void* symbol = dlsym(handle, name);
  if (symbol == nullptr) fail(std::string("the library of calls has no ") + name);
  out = reinterpret_cast<Function>(symbol);
}

// The keys of 16 bytes among those that are asked about, again and again until they are as many as these.
std::shared_ptr<const std::vector<unsigned char>> keys_of_16(const Column& column) {
  auto keys = std::make_shared<std::vector<unsigned char>>();
  const std::size_t wanted = column.size() * BFBENCH_KEY_BYTES;
  while (keys->size() < wanted) {
    const std::size_t before = keys->size();
    for (std::size_t i = 0; i < column.size() && keys->size() < wanted; ++i) {
      const std::string_view key = column[i];
      if (key.size() == BFBENCH_KEY_BYTES) keys->insert(keys->end(), key.begin(), key.end());
    }
    if (keys->size() == before) fail("no key has 16 bytes");
  }
  return keys;
}

std::uint64_t maybes_of(const AbiSubject& filter, const std::vector<unsigned char>& keys) {
  std::uint64_t maybes = 0;
  for (std::size_t at = 0; at < keys.size(); at += BFBENCH_KEY_BYTES)
    maybes += filter.contains({reinterpret_cast<const char*>(keys.data()) + at, BFBENCH_KEY_BYTES}) ? 1U : 0U;
  return maybes;
}

}  // namespace

PltCalls::PltCalls(const SharedLibrary&) {
  void* handle = dlopen(BFBENCH_PLT_CALLS, RTLD_NOW | RTLD_LOCAL);  // stays loaded
  if (handle == nullptr) fail(std::string("the library of calls can not be loaded: ") + dlerror());
  find(handle, "bfbench_ask_digests", ask_digests);
  find(handle, "bfbench_ask_keys", ask_keys);
  find(handle, "bfbench_digest_and_ask_keys", digest_and_ask_keys);
  find(handle, "bfbench_call_nothing", call_nothing);
}

Rows plt_rows(const std::string& place, const PltCalls& calls, const AbiSubject& filter, const Population& population) {
  const std::span<const std::uint64_t> digests = population.mixed.digests;
  const bfs_filter* handle = filter.handle();
  RowMaker ours{place, "blocked-plt", {}, {}};
  const std::uint64_t maybes = ask_each(filter, digests);
  ours.make("contains", "single", "digests", "mixed", digests.size(), maybes).pass = [&calls, handle, digests] {
    return calls.ask_digests(handle, digests.data(), digests.size());
  };
  RowMaker nothing{place, "limit-call", {}, {}};
  nothing.make("contains", "plain", "digests", "mixed", digests.size(), 0).pass = [&calls, handle, digests] {
    return calls.call_nothing(handle, digests.data(), digests.size());
  };
  ours.rows.push_back(std::move(nothing.rows.front()));
  if (population.mixed.column.size() == 0) return std::move(ours.rows);

  const auto keys = keys_of_16(population.mixed.column);
  const std::size_t count = keys->size() / BFBENCH_KEY_BYTES;
  const std::uint64_t maybe_keys = maybes_of(filter, *keys);
  ours.make("contains", "single", "keys-16", "mixed", count, maybe_keys).pass = [&calls, handle, keys, count] {
    return calls.ask_keys(handle, keys->data(), count);
  };
  RowMaker twice{place, "blocked-plt-twice", {}, {}};
  twice.make("contains", "single", "keys-16", "mixed", count, maybe_keys).pass = [&calls, handle, keys, count] {
    return calls.digest_and_ask_keys(handle, keys->data(), count);
  };
  ours.rows.push_back(std::move(twice.rows.front()));
  return std::move(ours.rows);
}

}  // namespace bench
