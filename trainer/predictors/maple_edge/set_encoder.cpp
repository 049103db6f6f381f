#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <set>

#include "nasbench/spaces/search_space.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/predictors/maple_edge/simulated_samples.h"

namespace tenshot::trainer {
namespace {

constexpr std::size_t devices_drawn = 1000;
constexpr std::size_t architectures_asked = 300;
constexpr Eigen::Index directions = 24;
constexpr double noise_variance = 0.03 * 0.03;  ///< of a measurement's logarithm, beside what no direction explains
constexpr double offset_variance = 100;         ///< of log latency, all architectures together: nothing is known of it
constexpr std::size_t summary_values = 2;       ///< how many measurements, how badly they fit

enum Stream : std::uint64_t { device_stream = 1, architecture_stream = 2, descriptor_stream = 3 };

/// The loading of a number, `values` [devices], on `latent` [devices, n]; its error has at least `least_variance`.
SetLoading loading_of(const Eigen::VectorXd& values, const Eigen::MatrixXd& latent, double least_variance) {
  const auto devices = static_cast<double>(values.size());
  SetLoading loading;
  loading.mean = values.mean();
  const Eigen::VectorXd centred = values.array() - loading.mean;
  loading.weights = latent.transpose() * centred / devices;
  loading.variance = std::max(centred.squaredNorm() / devices - loading.weights.squaredNorm(), least_variance);
  return loading;
}

}  // namespace

SetEncoder::SetEncoder(const DevicePrior& prior, const nasbench::StructureTable& cells,
                       const SimulatedDescriptor& descriptor, std::uint64_t seed)
    : descriptor_(&descriptor) {
  Rng device_rng(seed, device_stream), architecture_rng(seed, architecture_stream), rng(seed, descriptor_stream);
  for (std::size_t i = 0; i < devices_drawn; ++i) devices_.push_back(prior.draw(device_rng));
  std::vector<std::size_t> asked = connected_of(nasbench::nasbench201().all(), nasbench::nasbench201());
  architecture_rng.shuffle(asked);
  asked.resize(std::min(asked.size(), architectures_asked));
  const auto rows = static_cast<Eigen::Index>(devices_.size());
  Eigen::MatrixXd logs(rows, static_cast<Eigen::Index>(asked.size()));
  for (Eigen::Index d = 0; d < rows; ++d) {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      logs(d, static_cast<Eigen::Index>(i)) = log_latency(devices_[static_cast<std::size_t>(d)], cells, asked[i]);
    }
    offsets_.push_back(logs.row(d).mean());
    logs.row(d).array() -= offsets_.back();
    offset_ += offsets_.back() / static_cast<double>(rows);
  }
  logs.rowwise() -= logs.colwise().mean().eval();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(logs.transpose() * logs / static_cast<double>(rows));
  const Eigen::Index kept = std::min<Eigen::Index>(directions, logs.cols());
  const Eigen::VectorXd deviations = solver.eigenvalues().tail(kept).cwiseMax(1e-12).cwiseSqrt();
  latent_ = logs * solver.eigenvectors().rightCols(kept) * deviations.cwiseInverse().asDiagonal();
  Eigen::MatrixXf values(devices_.size(), descriptor.size());
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::vector<float> drawn = descriptor.draw(devices_[d], rng);
    std::copy(drawn.begin(), drawn.end(), values.row(static_cast<Eigen::Index>(d)).begin());
  }
  for (const auto& value : values.colwise()) described_.push_back(loading_of(value.cast<double>(), latent_, 0.01));
}

std::size_t SetEncoder::size() const {
  return 2 * static_cast<std::size_t>(latent_.cols()) + summary_values + descriptor_->kinds().size();
}

std::vector<SetLoading> SetEncoder::loadings(const nasbench::StructureTable& table) const {
  std::vector<SetLoading> loadings;
  Eigen::VectorXd logs(static_cast<Eigen::Index>(devices_.size()));
  for (std::size_t a = 0; a < table.size; ++a) {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      logs[static_cast<Eigen::Index>(d)] = log_latency(devices_[d], table, a) - offsets_[d];
    }
    loadings.push_back(loading_of(logs, latent_, 0));
  }
  return loadings;
}

DeviceInputs SetEncoder::encode(const std::vector<SetMeasurement>& measured,
                                const std::vector<float>& descriptor) const {
  const Eigen::Index width = latent_.cols() + 1;  // the directions, then the offset
  Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(width, width);
  Eigen::VectorXd pull = Eigen::VectorXd::Zero(width), row(width);
  precision(width - 1, width - 1) = 1 / offset_variance;
  const auto count = static_cast<double>(measured.size());
  double reference = 0;
  for (const SetMeasurement& one : measured) reference += one.log_ms / count;
  const auto add = [&](const SetLoading& loading, double of_offset, double value, double variance) {
    row << loading.weights, of_offset;
    precision.selfadjointView<Eigen::Lower>().rankUpdate(row, 1 / variance);
    pull += row * ((value - loading.mean) / variance);
  };
  for (const auto& [loading, log_ms] : measured) {
    add(*loading, 1, log_ms - reference, loading->variance + noise_variance);
  }
  std::set<DescriptorKind> known;
  for (std::size_t j = 0; j < descriptor.size(); ++j) {
    if (std::isnan(descriptor[j])) continue;
    known.insert(descriptor_->kind(j));
    add(described_[j], 0, descriptor[j], described_[j].variance);
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(precision);
  const Eigen::VectorXd mean = factor.solve(pull);
  const Eigen::VectorXd deviation =
      factor.solve(Eigen::MatrixXd::Identity(width, width)).diagonal().cwiseMax(0).cwiseSqrt();
  double square = 0;
  for (const auto& [loading, log_ms] : measured) {
    const double fitted = loading->mean + loading->weights.dot(mean.head(width - 1)) + mean[width - 1];
    square += std::pow(log_ms - reference - fitted, 2) / count;
  }
  DeviceInputs set;
  set.centre = measured.empty() ? offset_ : reference + mean[width - 1];
  for (Eigen::Index r = 0; r + 1 < width; ++r) {
    set.values.push_back(static_cast<float>(std::clamp(mean[r], -4.0, 4.0)));
    set.values.push_back(static_cast<float>(deviation[r]));
  }
  set.values.push_back(static_cast<float>(0.5 * std::log1p(count)));
  set.values.push_back(static_cast<float>(std::min(10 * std::sqrt(square), 4.0)));
  for (const DescriptorKind kind : descriptor_->kinds()) set.values.push_back(static_cast<float>(known.count(kind)));
  return set;
}

void SetEncoder::put(Archive& archive) const {
  std::vector<double> devices, described;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    devices.insert(devices.end(), {static_cast<double>(devices_[d].structure), devices_[d].floor, offsets_[d]});
    devices.insert(devices.end(), devices_[d].costs.begin(), devices_[d].costs.end());
    const Eigen::VectorXd latent = latent_.row(static_cast<Eigen::Index>(d));
    devices.insert(devices.end(), latent.begin(), latent.end());
  }
  for (const SetLoading& loading : described_) {
    described.insert(described.end(), {loading.mean, loading.variance});
    described.insert(described.end(), loading.weights.begin(), loading.weights.end());
  }
  archive.card["set_encoder"] = {{"devices", devices_.size()}, {"directions", latent_.cols()}};
  archive.put("set_encoder.devices", to_array(devices));
  archive.put("set_encoder.descriptor", to_array(described));
}

SetEncoder::SetEncoder(const Archive& archive, const structured::StructuredLibrary& library,
                       const SimulatedDescriptor& descriptor)
    : descriptor_(&descriptor) {
  const JsonField card = JsonField(archive).at("set_encoder");
  const std::int64_t devices = card.at("devices").whole_number(1, 1'000'000);
  const std::int64_t width = card.at("directions").whole_number(1, 1'000);
  const Range last_structure{0, static_cast<double>(library.model->structures().size()) - 1};
  constexpr Range logarithm{-1e3, 1e3};
  FieldSequence values(archive, "set_encoder.devices");
  FieldSequence described(archive, "set_encoder.descriptor");
  std::vector<Eigen::VectorXd> latent;
  for (std::int64_t d = 0; d < devices; ++d) {
    SimulatedDevice& device = devices_.emplace_back();
    device.structure = static_cast<std::size_t>(values.number("structure", last_structure));
    device.floor = values.number("floor", positive);
    offsets_.push_back(values.number("offset", logarithm));
    offset_ += offsets_.back() / static_cast<double>(devices);
    const Eigen::VectorXd costs = values.vector("costs", static_cast<Eigen::Index>(library.features()), {0, 1e6});
    device.costs.assign(costs.begin(), costs.end());
    latent.push_back(values.vector("directions", width, logarithm));
  }
  values.require_end();
  latent_.resize(devices, width);
  for (std::int64_t d = 0; d < devices; ++d) latent_.row(d) = latent[static_cast<std::size_t>(d)].transpose();
  for (std::size_t j = 0; j < descriptor.size(); ++j) {
    const double mean = described.number("mean", logarithm), variance = described.number("variance", {1e-6, 1e6});
    described_.push_back({mean, variance, described.vector("weights", width, logarithm)});
  }
  described.require_end();
}

}  // namespace tenshot::trainer
