// The commands. Each returns an exit code, or throws Failure for 2.
#pragma once

#include "arguments.hpp"

namespace bf {

int create(const Arguments& arguments);
int build(const Arguments& arguments);
int add(const Arguments& arguments);
int remove(const Arguments& arguments);
int count(const Arguments& arguments);
int contains(const Arguments& arguments);
int recover(const Arguments& arguments);
int seal(const Arguments& arguments);
int verify(const Arguments& arguments);
int finish_filling(const Arguments& arguments);
int merge(const Arguments& arguments);
int copy(const Arguments& arguments);
int fold(const Arguments& arguments);
int intersect(const Arguments& arguments);
int join(const Arguments& arguments);
int digest(const Arguments& arguments);
int compare(const Arguments& arguments);
int clear(const Arguments& arguments);
int plan(const Arguments& arguments);
int import_array(const Arguments& arguments);
int export_array(const Arguments& arguments);

}  // namespace bf
