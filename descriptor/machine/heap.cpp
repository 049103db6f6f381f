#include "descriptor/machine/heap.h"

#ifdef __GLIBC__
#include <malloc.h>

#include <climits>
#endif

namespace tenshot::descriptor {
namespace {

bool& kept() {
  static bool value = false;
  return value;
}

}  // namespace

std::string heap_policy() { return kept() ? "kept" : "given back"; }

std::string keep_heap() {
#ifdef __GLIBC__
  constexpr int largest_threshold = 32 << 20;  // bytes; above, glibc takes no value on 64 bits
  constexpr int padding = 64 << 20;            // bytes by which the heap grows at a time
  kept() = mallopt(M_MMAP_THRESHOLD, largest_threshold) == 1 && mallopt(M_TRIM_THRESHOLD, INT_MAX) == 1 &&
           mallopt(M_TOP_PAD, padding) == 1;
#endif
  return heap_policy();
}

}  // namespace tenshot::descriptor
