// Measures memory, as Linux counts it.
#include "memory.hpp"

#include "fail.hpp"

#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_set>

namespace demo {
namespace {

// "Pss:      812 kB" -> 831488
std::optional<std::uint64_t> kib_line(const std::string& line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  return std::stoull(line.substr(name.size())) * 1024;
}

// The line before a mapping's numbers begins with its addresses, "55e0c0a3b000-55e0...". Every other line begins with a
// capital letter.
bool begins_mapping(const std::string& line) { return !line.empty() && (line[0] < 'A' || line[0] > 'Z'); }

std::uint64_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (const auto bytes = kib_line(line, "RssAnon:")) return *bytes;
  }
  fail("/proc/self/status does not say how much memory a process takes");
}

}  // namespace

MappedBytes mapped_bytes(pid_t process, const std::string& path_end) {
  MappedBytes sum;
  bool ours = false;
  std::ifstream smaps("/proc/" + std::to_string(process) + "/smaps");
  for (std::string line; std::getline(smaps, line);) {
    if (begins_mapping(line)) ours = line.ends_with(path_end);
    if (!ours) continue;
    sum.resident += kib_line(line, "Rss:").value_or(0);
    sum.proportional += kib_line(line, "Pss:").value_or(0);
  }
  return sum;
}

std::uint64_t measure_hash_set(const std::string& words_path) {
  std::ifstream file(words_path);
  std::string word;
  std::getline(file, word);  // allocates the stream's own buffer before the measurement begins
  const std::uint64_t before = anonymous_bytes();
  std::unordered_set<std::string> words{word};
  while (std::getline(file, word)) words.insert(word);
  return anonymous_bytes() - before;
}

}  // namespace demo
