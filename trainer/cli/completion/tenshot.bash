# Completion of `tenshot` for bash: verbs, sub-verbs and options as the program's own help lists them, values, and files.

# _tenshot_values PROGRAM VERB OPTION: the values that an option of a verb takes; nothing where they are files or numbers.
_tenshot_values() {
  case "$2 $3" in
    *" --device" | *" --like") "$1" devices 2>/dev/null | sed -n 's/^\([^ :]*\): .*/\1/p' ;;
    *" --space") echo nasbench201 fbnet ofa networks ;;
    *" --quantity") echo latency cold energy memory ;;
    *" --sampler") echo information targeted-uniform random listed ;;
    "train --predictor") echo structured operators maple-edge maple-edge-plain maple flops flops-memory lasso constant \
      look-up additive transfer help forest ;;
    *" --descriptor-kind") echo auto in-network counters latency inferred ;;
    *" --mode") echo joint fine-tune set-encoder ;;
    "kernels --learner") echo forest small-forest boosted small-boosted lasso perceptron ;;
    "kernels --correction") echo factor composition overhead none ;;
    "kernels --gpu") echo adreno6xx adreno amd mali ;;
    *" --unit") echo s ms us ;;
    *" --runtime") "$1" collect --help 2>/dev/null | grep -oE '(libtorch|opencv)-[a-z0-9-]+' | sort -u ;;
    *" --counters") echo auto perf_event callgrind latency_only ;;
  esac
}

_tenshot() {
  local previous=${COMP_WORDS[COMP_CWORD - 1]} current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} words="" inner="" sub=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -gt 1 ]; then # Usage: tenshot dataset import|describe|validate|operators [options]
    inner=$("$program" "$verb" --help 2>/dev/null | sed -n '1s/^Usage: tenshot [a-z-]* \([a-z|]*|[a-z]*\) .*/\1/p')
    [ -z "$inner" ] || sub=${COMP_WORDS[2]}
  fi
  if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$verb" = help ]; }; then
    words=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$inner" ]; then
    words=${inner//|/ }
  elif [ "${current#-}" != "$current" ]; then
    words=$("$program" "$verb" ${sub:+"$sub"} --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)
  else
    mapfile -t COMPREPLY < <(compgen -W "$(_tenshot_values "$program" "$verb" "$previous")" -- "$current")
    [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o filenames -F _tenshot tenshot
