// The pinned answers: a change of any number here makes every filter in the world give wrong answers.
//
// The digests are in golden_digests.hpp. This library printed digests, canaries and filters (version 0.1.0, XXH3 of
// libxxhash 0.8.1); the probes and the windows come from tests/format/reader.py. golden_test.cpp, hash_test.cpp,
// layout_test.cpp and window_test.cpp compare the library with them. golden_test.py computes each of them again in
// every run, with reader.py and python3-xxhash, which share no code with the library.
#pragma once

#include <bfstore/options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace rooms {

using bfstore::Hash;
using bfstore::Layout;

inline constexpr std::uint64_t kGoldenSeed = 0x0123456789abcdef;

struct GoldenCanary {
  std::uint64_t seed;
  std::uint64_t canary;
};

// A digest's bits, in the order of the probes.
struct GoldenProbes {
  Layout layout;
  std::uint64_t num_bits;
  std::uint64_t digest;
  std::array<std::uint64_t, 8> bits;
};

// A filter with kGoldenSeed and the keys "key-0", "key-1", ...: XXH3 (seed 0) of its body, how many cells are set, and
// the ten smallest i for which it answers "maybe" for "absent-i".
struct GoldenFilter {
  Layout layout;
  std::uint64_t num_bits;
  std::uint32_t num_probes;
  std::uint64_t keys;
  std::uint64_t body;
  std::uint64_t set_bits;
  std::array<std::uint64_t, 10> false_positives;
};

inline constexpr std::array kGoldenFilters{
    GoldenFilter{Layout::kBlocked, 512, 3, 100, 0x87180b33395f7002, 230, {3, 21, 46, 48, 64, 85, 88, 93, 114, 137}},
    GoldenFilter{Layout::kBlocked,
                 102400,
                 7,
                 10000,
                 0xbb403f75ce6da7a3,
                 50518,
                 {132, 265, 273, 544, 667, 686, 904, 951, 1068, 1226}},
    GoldenFilter{Layout::kBlocked,
                 2098688,
                 12,
                 100000,
                 0x88d94a779e38ee8b,
                 906563,
                 {5960, 17181, 17327, 18400, 18512, 24805, 58185, 60612, 67330, 73325}},
    GoldenFilter{
        Layout::kBlocked, 51200, 64, 2000, 0xff2417a8409c64bb, 46226, {30, 50, 81, 95, 96, 112, 145, 176, 183, 202}},
    GoldenFilter{Layout::kClassic, 61, 1, 20, 0x5e9c91ecf1efae54, 19, {1, 7, 9, 10, 14, 20, 24, 36, 38, 39}},
    GoldenFilter{Layout::kClassic,
                 100003,
                 7,
                 10000,
                 0xd061b348ff592ef7,
                 50287,
                 {254, 311, 376, 414, 515, 719, 1186, 1272, 1341, 1401}},
    GoldenFilter{Layout::kClassic,
                 2097169,
                 13,
                 100000,
                 0xf52befb5c1833f90,
                 969713,
                 {14965, 27112, 38546, 39914, 76600, 84247, 91829, 101714, 125470, 164564}},
    GoldenFilter{Layout::kClassic,
                 50000,
                 64,
                 2000,
                 0x5709aa4d1d956013,
                 46155,
                 {133, 192, 485, 574, 905, 1017, 1033, 1135, 1770, 1778}},
    GoldenFilter{
        Layout::kCounting, 128, 3, 20, 0x8eba0cc347b1b2fc, 46, {40, 112, 114, 132, 135, 167, 186, 211, 223, 225}},
    GoldenFilter{
        Layout::kCounting, 25600, 6, 3000, 0x5bf154f0b78794e6, 12777, {90, 96, 232, 250, 326, 386, 403, 422, 424, 425}},
    GoldenFilter{Layout::kCounting,
                 524800,
                 7,
                 60000,
                 0x920c371b4bceb5a0,
                 284868,
                 {50, 56, 76, 135, 164, 169, 173, 175, 191, 196}},
    GoldenFilter{
        Layout::kCounting, 12800, 64, 300, 0xcd52be9526ec1aaa, 9004, {18, 75, 105, 106, 413, 551, 582, 681, 694, 732}},
};

// A filter with a hash that gives positions, in the classic layout.
struct GoldenSeeded {
  Hash hash;
  std::uint64_t num_bits;
  std::uint32_t num_seeds;  // k; zeros where the hash takes no seeds
  std::array<std::uint32_t, 16> seeds;
  std::uint64_t keys;
  std::uint64_t body;
  std::uint64_t set_bits;
  std::array<std::uint64_t, 10> false_positives;
};

inline constexpr std::array kGoldenSeeded{
    GoldenSeeded{Hash::kMurmur3,
                 124,
                 4,
                 {0, 1, 2, 3},
                 20,
                 0xabc77270353bb208,
                 59,
                 {21, 75, 80, 108, 159, 198, 224, 258, 283, 303}},
    GoldenSeeded{Hash::kMurmur3,
                 99991,
                 7,
                 {41, 42, 43, 44, 45, 46, 47},
                 9000,
                 0xf7ae06fb6ad58775,
                 46607,
                 {196, 242, 463, 590, 738, 1014, 1569, 1941, 1966, 3158}},
    GoldenSeeded{Hash::kMurmur3Unsigned,
                 99991,
                 7,
                 {41, 42, 43, 44, 45, 46, 47},
                 9000,
                 0xc1795592d255336c,
                 46668,
                 {115, 614, 629, 876, 1533, 1976, 2500, 2515, 2958, 3354}},
    GoldenSeeded{Hash::kMurmur3Unsigned,
                 5000,
                 3,
                 {4294967295, 2147483648, 7},
                 900,
                 0x9dca44e5736500b3,
                 2120,
                 {5, 49, 51, 63, 68, 78, 99, 101, 128, 130}},
    GoldenSeeded{Hash::kJavaPolynomial,
                 512,
                 7,
                 {5, 7, 11, 13, 31, 37, 61},
                 100,
                 0xe6a38b2c4c2ad97b,
                 379,
                 {30, 31, 32, 33, 34, 35, 36, 37, 38, 39}},
    GoldenSeeded{Hash::kJavaPolynomial,
                 8192,
                 3,
                 {31, 4294967295, 3},
                 3000,
                 0xb1786ebe2e1832f5,
                 2644,
                 {318, 319, 329, 406, 407, 408, 409, 417, 418, 629}},
    GoldenSeeded{Hash::kJaybird,
                 9590,
                 7,
                 {0, 0, 0, 0, 0, 0, 0},
                 900,
                 0x008ae2a6353a603c,
                 4639,
                 {219, 452, 577, 1084, 1226, 1391, 1728, 2057, 2085, 2163}},
    GoldenSeeded{Hash::kJaybird,
                 200000,
                 5,
                 {0, 0, 0, 0, 0},
                 20000,
                 0x29e08b4bd92a38d1,
                 78686,
                 {71, 134, 554, 656, 697, 821, 850, 898, 1347, 1393}},
    GoldenSeeded{Hash::kPybloomLive,
                 4000,
                 4,
                 {0, 0, 0, 0},
                 700,
                 0xfd32f26bb905586b,
                 2011,
                 {6, 45, 66, 68, 73, 83, 99, 109, 129, 136}},
    GoldenSeeded{Hash::kPybloomLive,
                 99000,
                 3,
                 {0, 0, 0},
                 20000,
                 0xfd9263198b68b9b6,
                 44859,
                 {9, 46, 48, 58, 78, 81, 92, 96, 104, 144}},
    GoldenSeeded{Hash::kDcso,
                 14379,
                 7,
                 {0, 0, 0, 0, 0, 0, 0},
                 900,
                 0x619faae97195a63d,
                 5064,
                 {84, 775, 1674, 4707, 6120, 6952, 9682, 11658, 13304, 14655}},
    GoldenSeeded{
        Hash::kDcso, 99991, 3, {0, 0, 0}, 20000, 0x5b36a130a11dfe81, 45309, {0, 10, 11, 23, 25, 27, 31, 41, 63, 107}},
    GoldenSeeded{Hash::kGuava,
                 9600,
                 7,
                 {0, 0, 0, 0, 0, 0, 0},
                 900,
                 0x28b5f25ca35ff908,
                 4594,
                 {53, 61, 137, 274, 302, 374, 410, 441, 850, 1132}},
    GoldenSeeded{Hash::kGuava,
                 64064,
                 5,
                 {0, 0, 0, 0, 0},
                 9000,
                 0xbd18d3554609d197,
                 32344,
                 {5, 10, 12, 23, 27, 39, 190, 276, 324, 370}},
    GoldenSeeded{Hash::kGuava32,
                 9600,
                 7,
                 {0, 0, 0, 0, 0, 0, 0},
                 900,
                 0xe4c5a996d44983fb,
                 4627,
                 {261, 999, 1456, 2059, 2292, 2346, 2435, 2477, 2525, 2646}},
    GoldenSeeded{Hash::kRedisBloom,
                 9600,
                 7,
                 {0, 0, 0, 0, 0, 0, 0},
                 900,
                 0xd247483b0e68643d,
                 4602,
                 {104, 1148, 1428, 1484, 1577, 1907, 1952, 2072, 2085, 2178}},
    GoldenSeeded{Hash::kRedisBloom,
                 49728,
                 4,
                 {0, 0, 0, 0},
                 9000,
                 0xa10ce00bdef5247e,
                 25625,
                 {16, 38, 48, 53, 60, 91, 93, 131, 136, 144}},
    GoldenSeeded{Hash::kPybloomfilter,
                 9592,
                 7,
                 {41, 42, 43, 44, 45, 46, 47},
                 900,
                 0xec0a0072541bf43d,
                 4621,
                 {60, 266, 494, 531, 691, 701, 744, 989, 1235, 1243}},
    GoldenSeeded{Hash::kLevelDb,
                 9600,
                 6,
                 {0, 0, 0, 0, 0, 0},
                 900,
                 0x8feca14d846cc5df,
                 4073,
                 {65, 474, 543, 600, 724, 1010, 1015, 1025, 1335, 1508}},
    GoldenSeeded{Hash::kRocksDb,
                 10240,
                 6,
                 {0, 0, 0, 0, 0, 0},
                 900,
                 0x8e0cfcb3562fe255,
                 4158,
                 {226, 290, 477, 504, 966, 990, 992, 1241, 1268, 1848}},
    GoldenSeeded{Hash::kRocksDb,
                 51712,
                 13,
                 {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                 3500,
                 0x088de42c5b77e86e,
                 30050,
                 {20, 40, 355, 1004, 1098, 1758, 1924, 1980, 2823, 3344}},
    GoldenSeeded{Hash::kParquet,
                 10240,
                 8,
                 {0, 0, 0, 0, 0, 0, 0, 0},
                 900,
                 0xd728c3c16dd5d937,
                 5207,
                 {121, 477, 709, 740, 1260, 1553, 1602, 1664, 1791, 2098}},
    GoldenSeeded{Hash::kBitsAndBlooms,
                 9586,
                 7,
                 {0, 0, 0, 0, 0, 0, 0},
                 900,
                 0x09121d2eecb12325,
                 4598,
                 {108, 276, 372, 394, 615, 710, 1397, 1434, 1633, 2067}},
    GoldenSeeded{Hash::kBitsAndBlooms,
                 99991,
                 3,
                 {0, 0, 0},
                 20000,
                 0x5f3a5a6e4f40ccf5,
                 45261,
                 {12, 14, 16, 21, 31, 40, 90, 124, 138, 139}},
    GoldenSeeded{Hash::kLibbloom,
                 9586,
                 7,
                 {0, 0, 0, 0, 0, 0, 0},
                 900,
                 0xf4bbd1ce531246c3,
                 4644,
                 {282, 433, 638, 695, 765, 1163, 1177, 1351, 1494, 1644}},
    GoldenSeeded{Hash::kRbloom,
                 9592,
                 7,
                 {0, 0, 0, 0, 0, 0, 0},
                 900,
                 0x0f6c33c1c7644f2b,
                 4617,
                 {166, 188, 501, 506, 509, 653, 672, 683, 713, 1071}},
    GoldenSeeded{Hash::kJavaBytes,
                 8192,
                 8,
                 {0, 0, 0, 0, 0, 0, 0, 0},
                 900,
                 0x2e719e46ce06ba68,
                 4490,
                 {231, 310, 904, 1079, 1651, 1750, 1751, 2160, 2161, 2322}},
};

// A digest's bits in the word of an epoch, in the order of the probes.
struct GoldenWindowProbes {
  Layout layout;
  std::uint64_t num_bits;
  std::uint64_t digest;
  std::uint64_t epoch;
  std::array<std::uint64_t, 8> bits;
};

inline constexpr std::array kGoldenWindowProbes{
    GoldenWindowProbes{Layout::kWindow, 512, 0x0000000000000000, 0, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenWindowProbes{Layout::kWindow, 512, 0x0123456789abcdef, 5, {348, 374, 326, 336, 349, 336, 333, 380}},
    GoldenWindowProbes{Layout::kWindow,
                       512000,
                       0xfedcba9876543210,
                       0,
                       {509499, 509456, 509469, 509474, 509482, 509486, 509477, 509464}},
    GoldenWindowProbes{Layout::kWindow,
                       512000,
                       0xfedcba9876543210,
                       6,
                       {509883, 509840, 509853, 509858, 509866, 509870, 509861, 509848}},
    GoldenWindowProbes{Layout::kWindow,
                       512000,
                       0xffffffffffffffff,
                       8589934595,
                       {511704, 511687, 511715, 511730, 511688, 511742, 511730, 511701}},
    GoldenWindowProbes{Layout::kWindow4, 512, 0x0000000000000000, 0, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenWindowProbes{Layout::kWindow4, 512, 0x0123456789abcdef, 5, {184, 237, 140, 160, 187, 160, 155, 249}},
    GoldenWindowProbes{Layout::kWindow4,
                       512000,
                       0xfedcba9876543210,
                       0,
                       {509559, 509473, 509498, 509508, 509525, 509533, 509514, 509488}},
    GoldenWindowProbes{Layout::kWindow4,
                       512000,
                       0xfedcba9876543210,
                       6,
                       {509815, 509729, 509754, 509764, 509781, 509789, 509770, 509744}},
    GoldenWindowProbes{Layout::kWindow4,
                       512000,
                       0xffffffffffffffff,
                       8589934595,
                       {511920, 511886, 511942, 511973, 511888, 511997, 511973, 511914}},
    GoldenWindowProbes{Layout::kWindow2, 512, 0x0000000000000000, 0, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenWindowProbes{Layout::kWindow2, 512, 0x0123456789abcdef, 5, {369, 474, 280, 321, 374, 320, 310, 499}},
    GoldenWindowProbes{Layout::kWindow2,
                       512000,
                       0xfedcba9876543210,
                       0,
                       {509679, 509506, 509556, 509576, 509610, 509626, 509589, 509537}},
    GoldenWindowProbes{Layout::kWindow2,
                       512000,
                       0xfedcba9876543210,
                       6,
                       {509679, 509506, 509556, 509576, 509610, 509626, 509589, 509537}},
    GoldenWindowProbes{Layout::kWindow2,
                       512000,
                       0xffffffffffffffff,
                       8589934595,
                       {511841, 511772, 511884, 511946, 511777, 511995, 511947, 511828}},
};

// A filter whose keys expire, with kGoldenSeed, in epoch `last`. In each epoch e up to then `keys` keys were added,
// "key-<e * keys>" and the following ones. XXH3 (seed 0) of its body, how many bits are set, and the ten smallest i for
// which it answers "maybe" for "absent-i".
struct GoldenWindow {
  Layout layout;
  std::uint64_t num_bits;
  std::uint32_t num_probes;
  std::uint64_t keys;
  std::uint64_t last;
  std::uint64_t body;
  std::uint64_t set_bits;
  std::array<std::uint64_t, 10> false_positives;
};

inline constexpr std::array kGoldenWindows{
    GoldenWindow{Layout::kWindow,
                 512,
                 3,
                 5,
                 0,
                 0x8e615aac68711a16,
                 13,
                 {102, 735, 1372, 1407, 1486, 1672, 2096, 2174, 2253, 2282}},
    GoldenWindow{
        Layout::kWindow, 51200, 7, 300, 10, 0x397346e0128e4827, 13758, {21, 55, 71, 151, 192, 209, 250, 326, 365, 469}},
    GoldenWindow{Layout::kWindow,
                 524800,
                 12,
                 3000,
                 8,
                 0xe6dd91b184663e25,
                 208177,
                 {90, 148, 194, 197, 264, 330, 373, 379, 529, 673}},
    GoldenWindow{
        Layout::kWindow4, 512, 3, 8, 2, 0xd83974e5d46cab01, 65, {7, 114, 186, 297, 308, 345, 415, 494, 523, 571}},
    GoldenWindow{Layout::kWindow4,
                 51200,
                 7,
                 800,
                 5,
                 0x60db017c393b0bde,
                 17878,
                 {47, 58, 251, 595, 760, 807, 843, 911, 1031, 1045}},
    GoldenWindow{Layout::kWindow4,
                 524800,
                 9,
                 9000,
                 3,
                 0x0879860a4bed8f48,
                 236462,
                 {50, 175, 210, 213, 253, 264, 334, 661, 773, 919}},
    GoldenWindow{
        Layout::kWindow2, 512, 3, 20, 1, 0x3bfcc586110fc957, 107, {88, 114, 308, 395, 464, 501, 519, 666, 673, 777}},
    GoldenWindow{Layout::kWindow2,
                 51200,
                 7,
                 1500,
                 4,
                 0x115496e56c199833,
                 17029,
                 {1407, 3310, 4273, 4644, 6763, 6800, 6868, 7121, 7811, 8490}},
    GoldenWindow{
        Layout::kWindow2, 51200, 64, 900, 0, 0x9a3debfb18e2254a, 22104, {8, 14, 23, 118, 161, 250, 294, 406, 410, 441}},
};

inline constexpr std::array kGoldenProbes{
    GoldenProbes{Layout::kBlocked, 512, 0x0000000000000000, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{Layout::kBlocked, 512, 0x0123456789abcdef, {227, 436, 48, 130, 237, 129, 108, 486}},
    GoldenProbes{Layout::kBlocked, 512, 0xfedcba9876543210, {479, 132, 232, 273, 341, 373, 298, 195}},
    GoldenProbes{Layout::kBlocked, 512, 0xffffffffffffffff, {195, 57, 281, 404, 66, 503, 407, 169}},
    GoldenProbes{Layout::kBlocked, 512000, 0x0000000000000000, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{Layout::kBlocked, 512000, 0x0123456789abcdef, {2275, 2484, 2096, 2178, 2285, 2177, 2156, 2534}},
    GoldenProbes{
        Layout::kBlocked, 512000, 0xfedcba9876543210, {509919, 509572, 509672, 509713, 509781, 509813, 509738, 509635}},
    GoldenProbes{
        Layout::kBlocked, 512000, 0xffffffffffffffff, {511683, 511545, 511769, 511892, 511554, 511991, 511895, 511657}},
    GoldenProbes{Layout::kBlocked, 281474976710656, 0x0000000000000000, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{Layout::kBlocked,
                 281474976710656,
                 0x0123456789abcdef,
                 {1250999896291, 1250999896500, 1250999896112, 1250999896194, 1250999896301, 1250999896193,
                  1250999896172, 1250999896550}},
    GoldenProbes{Layout::kBlocked,
                 281474976710656,
                 0xfedcba9876543210,
                 {280223976814559, 280223976814212, 280223976814312, 280223976814353, 280223976814421, 280223976814453,
                  280223976814378, 280223976814275}},
    GoldenProbes{Layout::kBlocked,
                 281474976710656,
                 0xffffffffffffffff,
                 {281474976710339, 281474976710201, 281474976710425, 281474976710548, 281474976710210, 281474976710647,
                  281474976710551, 281474976710313}},
    GoldenProbes{Layout::kClassic, 1, 0x0000000000000000, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{Layout::kClassic, 1, 0x0123456789abcdef, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{Layout::kClassic, 1, 0xfedcba9876543210, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{Layout::kClassic, 1, 0xffffffffffffffff, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{
        Layout::kClassic, 1000003, 0x0000000000000000, {0, 942225, 78731, 341131, 957927, 227312, 472263, 898973}},
    GoldenProbes{
        Layout::kClassic, 1000003, 0x0123456789abcdef, {4444, 679666, 520116, 510168, 102845, 476525, 694157, 130436}},
    GoldenProbes{Layout::kClassic,
                 1000003,
                 0xfedcba9876543210,
                 {995558, 320336, 479886, 489834, 897157, 523477, 305845, 869566}},
    GoldenProbes{
        Layout::kClassic, 1000003, 0xffffffffffffffff, {1000002, 57777, 921271, 658871, 42075, 772690, 527739, 101029}},
    GoldenProbes{Layout::kClassic,
                 281474976710656,
                 0x0000000000000000,
                 {0, 265211997728354, 22160876582761, 96019758572837, 269631801321654, 63982496582342, 132929920776664,
                  253037701064188}},
    GoldenProbes{Layout::kClassic,
                 281474976710656,
                 0x0123456789abcdef,
                 {1250999896491, 191308443100070, 146399224783127, 143599149315312, 28948355404390, 134129620225696,
                  195387256909782, 36714481397119}},
    GoldenProbes{Layout::kClassic,
                 281474976710656,
                 0xfedcba9876543210,
                 {280223976814164, 90166533610585, 135075751927528, 137875827395343, 252526621306265, 147345356484959,
                  86087719800873, 244760495313536}},
    GoldenProbes{Layout::kClassic,
                 281474976710656,
                 0xffffffffffffffff,
                 {281474976710655, 16262978982301, 259314100127894, 185455218137818, 11843175389001, 217492480128313,
                  148545055933991, 28437275646467}},
    GoldenProbes{Layout::kCounting, 128, 0x0000000000000000, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{Layout::kCounting, 128, 0x0123456789abcdef, {56, 109, 12, 32, 59, 32, 27, 121}},
    GoldenProbes{Layout::kCounting, 128, 0xfedcba9876543210, {119, 33, 58, 68, 85, 93, 74, 48}},
    GoldenProbes{Layout::kCounting, 128, 0xffffffffffffffff, {48, 14, 70, 101, 16, 125, 101, 42}},
    GoldenProbes{Layout::kCounting, 128000, 0x0000000000000000, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{Layout::kCounting, 128000, 0x0123456789abcdef, {568, 621, 524, 544, 571, 544, 539, 633}},
    GoldenProbes{Layout::kCounting,
                 128000,
                 0xfedcba9876543210,
                 {127479, 127393, 127418, 127428, 127445, 127453, 127434, 127408}},
    GoldenProbes{Layout::kCounting,
                 128000,
                 0xffffffffffffffff,
                 {127920, 127886, 127942, 127973, 127888, 127997, 127973, 127914}},
    GoldenProbes{Layout::kCounting, 70368744177664, 0x0000000000000000, {0, 0, 0, 0, 0, 0, 0, 0}},
    GoldenProbes{Layout::kCounting,
                 70368744177664,
                 0x0123456789abcdef,
                 {312749974072, 312749974125, 312749974028, 312749974048, 312749974075, 312749974048, 312749974043,
                  312749974137}},
    GoldenProbes{Layout::kCounting,
                 70368744177664,
                 0xfedcba9876543210,
                 {70055994203639, 70055994203553, 70055994203578, 70055994203588, 70055994203605, 70055994203613,
                  70055994203594, 70055994203568}},
    GoldenProbes{Layout::kCounting,
                 70368744177664,
                 0xffffffffffffffff,
                 {70368744177584, 70368744177550, 70368744177606, 70368744177637, 70368744177552, 70368744177661,
                  70368744177637, 70368744177578}},
};

inline constexpr std::array kGoldenCanaries{
    GoldenCanary{0x0000000000000000, 0x77839cca96bb0b75},
    GoldenCanary{0x0123456789abcdef, 0xf9a3cf364b8c4a8b},
    GoldenCanary{0xffffffffffffffff, 0x592c0d64a18d9c15},
};

}  // namespace rooms
