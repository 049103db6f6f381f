# shellcheck shell=sh disable=SC2154,SC2034,SC2030,SC2031,SC2015
# Sourced by measure.sh: the energy and the peak memory of an architecture, beside its times. Each is looked at while
# the model runs again, so that looking disturbs no timed run. What the board does not tell is said in
# results/quantities.txt.

# ---- Sensors of energy: RAPL's counters, or the rails of a Jetson's INA3221.
readable() { { IFS= read -r line <"$1"; } 2>/dev/null; } # FILE; its first line is in $line
energy='' energy_missing='' counters='' rails=''
find_rapl() {
  for zone in "$sys"/class/powercap/intel-rapl:*; do
    readable "$zone/name" || continue
    case ${zone##*/}:$line in # of the zones inside a package, its memory is not part of what the package says
      intel-rapl:*:*:dram | intel-rapl:[0-9]:package* | intel-rapl:[0-9][0-9]:package*) name=$line ;;
      *) continue ;;
    esac
    if readable "$zone/energy_uj"; then counters="$counters $zone" energy="${energy:+$energy, }$name"
    else energy_missing="$zone/energy_uj may not be read by this user"; fi
  done
  [ -z "$energy" ] || energy="RAPL: $energy"
}
add_rail() { # NAME SENSOR, which is the file of milliwatts, or CURRENT:VOLTAGE
  case $1 in
    '' | NC) return ;;
    VDD_IN | POM_5V_IN) whole="INA3221: $1" whole_rail=$2 ;;
  esac
  energy="${energy:+$energy, }$1" rails="$rails $2"
}
find_ina() {
  whole='' whole_rail=''
  for folder in "$sys"/bus/i2c/drivers/ina3221*/*/hwmon/hwmon*; do
    for n in 1 2 3; do
      readable "$folder/curr${n}_input" && readable "$folder/in${n}_input" && readable "$folder/in${n}_label" &&
        add_rail "$line" "$folder/curr${n}_input:$folder/in${n}_input"
    done
  done
  for folder in "$sys"/bus/i2c/drivers/ina3221*/*/iio:device*; do
    for n in 0 1 2; do
      readable "$folder/in_power${n}_input" && readable "$folder/rail_name_$n" &&
        add_rail "$line" "$folder/in_power${n}_input"
    done
  done
  if [ -n "$whole" ]; then energy=$whole rails=" $whole_rail"
  elif [ -n "$energy" ]; then energy="INA3221: $energy"; fi
}
if [ "$runner" = custom ] && case $command in *'{runs}'*) false ;; esac; then
  energy_missing='the command has no {runs}'
elif [ -n "$phone" ]; then energy_missing='energy is not read through adb'
else
  find_rapl
  [ -n "$energy" ] || find_ina
  [ -n "$energy$energy_missing" ] ||
    energy_missing="neither $sys/class/powercap/intel-rapl:0 nor a rail of an INA3221 below $sys/bus/i2c/drivers"
fi

read_counters() { # prints the microjoules of every counter
  for zone in $counters; do readable "$zone/energy_uj" && printf '%s ' "$line"; done
  echo
}
counter_ranges() {
  for zone in $counters; do if readable "$zone/max_energy_range_uj"; then printf '%s ' "$line"; else printf '0 '; fi; done
  echo
}
sample_power() { # prints seconds and milliwatts until it is stopped
  while readable "${TENSHOT_UPTIME:-/proc/uptime}"; do
    now=${line%% *} milliwatts=0
    for rail in $rails; do
      case ${rail#"$sys"} in
        *_input:/*) readable "${rail%%_input:*}_input" && milliamperes=$line
          readable "/${rail##*_input:/}" && milliwatts=$((milliwatts + milliamperes * line / 1000)) ;;
        *) readable "$rail" && milliwatts=$((milliwatts + line)) ;;
      esac
    done
    echo "$now $milliwatts"
    sleep 0.02 2>/dev/null || sleep 1
  done
}
energy_of() { # RUNS: sets millijoules to what running the model so often takes, starting included
  if [ -n "$counters" ]; then
    before=$(read_counters)
    infer "$1" 0 0 "$out/discarded.part" || return 1
    millijoules=$(printf '%s\n%s\n%s\n' "$before" "$(read_counters)" "$(counter_ranges)" | awk '
      { for (i = 1; i <= NF; ++i) value[NR, i] = $i; fields = NF }
      END {
        for (i = 1; i <= fields; ++i) total += value[2, i] - value[1, i] + (value[2, i] < value[1, i] ? value[3, i] : 0)
        printf "%.6f", total / 1000
      }')
  else
    sample_power >"$out/power.part" &
    sampler=$!
    infer "$1" 0 0 "$out/discarded.part"
    status=$?
    kill $sampler
    wait $sampler 2>/dev/null
    sampler=''
    [ $status = 0 ] || return 1
    millijoules=$(awk 'NF == 2 && n++ { total += ($2 + last) / 2 * ($1 - since) } { since = $1; last = $2 }
      END { printf "%.6f", total }' "$out/power.part")
  fi
}
# By two lengths, whose difference is free of what starting takes; two seconds apart at least.
measure_energy() { # sets energy_mj, or leaves it empty
  energy_mj=''
  few=5
  many=$(awk "BEGIN { n = int(2000 / $ms); print $few + (n < $runs ? $runs : n > 20000 ? 20000 : n) }")
  energy_of $few && less=$millijoules && energy_of "$many" || return
  energy_mj=$(awk "BEGIN { e = ($millijoules - $less) / ($many - $few); if (e > 0) printf \"%.6f\", e }")
}

# ---- Peak memory: VmHWM of the process that runs the model, less that of one whose model is empty.
memory_missing='' empty_kib=''
empty_file=empty.onnx
[ -z "$format" ] || empty_file=converted/empty.$format
[ -f "$empty_file" ] || memory_missing="the kit has no $empty_file"
[ -z "$phone" ] || memory_missing='memory is not read through adb'
readable /proc/self/status || memory_missing='this system has no /proc/PID/status'
descendants() { # PID: it and all that it started
  echo "$1"
  # shellcheck disable=SC2013 # numbers
  for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do descendants "$child"; done
}
watched() { # COMMAND…: runs it; sets peak_kib to the largest resident set of it and of what it started
  peak_kib=0
  "$@" &
  watched_pid=$!
  while kill -0 $watched_pid 2>/dev/null; do
    for pid in $(descendants $watched_pid); do
      kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status" 2>/dev/null)
      [ "${kib:-0}" -le "$peak_kib" ] || peak_kib=$kib
    done
    sleep 0.01 2>/dev/null || sleep 1
  done
  wait $watched_pid
  status=$? watched_pid=''
  return $status
}
# Enough runs for half a second, so that the peak is seen.
memory_runs() { awk "BEGIN { n = int(500 / $1) + 1; print(n > 2000 ? 2000 : n) }"; } # MILLISECONDS of one
peak_of_empty() { # sets empty_kib, or memory_missing
  (
    file=$empty_file engine=results/engines/empty.engine out=results/empty
    empty_shape=$(setting empty) && shape=${empty_shape:-$shape}
    case $file in converted/*) engine=$file ;; esac
    log=$out/log.txt
    mkdir -p "$out" && : >"$log"
    [ "$runner" != trtexec ] || build_engine >>"$log" 2>&1 || exit 1
    # Node collects the outputs of many runs late.
    watched infer "$([ "$runner" = node ] && echo 5 || echo 2000)" 0 0 "$out/discarded.part" >>"$log" 2>&1 || exit 1
    echo "$peak_kib" | save "$out/peak_kib.txt"
  )
  readable results/empty/peak_kib.txt && [ "$line" -gt 0 ] && empty_kib=$line ||
    memory_missing="the empty model did not run: $(tail -n 1 results/empty/log.txt 2>/dev/null)"
  rm -rf results/empty
}
measure_memory() { # sets memory_mib, or leaves it empty
  memory_mib=''
  [ -n "$empty_kib" ] || peak_of_empty
  [ -z "$memory_missing" ] || return
  watched infer "$(memory_runs "$ms")" 0 0 "$out/discarded.part" || return
  memory_mib=$(awk "BEGIN { m = ($peak_kib - $empty_kib) / 1024; if (m > 0) printf \"%.6f\", m }")
}

note_quantities() { # writes what is known of the sensors
  {
    if [ -z "$energy_missing" ]; then echo "energy=$energy"; else echo "energy_missing=$energy_missing"; fi
    if [ -n "$memory_missing" ]; then echo "memory_missing=$memory_missing"
    else echo 'memory=VmHWM'; [ -z "$empty_kib" ] || echo "empty_kib=$empty_kib"; fi
  } | save results/quantities.txt
}
has_energy() { # ID: or none is to be had; a sensor that only root may read is there in a later run, perhaps
  [ -n "$energy_missing" ] || ! grep -q "^$1	architecture	" "$list" || grep -q '^energy' "results/$1/meta.txt"
}
measure_quantities() { # of the architecture that was just timed; sets energy_line and memory_mib
  energy_line='' memory_mib=''
  [ "$kind" = architecture ] || return 0
  [ -n "$energy_missing" ] || { measure_energy >>"$log" 2>&1; energy_line=${energy_mj:+energy_mj=$energy_mj}; }
  if [ -z "$energy_missing$energy_line" ]; then
    energy_line=energy=failed
    printf 'no energy, see its log; '
  fi
  [ -n "$memory_missing" ] || measure_memory >>"$log" 2>&1
  rm -f "$out/discarded.part" "$out/power.part"
}
