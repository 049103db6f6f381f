# shellcheck shell=sh
# Sourced by measure.sh, and run by itself on a phone (sh state.sh board_state): what state the board is in. TENSHOT_SYS
# and the like name other roots, for tests.
sys=${TENSHOT_SYS:-/sys} etc=${TENSHOT_ETC:-/etc} proc=${TENSHOT_PROC:-/proc} cuda=${TENSHOT_CUDA:-/usr/local/cuda}
gpu=''
for folder in "$sys"/class/devfreq/*; do
  case ${folder##*/} in *gpu* | *.ga10b | *.gv11b | *.gp10b | *.gm20b) gpu=$folder; break ;; esac
done
# fact KEY FILE: KEY=first line of the file, where it can be read. fact KEY = VALUE: where the value is not empty.
fact() {
  line=''
  if [ $# = 3 ]; then line=$3; else { IFS= read -r line <"$2"; } 2>/dev/null; fi
  [ -z "$line" ] || printf '%s=%s\n' "$1" "$line"
}
# Which board it is: the hash of its serial number, else of its installation's machine-id, else of the address of its
# first network card. Nothing where none of them can be read. An address that is administered locally (bit 1 of its
# first octet, as phones and laptops make up anew for each network) says nothing.
board_id() {
  told=''
  for source in serial property installation "$sys"/class/net/*/device; do
    case $source in
      serial) told=$(tr -d '\000' <"$proc/device-tree/serial-number") ;;
      property) told=$(getprop ro.serialno) ;;
      installation) told=$(cat "$etc/machine-id") ;;
      *) told=$(cat "${source%/device}/address") && case $told in ?[2367abefABEF]*) told='' ;; esac ;;
    esac
    case $told in unknown | uninitialized | 0123456789ABCDEF) ;; *[!0:]*) break ;; esac
    told=''
  done
  [ -z "$told" ] || printf '%s' "$told" | { sha256sum || shasum -a 256; } | sed 's/^\(.\{12\}\).*/\1/'
} 2>/dev/null
board_state() {
  fact board_id = "$(board_id)"
  fact power_mode = "$(nvpmodel -q 2>/dev/null | sed -n 's/^NV Power Mode: *//p' | head -n 1)"
  fact board = "$(getprop ro.product.model 2>/dev/null)"
  fact soc = "$(getprop ro.soc.model 2>/dev/null)"
  fact android = "$(getprop ro.build.version.release 2>/dev/null)"
  fact cpu_governor "$sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
  for folder in "$sys"/devices/system/cpu/cpu[0-9]*/cpufreq; do
    cpu=${folder%/cpufreq} cpu=${cpu##*/}
    fact "${cpu}_khz" "$folder/scaling_cur_freq"
    fact "${cpu}_max_khz" "$folder/scaling_max_freq"
  done
  fact gpu_hz "$gpu/cur_freq"
  fact gpu_max_hz "$gpu/max_freq"
  fact emc_hz "$sys/kernel/debug/bpmp/debug/clk/emc/rate"
  for folder in "$sys"/class/thermal/thermal_zone*; do
    zone=$(fact zone "$folder/type" | sed 's/^zone=//; s/[^A-Za-z0-9_-]/_/g')
    fact "temperature_${zone:-${folder##*zone}}" "$folder/temp"
  done
  [ ! -r "$proc/device-tree/model" ] || fact board = "$(tr -d '\000' <"$proc/device-tree/model")"
  [ ! -r "$etc/nv_tegra_release" ] ||
    fact l4t = "$(sed -n 's/^# *R\([0-9]*\).*REVISION: *\([0-9.]*\).*/R\1.\2/p' "$etc/nv_tegra_release" | head -n 1)"
  found=$(sed -n '/"cuda" *:/,/}/s/.*"version" *: *"\([^"]*\)".*/\1/p' "$cuda/version.json" 2>/dev/null | head -n 1)
  fact cuda = "${found:-$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p' | head -n 1)}"
  # shellcheck disable=SC2016 # dpkg-query's own syntax
  found=$(dpkg-query -W -f '${Version}\n' 'libnvinfer[0-9]*' 2>/dev/null | sed '/^$/d' | head -n 1)
  [ "${backend:-}" != trtexec ] || found=${found:-${version:-}}
  fact tensorrt = "$found"
  fact kernel = "$(uname -r)"
  fact machine = "$(uname -m)"
  fact load "$proc/loadavg" | sed 's/ .*//'
}
# The clock that bounds the backend: the GPU's in Hz for trtexec, otherwise the fastest CPU's in kHz.
clock() {
  if [ "${backend:-}" = trtexec ] && [ -r "$gpu/cur_freq" ]; then cat "$gpu/cur_freq"
  else cat "$sys"/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq
  fi 2>/dev/null | sort -n | tail -n 1 | grep . || echo unknown
}
cpu0_clock=$sys/devices/system/cpu/cpu0/cpufreq/scaling_
# Whether a clock may not move: yes, no, or unknown. Under the governor "performance" it stays at its maximum, but for
# drivers that choose within it by themselves.
is_fixed() { # THE START OF ITS FILES
  least=$(fact x "$1min_freq") most=$(fact x "$1max_freq")
  case $(fact x "$1driver"),$(fact x "$1governor") in
    *pstate*) ;;
    *,x=performance) least=$most ;;
  esac
  if [ -z "$least$most" ]; then echo unknown; elif [ "$least" = "$most" ]; then echo yes; else echo no; fi
}
clock_fixed() { # the one that clock() tells
  if [ "${backend:-}" = trtexec ] && [ -r "$gpu/cur_freq" ]; then is_fixed "$gpu/"; else is_fixed "$cpu0_clock"; fi
}
case ${1:-} in board_state | clock | clock_fixed) "$1" ;; esac
