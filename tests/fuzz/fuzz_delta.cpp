// Applies changed deltas to the file that they are for. Nothing is made, or a file that has every key of the earlier
// file: its bits, and exactly as many more as the delta says. If its body is that of the later file, it has every key
// of that one, too. An input changes the delta of two files that are always the same:
//
//   u8       which files (kFiles), and what is made right and how it is applied (kReplace ... kRightRecord)
//   u8, ...  how many bytes of the delta are changed, and for each a u16 offset and the bits that are flipped
//   ...      the codes, instead of the delta's own, if there are any (kOwnCodes)
//
// The checksum of the header is always right.
#include <bfstore/bfstore.hpp>
#include <bfstore/delta.hpp>

#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "format/delta.hpp"
#include "hash/hash.hpp"
#include "image.hpp"

namespace {

namespace format = bfstore::format;
using bfstore::Code;
using bfstore::Filter;
using bfstore::Hash;
using bfstore::Layout;
using fuzz::check;
using Bytes = std::vector<std::byte>;

constexpr unsigned kFiles = 3;
constexpr unsigned kReplace = 4;       // the new file replaces the earlier one
constexpr unsigned kOwnCodes = 8;      // the input has the codes
constexpr unsigned kRightCodes = 16;   // their length and their checksum
constexpr unsigned kRightClaims = 32;  // the number of new bits and the checksum of the body that the codes make
constexpr unsigned kRightRecord = 64;  // the canary and the checksum of the later file's identity

constexpr std::size_t kFirst = fuzz::kKeys / 2;  // keys of the earlier file; the later one has all

Bytes read(const std::string& path) {
  Bytes bytes(std::filesystem::file_size(path));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  check(file.good(), "a file that can be read");
  return bytes;
}

void write(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  check(file.flush().good(), "a file");
}

// Returns the body of a filter file.
std::span<std::byte> body_of(Bytes& file, std::uint64_t body_bytes) {
  const std::uint64_t offset = format::body_offset_in_file(body_bytes);
  check(file.size() >= offset + body_bytes, "a file with a body", static_cast<std::int64_t>(file.size()));
  return std::span(file).subspan(offset, body_bytes);
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t checksum = 0;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(format::kDeltaPieceBytes, bytes.size())))
    checksum = format::next_checksum(checksum, bytes.first(std::min(format::kDeltaPieceBytes, bytes.size())));
  return checksum;
}

// Two states of a filter, and their delta.
struct Files {
  std::string before;
  Bytes before_bytes;
  Bytes delta;
  std::vector<std::byte> old_body, new_body;

  Files(unsigned number, Layout layout, Hash hash, std::uint64_t num_bits)
      : before(fuzz::scratch("before" + std::to_string(number))) {
    const std::string after = fuzz::scratch("after"), made = fuzz::scratch("delta");
    std::uint64_t body_bytes = 0;
    for (const bool later : {false, true}) {
      bfstore::Options options;
      options.layout = layout;
      options.hash = hash;
      options.num_bits = num_bits;
      options.num_probes = 5;
      options.file_id = bfstore::FileId{static_cast<std::uint8_t>(number + 1), later};
      if (hash == Hash::kXxh3) options.seed = number;
      options.note = "of a fuzzer";
      auto filter = Filter::create(later ? after : before, options);
      check(filter.ok(), "a filter");
      for (std::size_t i = 0; i < (later ? fuzz::kKeys : kFirst); ++i)
        check((hash == Hash::kExternal ? filter->add_digest(fuzz::digest(i)) : filter->add(fuzz::key(i))).ok(),
              "a key");
      check(filter->sync({.owner = 3, .mark = 4}).ok(), "a mark");
      body_bytes = filter->stats().body_bytes;
      check(filter->close().ok(), "a file");
    }
    const bfstore::Error error = bfstore::make_delta(before, after, made);
    check(error.ok(), error.message.c_str());
    delta = read(made);
    before_bytes = read(before);
    Bytes after_bytes = read(after);
    const auto old_part = body_of(before_bytes, body_bytes), new_part = body_of(after_bytes, body_bytes);
    old_body.assign(old_part.begin(), old_part.end());
    new_body.assign(new_part.begin(), new_part.end());
    std::filesystem::remove(after);
    std::filesystem::remove(made);
  }
};

Files& files_of(unsigned number) {
  constexpr std::uint64_t kPieceBits = format::kDeltaPieceBytes * 8;
  static Files all[] = {{0, Layout::kBlocked, Hash::kXxh3, 1 << 13},
                        {1, Layout::kClassic, Hash::kExternal, 1000},
                        {2, Layout::kBlocked, Hash::kXxh3, 512},
                        {3, Layout::kClassic, Hash::kXxh3, kPieceBits + 777}};
  return all[number % std::size(all)];
}

template <class T>
T get(const Bytes& delta, const format::Field& field) {
  return format::get<T>(delta, field);
}

// Returns where the codes begin, as the header says.
std::size_t codes_offset(const Bytes& delta) {
  return std::min<std::size_t>(get<std::uint32_t>(delta, format::kDeltaHeaderBytesField), delta.size());
}

// Returns how many bits the codes set in the body, as far as they are codes.
std::uint64_t set_all(const Bytes& delta, std::vector<std::byte>& body) {
  std::uint64_t num_bits = 0;
  for (std::size_t at = codes_offset(delta); at + format::kCodeHeaderBytes <= delta.size();) {
    const auto left = std::span(delta).subspan(at);
    const format::PieceCode code = format::decode_piece_header(left.first(format::kCodeHeaderBytes));
    const std::uint64_t begin = std::uint64_t{code.piece} * format::kDeltaPieceBytes;
    if (code.code_bytes > left.size() - format::kCodeHeaderBytes || begin >= body.size()) break;
    format::CodedBits coded = code.coded;
    coded.code = left.subspan(format::kCodeHeaderBytes, code.code_bytes);
    const auto piece = std::span(body).subspan(begin, std::min(format::kDeltaPieceBytes, body.size() - begin));
    if (!format::set_coded(piece, coded)) break;
    num_bits += coded.num_bits;
    at += format::kCodeHeaderBytes + code.code_bytes;
  }
  return num_bits;
}

void make_record_right(Bytes& delta) {
  const std::size_t length = get<std::uint32_t>(delta, format::kDeltaIdentityBytesField);
  if (length < format::kLeastEmbeddedHeader || length > delta.size() - format::kDeltaIdentityOffset) return;
  const auto record = std::span(delta).subspan(format::kDeltaIdentityOffset, length);
  fuzz::put_right_canary(record);
  const std::size_t covered = length - format::kChecksumBytes;
  bfstore::base::store(record.data() + covered, bfstore::hash::xxh3(record.data(), covered, 0));
}

Bytes changed(const Files& files, unsigned how, fuzz::Bytes& input) {
  Bytes delta = files.delta;
  for (unsigned count = input.u8(); count > 0 && !input.empty(); --count) {
    const std::size_t at = input.u16() % delta.size();
    delta[at] ^= std::byte{input.u8()};
  }
  if ((how & kOwnCodes) != 0) {
    delta.resize(codes_offset(files.delta));
    const fuzz::Input codes = input.take(SIZE_MAX);
    const auto* const begin = reinterpret_cast<const std::byte*>(codes.data());
    delta.insert(delta.end(), begin, begin + codes.size());
  }
  const std::size_t codes = codes_offset(delta);
  if ((how & kRightCodes) != 0) {
    format::put<std::uint64_t>(delta, format::kDeltaCodesBytesField, delta.size() - codes);
    format::put(delta, format::kDeltaCodesChecksumField, checksum_of(std::span(delta).subspan(codes)));
  }
  if ((how & kRightClaims) != 0) {
    std::vector<std::byte> body = files.old_body;
    format::put(delta, format::kDeltaNumBitsField, set_all(delta, body));
    format::put(delta, format::kDeltaAfterChecksumField, checksum_of(body));
  }
  if ((how & kRightRecord) != 0) make_record_right(delta);
  if (codes >= format::kDeltaIdentityOffset)
    bfstore::base::store(delta.data() + codes - format::kChecksumBytes,
                         bfstore::hash::xxh3(delta.data(), codes - format::kChecksumBytes, 0));
  return delta;
}

std::uint64_t bits_of(std::span<const std::byte> body) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < body.size(); at += sizeof(std::uint64_t))
    count += static_cast<unsigned>(std::popcount(bfstore::base::load<std::uint64_t>(body.data() + at)));
  return count;
}

bool has_all_bits(std::span<const std::byte> body, std::span<const std::byte> bits) {
  for (std::size_t at = 0; at < bits.size(); at += sizeof(std::uint64_t)) {
    const auto wanted = bfstore::base::load<std::uint64_t>(bits.data() + at);
    if ((bfstore::base::load<std::uint64_t>(body.data() + at) & wanted) != wanted) return false;
  }
  return true;
}

// Checks a file that was made of the earlier one by this delta.
void check_made(const Files& files, const Bytes& delta, const std::string& path) {
  Bytes made = read(path);
  const auto body = body_of(made, files.old_body.size());
  check(has_all_bits(body, files.old_body), "each bit that was there");
  check(bits_of(body) - bits_of(files.old_body) == get<std::uint64_t>(delta, format::kDeltaNumBitsField),
        "as many new bits as the delta says");
  check(checksum_of(body) == get<std::uint64_t>(delta, format::kDeltaAfterChecksumField), "the body of the delta");
  fuzz::KeySet present;
  const bool is_later = std::equal(body.begin(), body.end(), files.new_body.begin());
  for (std::size_t i = 0; i < (is_later ? fuzz::kKeys : kFirst); ++i) present.insert(i);
  check(delta != files.delta || is_later, "the delta as it was made makes the later file");
  const fuzz::Opened opened = fuzz::open_file(path.c_str(), BFS_READ);
  check(opened.code == BFS_OK, "what was made opens", opened.code);
  fuzz::ask(opened.filter, present);
  fuzz::facts(opened.filter);
  check(bfs_close(opened.filter, nullptr) == BFS_OK, "what was made is closed");
}

std::size_t names_in(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes input({data, size});
  const unsigned how = input.u8();
  Files& files = files_of(how & kFiles);
  const bool replaces = (how & kReplace) != 0;
  const std::string path = fuzz::scratch("delta");
  const std::string made = replaces ? files.before : fuzz::scratch("made");
  const std::string folder = std::filesystem::path(path).parent_path();
  const Bytes delta = changed(files, how, input);
  write(path, delta);
  const std::size_t names = names_in(folder);
  static_cast<void>(bfstore::inspect_delta(path));
  const bfstore::Error error = bfstore::apply_delta(files.before, path, made, {.replace = replaces});
  fuzz::check_code(fuzz::in_c(error.code).first, "a code of bfstore.h");
  const std::size_t more = error.ok() && !replaces ? 1 : 0;
  check(names_in(folder) == names + more, "one file is made, or none", static_cast<std::int64_t>(error.code));
  if (!error.ok()) {
    check(!error.message.empty() && delta != files.delta, "the delta as it was made is applied");
    check(read(files.before) == files.before_bytes, "an error leaves the earlier file as it is");
  } else {
    check_made(files, delta, made);
    check(replaces || read(files.before) == files.before_bytes, "the earlier file stays as it is");
  }
  if (error.ok() && replaces) write(files.before, files.before_bytes);
  if (more != 0) std::filesystem::remove(made);
  std::filesystem::remove(path);
  return 0;
}
