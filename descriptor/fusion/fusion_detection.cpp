#include "descriptor/fusion/fusion_detection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "descriptor/timing/timing.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

using nasbench::BranchRule;
using nasbench::Network;

double median(std::vector<double> values) { return summarise(std::move(values)).median_ms; }

/// Two-sided 95 % quantiles of Student's t with 4, 5, … degrees of freedom; the normal's beyond.
double student_t(int freedom) {
  constexpr double table[] = {2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
                              2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  constexpr int first = 4, count = static_cast<int>(std::size(table));
  return freedom < first ? 12.7 : freedom - first < count ? table[freedom - first] : 2.0;
}

struct MeanAndError {
  double mean = 0, half_width = 0;  ///< half of the 95 % confidence interval
};

MeanAndError mean_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  MeanAndError result;
  for (const double value : values) result.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += std::pow(value - result.mean, 2);
  if (values.size() < 2) return {result.mean, HUGE_VAL};
  result.half_width = student_t(static_cast<int>(values.size()) - 1) * std::sqrt(squares / (count - 1) / count);
  return result;
}

class Detection {
 public:
  Detection(const TimeCase& time_case, const FusionDetectionOptions& options, const std::function<bool()>& go_on)
      : time_case_(time_case), options_(options), go_on_(go_on) {}

  FusionFindings run() {
    for (const std::string& first : options_.operators) {
      for (const std::string& second : options_.operators) detect_pair(first, second);
    }
    findings_.rules.multi_inbound = detect_join();
    findings_.rules.multi_outbound = detect_fork();
    return std::move(findings_);
  }

 private:
  Network single(const std::string& type) const { return single_case(type, options_.image); }

  /// A round's times without what a call costs; nothing where the runtime refuses a network.
  std::optional<std::function<std::vector<double>()>> timer(const std::string& what, std::vector<Network> networks) {
    if (go_on_ && !go_on_()) throw Interrupted("detecting what fuses was stopped; nothing was written");
    networks.push_back(empty_case());
    try {
      const auto round = time_case_(networks);
      return [round] {
        std::vector<double> times = round();
        const double call = times.back();
        times.pop_back();
        for (double& time : times) time = std::max(time - call, 1e-6);
        return times;
      };
    } catch (const InputError& error) {
      findings_.refused.push_back(what + ": " + error.what());
      return std::nullopt;
    }
  }

  void detect_pair(const std::string& first, const std::string& second) {
    const auto round =
        timer(first + ", " + second, {single(first), single(second), pair_case(first, second, options_.image)});
    if (!round) return;
    PairFinding finding;
    finding.first = first;
    finding.second = second;
    std::vector<double> firsts, seconds, connected, saved;
    while (finding.rounds < options_.most_rounds && !(finding.decided && finding.rounds >= options_.least_rounds)) {
      const std::vector<double> times = (*round)();
      firsts.push_back(times[0]);
      seconds.push_back(times[1]);
      connected.push_back(times[2]);
      saved.push_back((times[0] + times[1] - times[2]) / std::min(times[0], times[1]));
      ++finding.rounds;
      const MeanAndError found = mean_of(saved);
      finding.saved = found.mean;
      const double cheaper_ms = std::min(median(firsts), median(seconds));
      constexpr double three_networks = 1.732, two_sided = 1.96;
      finding.saved_error = std::hypot(found.half_width, two_sided * three_networks * options_.drift_ms / cheaper_ms);
      finding.decided = std::abs(found.mean - options_.alpha) > finding.saved_error;
    }
    finding.fused = finding.decided && finding.saved > options_.alpha;
    finding.first_ms = median(firsts);
    finding.second_ms = median(seconds);
    finding.connected_ms = median(connected);
    if (finding.fused) findings_.rules.pairs.emplace(first, second);
    findings_.pairs.push_back(finding);
  }

  bool fuses(const std::string& first, const std::string& second) const {
    return findings_.rules.pairs.count({first, second}) != 0;
  }

  /// The plan whose sum of times is closest to what was measured: 0 = nothing fuses, 1 = the first, 2 = the last.
  static int closest_plan(double measured, const std::array<double, 3>& plans) {
    std::array<double, 3> distances{};
    for (std::size_t i = 0; i < plans.size(); ++i) distances[i] = std::abs(plans[i] - measured);
    return static_cast<int>(std::min_element(distances.begin(), distances.end()) - distances.begin());
  }

  /// The plan that most cases take; none where there is no case.
  static BranchRule rule_of(const std::array<int, 3>& votes) {
    const auto most = std::max_element(votes.begin(), votes.end()) - votes.begin();
    return most == 0 ? BranchRule::none : most == 1 ? BranchRule::first : BranchRule::last;
  }

  /// Medians over rounds of the times of `networks`.
  std::optional<std::vector<double>> times_of(const std::string& what, const std::vector<Network>& networks) {
    const auto round = timer(what, networks);
    if (!round) return std::nullopt;
    std::vector<std::vector<double>> times(networks.size());
    for (int i = 0; i < 2 * options_.least_rounds; ++i) {
      const std::vector<double> found = (*round)();
      for (std::size_t n = 0; n < networks.size(); ++n) times[n].push_back(found[n]);
    }
    std::vector<double> medians;
    for (std::vector<double>& of_network : times) medians.push_back(median(std::move(of_network)));
    return medians;
  }

  /// Two operators of different cost that fuse with an addition or a multiplication, which joins them.
  BranchRule detect_join() {
    std::array<int, 3> votes{};
    for (const std::string& join : {std::string("add"), std::string("multiply")}) {
      std::vector<std::string> fusible;
      for (const std::string& type : options_.operators) {
        if (fuses(type, join) && type != "add" && type != "multiply") fusible.push_back(type);
      }
      for (std::size_t i = 0; i + 1 < std::min<std::size_t>(fusible.size(), 4); ++i) {
        const std::string &left = fusible[i], &right = fusible[i + 1];
        const auto t = times_of(left + " and " + right + " joined by " + join,
                                {single(left), single(right), single(join), pair_case(left, join, options_.image),
                                 pair_case(right, join, options_.image), join_case(left, right, join, options_.image)});
        if (t) ++votes[static_cast<std::size_t>(closest_plan((*t)[5], plans(*t)))];
      }
    }
    return rule_of(votes);
  }

  BranchRule detect_fork() {
    std::array<int, 3> votes{};
    int cases = 0;
    for (const auto& [first, left] : findings_.rules.pairs) {
      for (const std::string& right : options_.operators) {
        if (right == left || !fuses(first, right) || cases == 4) continue;
        ++cases;
        const auto t =
            times_of(first + " forked to " + left + " and " + right,
                     {single(right), single(left), single(first), pair_case(first, left, options_.image),
                      pair_case(first, right, options_.image), fork_case(first, left, right, options_.image)});
        // What fuses with `left` leaves `right` alone.
        if (t) ++votes[static_cast<std::size_t>(closest_plan((*t)[5], fork_plans(*t)))];
      }
    }
    return rule_of(votes);
  }

  /// Sums of left, right, join; left++join, right; left, right++join.
  static std::array<double, 3> plans(const std::vector<double>& t) {
    return {t[0] + t[1] + t[2], t[3] + t[1], t[0] + t[4]};
  }
  /// Sums of right, left, first; first++left, right; first++right, left.
  static std::array<double, 3> fork_plans(const std::vector<double>& t) {
    return {t[0] + t[1] + t[2], t[3] + t[0], t[4] + t[1]};
  }

  const TimeCase& time_case_;
  const FusionDetectionOptions& options_;
  const std::function<bool()>& go_on_;
  FusionFindings findings_;
};

}  // namespace

FusionFindings detect_fusion(const TimeCase& time_case, const FusionDetectionOptions& options,
                             const std::function<bool()>& go_on) {
  if (options.least_rounds < 5 || options.most_rounds < options.least_rounds) {
    throw InputError("detecting fusion needs at least five rounds, and as many at most as it may take; found " +
                     std::to_string(options.least_rounds) + " to " + std::to_string(options.most_rounds));
  }
  if (!(options.alpha > 0 && options.alpha < 1)) throw InputError("alpha is a share between 0 and 1");
  for (const std::string& type : options.operators) single_case(type, options.image);
  return Detection(time_case, options, go_on).run();
}

TimeCase time_on(const Runtime& runtime, const RuntimeOptions& options, int runs) {
  return [&runtime, options, runs](const std::vector<Network>& networks) {
    std::vector<std::shared_ptr<PreparedNetwork>> prepared;
    for (const Network& network : networks) prepared.push_back(runtime.prepare(network, options));
    const auto times_of = [prepared, runs] {
      std::vector<double> medians;
      for (const auto& network : prepared) {
        TimingOptions timing;
        timing.warmup_runs = 2;
        timing.warmup_ms = 0;
        timing.minimum_runs = timing.maximum_runs = runs;
        medians.push_back(measure([&] { network->run(); }, timing).median_ms);
      }
      return medians;
    };
    times_of();
    return std::function<std::vector<double>()>(times_of);
  };
}

nlohmann::ordered_json to_json(const FusionFindings& findings) {
  nlohmann::ordered_json document = nasbench::to_json(findings.rules);
  document["evidence"] = nlohmann::ordered_json::array();
  for (const PairFinding& pair : findings.pairs) {
    document["evidence"].push_back({{"pair", {pair.first, pair.second}},
                                    {"fused", pair.fused},
                                    {"decided", pair.decided},
                                    {"saved", pair.saved},
                                    {"saved_error", pair.saved_error},
                                    {"first_ms", pair.first_ms},
                                    {"second_ms", pair.second_ms},
                                    {"connected_ms", pair.connected_ms},
                                    {"rounds", pair.rounds}});
  }
  document["refused"] = findings.refused;
  return document;
}

}  // namespace tenshot::descriptor
