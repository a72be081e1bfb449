// The table of codes.
#include <bfstore/bfstore.hpp>

#include <array>
#include <cerrno>

namespace bfstore {
namespace {

struct CodeRow {
  Code code;
  const char* name;
  const char* text;
  int natural_errno = 0;
};

constexpr std::array kCodes{
    CodeRow{Code::kOk, "BFS_OK", "no error"},
    CodeRow{Code::kInvalid, "BFS_EINVAL", "an argument is out of range or contradicts another", EINVAL},
    CodeRow{Code::kNoMemory, "BFS_ENOMEM", "out of memory", ENOMEM},
    CodeRow{Code::kSystem, "BFS_ESYSTEM", "a system call failed"},
    CodeRow{Code::kBusy, "BFS_EBUSY",
            "another process or handle holds a lock of the file, or has it open in a way that excludes this", EBUSY},
    CodeRow{Code::kExists, "BFS_EEXIST", "the file exists already", EEXIST},
    CodeRow{Code::kNotFound, "BFS_ENOENT", "no such file", ENOENT},
    CodeRow{Code::kAccess, "BFS_EACCES", "permission denied", EACCES},
    CodeRow{Code::kReadOnly, "BFS_EREADONLY", "the filter was opened for reading; open it for writing", EBADF},
    CodeRow{Code::kNoSpace, "BFS_ENOSPC", "no space left, or the quota or file size limit is reached", ENOSPC},
    CodeRow{Code::kOwners, "BFS_EOWNERS", "all 64 lanes for owners of marks are taken"},
    CodeRow{Code::kDigestOnly, "BFS_EDIGESTONLY", "the filter's hash is external: it takes digests, not keys"},
    CodeRow{Code::kSizing, "BFS_ESIZING", "no number of bits and probes gives the rate or the size that was asked for"},
    CodeRow{Code::kInternal, "BFS_EINTERNAL", "internal error: a bug in bfstore"},
    CodeRow{Code::kUnsupported, "BFS_EUNSUPPORTED", "the filter's layout cannot do this", EOPNOTSUPP},
    CodeRow{Code::kUnclean, "BFS_EUNCLEAN",
            "the file was not closed cleanly: a power cut, a writer killed in a sync, or a copy of a file in use"},
    CodeRow{Code::kPoisoned, "BFS_EPOISONED",
            "a sync of the file did not end: a process was killed in it, or the disk refused a write", EIO},
    CodeRow{Code::kLost, "BFS_ELOST", "the file was truncated, overwritten or zero-filled while it was in use"},
    CodeRow{Code::kRecovering, "BFS_ERECOVERING", "a recovery of the file was begun and is not finished"},
    CodeRow{Code::kSuperseded, "BFS_ESUPERSEDED",
            "another file replaced this one, or is replacing it; open the path again", ESTALE},
    CodeRow{Code::kForked, "BFS_EFORKED", "the filter was opened before a fork; open it again in the child"},
    CodeRow{Code::kFilesystem, "BFS_EFILESYSTEM",
            "the file is on a network filesystem or a read-only overlay, which may show readers an older file",
            EOPNOTSUPP},
    CodeRow{Code::kFull, "BFS_EFULL",
            "the filter is at its capacity, and this handle has a limit; build one for the most keys that may come"},
    CodeRow{Code::kSecret, "BFS_ESECRET", "the secret is missing, is not the filter's own, or the filter has none"},
    CodeRow{Code::kShut, "BFS_ESHUT", "the handle was shut; open the path again", EBADF},
    CodeRow{Code::kMismatch, "BFS_EMISMATCH", "the filters differ in layout, hash, seed, probes, bits or part", EINVAL},
    CodeRow{Code::kKeyOnly, "BFS_EKEYONLY", "the filter's hash gives no digests: it takes keys alone"},
    CodeRow{Code::kPart, "BFS_EPART", "the key belongs to another part of the whole filter; ask that part"},
    CodeRow{Code::kFault, "BFS_EFAULT",
            "a page of the file could not be read, or the file was truncated; every answer is maybe", EIO},
    CodeRow{Code::kSealed, "BFS_ESEALED", "the file is sealed: it is never written to again", EROFS},
    CodeRow{Code::kNotSealed, "BFS_ENOTSEALED", "the file is not sealed, so it has no checksums"},
    CodeRow{Code::kDamaged, "BFS_EDAMAGED", "the sealed file is damaged: its bytes do not match its checksums", EIO},
    CodeRow{Code::kFilling, "BFS_EFILLING", "the filter is still being filled, so every answer is maybe"},
    CodeRow{Code::kLater, "BFS_ELATER", "a later version has the file in a state that this one does not know"},
    CodeRow{Code::kNotRegular, "BFS_ENOTREGULAR", "not a regular file"},
    CodeRow{Code::kSymlink, "BFS_ESYMLINK", "a symbolic link", ELOOP},
    CodeRow{Code::kTooShort, "BFS_ETOOSHORT", "shorter than the header of a filter"},
    CodeRow{Code::kMagic, "BFS_EMAGIC", "not a bfstore file"},
    CodeRow{Code::kVersion, "BFS_EVERSION", "a later version of the format"},
    CodeRow{Code::kForm, "BFS_EFORM",
            "an embedded filter where a file is expected, or a file where an embedded filter is expected"},
    CodeRow{Code::kHeaderSize, "BFS_EHEADERSIZE", "the header's length is impossible"},
    CodeRow{Code::kChecksum, "BFS_ECHECKSUM", "the header's checksum does not match"},
    CodeRow{Code::kReserved, "BFS_ERESERVED", "reserved bytes of the header are not zero"},
    CodeRow{Code::kFeature, "BFS_EFEATURE", "the file needs a feature that this version does not know"},
    CodeRow{Code::kLayout, "BFS_ELAYOUT", "unknown layout"},
    CodeRow{Code::kHash, "BFS_EHASH", "unknown hash"},
    CodeRow{Code::kProbes, "BFS_EPROBES", "the number of probes is not in 1 to 64"},
    CodeRow{Code::kBits, "BFS_EBITS", "the number of bits is impossible"},
    CodeRow{Code::kCapacity, "BFS_ECAPACITY", "the capacity or the false-positive rate is impossible"},
    CodeRow{Code::kBody, "BFS_EBODY", "the body's place or length is impossible"},
    CodeRow{Code::kRecord, "BFS_ERECORD", "a parameter record is malformed, or critical and unknown"},
    CodeRow{Code::kCanary, "BFS_ECANARY",
            "this library's hash function differs from that of the library that made the file"},
    CodeRow{Code::kSlots, "BFS_ESLOTS", "no state slot is valid"},
    CodeRow{Code::kLiveWord, "BFS_ELIVEWORD", "the live word or the end word is not the file's own"},
};

const CodeRow* find_code(Code code) noexcept {
  for (const CodeRow& row : kCodes) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace

const char* version() noexcept { return BFSTORE_VERSION; }

const char* code_name(Code code) noexcept {
  const CodeRow* row = find_code(code);
  return row == nullptr ? nullptr : row->name;
}

int natural_errno(Code code) noexcept {
  const CodeRow* row = find_code(code);
  return row == nullptr ? 0 : row->natural_errno;
}

const char* code_text(Code code) noexcept {
  const CodeRow* row = find_code(code);
  return row == nullptr ? "unknown error code" : row->text;
}

}  // namespace bfstore
