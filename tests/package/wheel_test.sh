#!/usr/bin/env bash
# Makes the wheel as README says, installs it into a fresh virtual environment without a network, and uses the module and
# the program there: wheel_test.sh [FOLDER_FOR_THE_WHEEL]. Needs python3-build, python3-venv and python3-numpy; numpy comes
# from the system, since nothing is downloaded.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$(realpath -m "${1:-$work}")
cd "$work"
(cd "$source" && /usr/bin/python3 -m build --wheel --outdir "$out" trainer/python) >log 2>&1 || { tail -40 log; exit 1; }
wheel=$(echo "$out"/tenshot-*-cp3*-linux_*.whl)
ls -l "$wheel"
/usr/bin/python3 -m venv --system-site-packages venv
unshare --net venv/bin/pip install --quiet --no-index "$wheel" 2>/dev/null || venv/bin/pip install --quiet --no-index "$wheel"
# What is linked comes from the environment, but for the C and C++ libraries.
for file in venv/bin/tenshot venv/lib/libtenshot_engines.so.* venv/lib/python3*/site-packages/tenshot/native*.so; do
  if ldd "$file" | grep -E '=> (/usr)?/lib' | grep -vE 'lib(c|m|stdc\+\+|gcc_s|dl|rt|pthread)\.so|ld-linux'; then
    echo "$file takes libraries of the system"
    exit 1
  fi
done
PATH=$work/venv/bin:$PATH
unset PYTHONPATH
cat >use.py <<'END'
import pathlib
import pickle
import sys
import tenshot

assert pathlib.Path(tenshot.__file__).is_relative_to(sys.argv[1]), tenshot.__file__
ten = tenshot.plan("pool.tenshot", samples=10)
predictor = tenshot.adapt("pool.tenshot", {text: 3.0 + len(text) / 30 for text in ten})
latency, lower, upper = predictor.predict_interval(ten)
assert (lower <= latency).all() and (latency <= upper).all()
assert pickle.loads(pickle.dumps(predictor)).predict(ten[0]) == predictor.predict(ten[0])
print(predictor.verdict, tenshot.device("pixel4_gpu_float"))
predictor.save("device.tenshot")
predictor.export_torchscript("device.pt")
END
venv/bin/python use.py "$work/venv"
tenshot version | head -n 1
tenshot predict --predictor device.tenshot --fastest 3
tenshot network generate --space synthetic-cnn --count 2 --seed 1 --out models --quiet
tenshot predict --device pixel4_gpu_float models/*.onnx
test -s device.pt
"$source/tests/newcomer/first_minutes.sh" "$source"

# LibTorch is that of the package torch where the system has none: a file that is no library hides the system's.
if [ "$(id -u)" = 0 ] && torch=$(ldconfig -p | sed -n 's/.* => \(.*libtorch\.so\.[0-9.]*\)$/\1/p' | head -n 1) && [ -n "$torch" ]; then
  folder=$(dirname "$(realpath "$torch")")
  mkdir -p "$work/torch/lib"
  cp -L "$folder"/libc10.so.* "$folder"/libtorch.so.* "$folder"/libtorch_cpu.so.* "$work/torch/lib"
  # shellcheck disable=SC2016 # expanded by the inner shell
  hidden='for file in "$0"/libc10.so.* "$0"/libtorch.so.* "$0"/libtorch_cpu.so.*; do mount --bind /dev/null "$(realpath "$file")"; done; '
  export_it='tenshot export --predictor device.tenshot --torchscript again.pt'
  if unshare --mount bash -c "$hidden $export_it" "$folder" 2>error; then echo "LibTorch was not hidden"; exit 1; fi
  grep -q "this needs LibTorch" error
  ln -s "$work/torch" "$(echo venv/lib/python3*/site-packages)/torch"
  unshare --mount bash -c "$hidden $export_it" "$folder"
  test -s again.pt
fi
echo "the wheel works"
