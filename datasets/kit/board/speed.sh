# shellcheck shell=sh disable=SC2154,SC2034,SC2030,SC2031
# Sourced by measure.sh: whether the board kept one speed, as the clocks of the architectures and the sentinel say it.
# What ran at another speed than most is measured again.

# ---- Clocks. Most architectures ran at one level: it is the clock that most of them had, within 5 %, where it did not
# move, and the faster of two that as many had. Where fewer than half had it there is none. Clocks that are not fixed
# follow the load, and looking before and after says little: within 25 % they count as one, and one that moved tells
# nothing. datasets/kit/board_results.h has the same rule.
clock_level=''
clocks_of() { # ID: "BEFORE AFTER MOVED FIXED"
  sed -n 's/^clocks_before=//p; s/^clocks_after=//p; s/^clocks_moved=//p; s/^clocks_fixed=//p' "results/$1/meta.txt" |
    tr '\n' ' '
}
architecture_clocks() {
  while IFS='	' read -r one one_kind _ one_hash _; do
    [ "$one_kind" = architecture ] && is_measured "$one" "$one_hash" && { clocks_of "$one"; echo; }
  done <"$list"
}
find_clock_level() {
  architecture_clocks | awk '
    $1 ~ /^[0-9]+$/ { ++all; if ($3 == "no") { clock[++n] = $1; tolerance[n] = $4 == "no" ? 0.25 : 0.05 } }
    END {
      for (i = 1; i <= n; ++i) {
        like = 0
        for (j = 1; j <= n; ++j) {
          if (clock[j] >= (1 - tolerance[j]) * clock[i] && clock[j] <= (1 + tolerance[j]) * clock[i]) ++like
        }
        if (like > most || (like == most && clock[i] > level)) { most = like; level = clock[i] }
      }
      if (2 * most >= all && most) print level
    }'
}
is_at_level() { # ID: before and after
  [ -z "$clock_level" ] || clocks_of "$1" | awk -v level="$clock_level" '{
    if ($4 == "no" && $3 != "no") exit 0
    tolerance = $4 == "no" ? 0.25 : 0.05
    for (i = 1; i <= 2; ++i) {
      if ($i ~ /^[0-9]+$/ && ($i < (1 - tolerance) * level || $i > (1 + tolerance) * level)) exit 1
    }
  }'
}
is_settled() { # ID: unless its clock moved while it followed the load, and is fixed by now
  [ "$clocks_fixed" != yes ] || ! clocks_of "$1" | grep -q 'yes no $'
}
has_level_clock() { # is the clock where most architectures had it?
  clock_now | awk -v level="$clock_level" '{ exit !($1 >= 0.95 * level && $1 <= 1.05 * level) }'
}
off_level() { # the models that ran at another clock: " ID (CLOCK, 47 % lower), …"
  while IFS='	' read -r one _ _ one_hash _; do
    is_measured "$one" "$one_hash" && ! is_at_level "$one" && clocks_of "$one" |
      awk -v id="$one" -v level="$clock_level" '{
        change = 100 * ($1 / level - 1)
        if ($3 == "yes") print " " id " (" $1 " to " $2 ")"
        else printf " %s (%s, %.0f %% %s)\n", id, $1, change < 0 ? -change : change, change < 0 ? "lower" : "higher" }'
  done <"$list" | awk 'NR > 1 { printf "," } { printf "%s", $0 }'
}

# ---- The sentinel: whether the machine kept its speed is seen in one model that is measured again and again.
sentinel_attempts=6
sentinel_patience_s=60
sentinel_tolerance=1.05 # times its fastest
sentinel() { # measures the first model, and prints and remembers its milliseconds
  (
    while IFS='	' read -r id kind file hash runs shape; do case $id in '#'*) ;; *) break ;; esac; done <"$list"
    out=results/sentinel log=results/sentinel/log.txt engine=$(engine_of)
    mkdir -p "$out" && : >"$log" && measure && echo "$ms" >>results/sentinel.txt && echo "$ms"
  )
}
# The sentinel at its fastest: the fastest time that repeats, wherever it stands; one that does not is an accident.
sentinel_level() {
  sort -n results/sentinel.txt | awk -v most=$sentinel_tolerance '
    { ms[NR] = $1 }
    END {
      level = ms[1]
      for (i = NR - 1; i >= 1; --i) if (ms[i + 1] <= most * ms[i]) level = ms[i]
      print level
    }'
}
# Twice where there is no earlier time that it could repeat.
first_sentinel() {
  [ -f results/sentinel.txt ] || sentinel >/dev/null || return 1
  sentinel
}
kept_speed() { awk "BEGIN { exit !($1 <= $sentinel_tolerance * $(sentinel_level)) }"; } # MILLISECONDS of the sentinel
# Waits for the machine to be fast again, so long as there is patience; $sentinel_ms is the sentinel's last measurement.
await_speed() {
  until=$(($(date +%s) + sentinel_patience_s))
  until kept_speed "$sentinel_ms" || [ "$(date +%s)" -ge "$until" ]; do
    sleep 1
    sentinel_ms=$(sentinel) || break
  done
}
# The slower of the sentinels before and after them is what is said of the models in $batch.
end_batch() {
  before_ms=$sentinel_ms
  sentinel_ms=$(sentinel) || sentinel_ms=$before_ms
  slower_ms=$(printf '%s\n' "$before_ms" "$sentinel_ms" | sort -n | tail -n 1)
  for one in $batch; do
    { cat "results/$one/meta.txt"; echo "sentinel_ms=$slower_ms"
      kept_speed "$slower_ms" || echo sentinel_moved=yes; } | save "results/$one/meta.txt" || exit 1
  done
  batch=''
}
is_steady() { # ID: as the sentinel says, measured before $level
  [ -z "$sentinel_every" ] || [ -z "$level" ] ||
    awk -F= -v most="$sentinel_tolerance $level" '
      BEGIN { split(most, factor, " ") }
      $1 == "sentinel_ms" && $2 <= factor[1] * factor[2] { steady = 1 }
      END { exit !steady }' "results/$1/meta.txt"
}
