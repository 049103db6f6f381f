# Completion of `tenshot` for bash: verbs, sub-verbs and options as the program's own help lists them, and files.
_tenshot() {
  local current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} words="" inner="" sub=""
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
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o filenames -F _tenshot tenshot
