// A reader of Thrift's compact protocol, as far as metadata of Parquet needs it. The bytes are hostile: after the first
// that no writer writes, the reader has failed, and every number is 0. It takes no memory and recurses to a fixed
// depth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bfstore::interop {

class ThriftReader {
 public:
  // The types of the compact protocol. A field of a boolean has its value in its type.
  enum class Type : std::uint8_t {
    kStop = 0,
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kI16 = 4,
    kI32 = 5,
    kI64 = 6,
    kDouble = 7,
    kBinary = 8,
    kList = 9,
    kSet = 10,
    kMap = 11,
    kStruct = 12,
  };
  struct Field {
    std::int32_t id = 0;
    Type type = Type::kStop;
  };
  struct List {
    std::uint64_t size = 0;
    Type type = Type::kStop;
  };

  explicit ThriftReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  // The bytes that were read.
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

  // Calls take(field) for each field of the struct that begins here. It must read the field's value, or skip() it.
  template <class Take>
  void each_field(Take take) {
    std::int32_t id = 0;
    for (Field field = next_field(id); field.type != Type::kStop; field = next_field(id)) {
      id = field.id;
      take(field);
    }
  }
  // Calls take() for each element of the list of structs that the field is. It must read the struct.
  template <class Take>
  void each_struct(const Field& field, Take take) {
    const List list = list_of(field, Type::kStruct);
    for (std::uint64_t i = 0; i < list.size && !failed_; ++i) take();
  }
  // Calls take(text) for each element of the list of texts that the field is.
  template <class Take>
  void each_text(const Field& field, Take take) {
    const List list = list_of(field, Type::kBinary);
    for (std::uint64_t i = 0; i < list.size && !failed_; ++i) take(binary());
  }

  // The value of a field that is a text.
  std::string_view text(const Field& field) noexcept {
    if (field.type != Type::kBinary) fail();
    return binary();
  }
  // The value of a field that is a number of 16, 32 or 64 bits.
  std::int64_t number(const Field& field) noexcept {
    if (field.type != Type::kI16 && field.type != Type::kI32 && field.type != Type::kI64) fail();
    const std::uint64_t zigzag = varint();
    return static_cast<std::int64_t>(zigzag >> 1 ^ (0 - (zigzag & 1)));
  }
  // Fails unless the field is a struct.
  void want_struct(const Field& field) noexcept {
    if (field.type != Type::kStruct) fail();
  }
  void skip(const Field& field) noexcept { skip(field.type, kMostDepth, false); }
  void fail() noexcept { failed_ = true; }

 private:
  static constexpr int kMostDepth = 32;

  std::uint8_t byte() noexcept {
    if (at_ < bytes_.size() && !failed_) return std::to_integer<std::uint8_t>(bytes_[at_++]);
    fail();
    return 0;
  }
  std::uint64_t varint() noexcept {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t next = byte();
      number |= (next & 0x7f) << shift;
      if (next < 0x80) return failed_ ? 0 : number;
    }
    fail();
    return 0;
  }
  void pass(std::uint64_t bytes) noexcept {
    if (failed_ || bytes > bytes_.size() - at_) return fail();
    at_ += static_cast<std::size_t>(bytes);
  }
  std::string_view binary() noexcept {
    const std::uint64_t size = varint();
    const std::size_t begin = at_;
    pass(size);
    if (failed_) return {};
    return {reinterpret_cast<const char*>(bytes_.data() + begin), static_cast<std::size_t>(size)};
  }

  Field next_field(std::int32_t last) noexcept {
    constexpr std::int32_t kMostId = INT16_MAX;
    const std::uint8_t head = byte();
    const auto type = static_cast<Type>(head & 0x0f);
    if (failed_ || type == Type::kStop) return {};
    Field field{last + (head >> 4), type};
    if (head >> 4 == 0) field.id = static_cast<std::int32_t>(number({0, Type::kI16}));
    if (type > Type::kStruct || field.id < 0 || field.id > kMostId) fail();
    return failed_ ? Field{} : field;
  }
  // Every element takes a byte at least, so a list is not longer than what is left.
  List next_list() noexcept {
    constexpr std::uint64_t kSizeFollows = 15;
    const std::uint8_t head = byte();
    List list{static_cast<std::uint64_t>(head >> 4), static_cast<Type>(head & 0x0f)};
    if (list.size == kSizeFollows) list.size = varint();
    if (list.size > bytes_.size() - at_ || list.type > Type::kStruct) fail();
    return failed_ ? List{} : list;
  }
  List list_of(const Field& field, Type type) noexcept {
    if (field.type != Type::kList) fail();
    const List list = next_list();
    if (list.size != 0 && list.type != type) fail();
    return failed_ ? List{} : list;
  }

  void skip_struct(int depth) noexcept {
    std::int32_t id = 0;
    for (Field field = next_field(id); field.type != Type::kStop; field = next_field(id)) {
      id = field.id;
      skip(field.type, depth, false);
    }
  }
  void skip_list(int depth) noexcept {
    const List list = next_list();
    for (std::uint64_t i = 0; i < list.size && !failed_; ++i) skip(list.type, depth, true);
  }
  void skip_map(int depth) noexcept {
    const std::uint64_t size = varint();
    if (size == 0) return;
    const std::uint8_t types = byte();
    if (size > bytes_.size() - at_) fail();
    for (std::uint64_t i = 0; i < size && !failed_; ++i) {
      skip(static_cast<Type>(types >> 4), depth, true);
      skip(static_cast<Type>(types & 0x0f), depth, true);
    }
  }
  // A boolean is a byte only in a list, a set or a map.
  void skip(Type type, int depth, bool is_element) noexcept {
    if (failed_ || depth == 0) return fail();
    switch (type) {
      case Type::kTrue:
      case Type::kFalse:
        return is_element ? pass(1) : void();
      case Type::kByte:
        return pass(1);
      case Type::kI16:
      case Type::kI32:
      case Type::kI64:
        varint();
        return;
      case Type::kDouble:
        return pass(8);
      case Type::kBinary:
        binary();
        return;
      case Type::kList:
      case Type::kSet:
        return skip_list(depth - 1);
      case Type::kMap:
        return skip_map(depth - 1);
      case Type::kStruct:
        return skip_struct(depth - 1);
      case Type::kStop:
        break;
    }
    fail();
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace bfstore::interop
