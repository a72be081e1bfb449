# shellcheck shell=bash disable=SC2154  # setup.sh says what root is
# Sourced, after setup.sh, by .ci/run and tools/campaign. Runs stages one after the other, even after a failure, adds up
# their last lines ("N passed, N failed, N skipped"), and prints at the end the time of each stage, and each failed test
# with its reason.

passed=0
failed=0
skipped=0
summary=()
reds=()
stages_began=$SECONDS
# A limit, so that the last lines of a long log suffice.
most_red_lines=40

# Runs a command as one check: it passes or it fails.
one_check() {
  if "$@"; then
    say "1 passed, 0 failed, 0 skipped"
  else
    say "0 passed, 1 failed, 0 skipped"
    return 1
  fi
}

# The quick benchmark, and the tests of its programs, which other stages do not build.
check_bench() { tools/bench --quick && meson test -C "$root/build-release" --no-rebuild --suite bench; }

# Prints the failures in a failed stage's log: the lines that tools/sum_tests.py writes for this, or those of the other
# scripts; without any, the log's end.
reds_of() {
  local lines line
  lines=$(sed -n -e 's/^red: //p' -e '/ SURVIVED$/p' -e '/^without a mutant/p' -e '/^neither passed nor skipped: /p' \
    -e '/ (not allowed here)$/p' -e '/ network: /p' "$2" | sort -u)
  [[ -n $lines ]] || lines=$(grep -vE '^([0-9]+ passed,|[[:space:]]*$)' "$2" | tail -n 8)
  while IFS= read -r line; do
    printf '%s: %.400s\n' "$1" "$line"
  done <<<"$lines"
}

# run_stage NAME COMMAND...: runs a stage. It fails if its last line is not a sum, or reports no failure with a bad exit
# code.
run_stage() {
  local name=$1 begin=$SECONDS code line log=$root/build-logs/$1.log
  shift
  printf '\n=== %s\n' "$name"
  mkdir -p "$root/build-logs"
  "$@" 2>&1 </dev/null | tee "$log"
  code=${PIPESTATUS[0]}
  line=$(tail -n 1 "$log")
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
    ((code != 0 && BASH_REMATCH[2] == 0)) && failed=$((failed + 1))
  else
    line="no sum, exit code $code"
    failed=$((failed + 1))
  fi
  [[ $line == *" 0 failed,"* && $code == 0 ]] || mapfile -t -O "${#reds[@]}" reds < <(reds_of "$name" "$log")
  summary+=("$(printf '%-12s %5d s   %s' "$name" $((SECONDS - begin)) "$line")")
  return "$code"
}

# Prints the summary of all stages. The exit code is 1 if one failed.
end_stages() {
  printf '\n=== all stages\n'
  printf '%s\n' "${summary[@]}" "$(printf '%-12s %5d s' all $((SECONDS - stages_began)))"
  if ((${#reds[@]} > 0)); then
    printf '\n=== what failed\n'
    printf '%s\n' "${reds[@]:0:most_red_lines-2}"
    ((${#reds[@]} <= most_red_lines - 2)) || say "and $((${#reds[@]} - most_red_lines + 2)) more; the logs are in build-logs"
  fi
  say "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0))
}
