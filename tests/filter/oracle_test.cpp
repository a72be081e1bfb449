// Compares every layout with std::set, with random operations: in files, in buffers and in the bare form; keys and
// digests in every form; k from 1 to 64; from one bit to millions. There are two oracles: the std::set of added keys,
// which must never get a "no", and the model's cells, which predict every answer and every count. If a layout removes
// keys, the set is a multiset, and added keys are removed at random.
#include <map>
#include <optional>
#include <set>

#include "forms.hpp"
#include "support/memory_layouts.hpp"
#include "support/model.hpp"
#include "support/times.hpp"

using namespace rooms;

namespace {

enum class Home { kFile, kBuffer, kBare };

// Numbers that only the seed decides.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t below(std::uint64_t limit) { return mix(state_++) % limit; }

 private:
  std::uint64_t state_;
};

// A filter in its home, and a second handle that only reads.
class Subject {
 public:
  Subject(Home home, const Options& options)
      : home_(home), secret_(options.secret), buffer_(home == Home::kFile ? 0 : needed(home, options)) {
    if (home == Home::kFile) {
      writer_.emplace(must(Filter::create(path(), options)));
    } else {
      Options in_buffer = options;
      in_buffer.bare = home == Home::kBare;
      writer_.emplace(must(Filter::format(buffer_.bytes(), in_buffer)));
    }
    open_reader();
  }

  Filter& writer() { return *writer_; }
  const Filter& reader() { return *reader_; }

  // Closes the filter, and opens its bytes again.
  void reopen() {
    reader_.reset();
    must(writer_->close());
    writer_.reset();
    if (home_ == Home::kFile) {
      writer_.emplace(must(Filter::open(path(), OpenMode::kWrite, {.secret = secret_})));
    } else {
      writer_.emplace(must(Filter::wrap(buffer_.bytes(), home_ == Home::kBare, secret_)));
    }
    open_reader();
  }

 private:
  static std::uint64_t needed(Home home, Options options) {
    options.bare = home == Home::kBare;
    return must(Filter::required_bytes(options));
  }

  void open_reader() {
    if (home_ == Home::kFile) {
      reader_.emplace(must(Filter::open(path(), OpenMode::kRead, {.secret = secret_})));
    } else {
      const Buffer& unwritten = buffer_;
      reader_.emplace(must(Filter::wrap_to_read(unwritten.bytes(), home_ == Home::kBare, secret_)));
    }
  }

  [[nodiscard]] std::string path() const { return directory_.file("oracle.bf"); }

  TemporaryDirectory directory_;
  Home home_;
  std::optional<Secret> secret_;
  Buffer buffer_;
  std::optional<Filter> writer_;
  std::optional<Filter> reader_;
};

Options random_options(Random& random, Layout layout, const HashInfo& hash, Home home) {
  Options options;
  options.layout = layout;
  options.hash = hash.hash;
  if (hash.takes_secret) options.secret = Secret{0x5e, 0xc4, 0xe7};
  options.num_probes = static_cast<std::uint32_t>(1 + random.below(kMaxProbes));
  options.num_bits = 1 + random.below(std::uint64_t{1} << random.below(23));
  if (hash.takes_seed && home != Home::kBare) options.seed = random.below(UINT64_MAX);
  return options;
}

std::string random_key(Random& random, std::size_t bytes) {
  Random content(random.below(400));  // few enough that keys come again
  std::string key(bytes, '\0');
  for (char& c : key) c = static_cast<char>(static_cast<unsigned char>(content.below(256)));
  return key;
}

Batch random_batch(Random& random, const Filter& filter, Form form) {
  const std::uint64_t count = random.below(8) == 0 ? random.below(600) : random.below(20);
  if (!hash_of(filter.shape().hash)->takes_keys) {
    std::vector<std::uint64_t> digests;
    for (std::uint64_t i = 0; i < count; ++i) digests.push_back(mix(random.below(2000)));
    return Batch(std::move(digests));
  }
  const std::size_t equal = 1 + random.below(20);
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < count; ++i) {
    keys.push_back(random_key(random, equally_long(form) ? equal : random.below(30)));
  }
  return Batch(std::move(keys), filter);
}

struct Oracles {
  Model model;
  bool counts = false;
  std::multiset<std::string> keys{};
  std::multimap<std::uint64_t, std::string> digests{};
};

void add_and_check(Filter& filter, Oracles& oracles, const Batch& batch, Form form) {
  std::uint64_t changed = 0;
  for (const std::uint64_t digest : batch.digests()) changed += oracles.model.add(digest) ? 1U : 0U;
  const Count count = batch.add_to(filter, form);
  REQUIRE(count.ok());
  REQUIRE(count.keys() == changed);
  for (std::size_t i = 0; i < batch.digests().size(); ++i) {
    if (!oracles.counts && oracles.digests.count(batch.digests()[i]) != 0) continue;
    const std::string key = batch.keys().empty() ? std::string() : batch.keys()[i];
    oracles.digests.emplace(batch.digests()[i], key);
    if (!batch.keys().empty()) oracles.keys.insert(key);
  }
}

// Removes some of the keys that are there, once each.
void remove_and_check(Random& random, Filter& filter, Oracles& oracles) {
  std::vector<std::uint64_t> gone;
  for (std::uint64_t left = random.below(200); left > 0 && !oracles.digests.empty(); --left) {
    auto one = oracles.digests.lower_bound(mix(random.below(UINT64_MAX)));
    if (one == oracles.digests.end()) one = oracles.digests.begin();
    gone.push_back(one->first);
    if (const auto key = oracles.keys.find(one->second); key != oracles.keys.end()) oracles.keys.erase(key);
    oracles.digests.erase(one);
  }
  for (const std::uint64_t digest : gone) REQUIRE(filter.count_digest(digest).keys() == oracles.model.count(digest));
  for (const std::uint64_t digest : gone) {
    REQUIRE(oracles.model.remove(digest));
    if (gone.size() % 2 == 0) REQUIRE(filter.remove_digest(digest).keys() == 1);
  }
  if (gone.size() % 2 != 0) REQUIRE(filter.remove_keys(Keys::digests(gone)).keys() == gone.size());
  for (const std::uint64_t digest : gone) REQUIRE(filter.count_digest(digest).keys() == oracles.model.count(digest));
}

void ask_and_check(const Filter& filter, const Oracles& oracles, const Batch& batch, Form form) {
  std::vector<std::uint8_t> answers(batch.digests().size(), 7);
  const Count count = batch.ask(filter, form, answers);
  std::uint64_t maybes = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (oracles.digests.count(batch.digests()[i]) != 0) REQUIRE(answers[i] == 1);
    if (!batch.keys().empty() && oracles.keys.count(batch.keys()[i]) != 0) REQUIRE(answers[i] == 1);
    REQUIRE(answers[i] == (oracles.model.contains(batch.digests()[i]) ? 1 : 0));
    maybes += answers[i];
  }
  REQUIRE(count.ok());
  REQUIRE(count.keys() == maybes);
}

void check_all_present(const Filter& filter, const Oracles& oracles) {
  for (const std::string& key : oracles.keys) REQUIRE(filter.contains(key));
  for (const auto& [digest, key] : oracles.digests) REQUIRE(filter.contains_digest(digest));
  const Stats stats = filter.stats({.fill = true});
  REQUIRE(stats.fill->set_bits == oracles.model.cells().size());
}

template <std::size_t kForms>
void run(Random& random, Subject& subject, const std::array<Form, kForms>& forms) {
  const Shape shape = subject.writer().shape();
  Oracles oracles{Model(shape.layout, shape.num_bits, shape.num_probes), layout_of(shape.layout)->can.remove};
  for (int step = 0; step < 60; ++step) {
    const Form form = forms[random.below(kForms)];
    const Batch batch = random_batch(random, subject.writer(), form);
    const std::uint64_t kind = random.below(20);
    if (kind < 8 && kind % 2 == 1 && oracles.counts) {
      remove_and_check(random, subject.writer(), oracles);
    } else if (kind < 8) {
      add_and_check(subject.writer(), oracles, batch, form);
    } else if (kind < 13) {
      ask_and_check(subject.writer(), oracles, batch, form);
    } else if (kind < 19) {
      ask_and_check(subject.reader(), oracles, batch, form);
    } else if (step % 4 == 0) {
      subject.reopen();
    }
  }
  check_all_present(subject.writer(), oracles);
  subject.reopen();
  check_all_present(subject.reader(), oracles);
}

void run_home(Home home, std::uint64_t rounds) {
  for (const Layout layout : every_layout_in_memory()) {
    for (const HashInfo& hash : hashes()) {
      if (home == Home::kBare && !hash.fits_bare) continue;
      if (hash.gives_positions) continue;  // seeded_test.cpp
      for (std::uint64_t round = 0; round < rounds; ++round) {
        Random random((seed << 32) + round * 16 + static_cast<std::uint64_t>(home) * 4 +
                      static_cast<std::uint64_t>(hash.hash));
        Subject subject(home, random_options(random, layout, hash, home));
        CAPTURE(layout);
        CAPTURE(std::string(hash.name));
        CAPTURE(round);
        CAPTURE(subject.writer().shape().num_bits);
        CAPTURE(subject.writer().shape().num_probes);
        if (hash.takes_keys) {
          run(random, subject, kKeyForms);
        } else {
          run(random, subject, kDigestForms);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("files answer and count as the oracles predict, after any operation in any form") {
  run_home(Home::kFile, times * 30 / kKeyScale);
}

TEST_CASE("buffers answer and count as the oracles predict, after any operation in any form") {
  run_home(Home::kBuffer, times * 100 / kKeyScale);
}

TEST_CASE("bare filters answer and count as the oracles predict, after any operation in any form") {
  run_home(Home::kBare, times * 100 / kKeyScale);
}

TEST_CASE("with every k from 1 to 64, in one bit and in a million, no added key is ever absent") {
  for (const Layout layout : every_layout_in_memory()) {
    for (std::uint32_t k = 1; k <= kMaxProbes; ++k) {
      for (const std::uint64_t m : {1U, 1000U, 1000000U}) {
        Options options;
        options.layout = layout;
        options.num_bits = m;
        options.num_probes = k;
        InMemory made = InMemory::make(options);
        std::set<std::string> added;
        for (std::uint64_t i = 0; i < 200; ++i) {
          const std::string key = std::to_string(mix(i * k) % 1000);
          const Count count = made.filter.add(key);
          REQUIRE(count.ok());
          if (added.count(key) != 0) REQUIRE(count.keys() == 0);  // it was not certainly new
          added.insert(key);
          for (const std::string& before : added) REQUIRE(made.filter.contains(before));
        }
      }
    }
  }
}
