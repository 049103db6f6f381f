#include <limits>
#include <set>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/predictors/maple_edge/simulated_samples.h"

namespace tenshot::trainer {
namespace {

using datasets::HardwareDescriptor;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double slope_deviation = 0.5;  ///< of a slope from what physics lets expect
constexpr double prior_errors = 3;       ///< as many errors of the expected size are added to those found
constexpr double error_spread = 0.7;     ///< of the logarithm of how large a device's errors are
constexpr double least_cost = 0.002;     ///< of the median latency, in logarithms
constexpr double least_events = 1e-5;    ///< an instruction
constexpr float most_deviations = 3;
constexpr std::string_view empty_call = "skip_connect";

/// Which kind of entries speaks of its costs.
DescriptorKind entries_of(DescriptorKind kind) {
  return kind == DescriptorKind::counters ? DescriptorKind::latency : kind;
}

/// Log shares of the described costs; features that nothing is said of are NaN, and so is the base.
std::vector<double> described_shares(const HardwareDescriptor& descriptor, const nasbench::StructureModel& model,
                                     DescriptorKind kind) {
  const Eigen::VectorXd costs = structured::described_costs_ms(descriptor, model, kind);
  const double sum = structured::cost_of_operations(costs, model);
  std::vector<double> shares;
  for (const double cost : costs) {
    shares.push_back(std::isnan(cost) ? nothing : std::log(std::max(cost / sum, 10 * structured::smallest_share)));
  }
  return shares;
}

struct OperatorEvents {
  std::string name;
  double latency_ms = 0;
  std::vector<double> counts;
};

std::vector<OperatorEvents> events_of(const HardwareDescriptor& descriptor) {
  std::vector<OperatorEvents> operators;
  for (const datasets::OperatorProfile& profile : descriptor.operators) {
    if (profile.name == empty_call) continue;
    auto found =
        std::find_if(operators.begin(), operators.end(), [&](const auto& o) { return o.name == profile.name; });
    if (found == operators.end()) {
      found = operators.insert(found, {profile.name, 0, std::vector<double>(descriptor.counters.size(), 0)});
    }
    found->latency_ms += profile.latency_ms;
    for (std::size_t c = 0; c < std::min(profile.counts.size(), found->counts.size()); ++c)
      found->counts[c] += profile.counts[c];
  }
  return operators;
}

/// Whether both count the same events of the same operators: values have no names once they are numbers.
bool same_counters(const HardwareDescriptor& a, const HardwareDescriptor& b) {
  if (!a.has_counters() || !b.has_counters() || a.counters != b.counters || a.simulated() != b.simulated())
    return false;
  const std::vector<OperatorEvents> of_a = events_of(a), of_b = events_of(b);
  const auto same_name = [](const OperatorEvents& x, const OperatorEvents& y) { return x.name == y.name; };
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same_name);
}

/// By operator: the log rate of instructions (or of the first counter) less its mean, then log ratios of the others.
std::vector<double> counter_values(const HardwareDescriptor& descriptor) {
  const auto& counters = descriptor.counters;
  const auto found = std::find(counters.begin(), counters.end(), "instructions");
  const auto reference = found == counters.end() ? 0 : static_cast<std::size_t>(found - counters.begin());
  const std::vector<OperatorEvents> operators = events_of(descriptor);
  double mean = 0;
  std::vector<double> rates;
  for (const OperatorEvents& op : operators) {
    rates.push_back(std::log(std::max(op.counts[reference], 1.0) / std::max(op.latency_ms, 1e-6)));
    mean += rates.back() / static_cast<double>(operators.size());
  }
  std::vector<double> values;
  for (std::size_t o = 0; o < operators.size(); ++o) {
    values.push_back(rates[o] - mean);
    for (std::size_t c = 0; c < counters.size(); ++c) {
      if (c == reference) continue;
      const double ratio = operators[o].counts[c] / std::max(operators[o].counts[reference], 1.0);
      values.push_back(std::log(std::max(ratio, least_events)));
    }
  }
  return values;
}

}  // namespace

std::vector<DescriptorKind> descriptor_inputs(std::string_view kind) {
  using Kind = DescriptorKind;
  if (kind == "auto") return {Kind::in_network, Kind::latency, Kind::counters};
  if (kind == "in-network") return {Kind::in_network};
  if (kind == "latency") return {Kind::latency};
  if (kind == "counters") return {Kind::latency, Kind::counters};
  if (kind == "inferred") return {};
  throw InputError("there is no descriptor kind '" + excerpt(kind) +
                   "'; there are: auto, in-network, counters, latency, inferred");
}

SimulatedDescriptor::SimulatedDescriptor(const datasets::Pool& pool, const structured::StructuredLibrary& library,
                                         const std::vector<DescriptorKind>& kinds)
    : library_(library) {
  for (const datasets::DeviceRuntime& device : pool.devices) {
    if (!counted_.has_counters() && device.descriptor.has_counters()) counted_ = device.descriptor;
  }
  for (const DescriptorKind kind : kinds) {
    const auto device =
        std::find_if(pool.devices.begin(), pool.devices.end(), [&](const auto& d) { return has(d.descriptor, kind); });
    if (device == pool.devices.end()) continue;
    kinds_.push_back(kind);
    add_lines(device->descriptor, kind);
  }
  std::vector<std::vector<double>> shares, values;
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    const Eigen::VectorXd& costs = library.entries[d].costs;
    shares.push_back(log_shares({costs.data(), costs.data() + costs.size()}));
    // What the device's structure does not count apart has no cost of its own.
    const std::vector<bool>& uses = library.model->structures()[library.entries[d].structure].uses;
    for (std::size_t f = 0; f < uses.size(); ++f) {
      if (!uses[f]) shares.back()[f] = nothing;
    }
    values.push_back(raw(pool.devices[d].descriptor));
  }
  for (Line& line : lines_) {
    // Nothing can be learned of a cost that no structure of the pool's devices counts apart.
    const auto counted = [&](const auto& device) {
      return !std::isnan(device[static_cast<std::size_t>(line.feature)]);
    };
    if (line.feature >= 0 && std::none_of(shares.begin(), shares.end(), counted)) line.feature = -1;
  }
  fit(shares, values, std::vector<bool>(pool.devices.size(), true), lines_);
  std::set<std::string> runtimes;
  for (const datasets::DeviceRuntime& device : pool.devices) runtimes.insert(device.runtime);
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    std::vector<bool> used;
    for (std::size_t o = 0; o < pool.devices.size(); ++o) {
      used.push_back(runtimes.size() > 1 ? pool.devices[o].runtime != pool.devices[d].runtime : o != d);
    }
    std::vector<Line> lines = lines_;
    fit(shares, values, used, lines);
    std::vector<double> errors;
    for (std::size_t j = 0; j < lines.size(); ++j) {
      const double share = lines[j].feature < 0 ? 0 : shares[d][static_cast<std::size_t>(lines[j].feature)];
      errors.push_back(values[d][j] - lines[j].offset - lines[j].slope * share);
    }
    errors_.push_back(std::move(errors));
  }
}

bool SimulatedDescriptor::has(const HardwareDescriptor& descriptor, DescriptorKind kind) const {
  if (!structured::says_something(descriptor, *library_.model, entries_of(kind))) return false;
  return kind != DescriptorKind::counters || same_counters(descriptor, counted_);
}

void SimulatedDescriptor::add_lines(const HardwareDescriptor& descriptor, DescriptorKind kind) {
  const auto& features = library_.model->features();
  const auto feature_called = [&](const std::string& operation) {
    const auto found =
        std::find_if(features.begin(), features.end(), [&](const auto& f) { return f.name == operation; });
    return found == features.end() ? -1 : static_cast<int>(found - features.begin());
  };
  if (kind == DescriptorKind::counters) {
    std::size_t place = 0;
    for (const OperatorEvents& op : events_of(descriptor)) {
      for (std::size_t c = 0; c < counted_.counters.size(); ++c) {
        // The first stands for the rate, which falls as the cost rises.
        lines_.push_back({kind, place++, feature_called(op.name), c == 0 ? -1.0 : 0.0, 0.7});
      }
    }
    return;
  }
  const std::vector<double> shares = described_shares(descriptor, *library_.model, entries_of(kind));
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (std::isnan(shares[f]) || features[f].name == empty_call) continue;
    lines_.push_back({kind, f, static_cast<int>(f), 1.0, kind == DescriptorKind::latency ? 0.7 : 0.4});
  }
}

std::vector<double> SimulatedDescriptor::raw(const HardwareDescriptor& descriptor) const {
  std::vector<double> values;
  for (const DescriptorKind kind : kinds_) {
    std::vector<double> found;
    if (has(descriptor, kind)) {
      found = kind == DescriptorKind::counters ? counter_values(descriptor)
                                               : described_shares(descriptor, *library_.model, entries_of(kind));
    }
    for (const Line& line : lines_) {
      if (line.kind == kind) values.push_back(found.empty() ? nothing : found[line.place]);
    }
  }
  return values;
}

std::vector<double> SimulatedDescriptor::log_shares(const std::vector<double>& costs) const {
  const auto& features = library_.model->features();
  double sum = 0;
  for (std::size_t f = 1; f < costs.size(); ++f) {
    if (!features[f].spread) sum += std::max(costs[f], least_cost);
  }
  std::vector<double> shares;
  for (const double cost : costs) shares.push_back(std::log(std::max(cost, least_cost) / sum));
  return shares;
}

void SimulatedDescriptor::fit(const std::vector<std::vector<double>>& log_shares,
                              const std::vector<std::vector<double>>& raw, const std::vector<bool>& used,
                              std::vector<Line>& lines) const {
  for (std::size_t j = 0; j < lines.size(); ++j) {
    Line& line = lines[j];
    double mean_x = 0, mean_y = 0;
    std::vector<std::pair<double, double>> points;
    for (std::size_t d = 0; d < raw.size(); ++d) {
      const double x = line.feature < 0 ? 0 : log_shares[d][static_cast<std::size_t>(line.feature)];
      if (used[d] && !std::isnan(x) && !std::isnan(raw[d][j])) points.emplace_back(x, raw[d][j]);
    }
    const auto n = static_cast<double>(points.size());
    for (const auto& [x, y] : points) {
      mean_x += x / n;
      mean_y += y / n;
    }
    const double weight = std::pow(line.expected_deviation / slope_deviation, 2);
    double covariance = weight * line.expected_slope, variance = weight, spread = 0;
    for (const auto& [x, y] : points) {
      covariance += (x - mean_x) * (y - mean_y);
      variance += (x - mean_x) * (x - mean_x);
      spread += (y - mean_y) * (y - mean_y);
    }
    line.slope = covariance / variance;
    line.offset = points.empty() ? nothing : mean_y - line.slope * mean_x;
    line.mean = mean_y;
    line.unit = std::sqrt((spread + prior_errors * std::pow(line.expected_deviation, 2)) / (n + prior_errors));
  }
}

std::vector<float> SimulatedDescriptor::standardised(std::vector<double> raw) const {
  std::vector<float> values;
  for (std::size_t j = 0; j < lines_.size(); ++j) {
    const auto value = static_cast<float>((raw[j] - lines_[j].mean) / lines_[j].unit);
    values.push_back(std::isnan(value) ? value : std::clamp(value, -most_deviations, most_deviations));
  }
  return values;
}

std::vector<float> SimulatedDescriptor::draw(const SimulatedDevice& device, Rng& rng) const {
  if (lines_.empty()) return {};
  const std::vector<double> shares = log_shares(device.costs);
  const auto n = static_cast<double>(errors_.size());
  // Some devices are described much worse than others, and a network must not trust what is only mostly true.
  const double size = std::exp(error_spread * rng.normal());
  std::vector<double> alike;  // errors of one device go together
  for (std::size_t d = 0; d < errors_.size(); ++d) alike.push_back(size * rng.normal() / std::sqrt(n + prior_errors));
  std::vector<double> values;
  for (std::size_t j = 0; j < lines_.size(); ++j) {
    const Line& line = lines_[j];
    const double share = line.feature < 0 ? 0 : shares[static_cast<std::size_t>(line.feature)];
    double unknown = prior_errors;
    double value = line.offset + line.slope * share;
    for (std::size_t d = 0; d < errors_.size(); ++d) {
      if (std::isnan(errors_[d][j])) {
        unknown += 1;
      } else {
        value += alike[d] * errors_[d][j];
      }
    }
    values.push_back(value + std::sqrt(unknown / (n + prior_errors)) * line.expected_deviation * size * rng.normal());
  }
  return standardised(std::move(values));
}

std::vector<float> SimulatedDescriptor::masked(std::vector<float> values, double share, Rng& rng) const {
  bool left_out = false;
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (j == 0 || kind(j) != kind(j - 1)) left_out = rng.uniform() < share;
    if (left_out) values[j] = std::numeric_limits<float>::quiet_NaN();
  }
  return values;
}

}  // namespace tenshot::trainer
