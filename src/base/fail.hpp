// Makes Errors: the code, the errno, and a message from its parts.
#pragma once

#include <bfstore/error.hpp>

#include <cerrno>
#include <string>
#include <string_view>

namespace bfstore::base {

// Returns at most `most` bytes of an untrusted string, with everything but printable ASCII escaped.
std::string printable(std::string_view bytes, std::size_t most = 64);

inline Error fail(Code code, std::string message) { return Error{code, 0, std::move(message)}; }

// Returns "FIRST. SECOND": what failed, then what that means and what to do. FIRST may end with a period already.
std::string sentences(std::string first, std::string_view second);

// The end of a message about a damaged file. A plain copy that is put back lacks later keys, unless the file is sealed.
inline constexpr const char* kRebuild = " Rebuild it, or put a copy back by the three steps of bf copy --help.";
inline constexpr const char* kRestoreSealed =
    " Rebuild it, or put an undamaged copy of this same sealed file in its place (bf seal COPY FILE --force)";

// For a system call that failed: "PATH: WHAT: No space left on device. Free some space, ...". The errno decides the
// code if one exists for it (kNotFound, kAccess, kNoSpace, ...). Otherwise the code is kSystem.
Error fail_errno(int os_errno, const std::string& path, std::string_view what);

}  // namespace bfstore::base
