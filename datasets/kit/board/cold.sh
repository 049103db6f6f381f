# shellcheck shell=sh disable=SC2154,SC2034,SC2015
# Sourced by measure.sh --cold N: cold starts of an architecture after its times, each in a fresh process, from the
# model's file to the first output. results/ID/meta.txt gets the medians: cold_ms, and its parts as far as the runtime
# tells them: load_ms (reading; of trtexec: loading the engine), prepare_ms (of ONNX Runtime: making the session),
# first_ms (the first run), and build_ms (of trtexec: building the engine, which is not a part of cold_ms).
cold_missing='' cold_pages=''
if [ -n "$phone" ]; then cold_missing='cold starts are not measured through adb'
elif [ "$runner" = custom ] && [ -z "$cold_command" ]; then
  cold_missing='the command says nothing of starts: give --cold-command'
fi
[ -z "$cold_missing" ] || warn "No cold starts: $cold_missing"
forget_failed cold
has_cold() { # ID: or none are to be had
  [ -n "$cold_missing" ] || ! grep -q "^$1	architecture	" "$list" || grep -q '^cold' "results/$1/meta.txt"
}

# Asks the system to forget the file (dd's nocache is posix_fadvise); fincore, where it is, says whether it did.
drop_pages() { # FILE…
  for one in "$@"; do
    ! has sync || sync
    has dd && dd if="$one" iflag=nocache count=0 2>/dev/null || { cold_pages='could not be dropped'; continue; }
    if ! has fincore; then : "${cold_pages:=dropped, not verified: no fincore}"
    elif [ "$(fincore --noheadings --output PAGES "$one" 2>/dev/null | tr -d ' ')" = 0 ]; then : "${cold_pages:=dropped}"
    else cold_pages='the system kept some'
    fi
  done
}
# A virtual machine may have given its free memory back to its host, and fetching it takes milliseconds that differ from
# start to start: memory is written to and freed again before each of them.
touch_memory() {
  grep -q hypervisor /proc/cpuinfo 2>/dev/null || return 0
  dd if=/dev/zero of=/dev/null bs=512M count=1 2>/dev/null || return 0
}
of_json() { # KEY FILE: the first number of that key
  tr ',{}[]' '\n' <"$2" | sed -n "s/^ *\"$1\" *: *\([0-9][0-9.eE+-]*\) *$/\1/p" | head -n 1
}
after() { # TEXT FILE: the number behind it
  sed -n "s/.*$1 *\([0-9][0-9.eE+-]*\).*/\1/p" "$2" | head -n 1
}
# One start; prints "cold load prepare first", milliseconds, - where the runtime does not say.
cold_start() {
  said=$out/cold.said.part times_part=$out/cold.times.part
  rm -f "$said" "$times_part"
  case $runner in
    trtexec)
      drop_pages "$engine"
      infer 1 0 0 "$times_part" >"$said" 2>&1 || return 1
      # TensorRT 8.5 and later read the file, and then make the engine of it; earlier ones say one of both.
      load=$({ after 'Engine loaded in' "$said"; after 'Engine deserialized in' "$said"; } |
        awk '{ s += $1 } END { if (NR) print s }')
      first=$(of_json latencyMs "$times_part")
      echo "$load $first" | awk 'NF == 2 { print 1000 * $1 + $2, 1000 * $1, "-", $2 }' ;;
    perf_test)
      drop_pages "$file"
      infer 1 0 0 "$times_part" >"$said" 2>&1 || return 1
      echo "$(after 'Session creation time cost:' "$said") $(after 'First inference time cost:' "$said")" |
        awk 'NF == 2 { print 1000 * $1 + $2, "-", 1000 * $1, $2 }' ;;
    python | node)
      drop_pages "$file"
      TENSHOT_COLD=1 infer 1 0 0 "$times_part" >"$said" 2>&1 || return 1
      for key in cold_ms load_ms prepare_ms first_ms; do of_json $key "$times_part"; done | tr '\n' ' '
      echo ;;
    custom)
      # shellcheck disable=SC2046 # one or two plain names
      drop_pages "$file" $(second_of "$file")
      hot_command=$command command=$cold_command
      run sh -c "$(filled_command 1 "$file")" >"$said" 2>>"$log"
      status=$? command=$hot_command
      [ $status = 0 ] || return 1
      numbers "$said" | tail -n 1 | awk '{ print $1, "-", "-", "-" }' ;;
  esac
}
# Medians of the starts; sets cold_lines to what meta.txt gets.
measure_cold() {
  cold_lines=''
  [ "$kind" = architecture ] && [ -z "$cold_missing" ] || return 0
  : >"$out/cold.part"
  n=0
  while [ $n -lt "$cold_starts" ]; do
    touch_memory
    cold_start >>"$out/cold.part" 2>>"$log" || { echo "a cold start failed" >>"$log"; break; }
    n=$((n + 1))
  done
  cold_lines=$(awk -v wanted="$cold_starts" '
    function middle(part,   i, j, n, v, t) {
      for (i = 1; i <= rows; ++i) if (value[i, part] != "-" && value[i, part] != "") v[++n] = value[i, part] + 0
      for (i = 2; i <= n; ++i) { t = v[i]; for (j = i - 1; j > 0 && v[j] > t; --j) v[j + 1] = v[j]; v[j + 1] = t }
      return n == rows ? (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 : ""
    }
    NF == 4 { ++rows; for (i = 1; i <= 4; ++i) value[rows, i] = $i }
    END {
      if (rows < wanted) exit
      split("cold_ms load_ms prepare_ms first_ms", names, " ")
      for (i = 1; i <= 4; ++i) if ((m = middle(i)) != "") printf "%s=%.6f\n", names[i], m
      print "cold_starts=" rows
    }' "$out/cold.part")
  built=$(after 'Engine built in' "$log")
  [ "$runner" != trtexec ] || [ -z "$built" ] || [ -z "$cold_lines" ] || cold_lines="$cold_lines
build_ms=$(awk "BEGIN { print 1000 * $built }")"
  [ -n "$cold_lines" ] || { cold_lines=cold=failed; printf 'no cold starts, see its log; '; }
  rm -f "$out"/cold.*part
}
note_cold() { # adds to what quantities.txt says
  if [ -n "$cold_missing" ]; then echo "cold_missing=$cold_missing"
  else echo "cold=the page cache of the model: ${cold_pages:-not asked yet}"
  fi
}
