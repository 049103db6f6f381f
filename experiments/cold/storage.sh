# shellcheck shell=bash disable=SC2154 # sourced after experiments/set_up.sh, which sets $build
# A storage of a known speed for cold starts that repeat: throttled_storage.cpp, served from the first core.
#
#   mount_storage FOLDER RATE     mounts it (FOLDER is made, and empty), in place of the one that is mounted there
#   unmount_storage FOLDER

memory_of() { echo "/dev/shm/tenshot-$(cksum <<<"$1" | cut -d ' ' -f 1)"; }

unmount_storage() {
  ! mountpoint -q "$1" || fusermount3 -u "$1"
  rm -rf "$(memory_of "$1")"
}

mount_storage() {
  unmount_storage "$1"
  local promptly="" memory
  memory=$(memory_of "$1")
  if chrt -f 20 true 2>/dev/null; then promptly="chrt -f 20"; fi
  mkdir -p "$1" "$memory"
  # shellcheck disable=SC2086 # a list of words
  setsid $promptly taskset -c 0 "$build/experiments/throttled_storage" --rate "$2" "$memory" "$1" &
  until mountpoint -q "$1"; do sleep .1; done
}
