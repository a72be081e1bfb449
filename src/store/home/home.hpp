// The place of a filter's bytes, and what only that place can say and do. There are eight kinds: a file, a range of
// a file, a buffer, memory of the handle's own, a path that is followed, a set of parts, keys that are gathered for a
// file, and a file of another program.
// Code outside this folder does not know which kind it has. Every call is a cold one: lookups and adds run through Ask.
// Only a place without a live word is asked by lookups, before they answer "no".
#pragma once

#include <bfstore/filter.hpp>

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/identity.hpp"
#include "layout/layout.hpp"
#include "region/descriptor.hpp"
#include "region/mapping.hpp"
#include "store/file/moment.hpp"
#include "store/file/sealed.hpp"

namespace bfstore::store {

struct Ask;
class OpenFile;

class Home {
 public:
  Home() = default;
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  virtual ~Home() = default;

  // --- What is there ---
  // The name in messages: a file's path, or `otherwise`.
  [[nodiscard]] virtual std::string name(const char* otherwise) const { return otherwise; }
  // nullptr in the bare form.
  [[nodiscard]] virtual const format::Identity* identity() const noexcept { return nullptr; }
  // The mapping of a file or of a range of one. nullptr for memory of the caller, or of the handle.
  [[nodiscard]] virtual const region::Mapping* mapping() const noexcept { return nullptr; }
  // The file that is this filter and nothing else. nullptr for every other kind.
  [[nodiscard]] virtual const OpenFile* own_file() const noexcept { return nullptr; }
  [[nodiscard]] virtual Stats stats(const Ask& ask, StatsWish wish) const;
  // The parts of a set, and none of every other kind.
  [[nodiscard]] virtual std::vector<const Ask*> parts() const { return {}; }

  // If the handle's file changes behind it (Ask::moves): the Ask of the one that calls use now, or nullptr for the
  // handle's own. The caller decrements the counter, unless it is nullptr, when the call is over.
  [[nodiscard]] virtual const Ask* pin(std::atomic<std::uint64_t>*& calls) noexcept {
    static_cast<void>(calls);
    return nullptr;
  }
  // See followed.hpp.
  virtual void follow_in_time() noexcept {}

  // --- Doubt ---
  [[nodiscard]] virtual bool is_shut() const noexcept { return false; }
  [[nodiscard]] virtual Code health(const layout::Sentinel& sentinel) const noexcept {
    return why_in_doubt(sentinel, ~std::uint64_t{0});
  }
  // Returns kOk, or why calls that these bits of the sentinel concern are in doubt.
  [[nodiscard]] Code why_in_doubt(const layout::Sentinel& sentinel, std::uint64_t compared) const noexcept;
  // Does what health() does, but the kernel reads the two words. If the file was cut since its header was read, that is
  // an error, and no signal. If another thread shuts the handle meanwhile, returns kShut.
  [[nodiscard]] virtual Result<Code> read_health(const layout::Sentinel& sentinel) const;
  // True if the bytes that a lookup has just read are those that were opened. For a place without a live word.
  [[nodiscard]] virtual bool is_unchanged() const noexcept { return true; }
  // Returns what the bits mean in which the words differ from what they should be.
  [[nodiscard]] Code why_in_doubt(std::uint64_t differing) const noexcept {
    return differing == 0 ? Code::kOk : meaning_of(differing);
  }
  [[nodiscard]] virtual Result<bool> is_current();
  [[nodiscard]] virtual bool path_names_another() const noexcept { return false; }
  // Makes this handle alone answer as if the file said that another one replaced it. For a file that was replaced by a
  // program that left no sign.
  virtual void supersede_for_this_handle() noexcept {}

  // --- Reading all of it, while others may add to it ---
  // Returns what the place says of itself now. An error if the place is in doubt, or if the handle was opened before a
  // fork and this is the child.
  [[nodiscard]] virtual Result<Moment> moment() const { return Moment{}; }
  // Reads bytes of the body, whose words are `words`.
  [[nodiscard]] virtual Error read_body(const std::uint64_t* words, std::span<std::byte> into,
                                        std::uint64_t offset) const;
  // The pieces of a sealed file, which are compared with their checksums.
  [[nodiscard]] virtual std::optional<SealedPieces> sealed_pieces() const { return std::nullopt; }
  // An error if the path names this file.
  [[nodiscard]] virtual Error check_is_another(const std::string& path) const;

  // --- Adding ---
  // The descriptor that the writers' lock ends with, if other code of this process can end it.
  [[nodiscard]] virtual std::optional<region::DescriptorMark> lock_ends_with() const noexcept { return std::nullopt; }
  // Makes this handle answer "maybe", or every handle.
  virtual void poison(bool everywhere) noexcept { static_cast<void>(everywhere); }
  // Asks the kernel whether it failed to write the file.
  virtual void check_writeback() const noexcept {}
  // Gives the body another slice if it can: see Session.
  virtual Code grow(std::uint32_t full) noexcept {
    static_cast<void>(full);
    return Code::kUnsupported;
  }

  // --- Durability, marks and the end: see Session ---
  virtual Error sync(const LogPosition& position);
  [[nodiscard]] virtual std::uint64_t get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept;
  [[nodiscard]] virtual Result<std::vector<OwnerMark>> list_marks() const { return refusal(); }
  virtual Error drop_owner(std::uint64_t owner);
  virtual Result<bool> finish_recovery(std::uint64_t owner);
  virtual Error finish_filling() { return refusal(); }
  virtual Result<bool> turn(std::optional<std::uint64_t> from);
  virtual Error supersede() { return refusal(); }
  virtual Error publish(unsigned threads) {
    static_cast<void>(threads);
    return refusal();
  }
  virtual Error shut(const std::function<void()>& adds_are_over);
  virtual Error close() { return {}; }
  virtual void abandon() noexcept {}

 private:
  [[nodiscard]] virtual Code meaning_of(std::uint64_t differing) const noexcept;
  // The error of calls that only a file supports.
  [[nodiscard]] virtual Error refusal() const;
};

}  // namespace bfstore::store
