// Positions that Fingerprint() of DCSO's bloom 0.2.4 gave.
#include <map>

#include "known_positions.hpp"

using namespace positions_test;

namespace {

template <std::size_t kCount>
struct Vector {
  const char* key;
  std::array<std::uint64_t, kCount> positions;
};

constexpr Vector<7> kOnePercent[] = {
    {"", {8763, 2503, 320, 6529, 3673, 3929, 841}},
    {"a", {4544, 6890, 2979, 7663, 9279, 8468, 3051}},
    {"foo", {8709, 0, 6749, 4576, 600, 1828, 2842}},
    {"1234567", {7491, 1479, 3653, 7132, 5479, 8021, 2454}},
    {"12345678", {9092, 6170, 6057, 1771, 4684, 7022, 9398}},
    {"123456789", {3058, 9461, 7306, 5575, 29, 5709, 5303}},
    {"123456789abcdef", {1738, 6007, 1248, 3914, 4999, 7320, 3534}},
    {"0123456789abcdef", {7878, 3389, 4342, 6682, 7664, 4722, 3234}},
    {"0123456789abcdefg", {3488, 497, 5305, 1293, 4072, 942, 2225}},
    {"世界", {1022, 6481, 8507, 3916, 5978, 6859, 1308}},
    {"The quick brown fox jumps over the lazy dog", {4955, 8912, 2215, 2231, 3367, 2819, 2820}},
};

constexpr Vector<12> kSmallRate[] = {
    {"", {6579, 10695, 5963, 10231, 8731, 6797, 4149, 2755, 11303, 5787, 12743, 5871}},
    {"a", {8354, 9022, 5768, 2244, 10166, 9708, 1894, 5848, 476, 6758, 8084, 2222}},
    {"foo", {11225, 10151, 921, 9883, 3763, 7991, 10619, 10229, 9713, 8043, 4573, 9465}},
    {"1234567", {9717, 2107, 10883, 11397, 11991, 7093, 10965, 3607, 9905, 4795, 8637, 12089}},
    {"12345678", {5569, 13033, 10253, 11505, 12715, 2047, 5421, 5911, 4657, 1189, 10141, 7519}},
    {"123456789", {13074, 3828, 10934, 3814, 7886, 7196, 5446, 606, 2822, 6358, 12758, 2838}},
    {"123456789abcdef", {6871, 9987, 12157, 7681, 2993, 3419, 3053, 1639, 3565, 6717, 7741, 547}},
    {"0123456789abcdef", {10815, 465, 11729, 1475, 11111, 1835, 5885, 8327, 8819, 3175, 7201, 7521}},
    {"0123456789abcdefg", {7540, 2070, 4962, 7154, 12772, 10900, 8022, 10672, 8800, 7288, 4608, 8092}},
    {"世界", {7189, 11937, 8595, 12531, 12775, 5135, 4847, 3565, 8015, 8341, 1695, 11641}},
    {"The quick brown fox jumps over the lazy dog",
     {6330, 2032, 11464, 2016, 11922, 3356, 5636, 8956, 5516, 8390, 2444, 4228}},
};

template <std::size_t kCount>
void check(const Vector<kCount>& vector, std::uint64_t num_bits) {
  CAPTURE(vector.key);
  CHECK(positions_of(Hash::kDcso, vector.key, num_bits, kCount) ==
        Numbers(vector.positions.begin(), vector.positions.end()));
}

}  // namespace

TEST_CASE("keys have the positions of DCSO's bloom") {
  for (const auto& vector : kOnePercent) check(vector, 9585);
  for (const auto& vector : kSmallRate) check(vector, 13118);
  check_edges(Hash::kDcso, 13118, 64);
}

// The low bits of the generator's states depend only on the low bits of the state before.
TEST_CASE("where m is a power of two, one position tells all later ones") {
  std::map<std::uint64_t, Numbers> by_first;
  std::size_t alike = 0;
  for (int i = 0; i < 1000; ++i) {
    const Numbers positions = positions_of(Hash::kDcso, "key-" + std::to_string(i), 512, 7);
    const auto [found, is_new] = by_first.emplace(positions.front(), positions);
    if (is_new) continue;
    CHECK(found->second == positions);
    ++alike;
  }
  CHECK(alike > 300);
}
