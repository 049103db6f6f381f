#include "trainer/predictors/maple_edge/simulated_devices.h"

#include <Eigen/Cholesky>
#include <limits>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/median.h"
#include "trainer/predictors/structured/hypotheses.h"

namespace tenshot::trainer {
namespace {

constexpr double least_cost = 0.005;  ///< of an operation of an entry, before it is spread
constexpr double least_described_cost = 1e-3;
constexpr double generic_share = 0.3;    ///< of devices have any structure, not their entry's
constexpr double new_base_share = 0.3;   ///< of devices have a base that owes nothing to their entry's
constexpr double most_difference = 0.5;  ///< of log latency, in log_distance
constexpr double slow_share = 0.25;      ///< of measurements are made in the slow speed
constexpr std::size_t pilot_devices = 20'000;
constexpr std::size_t most_tries = 100'000;  ///< for one device, before the nearest of them is taken

constexpr std::size_t width = live_encoding_width / 2;  ///< of a one-hot encoding

/// A layer that hands on the first `width` of its inputs and has room for `more` outputs.
DenseLayer copying_layer(std::size_t inputs, std::size_t more) {
  DenseLayer layer{static_cast<int>(inputs), static_cast<int>(width + more), {}, {}};
  layer.weight.assign(inputs * (width + more), 0);
  layer.bias.assign(width + more, 0);
  for (std::size_t i = 0; i < width; ++i) layer.weight[i * inputs + i] = 1;
  return layer;
}

float& weight(DenseLayer& layer, std::size_t output, std::size_t input) {
  return layer.weight[output * static_cast<std::size_t>(layer.inputs) + input];
}

double uniform(double low, double high, Rng& rng) { return low + (high - low) * rng.uniform(); }
double log_uniform(double low, double high, Rng& rng) { return std::exp(uniform(std::log(low), std::log(high), rng)); }

double student_t4(Rng& rng) {
  const double z = rng.normal();
  // χ² with four degrees of freedom is twice the sum of two exponential variables.
  const double chi_squared = -2 * (std::log(1 - rng.uniform()) + std::log(1 - rng.uniform()));
  return z / std::sqrt(chi_squared / 4);
}

}  // namespace

std::vector<DenseLayer> live_encoding_layers() {
  constexpr std::size_t paths = nasbench::cell_paths.size();
  // A path is whole (1, else 0) where none of its edges takes option 0.
  DenseLayer whole = copying_layer(width, paths);
  // An edge is dead (1, else 0) where no path through it is whole.
  DenseLayer dead = copying_layer(width + paths, nasbench::edge_count);
  // What is dead takes option 0; all else keeps its option.
  DenseLayer live = copying_layer(width + nasbench::edge_count, width);
  for (std::size_t edge = 0; edge < nasbench::edge_count; ++edge) {
    const std::size_t none = edge * nasbench::operation_count;
    for (std::size_t p = 0; p < paths; ++p) {
      if ((nasbench::cell_paths[p] >> edge & 1U) == 0) continue;
      whole.bias[width + p] = dead.bias[width + edge] = 1;
      weight(whole, width + p, none) = weight(dead, width + edge, width + p) = -1;
    }
    for (std::size_t i = none; i < none + nasbench::operation_count; ++i) {
      if (i > none) weight(live, width + i, i) = 1;
      weight(live, width + i, width + edge) = i > none ? -1 : 1;
    }
  }
  return {whole, dead, live};
}

SimulatedSpace::SimulatedSpace(const nasbench::StructureModel& model) {
  const std::vector<nasbench::Architecture> cells = model.space().all();
  table = model.table(cells);
  encodings.resize(cells.size() * live_encoding_width);
  ones.reserve(cells.size() * ones_of_cell);
  for (std::size_t a = 0; a < cells.size(); ++a) {
    float* encoding = encodings.data() + a * live_encoding_width;
    model.space().encode(cells[a], encoding);
    model.space().encode(model.space().canonical(cells[a]), encoding + width);
    for (std::size_t i = 0; i < live_encoding_width; ++i) {
      if (encoding[i] == 1) ones.push_back(static_cast<std::uint16_t>(i));
    }
  }
}

DevicePrior::DevicePrior(const structured::StructuredLibrary& library, const SimulationOptions& options,
                         const structured::DescribedDevice* described)
    : library_(library), options_(options) {
  if (described == nullptr) return;
  for (std::size_t s = 0; s < described->priors.size(); ++s) {
    const structured::CostGaussian prior = structured::described_prior(*described, s, {});
    described_.emplace_back(prior.mean, prior.covariance.llt().matrixL());
  }
}

SimulatedDevice DevicePrior::draw(Rng& rng) const {
  SimulatedDevice device;
  if (!described_.empty() && rng.uniform() < options_.described_share) {
    device.structure = rng.below(described_.size());
    const auto& [mean, factor] = described_[device.structure];
    Eigen::VectorXd normal(mean.size());
    for (double& value : normal) value = rng.normal();
    const Eigen::VectorXd drawn = mean + factor * normal;
    for (const double cost : drawn) device.costs.push_back(std::max(cost, least_described_cost));
  } else {
    const auto& features = library_.model->features();
    const auto& structures = library_.model->structures();
    const structured::LibraryEntry& entry = library_.entries[rng.below(library_.entries.size())];
    const bool generic = std::isnan(entry.log_rms);
    device.structure = generic || rng.uniform() < generic_share ? rng.below(structures.size()) : entry.structure;
    const std::vector<bool>& known = structures[entry.structure].uses;
    const double spread = options_.cost_spreads[rng.below(options_.cost_spreads.size())];
    const bool wild = rng.uniform() < options_.wild_share;
    for (std::size_t f = 0; f < features.size(); ++f) {
      const double typical = features[f].typical_cost;
      const double cost = generic || known[f] ? entry.costs[static_cast<Eigen::Index>(f)] : typical;
      double drawn = std::max(cost, least_cost) * std::exp(spread * rng.normal());
      if (wild) drawn = f == 0 ? uniform(0.05, 0.8, rng) : typical * log_uniform(0.05, 5, rng);
      device.costs.push_back(drawn);
    }
    if (rng.uniform() < new_base_share) device.costs.front() = uniform(0.05, 0.7, rng);
  }
  device.floor = log_uniform(0.002, 0.1, rng);
  device.noise = log_uniform(options_.least_noise, options_.most_noise, rng);
  const double step = options_.slow_step * uniform(0.5, 1, rng);
  if (rng.uniform() < options_.two_speed_share) device.slow_step = step;
  return device;
}

double log_latency(const SimulatedDevice& device, const nasbench::StructureTable& table, std::size_t architecture) {
  const double* row = table.row(device.structure, architecture);
  const std::size_t features = device.costs.size();
  double latency = device.floor;
  for (std::size_t a = 0; a < table.structures[device.structure].alternatives; ++a, row += features) {
    double sum = 0;
    for (std::size_t f = 0; f < features; ++f) sum += row[f] * device.costs[f];
    latency = std::max(latency, sum);
  }
  return std::log(latency);
}

double log_latency(const SimulatedDevice& device, const SimulatedSpace& space, std::size_t architecture) {
  double log = log_latency(device, space.table, architecture);
  if (device.residuals.empty()) return log;
  const std::uint16_t* ones = space.ones.data() + architecture * ones_of_cell;
  for (std::size_t i = 0; i < ones_of_cell; ++i) log += device.residuals[ones[i]];
  return log;
}

double draw_noise(const SimulatedDevice& device, Rng& rng) {
  double noise = device.noise * student_t4(rng);
  if (device.slow_step > 0 && rng.uniform() < slow_share) noise += device.slow_step;
  return noise;
}

double log_distance(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];
  const double centre = upper_median(differences);
  double squares = 0;
  for (const double difference : differences) {
    squares += std::pow(std::min(std::abs(difference - centre), most_difference), 2);
  }
  return std::sqrt(squares / static_cast<double>(a.size()));
}

NearbyDevices::NearbyDevices(DevicePrior prior, const SimulatedSpace& space, const SimulationOptions& options,
                             std::vector<std::size_t> measured, std::vector<double> log_ms, std::uint64_t seed)
    : prior_(std::move(prior)),
      space_(space),
      options_(options),
      measured_(std::move(measured)),
      log_ms_(std::move(log_ms)),
      threshold_(std::numeric_limits<double>::infinity()) {
  if (options.acceptance == 1 || measured_.size() < 2) return;
  Rng rng(seed);
  std::vector<double> distances;
  for (std::size_t i = 0; i < pilot_devices; ++i) distances.push_back(distance(prior_.draw(rng)));
  const auto kept = distances.begin() + static_cast<std::ptrdiff_t>(options.acceptance * pilot_devices);
  std::nth_element(distances.begin(), kept, distances.end());
  threshold_ = *kept;
}

double NearbyDevices::distance(const SimulatedDevice& device) const {
  std::vector<double> simulated;
  for (const std::size_t a : measured_) simulated.push_back(log_latency(device, space_, a));
  return log_distance(simulated, log_ms_);
}

SimulatedDevice NearbyDevices::draw(Rng& rng) const {
  SimulatedDevice nearest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < most_tries; ++i) {
    SimulatedDevice device = prior_.draw(rng);
    const double apart = std::isinf(threshold_) ? 0 : distance(device);
    if (apart >= least) continue;
    least = apart;
    nearest = std::move(device);
    if (apart <= threshold_) break;
  }
  const double each = options_.residual_share * nearest.noise / std::sqrt(static_cast<double>(ones_of_cell));
  for (std::size_t i = 0; i < live_encoding_width; ++i) nearest.residuals.push_back(each * rng.normal());
  return nearest;
}

}  // namespace tenshot::trainer
