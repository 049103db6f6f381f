#include "trainer/predictors/structured/prediction.h"

namespace tenshot::trainer::structured {
namespace {

using Eigen::Index;

/// What the encoding says of each combination of the options of decisions `begin` to `end`: the last is the fastest.
FormulaValue combinations(const FormulaValue& encoding, const std::vector<int>& decisions, std::size_t begin,
                          std::size_t end) {
  Index column = 0;
  std::optional<FormulaValue> found;
  for (std::size_t d = 0; d < end; column += decisions[d++]) {
    if (d < begin) continue;
    const FormulaValue options = encoding.columns(column, decisions[d]);
    found = found ? outer(*found, options) : options;
  }
  return *found;
}

}  // namespace

ExportedFormula formula_of(const StructuredPosterior& posterior) {
  const nasbench::SearchSpace& space = posterior.model->space();
  const LogLatency all = predict(posterior, posterior.model->table(space.all()));
  ExportedFormula exported;
  exported.formula.width = static_cast<std::int64_t>(space.encoding_width());
  const FormulaValue encoding = encoding_of(exported.formula);
  // The table of all architectures as a matrix between the first decisions and the others.
  const std::size_t decisions = space.decisions().size(), half = decisions / 2;
  const FormulaValue first = combinations(encoding, space.decisions(), 0, half),
                     others = combinations(encoding, space.decisions(), half, decisions);
  const auto expected = [&](const Eigen::VectorXd& table) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return sum(dot(first, Eigen::Map<const RowMajor>(table.data(), first.columns(), others.columns())) * others).name();
  };
  exported.latency = expected(all.mean.array().exp());
  exported.deviation = expected(all.deviation);
  exported.quantile = [calibration = posterior.calibration](double p) { return error_quantile(calibration, p); };
  return exported;
}

}  // namespace tenshot::trainer::structured
