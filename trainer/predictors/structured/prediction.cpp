#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {
namespace {

using nasbench::StructureTable;

/// Contribution of all components of one structure to one row: Σ weight · (log latency, its square + variance).
struct Moments {
  double mean = 0;
  double square = 0;
};

std::vector<bool> rows_asked_for(const StructureTable::Column& column) {
  std::vector<bool> asked(column.rows, false);
  for (const std::uint32_t row : column.row_of) asked[row] = true;
  return asked;
}

void add_component(const Component& component, const StructureTable::Column& column, const std::vector<bool>& asked,
                   double floor_ms, std::vector<Moments>& moments) {
  const Eigen::Index width = component.costs_ms.size();
  for (std::size_t r = 0; r < column.rows; ++r) {
    if (!asked[r]) continue;
    const double* rows = column.features->data() + r * column.alternatives * static_cast<std::size_t>(width);
    const double* row = slowest_row(rows, column.alternatives, component.path_costs_ms);
    const Eigen::Map<const Eigen::VectorXd> features(row, width);
    const double latency = std::max(features.dot(component.costs_ms), floor_ms);
    const double log_latency = std::log(latency);
    const double variance = features.dot(component.covariance_ms2 * features) / (latency * latency);
    moments[r].mean += component.weight * log_latency;
    moments[r].square += component.weight * (log_latency * log_latency + variance);
  }
}

/// exp(−d / scale) for every Hamming distance d of signatures.
std::vector<double> likeness_by_distance(std::size_t words, double scale) {
  std::vector<double> table(64 * words + 1);
  for (std::size_t d = 0; d < table.size(); ++d) table[d] = std::exp(-static_cast<double>(d) / scale);
  return table;
}

/// What the residual process says of architectures: its mean, and the variance that is left of it.
class ResidualProcess {
 public:
  ResidualProcess(const StructuredPosterior& posterior, const StructureTable& table)
      : posterior_(posterior),
        table_(table),
        likeness_(likeness_by_distance(table.signature_words, posterior.model->signature_scale())),
        near_(posterior.residual_weights.size()) {}

  /// add(architecture, mean, variance) for every architecture of the table.
  template <class Add>
  void visit(const Add& add) {
    if (near_.size() <= few) {
      for (std::size_t a = 0; a < table_.size; ++a) {
        find_near(a);
        const double mean = near_.dot(posterior_.residual_weights);
        add(a, mean, posterior_.residual_variance - near_.dot(posterior_.residual_reduction * near_));
      }
      return;
    }
    Eigen::MatrixXd block = Eigen::MatrixXd::Zero(near_.size(), block_size);  // always whole: none depends on company
    std::vector<double> mean(block_size);
    for (std::size_t begin = 0; begin < table_.size; begin += block_size) {
      const std::size_t end = std::min(table_.size, begin + block_size);
      for (std::size_t a = begin; a < end; ++a) {
        find_near(a);
        mean[a - begin] = near_.dot(posterior_.residual_weights);
        block.col(static_cast<Eigen::Index>(a - begin)) = near_;
      }
      const Eigen::MatrixXd reduced = posterior_.residual_reduction * block;
      for (std::size_t a = begin; a < end; ++a) {
        const auto column = static_cast<Eigen::Index>(a - begin);
        double reduction = 0;
        for (Eigen::Index i = 0; i < near_.size(); ++i) reduction += block(i, column) * reduced(i, column);
        add(a, mean[a - begin], posterior_.residual_variance - reduction);
      }
    }
  }

 private:
  static constexpr Eigen::Index few = 40;  ///< anchors up to which one architecture at a time is as fast
  static constexpr std::size_t block_size = 64;

  void find_near(std::size_t architecture) {
    const std::size_t words = table_.signature_words;
    for (Eigen::Index i = 0; i < near_.size(); ++i) {
      near_[i] = likeness_[hamming(table_.signature(architecture), posterior_.anchors.data() + i * words, words)];
    }
  }

  const StructuredPosterior& posterior_;
  const StructureTable& table_;
  std::vector<double> likeness_;
  Eigen::VectorXd near_;
};

}  // namespace

LogLatency predict(const StructuredPosterior& posterior, const StructureTable& table) {
  std::vector<Moments> sum(table.size);
  double noise_variance = 0;
  for (std::size_t s = 0; s < table.structures.size(); ++s) {
    const StructureTable::Column& column = table.structures[s];
    std::vector<Moments> moments;
    std::vector<bool> asked;
    for (const Component& component : posterior.components) {
      if (component.structure != s) continue;
      if (moments.empty()) {
        moments.resize(column.rows);
        asked = rows_asked_for(column);
      }
      add_component(component, column, asked, posterior.floor_ms, moments);
      noise_variance += component.weight * component.noise * component.noise;
    }
    if (moments.empty()) continue;
    for (std::size_t a = 0; a < table.size; ++a) {
      sum[a].mean += moments[column.row_of[a]].mean;
      sum[a].square += moments[column.row_of[a]].square;
    }
  }

  LogLatency result;
  result.mean.resize(table.size);
  result.deviation.resize(table.size);
  ResidualProcess(posterior, table).visit([&](std::size_t a, double residual_mean, double residual_variance) {
    result.mean[a] = sum[a].mean + residual_mean;
    const double spread = std::max(sum[a].square - sum[a].mean * sum[a].mean, 0.0);
    result.deviation[a] = std::sqrt(spread + noise_variance + std::max(residual_variance, 0.0));
  });
  return result;
}

Predictions predict_intervals(const StructuredPosterior& posterior, const StructureTable& table, double confidence) {
  return predictions_of(predict(posterior, table), posterior.calibration, confidence);
}

}  // namespace tenshot::trainer::structured
