#include "store/file/secret.hpp"

#include <cstring>

#include "base/fail.hpp"
#include "format/bare.hpp"
#include "hash/hash.hpp"

namespace bfstore::store {
namespace {

using base::fail;

Error no_secret_expected() {
  return fail(Code::kSecret,
              "a secret was given, and this filter has none (its hash is not siphash). Open it without one.");
}

Error check_secret(const format::Identity& identity, const std::optional<Secret>& secret) {
  if (!identity.secret_check) return secret ? no_secret_expected() : Error{};
  if (!secret) {
    return fail(
        Code::kSecret,
        "no secret was given, and this filter has one (its hash is siphash). Give the secret that it was made with.");
  }
  if (format::secret_check_of(*secret, identity.secret_check->salt) == *identity.secret_check) return {};
  return fail(Code::kSecret, "the secret that was given is not this filter's. Give the one that it was made with.");
}

}  // namespace

KeptSecret::~KeptSecret() { explicit_bzero(value_.data(), value_.size()); }

Error check_secret_for(Hash hash, const std::optional<Secret>& secret) {
  const HashInfo& info = hash::row_of(hash).info;
  if (info.takes_secret && !secret)
    return fail(Code::kSecret, std::string(info.name) + " needs a secret. Give 16 random bytes.");
  if (!info.takes_secret && secret)
    return fail(Code::kSecret, "a secret was given, and only siphash has one. Give siphash as the hash, or no secret.");
  return {};
}

Result<format::Identity> trusted_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                          bool writing, const std::optional<Secret>& secret, const std::string& where) {
  auto identity = sound_identity(bytes, form, available_bytes, writing, where);
  if (!identity) return identity;
  if (Error error = check_secret(*identity, secret); !error.ok()) return fail(error.code, where + error.message);
  return identity;
}

Result<format::Identity> sound_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                        bool writing, const std::string& where) {
  const auto checked = format::check_identity(bytes, form, available_bytes, writing);
  if (auto identity = checked.identity()) return std::move(*identity);
  return fail(checked.problems.front().code, where + checked.problems.front().text);
}

Result<Shape> trusted_bare(format::Bytes bytes, const std::optional<Secret>& secret) {
  auto shape = format::decode_bare(bytes);
  if (shape && secret) return no_secret_expected();
  return shape;
}

}  // namespace bfstore::store
