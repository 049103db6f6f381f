#pragma once

#include "nasbench/graph/network.h"
#include "tests/fuzz/memory_file.h"

namespace tenshot::fuzz {

/// What every network that is read from a file holds, whatever its format is.
inline void require_sound(const nasbench::Network& network) {
  for (const nasbench::OperatorSpecification& operation : nasbench::operator_list(network)) {
    require(nasbench::multiply_adds(operation) >= 0, "an operator computes something or nothing");
  }
  require(nasbench::multiply_adds(network) >= 0, "the products of a network fit their type");
  require(nasbench::parameter_count(network) >= 0, "so do its parameters");
  require(nasbench::weight_bytes(network) >= 0, "so do the bytes of its weights");
  require(!nasbench::content_hash(network).empty(), "a network has a hash");
}

}  // namespace tenshot::fuzz
