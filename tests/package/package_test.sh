#!/usr/bin/env bash
# Makes the Debian package, installs it in a clean Debian 12 made by mmdebstrap, and uses it there as a newcomer would:
# package_test.sh BUILD_FOLDER. Needs root, mmdebstrap, and a Debian mirror (TENSHOT_MIRROR).
set -euo pipefail
build=$(realpath "$1")
mirror=${TENSHOT_MIRROR:-http://deb.debian.org/debian}
work=$(mktemp -d)
trap 'umount "$work/root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT
(cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
cp "$work"/tenshot_*.deb "$work/tenshot.deb"
mmdebstrap --mode=root --variant=minbase --include=ca-certificates bookworm "$work/root" "$mirror" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
mkdir "$work/root/tmp/try"
cp "$work/tenshot.deb" "$work/root/tmp/try/"
cat >"$work/root/tmp/try/use.sh" <<'END'
set -euo pipefail
cd /tmp/try
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ./tenshot.deb >log 2>&1 || { tail -20 log; exit 1; }
tenshot --version
tenshot plan --checkpoint pool.tenshot --samples 3 --out plan.csv
{ echo architecture,latency_ms; sed -n 's/^[0-9]*,\(|.*\)/\1,5.5/p' plan.csv; } >measured.csv
tenshot adapt --checkpoint pool.tenshot --measurements measured.csv --out device.tenshot
tenshot predict --predictor device.tenshot --fastest 3
tenshot predict --predictor device.tenshot --out all.csv
test "$(wc -l <all.csv)" -eq 15626
tenshot export --predictor device.tenshot --torchscript device.pt
test -s device.pt
tenshot dataset import --help >/dev/null
python3 -c "
import tenshot
predictor = tenshot.load('device.tenshot')
print(predictor.predict(tenshot.Space('nasbench201').random(2)), tenshot.Space('fbnet').name)"
END
mount -t proc proc "$work/root/proc"
chroot "$work/root" bash /tmp/try/use.sh
echo "the package works"
