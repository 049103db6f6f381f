#!/usr/bin/env bash
# Makes the manual pages of what `--help` says, one of the program and one of each verb: man.sh TENSHOT FOLDER. They are
# tenshot.1.gz, tenshot-predict.1.gz and so on.
set -euo pipefail
export LC_ALL=C.UTF-8
tenshot=$1 folder=$2
version=$("$tenshot" --version | sed -n '1s/^tenshot //p')
mkdir -p "$folder"
# page NAME SUMMARY: help on standard input.
page() {
  awk -v name="$1" -v summary="$2" -v version="$version" '
    function said(text) {
      gsub(/\\/, "\\e", text)
      gsub(/-/, "\\-", text)
      return text ~ /^[.'\'']/ ? "\\&" text : text
    }
    function head(text) { print ".TP\n.B " said(text) }
    BEGIN {
      printf ".TH %s 1 \"\" \"tenshot %s\" \"User Commands\"\n", toupper(name), version
      print ".SH NAME\n" said(name) " \\- " said(summary)
    }
    /^Usage:/ { sub(/^Usage: */, ""); print ".SH SYNOPSIS"; synopsis = 1; if ($0 != "") print said($0); next }
    /^Examples?:/ { print ".SH EXAMPLE\n.nf"; example = 1; next }
    example { print said($0); next }
    /^ ? ?$/ { next }
    /^ +-/ && match($0, /^ +(-[a-zA-Z](, )?)?(--[^ ]+)?( (arg|\[=arg[^ ]*\]))?/) {
      if (!options++) print ".SH OPTIONS"
      text = substr($0, RLENGTH + 1)
      option = substr($0, 1, RLENGTH)
      sub(/^ +/, "", option)
      sub(/^ +/, "", text)
      head(option)
      if (text != "") print said(text)
      next
    }
    match($0, /^  (<[^>]*>|[a-z]+): /) { head(substr($0, 3, RLENGTH - 4)); print said(substr($0, RLENGTH + 1)); next }
    match($0, /^  [a-z][a-z ]*(-[a-z]+)?  +[a-z]/) {
      if (!verbs++) print ".SH VERBS"
      text = substr($0, RLENGTH)
      verb = substr($0, 3, RLENGTH - 3)
      sub(/ +$/, "", verb)
      head(verb)
      print said(text)
      next
    }
    { if (!(lines++ || synopsis || options)) print ".SH DESCRIPTION"; sub(/^ +/, ""); print said($0) }
    END {
      if (example) print ".fi"
      print ".SH SEE ALSO\n" (name == "tenshot" ? ".B tenshot help\nVERB, or the pages of the verbs, such as\n.BR tenshot\\-predict (1)" : ".BR tenshot (1)")
    }' | gzip -9n >"$folder/$1.1.gz"
}
"$tenshot" --help | page tenshot "predict latencies of neural networks on a device from ten measurements"
"$tenshot" --help | sed -n '/^Example/q; s/^  \([a-z-]\{1,\}\)  \{1,\}\([a-z].*\)/\1 \2/p' | while read -r verb summary; do
  "$tenshot" "$verb" --help </dev/null | page "tenshot-$verb" "$summary"
done
