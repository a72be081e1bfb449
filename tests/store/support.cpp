#include "support.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/bytes.hpp"

namespace store_test {

using namespace bfstore;

namespace {

std::string fresh_folder(const std::string& parent) {
  std::string path = parent + "/bfstore-test-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no folder " + path + " can be made");
  return path;
}

std::vector<std::string>& arguments() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

void take_options(int count, char** values) { arguments().assign(values + 1, values + count); }

std::uint64_t option(const std::string& name, std::uint64_t otherwise) {
  const std::string prefix = "--" + name + "=";
  for (const std::string& argument : arguments()) {
    if (argument.rfind(prefix, 0) == 0) return std::stoull(argument.substr(prefix.size()));
  }
  return otherwise;
}

std::uint64_t first_seed(std::uint64_t otherwise) {
  const std::uint64_t seed = option("seed", otherwise);
  std::printf("--seed=%lu\n", seed);
  return seed;
}

TempDir::TempDir() : TempDir(std::filesystem::temp_directory_path().string()) {}

TempDir::TempDir(const std::string& parent) : path_(fresh_folder(parent)) {}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string memory_folder() {
  const std::string usual = "/dev/shm";
  return access(usual.c_str(), W_OK | X_OK) == 0 ? usual : std::filesystem::temp_directory_path().string();
}

std::vector<std::string> TempDir::names() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path().filename());
  std::sort(found.begin(), found.end());
  return found;
}

// --- Filters and keys ------------------------------------------------------------------------------------------------

Filter opened(Result<Filter> result) {
  REQUIRE_MESSAGE(result.ok(), (result.ok() ? std::string() : result.error().message));
  return std::move(result).value();
}

Filter created(const std::string& path, const Options& options) { return opened(Filter::create(path, options)); }

Code code_of(const Result<Filter>& result) { return result.ok() ? Code::kOk : result.error().code; }

Code open_code(const std::string& path, OpenMode mode) { return code_of(Filter::open(path, mode)); }

FileState state_of(const std::string& path) {
  const auto report = inspect(path, false);
  REQUIRE(report.ok());
  return report->state;
}

void add_keys(Filter& filter, unsigned writer, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = from; i < from + count; ++i) REQUIRE(filter.add(key_of(writer, i)).ok());
}

bool answers_no(const Filter& filter) { return maybes(filter, kNobody, 0, 100) < 50; }

// --- A file's bytes --------------------------------------------------------------------------------------------------

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, std::uint64_t offset, const std::string& bytes) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(descriptor >= 0);
  REQUIRE(pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
          static_cast<ssize_t>(bytes.size()));
  close(descriptor);
}

void copy_file(const std::string& from, const std::string& to) {
  std::ofstream(to, std::ios::binary) << read_bytes(from);
}

OnDisk look(const std::string& bytes) {
  REQUIRE(bytes.size() >= format::kFileHeaderBytes);
  const auto all = std::as_bytes(std::span(bytes.data(), bytes.size()));
  const auto slot_a = all.subspan(format::kSlotOffset, format::kPageBytes);
  const auto slot_b = all.subspan(format::kSlotOffset + format::kPageBytes, format::kPageBytes);
  const auto live_page = all.subspan(format::kLivePageOffset, format::kPageBytes);
  OnDisk found;
  std::copy_n(bytes.data() + format::kFileIdField.offset, found.file_id.size(), found.file_id.data());
  found.slots = format::decode_slots(slot_a, slot_b, found.file_id);
  found.live_word = format::get<std::uint64_t>(live_page, format::kLiveWordField);
  found.syncing = format::get<std::uint64_t>(live_page, format::kSyncingField) != 0;
  found.keys_added = format::keys_added_in(live_page);
  return found;
}

OnDisk look_at(const std::string& path) { return look(read_bytes(path)); }

const format::Slot& OnDisk::newest() const {
  REQUIRE(slots.newest() != nullptr);
  return *slots.newest();
}

bool OnDisk::says_dirty() const { return newest().state == format::SlotState::kDirty; }

void edit_slots(const std::string& path, const std::function<void(format::Slot&)>& edit) {
  const OnDisk now = look_at(path);
  for (std::size_t i = 0; i < now.slots.slots.size(); ++i) {
    if (!now.slots.slots[i]) continue;
    format::Slot slot = *now.slots.slots[i];
    edit(slot);
    const format::SlotPage page = format::encode_slot(slot, now.file_id);
    write_bytes(path, format::kSlotOffset + i * format::kPageBytes,
                {reinterpret_cast<const char*>(page.data()), page.size()});
  }
}

void set_word(const std::string& path, std::uint64_t offset, std::uint64_t word) {
  std::string bytes(8, '\0');
  base::store(reinterpret_cast<std::byte*>(bytes.data()), word);
  write_bytes(path, offset, bytes);
}

void set_live_word(const std::string& path, std::uint64_t word) {
  set_word(path, format::kLivePageOffset + format::kLiveWordField.offset, word);
}

void set_syncing(const std::string& path, bool syncing) {
  set_word(path, format::kLivePageOffset + format::kSyncingField.offset, syncing ? 1 : 0);
}

format::BootId boot_id_here() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  file >> text;
  std::erase(text, '-');
  REQUIRE(text.size() == 32);
  format::BootId boot_id{};
  for (std::size_t i = 0; i < boot_id.size(); ++i) {
    boot_id[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return boot_id;
}

}  // namespace store_test
