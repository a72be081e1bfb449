// Makes a new file of filters, which may be in use meanwhile. What the filters say of themselves is read once. A
// transform says what the new file is, and fills a file without a name. Then the filters are checked again, and only
// then the new file gets its name.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "store/derive/content.hpp"
#include "store/file/making.hpp"
#include "store/home/followed.hpp"

namespace bfstore::store {

struct Source {
  explicit Source(const Ask& of) : ask(of) {}

  Pinned ask;
  Content content;  // read before the first bit
};
using Sources = std::deque<Source>;  // no source moves

// The new file's counter and marks.
struct Facts {
  std::uint64_t keys_added = 0;
  std::vector<LogPosition> lanes{};
  std::optional<Turned> turned{};  // derive() sets it
};

// Makes one kind of new file. The calls come in this order, each of them once.
class Transform {
 public:
  Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  virtual ~Transform() = default;

  // Returns the identity of the new file, or why these sources cannot become one.
  virtual Result<format::Identity> identity(const Sources& sources) = 0;
  // An error if the new file may not replace the file that `to` names.
  virtual Error check_target(const Sources& sources, const std::string& to);
  // Writes the body.
  virtual Result<Facts> fill(const Sources& sources, OpenFile& made) = 0;
  // Called after the last bit was read, and after the file that is replaced was superseded. An error if the bits that
  // were read may lack keys.
  virtual Error check_read(const Sources& sources);
};

// Gives the new file the note that the options say, or otherwise the one that all sources have, if it is the same one.
// kInvalid if that is too long.
Error set_note(format::Identity& identity, const Sources& sources, const SaveOptions& options);

// Makes the new file. It appears at `to` complete and durable, or not at all.
Error derive(std::span<const Ask* const> from, const std::string& to, const Making& how, Transform& transform);

// Writes words of the body, from the word number `first` on.
Error write_words(const OpenFile& made, std::uint64_t first, std::span<const std::uint64_t> words);

}  // namespace bfstore::store
