#include "trainer/predictors/linear/linear_peers.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "nasbench/structures/structures.h"
#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/nnls.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/maple_edge/descriptor_features.h"

namespace tenshot::trainer {
namespace {

/// An exact line through the one-hot encoding: `base` of all first options, what others add to it, [encoding_width].
struct Linear {
  double base = 0;
  std::vector<double> added;
};

using Quantity = std::function<double(const Architecture&)>;

/// A quantity of architectures that is a sum over decisions, as a linear function of the encoding.
Linear linear(const SearchSpace& space, const Quantity& quantity) {
  const Architecture first = space.first();
  Linear result{quantity(first), {}};
  for (std::size_t d = 0; d < space.decisions().size(); ++d) {
    for (int option = 0; option < space.decisions()[d]; ++option) {
      Architecture other = first;
      other[d] = static_cast<std::uint8_t>(option);
      result.added.push_back(quantity(other) - result.base);
    }
  }
  return result;
}

/// `sum` and what each option of an architecture adds to it.
double with_options(double sum, const SearchSpace& space, const std::vector<double>& added, const Architecture& a) {
  std::size_t first = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    sum += added[first + a[d]];
    first += static_cast<std::size_t>(space.decisions()[d]);
  }
  return sum;
}

/// Whether a quantity is that linear function: what an option adds may depend on other decisions (the resolution).
bool adds_up(const SearchSpace& space, const Quantity& quantity, const Linear& line) {
  constexpr int architectures_tried = 16;
  constexpr double tolerance = 1e-9;
  Rng rng(1);
  for (int tried = 0; tried < architectures_tried; ++tried) {
    const Architecture architecture = space.random(rng);
    const double sum = with_options(line.base, space, line.added, architecture), truth = quantity(architecture);
    if (std::abs(sum - truth) > tolerance * std::max(std::abs(truth), std::abs(sum))) return false;
  }
  return true;
}

double mega_flops(const NetworkSpace& space, const Architecture& architecture) {
  return static_cast<double>(space.flop_count(architecture, space.default_shape())) * 1e-6;
}

/// What a network's operators read and write, for one image in fp32: their inputs, outputs and weights, each once.
double mega_bytes(const NetworkSpace& space, const Architecture& architecture) {
  double bytes = 0;
  for (const nasbench::NetworkNode& node : space.computation(architecture, space.default_shape(), 1).nodes) {
    const nasbench::OperatorSpecification& op = node.operation;
    if (op.kind == nasbench::OperatorKind::reshape) continue;  // which moves nothing
    bytes += static_cast<double>(read_bytes(op, nasbench::input_bytes(op)) + nasbench::output_bytes(op) +
                                 read_bytes(op, nasbench::weight_bytes(op)));
  }
  return bytes * 1e-6;
}

/// A latency as a sum of quantities times coefficients, and its card's account of them.
struct Fit {
  Quantity latency_ms;
  nlohmann::json account;
};

/// Quantities of architectures, by the names that their coefficients have in the account.
using Terms = std::vector<std::pair<const char*, double (*)(const NetworkSpace&, const Architecture&)>>;

/// base + Σ coefficient · quantity.
Fit fit_line(const SearchSpace& space, const AdaptationSet& set, const Terms& terms) {
  const auto rows = static_cast<Eigen::Index>(set.architectures.size());
  Eigen::MatrixXd values = Eigen::MatrixXd::Ones(rows, static_cast<Eigen::Index>(terms.size()) + 1);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (std::size_t t = 0; t < terms.size(); ++t) {
      values(i, static_cast<Eigen::Index>(t) + 1) =
          terms[t].second(space, set.architectures[static_cast<std::size_t>(i)]);
    }
  }
  const Eigen::VectorXd c =
      relative_non_negative_least_squares(values, Eigen::Map<const Eigen::VectorXd>(set.latency_ms.data(), rows));
  Fit fit{[&space, terms, c](const Architecture& a) {
            double sum_ms = c[0];
            for (std::size_t t = 0; t < terms.size(); ++t) sum_ms += c[t + 1] * terms[t].second(space, a);
            return sum_ms;
          },
          {{"base_ms", c[0]}}};
  for (std::size_t t = 0; t < terms.size(); ++t) fit.account[terms[t].first] = c[t + 1];
  return fit;
}

Fit fit_flops(const SearchSpace& space, const AdaptationSet& set) {
  return fit_line(space, set, {{"ms_per_mflop", mega_flops}});
}

Fit fit_flops_and_memory(const SearchSpace& space, const AdaptationSet& set) {
  return fit_line(space, set, {{"ms_per_mflop", mega_flops}, {"ms_per_megabyte", mega_bytes}});
}

/// The descriptor's latency of each of the space's operators, ms; 0 for one that the descriptor lacks.
std::vector<double> operator_latencies_ms(const SearchSpace& space, const datasets::HardwareDescriptor& descriptor) {
  std::vector<double> latencies_ms;
  for (const nasbench::Operator& op : space.operators(space.default_shape(), 1)) {
    const auto profile = std::find_if(
        descriptor.operators.begin(), descriptor.operators.end(),
        [&](const datasets::OperatorProfile& p) { return nasbench::same_at_any_resolution(p.key, op.key); });
    latencies_ms.push_back(profile == descriptor.operators.end() ? 0 : profile->latency_ms);
  }
  return latencies_ms;
}

Fit fit_look_up(const SearchSpace& space, const AdaptationSet& set) {
  if (set.descriptor && set.descriptor->has_latencies()) {
    const std::vector<double> operators_ms = operator_latencies_ms(space, *set.descriptor);
    const Quantity table = [&space, operators_ms](const Architecture& a) {
      const std::vector<double> occurrences = space.operator_occurrences(a);
      return std::inner_product(occurrences.begin(), occurrences.end(), operators_ms.begin(), 0.0);
    };
    // The backbone alone is free: least squares on the relative error, (y − table − b)/y, over b ≥ 0.
    double weighted = 0, weights = 0;
    for (std::size_t i = 0; i < set.architectures.size(); ++i) {
      const double weight = 1 / (set.latency_ms[i] * set.latency_ms[i]);
      weighted += weight * (set.latency_ms[i] - table(set.architectures[i]));
      weights += weight;
    }
    const double backbone_ms = std::max(weighted / weights, 0.0);
    return {[=](const Architecture& a) { return backbone_ms + table(a); },
            {{"backbone_ms", backbone_ms}, {"operators", set.descriptor->source}}};
  }
  const std::vector<double> costs_ms = inferred_costs_ms({set.architectures, set.latency_ms}, space);
  return {[&space, costs_ms](const Architecture& a) {
            const std::vector<double> counts = space.operation_counts(a);
            return std::inner_product(counts.begin(), counts.end(), costs_ms.begin() + 1, costs_ms[0]);
          },
          {{"costs_ms", costs_ms}, {"operators", "fitted to networks"}}};
}

constexpr std::size_t folds = 5;
constexpr std::array<double, 7> penalties = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
constexpr double penalty_of_few = 1e-2;
constexpr double tolerated_error = 0.1;

/// Least squares on the relative error over rows of x/y, as a function of the penalty. Column 0 is the base, which is
/// not penalised. Of the rows it keeps the sums of (x/y)(x/y)ᵀ and of x/y, which are all that it needs.
std::function<Eigen::VectorXd(double penalty)> ridge(const Eigen::MatrixXd& rows) {
  const Eigen::MatrixXd gram = rows.transpose() * rows;
  const Eigen::VectorXd right = rows.colwise().sum().transpose();
  return [gram, right, count = static_cast<double>(rows.rows())](double penalty) -> Eigen::VectorXd {
    Eigen::MatrixXd penalised = gram;
    penalised.diagonal().tail(gram.rows() - 1).array() += penalty * count;
    return penalised.ldlt().solve(right);
  };
}

/// One row per measurement: base and one-hot encoding, times median/latency.
Eigen::MatrixXd scaled_encodings(const SearchSpace& space, const AdaptationSet& set, double median_ms) {
  const std::size_t width = space.encoding_width();
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(set.architectures.size()), static_cast<Eigen::Index>(width) + 1);
  std::vector<float> encoding(width);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    space.encode(set.architectures[at], encoding.data());
    rows.row(i) << 1, Eigen::Map<const Eigen::RowVectorXf>(encoding.data(), rows.cols() - 1).cast<double>();
    rows.row(i) *= median_ms / set.latency_ms[at];
  }
  return rows;
}

double chosen_penalty(const Eigen::MatrixXd& rows) {
  if (rows.rows() < static_cast<Eigen::Index>(folds)) return penalty_of_few;
  std::array<std::size_t, penalties.size()> hits{};
  const auto count = static_cast<std::size_t>(rows.rows());
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const auto solve = ridge(rows(numbers_of_fold(count, fold, folds, false), Eigen::all));
    const Eigen::MatrixXd held_out = rows(numbers_of_fold(count, fold, folds, true), Eigen::all);
    for (std::size_t p = 0; p < penalties.size(); ++p) {
      const Eigen::ArrayXd relative_error = (held_out * solve(penalties[p])).array() - 1;
      hits[p] += static_cast<std::size_t>((relative_error.abs() <= tolerated_error).count());
    }
  }
  return penalties[static_cast<std::size_t>(std::max_element(hits.begin(), hits.end()) - hits.begin())];
}

/// Ridge regression on the one-hot encoding x by relative error: min Σ_i (1 − (m/y_i)·(b₀ + x_i·b))² + λ·n·‖b‖², with m
/// the median latency and b₀ free. λ is the one of seven, 10⁻⁷ to 10⁻¹, whose predictions of each fifth of the
/// measurements by the others are most often within ±10 %. With thousands of measurements it is the reference for what
/// an additive model can reach. Needs five for a choice of λ; with fewer it takes 10⁻².
Fit fit_options(const SearchSpace& space, const AdaptationSet& set) {
  const double median_ms = upper_median(set.latency_ms);
  const Eigen::MatrixXd rows = scaled_encodings(space, set, median_ms);
  const double penalty = chosen_penalty(rows);
  const Eigen::VectorXd costs = median_ms * ridge(rows)(penalty);
  const std::vector<double> cost_ms(costs.data() + 1, costs.data() + costs.size());
  return {
      [&space, base_ms = costs[0], cost_ms](const Architecture& a) { return with_options(base_ms, space, cost_ms, a); },
      {{"base_ms", costs[0]}, {"penalty", penalty}}};
}

Fit fit_constant(const SearchSpace&, const AdaptationSet& set) {
  const double constant_ms = best_constant_ms(set);
  return {[=](const Architecture&) { return constant_ms; }, {{"base_ms", constant_ms}}};
}

struct Peer {
  /// The line by decisions; nothing for a peer that is a line through operators in every space.
  Fit (*fit)(const SearchSpace& space, const AdaptationSet& set);
  /// The line through operators where decisions do not add up; nothing for a peer that has none.
  std::optional<LineTerms> terms;
};

const std::map<std::string, Peer> peers = {{"flops", {fit_flops, LineTerms::multiply_adds}},
                                           {"flops-memory", {fit_flops_and_memory, LineTerms::multiply_adds_and_bytes}},
                                           {"lasso", {nullptr, LineTerms::every_feature}},
                                           {"constant", {fit_constant, LineTerms::base}},
                                           {"look-up", {fit_look_up, std::nullopt}},
                                           {"additive", {fit_options, std::nullopt}}};

class LinearPeer : public PoolModel {
 public:
  LinearPeer(const std::string& name, datasets::Pool pool) : PoolModel(std::move(pool), name), peer_(peers.at(name)) {
    if (peer_.fit != nullptr || pool_.space == nullptr || !nasbench::has_structures(*pool_.space)) return;
    throw InputError("'" + name + "' is a line through operators, and " + std::string(pool_.space->name()) +
                     " does not say which its networks execute; take structured, look-up, flops or flops-memory");
  }

  std::string descriptor_kind() const override { return peer_.fit == fit_look_up ? "latency" : "inferred"; }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    require_measurements(set, kind());
    if (peer_.fit != nullptr && (!peer_.terms || pool_.space->search_space() != nullptr)) {
      const SearchSpace& space = nasbench::search_space(*pool_.space);
      const Fit fit = peer_.fit(space, set);
      const Linear latency_ms = linear(space, fit.latency_ms);
      if (!peer_.terms || adds_up(space, fit.latency_ms, latency_ms)) {
        DenseLayer layer{static_cast<int>(latency_ms.added.size()), 1, {}, {}};
        for (const double added : latency_ms.added) layer.weight.push_back(static_cast<float>(added));
        layer.bias.push_back(static_cast<float>(latency_ms.base));
        nlohmann::json card = predictor_card(*this, set, options.seed);
        card["line"] = fit.account;
        return feed_forward_predictor({{layer}, 1, smallest_prediction_ms(set)}, card);
      }
    }
    return fit_operator_line(*pool_.space, set, peer_.terms.value(), predictor_card(*this, set, options.seed));
  }

 private:
  const Peer& peer_;
};

}  // namespace

std::unique_ptr<PoolModel> make_linear_peer(const std::string& name, const datasets::Pool& pool) {
  return std::make_unique<LinearPeer>(name, pool);
}

}  // namespace tenshot::trainer
