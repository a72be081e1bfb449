// bfstore's C++ API as a subject, in a file or in a buffer.
#pragma once

#include <bfstore/filter.hpp>
#include <bfstore/layouts.hpp>

#include <cstring>
#include <memory>
#include <vector>

#include "fail.hpp"
#include "keys.hpp"
#include "limit.hpp"
#include "memory.hpp"

namespace bench {

class BfstoreSubject {
 public:
  // A file at `path`, mapped by the library.
  static std::unique_ptr<BfstoreSubject> in_file(const std::string& path, const bfstore::Options& options);
  // A filter in a buffer on the heap.
  static std::unique_ptr<BfstoreSubject> in_heap(const bfstore::Options& options, Pages pages = Pages::kHuge);

  bool contains_digest(std::uint64_t digest) const noexcept { return filter_.contains_digest(digest); }
  std::uint64_t contains_digests(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const {
    return count(filter_.contains_keys(bfstore::Keys::digests(digests), answers));
  }
  static constexpr std::size_t kFewestSorted = bfstore::Keys::kFewestSorted;
  std::uint64_t contains_sorted(std::span<const std::uint64_t> digests, std::span<std::uint8_t> answers) const {
    return count(filter_.contains_keys(with_scratch(digests), answers));
  }
  bool contains(std::string_view key) const noexcept { return filter_.contains(key); }
  std::uint64_t contains_column(const Column& keys, std::span<std::uint8_t> answers) const {
    return count(
        filter_.contains_keys(bfstore::Keys::column(keys.bytes.data(), keys.bytes.size(), keys.offsets), answers));
  }

  // Not checked one by one: an error is a negative number, and makes every sum wrong.
  std::uint64_t add_digest(std::uint64_t digest) noexcept { return filter_.add_digest(digest).keys(); }
  std::uint64_t add_digests(std::span<const std::uint64_t> digests) {
    return count(filter_.add_keys(bfstore::Keys::digests(digests)));
  }
  // For a filter that is the only writer's: others do not sort.
  std::uint64_t add_with_scratch(std::span<const std::uint64_t> digests) {
    return count(filter_.add_keys(with_scratch(digests)));
  }
  std::uint64_t add_column(const Column& keys) {
    return count(filter_.add_keys(bfstore::Keys::column(keys.bytes.data(), keys.bytes.size(), keys.offsets)));
  }

  // Writes to the mapping without the library, which cannot empty a filter. A new file for each pass would take
  // minutes.
  void clear() noexcept { std::memset(body_, 0, body_bytes_); }

  [[nodiscard]] const bfstore::Filter& filter() const noexcept { return filter_; }
  [[nodiscard]] std::string layout_name() const { return std::string(bfstore::layout_of(shape().layout)->name); }
  [[nodiscard]] bfstore::Shape shape() const noexcept { return filter_.shape(); }
  [[nodiscard]] const std::byte* body() const noexcept { return body_; }
  [[nodiscard]] std::uint64_t body_bytes() const noexcept { return body_bytes_; }
  [[nodiscard]] Lines lines() const noexcept {
    return {reinterpret_cast<std::uint64_t*>(body_), body_bytes_ / 64, shape().num_probes};
  }
  // Empty for a file.
  [[nodiscard]] std::span<std::byte> buffer() const noexcept {
    return buffer_ == nullptr ? std::span<std::byte>{} : buffer_->bytes();
  }

 protected:
  bfstore::Filter& changeable() noexcept { return filter_; }
  static std::uint64_t count(bfstore::Count outcome) {
    if (!outcome.ok()) fail(bfstore::code_text(outcome.code()));
    return outcome.keys();
  }

 private:
  BfstoreSubject(bfstore::Filter filter, std::unique_ptr<HeapBuffer> buffer) noexcept
      : buffer_(std::move(buffer)), filter_(std::move(filter)), body_bytes_(filter_.stats().body_bytes) {}

  bfstore::Keys with_scratch(std::span<const std::uint64_t> digests) const {
    const std::size_t bytes = bfstore::Keys::scratch_for(digests.size());
    if (bytes == 0) return bfstore::Keys::digests(digests);
    if (scratch_ == nullptr || scratch_->bytes().size() < bytes) scratch_ = std::make_unique<HeapBuffer>(bytes, pages_);
    return bfstore::Keys::digests(digests).with_scratch(scratch_->bytes().first(bytes));
  }

  std::unique_ptr<HeapBuffer> buffer_;
  bfstore::Filter filter_;
  std::uint64_t body_bytes_;
  std::byte* body_ = nullptr;
  Pages pages_ = Pages::kHuge;  // of the memory for sorting, too
  mutable std::unique_ptr<HeapBuffer> scratch_;
};

// A filter of the counting layout: removes keys, too.
class CountingSubject : public BfstoreSubject {
 public:
  static constexpr bool kCounts = true;

  explicit CountingSubject(BfstoreSubject made) noexcept : BfstoreSubject(std::move(made)) {}

  // Not checked one by one, as add_digest().
  std::uint64_t remove_digest(std::uint64_t digest) noexcept { return changeable().remove_digest(digest).keys(); }
  std::uint64_t remove_digests(std::span<const std::uint64_t> digests) {
    return count(changeable().remove_keys(bfstore::Keys::digests(digests)));
  }
};

// Only adds, through a handle that is the only writer of the same filter.
class AloneSubject {
 public:
  explicit AloneSubject(BfstoreSubject& filter) noexcept : filter_(filter) {}

  std::uint64_t add_digest(std::uint64_t digest) noexcept { return filter_.add_digest(digest); }
  std::uint64_t add_digests(std::span<const std::uint64_t> digests) { return filter_.add_digests(digests); }
  static constexpr std::size_t kFewestSorted = BfstoreSubject::kFewestSorted;
  std::uint64_t add_sorted(std::span<const std::uint64_t> digests) { return filter_.add_with_scratch(digests); }
  std::uint64_t add_column(const Column& keys) { return filter_.add_column(keys); }
  void clear() noexcept { filter_.clear(); }

 private:
  BfstoreSubject& filter_;
};

}  // namespace bench
