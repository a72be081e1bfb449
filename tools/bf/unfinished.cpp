// See unfinished.hpp.
#include "unfinished.hpp"

#include "failures.hpp"

#include <filesystem>
#include <system_error>

namespace bf {

void refuse_unfinished(const std::string& part) {
  const std::filesystem::path path(part);
  const std::string begin = path.filename().string() + kUnfinished;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    throw Failure(part + ": may lack digests, because " + name +
                  " exists: a bf digest is running, or it failed or was killed. Wait for it, or remove *" +
                  name.substr(path.filename().string().size()) + " and run that bf digest again.");
  }
  const bool is_missing = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !is_missing)  // the file itself is opened later, and named if it is missing
    throw Failure(part +
                  ": whether a bf digest has not added all digests cannot be seen in its folder: " + error.message() +
                  ". If each one ended with the exit code 0, give them on standard input (--from -).");
}

}  // namespace bf
