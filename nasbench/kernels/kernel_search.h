#pragma once

#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/kernels/fusion_rules.h"

namespace tenshot::nasbench {

/// What a runtime executes as one unit: one operator, or several that are fused.
struct Kernel {
  std::vector<int> nodes;  ///< of the network, in the order of execution; the first one gives the kernel its type
  std::string name;        ///< the operators' most particular types: "convolution++batch_norm++relu"; where the rules
                           ///< choose a kernel, that instead of the first of them: "winograd++batch_norm++relu"
};

/// The kernels of a network under the rules of a runtime (Zhang et al., MobiSys 2021, Algorithm 1), in an order of
/// execution. Operators are visited in the order of execution instead of depth first, so that what precedes an operator
/// is a kernel already when it is decided whether the operator joins it. Two operators never fuse where the kernels
/// would then wait for each other (§4.1).
std::vector<Kernel> find_kernels(const Network& network, const FusionRules& rules);

/// The name of a kernel of these nodes, whatever kernel is chosen.
std::string kernel_name(const Network& network, const std::vector<int>& nodes);
/// The name of a kernel that begins with that operator, the chosen kernel in its place.
std::string with_chosen_kernel(const FusionRules& rules, const std::string& name, const OperatorSpecification& first);

}  // namespace tenshot::nasbench
