#!/usr/bin/env bash
# Draws accuracy against the number of samples, a line a method and sampler, from an experiment's tidy CSV:
#   experiments/samples.sh experiments/results/samplers/results.csv picture.svg
set -euo pipefail
results=$1 picture=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The mean over targets and trials of acc10, by method, sampler and number of samples; columns are found by name.
awk -F, '
  function csv(line,   field, quoted, i, c) {
    count = 0; field = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
      c = substr(line, i, 1)
      if (c == "\"") quoted = !quoted
      else if (c == "," && !quoted) { value[++count] = field; field = "" }
      else field = field c
    }
    value[++count] = field
  }
  NR == 1 { csv($0); for (i = 1; i <= count; i++) column[value[i]] = i; next }
  { csv($0)
    if (value[column["samples"]] == "all") next
    key = value[column["method"]] ", " value[column["sampler"]]
    if (!(key in known)) { known[key] = ++lines; name[lines] = key }
    sum[key, value[column["samples"]]] += value[column["acc10"]]; n[key, value[column["samples"]]]++ }
  END {
    for (l = 1; l <= lines; l++) {
      print "\"" name[l] "\""
      for (s = 1; s <= 1000; s++) if ((name[l], s) in n) print s, 100 * sum[name[l], s] / n[name[l], s]
      print ""; print ""
    }
  }' "$results" >"$work/lines"
lines=$(grep -c '^"' "$work/lines")
gnuplot <<END_OF_PLOT
set terminal svg size 640,440 font "sans-serif,13" background "#ffffff"
set output "$picture"
set xlabel "measured architectures"
set ylabel "predicted within 10 %, percent"
set logscale x
set xtics (3, 5, 10, 20, 50, 100)
set xrange [2.5:*]
set yrange [0:100]
set key bottom right noenhanced
set grid linecolor "#dddddd"
set border 3 linecolor "#444444"
set tics nomirror
array colour[8] = ["#0b62a4", "#6cb4ee", "#00795a", "#c2500a", "#f08c4a", "#8a6d00", "#a3458a", "#666666"]
plot for [i = 0:$((lines - 1))] "$work/lines" index i using 1:2 with linespoints linewidth 2 pointtype 7 pointsize 0.5 \
  linecolor rgb colour[i % 8 + 1] title columnheader(1)
END_OF_PLOT
