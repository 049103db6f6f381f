#!/usr/bin/env bash
# Trains the checkpoints that ship, on the first six tenths of the pool that ships, and writes checkpoints/README.md from their cards.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
install_missing
build_targets tenshot
split_pool datasets/data "$build/checkpoints"
pool=$build/checkpoints/pool
"$tenshot" train --pool "$pool" --predictor structured --out checkpoints/pool.tenshot
"$tenshot" train --pool "$pool" --predictor maple-edge --descriptor-kind inferred --out checkpoints/maple-edge.tenshot

# card FILE: the JSON card of a tenshot file, which stands between its 20-byte header and its numbers.
card() { head -c "$((20 + $(od -An -t u8 -j 12 -N 8 "$1")))" "$1" | tail -c +21; }
{
  cat <<END
# Checkpoints

Pools ready to be adapted with \`tenshot adapt --checkpoint\`, trained by \`experiments/make_checkpoints.sh\` on
the first six tenths of [datasets/data](../datasets/data/README.md). Each carries its pool. On another machine LibTorch and the processor may
change the last bits of the network's weights; on one machine the files come out the same to the byte.

END
  for file in checkpoints/*.tenshot; do
    echo "## $(basename "$file")"
    echo
    echo "- SHA-256 \`$(sha256sum "$file" | cut -d' ' -f1)\`"
    card "$file" | awk '
      /"content_sha256"/ { gsub(/[" ,]/, ""); split($0, part, ":"); print "- data (content hash) `" part[2] "`" }
      /"predictor"/ { gsub(/[" ,]/, ""); split($0, part, ":"); print "- predictor `" part[2] "`" }
      /"seed"/ { gsub(/[" ,]/, ""); split($0, part, ":"); print "- seed " part[2] }
      /"scores"/ { scores = 1 }
      /"(tenshot|libtorch)": "/ { gsub(/[",]/, ""); print "- version of" $0 }
      scores && /: [0-9.e-]+,?$/ { gsub(/[",]/, ""); print "- score:" $0 }
      scores && /^ }/ { scores = 0 }' | sed 's/  */ /g'
    echo
  done
} >checkpoints/README.md.new
mv checkpoints/README.md.new checkpoints/README.md
cat checkpoints/README.md
