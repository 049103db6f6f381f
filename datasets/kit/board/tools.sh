# shellcheck shell=sh disable=SC2154,SC2034
# Sourced by measure.sh: the command of --backend custom, what it prints (--times), and phones (--adb).

# ---- --times PATTERN: text with one %{ns}, %{us}, %{ms} or %{s} where the number stands; %{ms/runs} is the sum of all
# runs. Blanks stand for any number of blanks.
require_pattern() {
  left=${times_pattern#*'%{'}
  case $left in
    "$times_pattern" | *'%{'*) ;;
    ns'}'* | us'}'* | ms'}'* | s'}'* | ns/runs'}'* | us/runs'}'* | ms/runs'}'* | s/runs'}'*) return ;;
  esac
  wrong "--times $times_pattern has no number with its unit: one of %{ns}, %{us}, %{ms}, %{s}, as in 'avg=%{us}'"
}
# Whether the pattern is of a number that stands for all runs: only the last one that is printed counts then.
is_of_all_runs() {
  case $times_pattern in
    *[Aa][Vv][Gg]* | *[Aa][Vv][Ee][Rr][Aa][Gg][Ee]* | *[Mm][Ee][Aa][Nn]* | *[Mm][Ee][Dd][Ii][Aa][Nn]* | */runs'}'*) ;;
    *) return 1 ;;
  esac
}
tool_times() { # prints the milliseconds in what is read, one a line
  TENSHOT_TIMES=$times_pattern awk -v runs="$runs" '
    function regular(text,   i, c, made) { # matches the text itself
      for (i = 1; i <= length(text); ++i) {
        c = substr(text, i, 1)
        if (c ~ /[ \t]/) { if (made !~ /[+]$/ || substr(text, i - 1, 1) !~ /[ \t]/) made = made "[ \t]+" }
        else if (c == "^" || c == "\\") made = made "\\" c
        else if (index("[].$*+?(){}|", c)) made = made "[" c "]"
        else made = made c
      }
      return made
    }
    BEGIN {
      pattern = ENVIRON["TENSHOT_TIMES"]
      match(pattern, /%[{][a-z]+(\/runs)?[}]/)
      unit = substr(pattern, RSTART + 2, RLENGTH - 3)
      before = regular(substr(pattern, 1, RSTART - 1)) "[ \t]*"
      after = regular(substr(pattern, RSTART + RLENGTH))
      share = sub(/\/runs$/, "", unit) ? runs : 1
      factor = unit == "s" ? 1000 : unit == "us" ? 0.001 : unit == "ns" ? 0.000001 : 1
      number = "([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?"
      colour = sprintf("%c", 27) "[[][0-9;]*m"
    }
    {
      gsub(/\r/, "")
      gsub(colour, "")
      line = $0
      while (match(line, before number after)) {
        found = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        sub("^" before, "", found)
        match(found, "^" number)
        printf "%.9g\n", substr(found, 1, RLENGTH) * factor / share
      }
    }'
}
# From what the command printed, results/ID/times.txt; sets aggregated.
read_times() { # FILE
  aggregated=no
  if [ -z "$times_pattern" ]; then
    tr -d ' \t\r' <"$1" | grep -E '^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$'
    return
  fi
  tool_times <"$1" >"$1.times"
  if is_of_all_runs; then
    aggregated=yes
    tail -n 1 "$1.times"
  else
    [ "$runs" = 1 ] || [ "$(grep -c . "$1.times")" != 1 ] || aggregated=yes
    cat "$1.times"
  fi
  rm -f "$1.times"
}
no_times() {
  if [ -n "$times_pattern" ]; then echo "nothing that the command printed is like --times $times_pattern"
  else echo "custom gave no times: no line is a number of milliseconds (--times reads what else a tool prints)"
  fi
}

# ---- The command.
second_of() { # FILE: the other file of a model that has two
  case $1 in *.param | *.xml) echo "${1%.*}.bin" ;; esac
}
filled_command() { # RUNS FILE: the template with its braces filled; no value has a character that could do harm
  extents=$(echo "$shape" | tr x ' ')
  # shellcheck disable=SC2086 # four numbers
  set -- "$1" "$2" $extents
  printf '%s\n' "$command" | sed "s|{model}|$2|g; s|{stem}|${2%.*}|g; s|{runs}|$1|g; s|{threads}|$threads|g
    s|{batch}|${3:-1}|g; s|{channels}|${4:-1}|g; s|{height}|${5:-1}|g; s|{width}|${6:-1}|g"
}
run_command() { # RUNS OUT
  if [ -n "$phone" ]; then
    # shellcheck disable=SC2086 # two words, or none
    printf '+ adb shell, in %s: %s\n' "$remote" "$(filled_command "$1" "${file##*/}")" >&2
    on_phone "cd $remote && exec 2>&1
      $(filled_command "$1" "${file##*/}")" >"$2"
  elif [ -n "$times_pattern" ]; then # tools print their statistics on either stream
    run sh -c "exec 2>&1
      $(filled_command "$1" "$file")" >"$2"
  else run sh -c "$(filled_command "$1" "$file")" >"$2"
  fi
}

# ---- Phones: this script stays on the workstation, a model is pushed, measured and removed.
remote=/data/local/tmp/tenshot
# shellcheck disable=SC2086 # $serial is two words, or none
on_phone() { adb $serial shell "$1"; }
find_phone() {
  has adb || die "adb is not on the PATH: install Android's platform tools (Debian: apt install adb)"
  # shellcheck disable=SC2086
  state=$(adb $serial get-state 2>&1) || die "adb reaches no phone: $state; see adb devices, and --adb SERIAL"
  if ! on_phone "mkdir -p $remote" || ! push state.sh; then die "Cannot write to $remote on the phone"; fi
}
push() { # FILE…
  # shellcheck disable=SC2086
  adb $serial push "$@" "$remote/" >/dev/null
}
push_model() { # shellcheck disable=SC2046 # one or two plain names
  push "$file" $(second_of "$file")
}
remove_model() { on_phone "cd $remote && rm -f ${file##*/} $(second_of "${file##*/}")"; }
phone_state() { # board_state or clock, of the phone
  on_phone "sh $remote/state.sh $1" | tr -d '\r'
}
