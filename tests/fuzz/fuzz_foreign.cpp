// Takes any bytes as another program's filter: inspects them as a whole and prefixes of them, imports them, exports
// them again, and asks them in place. The input's first byte chooses the format and its order of bits, or the hash; for
// an array its m and k follow. Or it says that the names of the format and of a column follow, each with a zero byte,
// and the number of the hash. The rest are the bytes. They are at the end of their allocation, so that the address
// sanitizer sees a read after them.
#include <bfstore_interop.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "support.hpp"

namespace {

using fuzz::check;
using fuzz::Input;

constexpr std::uint64_t kMostFileBytes = 1 << 16;  // larger filters are inspected alone

// A copy in an allocation of exactly its length.
class Copy {
 public:
  explicit Copy(Input bytes) : bytes_(new std::uint8_t[bytes.size()]), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), bytes_.get());
  }
  [[nodiscard]] const std::uint8_t* data() const noexcept { return bytes_.get(); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::uint64_t size_;
};

constexpr std::uint64_t kMaking = BFS_UNPUBLISHED;

struct Case {
  bfs_foreign_form form = BFS_FOREIGN_FORM_INIT;
  bfs_options options = BFS_OPTIONS_INIT;
  std::string format{}, column{};  // where the form points
};

std::string text_of(fuzz::Bytes& input) {
  std::string text;
  while (const char letter = static_cast<char>(input.u8())) text += letter;
  return text;
}

void choose_by_name(Case& made, fuzz::Bytes& input) {
  made.format = text_of(input);
  made.column = text_of(input);
  made.options.hash = input.u8();
  made.form.format = made.format.c_str();
  made.form.column = made.column.empty() ? nullptr : made.column.c_str();
}

void choose(Case& made, fuzz::Bytes& input) {
  const unsigned choice = input.u8();
  if ((choice & 8) != 0) return choose_by_name(made, input);
  made.form.format = (choice & 1) == 0 ? "jaybird" : "raw";
  if ((choice & 1) == 0) {
    made.options.hash = (choice & 2) == 0 ? BFS_HASH_JAYBIRD : (choice & 4) == 0 ? 0 : BFS_HASH_PYBLOOM_LIVE;
    return;
  }
  made.form.order = (choice & 2) == 0 ? BFS_BITS_LITTLE : BFS_BITS_BIG;
  made.options.hash = BFS_HASH_MURMUR3;
  made.options.num_bits = input.u16();
  made.options.num_probes = input.u8();
}

// True if only all of the bytes tell what they are, or the bytes may have several filters.
bool needs_all(const bfs_foreign& told) { return told.bytes == 0 && told.num_bits != 0; }

std::int32_t inspected(const Case& given, const Copy& bytes, const bfs_options* options, bfs_foreign& told,
                       std::uint32_t* rule = nullptr) {
  bfs_error error = fuzz::no_error();
  const std::uint64_t flags = options == nullptr ? 0 : kMaking;
  const std::int32_t code = bfs_foreign_inspect(&given.form, bytes.data(), bytes.size(), flags, options, &told, &error);
  if (rule != nullptr) *rule = error.rule;
  fuzz::check_code(code, "bfs_foreign_inspect");
  check(code == BFS_OK || (error.code == code && error.message[0] != 0), "a message");
  return code;
}

bool equal(const bfs_foreign& one, const bfs_foreign& other) { return std::memcmp(&one, &other, sizeof one) == 0; }

// Checks that the first bytes, inspected alone, say the same as all bytes. Where they have to be all, only asks.
void inspect_parts(const Case& given, Input bytes, std::int32_t code, const bfs_foreign& told) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{39}, std::size_t{40}, bytes.size() / 2}) {
    if (size > bytes.size()) continue;
    bfs_foreign first = BFS_FOREIGN_INIT;
    std::uint32_t rule = 0;
    const std::int32_t part = inspected(given, Copy(bytes.first(size)), nullptr, first, &rule);
    if (!given.format.empty()) continue;
    if (fuzz::in_c(bfstore::Code::kTooShort) != std::pair(part, rule))
      check(part == code && (part != BFS_OK || equal(first, told)), "the same told", part);
  }
}

std::vector<std::uint8_t> exported(const bfs_filter* filter, const bfs_foreign_form& form) {
  const std::int64_t bytes = bfs_foreign_export(filter, &form, nullptr, 0, nullptr);
  check(bytes >= 0, "how many bytes", bytes);
  std::vector<std::uint8_t> made(static_cast<std::size_t>(bytes));
  check(bfs_foreign_export(filter, &form, made.data(), made.size(), nullptr) == bytes, "the bytes");
  return made;
}

// Checks that both have the same array of bits, whatever is before it.
void check_same_bits(const bfs_filter* filter, const Case& given, const Copy& bytes, const bfs_foreign& made) {
  bfs_foreign_form raw = given.form;
  raw.format = "raw";
  if (raw.order == 0) raw.order = BFS_BITS_LITTLE;
  const std::vector<std::uint8_t> bits = exported(filter, raw);
  check(bits.size() == (made.num_bits + 7) / 8 && bits.size() <= bytes.size(), "an array of m bits");
  check(std::equal(bits.rbegin(), bits.rend(), std::reverse_iterator(bytes.data() + bytes.size())), "the same bits");
}

bfs_filter* imported(const Case& given, const Copy& bytes, const bfs_foreign& made) {
  bfs_error error = fuzz::no_error();
  bfs_filter* filter = nullptr;
  const std::string path = fuzz::scratch("imported");
  const std::int32_t code = bfs_foreign_import(path.c_str(), &given.form, bytes.data(), bytes.size(), kMaking,
                                               &given.options, &filter, &error);
  fuzz::made(code, filter, error);
  if (made.bytes != 0 && made.bytes != bytes.size())
    check(code == BFS_EMALFORMED || code == BFS_EINVAL, "another length is refused", code);
  return filter;
}

// Opens the same bytes in place, in a file; BFS_EUNSUPPORTED if they have the array as text. A change of it would be
// "maybe", so the handle asks a copy: the mapping has other tests.
bfs_filter* opened(const Case& given, const Copy& bytes, bool can_be_imported) {
  const std::string path = fuzz::scratch("foreign");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const char* name = nullptr;
  fuzz::check_code(bfs_foreign_recognize(path.c_str(), 0, 0, &name, nullptr), "bfs_foreign_recognize");
  bfs_error error = fuzz::no_error();
  bfs_filter* filter = nullptr;
  const std::int32_t code = bfs_foreign_open(path.c_str(), &given.form, BFS_PRIVATE, &given.options, &filter, &error);
  fuzz::made(code, filter, error);
  if (can_be_imported)
    check(code == BFS_OK || code == BFS_EUNSUPPORTED, "what can be imported is asked in place", code);
  return filter;
}

std::int32_t answer(const bfs_filter* filter, std::size_t number) {
  const std::string& key = fuzz::key(number);
  return bfs_contains(filter, key.data(), key.size());
}

// In place every key gets the answer that it gets from the import of the only filter.
void ask_both(const bfs_filter* there, const bfs_filter* import) {
  for (std::size_t number = 0; there != nullptr && number < fuzz::kKeys; ++number) {
    const std::int32_t maybe = answer(there, number);
    check(maybe == 0 || maybe == 1, "an answer", maybe);
    if (import != nullptr) check(answer(import, number) == maybe, "the answer of the import", maybe);
  }
}

// A format whose bits are not turned has the import's array in its bytes.
void use(const Case& given, const Copy& bytes, const bfs_foreign& made) {
  bfs_filter* const import = imported(given, bytes, made);
  bfs_filter* const there = opened(given, bytes, import != nullptr);
  ask_both(there, import);
  if (import != nullptr && given.format.empty()) check_same_bits(import, given, bytes, made);
  check(bfs_close(import, nullptr) == BFS_OK && bfs_close(there, nullptr) == BFS_OK, "closed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input whole(data, size);
  fuzz::Bytes input(whole);
  Case given;
  choose(given, input);
  const Input rest = input.take(size);
  const Copy bytes(rest);
  bfs_foreign told = BFS_FOREIGN_INIT;
  const std::int32_t code = inspected(given, bytes, nullptr, told);
  inspect_parts(given, rest, code, told);
  bfs_foreign made = BFS_FOREIGN_INIT;
  const std::int32_t code_of_options = inspected(given, bytes, &given.options, made);
  if (code != BFS_OK) check(code_of_options == code, "the bytes are refused first", code_of_options);
  if (code_of_options != BFS_OK) return 0;
  check(made.needs == told.needs && made.hash != 0 && made.num_bits != 0 && (made.bytes != 0 || needs_all(made)),
        "what would be made");
  check(told.num_bits == 0 || (told.num_bits == made.num_bits && told.num_probes == made.num_probes), "the same shape");
  if (made.num_bits <= 8 * kMostFileBytes || (made.bytes != 0 && made.bytes != bytes.size())) use(given, bytes, made);
  return 0;
}
