#include "datasets/collect/collect_timer.h"

#include <exception>
#include <new>

#include "nasbench/support/elapsed.h"

namespace tenshot::datasets {
namespace {

/// The line that says why: the one of the error itself in a trace of TorchScript, else the first.
std::string reason_of(const std::string& text) {
  const std::size_t error = text.find("RuntimeError: ");
  const std::size_t start = error != std::string::npos ? error : text.find_first_not_of(" \n");
  if (start == std::string::npos) return "its first run failed";
  return text.substr(start, text.find('\n', start) - start);
}

/// Operators take microseconds: many runs cost nothing, and few would say little.
descriptor::TimingOptions operator_timing(descriptor::TimingOptions timing) {
  timing.minimum_runs = std::max(timing.minimum_runs, 200);
  timing.maximum_runs = std::max(timing.maximum_runs, 1000);
  timing.relative_precision = std::min(timing.relative_precision, 0.01);
  return timing;
}

/// Every network runs in every round: the difference of two that were measured in different rounds would say little.
descriptor::TimingOptions chain_timing(descriptor::TimingOptions timing) {
  constexpr int runs_of_round = 30;
  timing.rounds = in_network_rounds;
  timing.minimum_runs = timing.maximum_runs = in_network_rounds * runs_of_round;
  return timing;
}

}  // namespace

Architecture sentinel_of(const nasbench::SearchSpace& space) {
  const std::vector<int>& decisions = space.decisions();
  Architecture sentinel(decisions.size());
  for (std::size_t i = 0; i < decisions.size(); ++i) sentinel[i] = static_cast<std::uint8_t>(decisions[i] / 2);
  return sentinel;
}

std::string sentinel_name(const NetworkSpace& space) {
  if (const auto* decided = space.search_space()) return space.format(sentinel_of(*decided));
  return "nasbench201 " + sentinel_name(nasbench::nasbench201());
}

CollectTimer::CollectTimer(const CollectOptions& options, const NetworkSpace& space, const descriptor::Runtime& runtime,
                           CollectRecord& record)
    : options_(options), space_(space), runtime_(runtime), record_(record) {}

Measurement CollectTimer::architecture(const Architecture& architecture) {
  const auto network = runnable(architecture);
  const descriptor::Timing timing = timed(*network, options_.timing);
  return {architecture, timing.median_ms, timing.stddev_ms, timing.runs};
}

CollectTimer::OperatorTiming CollectTimer::operator_between_looks(const nasbench::Operator& op,
                                                                  const std::function<bool(double)>& steady,
                                                                  const std::function<void()>& step) {
  const auto network = prepared(op.graph);
  OperatorTiming best;
  double before_ms = sentinel_ms();
  for (int attempt = 0; attempt < options_.attempts && !best.settled; ++attempt) {
    step();
    const double latency_ms = timed(*network, operator_timing(options_.timing)).median_ms;
    const double after_ms = sentinel_ms(), slower_ms = std::max(before_ms, after_ms);
    if (attempt == 0 || slower_ms < best.sentinel_ms) best = {latency_ms, slower_ms, steady(slower_ms)};
    before_ms = after_ms;
  }
  return best;
}

double CollectTimer::sentinel_ms() {
  const Clock::time_point start = Clock::now();
  prepare_sentinel();
  const descriptor::Timing timing = descriptor::measure([&] { sentinel_->run(); }, options_.timing);
  record_.sentinel_s += seconds_since(start);
  return timing.median_ms;
}

std::vector<Measurement> CollectTimer::in_turn(const std::vector<Architecture>& architectures,
                                               const descriptor::MachineWatch& watch,
                                               const std::function<bool()>& go_on,
                                               const descriptor::TurnJournal& journal) {
  const auto make = [&](std::size_t i) { return runnable(architectures[i]); };
  const descriptor::TurnTimings found =
      timed_in_turn(architectures.size(), make, options_.timing, watch, go_on, journal);
  std::vector<Measurement> rows;
  for (const descriptor::Timing& timing : found.networks) {
    rows.push_back({architectures[rows.size()], timing.median_ms, timing.stddev_ms, timing.runs, found.sentinel_ms});
  }
  return rows;
}

CollectTimer::InNetwork CollectTimer::in_network(const std::vector<ChainGraph>& chains,
                                                 const std::function<void()>& step) {
  const auto make = [&](std::size_t i) { return prepared(chains[i].graph); };
  const auto go_on = [&step] {
    step();
    return true;
  };
  const descriptor::TurnTimings found = timed_in_turn(chains.size(), make, chain_timing(options_.timing), {}, go_on);
  std::vector<ChainLatency> latencies;
  for (std::size_t i = 0; i < chains.size(); ++i) latencies.push_back({chains[i].network, found.networks[i].median_ms});
  return {in_network_latencies(latencies), found.sentinel_ms};
}

void CollectTimer::prepare_sentinel() {
  if (sentinel_) return;
  const nasbench::SearchSpace* decided = space_.search_space();
  const nasbench::SearchSpace& space = decided != nullptr ? *decided : nasbench::nasbench201();
  const nasbench::NetworkShape shape = decided != nullptr ? options_.shape : space.default_shape();
  sentinel_ = runtime_.prepare(space.computation(sentinel_of(space), shape, options_.runtime_options.batch),
                               options_.runtime_options);
}

std::unique_ptr<descriptor::PreparedNetwork> CollectTimer::runnable(const Architecture& architecture) {
  const nasbench::Network graph = space_.computation(architecture, options_.shape, options_.runtime_options.batch);
  try {
    std::unique_ptr<descriptor::PreparedNetwork> network = prepared(graph);
    network->run();
    return network;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // a library's own kinds too
    throw CannotRun(architecture, reason_of(error.what()));
  }
}

std::unique_ptr<descriptor::PreparedNetwork> CollectTimer::prepared(const nasbench::Network& graph) {
  const Clock::time_point start = Clock::now();
  std::unique_ptr<descriptor::PreparedNetwork> network = runtime_.prepare(graph, options_.runtime_options);
  record_.preparation_s += seconds_since(start);
  return network;
}

descriptor::TurnTimings CollectTimer::timed_in_turn(std::size_t count, const Maker& make,
                                                    const descriptor::TimingOptions& timing,
                                                    descriptor::MachineWatch watch, const std::function<bool()>& go_on,
                                                    const descriptor::TurnJournal& journal) {
  prepare_sentinel();
  watch.sentinel = [this] { sentinel_->run(); };
  std::vector<std::unique_ptr<descriptor::PreparedNetwork>> networks;
  std::vector<std::function<void()>> runs;
  for (std::size_t i = 0; i < count; ++i) {
    networks.push_back(make(i));
    runs.emplace_back([network = networks.back().get()] { network->run(); });
    if (!go_on()) return {};
  }
  descriptor::TurnTimings found = descriptor::measure_in_turn(runs, timing, watch, go_on, journal);
  for (const descriptor::Timing& network : found.networks) record_cost(network);
  record_.sentinel_s += found.sentinel_s;
  record_.disturbed_visits += found.thrown_away;
  return found;
}

descriptor::Timing CollectTimer::timed(descriptor::PreparedNetwork& network, const descriptor::TimingOptions& timing) {
  const descriptor::Timing result = descriptor::measure([&] { network.run(); }, timing);
  record_cost(result);
  return result;
}

void CollectTimer::record_cost(const descriptor::Timing& timing) {
  constexpr double seconds = 1e-3;
  record_.warmup_s += seconds * timing.warmup_total_ms;
  record_.measuring_s += seconds * timing.loop_total_ms;
  record_.runs_s += seconds * timing.runs_total_ms;
}

}  // namespace tenshot::datasets
