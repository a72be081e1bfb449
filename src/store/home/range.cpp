#include "store/home/range.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "base/arith.hpp"
#include "base/fail.hpp"
#include "format/sections.hpp"
#include "store/file/memory.hpp"
#include "store/file/refusals.hpp"
#include "store/home/embedded.hpp"

namespace bfstore::store {
namespace {

using base::fail;
using region::File;

constexpr std::uint64_t kAlignment = 64;

Result<std::uint64_t> read_word(const File& file, std::uint64_t offset) {
  std::array<std::byte, sizeof(std::uint64_t)> word{};
  const auto got = file.read_at(word, offset);
  if (!got) return got.error();
  return base::load<std::uint64_t>(word.data());
}

Result<File> open_regular(const std::string& path, const OpenOptions& options) {
  auto file = open_for_reading(path, options);
  if (!file) return file;
  const auto facts = file->facts();
  if (!facts) return facts.error();
  if (!facts->regular) return fail(Code::kNotRegular, path + ": not a regular file. Give the path of a regular file.");
  return file;
}

// Reads the filter at that offset of the file, which must end within `available_bytes`.
Result<Embedded> read_embedded(const File& file, std::uint64_t offset, std::uint64_t available_bytes,
                               const std::optional<Secret>& secret) {
  const std::string where = file.path() + ": at byte " + std::to_string(offset) + ": ";
  std::vector<std::byte> header(std::min<std::uint64_t>(available_bytes, format::kMostEmbeddedHeader));
  const auto got = file.read_at(header, offset);
  if (!got) return got.error();
  auto found = begin_embedded(std::span(header).first(*got), available_bytes, false, secret, where);
  if (!found) return found;
  const auto end = read_word(file, offset + format::sections_of(found->identity).end_word.offset);
  if (!end) return end.error();
  if (*end != format::end_word(found->identity.file_id)) return cut_or_overwritten(where);
  return found;
}

Result<region::Mapping> map_range(const File& file, std::uint64_t offset, const Embedded& embedded,
                                  const MapOptions& options) {
  const format::Sections sections = format::sections_of(embedded.identity);
  const std::uint64_t first_page = base::round_down(offset, format::kPageBytes);
  const std::uint64_t start = offset - first_page;
  const std::uint64_t bytes = start + sections.end;
  auto mapping = options.copy
                     ? region::Mapping::copy(file, {}, first_page, start, bytes)
                     : region::Mapping::map(file, File::Access::kRead, first_page, bytes,
                                            options.random_access ? region::Pages::kSmall : region::Pages::kHuge);
  if (!mapping) return mapping;
  if (Error error = mapping->fill_holes(file, first_page, {{first_page, bytes}}); !error.ok()) return error;
  const std::uint64_t wanted = options.populate ? bytes : start + sections.header.bytes;
  if (Error error = mapping->populate(0, wanted); !error.ok()) return error;
  if (Error error = mapping->populate(start + sections.end_word.offset, sections.end_word.bytes); !error.ok())
    return error;
  if (options.guard) {
    std::byte* const checksum = mapping->data() + start + sections.identity_checksum.offset;
    if (Error error = mapping->guard({reinterpret_cast<std::uint64_t*>(checksum)}); !error.ok()) return error;
  }
  return mapping;
}

class InRange final : public Home {
 public:
  InRange(std::string path, region::FileFacts facts, std::uint64_t offset, Embedded embedded, region::Mapping mapping)
      : path_(std::move(path)),
        facts_(facts),
        offset_(offset),
        embedded_(std::move(embedded)),
        mapping_(std::move(mapping)) {}

  // Keeps the file of a descriptor, whose path leads nowhere.
  void keep(File file) { by_descriptor_.emplace(std::move(file)); }
  // The address at which the filter begins.
  [[nodiscard]] std::byte* start() const noexcept { return mapping_.data() + offset_ % format::kPageBytes; }

  [[nodiscard]] const format::Identity* identity() const noexcept override { return &embedded_.identity; }
  [[nodiscard]] const region::Mapping* mapping() const noexcept override { return &mapping_; }
  [[nodiscard]] bool is_shut() const noexcept override { return shut_.load(); }
  // True if the path still names the file, and the file has the filter's two words in their places.
  [[nodiscard]] Result<bool> is_current() override;
  // kFault if the words that a lookup compares cannot be read.
  [[nodiscard]] Result<Moment> moment() const override;
  // Bytes that cannot be read are an error, and no signal.
  [[nodiscard]] Error read_body(const std::uint64_t* words, std::span<std::byte> into,
                                std::uint64_t offset) const override;
  // Replaces the checksum by another word, for this handle alone.
  Error shut(const std::function<void()>& adds_are_over) override;

 private:
  [[nodiscard]] Result<bool> has_its_words(const File& file) const;

  std::string path_;
  std::optional<File> by_descriptor_;
  region::FileFacts facts_;  // when it was opened
  std::uint64_t offset_;     // where the filter begins in the file
  Embedded embedded_;
  region::Mapping mapping_;  // from the beginning of the filter's first page
  std::atomic<bool> shut_{false};
};

// Checks only that the words can be read: every lookup compares them, and a copy does so at its end.
Result<Moment> InRange::moment() const {
  const format::Sections sections = format::sections_of(embedded_.identity);
  std::array<std::byte, sizeof(std::uint64_t)> word{};
  for (const format::Section& place : {sections.identity_checksum, sections.end_word}) {
    if (Error error = mapping_.read(word, offset_ % format::kPageBytes + place.offset); !error.ok()) return error;
  }
  return Moment{};
}

Error InRange::read_body(const std::uint64_t* words, std::span<std::byte> into, std::uint64_t offset) const {
  if (mapping_.is_copy()) return Home::read_body(words, into, offset);
  return mapping_.read(into,
                       offset_ % format::kPageBytes + format::sections_of(embedded_.identity).body.offset + offset);
}

Error InRange::shut(const std::function<void()>&) {
  if (shut_.exchange(true)) return {};
  const std::uint64_t place =
      offset_ % format::kPageBytes + format::sections_of(embedded_.identity).identity_checksum.offset;
  std::vector<std::byte> page(format::kPageBytes);
  base::store(page.data() + place % page.size(), ~embedded_.checksum);
  if (mapping_.replace_page(base::round_down(place, format::kPageBytes), page)) return {};
  shut_ = false;
  return fail(Code::kNoMemory, path_ + ": no memory is left to shut the handle. Free some.");
}

Result<bool> InRange::is_current() {
  if (by_descriptor_) return by_descriptor_->has_its_path() ? has_its_words(*by_descriptor_) : false;
  if (is_shut()) return store::shut(path_);
  const auto file = File::open(path_, File::Access::kRead, File::Links::kFollow);
  if (!file && file.error().code == Code::kNotFound) return false;
  if (!file) return file.error();
  const auto facts = file->facts();
  if (!facts) return facts.error();
  if (facts->device != facts_.device || facts->inode != facts_.inode) return false;
  return has_its_words(*file);
}

Result<bool> InRange::has_its_words(const File& file) const {
  if (Error error = file.check_descriptor(); !error.ok()) return error;
  const format::Sections sections = format::sections_of(embedded_.identity);
  const auto checksum = read_word(file, offset_ + sections.identity_checksum.offset);
  if (!checksum) return checksum.error();
  const auto end = read_word(file, offset_ + sections.end_word.offset);
  if (!end) return end.error();
  return *checksum == embedded_.checksum && *end == format::end_word(embedded_.identity.file_id);
}

}  // namespace

Result<std::unique_ptr<Ask>> open_range(const std::string& path, std::uint64_t offset, std::uint64_t max_bytes,
                                        const OpenOptions& options) {
  if (options.follow)
    return fail(Code::kInvalid, path + ": a range of a file does not follow its path. Open the range again.");
  auto file = open_regular(path, options);
  if (!file) return file.error();
  if (!options.any_filesystem) {
    if (Error error = check_sharing(*file, File::Access::kRead, options.no_write || options.descriptor); !error.ok())
      return error;
  }
  const auto facts = file->facts();
  if (!facts) return facts.error();
  if (offset % kAlignment != 0) {
    return fail(Code::kInvalid,
                path + ": no filter can begin at byte " + std::to_string(offset) + ". Give a multiple of 64.");
  }
  if (offset >= facts->bytes) {
    return fail(Code::kTooShort,
                path + ": ends at byte " + std::to_string(facts->bytes) + ", before the filter begins");
  }
  const std::uint64_t left = facts->bytes - offset;
  auto found = read_embedded(*file, offset, max_bytes == 0 ? left : std::min(max_bytes, left), options.secret);
  if (!found) return found.error();
  auto mapping = map_range(*file, offset, *found, options.map);
  if (!mapping) return mapping.error();
  auto range = std::make_unique<InRange>(path, *facts, offset, *found, std::move(*mapping));
  if (options.descriptor) range->keep(std::move(*file));
  std::byte* const start = range->start();
  return ask_embedded(start, *found, Adding::kNever, options.secret, std::move(range));
}

}  // namespace bfstore::store
