#!/usr/bin/env bash
# Builds tests/package/Containerfile from what is committed, on a Debian 12 made by mmdebstrap, and uses the container:
# container_test.sh [FOLDER_OF_PACKAGES]. With the folder, which package_test.sh fills, nothing is compiled; without it
# everything is, with this machine's ccache. Needs root, buildah, mmdebstrap, and a Debian mirror (TENSHOT_MIRROR).
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
mirror=${TENSHOT_MIRROR:-http://deb.debian.org/debian}
work=$(mktemp -d)
buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
trap '"${buildah[@]}" umount --all >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
mkdir "$work/source" "$work/models"
git -C "$source" archive HEAD | tar -x -C "$work/source"
options=(--isolation chroot --pull-never --build-arg "BASE=localhost/debian:bookworm")
if [ -n "${1:-}" ]; then
  mkdir "$work/source/packages"
  cp "$1"/*.deb "$work/source/packages"
  options+=(--build-arg PACKAGES=packages)
elif command -v ccache >/dev/null; then
  options+=(--volume "$(ccache --get-config cache_dir):/var/cache/ccache")
fi
mmdebstrap --mode=root --variant=minbase --include=ca-certificates bookworm "$work/debian.tar" "$mirror" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
base=$("${buildah[@]}" from scratch)
"${buildah[@]}" add --quiet "$base" "$work/debian.tar" / >/dev/null
"${buildah[@]}" commit --quiet --rm "$base" localhost/debian:bookworm >/dev/null
rm "$work/debian.tar"
"${buildah[@]}" build "${options[@]}" --file "$work/source/tests/package/Containerfile" --tag tenshot "$work/source" \
  >"$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }

test "$("${buildah[@]}" inspect --type image --format '{{.OCIv1.Config.Entrypoint}}' tenshot)" = "[tenshot]"
container=$("${buildah[@]}" from tenshot)
tenshot() { "${buildah[@]}" run --isolation chroot --volume "$work/models:/work" "$container" -- tenshot "$@"; }
tenshot --version
tenshot network generate --space synthetic-cnn --count 2 --seed 1 --out . --quiet
tenshot predict --device pixel4_gpu_float --networks . --out predicted.csv
test "$(wc -l <"$work/models/predicted.csv")" = 3
tenshot plan --quiet --checkpoint pool --samples 3 --out plan.csv
{ echo architecture,latency_ms; sed -n 's/^[0-9]*,\(|.*\)/\1,5.5/p' "$work/models/plan.csv"; } >"$work/models/measured.csv"
tenshot adapt --checkpoint pool --measurements measured.csv --out device.tenshot
tenshot export --predictor device.tenshot --torchscript device.pt # by LibTorch
test -s "$work/models/device.pt"
if tenshot adapt --measurements nothing.csv --out x.tenshot 2>"$work/error"; then exit 1; fi
grep -q nothing.csv "$work/error"
if "${buildah[@]}" run --isolation chroot "$container" -- sh -c 'command -v c++'; then echo "a compiler is in the container"; exit 1; fi
echo "the container works"
