// The numbers that bf plan takes from the filter that --like names.
#pragma once

#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <bfstore/plan.hpp>

namespace bf {

// Adds --like, and the options that say which filter of another program's file it means.
void add_plan_like(CLI::App& app, Arguments& arguments);

// Returns m, k and n of that filter, with its layout and hash; n and p of the command line replace its n. Throws
// Failure if neither the file nor the command line says how many keys there are.
bfstore::PlanRequest numbers_of_like(const Arguments& arguments);

}  // namespace bf
