#pragma once

#include <dnnl.hpp>
#include <vector>

#include "nasbench/support/elapsed.h"
#include "nasbench/support/median.h"

namespace tenshot::descriptor {

/// Median time of several calls, milliseconds.
template <class Work>
double median_ms(int repetitions, const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(time_ms(work));
  return median(std::move(times));
}

/// While it lives oneDNN makes every primitive anew, as the first layer of a shape has to.
class WithoutPrimitiveCache {
 public:
  WithoutPrimitiveCache() : capacity_(dnnl::get_primitive_cache_capacity()) { dnnl::set_primitive_cache_capacity(0); }
  ~WithoutPrimitiveCache() { dnnl::set_primitive_cache_capacity(capacity_); }
  WithoutPrimitiveCache(const WithoutPrimitiveCache&) = delete;
  WithoutPrimitiveCache& operator=(const WithoutPrimitiveCache&) = delete;

 private:
  int capacity_;
};

/// What the first uses of the library in a process cost more than later ones.
struct FirstUses {
  double primitive_ms = 0;       ///< extra cost of the first primitive of all
  double matrix_product_ms = 0;  ///< extra cost of the first that a matrix product computes, whose code is shared
};

/// Measured in several child processes, which have not used the library yet; the least of them, since what disturbs
/// only adds. Zeros where there can be no child.
FirstUses first_uses();

}  // namespace tenshot::descriptor
