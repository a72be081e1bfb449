// A filter whose hash is siphash: it opens only with its own secret, in a file, a range and a buffer; every way to
// ask and to add has the same digests; and the secret is nowhere in it.
#include <doctest/doctest.h>
#include <bfstore/inline.hpp>

#include <cstring>
#include <fstream>

#include "hash/siphash.hpp"
#include "store/file/secret.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;

namespace {

constexpr Secret kSecret{'a', ' ', 's', 'e', 'c', 'r', 'e', 't', ' ', 'o', 'f', ' ', '1', '6', ' ', 'B'};

Secret with_one_bit_changed(std::size_t bit) {
  Secret secret = kSecret;
  secret.at(bit / 8) ^= static_cast<std::uint8_t>(1 << (bit % 8));
  return secret;
}

Options options_with_secret(const std::optional<Secret>& secret = kSecret) {
  Options options = small_options();
  options.hash = Hash::kSipHash;
  options.secret = secret;
  return options;
}

OpenOptions with(const std::optional<Secret>& secret) {
  OpenOptions options;
  options.secret = secret;
  return options;
}

constexpr OpenMode kModes[] = {OpenMode::kRead, OpenMode::kWrite, OpenMode::kExclusive};

// Checks that the result is refused with kSecret, and that the message has the words.
void check_refused(const Result<Filter>& result, const std::string& words) {
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == Code::kSecret);
  CHECK_MESSAGE(result.error().message.find(words) != std::string::npos, result.error().message);
}

// 64-byte aligned memory.
struct Memory {
  explicit Memory(std::uint64_t bytes) : lines(bytes / 64 + 1), size(bytes) {}
  [[nodiscard]] std::span<std::byte> bytes() { return {lines.front().bytes, size}; }
  [[nodiscard]] std::string text() const { return {reinterpret_cast<const char*>(lines.front().bytes), size}; }
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines;
  std::uint64_t size;
};

Memory embedded(const Options& options) {
  Memory memory(*Filter::required_bytes(options));
  Filter filter = opened(Filter::format(memory.bytes(), options));
  add_keys(filter, 1, 0, kSome);
  return memory;
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

bool holds_the_secret(const std::string& bytes) {
  return bytes.find(std::string(kSecret.begin(), kSecret.end())) != std::string::npos;
}

}  // namespace

TEST_CASE("a file with a secret opens with it alone, and is not touched with any other") {
  const TempDir dir;
  {
    Filter filter = created(dir.file(), options_with_secret());
    add_keys(filter, 1, 0, kSome);
  }
  const std::string before = read_bytes(dir.file());
  CHECK_FALSE(holds_the_secret(before));
  for (const OpenMode mode : kModes) {
    check_refused(Filter::open(dir.file(), mode), "no secret was given");
    for (std::size_t bit = 0; bit < 128; ++bit)
      check_refused(Filter::open(dir.file(), mode, with(with_one_bit_changed(bit))), "is not this filter's");
    check_refused(Filter::open(dir.file(), mode), dir.file());
  }
  OpenOptions recovering = with(std::nullopt);
  recovering.recover = true;
  check_refused(Filter::open(dir.file(), OpenMode::kWrite, recovering), "no secret was given");
  CHECK(read_bytes(dir.file()) == before);
  for (const OpenMode mode : kModes) {
    const Filter filter = opened(Filter::open(dir.file(), mode, with(kSecret)));
    CHECK(filter.shape().hash == Hash::kSipHash);
    CHECK(filter.shape().seed == 0);
    CHECK(maybes(filter, 1, 0, kSome) == kSome);
    CHECK(answers_no(filter));
  }
}

TEST_CASE("a secret for a filter that has none is refused, whatever its hash and form") {
  const TempDir dir;
  for (const HashInfo& row : hashes()) {
    if (row.takes_secret) continue;
    Options options = small_options();
    options.hash = row.hash;
    if (row.gives_positions) {  // some hashes have rules for m and k
      options = Options();
      options.hash = row.hash;
      options.num_bits = 1024;
      options.num_probes = 8;
    }
    if (row.takes_seeds) options.seeds = {5, 7, 11, 13, 17, 19, 23, 29};
    const std::string path = dir.file(row.name);
    static_cast<void>(created(path, options));
    for (const OpenMode mode : kModes) check_refused(Filter::open(path, mode, with(kSecret)), "has none");
    Memory memory(*Filter::required_bytes(options));
    static_cast<void>(opened(Filter::format(memory.bytes(), options)));
    check_refused(Filter::wrap(memory.bytes(), false, kSecret), "has none");
    put(dir.file("range"), memory.text());
    check_refused(Filter::open_range(dir.file("range"), 0, 0, {.secret = kSecret}), "has none");
    if (!row.fits_bare) continue;
    options.bare = true;
    static_cast<void>(opened(Filter::format(memory.bytes(), options)));
    check_refused(Filter::wrap(memory.bytes().first(*Filter::required_bytes(options)), true, kSecret), "has none");
  }
}

TEST_CASE("a filter with a secret in a buffer, and in a range of a file, opens with it alone") {
  const TempDir dir;
  Options options = options_with_secret();
  for (const std::size_t note_bytes : {0U, 5U, 1024U}) {
    options.note = std::string(note_bytes, 'n');
    Memory memory = embedded(options);
    CHECK_FALSE(holds_the_secret(memory.text()));
    const std::span<const std::byte> constant = memory.bytes();
    put(dir.file(), std::string(128, 'x') + memory.text());
    for (const std::optional<Secret>& secret : {std::optional<Secret>(), std::optional(with_one_bit_changed(0))}) {
      const char* const words = secret ? "is not this filter's" : "no secret was given";
      check_refused(Filter::wrap(memory.bytes(), false, secret), words);
      check_refused(Filter::wrap_to_read(constant, false, secret), words);
      check_refused(Filter::open_range(dir.file(), 128, 0, {.secret = secret}), words);
    }
    for (const Filter& filter :
         {opened(Filter::wrap(memory.bytes(), false, kSecret)), opened(Filter::wrap_to_read(constant, false, kSecret)),
          opened(Filter::open_range(dir.file(), 128, 0, {.secret = kSecret}))}) {
      CHECK(maybes(filter, 1, 0, kSome) == kSome);
      CHECK(answers_no(filter));
    }
  }
}

TEST_CASE("a new filter has a secret where its hash is siphash, and nowhere else; no seed, and no bare form") {
  const TempDir dir;
  check_refused(Filter::create(dir.file(), options_with_secret(std::nullopt)), "siphash needs a secret");
  Options options = small_options();
  options.secret = kSecret;
  check_refused(Filter::create(dir.file(), options), "only siphash has one");
  options.hash = Hash::kExternal;
  check_refused(Filter::create(dir.file(), options), "only siphash has one");
  for (const HashInfo& row : hashes()) {
    if (row.takes_seed) continue;
    options = row.takes_secret ? options_with_secret() : small_options();
    options.hash = row.hash;
    options.seed = 0;
    const auto seeded = Filter::create(dir.file(), options);
    CHECK(code_of(seeded) == Code::kInvalid);
    CHECK(seeded.error().message.find("only xxh3 has one") != std::string::npos);
  }
  for (const std::optional<Secret>& secret : {std::optional<Secret>(), std::optional(kSecret)}) {
    options = options_with_secret(secret);
    options.bare = true;
    const auto bare = Filter::required_bytes(options);
    REQUIRE_FALSE(bare.ok());
    CHECK(bare.error().code == Code::kInvalid);
    CHECK(bare.error().message.find("bare") != std::string::npos);
  }
  CHECK(dir.names().empty());
}

TEST_CASE("a filter of max_bytes with a secret fits into its buffer, and leaves no line of it unused") {
  for (std::size_t note_bytes = 0; note_bytes <= 64; ++note_bytes) {
    CAPTURE(note_bytes);
    Options options;
    options.capacity = 4000;
    options.max_bytes = 8192;
    options.hash = Hash::kSipHash;
    options.secret = kSecret;
    options.note.assign(note_bytes, 'n');
    const std::uint64_t needed = Filter::required_bytes(options).value();
    CHECK(needed <= options.max_bytes);
    CHECK(needed > options.max_bytes - 128);  // a header and a body of whole lines
  }
}

TEST_CASE("making a file like one with a secret takes it, which the new file has, too") {
  const TempDir dir;
  static_cast<void>(created(dir.file("first"), options_with_secret()));
  Options like;
  like.like = dir.file("first");
  check_refused(Filter::create(dir.file("second"), like), "no secret was given");
  like.secret = with_one_bit_changed(77);
  check_refused(Filter::create(dir.file("second"), like), "is not this filter's");
  CHECK(dir.names().size() == 1);
  like.secret = kSecret;
  const Filter second = created(dir.file("second"), like);
  const Filter first = opened(Filter::open(dir.file("first"), OpenMode::kRead, with(kSecret)));
  CHECK(second.digest("key") == first.digest("key"));
  const auto one = *inspect(dir.file("first"));
  const auto other = *inspect(dir.file("second"));
  CHECK(one.valid());
  CHECK(other.valid());
  CHECK(one.identity->secret_check.has_value());
  CHECK(one.identity->secret_check != other.identity->secret_check);  // the checks hide that the secrets are the same
  static_cast<void>(created(dir.file("plain")));
  like.like = dir.file("plain");
  check_refused(Filter::create(dir.file("third"), like), "has none");
}

TEST_CASE("a digest is SipHash of the key under the secret, in every way to ask and to add") {
  const TempDir dir;
  constexpr std::size_t kCount = 40000;  // enough for add_keys to be divided among threads
  std::vector<std::string> keys;
  std::vector<std::string_view> views;
  for (std::size_t i = 0; i < kCount; ++i) keys.push_back(key_of(1, i));
  views.assign(keys.begin(), keys.end());
  Options options = options_with_secret();
  options.capacity = kCount;
  options.exclusive = true;
  Filter one = created(dir.file("one"), options);
  Filter many = created(dir.file("many"), options);
  Filter digests = created(dir.file("digests"), options);
  CHECK(many.use_threads(2).ok());
  for (const std::string& key : keys) {
    const std::uint64_t digest = hash::siphash(key.data(), key.size(), kSecret);
    REQUIRE(one.digest(key) == digest);
    REQUIRE(one.add(key).ok());
    REQUIRE(digests.add_digest(digest).ok());
  }
  CHECK(many.add_keys(Keys::views(views)).ok());
  const auto body_of = [&](const std::string& name) {
    return read_bytes(dir.file(name)).substr(16384, one.stats().body_bytes);
  };
  CHECK(body_of("one").size() >= options.capacity);
  CHECK(body_of("many") == body_of("one"));
  CHECK(body_of("digests") == body_of("one"));
  std::vector<std::uint8_t> answers(2 * kCount);
  std::vector<std::string> asked = keys;
  for (std::size_t i = 0; i < kCount; ++i) asked.push_back(key_of(kNobody, i));
  views.assign(asked.begin(), asked.end());
  const Count found = one.contains_keys(Keys::views(views), answers);
  CHECK(found.keys() < 2 * kCount);
  const Lookup lookup = one.lookup();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    REQUIRE(one.contains(asked[i]) == (answers[i] == 1));
    REQUIRE(lookup.contains_digest(*one.digest(asked[i])) == (answers[i] == 1));
    REQUIRE((i >= kCount || answers[i] == 1));
  }
}

TEST_CASE("the report of a file with a secret does not need it, and has its check") {
  const TempDir dir;
  static_cast<void>(created(dir.file(), options_with_secret()));
  const Report report = *inspect(dir.file());
  CHECK(report.valid());
  CHECK(report.identity->hash == 3);
  CHECK(report.identity->seed == 0);
  const std::uint64_t salt = report.identity->secret_check->salt;
  CHECK(report.identity->secret_check->tag == hash::siphash(&salt, sizeof salt, kSecret));
}

TEST_CASE("a handle's copy of the secret is wiped when the handle ends") {
  alignas(store::KeptSecret) std::byte room[sizeof(store::KeptSecret)];
  auto* const secret = new (room) store::KeptSecret;
  secret->keep(kSecret);
  CHECK(std::memcmp(room, kSecret.data(), kSecret.size()) == 0);
  secret->~KeptSecret();
  CHECK(std::memcmp(room, Secret{}.data(), kSecret.size()) == 0);
}

TEST_CASE("replacing a file with a secret does not need it, and its handles learn of it") {
  const TempDir dir;
  Filter old = created(dir.file(), options_with_secret());
  Options options = small_options();
  options.replace = true;
  static_cast<void>(created(dir.file(), options));
  CHECK(old.health() == Code::kSuperseded);
  CHECK(old.contains(key_of(kNobody, 1)));
}

TEST_CASE("a filter with a secret is sealed and verified without it, and asked with it") {
  const TempDir dir;
  {
    Filter filter = created(dir.file(), options_with_secret());
    CHECK(filter.add("key").ok());
  }
  CHECK(seal(dir.file(), dir.file("sealed")).ok());
  const auto found = verify(dir.file("sealed"));
  REQUIRE(found.ok());
  CHECK(found->damaged.empty());
  check_refused(Filter::open(dir.file("sealed"), OpenMode::kRead), "no secret was given");
  const Filter sealed = opened(Filter::open(dir.file("sealed"), OpenMode::kRead, with(kSecret)));
  CHECK(sealed.contains("key"));
  CHECK_FALSE(sealed.contains("no key"));
}
