// A home that only this program has: memory whose readers are counted, and that can be lost. Everything that a filter
// does works there without a change anywhere else.
#include <bfstore/filter.hpp>

#include <memory>
#include <vector>

#include "format/identity.hpp"
#include "layout/layout.hpp"
#include "store/home/ask.hpp"
#include "support/support.hpp"

using namespace rooms;

namespace {

constexpr std::uint64_t kNumBits = 1 << 15;
constexpr std::uint64_t kWords = kNumBits / 64;

// The home's bytes, and what the test looks at.
struct Memory {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(kWords + 8);  // one more line, for alignment
  std::uint64_t state = 0;
  std::uint64_t good = 0;
  int syncs = 0;
  std::uint64_t pieces_read = 0;

  [[nodiscard]] std::uint64_t* body() {
    const auto past = reinterpret_cast<std::uintptr_t>(words.data()) % 64 / 8;
    return words.data() + (8 - past) % 8;
  }
};

class MadeUpHome final : public store::Home {
 public:
  explicit MadeUpHome(std::shared_ptr<Memory> memory) : memory_(std::move(memory)) {}

  [[nodiscard]] std::string name(const char*) const override { return "the made-up home"; }
  [[nodiscard]] Error read_body(const std::uint64_t* words, std::span<std::byte> into,
                                std::uint64_t offset) const override {
    ++memory_->pieces_read;
    return Home::read_body(words, into, offset);
  }
  Error sync(const LogPosition&) override {
    ++memory_->syncs;
    return {};
  }

 private:
  [[nodiscard]] Code meaning_of(std::uint64_t) const noexcept override { return Code::kLost; }

  std::shared_ptr<Memory> memory_;
};

Filter at_home(const std::shared_ptr<Memory>& memory) {
  Shape shape;
  shape.layout = Layout::kBlocked;
  shape.num_bits = kNumBits;
  shape.num_probes = 5;
  const auto functions = must(store::functions_for(shape.layout, store::Adding::kShared));
  auto ask = std::make_unique<store::Ask>(functions, store::BodyWords{memory->body(), shape, kNumBits / 8},
                                          store::Adding::kShared, std::make_unique<MadeUpHome>(memory));
  ask->target.sentinel = {&memory->state, &memory->good, 0};
  return Filter(std::move(ask));
}

}  // namespace

TEST_CASE("a made-up home's filter adds and answers, one by one and in batches, until its home is lost") {
  const auto memory = std::make_shared<Memory>();
  Filter filter = at_home(memory);
  CHECK(filter.add("key").ok());
  CHECK(filter.contains("key"));
  CHECK_FALSE(filter.contains("no key"));
  const std::vector<std::string_view> keys{"key", "no key"};
  std::vector<std::uint8_t> answers(2);
  CHECK(filter.contains_keys(Keys::views(keys), answers).keys() == 1);
  CHECK(filter.sync({.owner = 1, .mark = 1}).ok());
  CHECK(memory->syncs == 1);
  memory->state = 1;
  CHECK(filter.health() == Code::kLost);
  CHECK(filter.contains("no key"));
  CHECK(filter.contains_keys(Keys::views(keys), answers).keys() == 2);
  CHECK(filter.add("other").code() == Code::kLost);
}

TEST_CASE("a made-up home's filter is saved, merged and compared, and not while it is in doubt") {
  const TemporaryDirectory directory;
  const auto memory = std::make_shared<Memory>();
  Filter filter = at_home(memory);
  CHECK(filter.add("key").ok());
  CHECK(filter.save(directory.file("saved.bf")).ok());
  CHECK(memory->pieces_read != 0);
  Filter saved = must(Filter::open(directory.file("saved.bf"), OpenMode::kWrite));
  CHECK(saved.contains("key"));
  CHECK_FALSE(saved.contains("later"));
  CHECK(filter.add("later").ok());
  CHECK(saved.merge(filter).ok());
  CHECK(saved.contains("later"));
  CHECK(must(filter.compare(saved)).equal);
  memory->state = 1;
  const Error refused = filter.save(directory.file("doubt.bf"));
  CHECK(refused.code == Code::kLost);
  CHECK(refused.message.find("the made-up home") != std::string::npos);
  CHECK(saved.merge(filter).code == Code::kLost);
  CHECK(directory.entries() == 1);
}
