# shellcheck shell=sh disable=SC2154
# Sourced by measure_test.sh: makes kits and boards of stand-ins in $work, runs measure.sh there, and looks at results/.
tools="awk cat cp date grep head mkdir mv rm sed sh sha256sum sleep sort tail tr true uname"

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  [ ! -f "$work/printed" ] || sed 's/^/  | /' "$work/printed" >&2
  exit 1
}
expect_printed() { grep -qF -- "$1" "$work/printed" || fail "expected to be printed: $1; found:"; }
expect_file() { [ -f "$kit/results/$1" ] || fail "expected results/$1; found: $(ls -R "$kit/results")"; }
expect_no_file() { [ ! -e "$kit/results/$1" ] || fail "results/$1 is there, expected none"; }
# expect FILE LINE: results/FILE has that line, whole.
expect() {
  grep -qxF -- "$2" "$kit/results/$1" || fail "expected the line $2 in results/$1; found: $(cat "$kit/results/$1")"
}
expect_lines() { # COUNT PATTERN FILE
  found=$(grep -c -- "$2" "$3") || :
  [ "$found" = "$1" ] || fail "expected $1 lines with \"$2\" in ${3##*/}, found $found: $(cat "$3")"
}

# new_kit [WORD]: a kit of two architectures and one operator; WORD goes into the file of arch_02, for the stand-ins.
new_kit() {
  kit=${kit_folder:-$work/kit}
  rm -rf "$kit" "$work/calls" "$work/gate"
  mkdir -p "$kit/models"
  cp "$kit_files"/* "$kit/"
  : >"$work/calls"
  printf '# kit 0123abcd\n# batch 1\n# resolution 32\n# input input\n# precision fp32\n' >"$kit/models.tsv"
  for id in arch_01 arch_02 op_nor_conv_3x3_16; do
    word=plain kind=architecture
    case $id in arch_02) word=${1:-plain} ;; op_*) kind=operator ;; esac
    echo "$id $word" >"$kit/models/$id.onnx"
    hash=$(sha256sum <"$kit/models/$id.onnx" | cut -d ' ' -f 1)
    printf '%s\t%s\tmodels/%s.onnx\t%s\t20\t1x3x32x32\n' $id $kind $id "$hash" >>"$kit/models.tsv"
  done
}
add_model() { # ID: a further architecture
  echo "$1" >"$kit/models/$1.onnx"
  printf '%s\tarchitecture\tmodels/%s.onnx\t%s\t20\t1x3x32x32\n' "$1" "$1" "$(hash_of "models/$1.onnx")" >>"$kit/models.tsv"
}
hash_of() { sha256sum <"$kit/$1" | cut -d ' ' -f 1; }
# convert SUFFIX: the kit's two architectures as converted files, without its operator.
convert() {
  mkdir "$kit/converted"
  printf '# kit 0123abcd\n# format %s\n' "$1" >"$kit/converted.tsv"
  for id in arch_01 arch_02; do
    sed 's/^/converted /' "$kit/models/$id.onnx" >"$kit/converted/$id.$1"
    hash=$(hash_of "converted/$id.$1")
    case $1 in xml | param) echo weights >"$kit/converted/$id.bin" && hash=$hash+$(hash_of "converted/$id.bin") ;; esac
    printf '%s\tarchitecture\tconverted/%s.%s\t%s\t20\t1x3x32x32\n' $id $id "$1" "$hash" >>"$kit/converted.tsv"
  done
}
# phone: the folder that the stand-in for adb takes for one.
phone() {
  rm -rf "$work/phone"
  mkdir -p "$work/phone/bin" "$work/phone/data/local/tmp" "$work/phone/sys/class/thermal/thermal_zone0" \
    "$work/phone/sys/devices/system/cpu/cpu0/cpufreq"
  # shellcheck disable=SC2016 # the stand-in expands it
  printf '#!/bin/sh\ncase $1 in ro.product.model) echo Pixel 2 ;; ro.build.version.release) echo 11 ;; esac\n' \
    >"$work/phone/bin/getprop"
  chmod +x "$work/phone/bin/getprop"
  cp "$here/board/benchmark_model" "$work/phone/data/local/tmp/"
  echo walt >"$work/phone/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
  echo 1900800 >"$work/phone/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"
  echo battery >"$work/phone/sys/class/thermal/thermal_zone0/type"
  echo 31000 >"$work/phone/sys/class/thermal/thermal_zone0/temp"
}
# board NAME…: the PATH holds the tools and these stand-ins, no other backend, perf or nvpmodel.
board() {
  rm -rf "$work/board"
  mkdir -p "$work/board/bin" "$work/board/etc" "$work/board/cuda"
  for tool in $tools; do
    if [ "$shell" = dash ]; then ln -s "$(command -v "$tool")" "$work/board/bin/$tool"
    else ln -s "$(command -v busybox)" "$work/board/bin/$tool"; fi
  done
  for stand_in in "$@"; do ln -s "$here/board/$stand_in" "$work/board/bin/$stand_in"; done
  gpu=$work/board/sys/class/devfreq/17000000.gpu cpu=$work/board/sys/devices/system/cpu/cpu0/cpufreq
  mkdir -p "$gpu" "$cpu" "$work/board/sys/class/thermal/thermal_zone0"
  for file in cur_freq min_freq max_freq; do echo 1020000000 >"$gpu/$file"; done
  for file in scaling_cur_freq scaling_min_freq scaling_max_freq; do echo 1510400 >"$cpu/$file"; done
  echo schedutil >"$cpu/scaling_governor"
  echo cpu-thermal >"$work/board/sys/class/thermal/thermal_zone0/type"
  echo 48250 >"$work/board/sys/class/thermal/thermal_zone0/temp"
  echo '# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref' >"$work/board/etc/nv_tegra_release"
  printf '{\n  "cuda" : {\n    "name" : "CUDA",\n    "version" : "11.4.19"\n  }\n}\n' >"$work/board/cuda/version.json"
}
# measure_as_is [NAME=VALUE…] [OPTION…]: runs measure.sh in the kit on the board.
measure_as_is() (
  export PATH="$work/board/bin" TENSHOT_SYS="$work/board/sys" TENSHOT_ETC="$work/board/etc" \
    TENSHOT_PROC="$work/board/proc" TENSHOT_CUDA="$work/board/cuda" FAKE_CALLS="$work/calls" FAKE_GATE="$work/gate"
  # shellcheck disable=SC2163 # NAME=VALUE
  while [ $# -gt 0 ]; do case $1 in FAKE_*=* | PYTHONPATH=*) export "$1"; shift ;; *) break ;; esac; done
  # shellcheck disable=SC2086 # two words
  exec $shell_command "${script:-$kit/measure.sh}" "$@"
)
measure() { # STATUS …: the same, and expects that exit status
  expected=$1
  shift
  status=0
  measure_as_is "$@" >"$work/printed" 2>&1 || status=$?
  [ $status = "$expected" ] || fail "measure.sh $* ended with $status, expected $expected:"
}
