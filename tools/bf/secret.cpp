// See secret.hpp.
#include "secret.hpp"

#include "failures.hpp"
#include "numbers.hpp"
#include "terminal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace bf {
namespace {

// The contents of the file, wiped at the end. It has room for one byte more than the longest secret file.
class Content {
 public:
  explicit Content(const std::string& path);
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content() { ::explicit_bzero(bytes_.data(), bytes_.size()); }

  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<char, 34> bytes_{};
  std::size_t size_ = 0;
};

[[noreturn]] void fail_system(const std::string& path) {
  if (errno == ENOENT)
    throw Failure("--secret-file: " + path + ": no such file. Give the file of the secret, if the filter has one." +
                  kMakeSecret);
  throw Failure("--secret-file: " + path + ": " + tools::system_words(errno) + ".");
}

void warn_if_others_may_read(int file, const std::string& path) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0) fail_system(path);
  if ((facts.st_mode & 077) != 0)
    warn("--secret-file: " + path + ": other users can read this secret: chmod 600 " + path + ".");
}

Content::Content(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail_system(path);
  ssize_t got = 0;
  do {
    got = ::read(file, bytes_.data() + size_, bytes_.size() - size_);
    if (got > 0) size_ += static_cast<std::size_t>(got);
  } while ((got > 0 && size_ < bytes_.size()) || (got < 0 && errno == EINTR));
  if (got < 0) fail_system(path);
  warn_if_others_may_read(file, path);
  ::close(file);
}

}  // namespace

void read_secret_file(const std::string& path, std::optional<bfstore::Secret>& secret) {
  const Content content(path);
  std::string_view text = content.view();
  bfstore::Secret& bytes = secret.emplace();
  if (text.size() == bytes.size()) {
    std::memcpy(bytes.data(), text.data(), bytes.size());
    return;
  }
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (read_hex(text, bytes)) return;
  throw Failure("--secret-file: " + path +
                ": not a secret: neither 16 bytes nor 32 hexadecimal digits and at most one LF." + kMakeSecret);
}

void refuse_secret_file(const std::string& path, const std::string& other) {
  struct stat secret {};
  struct stat named {};
  if (other.empty() || ::stat(path.c_str(), &secret) != 0 || ::stat(other.c_str(), &named) != 0) return;
  if (secret.st_dev == named.st_dev && secret.st_ino == named.st_ino)
    throw Failure(other + ": is the file of the secret. Name another file.");
}

SecretWiper::~SecretWiper() {
  if (secret_) ::explicit_bzero(secret_->data(), secret_->size());
}

}  // namespace bf
