// The worker program, which the tests start and kill: "remote PATH" obeys lines; "add", "live", "churn", "create" and
// "sync" work by themselves.
#include <cstdio>
#include <string>
#include <vector>

#include "workers.hpp"

int main(int count, char** values) {
  const std::vector<std::string> words(values + 1, values + count);
  if (words.size() == 2 && words[0] == "remote") return store_test::run_remote(words[1]);
  if (words.size() == 5 && words[0] == "add") return store_test::run_add(words);
  if (words.size() == 4 && words[0] == "live") return store_test::run_live(words);
  if (words.size() == 4 && words[0] == "churn") return store_test::run_churn(words);
  if (words.size() == 3 && words[0] == "create") return store_test::run_create(words);
  if (words.size() == 4 && words[0] == "sync") return store_test::run_sync(words);
  std::fputs("worker: what shall I do?\n", stderr);
  return 98;
}
