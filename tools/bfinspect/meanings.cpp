// See meanings.hpp.
#include "meanings.hpp"

#include <algorithm>
#include <iterator>

namespace bfinspect {
namespace {

struct Meaning {
  std::string_view label;
  std::string_view text;
};

constexpr Meaning kMeanings[] = {
    {"layout", "How the bits of a key are spread over the file. Filters of different layouts cannot be merged."},
    {"hash", "The function that makes 64 bits of a key. A program that asks must use the same one."},
    {"bits (m)", "The size of the filter. More bits for the same keys mean fewer false positives."},
    {"counters (m)", "The size of the filter. Each counter has 4 bits, so that keys can be removed."},
    {"probes (k)", "The number of bits that each key sets, and that each lookup tests."},
    {"columns (k)", "The bits of a key that a lookup compares: each one more halves the rate."},
    {"capacity (n)", "The number of different keys that the filter was made for."},
    {"slices", "The filters in the file. Keys are added to the newest one, and a lookup asks all."},
    {"made for", "The keys of the first slice, and those of all slices that there may be."},
    {"part", "This file has only the keys whose hash belongs to this part. The other parts are in other files."},
    {"promised (p)", "The share of absent keys that get the answer \"maybe\" when the filter is at its capacity."},
    {"bits per key", "The bits of the body for each key at capacity."},
    {"secret check", "The hash has a secret, which is not in the file. This number detects another secret."},
    {"seeds", "The numbers that the hash starts with, one for each probe."},
    {"seed", "The number that the hash starts with. Filters with different seeds cannot be merged."},
    {"compat", "Features of the format that every program may ignore."},
    {"ro_compat", "Features of the format that a program must know before it writes."},
    {"incompat", "Features of the format that a program must know before it reads."},
    {"leads to", "The path is a symbolic link, and this is the file that it names."},
    {"format", "The format of the file. A program that does not know it refuses the file."},
    {"perhaps", "The bytes agree with this format too. Only the program that made the file knows which it is."},
    {"id", "A random number that tells this file from all other filter files."},
    {"header", "What the filter is. Records of its state follow, and then the bits."},
    {"body", "The bits themselves."},
    {"sealed", "The file never changes again. Its checksums detect every changed bit."},
    {"length", "The length that the file system reports."},
    {"on disk", "The space that the file takes, in whole blocks. Parts that are still empty take none."},
    {"state", "Whether the file was closed well, is being written, or waits for a repair."},
    {"window", "How long a key is found after its last add. That time is divided into epochs."},
    {"epoch", "The current one, to which keys are added. When it is over, a turn begins the next one."},
    {"a key of now", "How long a key that is added now is found: at least, and at most."},
    {"keys of epochs", "The keys that each epoch has, estimated from its bits, the current one first."},
    {"sync", "A writer is bringing its keys to the disk now."},
    {"filling", "The keys are not complete yet."},
    {"slot A",
     "One of two records of the state. They take turns, so that a torn write leaves the other one, which was the state "
     "before."},
    {"slot B", "The other record of the state. The one with the higher sequence number counts."},
    {"mark", "The position in a log that a sync reached: all keys up to it are on the disk."},
    {"marks", "The positions in logs that syncs reached. A writer without a log stores none."},
    {"keys added", "The number of adds so far that changed the filter. A key that was there already does not count."},
    {"keys removed", "The number of removes so far."},
    {"missing bits",
     "Keys spread evenly over the body, and each counted key set its bits. A part that is much emptier, or a whole "
     "that "
     "is, has lost bits of some keys."},
    {"fullest epoch",
     "The epochs are filters of their own. The one with the most keys decides whether the promise holds."},
    {"leaked", "Keys that no remove takes away any more. They cost false positives, and no wrong answers."},
    {"counters at 15", "Counters that are full. They stay, so that no key is lost."},
    {"bits set", "The bits that are 1. This number gives the number of keys."},
    {"counters set", "The counters that are not 0. This number gives the number of keys."},
    {"keys now", "The number of different keys, estimated from the bits."},
    {"95 % interval", "The range in which the real number of keys is, in 95 of 100 filters like this one."},
    {"room for",
     "The number of keys that fit until the promised rate of false positives is reached. Whole lines may have room "
     "beyond "
     "the capacity."},
    {"false positives", "The share of absent keys that get the answer \"maybe\"."},
    {"page cache", "The part of the file that is in memory. A lookup elsewhere waits for the disk."},
    {"huge pages", "The part that is mapped in large pages, which makes lookups faster."},
    {"key form", "How a line of text becomes a key."},
    {"looks like", "What the first bytes of the file suggest."},
    {"first bytes", "The start of the file, as text. Bytes that are no text are shown by their number."},
    {"filters", "The number of filters in the file."},
    {"keys are", "How the other program makes bytes of a key. A program that asks must do the same."},
};

}  // namespace

std::string_view meaning_of(std::string_view label) {
  const auto* const found = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                         [=](const Meaning& meaning) { return meaning.label == label; });
  return found == std::end(kMeanings) ? std::string_view() : found->text;
}

}  // namespace bfinspect
