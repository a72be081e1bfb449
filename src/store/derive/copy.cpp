// Saves a filter, wherever it is, as a new file: as it is, or folded.
#include "base/fail.hpp"
#include "store/derive/derive.hpp"
#include "store/derive/fold.hpp"

namespace bfstore {
namespace {

class Copy final : public store::Transform {
 public:
  explicit Copy(const SaveOptions& options) noexcept : options_(options) {}

  Result<format::Identity> identity(const store::Sources& sources) override {
    content_ = sources.front().content;
    if (Error error = store::check_has_epoch(*sources.front().ask); !error.ok()) return error;
    const auto times = store::fold(*sources.front().ask, content_, options_.fpr);
    if (!times) return times.error();
    times_ = *times;
    return store::identity_in(content_, format::Form::kFile, options_.same_file_id);
  }

  Result<store::Facts> fill(const store::Sources& sources, store::OpenFile& made) override {
    const auto write = [&](std::uint64_t first, std::span<const std::uint64_t> words) {
      return store::write_words(made, first, words);
    };
    const std::uint32_t num_slices = content_.num_slices;
    if (Error error = made.give_slices(num_slices); !error.ok()) return error;
    if (Error error = store::each_folded_piece(*sources.front().ask, times_, write, options_.watch, num_slices);
        !error.ok())
      return error;
    return store::Facts{content_.keys_added, content_.lanes};
  }

 private:
  const SaveOptions& options_;
  store::Content content_;
  std::uint64_t times_ = 1;
};

}  // namespace

Error Filter::save(const std::string& path, const SaveOptions& options) const {
  if (options.note) return base::fail(Code::kInvalid, path + ": a copy has the note of its source. Give none.");
  const bool never_changes = ask_->row.info.can.build && options.fpr == 0;  // nor can it be folded, which Copy says
  const bool is_sealed = options.sealed || never_changes;
  if (is_sealed) return save_sealed(path, options);
  const auto making = store::making_at(path, options);
  if (!making) return making.error();
  Copy copy(options);
  return store::derive({{ask_.get()}}, path, *making, copy);
}

}  // namespace bfstore
