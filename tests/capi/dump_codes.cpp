// Prints every code that the C++ table knows, for codes_test.py: number, code_name, and the texts of both APIs.
#include <bfstore/bfstore.hpp>
#include <cstdio>

int main() {
  for (int number = -1000; number <= 1000; ++number) {
    const auto code = static_cast<bfstore::Code>(number);
    if (const char* name = bfstore::code_name(code))
      std::printf("%d\t%s\t%s\n", number, name, bfstore::code_text(code));
  }
}
