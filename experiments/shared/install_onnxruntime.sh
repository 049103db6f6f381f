#!/usr/bin/env bash
# Puts the npm package onnxruntime-node, which carries ONNX Runtime's library, into FOLDER/node_modules; its install
# script, which fetches GPU libraries, is skipped. Exit code 77, and the reason, where that cannot be done.
#
#   experiments/shared/install_onnxruntime.sh FOLDER
set -euo pipefail
version=1.30.0
folder=${1:?"say where: experiments/shared/install_onnxruntime.sh FOLDER"}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cannot() {
  echo "No ONNX Runtime: $*" >&2
  exit 77
}
works() { (cd "$folder" && node -e 'require("onnxruntime-node")') >"$folder/npm.log" 2>&1; }
command -v node >/dev/null || cannot "node is not installed (Debian: nodejs)"
works && exit 0
command -v npm >/dev/null || cannot "npm is not installed (Debian: npm)"
echo "Installing onnxruntime-node $version by npm into $folder" >&2
npm install --prefix "$folder" --ignore-scripts --no-save --no-audit --no-fund "onnxruntime-node@$version" \
  >"$folder/npm.log" 2>&1 || cannot "npm could not install onnxruntime-node $version: $(tail -n 1 "$folder/npm.log")"
works || cannot "onnxruntime-node $version does not load: $(grep -m 1 Error "$folder/npm.log")"
