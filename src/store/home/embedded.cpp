#include "store/home/embedded.hpp"

#include <utility>

#include "base/fail.hpp"
#include "format/sections.hpp"
#include "store/file/secret.hpp"

namespace bfstore::store {
namespace {

using base::fail;

class InBuffer final : public Home {
 public:
  explicit InBuffer(format::Identity identity) noexcept : identity_(std::move(identity)) {}
  [[nodiscard]] const format::Identity* identity() const noexcept override { return &identity_; }

 private:
  format::Identity identity_;
};

}  // namespace

Error cut_or_overwritten(const std::string& where) {
  return fail(Code::kLiveWord,
              where + "the word at its end is not the filter's own: the filter was cut or overwritten. Rebuild it.");
}

Result<Embedded> begin_embedded(std::span<const std::byte> bytes, std::uint64_t available_bytes, bool writing,
                                const std::optional<Secret>& secret, const std::string& where) {
  auto identity = trusted_identity(bytes, format::Form::kEmbedded, available_bytes, writing, secret, where);
  if (!identity) return identity.error();
  const auto checksum =
      base::load<std::uint64_t>(bytes.data() + format::sections_of(*identity).identity_checksum.offset);
  return Embedded{std::move(*identity), checksum};
}

Result<Embedded> find_embedded(std::span<const std::byte> bytes, bool writing, const std::optional<Secret>& secret) {
  auto found = begin_embedded(bytes, bytes.size(), writing, secret, "");
  if (!found) return found;
  const auto end = base::load<std::uint64_t>(bytes.data() + format::sections_of(found->identity).end_word.offset);
  return end == format::end_word(found->identity.file_id) ? found : cut_or_overwritten("");
}

Result<std::unique_ptr<Ask>> ask_embedded(std::byte* start, const Embedded& embedded, Adding how,
                                          const std::optional<Secret>& secret, std::unique_ptr<Home> home) {
  const format::Identity& identity = embedded.identity;
  if (Error error = check_memory_takes_keys(identity.shape.layout, how); !error.ok()) return error;
  const auto functions = functions_for(identity.shape.layout, how);
  if (!functions) return functions.error();
  const format::Sections sections = format::sections_of(identity);
  auto* const words = reinterpret_cast<std::uint64_t*>(start + sections.body.offset);
  auto ask =
      std::make_unique<Ask>(*functions, BodyWords{words, identity.shape, identity.body_bytes}, how, std::move(home));
  ask->target.sentinel = {word_at(start + sections.identity_checksum.offset), word_at(start + sections.end_word.offset),
                          embedded.checksum ^ format::end_word(identity.file_id)};
  ask->settle(identity);
  ask->secret.keep(secret);
  return ask;
}

Result<std::unique_ptr<Ask>> ask_buffer(std::byte* start, const Embedded& embedded, Adding how,
                                        const std::optional<Secret>& secret) {
  return ask_embedded(start, embedded, how, secret, std::make_unique<InBuffer>(embedded.identity));
}

Result<std::unique_ptr<Ask>> ask_bare(const BodyWords& body, Adding how) {
  const auto functions = functions_for(body.shape.layout, how);
  if (!functions) return functions.error();
  return std::make_unique<Ask>(*functions, body, how, std::make_unique<Home>());
}

}  // namespace bfstore::store
