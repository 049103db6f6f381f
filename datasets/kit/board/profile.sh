# shellcheck shell=sh disable=SC2154,SC2034
# Sourced by measure.sh --profile: what each layer of an architecture takes, as the runtime's own profiler tells, in runs
# of their own after the timed ones. results/ID/profile.json or profile.txt is what it wrote; a profile that fails costs
# nothing but itself.
profile_runs=20 profile_missing=''
case $runner in
  trtexec) case $help in *--exportProfile*) ;; *) profile_missing="this trtexec has no --exportProfile" ;; esac ;;
  custom) [ -n "$profile_command" ] || profile_missing='the command tells no layers: give --profile-command' ;;
esac
[ -z "$profile_missing" ] || warn "No profiles: $profile_missing"
forget_failed profile
has_profile() { # ID: or none is to be had
  [ -n "$profile_missing" ] || ! grep -q "^$1	architecture	" "$list" || grep -q '^profile=' "results/$1/meta.txt"
}
profiled_command() { # sets what the command printed, or wrote to {profile}
  hot_command=$command written=$out/written.part
  [ -z "$phone" ] || { push_model; written=written.part; on_phone "rm -f $remote/$written"; }
  command=$(printf '%s' "$profile_command" | sed "s|{profile}|$written|g")
  # Tools print their tables on either stream.
  if [ -n "$phone" ]; then
    run_command $profile_runs "$out/said.part" && tr -d '\r' <"$out/said.part" >"$out/profile.part" &&
      on_phone "cat $remote/$written 2>/dev/null; rm -f $remote/$written" | tr -d '\r' >"$out/written.part"
  else run sh -c "exec 2>&1
    $(filled_command $profile_runs "$file")" >"$out/profile.part"
  fi
  status=$? command=$hot_command
  [ -z "$phone" ] || remove_model
  [ ! -s "$out/written.part" ] || mv -f "$out/written.part" "$out/profile.part"
  return $status
}
profile_model() {
  case $runner in
    trtexec)
      run "$trtexec" --loadEngine="$engine" --iterations=$profile_runs --warmUp="$warmup_ms" --duration=0 \
        --separateProfileRun --exportProfile="$out/profile.part" ;;
    perf_test)
      case $optimization in extended) graph=2 ;; basic) graph=1 ;; disabled) graph=0 ;; *) graph=99 ;; esac
      run onnxruntime_perf_test -I -S 1 -e cpu -m times -r $profile_runs -x "$threads" -y 1 -o $graph \
        -p "$out/ort.part" "$file" "$out/discarded.part" && mv -f "$out"/ort.part* "$out/profile.part" ;;
    python | node) TENSHOT_PROFILE=$out/profile.part infer $profile_runs 1 0 "$out/discarded.part" ;;
    custom) profiled_command ;;
  esac
}
measure_profile() { # of the architecture that was just timed; sets profile_line
  profile_line=''
  [ "$kind" = architecture ] && [ -z "$profile_missing" ] || return 0
  if profile_model >>"$log" 2>&1 &&
    grep -q -e 'Run Order' -e 'layerName;' -e '^[[:space:]]*[[{]' "$out/profile.part"; then
    case $runner in custom) profile_file=profile.txt ;; *) profile_file=profile.json ;; esac
    mv -f "$out/profile.part" "$out/$profile_file"
    profile_line=profile=$profile_file
  else
    profile_line=profile=failed
    printf 'no profile, see its log; '
  fi
}
