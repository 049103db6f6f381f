#!/usr/bin/env bash
# Writes the public table of published CNNs with its rows in the order of one split: a row's place is a hash of the
# split and of its network's name, so that it is the same on every machine.
#
#   TENSHOT_TABLES=folder experiments/order_networks.sh SPLIT
set -euo pipefail
table=$TENSHOT_TABLES/mobile-cnn/latency_ms.csv
head -n 1 "$table"
tail -n +2 "$table" | while IFS=, read -r network rest; do
  printf '%s %s,%s\n' "$(printf '%s %s' "$1" "$network" | sha256sum | cut -c1-16)" "$network" "$rest"
done | sort | cut -d' ' -f2-
