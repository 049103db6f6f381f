#!/usr/bin/env bash
# Kinds of networks that nobody measured, many of them far smaller or larger than all that was measured: each runtime of
# datasets/data/sizes left out with all its settings, and a quarter of the kinds with it, predicted from ten. Keeps
# experiments/networks/sizes. An interrupted run goes on. Twenty minutes.
#
#   experiments/networks/sizes.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
exec experiments/shared/predicted_page.sh sizes
