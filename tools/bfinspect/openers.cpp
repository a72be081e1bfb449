// See openers.hpp. Compares a descriptor by the device and inode that stat() gives for it, so names do not matter.
#include "openers.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <sstream>
#include <string_view>

namespace bfinspect {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

struct Identity {
  dev_t device;
  ino_t inode;
};

// The use of the file by one process.
struct Use {
  bool found = false;
  bool denied = false;
  std::optional<bool> writing = false;

  void add(std::optional<bool> also_writing) {
    found = true;
    if (writing == true || also_writing == true) {
      writing = true;
    } else if (!also_writing) {
      writing.reset();
    }
  }
};

template <class Number>
std::optional<Number> parse(std::string_view digits, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// The contents of a file of /proc, as much as can be read. Does not use a stream, because its buffer throws if the
// process ends meanwhile.
std::string content_of(const std::string& path) {
  std::string content;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return content;
  char piece[4096];
  for (ssize_t got = 0; (got = read(file, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) content.append(piece, static_cast<std::size_t>(got));
  }
  close(file);
  return content;
}

bool is_denied(int error) { return error == EACCES || error == EPERM; }

// The flags that the descriptor was opened with (fdinfo's line "flags:", octal).
std::optional<int> open_flags(const std::string& process_dir, const std::string& descriptor) {
  std::istringstream lines(content_of(process_dir + "/fdinfo/" + descriptor));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("flags:")) continue;
    const std::size_t digits = line.find_first_of("01234567");
    if (digits != std::string::npos) return parse<int>(std::string_view(line).substr(digits), 8);
  }
  return std::nullopt;
}

void look_at_descriptors(const std::string& process_dir, Identity file, Use& use) {
  const std::string fd_dir = process_dir + "/fd";
  const Directory directory(opendir(fd_dir.c_str()));
  if (!directory) {
    use.denied = use.denied || is_denied(errno);  // any other error: the process has ended
    return;
  }
  while (const dirent* entry = readdir(directory.get())) {
    struct stat status {};
    if (!parse<int>(entry->d_name)) continue;
    if (stat((fd_dir + '/' + entry->d_name).c_str(), &status) != 0) {
      use.denied = use.denied || is_denied(errno);
      continue;
    }
    if (status.st_dev != file.device || status.st_ino != file.inode) continue;
    const std::optional<int> flags = open_flags(process_dir, entry->d_name);
    if (flags && (*flags & O_PATH) != 0) continue;  // holds a name, not an open file
    use.add(flags ? std::optional((*flags & O_ACCMODE) != O_RDONLY) : std::nullopt);
  }
}

// A mapping stays when its descriptor is closed. (Some filesystems, such as btrfs and older overlayfs, give their files
// another device number. There maps shows another device, and such a mapping is not found.)
void look_at_mappings(const std::string& process_dir, Identity file, Use& use) {
  std::istringstream lines(content_of(process_dir + "/maps"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string addresses, permissions, offset, device, inode;
    if (!(fields >> addresses >> permissions >> offset >> device >> inode)) continue;
    const std::size_t colon = device.find(':');
    if (colon == std::string::npos || parse<ino_t>(inode) != file.inode) continue;
    const auto major_number = parse<unsigned>(std::string_view(device).substr(0, colon), 16);
    const auto minor_number = parse<unsigned>(std::string_view(device).substr(colon + 1), 16);
    if (!major_number || !minor_number || makedev(*major_number, *minor_number) != file.device) continue;
    const bool shared_and_writable = permissions.size() >= 4 && permissions[1] == 'w' && permissions[3] == 's';
    use.add(shared_and_writable);
  }
}

// Kernel threads and zombies hold no files, but only root may look into them. They must not count as unknown.
// /proc/PID/stat has, after the command in parentheses: state, ..., and as the seventh field the flags (proc(5)).
bool holds_no_files(const std::string& process_dir) {
  const std::string text = content_of(process_dir + "/stat");
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos) return false;
  std::istringstream fields(text.substr(close + 1));
  std::string state, skipped;
  unsigned flags = 0;
  fields >> state;
  for (int i = 0; i < 5; ++i) fields >> skipped;
  fields >> flags;
  constexpr unsigned kKernelThread = 0x00200000;  // PF_KTHREAD of linux/sched.h
  return fields && (state == "Z" || state == "X" || (flags & kKernelThread) != 0);
}

// The owner of the directory is root if the process may not be dumped, so its status decides. ("Uid:" has the real,
// the effective and two more.)
bool is_of_other_user(const std::string& process_dir) {
  std::istringstream lines(content_of(process_dir + "/status"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    uid_t real = 0, effective = 0;
    if (fields >> name >> real >> effective && name == "Uid:") return effective != geteuid();
  }
  return false;
}

std::string command_of(const std::string& process_dir) {
  std::string command = content_of(process_dir + "/comm");
  if (command.ends_with('\n')) command.pop_back();
  return command;
}

void look_at_process(pid_t process, Identity file, Openers& openers) {
  const std::string process_dir = "/proc/" + std::to_string(process);
  Use use;
  look_at_descriptors(process_dir, file, use);
  look_at_mappings(process_dir, file, use);
  if (use.found) {
    openers.seen.push_back({process, command_of(process_dir), use.writing});
  } else if (use.denied && !holds_no_files(process_dir) && access(process_dir.c_str(), F_OK) == 0) {
    if (is_of_other_user(process_dir)) {
      ++openers.of_other_users;
    } else {
      openers.forbidden.push_back({process, command_of(process_dir), std::nullopt});
    }
  }
}

// Processes outside this process's PID namespace are not in its /proc. With hidepid, those of other users are not,
// either.
bool others_are_hidden() {
  constexpr std::string_view kInitialNamespace = "pid:[4026531836]";  // PROC_PID_INIT_INO of linux/proc_ns.h
  char link[64];
  const ssize_t length = readlink("/proc/self/ns/pid", link, sizeof link);
  if (length < 0 || std::string_view(link, static_cast<std::size_t>(length)) != kInitialNamespace) return true;
  return access("/proc/1/stat", R_OK) != 0;
}

// Lists all processes at once. A program that looked at each while listing would never catch up with new ones on a busy
// machine.
std::vector<pid_t> all_processes() {
  std::vector<pid_t> processes;
  const Directory proc(opendir("/proc"));
  while (const dirent* entry = proc ? readdir(proc.get()) : nullptr) {
    if (const auto process = parse<pid_t>(entry->d_name)) processes.push_back(*process);
  }
  return processes;
}

}  // namespace

Openers find_openers(dev_t device, ino_t inode) {
  Openers openers;
  openers.others_are_hidden = others_are_hidden();  // also without /proc
  for (const pid_t process : all_processes()) {
    if (process != getpid()) look_at_process(process, {device, inode}, openers);
  }
  return openers;
}

}  // namespace bfinspect
