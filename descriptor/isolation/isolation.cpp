#include "descriptor/isolation/isolation.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "descriptor/fusion/fusion_cases.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "nasbench/support/quantiles.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Network;
using nasbench::NetworkBuilder;
using nasbench::Source;

/// Channels of the feeding layer's image; what the paper calls a standardised configuration.
constexpr int surrounding_channels = 16;

/// A 3×3 convolution from an image of 16 channels to that shape.
Source feed(NetworkBuilder& builder, const nasbench::Shape& shape) {
  const Source image = builder.input("input", {shape[0], surrounding_channels, shape[2], shape[3]});
  return builder.convolution("feeding", image, shape[1], {nasbench::same_window(3), 1, true});
}

Source consume(NetworkBuilder& builder, const Source& input) {
  return builder.convolution("consuming", input, surrounding_channels, {nasbench::same_window(3), 1, true});
}

Source put_in(NetworkBuilder& builder, const Network& kernel, const Source& input) {
  std::vector<Source> places;
  for (nasbench::NetworkNode node : kernel.nodes) {
    for (Source& source : node.inputs) source = source.node < 0 ? input : places[static_cast<std::size_t>(source.node)];
    places.push_back(builder.append(std::move(node)));
  }
  return places.back();
}

Network finished(NetworkBuilder& builder, const Source& output) {
  builder.output(output);
  return builder.take();
}

/// A kernel that begins with a convolution on one image and ends with one.
void require_one_image(const Network& kernel) {
  const bool one = kernel.inputs.size() == 1 && kernel.outputs.size() == 1 &&
                   kernel.outputs[0].node + 1 == static_cast<int>(kernel.nodes.size());
  if (!one || kernel.inputs[0].type.shape.size() != 4 || tensor_type(kernel, kernel.outputs[0]).shape.size() != 4) {
    throw InputError("a layer between others takes one image and gives one; modes 1 and 2 need such a layer");
  }
}

}  // namespace

std::string_view name(Isolation mode) {
  return mode == Isolation::standalone ? "0" : mode == Isolation::fed ? "1" : "2";
}

std::vector<SignedNetwork> surroundings(const Network& kernel, Isolation mode) {
  if (mode == Isolation::standalone) return {{kernel, 1}, {empty_case(), -1}};
  require_one_image(kernel);
  const nasbench::Shape input = kernel.inputs[0].type.shape, output = tensor_type(kernel, kernel.outputs[0]).shape;
  NetworkBuilder fed, feeding;
  const Source middle = put_in(fed, kernel, feed(fed, input));
  const Network feeding_alone = finished(feeding, feed(feeding, input));
  if (mode == Isolation::fed) return {{finished(fed, middle), 1}, {feeding_alone, -1}};
  NetworkBuilder consuming;
  const Network consuming_alone = finished(consuming, consume(consuming, consuming.input("input", output)));
  return {{finished(fed, consume(fed, middle)), 1}, {feeding_alone, -1}, {consuming_alone, -1}, {empty_case(), 1}};
}

IsolatedTiming time_signed(const Runtime& runtime, const std::vector<SignedNetwork>& networks,
                           const IsolationOptions& options) {
  if (options.runs < 1 || options.least_rounds < 2 || options.most_rounds < options.least_rounds ||
      !(options.precision > 0)) {
    throw InputError("isolating a layer needs at least one run, two rounds, and a precision over 0");
  }
  const Clock::time_point begin = Clock::now();
  std::vector<std::unique_ptr<PreparedNetwork>> prepared;
  for (const SignedNetwork& network : networks) prepared.push_back(runtime.prepare(network.network, options.runtime));
  TimingOptions timing;
  timing.warmup_runs = 1;
  timing.warmup_ms = 0;
  timing.minimum_runs = timing.maximum_runs = options.runs;
  for (const auto& network : prepared) {
    for (int run = 0; run < 3; ++run) network->run();  // executors profile and compile in the first runs
  }
  IsolatedTiming result;
  double sum = 0, squares = 0;
  while (result.rounds < options.most_rounds && !result.converged) {
    double time = 0;
    for (std::size_t i = 0; i < prepared.size(); ++i) {
      time += networks[i].sign * measure([&] { prepared[i]->run(); }, timing).median_ms;
    }
    sum += time;
    squares += time * time;
    ++result.rounds;
    const double count = result.rounds;
    result.latency_ms = sum / count;
    if (result.rounds < 2) continue;
    result.deviation_ms = std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1)));
    const double half =
        t_quantile(0.975, static_cast<std::size_t>(result.rounds - 1)) * result.deviation_ms / std::sqrt(count);
    result.converged = result.rounds >= options.least_rounds && half <= options.precision * std::abs(result.latency_ms);
  }
  result.seconds = seconds_since(begin);
  return result;
}

IsolatedTiming time_isolated(const Runtime& runtime, const Network& kernel, const IsolationOptions& options) {
  return time_signed(runtime, surroundings(kernel, options.mode), options);
}

}  // namespace tenshot::descriptor
