// Every system call of every operation on a file fails, or is the last thing that its process does. Then there is an
// error or no harm, nothing is left over, no process answers no for an acknowledged key, and the file can still be
// used, after a recovery if need be. By hand, for longer: every_call_test --rounds=20, which takes other keys each
// time.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>
#include <bfstore/delta.hpp>
#include <bfstore/interop.hpp>
#include <bfstore/seal.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "region/fork.hpp"
#include "support.hpp"

using namespace bfstore;
using namespace store_test;
using format::Slot;

namespace {

constexpr std::array<unsigned, 2> kOwners{1, 2};
constexpr std::uint64_t kMark = kSome / 2;
constexpr unsigned kNewcomer = 3;  // its keys are in the file that replaces another
const OpenOptions kRecover{.recover = true};

std::uint64_t first_key = 0;  // of this round

// A file, the handles that have it open, and what was acknowledged in it.
struct Scene {
  TempDir dir{memory_folder()};
  std::string path = dir.file();
  std::optional<Filter> onlooker;  // a reader that opened the file before
  std::optional<Filter> beside;    // another writer
  std::optional<Filter> handle;    // of the process that acts
  std::uint64_t acknowledged = 0;  // keys of each owner
  std::uint64_t mark = 0;          // of each owner, at least
};

void add_some(Filter& filter, unsigned writer, std::uint64_t from, std::uint64_t count) {
  add_keys(filter, writer, first_key + from, count);
}

bool all_maybe(const Filter& filter, unsigned writer, std::uint64_t count) {
  return maybes(filter, writer, first_key, count) == count;
}

bool nothing_lost(const Scene& scene, const Filter& filter) {
  return all_maybe(filter, 1, scene.acknowledged) && all_maybe(filter, 2, scene.acknowledged);
}

Error take(Scene& scene, Result<Filter> result) {
  if (!result) return result.error();
  scene.handle.emplace(std::move(result).value());
  return {};
}

Error open_it(Scene& scene, OpenMode mode, const OpenOptions& options = {}) {
  return take(scene, Filter::open(scene.path, mode, options));
}

// --- The scene before ------------------------------------------------------------------------------------------------

void nothing(Scene&) {}

void clean_with(Scene& scene, const Options& options) {
  Filter filter = created(scene.path, options);
  for (const unsigned owner : kOwners) {
    add_some(filter, owner, 0, kSome);
    REQUIRE(filter.sync({.owner = owner, .mark = kMark}).ok());
  }
  REQUIRE(filter.close().ok());
  scene.acknowledged = kSome;
  scene.mark = kMark;
}

void clean(Scene& scene) { clean_with(scene, small_options()); }

void classic(Scene& scene) {
  Options options = small_options();
  options.layout = Layout::kClassic;
  clean_with(scene, options);
}

// The words of epochs 1 and 2 have keys, and the oldest one of 4 is that of epoch 0.
void windowed(Scene& scene) {
  Options options = small_options();
  options.layout = Layout::kWindow4;
  options.window_ms = 1;
  Filter filter = created(scene.path, options);
  for (const unsigned owner : kOwners) {
    REQUIRE(filter.turn(owner - 1).value());
    add_some(filter, owner, 0, kSome);
    REQUIRE(filter.sync({.owner = owner, .mark = kMark}).ok());
  }
  REQUIRE(filter.turn(2).value());
  REQUIRE(filter.close().ok());
  scene.acknowledged = kSome;
  scene.mark = kMark;
}

void windowed_in_use(Scene& scene) {
  windowed(scene);
  scene.onlooker = opened(Filter::open(scene.path, OpenMode::kRead));
  scene.beside = opened(Filter::open(scene.path, OpenMode::kWrite));
}

void looked_at(Scene& scene) {
  clean(scene);
  scene.onlooker = opened(Filter::open(scene.path, OpenMode::kRead));
}

std::string later_than(const Scene& scene) { return scene.path + ".later"; }

// Leaves a sealed file of the same filter with more keys, and the delta between them.
void with_a_delta(Scene& scene) {
  looked_at(scene);
  const std::string more = scene.path + ".more";
  REQUIRE(scene.onlooker->save(more).ok());
  Filter filter = opened(Filter::open(more, OpenMode::kWrite));
  add_some(filter, kNewcomer + 1, 0, kSome);
  REQUIRE(filter.close().ok());
  REQUIRE(seal(more, later_than(scene)).ok());
  REQUIRE(std::filesystem::remove(more));
  REQUIRE(make_delta(scene.path, later_than(scene), scene.path + ".delta").ok());
}

void in_use(Scene& scene) {
  looked_at(scene);
  scene.beside = opened(Filter::open(scene.path, OpenMode::kWrite));
}

// Leaves a file whose process ended without closing anything.
void adoptable(Scene& scene) {
  clean(scene);
  REQUIRE(in_child([&] {
            auto filter = Filter::open(scene.path, OpenMode::kWrite);
            _exit(filter.ok() ? 0 : 1);
            return 0;
          }) == 0);
  CHECK(state_of(scene.path) == FileState::kAdoptable);
}

void unclean(Scene& scene) {
  adoptable(scene);
  edit_slots(scene.path, [](Slot& slot) { slot.place.boot_id[0] ^= 1; });
  CHECK(state_of(scene.path) == FileState::kUnclean);
}

// Both owners' keys are in slices that the slots count.
void grown(Scene& scene) {
  Options options = small_options();
  options.layout = Layout::kGrowing;
  options.capacity = kSome / 2;
  options.bits_per_key = 0;
  options.capacity_at_most = 31 * kSome / 2;  // each slice has twice as many as the one before
  clean_with(scene, options);
  scene.onlooker = opened(Filter::open(scene.path, OpenMode::kRead));
}

// And a process that was killed in another boot has added one more slice.
void grown_unclean(Scene& scene) {
  grown(scene);
  scene.onlooker.reset();
  const std::uint32_t before = look_at(scene.path).newest().num_slices;
  REQUIRE(in_child([&] {
            auto filter = Filter::open(scene.path, OpenMode::kWrite);
            for (std::uint64_t i = 0; filter.ok() && i < 2 * kSome; ++i)
              static_cast<void>(filter->add(key_of(kNewcomer + 1, i)));
            _exit(filter.ok() ? 0 : 1);
            return 0;
          }) == 0);
  edit_slots(scene.path, [](Slot& slot) { slot.place.boot_id[0] ^= 1; });
  CHECK(state_of(scene.path) == FileState::kUnclean);
  CHECK(look_at(scene.path).newest().num_slices == before);
}

void set_flag(Scene& scene, std::uint64_t flag) { set_live_word(scene.path, look_at(scene.path).live_word | flag); }

void poisoned(Scene& scene) {
  adoptable(scene);
  set_flag(scene, format::LiveWord::kPoisoned);
}

void died_in_a_sync(Scene& scene) {
  adoptable(scene);
  set_syncing(scene.path);
}

void left_superseded(Scene& scene) {
  looked_at(scene);
  set_flag(scene, format::LiveWord::kSuperseded);
}

void paused(Scene& scene) {
  unclean(scene);
  Filter filter = opened(Filter::open(scene.path, OpenMode::kWrite, kRecover));
  const auto over = filter.finish_recovery(1);
  REQUIRE(over.ok());
  CHECK_FALSE(*over);
  REQUIRE(filter.close().ok());
}

void recovering(Scene& scene) {
  unclean(scene);
  REQUIRE(in_child([&] {
            auto filter = Filter::open(scene.path, OpenMode::kWrite, kRecover);
            _exit(filter.ok() && filter->finish_recovery(1).ok() ? 0 : 1);
            return 0;
          }) == 0);
  CHECK(state_of(scene.path) == FileState::kRecovering);
}

void recovered_by_another(Scene& scene) {
  unclean(scene);
  scene.beside = opened(Filter::open(scene.path, OpenMode::kWrite, kRecover));
}

// --- Preparations of the acting process ------------------------------------------------------------------------------

void nobody(Scene&) {}

void writer(Scene& scene) {
  REQUIRE(open_it(scene, OpenMode::kWrite).ok());
  for (const unsigned owner : kOwners) add_some(*scene.handle, owner, kSome, kSome);
}

void onlooker(Scene& scene) { REQUIRE(open_it(scene, OpenMode::kRead).ok()); }

void recoverer(Scene& scene) { REQUIRE(open_it(scene, OpenMode::kWrite, kRecover).ok()); }

void last_recoverer(Scene& scene) {
  recoverer(scene);
  REQUIRE(scene.handle->finish_recovery(1).ok());
}

Options replacing(bool unpublished) {
  Options options = small_options();
  options.replace = true;
  options.unpublished = unpublished;
  return options;
}

void successor(Scene& scene) {
  REQUIRE(take(scene, Filter::create(scene.path, replacing(true))).ok());
  add_some(*scene.handle, kNewcomer, 0, kSome);
}

void unpublished(Scene& scene) {
  Options options = small_options();
  options.unpublished = true;
  REQUIRE(take(scene, Filter::create(scene.path, options)).ok());
  add_some(*scene.handle, kNewcomer, 0, kSome);
}

// A layout that is built once: the handle gathers the newcomer's keys, and has no file before it is published.
Options built_once(bool replace) {
  Options options;
  options.layout = Layout::kStatic;
  options.seed = 1;
  options.replace = replace;
  options.unpublished = true;
  return options;
}

void gather(Scene& scene, bool replace) {
  REQUIRE(take(scene, Filter::create(scene.path, built_once(replace))).ok());
  add_some(*scene.handle, kNewcomer, 0, kSome);
}

void gatherer(Scene& scene) { gather(scene, false); }
void gathering_successor(Scene& scene) { gather(scene, true); }

void static_file(Scene& scene) {
  Filter filter = created(scene.path, built_once(false));
  for (const unsigned owner : kOwners) add_some(filter, owner, 0, kSome);
  REQUIRE(filter.publish().ok());
  scene.acknowledged = kSome;
  scene.onlooker = opened(Filter::open(scene.path, OpenMode::kRead));
}

// --- The operations, and what holds after each that succeeded --------------------------------------------------------

// Opens the file, or makes it.
Error open_or_make(Scene& scene) {
  bool made = false;
  return take(scene, Filter::open_or_create(scene.path, OpenMode::kWrite, small_options(), {}, &made));
}
// A file of keys, of which every file that has the name has all.
Error build_it(Scene& scene) {
  std::vector<std::uint64_t> digests(kSome);
  for (std::uint64_t i = 0; i < kSome; ++i) digests[i] = (i + 1) * 0x9e3779b97f4a7c15;
  return take(scene, Filter::build(scene.path, small_options(), Keys::digests(digests)));
}
Error build_static_file(Scene& scene, bool replace) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < kSome; ++i) keys.push_back(key_of(kNewcomer, first_key + i));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  return take(scene, Filter::build(scene.path, built_once(replace), Keys::views(views)));
}
Error build_static(Scene& scene) { return build_static_file(scene, false); }
Error replace_by_static(Scene& scene) { return build_static_file(scene, true); }
Error make(Scene& scene) { return take(scene, Filter::create(scene.path, small_options())); }
Error replace(Scene& scene) { return take(scene, Filter::create(scene.path, replacing(false))); }
Error publish(Scene& scene) { return scene.handle->publish(); }
Error supersede_and_publish(Scene& scene) {
  if (Error error = scene.handle->supersede(); !error.ok()) return error;
  return scene.handle->publish();
}
Error read(Scene& scene) { return open_it(scene, OpenMode::kRead); }
Error write(Scene& scene) { return open_it(scene, OpenMode::kWrite); }
Error write_alone(Scene& scene) { return open_it(scene, OpenMode::kExclusive); }
Error recover(Scene& scene) { return open_it(scene, OpenMode::kWrite, kRecover); }
Error recover_alone(Scene& scene) { return open_it(scene, OpenMode::kExclusive, kRecover); }
Error accept_loss(Scene& scene) { return open_it(scene, OpenMode::kWrite, {.accept_loss = true}); }
Error sync_it(Scene& scene) { return scene.handle->sync({.owner = 1, .mark = 2 * kSome}); }
Error say_recovered(Scene& scene) {
  const auto over = scene.handle->finish_recovery(2);
  return over.ok() ? Error{} : over.error();
}
Error turn_it(Scene& scene) {
  const auto turned = scene.handle->turn(3);
  return turned.ok() ? Error{} : turned.error();
}
std::string delta_of(const Scene& scene) { return scene.path + ".delta"; }
std::string sealed_in(const Scene& scene) { return scene.dir.file("sealed"); }
Error seal_it(Scene& scene) { return seal(scene.path, sealed_in(scene)); }
Error save_it_sealed(Scene& scene) { return scene.handle->save(sealed_in(scene), {.sealed = true}); }
Error save_it(Scene& scene) { return scene.handle->save(sealed_in(scene)); }
// The rest of a fold is written last.
Error save_it_folded(Scene& scene) { return scene.handle->save(sealed_in(scene), {.fpr = 0.3}); }
Error intersect_it(Scene& scene) {
  const Filter* const sources[] = {&*scene.handle, &*scene.handle};
  return Filter::intersect(sources, sealed_in(scene));
}
Error compare_it(Scene& scene) {
  const auto found = scene.handle->compare(*scene.handle);
  return found.ok() ? Error{} : found.error();
}
// An array that is not whole says "maybe" of every key.
Error export_it(Scene& scene) {
  std::vector<std::byte> bits((scene.handle->shape().num_bits + 7) / 8);
  const Error error = scene.handle->export_bits(bits, BitOrder::kBig);
  const auto ones = std::count(bits.begin(), bits.end(), std::byte{0xff});
  CHECK((static_cast<std::size_t>(ones) == bits.size()) == !error.ok());
  return error;
}
// Bits of another program. Every file that has the name has all of them.
constexpr std::uint64_t kForeignBits = std::uint64_t{1} << 20;
std::vector<std::byte> foreign_bits() {
  std::vector<std::byte> bits(kForeignBits / 8);
  for (std::size_t i = 0; i < bits.size(); i += 97) bits[i] = std::byte{0x11};
  return bits;
}
Error import_it(Scene& scene) {
  Options options;
  options.hash = Hash::kMurmur3;
  options.num_bits = kForeignBits;
  options.num_probes = 3;
  return take(scene, Filter::import_foreign(scene.path, foreign_bits(), {"raw", BitOrder::kBig, {}}, options));
}
void check_imported(const Filter& filter) {
  std::vector<std::byte> bits(kForeignBits / 8);
  CHECK(filter.export_bits(bits, BitOrder::kBig).ok());
  CHECK(bits == foreign_bits());
}
Error make_the_delta(Scene& scene) {
  return make_delta(scene.path, later_than(scene), delta_of(scene), {.replace = true});
}
Error apply_it(Scene& scene) { return apply_delta(scene.path, delta_of(scene), sealed_in(scene)); }
bool seals(Error (*act)(Scene&)) { return act == seal_it || act == save_it_sealed || act == apply_it; }
bool makes_a_copy(Error (*act)(Scene&)) { return act == save_it || act == save_it_folded || act == intersect_it; }
Error close_it(Scene& scene) {
  Error error = scene.handle->close();
  scene.handle.reset();
  return error;
}

void reads(Scene& scene) { CHECK(answers_no(*scene.handle)); }
void writes(Scene& scene) {
  CHECK(scene.handle->health() == Code::kOk);
  CHECK(scene.handle->sync({.owner = 1, .mark = kMark}).ok());
  CHECK(look_at(scene.path).says_dirty());
}
void recovers(Scene& scene) {
  CHECK(scene.handle->health() == Code::kRecovering);
  CHECK(maybes(*scene.handle, kNobody, 0, kSome) == kSome);
}
void has_name(Scene& scene) {
  CHECK(scene.dir.names() == std::vector<std::string>{"filter.bf"});
  CHECK(*scene.handle->is_current());
}
void is_imported(Scene& scene) {
  has_name(scene);
  check_imported(*scene.handle);
  CHECK(state_of(scene.path) == FileState::kClean);
}
void is_built(Scene& scene) {
  has_name(scene);
  for (std::uint64_t i = 0; i < kSome; ++i) CHECK(scene.handle->contains_digest((i + 1) * 0x9e3779b97f4a7c15));
  CHECK(state_of(scene.path) == FileState::kClean);
}
// A handle that could not open its file answers "maybe".
void is_static(Scene& scene) {
  CHECK(scene.dir.names() == std::vector<std::string>{"filter.bf"});
  CHECK(state_of(scene.path) == FileState::kClean);
  CHECK(all_maybe(*scene.handle, kNewcomer, kSome));
  CHECK((answers_no(*scene.handle) || scene.handle->health() == Code::kLost));
}
// Checks that the file that was built once has every key, and is what was sealed. If its name was not durable, no
// process believes it, and it is built again.
void check_static(const Scene& scene) {
  if (const Code code = open_code(scene.path, OpenMode::kRead); code != Code::kOk) {
    CHECK(code == Code::kPoisoned);
    Filter again = created(scene.path, built_once(true));
    add_some(again, kNewcomer, 0, kSome);
    CHECK(again.publish().ok());
  }
  const auto found = verify(scene.path);
  REQUIRE(found.ok());
  CHECK(found->damaged.empty());
  const Filter reader = opened(Filter::open(scene.path, OpenMode::kRead));
  CHECK(all_maybe(reader, kNewcomer, kSome));
  CHECK(answers_no(reader));
  CHECK(code_of(Filter::open(scene.path, OpenMode::kWrite)) == Code::kSealed);
}
void is_synced(Scene& scene) { CHECK(format::mark_of(look_at(scene.path).newest(), 1) == 2 * kSome); }
void is_turned(Scene& scene) {
  CHECK(look_at(scene.path).newest().epoch == 4);
  CHECK(scene.handle->stats({}).turning->epoch == 4);
  CHECK(nothing_lost(scene, *scene.handle));
}
void is_recovered(Scene& scene) { CHECK(scene.handle->health() == Code::kOk); }
void is_not_yet_recovered(Scene& scene) { CHECK(scene.handle->health() == Code::kRecovering); }
void is_clean(Scene& scene) { CHECK(state_of(scene.path) == FileState::kClean); }
void is_in_use(Scene& scene) { CHECK(state_of(scene.path) == FileState::kInUse); }
// Checks the sealed file, whether or not the call said that it was sealed.
void check_sealed(const Scene& scene) {
  const auto found = verify(sealed_in(scene));
  REQUIRE(found.ok());
  CHECK(found->damaged.empty());
  CHECK(nothing_lost(scene, opened(Filter::open(sealed_in(scene), OpenMode::kRead))));
}
void is_sealed(Scene& scene) {
  check_sealed(scene);
  std::filesystem::remove(sealed_in(scene));
}
// Checks the saved file, which has the sealed file's name, so that the aftermath looks at it.
void is_saved(Scene& scene) {
  CHECK(state_of(sealed_in(scene)) == FileState::kClean);
  CHECK(nothing_lost(scene, opened(Filter::open(sealed_in(scene), OpenMode::kRead))));
  std::filesystem::remove(sealed_in(scene));
}
void is_a_delta(Scene& scene) { CHECK(inspect_delta(delta_of(scene)).ok()); }
void is_paused(Scene& scene) { CHECK(look_at(scene.path).newest().state == format::SlotState::kPaused); }

// The codes that the header lists for each function of the C ABI.
const std::map<std::string, std::set<std::int32_t>> kListedCodes{
#include "listed_codes.inc"
};

// C has one code for all rules of the format's bytes.
std::int32_t number_in_c(Code code) {
  if (static_cast<std::int32_t>(code) > -200) return static_cast<std::int32_t>(code);
  switch (code) {
    case Code::kNotRegular:
      return -200;
    case Code::kSymlink:
      return -201;
    case Code::kVersion:
      return -203;
    case Code::kFeature:
    case Code::kLayout:
    case Code::kHash:
      return -204;
    default:
      return -202;
  }
}

const char* in_the_c_abi(Error (*act)(Scene&)) {
  if (act == make || act == replace) return "bfs_create";
  if (act == publish) return "bfs_publish";
  if (act == supersede_and_publish) return "bfs_supersede";
  if (act == sync_it) return "bfs_sync";
  if (act == turn_it) return "bfs_turn";
  if (act == say_recovered) return "bfs_finish_recovery";
  if (act == build_it || act == build_static || act == replace_by_static) return "bfs_build";
  if (act == make_the_delta) return "bfs_make_delta";
  if (act == apply_it) return "bfs_apply_delta";
  if (seals(act) || makes_a_copy(act)) return act == intersect_it ? "bfs_intersect" : "bfs_copy";
  if (act == compare_it) return "bfs_compare";
  if (act == import_it) return "bfs_foreign_import";
  if (act == export_it) return "bfs_export_bits";
  return act == close_it ? "bfs_close" : "bfs_open";
}

struct Operation {
  const char* name;
  void (*lay)(Scene&);    // by the test's process
  void (*ready)(Scene&);  // by the process that acts
  Error (*act)(Scene&);   // its calls are counted
  void (*done)(Scene&);
  std::uint64_t acknowledged_more = 0;  // keys that `ready` adds for each owner
  enum class Name { kStays, kNew, kReplaced } name_of_file = Name::kStays;
};

constexpr auto kNew = Operation::Name::kNew;
constexpr auto kReplaced = Operation::Name::kReplaced;

const Operation kOperations[] = {
    {"create", nothing, nobody, make, has_name, 0, kNew},
    {"create with replace", looked_at, nobody, replace, has_name, 0, kReplaced},
    {"create with replace, beside a writer", in_use, nobody, replace, has_name, 0, kReplaced},
    {"import a foreign filter", nothing, nobody, import_it, is_imported, 0, kNew},
    {"open or create, where no file is", nothing, nobody, open_or_make, has_name, 0, kNew},
    {"open or create, where a file is", looked_at, nobody, open_or_make, writes},
    {"open or create, where a file is in use", in_use, nobody, open_or_make, writes},
    {"build a file of keys", nothing, nobody, build_it, is_built, 0, kNew},
    {"build a static file", nothing, nobody, build_static, is_static, 0, kNew},
    {"build a static file with replace, beside a writer", in_use, nobody, replace_by_static, is_static, 0, kReplaced},
    {"publish gathered keys", nothing, gatherer, publish, is_static, 0, kNew},
    {"publish gathered keys with replace", looked_at, gathering_successor, publish, is_static, 0, kReplaced},
    {"publish gathered keys with replace, beside a writer", in_use, gathering_successor, publish, is_static, 0,
     kReplaced},
    {"replace a static file", static_file, gathering_successor, publish, is_static, 0, kReplaced},
    {"read a static file", static_file, nobody, read, reads},
    {"publish", nothing, unpublished, publish, has_name, 0, kNew},
    {"publish with replace", looked_at, successor, publish, has_name, 0, kReplaced},
    {"supersede, then publish", in_use, successor, supersede_and_publish, has_name, 0, kReplaced},
    {"read a clean file", looked_at, nobody, read, reads},
    {"read a file in use", in_use, nobody, read, reads},
    {"read an adoptable file", adoptable, nobody, read, reads},
    {"read a file whose replacer was killed", left_superseded, nobody, read, reads},
    {"write to a clean file", looked_at, nobody, write, writes},
    {"write to a file in use", in_use, nobody, write, writes},
    {"write to an adoptable file", adoptable, nobody, write, writes},
    {"write to a file whose replacer was killed", left_superseded, nobody, write, writes},
    {"write alone to a clean file", looked_at, nobody, write_alone, writes},
    {"write alone to an adoptable file", adoptable, nobody, write_alone, writes},
    {"recover an unclean file", unclean, nobody, recover, recovers},
    {"recover an unclean file alone", unclean, nobody, recover_alone, recovers},
    {"recover a poisoned file", poisoned, nobody, recover, recovers},
    {"recover a file whose writer died in a sync", died_in_a_sync, nobody, recover, recovers},
    {"recover a paused file", paused, nobody, recover, recovers},
    {"recover a file whose recoverer was killed", recovering, nobody, recover, recovers},
    {"recover a file beside another recoverer", recovered_by_another, nobody, recover, recovers},
    {"recover nothing", looked_at, nobody, recover, writes},
    {"accept the loss of an unclean file", unclean, nobody, accept_loss, writes},
    {"accept the loss of a file whose recoverer was killed", recovering, nobody, accept_loss, writes},
    {"sync with a mark", looked_at, writer, sync_it, is_synced, kSome},
    {"sync with a mark beside a writer", in_use, writer, sync_it, is_synced, kSome},
    {"end an epoch", windowed, writer, turn_it, is_turned, kSome},
    {"end an epoch beside a writer", windowed_in_use, writer, turn_it, is_turned, kSome},
    {"sync a file that grows, with a mark", grown, writer, sync_it, is_synced, kSome},
    {"recover a file that grew after its last sync", grown_unclean, nobody, recover, recovers},
    {"say that one of two owners has recovered", unclean, recoverer, say_recovered, is_not_yet_recovered},
    {"say that the last owner has recovered", unclean, last_recoverer, say_recovered, is_recovered},
    {"seal a file", looked_at, nobody, seal_it, is_sealed},
    {"seal an adoptable file", adoptable, nobody, seal_it, is_sealed},
    {"seal a file that is written to", in_use, writer, save_it_sealed, is_sealed, kSome},
    {"make a delta", with_a_delta, nobody, make_the_delta, is_a_delta},
    {"apply a delta", with_a_delta, nobody, apply_it, is_sealed},
    {"save a file that is read", looked_at, onlooker, save_it, is_saved},
    {"save a file that is written to", in_use, writer, save_it, is_saved, kSome},
    {"save a file that grew", grown, onlooker, save_it, is_saved},
    {"save a file that is read in a smaller one", looked_at, onlooker, save_it_folded, is_saved},
    {"intersect a file that is written to", in_use, writer, intersect_it, is_saved, kSome},
    {"compare a file that is written to", in_use, writer, compare_it, is_in_use, kSome},
    {"export the bits of a file that is written to", classic, writer, export_it, is_in_use, kSome},
    {"close as the last writer", looked_at, writer, close_it, is_clean, kSome},
    {"close beside a writer", in_use, writer, close_it, is_in_use, kSome},
    {"close as the last recoverer", unclean, recoverer, close_it, is_paused},
};

// --- Checks that hold after every outcome ----------------------------------------------------------------------------

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t mappings_in(const std::string& folder) {
  std::size_t found = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) found += line.find(folder) != std::string::npos ? 1U : 0U;
  return found;
}

// Descriptors and mappings of this process.
struct Held {
  explicit Held(const Scene& scene) : descriptors(::descriptors()), mappings(mappings_in(scene.dir.path())) {}
  std::size_t descriptors;
  std::size_t mappings;
  friend bool operator==(const Held&, const Held&) = default;
};

void check_unlocked(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(descriptor >= 0);
  struct flock question {};
  question.l_type = F_WRLCK;
  question.l_whence = SEEK_SET;
  CHECK(fcntl(descriptor, F_OFD_GETLK, &question) == 0);
  CHECK(question.l_type == F_UNLCK);
  ::close(descriptor);
}

// Returns the id of the file, not that of a handle.
format::FileId id_of(const std::string& path) {
  return std::filesystem::exists(path) ? look_at(path).file_id : format::FileId{};
}

void check_handles(const Scene& scene) {
  for (const auto* each : {&scene.onlooker, &scene.beside}) {
    if (*each) CHECK(nothing_lost(scene, **each));
  }
}

// Checks that a process that can open the file now has every key. One that cannot gets the reason.
void check_newcomer(const Scene& scene) {
  const auto reader = Filter::open(scene.path, OpenMode::kRead);
  if (reader.ok()) {
    CHECK(nothing_lost(scene, *reader));
    return;
  }
  const Code code = reader.error().code;
  CAPTURE(reader.error().message);
  CHECK((code == Code::kUnclean || code == Code::kPoisoned || code == Code::kRecovering || code == Code::kSuperseded));
}

// Lets each owner add again what came after its mark, which tells no more than what was synced.
void recover_by_the_marks(const Scene& scene, Filter& filter) {
  for (const unsigned owner : kOwners) {
    const std::uint64_t mark = filter.get_mark(owner);
    CHECK(mark >= scene.mark);
    CHECK(mark <= scene.acknowledged);
    add_some(filter, owner, mark, scene.acknowledged - mark);
    REQUIRE(filter.finish_recovery(owner).ok());
  }
}

void check_goes_on(const Scene& scene) {
  Filter filter = opened(Filter::open(scene.path, OpenMode::kWrite, kRecover));
  CHECK(nothing_lost(scene, filter));
  if (filter.health() == Code::kRecovering) recover_by_the_marks(scene, filter);
  CHECK(filter.health() == Code::kOk);
  CHECK(answers_no(filter));
  CHECK(nothing_lost(scene, filter));
  REQUIRE(filter.close().ok());
  CHECK(state_of(scene.path) == FileState::kClean);
  CHECK(nothing_lost(scene, opened(Filter::open(scene.path, OpenMode::kRead))));
}

// Checks that the new file is complete, or not there.
void check_new_file(const Scene& scene) {
  if (!std::filesystem::exists(scene.path)) CHECK(created(scene.path).close().ok());
  Filter filter = opened(Filter::open(scene.path, OpenMode::kWrite));
  CHECK(answers_no(filter));
  CHECK(filter.close().ok());
  check_unlocked(scene.path);
}

// Checks that the new file has replaced the old one and is complete. It has what was added to it before it was
// published.
void check_replaced(const Scene& scene, bool with_keys) {
  Filter filter = opened(Filter::open(scene.path, OpenMode::kWrite, kRecover));
  if (with_keys) CHECK(all_maybe(filter, kNewcomer, kSome));
  if (filter.health() == Code::kRecovering) {
    add_some(filter, kNewcomer, 0, kSome);
    CHECK(filter.finish_recovery(kNewcomer).ok());
  }
  CHECK(answers_no(filter));
  CHECK(filter.close().ok());
  check_unlocked(scene.path);
}

bool is_built_once(const Operation& operation) {
  return operation.act == build_static || operation.act == replace_by_static || operation.ready == gatherer ||
         operation.ready == gathering_successor;
}

void check_aftermath(Scene& scene, const Operation& operation, const format::FileId& old_file) {
  check_handles(scene);
  if (std::filesystem::exists(sealed_in(scene))) makes_a_copy(operation.act) ? is_saved(scene) : is_sealed(scene);
  const bool there = std::filesystem::exists(scene.path);
  if (operation.name_of_file == kNew) {
    scene.handle.reset();
    if (there && operation.act == import_it) check_imported(opened(Filter::open(scene.path, OpenMode::kRead)));
    if (there && is_built_once(operation)) return check_static(scene);
    return check_new_file(scene);
  }
  REQUIRE(there);
  const bool old = id_of(scene.path) == old_file;
  if (old) check_newcomer(scene);
  scene.handle.reset();
  scene.beside.reset();
  if (old) check_newcomer(scene);
  check_handles(scene);
  if (!old && is_built_once(operation)) return check_static(scene);
  if (!old) return check_replaced(scene, operation.ready == successor);
  check_unlocked(scene.path);
  if (operation.lay != static_file) check_goes_on(scene);
}

// --- One call goes wrong ---------------------------------------------------------------------------------------------

struct Attempt {
  const Operation& operation;
  Scene scene;
  format::FileId old_file{};

  explicit Attempt(const Operation& which) : operation(which) {
    operation.lay(scene);
    old_file = id_of(scene.path);
  }

  void acknowledge() { scene.acknowledged += operation.acknowledged_more; }
};

// Returns the calls of the operation when all of them work, in a process that knows of forks already.
std::vector<std::string> calls_of(const Operation& operation) {
  REQUIRE(region::ForkMark::make().ok());
  Attempt attempt(operation);
  operation.ready(attempt.scene);
  attempt.acknowledge();
  calls::begin();
  const Error error = operation.act(attempt.scene);
  const auto made = calls::end();
  CAPTURE(error.message);
  REQUIRE(error.ok());
  operation.done(attempt.scene);
  check_aftermath(attempt.scene, operation, attempt.old_file);
  return made;
}

// Checks that after an error the file of that name is the old one, or none, or one that answers no question yet.
void check_refused(Attempt& attempt, const Held& before) {
  Scene& scene = attempt.scene;
  const bool opening = attempt.operation.ready == nobody;
  if (opening) CHECK(Held(scene) == before);
  if (scene.handle && attempt.operation.name_of_file == Operation::Name::kStays)
    CHECK(nothing_lost(scene, *scene.handle));
  if (attempt.operation.name_of_file == kNew) {
    CHECK(scene.dir.names().empty());
    return;
  }
  const auto reader = Filter::open(scene.path, OpenMode::kRead);
  if (reader.ok()) CHECK(nothing_lost(scene, *reader));
  if (attempt.operation.name_of_file == kReplaced) scene.handle.reset();  // it keeps a temporary name to try again
  std::vector<std::string> names{"filter.bf"};
  if (attempt.operation.lay == with_a_delta) names.insert(names.end(), {"filter.bf.delta", "filter.bf.later"});
  CHECK(scene.dir.names() == names);
}

void check_failure(const Operation& operation, std::size_t number, int outcome) {
  Attempt attempt(operation);
  operation.ready(attempt.scene);
  attempt.acknowledge();
  const Held before(attempt.scene);
  calls::begin(number, outcome);
  const Error error = operation.act(attempt.scene);
  calls::end();
  CAPTURE(error.message);
  if (error.ok()) {
    operation.done(attempt.scene);
  } else {
    CHECK(!error.message.empty());
    CHECK(kListedCodes.at(in_the_c_abi(operation.act)).contains(number_in_c(error.code)));
    check_refused(attempt, before);
  }
  check_aftermath(attempt.scene, operation, attempt.old_file);
}

// Checks that a killed process leaves the old or the new file in the folder, and at most a temporary name next to it.
void check_death(const Operation& operation, std::size_t number, int outcome) {
  Attempt attempt(operation);
  const int code = in_child([&] {
    if (!region::ForkMark::make().ok()) return 1;  // a child needs another one: that call is not counted
    operation.ready(attempt.scene);
    calls::begin(number, outcome);
    static_cast<void>(operation.act(attempt.scene));
    return 0;
  });
  REQUIRE(code == 1000 + SIGKILL);
  attempt.acknowledge();
  for (const std::string& name : attempt.scene.dir.names()) {
    const bool temporary = operation.name_of_file == kReplaced && name.rfind(".bfs", 0) == 0;
    const bool copied = (seals(operation.act) || makes_a_copy(operation.act)) && name == "sealed";
    const bool of_a_delta = operation.lay == with_a_delta &&
                            (name == "filter.bf.later" || name == "filter.bf.delta" || name.rfind(".bfs", 0) == 0);
    if (name == "filter.bf.delta") is_a_delta(attempt.scene);
    CHECK((name == "filter.bf" || temporary || copied || of_a_delta));
  }
  check_aftermath(attempt.scene, operation, attempt.old_file);
}

template <class Check>
void for_every_operation(const Check& check) {
  const std::uint64_t rounds = option("rounds", 1);
  const std::uint64_t every = option("every", 1);  // n: only one call in n
  const std::uint64_t seed = first_seed(0);
  std::uint64_t passed_by = 0;
  std::map<std::string, std::uint64_t> tried;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    first_key = (seed + round) * 1000;
    for (const Operation& operation : kOperations) {
      const std::string name = operation.name;
      CAPTURE(name);
      const auto made = calls_of(operation);
      for (std::size_t number = 1; number <= made.size(); ++number) {
        if (++passed_by % every != 0) continue;
        const std::string& call = made[number - 1];
        CAPTURE(number);
        CAPTURE(call);
        tried[call] += check(operation, number, call);
      }
    }
  }
  std::string sums;
  for (const auto& [call, times] : tried) sums += "  " + call + ": " + std::to_string(times);
  MESSAGE(sums);
  if (every != 1) return;
  // All calls that the protocol is made of have been tried. Otherwise the functions above do not replace libc's.
  for (const char* call :
       {"openat", "fstat", "fstatat", "lstat", "statx", "pread", "pwrite", "fcntl", "fdatasync", "fsync", "mmap",
        "madvise", "linkat", "renameat", "posix_fallocate", "getrandom", "sync_file_range"}) {
    CAPTURE(call);
    CHECK(tried[call] > 0);
  }
}

}  // namespace

TEST_CASE("a failure of any system call is an error or harmless, leaves nothing behind, and makes no wrong no") {
  for_every_operation([](const Operation& operation, std::size_t number, const std::string& call) {
    const auto outcomes = calls::failures_of(call);
    for (const int outcome : outcomes) {
      CAPTURE(outcome);
      check_failure(operation, number, outcome);
    }
    return outcomes.size();
  });
}

TEST_CASE("a kill in any system call loses no acknowledged key, and leaves a file that can be used") {
  for_every_operation([](const Operation& operation, std::size_t number, const std::string& call) {
    std::vector<int> outcomes{calls::kDies};
    if (call == "pwrite") outcomes.push_back(calls::kDiesHalfway);
    for (const int outcome : outcomes) {
      CAPTURE(outcome);
      check_death(operation, number, outcome);
    }
    return outcomes.size();
  });
}
