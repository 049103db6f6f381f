#!/bin/sh
# Drives datasets/kit/board/measure.sh on a board of stand-ins (board/), under dash with the system's tools and under
# busybox sh with busybox's own. Prints a line a case; ends with the first failure.
#
#   tests/kit/measure_test.sh             everything
#   tests/kit/measure_test.sh resumption  one case
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kit_files=$here/../../datasets/kit/board
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
only=${1:-}
# shellcheck source-path=SCRIPTDIR source=on_board.sh
. "$here/on_board.sh"

case_trtexec() {
  board trtexec perf nvpmodel
  new_kit
  measure 0
  expect_printed "Backend: trtexec 8.5.2, fp32, the first that is here"
  expect_printed "1 of 3 arch_01 … 1.73 ms"
  expect_printed "3 of 3 measured"
  for line in kit=0123abcd backend=trtexec precision=fp32 version=8.5.2; do expect kit.txt $line; done
  for line in power_mode=MAXN cpu_governor=schedutil cpu0_khz=1510400 cpu0_max_khz=1510400 gpu_hz=1020000000 \
    gpu_max_hz=1020000000 temperature_cpu-thermal=48250 l4t=R35.4.1 cuda=11.4.19; do
    expect before.txt $line
    expect after.txt $line
  done
  for line in id=arch_01 backend=trtexec precision=fp32 runs=20 warmup_ms=200 clocks_before=1020000000 clocks_moved=no \
    times=times.json log=log.txt; do
    expect arch_01/meta.txt $line
  done
  expect_lines 20 '"computeMs"' "$kit/results/arch_01/times.json"
  expect_lines 3 --buildOnly "$work/calls"
  expect perf.txt passes=2
  expect op_nor_conv_3x3_16/meta.txt short_runs=10
  expect op_nor_conv_3x3_16/meta.txt long_runs=1166
  expect op_nor_conv_3x3_16/perf.1.short.csv "530000000,,cycles,918006768,100.00,,"
  expect op_nor_conv_3x3_16/perf.2.long.csv "1549400000,,L1-dcache-load-misses,918006768,100.00,,"
  expect_no_file arch_01/perf.1.short.csv
  [ -z "$(find "$kit/results" -name '*.part')" ] || fail "left behind: $(find "$kit/results" -name '*.part')"
  measure 0
  expect_printed "3 of 3 were measured before"
}
case_another_board() { # results say which board they are of, by a hash, and are never of two
  board trtexec
  new_kit
  measure 0
  expect_lines 0 '^board_id=' "$kit/results/before.txt" # nothing tells
  new_kit
  for card in dummy0 eth0 lo; do mkdir -p "$work/board/sys/class/net/$card"; done
  mkdir "$work/board/sys/class/net/dummy0/device" "$work/board/sys/class/net/eth0/device"
  echo 5e:04:4b:e5:00:02 >"$work/board/sys/class/net/dummy0/address" # administered locally
  measure 0
  expect_lines 0 '^board_id=' "$kit/results/before.txt"
  new_kit
  echo 00:04:4b:e5:00:01 >"$work/board/sys/class/net/eth0/address"
  measure 0
  expect before.txt "board_id=$(printf 00:04:4b:e5:00:01 | sha256sum | cut -c 1-12)"
  expect_lines 0 00:04:4b "$kit/results/before.txt"
  measure 0
  expect_printed "3 of 3 were measured before"
  echo 00:04:4b:e5:00:99 >"$work/board/sys/class/net/eth0/address"
  measure 1
  expect_printed "results/ was measured on another board: move results/ away to start over, or copy the kit without it"
  new_kit
  echo 8f6c2b1d4e5a4c0f9b7a6d3e2c1f0a9b >"$work/board/etc/machine-id" # stays when a card is changed
  measure 0
  expect before.txt "board_id=$(printf 8f6c2b1d4e5a4c0f9b7a6d3e2c1f0a9b | sha256sum | cut -c 1-12)"
  echo 00:04:4b:e5:00:01 >"$work/board/sys/class/net/eth0/address"
  measure 0
  new_kit
  mkdir -p "$work/board/proc/device-tree"
  printf '1421922012345\0' >"$work/board/proc/device-tree/serial-number"
  measure 0
  expect before.txt "board_id=$(printf 1421922012345 | sha256sum | cut -c 1-12)"
}
case_chains() {
  board trtexec perf
  new_kit
  for id in around_16:surroundings chain_relu_16:chain; do
    echo "$id" >"$kit/models/${id%:*}.onnx"
    hash=$(sha256sum <"$kit/models/${id%:*}.onnx" | cut -d ' ' -f 1)
    printf '%s\t%s\tmodels/%s.onnx\t%s\t20\t1x3x32x32\n' "${id%:*}" "${id#*:}" "${id%:*}" "$hash" >>"$kit/models.tsv"
  done
  measure 0
  expect_printed "5 of 5 measured"
  for id in around_16 chain_relu_16; do
    expect $id/meta.txt runs=20
    expect_no_file $id/perf.1.short.csv
  done
  expect_file op_nor_conv_3x3_16/perf.1.short.csv
}
case_precisions() {
  board trtexec
  new_kit
  measure 0 FAKE_TENSORRT=100300 --precision fp16 --runs 7
  expect kit.txt version=10.3.0
  expect arch_01/meta.txt runs=7
  expect_lines 3 '--fp16 --skipInference' "$work/calls"
  measure 1 --precision int8
  expect_printed "move results/ away"
  new_kit
  echo ranges >"$work/ranges"
  measure 0 --precision=int8 --calibration "$work/ranges"
  expect_lines 3 "--int8 --calib=$work/ranges --buildOnly" "$work/calls"
  measure 0 --calibration "$work/ranges"
  echo others >"$work/ranges"
  measure 1 --calibration "$work/ranges"
  expect_printed "move results/ away"
}
case_perf_test() {
  board onnxruntime_perf_test perf
  new_kit
  measure 0
  expect_printed "Backend: onnxruntime by perf_test"
  expect_printed "2 of 3 arch_02 … 2.5 ms"
  expect arch_02/meta.txt times=perf_test.txt
  expect_lines 20 '^models,0.0025,' "$kit/results/arch_02/perf_test.txt" # ten of warm-up, the slow ones, left out
  expect_file op_nor_conv_3x3_16/perf.2.long.csv
  measure 1 --backend onnxruntime --precision fp16
  expect_printed "onnxruntime runs the models as they are, fp32"
}
case_python() {
  python=''
  for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || python=$("$candidate" -c 'import numpy, sys; print(sys.executable)' 2>/dev/null) || :
  done
  if [ -z "$python" ]; then echo "  skipped: no python3 with numpy"; return; fi
  board
  ln -s "$python" "$work/board/bin/python3"
  new_kit
  measure 0 PYTHONPATH="$here/board/python"
  expect_printed "Backend: onnxruntime by python 1.17.0, fp32"
  expect_lines 1 '"tenshot.times/1", "times_ms": \[.*\], "version": "1.17.0"' "$kit/results/arch_01/times.json"
  expect arch_01/meta.txt warmup=10
  new_kit
  measure 0 PYTHONPATH="$here/board/python" --profile
  expect_lines 1 conv1_kernel_time "$kit/results/arch_01/profile.json"
}
case_input_types() { # whatever type of number a model takes, the runners give it
  for type in float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool; do
    if PYTHONPATH=$here/board/python python3 -c 'import numpy' 2>/dev/null; then
      FAKE_TYPE=$type PYTHONPATH=$here/board/python python3 "$kit_files/run_onnx.py" "$0" 2 0 "$work/times" 1 $type:1x3 ||
        fail "run_onnx.py does not feed $type"
    fi
    if command -v node >/dev/null; then
      FAKE_TYPE=$type TENSHOT_NODE_MODULES=$here/board/node_modules node "$kit_files/run_onnx.js" "$0" 2 0 "$work/times" \
        1 $type:1x3 || fail "run_onnx.js does not feed $type"
    fi
  done
}
case_node() {
  node=$(command -v node) || { echo "  skipped: no node"; return; }
  board perf
  ln -s "$node" "$work/board/bin/node"
  new_kit
  measure 1
  expect_printed "Neither trtexec nor ONNX Runtime is here"
  measure 0 --node-modules "$here/board/node_modules"
  expect_printed "Backend: onnxruntime by node 1.22.0, fp32"
  expect_lines 1 '^{"format":"tenshot.times/1","times_ms":\[.*\],"version":"1.22.0"}$' "$kit/results/arch_01/times.json"
  expect op_nor_conv_3x3_16/perf.1.short.csv "530000000,,cycles,918006768,100.00,,"
  new_kit
  ln -s "$here/board/node_modules" "$kit/node_modules"
  measure 0 --backend onnxruntime
  expect kit.txt runner=node
  new_kit
  measure 0 --node-modules "$here/board/node_modules" --profile
  expect_lines 1 conv1_kernel_time "$kit/results/arch_01/profile.json"
  new_kit
  measure 0 --node-modules "$here/board/node_modules" --cold 2
  for part in cold_ms load_ms prepare_ms first_ms; do expect_lines 1 "^$part=[0-9]" "$kit/results/arch_01/meta.txt"; done
  expect arch_01/meta.txt cold_starts=2
}
case_optimization() {
  board onnxruntime_perf_test
  new_kit
  measure 0 --backend onnxruntime --optimization basic
  expect kit.txt optimization=basic
  expect_lines 3 ' -o 1 ' "$work/calls"
  measure 0
  expect_printed "3 of 3 were measured before"
  measure 1 --optimization extended
  expect_printed "results/ was measured with optimization=basic"
  rm -r "$kit/results"
  measure 2 --backend onnxruntime --optimization most
  expect_printed "--optimization most is not all, extended, basic or disabled"
  measure 2 --backend custom --command 'echo 1 # {model}' --optimization basic
  expect_printed "--optimization goes with --backend onnxruntime"
}
case_checksums() {
  for program in shasum openssl; do
    if ! command -v "$program" >/dev/null; then echo "  skipped for $program: it is not installed"; continue; fi
    board trtexec
    rm "$work/board/bin/sha256sum"
    ln -s "$(command -v "$program")" "$work/board/bin/$program"
    new_kit
    measure 0
    echo more >>"$kit/models/arch_02.onnx"
    rm -r "$kit/results"
    measure 1
    expect_printed "Failed: arch_02"
  done
}
case_custom() {
  board perf
  new_kit
  measure 0 --command "echo starting {model}; i=0
    while [ \$i -lt {runs} ]; do echo ' 1.5e0'; i=\$((i + 1)); done; cat '{model}'"
  expect_printed "1 of 3 arch_01 … 1.5 ms"
  expect_lines 20 '^1.5e0$' "$kit/results/arch_01/times.txt"
  expect_lines 1 '^starting models/arch_01.onnx$' "$kit/results/arch_01/log.txt"
  expect arch_01/meta.txt warmup=0
  new_kit
  measure 1 --command 'echo "{model}" takes 3 ms'
  expect arch_01/failed.txt \
    "custom gave no times: no line is a number of milliseconds (--times reads what else a tool prints)"
  expect perf.txt "missing=the command has no {runs}"
  measure 0 --command 'echo "{model}" takes 4 ms' --times 'takes %{ms}' # nothing was measured: it may be another one
  measure 1 --command 'echo "{model}" takes 5 ms' --times 'takes %{ms}'
  expect_printed "move results/ away"
  measure 0 # by the command that is recorded
  expect_printed "3 of 3 were measured before"
  new_kit
  measure 2 --command 'echo 3'
  expect_printed "--command has no {model}"
  measure 2 --backend custom
  new_kit # a line of several columns is no number
  measure 0 --command "printf '1 12.5\\n2\\t13.5\\n \\t4.5 \\r\\n' # {model}"
  [ "$(cat "$kit/results/arch_01/times.txt")" = 4.5 ] || fail "expected 4.5: $(cat "$kit/results/arch_01/times.txt")"
  expect_lines 1 '^1 12.5$' "$kit/results/arch_01/log.txt"
}
# shellcheck disable=SC2016 # the command's own shell
# What each tool prints, by the patterns of descriptor/README.md; the last of several averages is that of the timed runs.
case_times() {
  board benchmark_model
  new_kit
  measure 0 --command 'benchmark_model --graph={model} --num_runs={runs} --min_secs=0' --times 'avg=%{us}'
  expect_printed "1 of 3 arch_01 … 1240 ms"
  expect arch_01/times.txt 1240.27
  expect arch_01/meta.txt aggregated=yes
  expect_lines 1 'Inference timings in us' "$kit/results/arch_01/log.txt"
  expect kit.txt 'times=avg=%{us}'
  measure 1 --command 'benchmark_model --graph={model} --num_runs={runs} --min_secs=0' --times 'min=%{us}'
  expect_printed "move results/ away"
  new_kit
  measure 0 --command 'benchmark_model --graph={model} --num_runs={runs} --min_secs=0' --times 'Inference (avg): %{us}'
  expect arch_01/times.txt 1240.27
  new_kit # benchncnn's table
  measure 0 --command 'echo "          squeezenet  min =    7.68  max =    7.83  avg =    7.74" >&2 # {model}' \
    --times 'avg = %{ms}'
  expect arch_02/times.txt 7.74
  expect arch_02/meta.txt aggregated=yes
  new_kit # ExecuTorch's executor_runner: every run, and their sum
  said='i=1; while [ $i -le {runs} ]; do
    echo "I 00:00:00.0$i executorch:executor_runner.cpp:499] Iteration $i of {runs}: 2.500000 ms"; i=$((i + 1)); done
    echo "I 00:00:00.09 executorch:executor_runner.cpp:512] Model executed successfully {runs} time(s) in 60.0 ms."; : {model}'
  measure 0 --command "$said" --times ': %{ms} ms'
  expect_lines 20 '^2.5$' "$kit/results/arch_01/times.txt"
  expect_lines 0 aggregated "$kit/results/arch_01/meta.txt"
  new_kit
  measure 0 --command "$said" --times 'time(s) in %{ms/runs} ms'
  expect arch_01/times.txt 3
  expect arch_01/meta.txt aggregated=yes
  new_kit # one number for all runs is none of each
  measure 0 --command 'echo "took 0.0031 s, [2.1*]"; : {model}' --times 'took %{s} s, [2.1*]'
  expect arch_01/times.txt 3.1
  expect arch_01/meta.txt aggregated=yes
  for said in '950.20 us' '950.20us,' '950.20 µs' '950.20 microseconds' '0.95 s' '950 ns.'; do # of another unit
    new_kit
    measure 1 --command "echo 'Median: $said'; : {model}" --times 'Median: %{ms}'
    expect_lines 1 'Median: %{ms} says another unit' "$kit/results/arch_01/failed.txt"
  done
  for said in '3.5 ms' '3.5' '3.5 msec' '3.5 steps' '3.5 s.d. of 1'; do
    new_kit
    measure 0 --command "echo 'Median: $said'; : {model}" --times 'Median: %{ms}'
    expect arch_01/times.txt 3.5
  done
  new_kit
  measure 1 --command 'echo took 3 ms; : {model}' --times 'latency %{ms}'
  expect arch_01/failed.txt "nothing that the command printed is like --times latency %{ms}"
  for pattern in avg=us '%{min}' '%{ms} %{ms}' '%{ms'; do
    measure 2 --command 'echo 1; : {model}' --times "$pattern"
    expect_printed "has no number with its unit"
  done
  measure 2 --backend onnxruntime --times '%{ms}'
}
# Profiles are of runs of their own, after the timed ones, and of architectures alone.
case_profile() {
  board trtexec
  new_kit
  measure 0 --profile
  expect arch_01/meta.txt profile=profile.json
  expect_lines 1 '"conv1 + relu1"' "$kit/results/arch_01/profile.json"
  expect_no_file op_nor_conv_3x3_16/profile.json
  expect_lines 2 'exportProfile=.* *$' "$work/calls"
  expect_lines 0 'exportTimes=.*exportProfile' "$work/calls"
  [ -z "$(find "$kit/results" -name '*.part*')" ] || fail "left behind: $(find "$kit/results" -name '*.part*')"
  measure 0 --profile
  expect_printed "3 of 3 were measured before"
  new_kit # what was measured without is measured again with one; a failing profile costs nothing but itself
  measure 0
  expect_lines 0 profile= "$kit/results/arch_01/meta.txt"
  rm -r "$kit/results"
  new_kit unprofiled
  measure 0 --profile
  expect_printed "2 of 3 arch_02 … no profile, see its log; 1.73 ms"
  expect arch_02/meta.txt profile=failed
  measure 0 --profile # which is tried again
  expect_printed "2 of 3 were measured before"
  board onnxruntime_perf_test
  new_kit
  measure 0
  measure 0 --profile
  expect_printed "1 of 3 were measured before"
  expect_lines 1 conv1_kernel_time "$kit/results/arch_01/profile.json"
  board trtexec # what was measured before stays until it is measured anew
  new_kit
  measure 0
  for engine in "$kit"/results/engines/arch_02*; do echo unrunnable >>"$engine"; done
  measure 1 --profile
  expect_printed "2 of 3 arch_02 … FAILED: trtexec ended with status 1: Error[2]: [engine.cpp::deserializeEngine::951]"
  expect_printed "the earlier result stays"
  expect_file arch_02/times.json
  expect_no_file arch_02/failed.txt
  expect_lines 1 'deserializeEngine' "$kit/results/arch_02/log.txt"
  expect arch_01/meta.txt profile=profile.json
  [ -z "$(find "$kit/results" -name '*.part')" ] || fail "left behind: $(find "$kit/results" -name '*.part')"
}
# shellcheck disable=SC2016
case_profile_of_a_command() {
  board benchmark_model
  new_kit
  measure 0 --command 'benchmark_model --graph={model} --num_runs={runs} --min_secs=0' --times 'avg=%{us}' \
    --profile-command 'benchmark_model --graph={model} --num_runs={runs} --min_secs=0 --enable_op_profiling=true'
  expect arch_01/meta.txt profile=profile.txt
  expect_lines 1 'CONV_2D.*conv1;relu1' "$kit/results/arch_01/profile.txt"
  new_kit # of a tool that writes a file
  measure 0 --command 'echo 3 # {model}' --profile-command 'echo noise; echo "layerName; of {model}" >{profile}'
  expect arch_01/profile.txt "layerName; of models/arch_01.onnx"
  new_kit # what is no profile is not kept, so that the corrected command is run
  measure 0 --command 'echo 3 # {model}' --profile-command 'echo 3 # {model}'
  expect arch_01/meta.txt profile=failed
  measure 0 --profile-command 'echo "layerName; of {model}"'
  expect arch_01/profile.txt "layerName; of models/arch_01.onnx"
  new_kit
  measure 0 --command 'echo 3 # {model}' --profile
  expect_printed "WARNING: No profiles: the command tells no layers: give --profile-command"
  board adb
  phone
  new_kit
  measure 0 FAKE_PHONE="$work/phone" --adb --command 'echo 3 # {model}' --profile-command 'echo "layerName; of {model}"'
  expect arch_01/profile.txt "layerName; of arch_01.onnx"
}
# What a locale prints is read, or refused where it could be two numbers; it is never cut short.
case_decimal_commas() {
  board
  new_kit
  measure 0 --command "echo 'Mittelwert: 12,35 ms' # {model}" --times 'Mittelwert: %{ms}'
  expect arch_01/times.txt 12.35
  new_kit
  measure 0 --command "echo 'avg = 1.234,56 ms' # {model}" --times 'avg = %{ms}'
  expect arch_01/times.txt 1234.56
  new_kit
  measure 0 --command "echo 'avg = 1,234.56 us, 0,123 us' # {model}" --times 'avg = %{us}'
  expect arch_01/times.txt 1.23456
  new_kit
  measure 0 --command "echo 'avg=7.5,median=8' # {model}" --times 'avg=%{ms},'
  expect arch_01/times.txt 7.5
  for text in 1,234 1.234.567 1,234,567 '1 234,56' "1$(printf '\302\240')234,56" "1'234.56"; do
    new_kit
    measure 1 --command "echo \"avg = $text ms\" # {model}" --times 'avg = %{ms}'
    expect_lines 1 "the number \"$text\"" "$kit/results/arch_01/failed.txt"
  done
  new_kit # without a pattern
  measure 1 --command "echo 12; echo 12,35 # {model}"
  expect_lines 1 'the number "12,35"' "$kit/results/arch_01/failed.txt"
}
case_open_dimensions() {
  board trtexec
  for version in 8401 8502 100300; do
    new_kit open
    measure 1 FAKE_TENSORRT=$version
    expect arch_02/failed.txt \
      "it ran with the input shape 1x3x1x1, not 1x3x32x32: the model leaves it open; write the kit anew"
    expect_file arch_01/meta.txt
  done
  board benchmark_app
  new_kit
  measure 1 FAKE_SHAPE='{1,3,1,1}' --command 'benchmark_app -m {model} -niter {runs}' --times 'Median: %{ms}'
  expect_lines 1 'ran with the input shape 1x3x1x1, not 1x3x32x32' "$kit/results/arch_01/failed.txt"
  new_kit # of a converter that moved the channels
  measure 0 FAKE_SHAPE='[1,32,32,3]' --command 'benchmark_app -m {model} -niter {runs}' --times 'Median: %{ms}'
}
# shellcheck disable=SC2016
case_shapes() {
  board
  new_kit
  sed 's/1x3x32x32$/int64:1x128,int64:1x128/' "$kit/models.tsv" >"$work/models.tsv" && cp "$work/models.tsv" "$kit/"
  measure 0 --command 'echo 3; echo "{model} {shape} {batch}"'
  expect_lines 1 '^models/arch_01.onnx int64:1x128,int64:1x128 1$' "$kit/results/arch_01/log.txt"
  new_kit
  cp "$work/models.tsv" "$kit/"
  measure 1 --command 'echo 3 # {model} {height}'
  expect_lines 1 'and arch_01 takes int64:1x128,int64:1x128, which is no image' "$kit/results/arch_01/failed.txt"
  new_kit
  sed 's/1x3x32x32$/int64:1x0/' "$kit/models.tsv" >"$work/models.tsv" && cp "$work/models.tsv" "$kit/"
  measure 1 --command 'echo 3 # {model}'
  expect_printed '"int64:1x0" is no shape like 1x3x32x32, nor shapes like int64:1x128,int64:1x128'
}
case_openvino() {
  board benchmark_app
  new_kit
  convert xml
  measure 0 --command 'benchmark_app -m {model} -api sync -niter {runs} -nthreads {threads}' --times 'Median: %{ms}'
  expect_printed "Models: the converted ones, .xml; left out as not converted: 1"
  expect_printed "2 of 2 arch_02 … 4.29 ms"
  expect_lines 2 '-m converted/arch_0[12].xml -api sync -niter 20 -nthreads 1$' "$work/calls"
  expect arch_01/meta.txt aggregated=yes
  expect arch_01/meta.txt "sha256=$(hash_of converted/arch_01.xml)+$(hash_of converted/arch_01.bin)"
  echo more >>"$kit/converted/arch_01.bin"
  rm -r "$kit/results"
  measure 1 --command 'benchmark_app -m {model} -niter {runs}' --times 'Median: %{ms}'
  expect arch_01/failed.txt "the SHA-256 of converted/arch_01.xml is not the one in converted.tsv: copy the kit anew"
  rm "$kit/converted/arch_02.bin"
  rm -r "$kit/results"
  measure 1 --command 'benchmark_app -m {model} -niter {runs}' --times 'Median: %{ms}'
  expect arch_02/failed.txt "converted/arch_02.bin is missing"
}
case_converted() {
  board benchmark_model onnxruntime_perf_test
  new_kit
  convert tflite
  measure 2
  expect_printed "The models were converted to .tflite"
  for backend in '' --backend=trtexec --backend=onnxruntime; do # the user's own files, which nobody converted
    new_kit
    sed 's/[.]onnx/.tflite/' "$kit/models.tsv" >"$work/models.tsv" && cp "$work/models.tsv" "$kit/"
    convert tflite
    # shellcheck disable=SC2086 # one word, or none
    measure 2 $backend
    expect_printed "The models are .tflite files: say by --command what runs them"
  done
  new_kit
  convert tflite
  measure 0 --command 'benchmark_model --graph={model} --num_runs={runs} --min_secs=0' --times 'avg=%{us}'
  expect kit.txt converted=tflite
  expect arch_01/meta.txt "sha256=$(hash_of converted/arch_01.tflite)"
  expect_no_file op_nor_conv_3x3_16
  new_kit # the ONNX files are there still
  convert tflite
  measure 0 --backend onnxruntime
  expect_printed "3 of 3 measured"
  expect arch_01/meta.txt "sha256=$(hash_of models/arch_01.onnx)"
  board trtexec # an engine is run as it is, and never removed
  new_kit unrunnable
  convert engine
  measure 1
  expect_lines 0 '--onnx=' "$work/calls"
  expect_lines 1 '--loadEngine=converted/arch_01.engine' "$work/calls"
  expect_file arch_01/meta.txt
  expect_file ../converted/arch_02.engine
  for line in "a	architecture	converted/../a.tflite	$(printf '%064d' 0)	20	1x3x32x32" \
    "a	architecture	models/a.onnx	$(printf '%064d' 0)	20	1x3x32x32" \
    "a	architecture	converted/a.xml	$(printf '%064d' 0)+$(printf '%063d' 0)	20	1x3x32x32"; do
    new_kit
    convert tflite
    printf '%s\n' "$line" >>"$kit/converted.tsv"
    measure 1
    expect_printed "converted.tsv line 5: "
  done
}
# shellcheck disable=SC2016
case_phone() {
  board adb
  phone
  new_kit
  convert tflite
  measure 0 FAKE_PHONE="$work/phone" --adb --command '../benchmark_model --graph={model} --num_runs={runs} --min_secs=0' \
    --times 'Inference (avg): %{us}'
  expect_printed "Phone: Pixel 2"
  expect_printed "1 of 2 arch_01 … 1240 ms"
  expect arch_01/times.txt 1240.27
  for line in 'board=Pixel 2' android=11 cpu_governor=walt cpu0_khz=1900800 temperature_battery=31000; do
    expect before.txt "$line"
  done
  expect_lines 0 'board=Jetson\|temperature_cpu-thermal' "$kit/results/before.txt"
  expect arch_01/meta.txt clocks_before=1900800
  expect perf.txt "missing=counters are not read through adb"
  expect quantities.txt "energy_missing=energy is not read through adb"
  expect kit.txt adb=any
  [ "$(ls "$work/phone/data/local/tmp/tenshot")" = state.sh ] || fail "models were left on the phone"
  new_kit # times of every run, of the ONNX file itself
  measure 0 FAKE_PHONE="$work/phone" --adb emulator-5554 --runs 3 --command 'cat {model}; for i in 1 2 3; do echo $i; done'
  expect_lines 3 '^[123]$' "$kit/results/arch_02/times.txt"
  expect_lines 0 aggregated "$kit/results/arch_02/meta.txt"
  expect_lines 3 '^adb -s emulator-5554 push models/' "$work/calls"
  new_kit # what a profiler writes on the phone; the phone that is recorded
  measure 0 FAKE_PHONE="$work/phone" --adb emulator-5554 --command 'echo 1; : {model}' \
    --profile-command 'echo "layerName;" >{profile}; echo {model}'
  expect arch_01/profile.txt 'layerName;'
  rm -r "$kit/results/arch_02"
  : >"$work/calls"
  measure 0 FAKE_PHONE="$work/phone"
  expect_lines 0 '^adb push' "$work/calls"
  new_kit # the command's own status comes back
  measure 1 FAKE_PHONE="$work/phone" --adb --command './no_such_tool {model}'
  expect_lines 1 '^custom ended with status 127: .*no_such_tool' "$kit/results/arch_01/failed.txt"
  new_kit
  measure 1 FAKE_PHONE="$work/phone" --adb=R58M --command 'echo 1 {model}'
  expect_printed "adb reaches no phone: error: device 'R58M' not found; see adb devices"
  measure 1 FAKE_PHONE="$work/phone" FAKE_PHONE_STATE=offline --adb --command 'echo 1 {model}'
  expect_printed "adb reaches no phone: error: device offline"
  measure 2 --adb --backend onnxruntime
  measure 2 --adb='a;b' --command 'echo 1 {model}'
  board
  measure 1 --adb --command 'echo 1 {model}'
  expect_printed "adb is not on the PATH: install Android's platform tools"
}
case_same_failure() {
  board
  new_kit
  for id in arch_03 arch_04 arch_05; do add_model $id; done
  measure 1 --command 'case {model} in *arch_01*) echo 1 ;; *) echo "no library for {model}" >&2; exit 3 ;; esac'
  expect_printed "Three models in a row failed for the same reason, so no further one was tried: custom ended with status 3"
  expect_printed "no library for models/arch_03.onnx"
  expect_printed "1 of 6 measured"
  expect_no_file arch_04
  measure 1 --command 'case {model} in *arch_01*) echo 1 ;; *) echo "no library for {model}" >&2; exit 3 ;; esac'
  expect_printed "2 of 6 arch_02" # which is tried again, and those behind it too
  expect_file arch_05/failed.txt
  board trtexec # hashes of models are no different reasons, and trtexec's last line is none
  new_kit unrunnable
  for id in arch_03 arch_04 arch_05; do add_model $id; echo unrunnable >>"$kit/models/$id.onnx"; done
  sed '/arch_0[345]/d' "$kit/models.tsv" >"$work/models.tsv"
  for id in arch_03 arch_04 arch_05; do
    printf '%s\tarchitecture\tmodels/%s.onnx\t%s\t20\t1x3x32x32\n' $id $id "$(hash_of models/$id.onnx)" >>"$work/models.tsv"
  done
  cp "$work/models.tsv" "$kit/"
  measure 1
  expect_printed "Three models in a row failed for the same reason, so no further one was tried: trtexec ended with status 1: Error[2]"
  board
  new_kit
  for id in arch_03 arch_04 arch_05; do add_model $id; done # different reasons stop nothing
  measure 1 --command 'case {model} in *arch_0[24]*) echo "one" >&2 ;; *) echo "other" >&2 ;; esac; exit 1'
  expect_file arch_05/failed.txt
}
case_failure_in_the_middle() {
  board trtexec
  new_kit unrunnable
  measure 1
  expect_printed "2 of 3 arch_02 … FAILED: trtexec ended with status 1"
  expect_printed "3 of 3 op_nor_conv_3x3_16 … 1.73 ms"
  expect_printed "Failed: arch_02"
  expect_file arch_02/failed.txt
  expect_file arch_02/log.txt
  expect_no_file arch_02/meta.txt
  measure 1
  expect_lines 2 '--onnx=models/arch_02' "$work/calls" # tried again, its engine built anew
  expect_lines 1 '--onnx=models/arch_01' "$work/calls"
}
case_unbuildable() {
  board trtexec
  new_kit unbuildable
  measure 1
  expect_lines 1 'trtexec did not build an engine: .* While parsing node number 0' "$kit/results/arch_02/failed.txt"
  expect_file op_nor_conv_3x3_16/meta.txt
}
case_without_perf() {
  board trtexec
  new_kit
  measure 0
  expect_printed "No hardware counters: perf was not found"
  expect perf.txt "missing=perf was not found"
  expect_no_file op_nor_conv_3x3_16/perf.1.short.csv
  board trtexec perf
  for how in unsupported uncounted forbidden; do
    new_kit
    measure 0 FAKE_PERF=$how
    expect_lines 1 '^missing=perf ' "$kit/results/perf.txt"
    expect_no_file op_nor_conv_3x3_16/perf.1.short.csv
  done
  new_kit
  measure 0 --no-perf
  expect perf.txt "missing=--no-perf was given"
  new_kit
  measure 0
  measure 0 --no-perf
  expect perf.txt passes=2 # as the counters that are there
  new_kit
  measure 0 FAKE_PERF=multiplexed
  expect op_nor_conv_3x3_16/perf.1.short.csv "530000000,,cycles,612004512,66.67,,"
}
case_without_nvpmodel() {
  board trtexec
  new_kit
  measure 0
  expect_lines 0 '^power_mode=' "$kit/results/before.txt"
  rm -rf "$work/board/sys" "$work/board/etc" "$work/board/cuda"
  new_kit
  measure 0
  expect arch_01/meta.txt clocks_moved=unknown
}
case_clocks() {
  board trtexec nvpmodel
  new_kit
  echo 114750000 >"$gpu/min_freq"
  measure 0 FAKE_CLOCK="$gpu/cur_freq"
  expect_printed "WARNING: the clocks are not fixed"
  expect arch_01/meta.txt clocks_moved=yes # and tells nothing: such clocks follow the load
  expect arch_01/meta.txt clocks_fixed=no
  measure 0
  expect_printed "3 of 3 were measured before"
  cat "$gpu/max_freq" >"$gpu/min_freq" # as the warning says: what moved is measured again
  measure 0
  expect_printed "2 of 3 were measured before"
  expect arch_01/meta.txt clocks_moved=no
  measure 0
  expect_printed "3 of 3 were measured before"
  board trtexec nvpmodel
  new_kit
  measure 0 FAKE_CLOCK="$gpu/cur_freq"
  expect arch_02/meta.txt clocks_fixed=yes
  expect_printed "WARNING: THE CLOCK MOVED during arch_01, from 1020000000 to 612000000"
  expect_printed "The clock was not at 612000000 during arch_01 (1020000000 to 612000000), and is now: measured again"
  expect arch_01/meta.txt clocks_before=612000000
  for model in arch_01 arch_02; do expect $model/meta.txt clocks_moved=no; done
  rm -r "$kit/results/arch_01"
  echo 15W >"$work/mode"
  measure 0 FAKE_POWER_MODE="$work/mode"
  expect_printed 'WARNING: the power mode was "MAXN" when this began and is "15W" now'
  new_kit
  rm "$work/mode"
  measure 0 FAKE_POWER_MODE="$work/mode" --command "echo 2; echo 15W >'$work/mode' # {model}"
  expect_printed 'WARNING: the power mode was "MAXN" when this began and is "15W" now'
  board
  rm -r "$work/board/sys/class/devfreq"
  new_kit
  echo 600000 >"$cpu/scaling_min_freq"
  measure 0 --command 'echo 2 # {model}'
  expect_printed "first: echo performance | sudo tee"
  expect arch_01/meta.txt clocks_fixed=no
  echo performance >"$cpu/scaling_governor"
  new_kit
  measure 0 --command 'echo 2 # {model}'
  ! grep -q 'not fixed' "$work/printed" || fail "the governor fixes the clock:"
  expect arch_01/meta.txt clocks_fixed=yes
  echo intel_pstate >"$cpu/scaling_driver" # which chooses by itself
  new_kit
  measure 0 --command 'echo 2 # {model}'
  expect arch_01/meta.txt clocks_fixed=no
}
# Six architectures, one operator: the clock falls while the fourth runs and stays down until somebody cools the board.
case_clock_levels() {
  board
  new_kit
  for id in arch_03 arch_04 arch_05 arch_06; do add_model $id; done
  slow="case {model} in *arch_0[45]*) echo 755200 >'$cpu/scaling_cur_freq' ;; esac; echo 2"
  measure 0 --command "$slow" --cold 1 --cold-command 'echo 41 # {model}'
  expect_printed "7 of 7 measured"
  expect_printed "WARNING: most models ran at the clock 1510400, and these did not: arch_04 (1510400 to 755200)," # 4 before it, 2 after
  expect_printed "arch_05 (755200, 50 % lower), arch_06 (755200, 50 % lower). Adapting leaves them out"
  expect arch_06/meta.txt clocks_before=755200
  measure 0 --command "$slow" # the same again: nothing is gained
  expect_printed "4 of 7 were measured before"
  expect_printed "arch_06 (755200, 50 % lower)"
  echo 1510400 >"$cpu/scaling_cur_freq" # the cause is gone, and only those three are measured
  rm "$kit/results/kit.txt"
  measure 0 --command "echo 2 # {model}"
  expect_printed "4 of 7 were measured before"
  for id in arch_04 arch_05 arch_06; do expect $id/meta.txt clocks_before=1510400; done
  expect_lines 0 cold_ms "$kit/results/arch_05/meta.txt" # that one was of the other clock
  expect arch_03/meta.txt cold_ms=41.000000
  ! grep -q 'WARNING: most' "$work/printed" || fail "nothing is at another clock:"
  new_kit # clocks that follow the load have no level
  for id in arch_03 arch_04; do add_model $id; done
  measure 0 --command "echo '{model}' | tr -dc '0-9' | sed 's/.*\(.\)\$/\1000000/' >'$cpu/scaling_cur_freq'; echo 2"
  ! grep -q 'WARNING: most' "$work/printed" || fail "a level out of nothing:"
}
# A machine whose calls 5 to 7 take half as long again: arch_02, the sentinel after it, and the first that is waited for.
case_sentinel() {
  board
  new_kit
  cat >"$work/host" <<'END'
echo call >>"$1"
calls=$(grep -c call "$1")
if [ $calls -ge 5 ] && [ $calls -le 7 ]; then echo 3.5; else echo 2.25; fi
END
  measure 0 --sentinel 1 --command "sh '$work/host' '$work/calls' # {model}"
  expect_printed "The machine changed its speed: of the models 1 are measured again"
  expect_lines 12 call "$work/calls"
  for model in arch_01 arch_02 op_nor_conv_3x3_16; do
    expect $model/times.txt 2.25
    expect $model/meta.txt sentinel_ms=2.25
    expect_lines 0 sentinel_moved "$kit/results/$model/meta.txt"
  done
  measure 0 --sentinel 1 --command "sh '$work/host' '$work/calls' # {model}"
  expect_lines 12 call "$work/calls"
  new_kit # interrupted while the machine is slow: what was measured then says so
  mkdir "$kit/results"
  printf '%s\n' 2.25 2.25 2.25 >"$kit/results/sentinel.txt"
  rm "$work/calls"
  cat >"$work/host" <<'END'
echo call >>"$1"
calls=$(grep -c call "$1")
if [ $calls = 6 ]; then read -r pid <results/running; kill -INT "$pid"; fi
if [ $calls = 1 ]; then echo 2.25; else echo 2.5; fi
END
  measure 130 --sentinel 3 --command "sh '$work/host' '$work/calls' # {model}"
  expect_lines 1 sentinel_moved=yes "$kit/results/arch_01/meta.txt"
}
# The level is the fastest time that repeats, wherever it stands; one that does not repeat is an accident.
case_sentinel_level() {
  board
  new_kit
  mkdir "$kit/results"
  printf '%s\n' 2.25 1.174 2.26 2.27 2.28 2.25 2.24 2.26 2.27 2.28 2.25 2.24 2.26 2.27 2.28 2.25 1.18 2.26 2.27 2.28 \
    >"$kit/results/sentinel.txt"
  cat >"$work/host" <<'END'
echo call >>"$1"
if [ "$(grep -c call "$1")" -le 3 ]; then echo 2.25; else echo 1.175; fi
END
  measure 0 --sentinel 3 --command "sh '$work/host' '$work/calls' # {model}" # the machine is fast again from the fourth call on
  for model in arch_01 arch_02; do expect $model/times.txt 1.175; done
  new_kit
  mkdir "$kit/results"
  printf '%s\n' 2.25 1.174 2.26 2.27 >"$kit/results/sentinel.txt"
  measure 0 --sentinel 5 --command "echo 2.25 # {model}"
  expect arch_02/meta.txt sentinel_ms=2.25
  expect_lines 0 sentinel_moved "$kit/results/arch_02/meta.txt"
}
case_sentinel_that_fails() {
  board trtexec
  new_kit
  echo unbuildable >"$kit/models/arch_01.onnx"
  hash=$(sha256sum <"$kit/models/arch_01.onnx" | cut -d ' ' -f 1)
  sed "s/^\\(arch_01.*onnx.\\)[0-9a-f]*/\\1$hash/" "$kit/models.tsv" >"$work/models.tsv"
  mv "$work/models.tsv" "$kit/models.tsv"
  measure 1 --sentinel 2
  expect_printed "WARNING: the first model cannot be measured, so there is no sentinel"
  expect_file arch_02/meta.txt
}
case_changed_model() {
  board trtexec
  new_kit
  echo more >>"$kit/models/arch_02.onnx"
  rm "$kit/models/op_nor_conv_3x3_16.onnx"
  measure 1
  expect_lines 1 'SHA-256 of models/arch_02.onnx' "$kit/results/arch_02/failed.txt"
  expect_lines 0 '--onnx=models/arch_02' "$work/calls"
  expect op_nor_conv_3x3_16/failed.txt "models/op_nor_conv_3x3_16.onnx is missing"
}
case_not_writable() {
  board trtexec
  new_kit
  echo >"$kit/results"
  measure 1
  expect_printed "Cannot write to $kit/results"
  rm "$kit/results"
  user=''
  if [ "$(id -u)" = 0 ]; then # who may write anywhere
    user="$(command -v setpriv) --reuid=65534 --clear-groups" || user=''
    # shellcheck disable=SC2086 # words
    if [ -z "$user" ] || ! $user test -x "$here"; then echo "  skipped for a read-only folder: this is root"; return; fi
    chmod 755 "$work"
  fi
  chmod a-w "$kit"
  shell_command="$user $shell_command"
  measure 1
  shell_command=${shell_command#"$user "}
  chmod u+w "$kit"
  expect_printed "Cannot write to $kit/results"
}
case_resumption() {
  board trtexec
  new_kit slow
  measure_as_is >"$work/printed" 2>&1 &
  tries=0
  until grep -q 'loadEngine=results/engines/arch_02' "$work/calls"; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "arch_02 was not reached in 30 s:"
    sleep 0.1
  done
  measure 1
  expect_printed "seems to be measuring here already"
  kill -9 "$(cat "$kit/results/running")"
  wait $! 2>/dev/null || :
  : >"$work/gate"
  expect_no_file arch_02/meta.txt
  measure 0
  expect_printed "1 of 3 were measured before"
  expect_printed "2 of 3 arch_02 … 1.73 ms"
  expect_lines 1 '--loadEngine=results/engines/arch_01' "$work/calls"
  expect_lines 1 '--onnx=models/arch_02' "$work/calls"
  expect_lines 2 '--loadEngine=results/engines/arch_02' "$work/calls"
  expect_lines 1 '--loadEngine=results/engines/op_nor_conv_3x3_16' "$work/calls"
  expect_no_file running
  rm "$kit/results/arch_01/times.json" # what cannot be read is measured again
  sed '$d' "$kit/results/arch_02/times.json" >"$work/cut" && cp "$work/cut" "$kit/results/arch_02/times.json"
  : >"$kit/results/op_nor_conv_3x3_16/times.json"
  measure 0
  expect_printed "3 of 3 op_nor_conv_3x3_16 … 1.73 ms"
  for id in arch_01 arch_02 op_nor_conv_3x3_16; do expect_lines 20 '"computeMs"' "$kit/results/$id/times.json"; done
}
case_interruption() {
  board
  new_kit
  # shellcheck disable=SC2016 # the command's own shell knows its parent
  measure 130 --command 'case {model} in *arch_02*) kill -TERM $PPID ;; esac; echo 2'
  expect_printed "Interrupted; run it again to go on"
  expect_file arch_01/meta.txt
  expect_no_file arch_02/meta.txt
  expect_no_file running
}
case_odd_paths() {
  board trtexec perf
  for folder in "with space" -leading "\$HOME\`b\`\"c\"'d'" "new
line" "{model}*" "ends in newline
"; do
    kit_folder=$work/$folder
    new_kit
    measure 0
    expect_file op_nor_conv_3x3_16/perf.2.long.csv
    rm -r "$kit/results"
    cd -- "$kit"
    script=./measure.sh
    measure 0 --command 'cat "{model}" && echo 2'
    expect_file arch_02/times.txt
    cd "$here"
    rm -rf "$kit"
    kit_folder='' script=''
  done
}
case_bad_input() {
  board trtexec
  new_kit
  measure 2 --backend tpu
  measure 2 --runs 0
  measure 2 --runs
  measure 2 --wrong x
  measure 0 --help
  expect_printed "Examples"
  expect_no_file kit.txt
  for line in 'Arch	architecture' "a	bracelet	models/a.onnx	$(printf '%064d' 0)	20	1x3x32x32" \
    "..	architecture	models/...onnx	$(printf '%064d' 0)	20	1x3x32x32" \
    "a	architecture	/etc/passwd	$(printf '%064d' 0)	20	1x3x32x32"; do
    new_kit
    printf '%s\n' "$line" >>"$kit/models.tsv"
    measure 1
    expect_printed "models.tsv line 9: "
    expect_no_file kit.txt
  done
  board
  new_kit
  measure 1
  expect_printed "Neither trtexec nor ONNX Runtime is here. Install ONNX Runtime by one of: pip install onnxruntime; npm"
  expect_printed "install onnxruntime-node (in $kit)"
  rm "$kit/tools.sh"
  measure 1
  expect_printed "There is no tools.sh beside measure.sh"
}

# The trees of sensors are laid out as the kernel documents powercap and the INA3221; a command stands in for what takes
# the energy. No board was at hand to record one.
# shellcheck disable=SC2016 # the command's own shell reads it
case_energy_counter() {
  board
  new_kit
  zone=$work/board/sys/class/powercap/intel-rapl:0
  command='i=0; while [ $i -lt {runs} ]; do [ ! -f '$zone'/energy_uj ] || { read -r uj <'$zone'/energy_uj
    echo $(((uj + 3000) % 1000000)) >'$zone'/energy_uj; }; echo 10; i=$((i + 1)); done; : {model}'
  # Before this user may read the sensor.
  measure 0 --command "$command" --cold 1 --cold-command 'echo 41 # {model}' --profile-command 'echo "layerName; {model}"'
  expect_lines 0 energy "$kit/results/arch_01/meta.txt"
  mkdir -p "$zone"
  echo package-0 >"$zone/name"
  echo 900000 >"$zone/energy_uj"
  echo 1000000 >"$zone/max_energy_range_uj" # where it begins again
  measure 0 --command "$command"
  expect_printed "1 of 3 were measured before" # the operator
  expect quantities.txt "energy=RAPL: package-0"
  for line in energy_mj=3.000000 cold_ms=41.000000 profile=profile.txt; do expect arch_01/meta.txt $line; done
  expect arch_01/profile.txt 'layerName; models/arch_01.onnx' # which the second run was not asked for
  expect_lines 0 energy_mj "$kit/results/op_nor_conv_3x3_16/meta.txt"
  measure 0 --command "$command"
  expect_printed "3 of 3 were measured before"
  new_kit
  measure 0 --command 'echo 10; : {model} {runs}'
  expect arch_01/meta.txt energy=failed # nothing moves the counter
  expect_printed "1 of 3 arch_01 … no energy, see its log; 10 ms"
  measure 0 --command 'echo 10; : {model} {runs}'
  expect_printed "3 of 3 were measured before"
}
# shellcheck disable=SC2016
case_energy_rails() {
  board
  new_kit
  rails=$work/board/sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon3
  mkdir -p "$rails"
  echo VDD_IN >"$rails/in1_label" && echo 5000 >"$rails/in1_input" && echo 2000 >"$rails/curr1_input"
  echo VDD_SOC >"$rails/in2_label" && echo 5000 >"$rails/in2_input" && echo 400 >"$rails/curr2_input"
  measure 0 --command 'i=0; while [ $i -lt {runs} ]; do sleep 0.01; echo 100; i=$((i + 1)); done; : {model}'
  expect quantities.txt "energy=INA3221: VDD_IN"
  expect_lines 1 '^energy_mj=[0-9.]*[1-9]' "$kit/results/arch_01/meta.txt"
}
# shellcheck disable=SC2016
case_memory() {
  board
  ln -s "$(command -v sleep)" "$work/board/bin/nap"
  new_kit
  : >"$kit/empty.onnx"
  measure 0 --command 'case {model} in empty*) doublings=1 ;; *) doublings=25 ;; esac
    awk -v n=$doublings "BEGIN { s = \"x\"; while (n-- > 0) s = s s; system(\"nap 0.2\"); print 1 + length(s) * 0 }"; [ {runs} -gt 0 ]'
  expect_lines 1 "^energy_missing=neither $work/board/sys/class/powercap/intel-rapl:0 nor" "$kit/results/quantities.txt"
  memory=$(sed -n 's/^memory_mib=//p' "$kit/results/arch_01/meta.txt")
  awk "BEGIN { exit !(${memory:-0} > 30 && $memory < 200) }" || fail "expected 32 MiB or some more, found $memory"
  expect_lines 0 memory_mib "$kit/results/op_nor_conv_3x3_16/meta.txt"
  new_kit
  measure 0 --no-quantities --command 'echo 10; : {model} {runs}'
  expect_no_file quantities.txt
}

if command -v shellcheck >/dev/null; then
  shellcheck -x -s sh "$kit_files/measure.sh" "$kit_files/quantities.sh" "$0" "$here"/board/trtexec "$here"/board/perf "$here"/board/nvpmodel \
    "$kit_files/state.sh" "$kit_files/tools.sh" "$kit_files/speed.sh" "$here"/board/onnxruntime_perf_test "$here"/board/adb \
    "$here"/board/benchmark_app "$here"/board/benchmark_model || fail "shellcheck"
  echo "shellcheck: passed"
else
  echo "shellcheck: skipped, it is not installed"
fi
case_cold() {
  board trtexec
  new_kit
  measure 0 --cold 3
  # Reading the file, making the engine of it, and the first run: 14.4 and 5.6 ms, and latencyMs 1.75; building is told apart.
  for line in cold_ms=21.750000 load_ms=20.000000 first_ms=1.750000 build_ms=12500 cold_starts=3; do
    expect arch_01/meta.txt $line
  done
  ! grep -q cold "$kit/results/op_nor_conv_3x3_16/meta.txt" || fail "an operator has a cold start"
  grep -q '^cold=the page cache of the model:' "$kit/results/quantities.txt" || fail "quantities.txt says nothing of it"
  [ -z "$(find "$kit/results" -name '*.part')" ] || fail "left behind: $(find "$kit/results" -name '*.part')"
  new_kit # earlier ones say one of both
  measure 0 FAKE_TENSORRT=8205 --cold 1
  expect arch_01/meta.txt load_ms=14.400000
  new_kit # those before 8 have no timing cache
  measure 0 FAKE_TENSORRT=7103
  expect_printed "3 of 3 measured"
  board onnxruntime_perf_test
  new_kit
  measure 0 --cold 2
  for line in cold_ms=21.300000 prepare_ms=12.300000 first_ms=9.000000 cold_starts=2; do expect arch_02/meta.txt $line; done
}
case_cold_of_a_command() {
  board
  new_kit
  measure 0 --command 'true {model}; echo 3' --cold 2
  expect quantities.txt 'cold_missing=the command says nothing of starts: give --cold-command'
  expect_printed "No cold starts: the command says nothing of starts: give --cold-command"
  ! grep -q cold "$kit/results/arch_01/meta.txt" || fail "a cold start out of nothing"
  new_kit
  measure 0 --command 'true {model}; echo 3' --cold 2 --cold-command 'echo started {model}; echo 41.5'
  expect arch_01/meta.txt cold_ms=41.500000
  new_kit
  measure 0 --command 'true {model}; echo 3' --cold 2 --cold-command 'false'
  expect_printed "3 of 3 measured"
  ! grep -q cold_ms "$kit/results/arch_01/meta.txt" || fail "a cold start that failed counts"
  expect arch_01/meta.txt cold=failed
  expect_printed "no cold starts, see its log"
  measure 0 --command 'true {model}; echo 3' --cold 2 --cold-command 'echo started {model}; echo 41.5'
  expect arch_01/meta.txt cold_ms=41.500000 # which is tried again, with another command
  measure 0 --command 'true {model}; echo 3' --cold 2 --cold-command 'echo started {model}; echo 41.5'
  expect_printed "3 of 3 were measured before"
  measure 2 --command 'true {model}; echo 3' --cold-command 'echo 1'
  expect_printed "--cold-command goes with --cold N"
  measure 2 --cold none
  expect_printed "take a whole number above 0"
}
for shell in dash "busybox sh"; do
  if ! command -v "${shell%% *}" >/dev/null; then
    echo "$shell: skipped, it is not installed"
    continue
  fi
  shell_command="$(command -v "${shell%% *}")$(echo "$shell" | sed 's/^[a-z]*//')"
  for name in trtexec another_board chains precisions perf_test input_types python node optimization custom times profile profile_of_a_command decimal_commas open_dimensions shapes openvino converted phone checksums same_failure \
    failure_in_the_middle unbuildable \
    without_perf without_nvpmodel clocks clock_levels sentinel sentinel_level sentinel_that_fails changed_model not_writable resumption \
    interruption odd_paths bad_input energy_counter energy_rails memory cold cold_of_a_command; do
    [ -z "$only" ] || [ "$only" = $name ] || continue
    rm -f "$work/printed"
    case_$name
    echo "$shell: $name passed"
  done
done
