#!/bin/sh
# Measures the models of this folder with what the board has, for `tenshot adapt --measurements`. Reads models.tsv,
# writes only inside results/ and every file to NAME.part first, so that it may be stopped at any moment and run again.
set -u
unset CDPATH
LC_ALL=C
export LC_ALL

usage() {
  cat <<'END'
Measures the models of this folder and writes results/. Run it again to go on after an interruption.

  ./measure.sh [options]

  --backend NAME      trtexec, onnxruntime or custom; the first that is there unless said
  --precision NAME    fp32, fp16 or int8 (fp16 and int8: trtexec and custom); models.tsv says it unless given here
  --calibration FILE  calibration cache for trtexec and int8; without one trtexec takes ranges of its own
  --command TEMPLATE  for custom: a shell command, run in this folder, that runs the model {model} {runs} times and
                      prints milliseconds, one a line (other lines are only kept in the log)
  --runs N            timed runs of each model; models.tsv says how many unless given here
  --threads N         threads of onnxruntime, 1 unless said
  --optimization NAME what onnxruntime does to the graph: all (unless said), extended, basic or disabled
  --sentinel N        measures the first model again after every N models, waits up to a minute while it takes 5 %
                      longer than at its fastest, and measures again the models around which it did (five times at most)
  --node-modules DIR  the node_modules folder that holds onnxruntime-node; takes the Node runner
  --no-perf           no hardware counters
  --no-quantities     neither energy nor peak memory of the architectures
  --help              this text

For steady times fix the clocks first: sudo nvpmodel -m 0; sudo jetson_clocks

Examples
  ./measure.sh
  ./measure.sh --backend trtexec --precision fp16
  ./measure.sh --backend onnxruntime --threads 1
  ./measure.sh --backend custom --command './bench --model {model} --repeat {runs}'
END
}

die() { printf '%s\n' "$*" >&2; exit 1; }
wrong() { printf '%s; see --help\n' "$*" >&2; exit 2; }
warn() { printf 'WARNING: %s\n' "$*" >&2; }

backend='' precision='' calibration='' command='' runs_asked='' threads='' optimization='' sentinel_every='' node_modules=''
use_perf=yes use_quantities=yes
while [ $# -gt 0 ]; do
  option=$1
  case $option in
    --help | -h) usage; exit 0 ;;
    --no-perf) use_perf=no; shift; continue ;;
    --no-quantities) use_quantities=no; shift; continue ;;
    --*=*) value=${option#*=} option=${option%%=*} ;;
    *) [ $# -gt 1 ] || wrong "$option is unknown or lacks its value"; value=$2; shift ;;
  esac
  shift
  case $option in
    --backend) backend=$value ;;
    --precision) precision=$value ;;
    --calibration) calibration=$value ;;
    --command) command=$value ;;
    --runs) runs_asked=$value ;;
    --threads) threads=$value ;;
    --optimization) optimization=$value ;;
    --sentinel) sentinel_every=$value ;;
    --node-modules) node_modules=$value ;;
    *) wrong "$option is not an option" ;;
  esac
done
case $backend in
  '' | trtexec | onnxruntime | custom) ;;
  *) wrong "--backend $backend is not trtexec, onnxruntime or custom" ;;
esac
case $optimization in
  '' | all | extended | basic | disabled) ;;
  *) wrong "--optimization $optimization is not all, extended, basic or disabled" ;;
esac
case $precision in '' | fp32 | fp16 | int8) ;; *) wrong "--precision $precision is not fp32, fp16 or int8" ;; esac
for value in "$runs_asked" "$threads" "$sentinel_every"; do
  case $value in *[!0-9]* | 0*) wrong "--runs, --threads and --sentinel take a whole number above 0, not $value" ;; esac
done
case $calibration in '' | /*) ;; *) calibration=$PWD/$calibration ;; esac
case $node_modules in '' | /*) ;; *) node_modules=$PWD/$node_modules ;; esac
[ -z "$calibration" ] || [ -f "$calibration" ] || wrong "--calibration $calibration is not a file"

# From here on every path is relative to the kit's folder, so that no character of its own path can do harm.
case $0 in */*) cd -- "${0%/*}/" || exit 1 ;; esac
[ -f models.tsv ] || die "There is no models.tsv beside measure.sh: run the measure.sh inside a kit's folder"
awk -F '\t' '
  function bad(why) { printf "models.tsv line %d: %s; write the kit anew\n", NR, why; failed = 1; exit 1 }
  /^#/ { next }
  NF != 6 { bad(NF " columns, expected 6") }
  $1 == "" || $1 ~ /[^a-z0-9_]/ || $1 ~ /^(empty|engines|running|sentinel)$/ { bad("\"" $1 "\" cannot name a model") }
  $1 in seen { bad($1 " comes twice") }
  $2 !~ /^(architecture|operator|chain|surroundings)$/ { bad("\"" $2 "\" is no kind of model") }
  $3 != "models/" $1 ".onnx" { bad("the file of " $1 " is \"" $3 "\", expected models/" $1 ".onnx") }
  length($4) != 64 || $4 ~ /[^0-9a-f]/ { bad("\"" $4 "\" is not a SHA-256") }
  $5 !~ /^[1-9][0-9]*$/ { bad("\"" $5 "\" is not a number of runs") }
  $6 !~ /^[1-9][0-9x]*$/ { bad("\"" $6 "\" is not a shape like 1x3x32x32") }
  { seen[$1] = 1; count++ }
  END { if (!failed && !count) { print "models.tsv lists no models; write the kit anew"; exit 1 } }
' models.tsv >&2 || exit 1
exec 4>&2 </dev/null

setting() { sed -n "s/^# *$1 //p" models.tsv | head -n 1; }
recorded() { [ ! -f results/kit.txt ] || sed -n "s/^$1=//p" results/kit.txt | head -n 1; }
has() { command -v "$1" >/dev/null 2>&1; }
save() { if ! cat >"$1.part" || ! mv -f "$1.part" "$1"; then die "Cannot write $1 in $PWD"; fi; }

if has sha256sum; then sha256() { sha256sum <"$1" | sed 's/ .*//'; }
elif has shasum; then sha256() { shasum -a 256 <"$1" | sed 's/ .*//'; }
elif has openssl; then sha256() { openssl dgst -sha256 <"$1" | sed 's/.*= *//'; }
else die "None of sha256sum, shasum and openssl is here to check the models with"
fi

# ---- The backend.
[ -z "$command" ] || : "${backend:=custom}"
: "${backend:=$(recorded backend)}" "${threads:=$(recorded threads)}" "${threads:=1}"
: "${optimization:=$(recorded optimization)}"
: "${precision:=$(recorded precision)}" "${precision:=$(setting precision)}" "${precision:=fp32}"
TENSHOT_NODE_MODULES=$node_modules TENSHOT_OPTIMIZATION=$optimization
export TENSHOT_NODE_MODULES TENSHOT_OPTIMIZATION
warmup=10     # runs, of onnxruntime
warmup_ms=200 # of trtexec
runner='' version='' trtexec=''

find_trtexec() {
  trtexec=$(command -v trtexec || command -v /usr/src/tensorrt/bin/trtexec) || return 1
  help=$("$trtexec" --help 2>&1)
  # The banner says v8502 for 8.5.2 and v100300 for 10.3.0.
  version=$(printf '%s\n' "$help" | sed -n 's/.*\[TensorRT v\([0-9]*\)\].*/\1/p' | awk 'NR == 1 {
    digits = $1 >= 10000 ? 100 : 10
    print int($1 / digits / 100) "." int($1 / 100) % digits "." $1 % 100 }')
  runner=trtexec
}
find_onnxruntime() {
  if [ -z "$node_modules" ] && has onnxruntime_perf_test; then runner=perf_test; return 0; fi
  if [ -z "$node_modules" ] && has python3 && version=$(python3 run_onnx.py --version 2>/dev/null); then
    runner=python; return 0
  fi
  if has node && version=$(node run_onnx.js --version 2>/dev/null); then runner=node; return 0; fi
  version=''
  return 1
}
chosen=''
case $backend in
  trtexec) find_trtexec || die "trtexec is neither on the PATH nor in /usr/src/tensorrt/bin" ;;
  onnxruntime)
    find_onnxruntime || die "ONNX Runtime is not here: neither onnxruntime_perf_test on the PATH, nor onnxruntime in" \
      "python3, nor onnxruntime-node for node (npm install onnxruntime-node, here or with --node-modules DIR)" ;;
  custom)
    [ -n "$command" ] || wrong "--backend custom needs --command"
    runner=custom warmup=0 ;;
  '')
    chosen=', the first that is here'
    if find_trtexec; then backend=trtexec; elif find_onnxruntime; then backend=onnxruntime
    else die "Neither trtexec nor ONNX Runtime is here; install one, or give --command (see --help)"; fi ;;
esac
case $command in '' | *'{model}'*) ;; *) wrong "--command has no {model}" ;; esac
if [ -n "$command" ] && [ "$backend" != custom ]; then wrong "--command goes with --backend custom, not $backend"; fi
if [ "$backend" = onnxruntime ] && [ "$precision" != fp32 ]; then
  die "onnxruntime runs the models as they are, fp32; for $precision take --backend trtexec or custom"
fi
if [ "$backend" != onnxruntime ] && [ -n "$optimization" ]; then
  wrong "--optimization goes with --backend onnxruntime, not $backend"
fi
# What earlier trtexecs call --buildOnly is --skipInference in later ones.
build_only='' precision_switch=''
if [ "$runner" = trtexec ]; then
  for option in --skipInference --buildOnly; do
    case $help in *"$option"*) build_only=$option; break ;; esac
  done
  [ "$precision" = fp32 ] || precision_switch=--$precision
  case $help in *"$precision_switch"*) ;; *) die "This trtexec (TensorRT $version) has no $precision_switch" ;; esac
fi

# ---- results/, which belongs to one kit and one way of measuring.
if ! mkdir -p results/engines 2>/dev/null || ! (: >results/kit.part) 2>/dev/null; then
  die "Cannot write to $PWD/results: copy the kit to a folder that can be written"
fi
rm -f results/kit.part
if [ -f results/running ]; then
  read -r pid <results/running || pid=''
  if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then
    die "Process $pid seems to be measuring here already; if it is another program, delete results/running"
  fi
fi
settings() {
  printf '%s=%s\n' kit "$(setting kit)" backend "$backend" runner "$runner" version "$version" precision "$precision" \
    threads "$threads" optimization "$optimization" command "$(printf '%s' "$command" | tr '\n' ' ')"
}
if [ -f results/kit.txt ]; then
  settings | while IFS= read -r line; do
    was=${line%%=*}=$(recorded "${line%%=*}")
    [ "$was" = "$line" ] || die "results/ was measured with $was, now it is $line: move results/ away to start over"
  done || exit 1
fi
echo $$ | save results/running || exit 1
trap 'echo >&4; echo "Interrupted; run it again to go on" >&4; exit 130' INT TERM HUP
trap 'rm -f results/running' EXIT
[ -f results/kit.txt ] || { settings; date -u +started=%Y-%m-%dT%H:%M:%SZ; } | save results/kit.txt || exit 1

# ---- The board's state. TENSHOT_SYS and the like name other roots, for tests.
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
board_state() {
  fact power_mode = "$(nvpmodel -q 2>/dev/null | sed -n 's/^NV Power Mode: *//p' | head -n 1)"
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
  [ "$backend" != trtexec ] || found=${found:-$version}
  fact tensorrt = "$found"
  fact kernel = "$(uname -r)"
  fact machine = "$(uname -m)"
  fact load "$proc/loadavg" | sed 's/ .*//'
}
# The clock that bounds the backend: the GPU's in Hz for trtexec, otherwise the fastest CPU's in kHz.
clock() {
  if [ "$backend" = trtexec ] && [ -r "$gpu/cur_freq" ]; then cat "$gpu/cur_freq"
  else cat "$sys"/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq
  fi 2>/dev/null | sort -n | tail -n 1 | grep . || echo unknown
}
moved() { # FROM TO: by more than 2 %?
  echo "$1 $2" | awk '{ print (/unknown/ ? "unknown" : $2 > 1.02 * $1 || $2 < 0.98 * $1 ? "yes" : "no") }'
}

# ---- Counters, four events at most at a time, so that small PMUs need not take turns.
events_1=cycles,instructions,cache-references,cache-misses events_2=L1-dcache-loads,L1-dcache-load-misses
missing=''
if [ $use_perf = no ]; then missing='--no-perf was given'
elif ! has perf; then missing='perf was not found'
elif [ $runner = custom ] && case $command in *'{runs}'*) false ;; esac; then missing='the command has no {runs}'
elif ! perf stat -x, -o results/perf.csv.part -e $events_1 -- true 2>results/perf.err.part; then
  missing="perf may not count: $(sed -n '/[a-z]/{p;q;}' results/perf.err.part)"
  missing="$missing ($(fact kernel.perf_event_paranoid "$proc/sys/kernel/perf_event_paranoid"))"
elif ! grep -q '^[0-9]' results/perf.csv.part; then
  missing="perf counts none of $events_1 here: $(sed -n 's/^\(<[a-z ]*>\).*/\1/p' results/perf.csv.part | head -n 1)"
fi
rm -f results/perf.csv.part results/perf.err.part
if [ -z "$missing" ]; then printf 'passes=2\nevents.1=%s\nevents.2=%s\n' $events_1 $events_2 | save results/perf.txt
elif ! grep -q passes results/perf.txt 2>/dev/null; then echo "missing=$missing" | save results/perf.txt; fi || exit 1

# ---- One model: $id $kind $file $hash $runs $shape, in the folder $out.
events='' counts=''
run() { # COMMAND…, under perf while $counts names a file
  printf '+ %s\n' "$*" >&2
  if [ -n "$counts" ]; then perf stat -x, -o "$counts" -e "$events" -- "$@"; else "$@"; fi
}
infer() { # RUNS WARMUP WARMUP_MS OUT
  case $runner in
    trtexec)
      run "$trtexec" --loadEngine="$engine" --iterations="$1" --warmUp="$3" --duration=0 --exportTimes="$4" ;;
    perf_test)
      case $optimization in extended) graph=2 ;; basic) graph=1 ;; disabled) graph=0 ;; *) graph=99 ;; esac
      run onnxruntime_perf_test -I -S 1 -e cpu -m times -r $(($1 + $2)) -x "$threads" -y 1 -o $graph "$file" "$4" ;;
    python) run python3 run_onnx.py "$file" "$1" "$2" "$4" "$threads" "$shape" ;;
    node) run node run_onnx.js "$file" "$1" "$2" "$4" "$threads" "$shape" ;;
    # The path is models/ID.onnx, harmless within any quotes of the template.
    custom) run sh -c "$(printf '%s\n' "$command" | sed "s|{model}|$file|g; s|{runs}|$1|g")" >"$4" ;;
  esac
}
build_engine() {
  cache=results/engines/timing.cache
  [ ! -f "$engine" ] || return 0
  rm -f results/engines/*.part
  [ ! -f $cache ] || cp $cache $cache.part
  set -- --onnx="$file" --saveEngine="$engine.part" --timingCacheFile=$cache.part
  [ -z "$precision_switch" ] || set -- "$@" "$precision_switch"
  [ "$precision" != int8 ] || [ -z "$calibration" ] || set -- "$@" --calib="$calibration"
  [ -z "$build_only" ] || set -- "$@" "$build_only"
  "$trtexec" "$@" && [ -s "$engine.part" ] || return 1
  [ ! -f $cache.part ] || mv -f $cache.part $cache
  mv -f "$engine.part" "$engine"
}
median() { # FILE in any of the formats: milliseconds, or nothing
  case $1 in
    */perf_test.txt) awk -F, '{ print 1000 * $2 }' "$1" ;;
    */times.txt) cat "$1" ;;
    *) awk -v RS=, '{ gsub(/[][{}\n]/, " "); sub(/.*"(computeMs|times_ms)" *:/, "") } /^ *[0-9][-+.0-9eE]* *$/' "$1" ;;
  esac | awk '{ printf "%.9f\n", $1 }' | sort -n |
    awk '{ ms[NR] = $1 } END { if (NR) print (ms[int((NR + 1) / 2)] + ms[int(NR / 2) + 1]) / 2 }'
}
count() { # PASS EVENTS LENGTH RUNS
  counts=$out/perf.$1.$3.csv.part events=$2
  infer "$4" 0 0 "$out/discarded.part" && mv -f "$counts" "${counts%.part}" && rm -f "$out/discarded.part"
}
count_events() { # by two lengths, whose difference is free of what starting costs
  short_runs=10
  long_runs=$(awk "BEGIN { n = int(2000 / $ms); print $short_runs + (n < $runs ? $runs : n > 20000 ? 20000 : n) }")
  count 1 $events_1 short $short_runs && count 1 $events_1 long "$long_runs" &&
    count 2 $events_2 short $short_runs && count 2 $events_2 long "$long_runs"
}
measure() { # sets ms, or returns 1 with why
  [ -f "$file" ] || { why="$file is missing"; return 1; }
  why="the SHA-256 of $file is not the one in models.tsv: copy the kit anew"
  [ "$(sha256 "$file")" = "$hash" ] || return 1
  if [ $runner = trtexec ] && ! build_engine >>"$log" 2>&1; then
    why="trtexec did not build an engine: $(sed -n 's/.*\[E\] *//p' "$log" | head -n 1)"
    return 1
  fi
  clocks_before=$(clock)
  infer "$runs" $warmup $warmup_ms "$out/raw.part" >>"$log" 2>&1
  status=$?
  clocks_after=$(clock)
  if [ $status != 0 ]; then
    rm -f "$engine" # perhaps of another TensorRT; the next attempt builds it anew
    why="$runner ended with status $status: $(tail -n 1 "$log")"
    return 1
  fi
  case $runner in
    perf_test) times=perf_test.txt; awk -F, "NF >= 5 && ++n > $warmup" "$out/raw.part" ;;
    custom)
      times=times.txt
      cat "$out/raw.part" >>"$log"
      tr -d ' \t\r' <"$out/raw.part" | grep -E '^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$' ;;
    *) times=times.json; cat "$out/raw.part" ;;
  esac >"$out/times.part"
  mv -f "$out/times.part" "$out/$times"
  ms=$(median "$out/$times" 2>>"$log")
  case $ms in '' | 0) rm -f "$out/$times"; why="$runner gave no times"; return 1 ;; esac
}

if [ $use_quantities = yes ] && [ -f quantities.sh ]; then
  # shellcheck source-path=SCRIPTDIR source=quantities.sh
  . ./quantities.sh
  note_quantities
else
  measure_quantities() { energy_mj='' memory_mib=''; }
  note_quantities() { :; }
fi

# ---- The sentinel: whether the machine kept its speed is seen in one model that is measured again and again.
sentinel_attempts=6
sentinel_patience_s=60
sentinel_tolerance=1.05 # times its fastest
sentinel() { # measures the first model, and prints and remembers its milliseconds
  (
    while IFS='	' read -r id kind file hash runs shape; do case $id in '#'*) ;; *) break ;; esac; done <models.tsv
    out=results/sentinel log=results/sentinel/log.txt engine=results/engines/$id.$hash.engine
    mkdir -p "$out" && : >"$log" && measure && echo "$ms" >>results/sentinel.txt && echo "$ms"
  )
}
# The sentinel at its fastest, but for one measurement in ten.
sentinel_level() { sort -n results/sentinel.txt | awk '{ ms[NR] = $1 } END { print ms[int((NR + 9) / 10)] }'; }
kept_speed() { awk "BEGIN { exit !($1 <= $sentinel_tolerance * $(sentinel_level)) }"; } # MILLISECONDS of the sentinel
# Waits for the machine to be fast again, so long as there is patience; $sentinel_ms is the sentinel's last measurement.
await_speed() {
  until=$(($(date +%s) + sentinel_patience_s))
  until kept_speed "$sentinel_ms" || [ "$(date +%s)" -ge "$until" ]; do
    sleep 1
    sentinel_ms=$(sentinel) || break
  done
}
# The slower of the sentinels before and after them is what is said of the models in $batch.
end_batch() {
  before_ms=$sentinel_ms
  sentinel_ms=$(sentinel) || sentinel_ms=$before_ms
  slower_ms=$(printf '%s\n' "$before_ms" "$sentinel_ms" | sort -n | tail -n 1)
  for one in $batch; do
    { cat "results/$one/meta.txt"; echo "sentinel_ms=$slower_ms"; } | save "results/$one/meta.txt" || exit 1
  done
  batch=''
}

total=$(grep -vc '^#' models.tsv)
is_measured() { [ -f "results/$1/meta.txt" ] && grep -q "^sha256=$2\$" "results/$1/meta.txt"; } # ID HASH
is_steady() { # ID: as the sentinel says, measured before $level
  [ -z "$sentinel_every" ] || [ -z "$level" ] ||
    awk -F= -v most="$sentinel_tolerance $level" '
      BEGIN { split(most, factor, " ") }
      $1 == "sentinel_ms" && $2 <= factor[1] * factor[2] { steady = 1 }
      END { exit !steady }' "results/$1/meta.txt"
}
is_done() { is_measured "$1" "$2" && is_steady "$1"; }
count_done() {
  done_count=0 level=''
  [ ! -f results/sentinel.txt ] || level=$(sentinel_level)
  while IFS='	' read -r id _ _ hash _; do
    case $id in '#'*) ;; *) ! is_done "$id" "$hash" || done_count=$((done_count + 1)) ;; esac
  done <models.tsv
}
count_done
done_before=$done_count

echo "Backend: $backend$([ "$runner" = "$backend" ] || echo " by $runner")${version:+ $version}, $precision$chosen"
[ -z "$missing" ] || echo "No hardware counters: $missing"
[ $done_before = 0 ] || echo "$done_before of $total were measured before"
for clock in "$gpu/" "$sys/devices/system/cpu/cpu0/cpufreq/scaling_"; do
  [ "$(fact x "${clock}min_freq")" = "$(fact x "${clock}max_freq")" ] ||
    { warn "the clocks are not fixed; for steady times first: sudo nvpmodel -m 0; sudo jetson_clocks"; break; }
done
check_power_mode() { # FILE
  was=$(grep '^power_mode=' results/before.txt) now=$(grep '^power_mode=' "$1")
  [ "$was" = "$now" ] || warn "the power mode was \"${was#*=}\" when this began and is \"${now#*=}\" now"
}
board_state | save results/now.part || exit 1
if [ -f results/before.txt ]; then check_power_mode results/now.part; else mv -f results/now.part results/before.txt; fi
rm -f results/now.part

sentinel_ms='' batch=''
if [ -n "$sentinel_every" ] && [ $done_before -lt "$total" ] && ! sentinel_ms=$(sentinel); then
  warn "the first model cannot be measured, so there is no sentinel: $(tail -n 1 results/sentinel/log.txt)"
  sentinel_every=''
fi
moved_ones='' pass=1
measure_all() { # what is not done; sets failures and failed
  number=0 todo=$((total - done_count)) attempts=0 failures='' failed=0 started=$(date +%s)
  exec 3<models.tsv
  while IFS='	' read -r id kind file hash runs shape <&3; do
    case $id in '#'*) continue ;; esac
    number=$((number + 1)) out=results/$id log=results/$id/log.txt why='' ms=''
    is_done "$id" "$hash" && continue
    attempts=$((attempts + 1)) engine=results/engines/$id.$hash.engine
    runs=${runs_asked:-$runs}
    rm -rf "$out"
    if ! mkdir "$out" || ! : >"$log"; then die "Cannot write $out in $PWD"; fi
    [ -z "$sentinel_every" ] || [ -n "$batch" ] || await_speed
    printf '%d of %d %s … ' $number "$total" "$id"
    if measure; then
      moves=$(moved "$clocks_before" "$clocks_after") counted=''
      if [ "$kind" = operator ] && [ -z "$missing" ]; then
        if count_events >>"$log" 2>&1; then counted=yes; else counted=no; fi
        counts=''
      fi
      measure_quantities
      {
        printf '%s=%s\n' id "$id" sha256 "$hash" backend "$backend" precision "$precision" runs "$runs" log log.txt \
          times "$times" clocks_before "$clocks_before" clocks_after "$clocks_after" clocks_moved "$moves"
        if [ $runner = trtexec ]; then printf 'warmup=0\nwarmup_ms=%s\n' $warmup_ms; else echo "warmup=$warmup"; fi
        [ "$counted" != yes ] || printf 'short_runs=%s\nlong_runs=%s\n' "$short_runs" "$long_runs"
        [ -z "$energy_mj" ] || echo "energy_mj=$energy_mj"
        [ -z "$memory_mib" ] || echo "memory_mib=$memory_mib"
      } | save "$out/meta.txt" || exit 1
      rm -f "$out"/*.part
      left=$(awk "BEGIN { s = ($todo - $attempts) * ($(date +%s) - $started) / $attempts
        if (s >= 1) printf s < 100 ? \", about %d s left\" : \", about %d min left\", s < 100 ? s : s / 60 + 0.5 }")
      case $counted in no) left=" without counters, see its log$left" ;; esac
      printf '%.2f ms%s\n' "$ms" "$left"
      if [ "$moves" = yes ]; then
        moved_ones="$moved_ones $id"
        warn "THE CLOCK MOVED during $id, from $clocks_before to $clocks_after: sudo nvpmodel -m 0;" \
          "sudo jetson_clocks; then delete results/$id and run this again"
      fi
      batch="$batch $id"
    else
      rm -f "$out"/*.part
      printf '%s\n' "$why" | save "$out/failed.txt" || exit 1
      failed=$((failed + 1)) failures="$failures $id"
      printf 'FAILED: %s\n' "$why"
    fi
    [ -z "$sentinel_every" ] || [ $((attempts % sentinel_every)) != 0 ] || end_batch
  done
  [ -z "$sentinel_every" ] || [ -z "$batch" ] || end_batch
}
measure_all
if [ -n "$sentinel_every" ]; then
  count_done
  while [ $((done_count + failed)) -lt "$total" ] && [ $pass -lt $sentinel_attempts ]; do
    echo "The machine changed its speed: of the models $((total - done_count - failed)) are measured again"
    pass=$((pass + 1))
    measure_all
    count_done
  done
  while IFS='	' read -r id _ _ hash _; do
    case $id in '#'*) continue ;; esac
    if is_measured "$id" "$hash" && ! is_steady "$id"; then
      { cat "results/$id/meta.txt"; echo sentinel_moved=yes; } | save "results/$id/meta.txt" || exit 1
      moved_ones="$moved_ones $id"
    fi
  done <models.tsv
fi
note_quantities
board_state | save results/after.txt || exit 1
check_power_mode results/after.txt
echo "$((total - failed)) of $total measured; the results are in $PWD/results"
[ -z "$moved_ones" ] || warn "the clocks or the speed moved during:$moved_ones"
if [ $failed != 0 ]; then
  echo "Failed:$failures; why is in results/ID/failed.txt and log.txt, and another run tries them again" >&2
  exit 1
fi
