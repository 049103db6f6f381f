#!/usr/bin/env bash
# Makes the Debian packages, has lintian look at them, installs them in a clean Debian 12 made by mmdebstrap, and uses them
# there: the program as a newcomer would, and the C++ libraries by building the folder example as a project of CMake.
# package_test.sh BUILD_FOLDER [FOLDER_FOR_THE_PACKAGES]. Needs root, mmdebstrap, lintian, and a Debian mirror
# (TENSHOT_MIRROR).
set -euo pipefail
build=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../..")
mirror=${TENSHOT_MIRROR:-http://deb.debian.org/debian}
work=$(mktemp -d)
trap 'umount "$work/root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT
(cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
ls -l "$work"/*.deb
lintian --allow-root --fail-on error,warning "$work"/*.deb
if [ -n "${2:-}" ]; then cp "$work"/*.deb "$2"; fi
mmdebstrap --mode=root --variant=minbase --include=ca-certificates bookworm "$work/root" "$mirror" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
try=$work/root/tmp/try
mkdir "$try"
cp "$work"/*.deb "$try"
cp -r "$source/tests/package/example" "$try"
cat >"$try/use.sh" <<'END_OF_USE'
set -euo pipefail
cd /tmp/try
install() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >log 2>&1 || { tail -20 log; exit 1; }; }
apt-get update -qq
install ./tenshot_*.deb ./libtenshot-engines*.deb
tenshot --version >said
grep -q "LibTorch is not loaded" said
tenshot plan --checkpoint pool.tenshot --samples 3 --out plan.csv
{ echo architecture,latency_ms; sed -n 's/^[0-9]*,\(|.*\)/\1,5.5/p' plan.csv; } >measured.csv
tenshot adapt --checkpoint pool.tenshot --measurements measured.csv --out device.tenshot
tenshot predict --predictor device.tenshot --fastest 3
tenshot predict --predictor device.tenshot --out all.csv
test "$(wc -l <all.csv)" -eq 15626
tenshot network generate --space synthetic-cnn --count 1 --seed 1 --out models --quiet
tenshot predict --device pixel4_gpu_float models/*.onnx
python3 -c "
import tenshot
predictor = tenshot.load('device.tenshot')
print(predictor.predict(tenshot.Space('nasbench201').random(2)), tenshot.Space('fbnet').name)"
for verb in $(tenshot --help | sed -n '/^Example/q; s/^  \([a-z-]*\)  .*/\1/p'); do
  zcat "/usr/share/man/man1/tenshot-$verb.1.gz" | grep -q "show this help\|SH EXAMPLE" || { echo "no manual page of $verb"; exit 1; }
done

# LibTorch is another package's, which the first one only recommends.
if tenshot export --predictor device.tenshot --torchscript device.pt 2>error; then echo "exported without LibTorch"; exit 1; fi
grep -q "this needs LibTorch" error
install ./libtenshot-torch*.deb
tenshot export --predictor device.tenshot --torchscript device.pt
test -s device.pt

# A program of someone else's.
install ./libtenshot-predictor*.deb ./libtenshot-network*.deb ./libtenshot-dev_*.deb g++ cmake make
cmake -S example -B built >log && cmake --build built >>log || { cat log; exit 1; }
sed -n 's/,5.5$//p' measured.csv >cells
mapfile -t cells <cells
built/fastest device.tenshot "${cells[@]}" >said
grep -q "expect nine of ten" said
built/fastest device.tenshot | python3 -c "import json, sys; print(len(json.load(sys.stdin)['adaptation_set']), 'measurements')"
tail -n 3 said | cut -d' ' -f1 >predicted
grep -F -f cells all.csv | cut -d, -f2 | sort -g >expected
paste expected predicted | awk '{ rows += $1 > 0 && ($1 / $2 - 1) ^ 2 < 1e-12 } END { exit rows != 3 }' || { paste expected predicted; exit 1; }
cat said
END_OF_USE
mount -t proc proc "$work/root/proc"
chroot "$work/root" bash /tmp/try/use.sh
echo "the packages work"
