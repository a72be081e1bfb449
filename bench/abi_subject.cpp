#include "abi_subject.hpp"

#include <dlfcn.h>

#include "fail.hpp"

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
  find(handle_.get(), "bfs_close", close);
  find(handle_.get(), "bfs_contains", contains);
  find(handle_.get(), "bfs_contains_digest", contains_digest);
  find(handle_.get(), "bfs_contains_keys", contains_keys);
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

}  // namespace bench
