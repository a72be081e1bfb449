// Runs a fuzzer's target once with each file of the given folders, the kept inputs, in builds without libFuzzer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Prints the file's name first. So it is known which file ended the target.
void run(const std::filesystem::path& path) {
  std::fprintf(stderr, "%s\n", path.c_str());
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "give the folders whose files are to be run, or files\n");
    return 2;
  }
  for (int i = 1; i < count; ++i) {
    const std::filesystem::path given(arguments[i]);
    const auto files = std::filesystem::is_directory(given) ? files_of(given) : std::vector{given};
    if (files.empty() || !std::filesystem::exists(files.front())) {
      std::fprintf(stderr, "%s: nothing to run there\n", given.c_str());
      return 1;
    }
    for (const auto& file : files) run(file);
    std::printf("%s: %zu\n", given.c_str(), files.size());
  }
  return 0;
}
