// Positions that Locations() of bits-and-blooms/bloom 3.7.1 gave: modulo 9,586, and the numbers themselves.
#include "known_positions.hpp"

using namespace positions_test;

namespace {

template <std::size_t kCount>
struct Vector {
  const char* key;
  std::array<std::uint64_t, kCount> positions;
};

constexpr Vector<7> kModulo[] = {
    {"", {0, 8659, 7732, 2536, 4854, 5701, 4774}},
    {"a", {5329, 2018, 6249, 8453, 1741, 3858, 8089}},
    {"foo", {4155, 1435, 2191, 6966, 2357, 7093, 7849}},
    {"1234567", {7718, 977, 7470, 9023, 7222, 5649, 7724}},
    {"12345678", {8512, 7441, 1404, 3746, 1792, 2811, 6360}},
    {"123456789", {2370, 1754, 7584, 2769, 9172, 7764, 9176}},
    {"123456789abcdef", {292, 4029, 4892, 7997, 786, 8061, 4506}},
    {"0123456789abcdef", {8939, 132, 1581, 1360, 5671, 4588, 869}},
    {"0123456789abcdefg", {5412, 2936, 826, 9301, 7396, 7768, 5658}},
    {"世界", {2316, 264, 2214, 2888, 8942, 810, 2760}},
    {"The quick brown fox jumps over the lazy dog", {4140, 8935, 9420, 1115, 3624, 4741, 5226}},
};

constexpr Vector<5> kWhole[] = {
    {"", {0, 8613248517421295493U, 17226497034842590986U, 8100592207030843970U, 16949704300610975832U}},
    {"a",
     {9607679276477937801U, 7119426266501110842U, 9044760519629676105U, 12460773273929401863U, 16354196115150151365U}},
    {"foo",
     {16316970633193145697U, 15734250016966802165U, 11081397825898758205U, 15732251231375572144U,
      6675009022972063469U}},
    {"1234567",
     {3232113351312417698U, 1510936426576288413U, 16650366622557578802U, 7199134630072481357U, 13612965112234265154U}},
    {"12345678",
     {4272337174398058908U, 3576170402588028187U, 8941474060325736740U, 789026910008331064, 15966733157383282376U}},
    {"123456789",
     {4360720697772133540U, 7535137449879466636U, 15687952840025141170U, 16030065193597368715U, 4792035043855123116U}},
    {"123456789abcdef",
     {9165946068217512774U, 1757299913132413275U, 7777600746377133274U, 4270124101812642023U, 5441900080661047566U}},
    {"0123456789abcdef",
     {5467490433528156583U, 8297904649572320836U, 2497773196781079675U, 17620884472478571564U, 15918318706238439615U}},
    {"0123456789abcdefg",
     {10246358950979434974U, 14394623445243391086U, 988657961091656926, 6476073747991470827U, 5814321410524723674U}},
    {"世界",
     {2341157726261352874U, 11761575392444758978U, 16917793104251686538U, 15104374187715158234U,
      16515979705282107658U}},
    {"The quick brown fox jumps over the lazy dog",
     {16378391709484522348U, 5602903324983643507U, 9964294367626956740U, 3595795987092674255U, 9426183697724852940U}},
};

}  // namespace

TEST_CASE("keys have the positions of bits-and-blooms") {
  for (const auto& [key, positions] : kModulo) {
    CHECK(positions_of(Hash::kBitsAndBlooms, key, 9586, 7) == Numbers(positions.begin(), positions.end()));
  }
  check_edges(Hash::kBitsAndBlooms, 9586, 64);
}

TEST_CASE("the numbers of bits-and-blooms are taken modulo m of any size") {
  for (const auto& [key, numbers] : kWhole) {
    for (const std::uint64_t num_bits :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 32, kMaxBits - 1, kMaxBits}) {
      Numbers expected;
      for (const std::uint64_t number : numbers) expected.push_back(number % num_bits);
      CHECK(positions_of(Hash::kBitsAndBlooms, key, num_bits, 5) == expected);
    }
  }
}
