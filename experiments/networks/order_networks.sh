#!/usr/bin/env bash
# Writes the public table of published CNNs with its rows in the order of one split: a row's place is a hash of the
# split and of its network's name, so that it is the same on every machine. With "families" the networks of a family
# (mobilenet, preresnet, regnet and so on: the letters that a name begins with) stay together, families in the order of
# their hashes.
#
#   TENSHOT_TABLES=folder experiments/networks/order_networks.sh SPLIT [families]
set -euo pipefail
table=$TENSHOT_TABLES/mobile-cnn/latency_ms.csv
head -n 1 "$table"
tail -n +2 "$table" | while IFS=, read -r network rest; do
  family=""
  if [ "${2:-}" = families ]; then
    family=$(sed -E 's/[0-9_].*//; s/^(mobilenet|preresnet|resnet|regnet).*/\1/' <<<"$network")
    family=$(printf '%s %s' "$1" "$family" | sha256sum | cut -c1-16)
  fi
  printf '%s%s %s,%s\n' "$family" "$(printf '%s %s' "$1" "$network" | sha256sum | cut -c1-16)" "$network" "$rest"
done | sort | cut -d' ' -f2-
