# Completion of `tenshot` for bash: verbs and options as the program's own help lists them, and files.
_tenshot() {
  local current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
  elif [ "${current#-}" != "$current" ]; then
    words=$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o filenames -F _tenshot tenshot
