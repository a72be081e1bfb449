// Where a filter's bytes are, and what that place alone can say and do. There are six kinds: a file, a range of a file,
// a buffer, bytes of the handle's own, a path that is followed, and a set of parts. Nothing outside this folder knows
// which one it has. Every call is a cold one: lookups and adds run through Ask.
#pragma once

#include <bfstore/filter.hpp>

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

class Home {
 public:
  Home() = default;
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  virtual ~Home() = default;

  // --- What is there ---
  // For messages: a file's path.
  [[nodiscard]] virtual std::string name(const char* otherwise) const { return otherwise; }
  // nullptr in the bare form.
  [[nodiscard]] virtual const format::Identity* identity() const noexcept { return nullptr; }
  // Of a file or of a range of one. nullptr for memory of the caller, or of the handle.
  [[nodiscard]] virtual const region::Mapping* mapping() const noexcept { return nullptr; }
  [[nodiscard]] virtual Stats stats(const Ask& ask, StatsWish wish) const;

  // --- Doubt ---
  [[nodiscard]] virtual bool is_shut() const noexcept { return false; }
  [[nodiscard]] virtual Code health(const layout::Sentinel& sentinel) const noexcept { return why_in_doubt(sentinel); }
  // kOk, or why lookups or adds, which look at this sentinel, are in doubt.
  [[nodiscard]] Code why_in_doubt(const layout::Sentinel& sentinel) const noexcept;
  // As health(), but the kernel reads the two words: the file may have been cut since its header was read, which is an
  // error here, and no signal. Another thread may shut the handle while they are read: what was read then says nothing.
  [[nodiscard]] Result<Code> read_health(const layout::Sentinel& sentinel) const;
  // What these bits say, in which its words differ from what they should be.
  [[nodiscard]] Code why_in_doubt(std::uint64_t differing) const noexcept {
    return differing == 0 ? Code::kOk : meaning_of(differing);
  }
  [[nodiscard]] virtual Result<bool> is_current();
  [[nodiscard]] virtual bool path_names_another() const noexcept { return false; }
  // The file was replaced by a program that left no sign of it: this handle alone is told.
  virtual void supersede_for_this_handle() noexcept {}

  // --- Reading all of it, while others may add to it ---
  // What the place says of itself now. An error where it is in doubt, or is the parent's of a fork.
  [[nodiscard]] virtual Result<Moment> moment() const { return Moment{}; }
  // `words` are those of the body.
  [[nodiscard]] virtual Error read_body(const std::uint64_t* words, std::span<std::byte> into,
                                        std::uint64_t offset) const;
  // Of a sealed file: its pieces, which are compared with their checksums.
  [[nodiscard]] virtual std::optional<SealedPieces> sealed_pieces() const { return std::nullopt; }
  // An error if the path names this file.
  [[nodiscard]] virtual Error check_is_another(const std::string& path) const;

  // --- Adding ---
  // The descriptor with which the writers' lock ends, where other code can end it.
  [[nodiscard]] virtual std::optional<region::DescriptorMark> lock_ends_with() const noexcept { return std::nullopt; }
  // Makes this handle answer "maybe", or every handle.
  virtual void poison(bool everywhere) noexcept { static_cast<void>(everywhere); }
  // Asks the kernel whether it failed to write the file.
  virtual void check_writeback() const noexcept {}

  // --- Durability, marks and the end: see Session ---
  virtual Error sync(const LogPosition& position);
  [[nodiscard]] virtual std::uint64_t get_mark(std::uint64_t owner, std::uint64_t epoch) const noexcept;
  [[nodiscard]] virtual Result<std::vector<OwnerMark>> list_marks() const { return refusal(); }
  virtual Error drop_owner(std::uint64_t owner);
  virtual Result<bool> finish_recovery(std::uint64_t owner);
  virtual Error finish_filling() { return refusal(); }
  virtual Error supersede() { return refusal(); }
  virtual Error publish() { return refusal(); }
  virtual Error shut(const std::function<void()>& adds_are_over);
  virtual Error close() { return {}; }
  virtual void abandon() noexcept {}

 private:
  [[nodiscard]] virtual Code meaning_of(std::uint64_t differing) const noexcept;
  // Why there is no file for what only a file has.
  [[nodiscard]] virtual Error refusal() const;
};

}  // namespace bfstore::store
