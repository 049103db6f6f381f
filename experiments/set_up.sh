# shellcheck shell=bash disable=SC2034,SC2119,SC2120
# Sourced by the README's two commands, with the project's root as working folder: installs what is missing (Debian
# packages, as root or by sudo) and builds. Sets `build`, the build folder; `tenshot`, the program.

packages="g++ cmake ninja-build ccache libtorch-dev libopenblas0-openmp libeigen3-dev libcxxopts-dev \
nlohmann-json3-dev libboost-dev libssl-dev libpfm4-dev libonnx-dev libprotobuf-dev \
libgtest-dev libbenchmark-dev libxgboost-dev valgrind"

installed=""  # whether install_missing installed anything
install_missing() {
  missing=""
  for package in $packages "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing="$missing $package"
  done
  [ -z "$missing" ] && return
  if ! command -v apt-get >/dev/null; then
    echo "This machine has no apt; install what corresponds to these Debian packages:$missing" >&2
    return
  fi
  as_root=""
  if [ "$(id -u)" != 0 ]; then as_root="sudo"; fi
  if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
    echo "Run this as root first: apt-get install --no-install-recommends$missing" >&2
    return 1
  fi
  echo "Installing by apt:$missing"
  $as_root apt-get update -qq
  # shellcheck disable=SC2086 # a list of words
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
  installed=yes
}

# The packages that bring node and npm, where they are missing: NodeSource's nodejs has npm in it, Debian's has not.
node_packages() {
  command -v npm >/dev/null && command -v node >/dev/null && return
  echo nodejs
  apt-cache policy nodejs 2>/dev/null | grep -q "Candidate: .*nodesource" || echo npm
}

build=${TENSHOT_BUILD:-build}
tenshot=$build/tenshot

# Runs a command with its output in a log, which is shown when it fails.
logged() {
  "$@" >"$build/set_up.log" 2>&1 || {
    cat "$build/set_up.log" >&2
    return 1
  }
}

# without_descriptor PREDICTOR: what `tenshot train` is told so that nothing is taken from hardware descriptors.
without_descriptor() {
  case $1 in structured | maple | maple-edge) echo "--descriptor-kind inferred" ;; esac
}

# build_targets TARGET…: all of them when none is named.
build_targets() {
  configure
  echo "Building ${*:-everything} in $build (some minutes the first time)"
  logged ninja -C "$build" "$@"
  name_processor
}

# Configures the build folder where that has not been done.
configure() {
  mkdir -p "$build"
  if [ ! -f "$build/build.ninja" ]; then
    echo "Configuring $build"
    logged cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release
  elif [ -n "$installed" ]; then
    echo "Configuring $build again, for the engines that were installed"
    logged cmake -S . -B "$build" -U "TENSHOT_O*" -U TENSHOT_XGBOOST -U "OpenCV*" -U "OneDNN*" -U "*xgboost*"
  fi
}

# OpenBLAS takes a processor that is newer than itself for one of 2004, and leaves its newer instructions unused.
name_processor() {
  if [ -n "${OPENBLAS_CORETYPE:-}" ] || [ ! -x "$tenshot" ]; then return; fi
  "$tenshot" --version 2>/dev/null | grep -q Prescott || return 0
  if grep -qw avx512f /proc/cpuinfo; then
    export OPENBLAS_CORETYPE=SkylakeX
  elif grep -qw avx2 /proc/cpuinfo; then
    export OPENBLAS_CORETYPE=Haswell
  else
    return 0
  fi
  echo "OpenBLAS does not know this processor: OPENBLAS_CORETYPE=$OPENBLAS_CORETYPE makes it use its instructions"
}

# The last line of a table that is kept: which revision made it.
made_line() {
  echo
  git log -1 --format="Made by revision \`%h\` (%ad)." --date=short
}

# split_pool POOL OUT: OUT/pool has the first six tenths of the architectures of every device-runtime (600 of 1,000), to
# train and adapt with; OUT/truth/<id>.csv has the others, to test on.
split_pool() {
  local folder id rows
  rm -rf "$2/pool" "$2/truth"
  mkdir -p "$2/pool" "$2/truth"
  for folder in "$1"/*/; do
    [ -f "$folder/device.json" ] || continue  # a pool of another space
    id=$(basename "$folder")
    mkdir "$2/pool/$id"
    cp "$folder/device.json" "$2/pool/$id/"
    rows=$((($(wc -l <"$folder/latencies.csv") - 1) * 6 / 10))
    head -n $((rows + 1)) "$folder/latencies.csv" >"$2/pool/$id/latencies.csv"
    { head -n 1 "$folder/latencies.csv"; tail -n +$((rows + 2)) "$folder/latencies.csv"; } >"$2/truth/$id.csv"
  done
}
