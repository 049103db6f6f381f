#!/bin/sh
# Measures the models of this folder with what the board has, for `tenshot adapt --measurements`. Reads models.tsv,
# writes only inside results/ and every file to NAME.part first, so that it may be stopped at any moment and run again.
# shellcheck disable=SC2031 # the sentinel is measured in a subshell
set -u
unset CDPATH
LC_ALL=C
export LC_ALL

usage() {
  cat <<'END'
Measures the models of this folder and writes results/. Run it again to go on after an interruption.

  ./measure.sh [options]

  --backend NAME      trtexec, onnxruntime or custom; the first that is there unless said
  --precision NAME    fp32, fp16 or int8 (fp16 and int8: trtexec and custom); fp32 unless said
  --calibration FILE  calibration cache for trtexec and int8; without one trtexec takes ranges of its own
  --command TEMPLATE  for custom: a shell command, run in this folder, that runs the model {model} {runs} times and
                      prints milliseconds, one a line (other lines are only kept in the log); in it {stem} is {model}
                      without its suffix, {threads}, {batch}, {channels}, {height} and {width} are numbers, and {shape}
                      is 1x3x224x224, or int64:1x128,int64:1x128 where the model takes two inputs of another type
  --times PATTERN     where the command prints its times otherwise: text with %{ns}, %{us}, %{ms} or %{s} for the number,
                      as in 'avg=%{us}'; %{ms/runs} is the sum of all runs. Of an average or a median (the pattern says
                      avg, average, mean or median) the last one counts, and the results say that they have no spread
  --adb [SERIAL]      measures on an Android phone: run this here, on the workstation; each model is pushed to
                      /data/local/tmp/tenshot, and the command runs there
  --runs N            timed runs of each model; models.tsv says how many unless given here
  --threads N         threads of onnxruntime, and {threads} of the command; 1 unless said
  --optimization NAME what onnxruntime does to the graph: all (unless said), extended, basic or disabled
  --sentinel N        measures the first model again after every N models, waits up to a minute while it takes 5 %
                      longer than at its fastest, and measures again the models around which it did (five times at most)
  --node-modules DIR  the node_modules folder that holds onnxruntime-node; takes the Node runner
  --cold N            also N cold starts of each architecture, each in a fresh process, from the model's file to the
                      first output, the file dropped from the page cache before; adapt --quantity cold takes them
  --cold-command TEMPLATE  for custom: a shell command that starts {model} once and prints the milliseconds of it last
  --profile           also what each layer of an architecture takes, as the runtime's profiler tells, in runs of their own
                      beside the timed ones; tenshot dataset operators matches the layers to operators
  --profile-command TEMPLATE  for custom: a shell command that profiles {model}, and prints the profile or writes it to
                      the file {profile}: as benchmark_model --enable_op_profiling=true or benchmark_app do
  --no-perf           no hardware counters
  --no-quantities     neither energy nor peak memory of the architectures
  --help              this text

Models that were converted for the device (tenshot plan --kit KIT --converted DIR) are what {model} stands for; trtexec
takes engines, and onnxruntime the ONNX files whatever else there is.

For steady times fix the clocks first. On a Jetson: sudo nvpmodel -m 0; sudo jetson_clocks
Elsewhere: echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor

Examples
  ./measure.sh
  ./measure.sh --backend trtexec --precision fp16
  ./measure.sh --backend onnxruntime --threads 1
  ./measure.sh --backend custom --command './bench --model {model} --repeat {runs}'
  ./measure.sh --command 'benchmark_app -m {model} -api sync -niter {runs}' --times 'Median: %{ms}'
  ./measure.sh --command 'benchmark_model --graph={model} --num_runs={runs} --min_secs=0' --times 'avg=%{us}' \
    --profile-command 'benchmark_model --graph={model} --num_runs={runs} --min_secs=0 --enable_op_profiling=true'
  ./measure.sh --adb --command '../benchmark_model --graph={model} --num_runs={runs} --min_secs=0' --times 'Inference (avg): %{us}'
END
}

die() { printf '%s\n' "$*" >&2; exit 1; }
wrong() { printf '%s; see --help\n' "$*" >&2; exit 2; }
warn() { printf 'WARNING: %s\n' "$*" >&2; }

backend='' precision='' calibration='' command='' runs_asked='' threads='' optimization='' sentinel_every='' node_modules=''
times_pattern='' phone='' serial='' use_perf=yes use_quantities=yes cold_starts='' cold_command=''
profile=no profile_command=''
while [ $# -gt 0 ]; do
  option=$1
  case $option in
    --help | -h) usage; exit 0 ;;
    --no-perf) use_perf=no; shift; continue ;;
    --no-quantities) use_quantities=no; shift; continue ;;
    --profile) profile=yes; shift; continue ;;
    --adb)
      phone=any
      shift
      case ${1:--} in -*) ;; *) phone=$1; shift ;; esac
      continue ;;
    --*=*) value=${option#*=} option=${option%%=*} ;;
    *) [ $# -gt 1 ] || wrong "$option is unknown or lacks its value"; value=$2; shift ;;
  esac
  shift
  case $option in
    --backend) backend=$value ;;
    --precision) precision=$value ;;
    --calibration) calibration=$value ;;
    --command) command=$value ;;
    --times) times_pattern=$value ;;
    --adb) phone=$value ;;
    --runs) runs_asked=$value ;;
    --threads) threads=$value ;;
    --optimization) optimization=$value ;;
    --sentinel) sentinel_every=$value ;;
    --cold) cold_starts=$value ;;
    --cold-command) cold_command=$value ;;
    --profile-command) profile_command=$value profile=yes ;;
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
for value in "$runs_asked" "$threads" "$sentinel_every" "$cold_starts"; do
  case $value in *[!0-9]* | 0*) wrong "--runs, --threads, --sentinel and --cold take a whole number above 0, not $value" ;; esac
done
[ -z "$cold_command" ] || [ -n "$cold_starts" ] || wrong "--cold-command goes with --cold N"
case $calibration in '' | /*) ;; *) calibration=$PWD/$calibration ;; esac
case $node_modules in '' | /*) ;; *) node_modules=$PWD/$node_modules ;; esac
[ -z "$calibration" ] || [ -f "$calibration" ] || wrong "--calibration $calibration is not a file"

# From here on every path is relative to the kit's folder, so that no character of its own path can do harm.
case $0 in */*) cd -- "${0%/*}/" || exit 1 ;; esac
[ -f models.tsv ] || die "There is no models.tsv beside measure.sh: run the measure.sh inside a kit's folder"
check_list() { # models.tsv, or converted.tsv: the same of converted files
  awk -F '\t' -v list="$1" '
  function bad(why) { printf "%s line %d: %s; write the kit anew\n", list, NR, why; failed = 1; exit 1 }
  /^#/ { next }
  NF != 6 { bad(NF " columns, expected 6") }
  $1 == "" || $1 ~ /[^a-z0-9_]/ || $1 ~ /^(empty|engines|running|sentinel)$/ { bad("\"" $1 "\" cannot name a model") }
  $1 in seen { bad($1 " comes twice") }
  $2 !~ /^(architecture|operator|chain|surroundings)$/ { bad("\"" $2 "\" is no kind of model") }
  list == "models.tsv" && $3 !~ "^models/" $1 "[.](onnx|tflite|param)$" {
    bad("the file of " $1 " is \"" $3 "\", expected models/" $1 ".onnx")
  }
  list != "models.tsv" && ($3 !~ /^converted\/[a-z0-9_]+[.][a-z0-9]+$/ || index($3, "converted/" $1 ".") != 1) {
    bad("the file of " $1 " is \"" $3 "\", expected converted/" $1 " and a suffix")
  }
  { hash = $4 }
  list != "models.tsv" && length($4) == 129 { sub(/[+]/, "", hash) }
  length(hash) != (length($4) == 129 ? 128 : 64) || hash ~ /[^0-9a-f]/ { bad("\"" $4 "\" is not a SHA-256") }
  $5 !~ /^[1-9][0-9]*$/ { bad("\"" $5 "\" is not a number of runs") }
  $6 !~ /^([a-z]+[0-9]*:)?[1-9][0-9]*(x[1-9][0-9]*)*(,([a-z]+[0-9]*:)?[1-9][0-9]*(x[1-9][0-9]*)*)*$/ {
    bad("\"" $6 "\" is no shape like 1x3x32x32, nor shapes like int64:1x128,int64:1x128")
  }
  { seen[$1] = 1; count++ }
  END { if (!failed && !count) { print list " lists no models; write the kit anew"; exit 1 } }
' "$1" >&2
}
check_list models.tsv || exit 1
[ ! -f converted.tsv ] || check_list converted.tsv || exit 1
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

for script in state.sh tools.sh speed.sh; do
  [ -f $script ] || die "There is no $script beside measure.sh: copy the whole kit"
done
# shellcheck source-path=SCRIPTDIR source=state.sh
. ./state.sh
# shellcheck source-path=SCRIPTDIR source=tools.sh
. ./tools.sh
# shellcheck source-path=SCRIPTDIR source=speed.sh
. ./speed.sh

fix_clocks='echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor'
if [ -n "$gpu" ] || has nvpmodel; then fix_clocks='sudo nvpmodel -m 0; sudo jetson_clocks'; fi
# ---- The backend.
format='' # of the converted files
[ ! -f converted.tsv ] || format=$(sed -n 's/^# *format //p' converted.tsv | head -n 1)
own=$(awk -F '\t' '!/^#/ { sub(/.*[.]/, "", $3); print $3; exit }' models.tsv) # of the files in models/
[ -z "$command" ] || : "${backend:=custom}"
: "${backend:=$(recorded backend)}" "${threads:=$(recorded threads)}" "${threads:=1}"
: "${optimization:=$(recorded optimization)}"
if [ "$backend" = custom ] && [ -z "$command" ]; then
  command=$(recorded command)
  : "${times_pattern:=$(recorded times)}" "${phone:=$(recorded adb)}"
fi
case $phone in *[!A-Za-z0-9._:-]*) wrong "--adb $phone is no serial number of adb devices" ;; '' | any) ;; *) serial="-s $phone" ;; esac
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
if [ "$backend" != custom ] && [ -n "$times_pattern$phone" ]; then wrong "--times and --adb go with --command"; fi
case $own:$backend:$format in
  onnx:* | *:custom:* | *:engine | *:plan) ;;
  *) wrong "The models are .$own files: say by --command what runs them" ;;
esac
chosen=''
case $backend in
  trtexec) find_trtexec || die "trtexec is neither on the PATH nor in /usr/src/tensorrt/bin" ;;
  onnxruntime)
    find_onnxruntime || die "ONNX Runtime is not here: neither onnxruntime_perf_test on the PATH, nor onnxruntime in" \
      "python3 (pip install onnxruntime), nor onnxruntime-node for node (npm install onnxruntime-node, here or with" \
      "--node-modules DIR)" ;;
  custom)
    [ -n "$command" ] || wrong "--backend custom needs --command"
    runner=custom warmup=0 ;;
  '')
    chosen=', the first that is here'
    case $format in
      '' | engine | plan) ;;
      *) wrong "The models were converted to .$format: say by --command what runs them, or take --backend onnxruntime" ;;
    esac
    if find_trtexec; then backend=trtexec; elif [ -z "$format" ] && find_onnxruntime; then backend=onnxruntime
    else
      die "Neither trtexec nor ONNX Runtime is here. Install ONNX Runtime by one of: pip install onnxruntime; npm" \
        "install onnxruntime-node (in $PWD). Or say by --command what runs a model (see --help)"
    fi ;;
esac
list=models.tsv
case $backend:$format in
  custom:?* | trtexec:engine | trtexec:plan) list=converted.tsv ;;
  *) format='' ;;
esac
case $command in '' | *'{model}'* | *'{stem}'*) ;; *) wrong "--command has no {model}" ;; esac
[ -z "$times_pattern" ] || require_pattern
[ -z "$phone" ] || find_phone
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
    threads "$threads" optimization "$optimization" converted "$format" times "$times_pattern" adb "$phone" \
    command "$(printf '%s' "$command" | tr '\n' ' ')" calibration "${calibration:+$(sha256 "$calibration")}"
}
# Where nothing was measured, anything may be tried.
for meta in results/*/meta.txt; do [ -f "$meta" ] || rm -f results/kit.txt; break; done
if [ -f results/kit.txt ]; then
  settings | while IFS= read -r line; do
    was=${line%%=*}=$(recorded "${line%%=*}")
    [ "$was" = "$line" ] || die "results/ was measured with $was, now it is $line: move results/ away to start over"
  done || exit 1
fi
echo $$ | save results/running || exit 1
trap 'echo >&4; echo "Interrupted; run it again to go on" >&4; exit 130' INT TERM HUP
sampler='' watched_pid='' # of what runs beside a model, which an interruption does not reach in every shell
# shellcheck disable=SC2086 # none, or numbers
trap 'rm -f results/running; kill $sampler $watched_pid 2>/dev/null' EXIT
[ -f results/kit.txt ] || { settings; date -u +started=%Y-%m-%dT%H:%M:%SZ; } | save results/kit.txt || exit 1

# ---- The state of the board, or of the phone.
state_now() { if [ -n "$phone" ]; then phone_state board_state; else board_state; fi; }
clock_now() { if [ -n "$phone" ]; then phone_state clock; else clock; fi; }
fixed_now() { if [ -n "$phone" ]; then phone_state clock_fixed; else clock_fixed; fi; }
four_digits() { awk "BEGIN { printf(($1 >= 1000 ? \"%.0f\" : \"%.4g\"), $1) }"; } # for people; files keep all
moved() { # FROM TO: by more than 2 %?
  echo "$1 $2" | awk '{ print (/unknown/ ? "unknown" : $2 > 1.02 * $1 || $2 < 0.98 * $1 ? "yes" : "no") }'
}

# ---- Counters, four events at most at a time, so that small PMUs need not take turns.
events_1=cycles,instructions,cache-references,cache-misses events_2=L1-dcache-loads,L1-dcache-load-misses
missing=''
if [ $use_perf = no ]; then missing='--no-perf was given'
elif [ -n "$phone" ]; then missing='counters are not read through adb'
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
    custom) run_command "$1" "$4" ;;
  esac
}
engine_of() { case $file in converted/*) echo "$file" ;; *) echo "results/engines/$id.$hash.engine" ;; esac; }
build_engine() {
  cache=results/engines/timing.cache
  [ ! -f "$engine" ] || return 0
  rm -f results/engines/*.part
  [ ! -f $cache ] || cp $cache $cache.part
  set -- --onnx="$file" --saveEngine="$engine.part"
  case $help in *--timingCacheFile*) set -- "$@" --timingCacheFile=$cache.part ;; esac  # since TensorRT 8
  [ -z "$precision_switch" ] || set -- "$@" "$precision_switch"
  [ "$precision" != int8 ] || [ -z "$calibration" ] || set -- "$@" --calib="$calibration"
  [ -z "$build_only" ] || set -- "$@" "$build_only"
  "$trtexec" "$@" && [ -s "$engine.part" ] || return 1
  [ ! -f $cache.part ] || mv -f $cache.part $cache
  mv -f "$engine.part" "$engine"
}
median() { # FILE in any of the formats: milliseconds, or nothing
  case $1 in
    */perf_test.txt) awk -F, '{ print 1000 * $(NF - 3) }' "$1" ;;
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
  second=$(second_of "$file") aggregated=no
  for part in "$file" $second; do [ -f "$part" ] || { why="$part is missing"; return 1; }; done
  why="the SHA-256 of $file is not the one in $list: copy the kit anew"
  [ "$(sha256 "$file")${second:++$(sha256 "$second")}" = "$hash" ] || return 1
  if [ -n "$phone" ] && ! push_model >>"$log" 2>&1; then
    why="adb did not push $file: $(tail -n 1 "$log")"
    return 1
  fi
  if [ $runner = trtexec ] && ! build_engine >>"$log" 2>&1; then
    why=$(sed -n 's/.*\[E\] *//p' "$log" | head -n 1)
    why="trtexec did not build an engine: ${why:-$(tail -n 1 "$log")}"
    return 1
  fi
  require_extents || return 1
  clocks_before=$(clock_now)
  rm -f "$out/raw.part" # onnxruntime_perf_test appends to it
  infer "$runs" $warmup $warmup_ms "$out/raw.part" >"$out/said.part" 2>&1
  status=$?
  cat "$out/said.part" >>"$log"
  clocks_after=$(clock_now)
  [ $runner != custom ] || cat "$out/raw.part" >>"$log"
  [ -z "$phone" ] || remove_model >>"$log" 2>&1
  if [ $status != 0 ]; then
    # Perhaps it is of another TensorRT; the next attempt builds it anew.
    [ "$engine" = "$file" ] || rm -f "$engine"
    why=$(sed -n 's/.*\[E\] *//p' "$out/said.part" | head -n 1) # trtexec's last line only repeats its options
    why="$runner ended with status $status: ${why:-$(tail -n 1 "$log")}"
    return 1
  fi
  ran_as_asked || return 1
  case $runner in
    perf_test) times=perf_test.txt; awk -F, "NF >= 5 && ++n > $warmup" "$out/raw.part" ;;
    custom) times=times.txt; read_times "$out/raw.part" ;;
    *) times=times.json; cat "$out/raw.part" ;;
  esac >"$out/times.part"
  mv -f "$out/times.part" "$out/$times"
  ms=$(median "$out/$times" 2>>"$log")
  case $ms in
    '' | 0)
      rm -f "$out/$times"
      if [ $runner = custom ]; then why=$(no_times); else why="$runner gave no times"; fi
      return 1 ;;
  esac
}

has_energy() { :; }
if [ $use_quantities = yes ] && [ -f quantities.sh ]; then
  # shellcheck source-path=SCRIPTDIR source=quantities.sh
  . ./quantities.sh
  note_quantities
else
  measure_quantities() { energy_line='' memory_mib=''; }
  note_quantities() { :; }
fi
forget_failed() { # KEY: what failed in an earlier run is tried again, with another command perhaps
  for meta in results/*/meta.txt; do
    grep -q "^$1=failed" "$meta" 2>/dev/null || continue
    grep -v "^$1=failed" "$meta" | save "$meta"
  done
}
measure_profile() { profile_line=''; }
has_profile() { :; }
if [ $profile = yes ]; then
  [ -f profile.sh ] || die "There is no profile.sh beside measure.sh: write the kit anew, or leave --profile out"
  # shellcheck source-path=SCRIPTDIR source=profile.sh
  . ./profile.sh
fi
measure_cold() { cold_lines=''; }
has_cold() { :; }
if [ -n "$cold_starts" ]; then
  [ -f cold.sh ] || die "There is no cold.sh beside measure.sh: write the kit anew, or leave --cold out"
  # shellcheck source-path=SCRIPTDIR source=cold.sh
  . ./cold.sh
  note_cold_starts() { { grep -v '^cold' results/quantities.txt 2>/dev/null; note_cold; } | save results/quantities.txt; }
else
  note_cold_starts() { :; }
fi

total=$(grep -vc '^#' "$list")
is_measured() { # ID HASH: with times that are whole
  [ -f "results/$1/meta.txt" ] || return 1
  its_hash='' its_times=''
  while IFS='=' read -r key text; do
    case $key in sha256) its_hash=$text ;; times) its_times=$text ;; esac
  done <"results/$1/meta.txt"
  [ "$its_hash" = "$2" ] && [ -s "results/$1/$its_times" ] || return 1
  case $its_times in *.json) case $(tail -c 2 "results/$1/$its_times") in *']' | *'}') ;; *) return 1 ;; esac ;; esac
}
is_undisturbed() { is_measured "$1" "$2" && is_steady "$1" && is_at_level "$1" && is_settled "$1"; }
is_done() { is_undisturbed "$1" "$2" && has_energy "$1" && has_profile "$1" && has_cold "$1"; }
count_done() { # what is measured, steady as the sentinel says, and at the clock $clock_level where there is one
  done_count=0 level=''
  [ ! -f results/sentinel.txt ] || level=$(sentinel_level)
  while IFS='	' read -r id _ _ hash _; do
    case $id in '#'*) ;; *) ! is_done "$id" "$hash" || done_count=$((done_count + 1)) ;; esac
  done <"$list"
}
clocks_fixed=$(fixed_now)
clock_level=$(find_clock_level)
count_done
done_before=$done_count

echo "Backend: $backend$([ "$runner" = "$backend" ] || echo " by $runner")${version:+ $version}, $precision$chosen"
[ -z "$missing" ] || echo "No hardware counters: $missing"
[ -z "$format" ] || echo "Models: the converted ones, .$format; left out as not converted: $(($(grep -vc '^#' models.tsv) - total))"
[ -z "$phone" ] || echo "Phone: $(phone_state board_state | sed -n 's/^board=//p' | head -n 1)"
[ $done_before = 0 ] || echo "$done_before of $total were measured before"
[ -n "$phone" ] || case "$(is_fixed "$gpu/") $(is_fixed "$cpu0_clock")" in
  'no '* | *' no') warn "the clocks are not fixed; for steady times first: $fix_clocks" ;;
esac
check_power_mode() { # FILE
  was=$(grep '^power_mode=' results/before.txt) now=$(grep '^power_mode=' "$1")
  [ "$was" = "$now" ] || warn "the power mode was \"${was#*=}\" when this began and is \"${now#*=}\" now"
}
state_now | save results/now.part || exit 1
if [ -f results/before.txt ]; then
  was=$(sed -n 's/^board_id=//p' results/before.txt) now=$(sed -n 's/^board_id=//p' results/now.part)
  [ -z "$was" ] || [ -z "$now" ] || [ "$was" = "$now" ] ||
    die "results/ was measured on another board: move results/ away to start over, or copy the kit without it"
fi
if [ -f results/before.txt ]; then check_power_mode results/now.part; else mv -f results/now.part results/before.txt; fi
rm -f results/now.part

sentinel_ms='' batch=''
if [ -n "$sentinel_every" ] && [ $done_before -lt "$total" ] && ! sentinel_ms=$(first_sentinel); then
  warn "the first model cannot be measured, so there is no sentinel: $(tail -n 1 results/sentinel/log.txt)"
  sentinel_every=''
fi
moved_ones='' pass=1 stopped='' last_failure='' same_failures=0
# Whether this model and the two before it failed for one reason, but for their names and numbers. Those that failed in an
# earlier run too do not count: the models behind them are tried.
is_same_failure() {
  [ -z "$failed_before" ] || return 1
  failure=$(printf '%s' "$why" | sed "s/$id/MODEL/g; s/$hash/HASH/g; s/0x[0-9a-f]*/N/g; s/[0-9][0-9]*/N/g")
  if [ "$failure" = "$last_failure" ]; then same_failures=$((same_failures + 1)); else same_failures=1; fi
  last_failure=$failure
  [ -n "$failure" ] && [ $same_failures -ge 3 ]
}
told_or_kept() { # TEXT PATTERN: what this run measured of a model, else what an earlier one did, undisturbed
  if [ -n "$1" ]; then printf '%s\n' "$1"; elif [ -n "$earlier" ]; then grep -E "^($2)" "$earlier/meta.txt"; fi
}
measure_all() { # what is not done; sets failures and failed
  number=0 todo=$((total - done_count)) attempts=0 failures='' failed=0 started=$(date +%s)
  exec 3<"$list"
  while IFS='	' read -r id kind file hash runs shape <&3; do
    case $id in '#'*) continue ;; esac
    number=$((number + 1)) out=results/$id.part log=results/$id.part/log.txt why='' ms=''
    is_done "$id" "$hash" && continue
    attempts=$((attempts + 1)) engine=$(engine_of)
    runs=${runs_asked:-$runs}
    failed_before=''
    [ ! -f "results/$id/failed.txt" ] || failed_before=yes
    # An earlier result of this model stays until there is a new one.
    rm -rf "$out"
    is_measured "$id" "$hash" || rm -rf "results/$id"
    earlier=''
    if is_undisturbed "$id" "$hash"; then earlier=results/$id; fi
    if ! mkdir "$out" || ! : >"$log"; then die "Cannot write $out in $PWD"; fi
    [ -z "$sentinel_every" ] || [ -n "$batch" ] || await_speed
    printf '%d of %d %s … ' $number "$total" "$id"
    if measure; then
      why=''
      moves=$(moved "$clocks_before" "$clocks_after") counted=''
      if [ "$kind" = operator ] && [ -z "$missing" ]; then
        if count_events >>"$log" 2>&1; then counted=yes; else counted=no; fi
        counts=''
      fi
      measure_quantities
      measure_cold
      measure_profile
      {
        printf '%s=%s\n' id "$id" sha256 "$hash" backend "$backend" precision "$precision" runs "$runs" log log.txt \
          times "$times" clocks_before "$clocks_before" clocks_after "$clocks_after" clocks_moved "$moves" \
          clocks_fixed "$clocks_fixed"
        if [ $runner = trtexec ]; then printf 'warmup=0\nwarmup_ms=%s\n' $warmup_ms; else echo "warmup=$warmup"; fi
        [ $aggregated = no ] || echo aggregated=yes
        [ "$counted" != yes ] || printf 'short_runs=%s\nlong_runs=%s\n' "$short_runs" "$long_runs"
        told_or_kept "$energy_line" energy
        told_or_kept "${memory_mib:+memory_mib=$memory_mib}" memory_mib
        told_or_kept "$cold_lines" 'cold|load_ms|prepare_ms|first_ms|build_ms'
        told_or_kept "$profile_line" profile=
        [ -n "$profile_line" ] || [ -z "$earlier" ] || cp "$earlier"/profile.* "$out/" 2>/dev/null
      } | save "$out/meta.txt" || exit 1
      rm -f "$out"/*.part
      rm -rf "results/$id"
      mv "$out" "results/$id" || die "Cannot write results/$id in $PWD"
      left=$(awk "BEGIN { s = ($todo - $attempts) * ($(date +%s) - $started) / $attempts
        if (s >= 1) printf s < 100 ? \", about %d s left\" : \", about %d min left\", s < 100 ? s : s / 60 + 0.5 }")
      case $counted in no) left=" without counters, see its log$left" ;; esac
      printf '%s ms%s\n' "$(four_digits "$ms")" "$left"
      moved_ones=$(for one in $moved_ones; do [ "$one" = "$id" ] || printf ' %s' "$one"; done)
      if [ "$moves" = yes ]; then
        moved_ones="$moved_ones $id"
        warn "THE CLOCK MOVED during $id, from $clocks_before to $clocks_after: $fix_clocks;" \
          "then run this again"
      fi
      batch="$batch $id"
    else
      rm -f "$out"/*.part
      failed=$((failed + 1)) failures="$failures $id"
      if [ -d "results/$id" ]; then
        cat "$log" >>"results/$id/log.txt" && rm -r "$out"
        printf 'FAILED: %s; the earlier result stays\n' "$why"
      else
        printf '%s\n' "$why" | save "$out/failed.txt" || exit 1
        mv "$out" "results/$id" || die "Cannot write results/$id in $PWD"
        printf 'FAILED: %s\n' "$why"
      fi
    fi
    if is_same_failure; then
      stopped=$why stopped_at=$id
      break
    fi
    [ -z "$sentinel_every" ] || [ $((attempts % sentinel_every)) != 0 ] || end_batch
  done
  [ -z "$sentinel_every" ] || [ -z "$batch" ] || end_batch
}
measure_all
if [ -n "$sentinel_every" ]; then
  clock_level=''
  count_done
  while [ -z "$stopped" ] && [ $((done_count + failed)) -lt "$total" ] && [ $pass -lt $sentinel_attempts ]; do
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
  done <"$list"
fi
clock_level=$(find_clock_level)
others=$(off_level)
if [ -n "$others" ] && [ -z "$stopped" ] && has_level_clock; then
  echo "The clock was not at $clock_level during$others, and is now: measured again"
  moved_ones=''
  count_done
  measure_all
  others=$(off_level)
fi
note_quantities
note_cold_starts
state_now | save results/after.txt || exit 1
check_power_mode results/after.txt
clock_level='' sentinel_every='' clocks_fixed='' # what was disturbed is measured too
count_done
echo "$done_count of $total measured; the results are in $PWD/results"
[ -z "$moved_ones" ] || warn "the clocks or the speed moved during:$moved_ones"
[ -z "$others" ] || warn "most models ran at the clock $(find_clock_level), and these did not:$others. Adapting leaves" \
  "them out; let the board cool, fix its clocks, and run this again: it measures them again"
if [ -n "$stopped" ]; then
  echo "Three models in a row failed for the same reason, so no further one was tried: $stopped" >&2
  echo "What they printed is in results/$stopped_at/log.txt; another run tries them again, and then the others" >&2
  exit 1
fi
if [ $failed != 0 ]; then
  echo "Failed:$failures; why is in results/ID/failed.txt or log.txt, and another run tries them again" >&2
  exit 1
fi
