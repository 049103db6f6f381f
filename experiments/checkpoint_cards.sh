#!/usr/bin/env bash
# Writes checkpoints/README.md: the card of every checkpoint that ships, and the sources of the knowledge with their
# licences.
set -euo pipefail
cd "$(dirname "$0")/.."

# card FILE: the JSON card of a tenshot file, which stands between its 20-byte header and its numbers.
card() { head -c "$((20 + $(od -An -t u8 -j 12 -N 8 "$1")))" "$1" | tail -c +21; }
{
  cat <<END
# Checkpoints

What \`tenshot plan\`, \`adapt\` and \`predict --device\` start from. \`networks.tenshot\` and \`cells.tenshot\` are
knowledge: what was learned from the sources below, without a row of them; \`experiments/knowledge.sh\` makes them.
\`pool.tenshot\` and \`maple-edge.tenshot\` carry their pool, the first six tenths of
[datasets/data](../datasets/data/README.md); \`experiments/make_checkpoints.sh\` trains them. On another machine LibTorch and the
processor may change the last bits of the network's weights; on one machine the files come out the same to the byte.

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
      /"content": "knowledge"/ { known = 1 } # tenshot devices has its scores
      scores && !known && /: [0-9.e-]+,?$/ { gsub(/[",]/, ""); print "- score:" $0 }
      scores && /^ }/ { scores = 0 }' | sed 's/  */ /g'
    echo
  done
  sed "s:(\.\./\.\./:(../:g" experiments/shared/knowledge_sources.md
} >checkpoints/README.md.new
mv checkpoints/README.md.new checkpoints/README.md
