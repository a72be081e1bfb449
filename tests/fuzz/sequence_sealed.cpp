// The part of fuzz_sequence for sealed files: makes them, damages some, and looks at them in every way.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "../support/abi_calls.h"
#include "sequence.hpp"

namespace fuzz {

void Sequence::seal() {
  const std::size_t from = input_.u8() % kPaths;
  const std::size_t to = input_.u8() % kPaths;
  const std::uint64_t flags = seal_flags(input_.u8());
  if (held(from) || held(to)) return;
  const bool replaces = (flags & BFS_REPLACE) != 0;
  bfs_error error = no_error();
  const std::int32_t code = seal_with(path_of(static_cast<unsigned>(from)).c_str(),
                                      path_of(static_cast<unsigned>(to)).c_str(), flags, 0, &error);
  check_code(code, "sealing");
  check(code <= BFS_OK && (code == BFS_OK || error.message[0] != '\0'), "sealing says why not", code);
  if (code != BFS_OK) return;
  check(files_[from] != nullptr && !files_[from]->damaged, "what is sealed was made, and is whole");
  check(replaces || files_[to] == nullptr, "what is there is not replaced unless that is asked for");
  check(from != to || !is_written(from), "what is open for writing is not sealed in its own place");
  auto sealed = std::make_shared<Content>(*files_[from]);
  sealed->sealed = true;
  sealed->superseded = false;
  supersede_file(to, true);
  files_[to] = sealed;
  check_seal(to);
}

bool Sequence::is_written(std::size_t path) const {
  return std::any_of(handles_.begin(), handles_.end(), [&](const Handle& handle) {
    return handle.path == path && handle.content == files_[path] && handle.writes;
  });
}

// Checks that the file is sealed and has its name.
void Sequence::check_seal(std::size_t path) const {
  const std::string name = path_of(static_cast<unsigned>(path));
  const bool damaged = files_[path]->damaged;
  bfs_range range{};
  const std::int64_t found = bfs_verify(name.c_str(), 0, &range, 1, nullptr);
  check(found == (damaged ? 1 : 0), "what nobody damaged is whole, and what somebody did is not", found);
  const auto writer = open_file(name.c_str(), BFS_WRITE);
  check(writer.code == BFS_ESEALED, "a sealed file is never written to", writer.code);
  const auto verified = open_file(name.c_str(), BFS_READ | BFS_VERIFY);
  check(verified.code == (damaged ? BFS_EDAMAGED : BFS_OK), "what is whole is verified", verified.code);
  const auto tolerant = open_file(name.c_str(), BFS_READ | BFS_TOLERATE_DAMAGE);
  check(tolerant.filter != nullptr, "damage is tolerated", tolerant.code);
  for (const bfs_filter* filter : {verified.filter, tolerant.filter}) {
    for (const auto& [digest, times] : files_[path]->digests) {
      check(filter == nullptr || bfs_contains_digest(filter, digest) == 1,
            "a key that was sealed is never answered no");
    }
  }
  bfs_close(verified.filter, nullptr);
  bfs_close(tolerant.filter, nullptr);
}

// Damages a byte of the body of a sealed file, once. The body is smaller than 2 MiB: limit_files().
void Sequence::damage() {
  constexpr std::uint64_t kBodyOffset = 16384;
  const std::size_t path = input_.u8() % kPaths;
  const std::uint64_t where = input_.u16();
  const std::uint8_t turned = input_.u8() | 1U;
  if (files_[path] == nullptr || !files_[path]->sealed || files_[path]->damaged || held(path)) return;
  const std::string name = path_of(static_cast<unsigned>(path));
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  std::uint64_t body_bytes = 0;
  check(pread(descriptor, &body_bytes, sizeof body_bytes, 80) == sizeof body_bytes, "a header");
  const std::uint64_t offset = kBodyOffset + where % body_bytes;
  std::uint8_t byte = 0;
  check(pread(descriptor, &byte, 1, static_cast<off_t>(offset)) == 1, "a byte of the body");
  byte ^= turned;
  check(pwrite(descriptor, &byte, 1, static_cast<off_t>(offset)) == 1, "a byte that can be written");
  ::close(descriptor);
  files_[path]->damaged = true;
  for (Handle& handle : handles_) {
    if (handle.content == files_[path]) handle.checked = false;  // it was opened before the damage
  }
  bfs_range range{};
  check(bfs_verify(name.c_str(), 0, &range, 1, nullptr) == 1 && range.offset <= offset &&
            offset < range.offset + range.bytes,
        "damage is found where it is", static_cast<std::int64_t>(range.offset));
}

}  // namespace fuzz
