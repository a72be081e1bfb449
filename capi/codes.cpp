// Codes, errors and the version.
#include <algorithm>
#include <cstddef>

#include "handle.hpp"
#include "message.hpp"
#include "structs.hpp"

namespace capi {
namespace {

// Codes of C++ that C has under a number of its own. Every other one below Code::kNotRegular is a broken rule of the
// format.
struct Renamed {
  Code code;
  std::int32_t number;
};
constexpr Renamed kRenamed[] = {{Code::kNotRegular, BFS_ENOTREGULAR}, {Code::kSymlink, BFS_ESYMLINK},
                                {Code::kVersion, BFS_EVERSION},       {Code::kFeature, BFS_EFEATURE},
                                {Code::kLayout, BFS_EFEATURE},        {Code::kHash, BFS_EFEATURE}};
constexpr auto kFirstMalformed = static_cast<std::int32_t>(Code::kNotRegular);
constexpr const char* kMalformedText = "bytes that the format of filter files forbids";

std::uint32_t rule_of(Code code) noexcept {
  return number_of(code) == BFS_EMALFORMED
             ? static_cast<std::uint32_t>(kFirstMalformed - static_cast<std::int32_t>(code))
             : 0;
}

// The code of C++ that a number of C stands for alone.
Code code_of(std::int32_t number) noexcept {
  const auto* found = std::find_if(std::begin(kRenamed), std::end(kRenamed),
                                   [number](const Renamed& row) { return row.number == number; });
  if (found != std::end(kRenamed)) return found->code;
  return number > kFirstMalformed ? static_cast<Code>(number) : Code{1};
}

}  // namespace

std::int32_t number_of(Code code) noexcept {
  const auto number = static_cast<std::int32_t>(code);
  if (number > kFirstMalformed) return number;
  const auto* found =
      std::find_if(std::begin(kRenamed), std::end(kRenamed), [code](const Renamed& row) { return row.code == code; });
  return found == std::end(kRenamed) ? BFS_EMALFORMED : found->number;
}

std::int32_t report(bfs_error* to, Code code, int os_errno, std::string_view message) noexcept {
  const std::uint32_t struct_bytes = to == nullptr ? 0 : size_said_by(to);
  if (!possible_size<bfs_error>(struct_bytes)) return number_of(code);
  bfs_error known{};
  known.code = number_of(code);
  known.os_errno = os_errno != 0 ? os_errno : bfstore::natural_errno(code);
  known.rule = rule_of(code);
  const std::size_t room = std::min<std::size_t>(struct_bytes, sizeof known) - offsetof(bfs_error, message);
  write_message(known.message, room, message);
  fill_struct(to, known);
  return known.code;
}

std::int32_t report(bfs_error* to, const Error& error) noexcept {
  return error.ok() ? BFS_OK : report(to, error.code, error.os_errno, error.message);
}

std::int32_t invalid(bfs_error* to, const std::string& message) noexcept {
  return report(to, Code::kInvalid, 0, message);
}

}  // namespace capi

const char* bfs_version(void) { return bfstore::version(); }

const char* bfs_code_name(int32_t code) {
  if (code == BFS_EMALFORMED) return "BFS_EMALFORMED";
  const char* name = bfstore::code_name(capi::code_of(code));
  return name == nullptr ? "BFS_E?" : name;
}

const char* bfs_strerror(int32_t code) {
  return code == BFS_EMALFORMED ? capi::kMalformedText : bfstore::code_text(capi::code_of(code));
}
