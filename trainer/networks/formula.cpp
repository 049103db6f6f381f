#include "trainer/networks/formula.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace tenshot::trainer {
namespace {

using Eigen::Index;

std::string next_constant(const Formula& formula) { return "c" + std::to_string(formula.constants.size()); }

}  // namespace

FormulaValue FormulaValue::number(double value) const {
  return constant(*formula_, Eigen::MatrixXd::Constant(1, 1, value));
}

FormulaValue FormulaValue::columns(Index begin, Index count) const {
  std::vector<std::int64_t> which(static_cast<std::size_t>(count));
  std::iota(which.begin(), which.end(), begin);
  return columns(which);
}

FormulaValue FormulaValue::columns(const std::vector<std::int64_t>& which) const {
  return apply("Gather", {*this, list(*formula_, {which.begin(), which.end()}, true)},
               static_cast<Index>(which.size()));
}

FormulaValue encoding_of(Formula& formula) { return {formula, "encoding", formula.width}; }

FormulaValue constant(Formula& formula, const Eigen::MatrixXd& values) {
  Formula::Constant added{next_constant(formula), values.rows(), values.cols(), {}, false};
  for (Index r = 0; r < values.rows(); ++r) {
    for (Index c = 0; c < values.cols(); ++c) added.values.push_back(values(r, c));
  }
  formula.constants.push_back(std::move(added));
  return {formula, formula.constants.back().name, values.cols()};
}

FormulaValue list(Formula& formula, std::vector<double> values, bool whole, const std::string& name) {
  const auto count = static_cast<Index>(values.size());
  formula.constants.push_back({name.empty() ? next_constant(formula) : name, 0, count, std::move(values), whole});
  return {formula, formula.constants.back().name, count};
}

FormulaValue apply(const std::string& operation, const std::vector<FormulaValue>& operands, Index columns) {
  Formula& formula = operands.front().formula();
  Formula::Step step{operation, {}, "v" + std::to_string(formula.steps.size())};
  Index most = columns;
  for (const FormulaValue& operand : operands) {
    step.operands.push_back(operand.name());
    if (columns == 0) most = std::max(most, operand.columns());
  }
  formula.steps.push_back(std::move(step));
  return {formula, formula.steps.back().result, most};
}

FormulaValue dot(const FormulaValue& a, const Eigen::MatrixXd& matrix) {
  return apply("MatMul", {a, constant(a.formula(), matrix)}, matrix.cols());
}

FormulaValue joined(const std::vector<FormulaValue>& parts) {
  Index columns = 0;
  for (const FormulaValue& part : parts) columns += part.columns();
  return parts.size() == 1 ? parts.front() : apply("Concat", parts, columns);
}

FormulaValue outer(const FormulaValue& a, const FormulaValue& b) {
  std::vector<std::int64_t> of_a, of_b;
  for (Index i = 0; i < a.columns() * b.columns(); ++i) {
    of_a.push_back(i / b.columns());
    of_b.push_back(i % b.columns());
  }
  return a.columns(of_a) * b.columns(of_b);
}

nlohmann::json values_of(const Eigen::VectorXd& vector) {
  return std::vector<double>(vector.data(), vector.data() + vector.size());
}

nlohmann::json rows_of(const Eigen::MatrixXd& matrix) {
  nlohmann::json rows = nlohmann::json::array();
  for (Index r = 0; r < matrix.rows(); ++r) rows.push_back(values_of(matrix.row(r)));
  return rows;
}

}  // namespace tenshot::trainer
