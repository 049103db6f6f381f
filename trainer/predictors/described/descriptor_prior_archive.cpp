#include "trainer/predictors/described/descriptor_prior_archive.h"

#include <vector>

#include "trainer/core/archive_reader.h"

namespace tenshot::trainer::structured {
namespace {

using Eigen::Index;

constexpr Index widest_layer = 65536;
constexpr Range deviation_of_log{0, 100};
constexpr Range weight_of_network{-100, 100};

}  // namespace

void put_descriptor_prior(Archive& archive, const DescriptorPrior& prior) {
  if (!prior.trained()) return;
  archive.card["descriptor"] = {{"source", name(prior.kind)},
                                {"counters", prior.counters},
                                {"from", prior.from},
                                {"hidden", prior.network.hidden.rows()},
                                {"inputs", prior.network.hidden.cols()},
                                {"scale_deviation", prior.scale_deviation},
                                {"residual", prior.residual}};
  std::vector<double> values;
  for (const Eigen::MatrixXd& matrix :
       {Eigen::MatrixXd(prior.input_mean), Eigen::MatrixXd(prior.input_unit), prior.network.hidden,
        Eigen::MatrixXd(prior.network.hidden_bias), prior.network.output, Eigen::MatrixXd(prior.network.output_bias),
        Eigen::MatrixXd(prior.mean_counts), Eigen::MatrixXd(prior.deviation)}) {
    for (Index r = 0; r < matrix.rows(); ++r) {
      for (Index c = 0; c < matrix.cols(); ++c) values.push_back(matrix(r, c));
    }
  }
  const auto count = static_cast<std::int64_t>(values.size());
  archive.put("descriptor", to_array(values, {count}));
}

DescriptorPrior get_descriptor_prior(const Archive& archive, const nasbench::StructureModel& model) {
  DescriptorPrior prior;
  if (!archive.has("descriptor")) return prior;
  const JsonField card = JsonField(archive).at("descriptor");
  constexpr std::size_t most_names = 100'000;
  prior.kind = described_kind(card.at("source").text());
  prior.counters = card.at("counters").texts(most_names);
  prior.from = card.at("from").texts(most_names);
  prior.scale_deviation = card.at("scale_deviation").number(deviation_of_log);
  prior.residual = card.at("residual").number(deviation_of_log);
  const auto features = static_cast<Index>(model.features().size());
  const Index hidden = card.at("hidden").whole_number(1, widest_layer);
  const Index inputs = card.at("inputs").whole_number(features, widest_layer);
  FieldSequence values(archive, "descriptor");
  prior.input_mean = values.vector("input_mean", inputs, {-1e3, 1e3});  // of logarithms
  prior.input_unit = values.vector("input_unit", inputs, {1e-3, 1e6});
  prior.network.hidden = values.matrix("network.hidden", hidden, inputs, weight_of_network);
  prior.network.hidden_bias = values.vector("network.hidden_bias", hidden, weight_of_network);
  prior.network.output = values.matrix("network.output", features, hidden, weight_of_network);
  prior.network.output_bias = values.vector("network.output_bias", features, weight_of_network);
  prior.mean_counts = values.vector("mean_counts", features, not_negative);
  prior.deviation = values.vector("deviation", features, not_negative);
  values.require_end();
  return prior;
}

}  // namespace tenshot::trainer::structured
