// When the programs write in colour, and how.
#pragma once

#include <string>
#include <string_view>

namespace tools {

inline constexpr const char* kColourOption = "--color";
inline constexpr const char* kColourWords = "auto|always|never";
inline constexpr const char* kAboutColour = "colour; auto is a terminal that has it, unless NO_COLOR is set";

// The word of a command line with the option's name as the help spells it: --colour is accepted, too.
std::string spelled(std::string word);

// Takes the value of that option, for all that this process writes from now on. Throws Failure.
void take_colour(const std::string& option, const std::string& word);

// True if what goes to this descriptor has colour (https://no-color.org).
bool has_colour(int fd);

// The numbers of ECMA-48.
enum class Ink { kBold = 1, kDim = 2, kRed = 31, kGreen = 32, kYellow = 33 };

// The text in this colour, or unchanged.
std::string inked(std::string_view text, Ink ink, bool colour);

}  // namespace tools
