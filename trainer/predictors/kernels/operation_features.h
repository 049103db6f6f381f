#pragma once

#include <string>
#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::trainer::kernels {

/// Which operators share a latency predictor (Li, Paolieri and Golubchik, Performance Evaluation 165, 2024, Table 2):
/// "convolution", "depthwise_convolution", "grouped_convolution", "fully_connected", "mean", "concat_split", "pooling",
/// "padding", "elementwise"; "other" for what the table does not have, with the features of an element-wise operator.
std::string operation_category(const nasbench::OperatorSpecification& operation);

/// What the latency of an operator of that category depends on: heights, channels, window, and the sizes that say how
/// much is computed and moved. Sizes count elements; FLOPs are multiply-adds, of a pool the elements that it reads.
std::vector<std::string> feature_names(const std::string& category);

/// The features of an operator, in the order of feature_names(operation_category(operation)). A batch counts in sizes
/// and FLOPs.
std::vector<double> operation_features(const nasbench::OperatorSpecification& operation);

/// What the latency of any operator may depend on besides: all sizes whatever the category, how much is computed for
/// each element that is moved, the length of the products that are added up, and by how much channels and rows must be
/// filled up to whole vectors of 16.
std::vector<std::string> detail_names();

/// The details of an operator, in the order of detail_names().
std::vector<double> operation_details(const nasbench::OperatorSpecification& operation);

}  // namespace tenshot::trainer::kernels
