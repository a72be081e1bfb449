#include "abi_subject.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "fail.hpp"
#include "hasher.hpp"

namespace bench {
namespace {

void* load(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail(std::string("the shared library can not be loaded: ") + dlerror());
  return handle;
}

template <class Function>
void find(void* handle, const char* name, Function& out) {
  void* symbol = dlsym(handle, name);
  if (symbol == nullptr) fail(std::string("the shared library has no ") + name);
  out = reinterpret_cast<Function>(symbol);
}

bfs_error empty_error() noexcept {
  bfs_error error{};
  error.struct_bytes = sizeof error;
  return error;
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& path) : handle_(load(path)) {
  find(handle_.get(), "bfs_open", open);
  find(handle_.get(), "bfs_open_memory", open_memory);
  find(handle_.get(), "bfs_format", format);
  find(handle_.get(), "bfs_close", close);
  find(handle_.get(), "bfs_contains", contains);
  find(handle_.get(), "bfs_contains_digest", contains_digest);
  find(handle_.get(), "bfs_contains_keys", contains_keys);
  find(handle_.get(), "bfs_add_digest", add_digest);
  find(handle_.get(), "bfs_add_keys", add_keys);
  find(handle_.get(), "bfs_stats", stats);
}

SharedLibrary::~SharedLibrary() = default;

void SharedLibrary::Closer::operator()(void* handle) const noexcept { static_cast<void>(dlclose(handle)); }

AbiSubject AbiSubject::in_file(const SharedLibrary& library, const std::string& path) {
  bfs_error error = empty_error();
  bfs_filter* filter = nullptr;
  if (library.open(path.c_str(), BFS_READ, nullptr, &filter, &error) != BFS_OK) fail(error.message);
  return {library, filter};
}

AbiSubject AbiSubject::in_heap(const SharedLibrary& library, std::span<std::byte> buffer) {
  bfs_error error = empty_error();
  bfs_filter* filter = nullptr;
  if (library.open_memory(buffer.data(), buffer.size(), BFS_READ, nullptr, &filter, &error) != BFS_OK)
    fail(error.message);
  return {library, filter};
}

AbiAloneSubject::AbiAloneSubject(const SharedLibrary& library, std::uint64_t capacity, double bits_per_key)
    : library_(library), filter_(nullptr, AbiCloser{library.close}) {
  bfs_options options = BFS_OPTIONS_INIT;
  options.capacity = capacity;
  options.bits_per_key = bits_per_key;
  options.seed = &kSeed;
  bfs_error error = empty_error();
  const std::int64_t bytes = library.format(nullptr, 0, BFS_EXCLUSIVE, &options, nullptr, &error);
  if (bytes < 0) fail(error.message);
  buffer_ = std::make_unique<HeapBuffer>(static_cast<std::uint64_t>(bytes));
  bfs_filter* filter = nullptr;
  const std::span<std::byte> buffer = buffer_->bytes();
  if (library.format(buffer.data(), buffer.size(), BFS_EXCLUSIVE, &options, &filter, &error) < 0) fail(error.message);
  filter_.reset(filter);
  constexpr std::uint64_t kEndWordBytes = 8;  // after the body, at the buffer's end
  body_ = buffer.first(buffer.size() - kEndWordBytes).last(statistics().body_bytes);
}

bfs_statistics AbiAloneSubject::statistics() const {
  bfs_statistics statistics = BFS_STATISTICS_INIT;
  bfs_error error = empty_error();
  if (library_.stats(filter_.get(), 0, &statistics, &error) != BFS_OK) fail(error.message);
  return statistics;
}

void AbiAloneSubject::clear() noexcept { std::fill(body_.begin(), body_.end(), std::byte{0}); }

double AbiAloneSubject::rate() const { return statistics().fpr; }

}  // namespace bench
