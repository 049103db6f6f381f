#pragma once

#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::datasets {

/// The operators, with a `pad` before each convolution or pool whose input is of the size of no image before it but a
/// little larger than one: by no more than its window takes away again. A runtime writes such an image before it reads
/// it, and tables of operators do not list that (TensorFlow Lite's PAD in those of Li, Paolieri and Golubchik, EdgeSys
/// 2024). The first operator's input is taken as the network's.
std::vector<nasbench::OperatorSpecification> with_padding(std::vector<nasbench::OperatorSpecification> operators);

}  // namespace tenshot::datasets
