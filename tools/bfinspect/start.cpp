// bfinspect: see main.cpp.
#include "program.hpp"

int main(int argc, char** argv) { return bfinspect::run_program(argc, argv); }
