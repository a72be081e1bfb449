#include "store/file/secret.hpp"

#include <cstring>

#include "base/fail.hpp"
#include "format/bare.hpp"
#include "hash/hash.hpp"

namespace bfstore::store {
namespace {

using base::fail;

Error no_key_expected() {
  return fail(Code::kKey,
              "a secret was given, and this filter has none (its hash is not siphash). Open it without one.");
}

Error check_key(const format::Identity& identity, const std::optional<SecretKey>& key) {
  if (!identity.key_check) return key ? no_key_expected() : Error{};
  if (!key) {
    return fail(
        Code::kKey,
        "no secret was given, and this filter has one (its hash is siphash). Give the secret that it was made with.");
  }
  if (format::key_check_of(*key, identity.key_check->salt) == *identity.key_check) return {};
  return fail(Code::kKey, "the secret that was given is not this filter's. Give the one that it was made with.");
}

}  // namespace

Secret::~Secret() { explicit_bzero(key_.data(), key_.size()); }

Error check_secret_for(Hash hash, const std::optional<SecretKey>& key) {
  const HashInfo& info = hash::row_of(hash).info;
  if (info.takes_secret && !key)
    return fail(Code::kKey, std::string(info.name) + " needs a secret. Give 16 random bytes.");
  if (!info.takes_secret && key)
    return fail(Code::kKey, "a secret was given, and only siphash has one. Give siphash as the hash, or no secret.");
  return {};
}

Result<format::Identity> trusted_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                          bool writing, const std::optional<SecretKey>& key, const std::string& where) {
  auto identity = sound_identity(bytes, form, available_bytes, writing, where);
  if (!identity) return identity;
  if (Error error = check_key(*identity, key); !error.ok()) return fail(error.code, where + error.message);
  return identity;
}

Result<format::Identity> sound_identity(format::Bytes bytes, format::Form form, std::uint64_t available_bytes,
                                        bool writing, const std::string& where) {
  const auto checked = format::check_identity(bytes, form, available_bytes, writing);
  if (auto identity = checked.identity()) return std::move(*identity);
  return fail(checked.problems.front().code, where + checked.problems.front().text);
}

Result<Shape> trusted_bare(format::Bytes bytes, const std::optional<SecretKey>& key) {
  auto shape = format::decode_bare(bytes);
  if (shape && key) return no_key_expected();
  return shape;
}

}  // namespace bfstore::store
