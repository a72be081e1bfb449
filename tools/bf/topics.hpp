// What bf help says of words that options take, each in a line: too much for the help of every command with the option.
// A new topic is a row in topics.cpp.
#pragma once

#include "help.hpp"

#include <string>
#include <vector>

namespace bf {

std::vector<std::string> names_of_topics();

// What the exit codes of bf mean.
std::vector<tools::Entry> exit_codes();

// Each topic, and what it is about.
std::vector<tools::Entry> topics();

// The text of a topic, by its name or its title: "exit" or "exit codes". Empty if there is none of that name.
std::string text_of_topic(const std::string& name);

}  // namespace bf
