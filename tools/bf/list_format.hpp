// The rules by which a list is divided into keys.
#pragma once

namespace bf {

struct ListFormat {
  char separator = '\n';
  bool any_bytes = false;  // --binary: nothing is refused, left out or decompressed

  [[nodiscard]] bool is_text() const noexcept { return separator == '\n' && !any_bytes; }
};

}  // namespace bf
