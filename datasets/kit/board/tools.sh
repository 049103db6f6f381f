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
    function value_of(text,   mark, groups, parts, n, i) { # in whatever locale it was written; "" where that is unclear
      sub(/[.]$/, "", text)
      if (text !~ /,/ && text !~ /[.].*[.]/) return text
      mark = match(text, /[.,][^.,]*$/) ? substr(text, RSTART, 1) : ""
      groups = substr(text, 1, RSTART - 1)
      text = substr(text, RSTART + 1)
      if (groups !~ /[.,]/) return text ~ /^[0-9][0-9][0-9]$/ && groups !~ /^0+$/ ? "" : groups "." text # 1,234
      n = split(groups, parts, mark == "," ? "[.]" : ",")
      for (i = 1; i <= n; ++i) if (parts[i] !~ (i == 1 ? "^[0-9][0-9]?[0-9]?$" : "^[0-9][0-9][0-9]$")) return ""
      gsub(/[.,]/, "", groups)
      return groups "." text
    }
    function unit_after(text) { # the unit of time that it begins with, or ""
      if (!match(text, /^[ \t]*([num]|\302\265|\316\274|nano|micro|milli)?(s|sec|secs|second|seconds)([^A-Za-z.]|[.]?$|[.][^A-Za-z])/))
        return ""
      sub(/^[ \t]*/, "", text)
      return text ~ /^n/ ? "ns" : text ~ /^(u|micro|\302|\316)/ ? "us" : text ~ /^m/ ? "ms" : "s"
    }
    BEGIN {
      pattern = ENVIRON["TENSHOT_TIMES"]
      match(pattern, /%[{][a-z]+(\/runs)?[}]/)
      unit = substr(pattern, RSTART + 2, RLENGTH - 3)
      before = regular(substr(pattern, 1, RSTART - 1)) "[ \t]*"
      after = regular(substr(pattern, RSTART + RLENGTH))
      share = sub(/\/runs$/, "", unit) ? runs : 1
      factor = unit == "s" ? 1000 : unit == "us" ? 0.001 : unit == "ns" ? 0.000001 : 1
      # A locale may write 12,35 or 1.234,56; where a comma follows in the pattern it ends the number.
      digits = substr(pattern, RSTART + RLENGTH, 1) == "," ? "[0-9]+[.]?[0-9]*|[.][0-9]+" : "[0-9]+([.,][0-9]+)*[.]?|[.][0-9]+"
      number = "(" digits ")([eE][-+]?[0-9]+)?"
      colour = sprintf("%c", 27) "[[][0-9;]*m"
      gap = "([ \t_]|" sprintf("%c", 39) "|\302\240|\342\200\257|\342\200\231)" # what may stand between thousands
    }
    {
      gsub(/\r/, "")
      gsub(colour, "")
      line = $0
      while (match(line, before number after)) {
        found = substr(line, RSTART, RLENGTH)
        lead = substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + RLENGTH)
        match(found, "^" before)
        lead = lead substr(found, 1, RLENGTH)
        found = substr(found, RLENGTH + 1)
        match(found, "^" number)
        text = substr(found, 1, RLENGTH)
        tail = substr(found, RLENGTH + 1) line
        if (text ~ /^[0-9][0-9]?[0-9]?$/ && tail ~ ("^" gap "[0-9][0-9][0-9]([^0-9]|$)") || # 1 234,56
            text ~ /^[0-9][0-9][0-9]([^0-9]|$)/ && lead ~ ("[0-9]" gap "$")) {
          found = text tail
          match(found, "^([0-9.,]|" gap "[0-9])+")
          print "unclear " substr(found, 1, RLENGTH)
          exit
        }
        if ((value = value_of(text)) == "") { print "unclear " found; exit }
        if ((said = unit_after(tail)) != "" && said != unit) { print "other " text " " said; exit }
        printf "%.9g\n", value * factor / share
      }
    }'
}
whole_lines() { tr -d '\r' <"$1" | sed 's/^[[:blank:]]*//; s/[[:blank:]]*$//'; } # FILE: without blanks around them
numbers() { whole_lines "$1" | grep -E '^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$'; } # FILE: of one number alone
# From what the command printed, results/ID/times.txt; sets aggregated.
read_times() { # FILE
  aggregated=no unclear='' other=''
  if [ -z "$times_pattern" ]; then
    unclear=$(whole_lines "$1" | grep -E '^[0-9.]*[0-9],[0-9]+$' | head -n 1)
    [ -n "$unclear" ] || numbers "$1"
    return
  fi
  tool_times <"$1" >"$1.times"
  unclear=$(sed -n 's/^unclear //p' "$1.times") other=$(sed -n 's/^other //p' "$1.times")
  if [ -n "$unclear$other" ]; then :
  elif is_of_all_runs; then
    aggregated=yes
    tail -n 1 "$1.times"
  else
    [ "$runs" = 1 ] || [ "$(grep -c . "$1.times")" != 1 ] || aggregated=yes
    cat "$1.times"
  fi
  rm -f "$1.times"
}
no_times() {
  if [ -n "${unclear:-}" ]; then
    echo "the number \"$unclear\" can be read in two ways: let the command print decimal points, by LC_ALL=C"
  elif [ -n "${other:-}" ]; then echo "the command printed $other, and --times $times_pattern says another unit"
  elif [ -n "$times_pattern" ]; then echo "nothing that the command printed is like --times $times_pattern"
  else echo "custom gave no times: no line is a number of milliseconds (--times reads what else a tool prints)"
  fi
}

# ---- Shapes: $shape is 1x3x32x32, or of several inputs or another type int64:1x128,int64:1x128.
plain_shapes() { echo "$1" | tr ',' '\n' | sed 's/^[a-z0-9]*://'; } # SHAPES: one a line
require_extents() { # a command that asks for the height of what is no image cannot be filled
  case $command in *'{channels}'* | *'{height}'* | *'{width}'*) ;; *) return 0 ;; esac
  case $shape in
    *,* | *x*x*x*x*) ;;
    *x*x*x*) return 0 ;;
  esac
  why="the command has {channels}, {height} or {width}, and $id takes $shape, which is no image"
  return 1
}
# A tool that was not told an open dimension takes 1 for it. trtexec and benchmark_app say what they ran.
ran_as_asked() { # sets why and returns 1 where that is another shape than $shape
  said=$(sed -n 's/.*nput binding for .* with dimensions \([0-9x]*\).*/\1/p' "$out/said.part" | sort)
  [ "$runner" != custom ] || said=$(tr -d '\r' <"$out/raw.part" | awk '
    /Model inputs:/ { inside = 1; shapes = ""; next }
    /puts:|\[Step/ { inside = 0 }
    inside && match($0, /[[{][0-9,]+[]}] *$/) {
      shape = substr($0, RSTART + 1)
      gsub(/[]} ]/, "", shape)
      gsub(",", "x", shape)
      shapes = shapes shape "\n"
    }
    END { printf "%s", shapes }' | sort)
  [ -n "$said" ] && [ "$said" != "$(plain_shapes "$shape" | sort)" ] || return 0
  # A converter may have moved the channels to the end.
  [ "$runner" != custom ] || [ "$(elements "$said")" != "$(elements "$(plain_shapes "$shape")")" ] || return 0
  why="it ran with the input shape $(echo "$said" | tr '\n' ' ' | sed 's/ $//'), not $shape: the model leaves it open; write the kit anew"
  return 1
}
elements() { # SHAPES, one a line: how many numbers each holds
  echo "$1" | awk -F x '{ n = 1; for (i = 1; i <= NF; ++i) n *= $i; print n }' | sort -n
}

# ---- The command.
second_of() { # FILE: the other file of a model that has two
  case $1 in *.param | *.xml) echo "${1%.*}.bin" ;; esac
}
filled_command() { # RUNS FILE: the template with its braces filled; no value has a character that could do harm
  extents=$(plain_shapes "$shape" | head -n 1 | tr x ' ')
  # shellcheck disable=SC2086 # numbers
  set -- "$1" "$2" $extents
  printf '%s\n' "$command" | sed "s|{model}|$2|g; s|{stem}|${2%.*}|g; s|{runs}|$1|g; s|{threads}|$threads|g
    s|{shape}|$shape|g; s|{batch}|${3:-1}|g; s|{channels}|${4:-1}|g; s|{height}|${5:-1}|g; s|{width}|${6:-1}|g"
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
phone_state() { # board_state, clock or clock_fixed, of the phone
  on_phone "sh $remote/state.sh $1" | tr -d '\r'
}
