// Every form in which keys can be asked for and added, for tests in which each must be refused or in doubt.
#pragma once

#include <bfstore/bfstore.hpp>

#include <functional>
#include <string>
#include <vector>

namespace store_test {

struct AskForm {
  std::string name;
  // Asks for `count` keys of one writer. Returns how many may be there.
  std::function<std::uint64_t(const bfstore::Filter&, unsigned writer, std::uint64_t count)> ask;
};
const std::vector<AskForm>& ask_forms();

struct AddForm {
  std::string name;
  std::function<bfstore::Count(bfstore::Filter&, unsigned writer, std::uint64_t count)> add;
};
const std::vector<AddForm>& add_forms();

}  // namespace store_test
