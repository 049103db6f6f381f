#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_library.h"

namespace tenshot::trainer::operators {

/// 102 published CNNs on 68 settings of four phones (Li, Paolieri and Golubchik, EdgeSys 2024), as numbers.
struct MobileCnns {
  std::vector<std::string> devices;
  std::vector<std::string> networks;
  Eigen::MatrixXd features;    ///< raw, [networks, raw features]
  Eigen::MatrixXd latency_ms;  ///< [devices, networks]
};

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

/// The operator of a row `network,index,operation,input_size,input_channels,output_size,stride,kernel,filters,groups`.
inline nasbench::OperatorSpecification operator_of(const std::vector<std::string>& cells) {
  using nasbench::OperatorKind;
  static const std::map<std::string, OperatorKind> kinds = {{"conv_2d", OperatorKind::convolution},
                                                            {"conv_2d_group", OperatorKind::convolution},
                                                            {"depthwise_conv_2d", OperatorKind::convolution},
                                                            {"fully_connected", OperatorKind::linear},
                                                            {"average_pool_2d", OperatorKind::average_pool},
                                                            {"max_pool_2d", OperatorKind::max_pool},
                                                            {"mean", OperatorKind::reduce},
                                                            {"concatenation", OperatorKind::concatenate}};
  const auto number = [&](std::size_t column, std::int64_t otherwise) {
    return cells[column].empty() ? otherwise : static_cast<std::int64_t>(std::stod(cells[column]));
  };
  nasbench::OperatorSpecification op;
  op.kind = kinds.at(cells[2]);
  const std::int64_t channels = number(4, 1), size = number(3, 1);
  std::int64_t filters = number(8, channels), output = number(5, 1);
  if (cells[2] == "mean") output = 1;  // the column has the channels there
  if (cells[2] == "depthwise_conv_2d") filters = channels;
  op.groups = static_cast<int>(cells[2] == "depthwise_conv_2d" ? channels : number(9, 1));
  if (op.kind != OperatorKind::concatenate) {
    op.kernel = {static_cast<int>(number(7, 1)), static_cast<int>(number(7, 1))};
  }
  op.stride = {static_cast<int>(number(6, 1)), static_cast<int>(number(6, 1))};
  if (op.kind == OperatorKind::linear) {
    op.inputs = {{1, channels}};
    op.output = {1, filters};
  } else {
    op.inputs = {{1, channels, size, size}};
    op.output = {1, filters, output, output};
  }
  return op;
}

inline MobileCnns read_mobile_cnns(const std::filesystem::path& folder) {
  MobileCnns table;
  std::ifstream latencies(folder / "latency_ms.csv"), operators(folder / "operators.csv");
  std::string line;
  std::getline(latencies, line);
  table.devices = cells_of(line);
  table.devices.erase(table.devices.begin());
  std::vector<std::vector<double>> values;
  while (std::getline(latencies, line)) {
    const std::vector<std::string> cells = cells_of(line);
    table.networks.push_back(cells[0]);
    values.emplace_back();
    for (std::size_t c = 1; c < cells.size(); ++c) values.back().push_back(std::stod(cells[c]));
  }
  std::map<std::string, std::vector<nasbench::OperatorSpecification>> lists;
  std::getline(operators, line);
  while (std::getline(operators, line)) {
    const std::vector<std::string> cells = cells_of(line);
    lists[cells[0]].push_back(operator_of(cells));
  }
  const auto networks = static_cast<Eigen::Index>(table.networks.size());
  table.latency_ms.resize(static_cast<Eigen::Index>(table.devices.size()), networks);
  table.features.resize(networks, static_cast<Eigen::Index>(raw_feature_count()));
  for (Eigen::Index n = 0; n < networks; ++n) {
    const auto at = static_cast<std::size_t>(n);
    table.latency_ms.col(n) = Eigen::Map<const Eigen::VectorXd>(values[at].data(), table.latency_ms.rows());
    table.features.row(n) = raw_features(lists.at(table.networks[at])).head(table.features.cols());
  }
  return table;
}

/// The columns that any network has, each divided by its mean.
inline Eigen::MatrixXd in_units_of_mean(const Eigen::MatrixXd& features) {
  std::vector<Eigen::Index> columns;
  for (Eigen::Index f = 0; f < features.cols(); ++f) {
    if (features.col(f).maxCoeff() > 0) columns.push_back(f);
  }
  Eigen::MatrixXd scaled(features.rows(), static_cast<Eigen::Index>(columns.size()));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    scaled.col(static_cast<Eigen::Index>(c)) = features.col(columns[c]) / features.col(columns[c]).mean();
  }
  return scaled;
}

}  // namespace tenshot::trainer::operators
