// The base room: arithmetic, bytes, and errors with their codes.
#include <cstring>
#include <set>
#include <vector>

#include "base/arith.hpp"
#include "base/bytes.hpp"
#include "base/fail.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

// Names every code. A code that is missing here is an error of -Wswitch.
const char* expected_name(Code code) {
  switch (code) {
    case Code::kOk:
      return "BFS_OK";
    case Code::kInvalid:
      return "BFS_EINVAL";
    case Code::kNoMemory:
      return "BFS_ENOMEM";
    case Code::kSystem:
      return "BFS_ESYSTEM";
    case Code::kBusy:
      return "BFS_EBUSY";
    case Code::kExists:
      return "BFS_EEXIST";
    case Code::kNotFound:
      return "BFS_ENOENT";
    case Code::kAccess:
      return "BFS_EACCES";
    case Code::kReadOnly:
      return "BFS_EREADONLY";
    case Code::kNoSpace:
      return "BFS_ENOSPC";
    case Code::kUnsupported:
      return "BFS_EUNSUPPORTED";
    case Code::kOwners:
      return "BFS_EOWNERS";
    case Code::kDigestOnly:
      return "BFS_EDIGESTONLY";
    case Code::kKeyOnly:
      return "BFS_EKEYONLY";
    case Code::kPart:
      return "BFS_EPART";
    case Code::kSizing:
      return "BFS_ESIZING";
    case Code::kInternal:
      return "BFS_EINTERNAL";
    case Code::kUnclean:
      return "BFS_EUNCLEAN";
    case Code::kPoisoned:
      return "BFS_EPOISONED";
    case Code::kLost:
      return "BFS_ELOST";
    case Code::kRecovering:
      return "BFS_ERECOVERING";
    case Code::kSuperseded:
      return "BFS_ESUPERSEDED";
    case Code::kForked:
      return "BFS_EFORKED";
    case Code::kFilesystem:
      return "BFS_EFILESYSTEM";
    case Code::kFull:
      return "BFS_EFULL";
    case Code::kSecret:
      return "BFS_ESECRET";
    case Code::kMismatch:
      return "BFS_EMISMATCH";
    case Code::kShut:
      return "BFS_ESHUT";
    case Code::kFault:
      return "BFS_EFAULT";
    case Code::kSealed:
      return "BFS_ESEALED";
    case Code::kNotSealed:
      return "BFS_ENOTSEALED";
    case Code::kDamaged:
      return "BFS_EDAMAGED";
    case Code::kFilling:
      return "BFS_EFILLING";
    case Code::kLater:
      return "BFS_ELATER";
    case Code::kNotRegular:
      return "BFS_ENOTREGULAR";
    case Code::kSymlink:
      return "BFS_ESYMLINK";
    case Code::kTooShort:
      return "BFS_ETOOSHORT";
    case Code::kMagic:
      return "BFS_EMAGIC";
    case Code::kVersion:
      return "BFS_EVERSION";
    case Code::kForm:
      return "BFS_EFORM";
    case Code::kHeaderSize:
      return "BFS_EHEADERSIZE";
    case Code::kChecksum:
      return "BFS_ECHECKSUM";
    case Code::kReserved:
      return "BFS_ERESERVED";
    case Code::kFeature:
      return "BFS_EFEATURE";
    case Code::kLayout:
      return "BFS_ELAYOUT";
    case Code::kHash:
      return "BFS_EHASH";
    case Code::kProbes:
      return "BFS_EPROBES";
    case Code::kBits:
      return "BFS_EBITS";
    case Code::kCapacity:
      return "BFS_ECAPACITY";
    case Code::kBody:
      return "BFS_EBODY";
    case Code::kRecord:
      return "BFS_ERECORD";
    case Code::kCanary:
      return "BFS_ECANARY";
    case Code::kSlots:
      return "BFS_ESLOTS";
    case Code::kLiveWord:
      return "BFS_ELIVEWORD";
  }
  return nullptr;
}

}  // namespace

TEST_CASE("at most seven bytes are the lowest ones of a word, and the bytes around them do not matter") {
  constexpr unsigned char kAround[] = {0xff, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0xff};
  const auto* const bytes = reinterpret_cast<const std::byte*>(kAround);
  for (std::size_t count = 0; count < 8; ++count) {
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) expected |= std::uint64_t{kAround[1 + i]} << 8 * i;
    CHECK(base::load_rest(bytes + 1, count) == expected);
  }
  CHECK(base::load_rest(nullptr, 0) == 0);
}

TEST_CASE("clear() zeros its bytes, and no others, wherever one is not zero") {
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{4095}, std::size_t{4096}, std::size_t{12289}}) {
    for (std::size_t dirty = 0; dirty < length; dirty += dirty % 4096 == 1 ? 4093 : 1) {
      std::vector<std::byte> bytes(length + 2);
      bytes.front() = bytes.back() = bytes[1 + dirty] = std::byte{1};
      base::clear({bytes.data() + 1, length});
      std::vector<std::byte> expected(length + 2);
      expected.front() = expected.back() = std::byte{1};
      REQUIRE(bytes == expected);
    }
  }
}

TEST_CASE("rounding to a unit that is a power of two keeps its multiples") {
  for (const std::uint64_t unit : {1U, 8U, 64U, 512U, 4096U}) {
    for (std::uint64_t value = 0; value < 3 * unit + 2; ++value) {
      REQUIRE(base::round_down(value, unit) == value / unit * unit);
      REQUIRE(base::round_up(value, unit) == (value + unit - 1) / unit * unit);
    }
  }
  CHECK(base::round_down(kMost, 4096) == kMost - 4095);
  CHECK(base::round_up(kMost - 4095, 4096) == kMost - 4095);
}

TEST_CASE("loads and stores are little-endian at any address") {
  for (std::size_t at = 0; at < 9; ++at) {
    std::array<std::byte, 24> bytes{};
    bytes.fill(std::byte{0xee});
    base::store(bytes.data() + at, std::uint64_t{0x0807060504030201});
    for (std::size_t i = 0; i < 8; ++i) REQUIRE(bytes[at + i] == std::byte(i + 1));
    REQUIRE(bytes[at + 8] == std::byte{0xee});
    CHECK(base::load<std::uint64_t>(bytes.data() + at) == 0x0807060504030201);
    CHECK(base::load<std::uint32_t>(bytes.data() + at) == 0x04030201);
    CHECK(base::load<std::uint16_t>(bytes.data() + at + 1) == 0x0302);
    CHECK(base::load<std::uint8_t>(bytes.data() + at + 7) == 8);
    base::store(bytes.data() + at, std::uint16_t{0xabcd});
    CHECK(bytes[at] == std::byte{0xcd});
    CHECK(bytes[at + 1] == std::byte{0xab});
    CHECK(bytes[at + 2] == std::byte{3});
  }
}

TEST_CASE("printable escapes everything but printable ASCII, and a backslash") {
  CHECK(base::printable("") == "");
  CHECK(base::printable("plain text ~") == "plain text ~");
  CHECK(base::printable(std::string_view("a\0b\n\x1b[31m", 9)) == "a\\x00b\\x0a\\x1b[31m");
  CHECK(base::printable("back\\slash") == "back\\x5cslash");
  CHECK(base::printable("\x7f\x80\xff") == "\\x7f\\x80\\xff");
  CHECK(base::printable("f\xc3\xbcr") == "f\\xc3\\xbcr");
}

TEST_CASE("printable escapes every byte that a terminal could act on") {
  for (int c = 0; c < 256; ++c) {
    const std::string shown = base::printable(std::string(1, static_cast<char>(c)));
    for (const char shown_char : shown) REQUIRE((shown_char >= 0x20 && shown_char < 0x7f));
    REQUIRE(shown.size() == (c >= 0x20 && c < 0x7f && c != '\\' ? 1 : 4));
  }
}

TEST_CASE("printable cuts at its limit and says so") {
  CHECK(base::printable("abcdef", 6) == "abcdef");
  CHECK(base::printable("abcdef", 5) == "abcde...");
  CHECK(base::printable("abcdef", 0) == "...");
  CHECK(base::printable(std::string(64, 'x')) == std::string(64, 'x'));
  CHECK(base::printable(std::string(65, 'x')) == std::string(64, 'x') + "...");
}

TEST_CASE("every code has its name and a text of its own, and no other number has") {
  std::set<std::string> names;
  std::set<std::string> texts;
  const std::string unknown = code_text(static_cast<Code>(-1000));
  for (int number = -300; number <= 20; ++number) {
    const Code code = static_cast<Code>(number);
    const char* expected = expected_name(code);
    CAPTURE(number);
    if (expected == nullptr) {
      CHECK(code_name(code) == nullptr);
      CHECK(code_text(code) == unknown);
      continue;
    }
    REQUIRE(code_name(code) != nullptr);
    CHECK(std::string(code_name(code)) == expected);
    CHECK(names.insert(code_name(code)).second);
    CHECK(texts.insert(code_text(code)).second);
    CHECK(code_text(code) != unknown);
  }
  CHECK(names.size() == 54);
}

TEST_CASE("a message gets its next sentence with one period between them") {
  CHECK(base::sentences("x: syncing: No space left", "Free some.") == "x: syncing: No space left. Free some.");
  CHECK(base::sentences("x: truncated. Rebuild it.", "It is poisoned.") == "x: truncated. Rebuild it. It is poisoned.");
}

TEST_CASE("an errno becomes its code, with the path, the operation and the system's words") {
  const Error error = base::fail_errno(ENOSPC, "/data/users.bf", "allocating 64 bytes on disk");
  CHECK(error.code == Code::kNoSpace);
  CHECK(error.os_errno == ENOSPC);
  CHECK(error.message ==
        "/data/users.bf: allocating 64 bytes on disk: No space left on device. "
        "Free some space, or use another disk.");
  CHECK(base::fail_errno(EIO, "", "syncing").message == std::string("syncing: ") + std::strerror(EIO));
  const std::array<std::pair<int, Code>, 12> codes{{{ENOENT, Code::kNotFound},
                                                    {ENOTDIR, Code::kNotFound},
                                                    {EACCES, Code::kAccess},
                                                    {EPERM, Code::kAccess},
                                                    {EROFS, Code::kAccess},
                                                    {EEXIST, Code::kExists},
                                                    {EDQUOT, Code::kNoSpace},
                                                    {EFBIG, Code::kNoSpace},
                                                    {ENOMEM, Code::kNoMemory},
                                                    {EIO, Code::kSystem},
                                                    {EMFILE, Code::kSystem},
                                                    {EINVAL, Code::kSystem}}};
  for (const auto& [os_errno, code] : codes) CHECK(base::fail_errno(os_errno, "x", "y").code == code);
}

TEST_CASE("the message of an errno that a caller can mend says how") {
  for (const int mendable :
       {ENOSPC, EDQUOT, EFBIG, EACCES, EPERM, EROFS, EMFILE, ENFILE, ENOMEM, ENOTDIR, ELOOP, ENAMETOOLONG}) {
    const std::string message = base::fail_errno(mendable, "x", "y").message;
    CHECK_MESSAGE((message.find(". ") != std::string::npos && message.ends_with('.')), message);
  }
  CHECK_FALSE(base::fail_errno(EIO, "x", "y").message.ends_with('.'));
}

TEST_CASE("a Result holds a value or an error, a Count keys or a code") {
  const Result<int> good(7);
  CHECK(good.ok());
  CHECK(*good == 7);
  const Result<int> bad(base::fail(Code::kBusy, "busy"));
  CHECK_FALSE(bad);
  CHECK(bad.error().code == Code::kBusy);
  CHECK(Error{}.ok());

  CHECK(Count(std::uint64_t{0}).ok());
  CHECK(Count(std::uint64_t{5}).keys() == 5);
  CHECK(Count(std::uint64_t{5}).code() == Code::kOk);
  CHECK(Count(std::uint64_t{5}).raw() == 5);
  CHECK_FALSE(Count(Code::kReadOnly).ok());
  CHECK(Count(Code::kReadOnly).code() == Code::kReadOnly);
  CHECK(Count(Code::kReadOnly).raw() == -8);
  CHECK(Count(Code::kOk).ok());
}
