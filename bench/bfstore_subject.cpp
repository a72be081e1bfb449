#include "bfstore_subject.hpp"

#include <bfstore/inspect.hpp>

namespace bench {
namespace {

template <class T>
T take(bfstore::Result<T> result) {
  if (!result) fail(result.error().message);
  return std::move(*result);
}

}  // namespace

std::unique_ptr<BfstoreSubject> BfstoreSubject::in_file(const std::string& path, const bfstore::Options& options) {
  auto filter = take(bfstore::Filter::create(path, options));
  const auto report = take(bfstore::inspect(path, false));
  if (!report.identity) fail(path + ": the file that was just made has no identity");
  std::unique_ptr<BfstoreSubject> subject(new BfstoreSubject(std::move(filter), nullptr));
  subject->body_ = mapping_of(path) + report.identity->body_offset;
  return subject;
}

std::unique_ptr<BfstoreSubject> BfstoreSubject::in_heap(const bfstore::Options& options, Pages pages) {
  auto buffer = std::make_unique<HeapBuffer>(take(bfstore::Filter::required_bytes(options)), pages);
  const std::span<std::byte> bytes = buffer->bytes();
  auto filter = take(bfstore::Filter::format(bytes, options));
  std::unique_ptr<BfstoreSubject> subject(new BfstoreSubject(std::move(filter), std::move(buffer)));
  subject->pages_ = pages;
  constexpr std::uint64_t kEndWordBytes = 8;  // after the body, at the buffer's end
  subject->body_ = bytes.data() + bytes.size() - kEndWordBytes - subject->body_bytes_;
  return subject;
}

}  // namespace bench
