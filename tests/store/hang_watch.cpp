#include "hang_watch.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

namespace store_test {

namespace {

// Returns how long the kernel did not let it run since the look before; at most that whole time.
std::chrono::nanoseconds starved(const Standing& before, const Standing& now, std::chrono::nanoseconds since) {
  // The kernel counts a delay when it is over.
  if (now.state == 'R' && now.run_ns == before.run_ns) return since;
  const std::uint64_t delay = now.delay_ns > before.delay_ns ? now.delay_ns - before.delay_ns : 0;
  return std::min(since, std::chrono::nanoseconds(delay));
}

}  // namespace

Standing standing_of(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  Standing found;
  std::ifstream(folder + "/schedstat") >> found.run_ns >> found.delay_ns;
  std::string line;
  std::getline(std::ifstream(folder + "/stat"), line);
  const std::size_t name_end = line.rfind(") ");
  if (name_end != std::string::npos && name_end + 2 < line.size()) found.state = line[name_end + 2];
  return found;
}

std::string in_words(const Standing& standing) {
  return std::string("state ") + standing.state + (standing.state == 'R' ? " (runnable), " : ", ") +
         std::to_string(standing.run_ns / 1'000'000) + " ms on a processor, " +
         std::to_string(standing.delay_ns / 1'000'000) + " ms waiting for one";
}

int HangWatch::look(const std::vector<Watched>& all) {
  const auto now = Clock::now();
  const std::chrono::nanoseconds since = now - std::exchange(last_look_, now);
  known_.resize(all.size());
  std::chrono::nanoseconds lacked{0};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].pid < 0) continue;
    const Standing standing = standing_of(all[i].pid);
    if (all[i].pid == known_[i].watched.pid) lacked = std::max(lacked, starved(known_[i].standing, standing, since));
    known_[i].standing = standing;
  }
  int hangs = -1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Known& known = known_[i];
    const bool the_same = all[i].pid == known.watched.pid && all[i].progress == known.watched.progress;
    known.watched = all[i];
    known.idle = the_same && all[i].pid >= 0 ? known.idle + since - lacked : std::chrono::nanoseconds{0};
    if (known.idle >= patience_) hangs = static_cast<int>(i);
  }
  return hangs;
}

}  // namespace store_test
