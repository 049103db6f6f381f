#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::nasbench {

/// Multiply–adds of an opaque operator that multiplies by weights or tensors all the same, from its shapes: recurrent
/// layers (every step takes both matrices), convolutions of other than two dimensions, deformable ones and those whose
/// weights are computed, products with a constant on the left or of several matrices, packed weights, attention (the
/// scores and the sums over the values), mixtures of experts (of those that each token takes). 0 for all others.
std::int64_t opaque_multiply_adds(const OperatorSpecification& specification);

/// Whether its products are counted, or it is known to have none.
bool is_known_operator(const OperatorSpecification& specification);

/// A sentence that names the operators that are not known and have weights, or a name with a domain ("ncnn.Fancy"),
/// with the bytes of their weights; empty where there are none. Their products are counted as none, which is unlikely.
std::string remark_on_weights(const std::vector<OperatorSpecification>& operators);

}  // namespace tenshot::nasbench
