#!/usr/bin/env bash
# Draws predicted against measured latency with the ±10 % band:
#   experiments/scatter.sh predictions.csv truth.csv measured.csv picture.svg title
# `measured.csv` holds the architectures that the device was adapted on; they are drawn apart.
set -euo pipefail
predictions=$1 truth=$2 measured=$3 picture=$4 title=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -F, -v used="$work/used" -v unused="$work/unused" '
  FNR == 1 { file++; next }
  file == 1 { predicted[$1] = $2 }
  file == 2 { adapted[$1] }
  file == 3 && $1 in predicted { print $2, predicted[$1] > ($1 in adapted ? used : unused) }' \
  "$predictions" "$measured" "$truth"
gnuplot <<END
set terminal svg size 640,560 font "sans-serif,13" background "#ffffff"
set output "$picture"
set title "$title" noenhanced
set xlabel "measured latency, ms"
set ylabel "predicted latency, ms"
set key top left reverse Left
set grid linecolor "#dddddd"
set border linecolor "#444444"
stats "$work/unused" using 1:2 nooutput
low = 0.9 * (STATS_min_x < STATS_min_y ? STATS_min_x : STATS_min_y)
high = 1.05 * (STATS_max_x > STATS_max_y ? STATS_max_x : STATS_max_y)
set xrange [low:high]
set yrange [low:high]
plot 1.1 * x with filledcurves y1=0 linecolor "#e8f0fa" title "within 10 %", \
     0.9 * x with filledcurves y1=0 linecolor "#ffffff" notitle, \
     x with lines linecolor "#888888" notitle, \
     "$work/unused" using 1:2 with points pointtype 7 pointsize 0.35 linecolor "#1f5fa8" title "not used", \
     "$work/used" using 1:2 with points pointtype 6 pointsize 1.1 linewidth 2 linecolor "#d9541e" title "the ten measured"
END
