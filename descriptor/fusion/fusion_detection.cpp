#include "descriptor/fusion/fusion_detection.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "descriptor/timing/timing.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::BranchRule;

double median(std::vector<double> values) { return summarise(std::move(values)).median_ms; }

class Detection {
 public:
  Detection(const TimeCase& time_case, const FusionDetectionOptions& options, const std::function<bool()>& go_on)
      : time_case_(time_case), options_(options), go_on_(go_on) {}

  FusionFindings run() {
    find_scale();
    findings_.threshold = std::max(options_.alpha, saved_by_controls());
    for (const std::string& first : options_.operators) {
      for (const std::string& second : options_.operators) {
        const auto found = pair(first, second, findings_.threshold);
        if (!found) continue;
        findings_.pairs.push_back(*found);
        if (found->fused) findings_.rules.pairs.emplace(first, second);
      }
    }
    findings_.rules.multi_inbound = detect_join();
    findings_.rules.multi_outbound = detect_fork();
    return std::move(findings_);
  }

 private:
  void find_scale() {
    for (const std::string& type : options_.operators) {
      const auto found = saving(operator_case(type, options_.image));
      if (found && found->saved > 0) findings_.operators_ms[type] = found->saved;
    }
    if (findings_.operators_ms.empty()) {
      throw InputError("no operator can be timed, so nothing can be said of what fuses: " +
                       (findings_.refused.empty() ? "none takes any time" : findings_.refused.front()));
    }
    std::vector<double> times;
    for (const auto& [type, time] : findings_.operators_ms) times.push_back(time);
    findings_.usual_ms = median(times);
  }

  /// Measures a case until its interval leaves `threshold`, or without one `least_rounds`; what is saved is a share of
  /// the usual operator's time once that is known, and ms before. Nothing where the runtime refuses a network.
  std::optional<PairFinding> saving(const FusionCase& one, std::optional<double> threshold = std::nullopt) {
    if (go_on_ && !go_on_()) throw Interrupted("detecting what fuses was stopped; nothing was written");
    const double unit = one.repeats * (findings_.usual_ms > 0 ? findings_.usual_ms : 1);
    try {
      const auto round = time_case_(one);
      PairFinding found;
      for (std::vector<double> saved;
           found.rounds < options_.least_rounds || (threshold && found.rounds < options_.most_rounds &&
                                                    found.lower <= *threshold && *threshold <= found.upper);) {
        const CaseTimes times = round();
        saved.push_back((times.apart_ms - times.together_ms) / unit);
        std::sort(saved.begin(), saved.end());
        const Interval interval = median_interval(saved);
        found.saved = median(saved);
        found.lower = interval.lower;
        found.upper = interval.upper;
        ++found.rounds;
      }
      return found;
    } catch (const InputError& error) {
      findings_.refused.push_back(one.name + ": " + error.what());
      return std::nullopt;
    }
  }

  /// What is found of a pair with the fence that saves less; nothing where the runtime refuses a case.
  std::optional<PairFinding> pair(const std::string& first, const std::string& second,
                                  std::optional<double> threshold) {
    std::optional<PairFinding> least;
    bool fused = true;
    for (const Fence fence : {Fence::softmax, Fence::pool}) {
      std::optional<PairFinding> found = saving(pair_case(first, second, fence, options_.image), threshold);
      if (!found) return std::nullopt;
      found->first = first;
      found->second = second;
      found->fence = fence;
      found->decided = threshold && found->upper < *threshold;
      if (found->decided) return found;
      fused = fused && threshold && found->lower > *threshold;
      if (!least || found->saved < least->saved) least = found;
    }
    least->fused = least->decided = fused;
    return least;
  }

  /// Twice what pairs that cannot fuse seem to save, but for the highest twentieth of them.
  double saved_by_controls() {
    std::vector<double> saved;
    for (const std::string& type : options_.operators) {
      for (const char* pool : {"max_pool", "average_pool"}) {
        for (const auto& found : {pair(type, pool, std::nullopt), pair(pool, type, std::nullopt)}) {
          if (found) saved.push_back(found->saved);
        }
      }
    }
    if (saved.empty()) return 0;
    std::sort(saved.begin(), saved.end());
    constexpr double but_a_twentieth = 0.95;
    return 2 * saved[static_cast<std::size_t>(but_a_twentieth * static_cast<double>(saved.size() - 1))];
  }

  /// Which branch has fused, told by what was saved: what the first or what the last one saves with its neighbour.
  BranchRule closest(double saved, const PairFinding& first, const PairFinding& last) const {
    const double to_first = std::abs(saved - first.saved), to_last = std::abs(saved - last.saved);
    if (saved < std::min(to_first, to_last)) return BranchRule::none;
    const bool alike = std::abs(first.saved - last.saved) < findings_.threshold;
    return alike || to_first <= to_last ? BranchRule::first : BranchRule::last;
  }

  /// The rule that most cases show, of pairs of operators that fuse as `ends` says; none where there is no case.
  template <class Ends, class MakeCase>
  BranchRule rule_of(const Ends& ends, const MakeCase& make_case) {
    constexpr int most_cases = 4;
    std::map<BranchRule, int> votes;
    int cases = 0;
    for (const PairFinding& first : findings_.pairs) {
      for (const PairFinding& last : findings_.pairs) {
        if (!first.fused || !last.fused || !ends(first, last) || cases == most_cases) continue;
        const auto found = saving(make_case(first, last));
        if (!found) continue;
        ++cases;
        ++votes[closest(found->saved, first, last)];
      }
    }
    BranchRule most = BranchRule::none;
    for (const auto& [rule, count] : votes) most = count > votes[most] ? rule : most;
    return most;
  }

  BranchRule detect_join() {
    return rule_of(
        [](const PairFinding& left, const PairFinding& right) {
          const bool joins = left.second == "add" || left.second == "multiply";
          return joins && left.second == right.second && left.first < right.first;
        },
        [&](const PairFinding& left, const PairFinding& right) {
          return join_case(left.first, right.first, left.second, options_.image);
        });
  }

  BranchRule detect_fork() {
    return rule_of([](const PairFinding& left,
                      const PairFinding& right) { return left.first == right.first && left.second < right.second; },
                   [&](const PairFinding& left, const PairFinding& right) {
                     return fork_case(left.first, left.second, right.second, options_.image);
                   });
  }

  const TimeCase& time_case_;
  const FusionDetectionOptions& options_;
  const std::function<bool()>& go_on_;
  FusionFindings findings_;
};

}  // namespace

FusionFindings detect_fusion(const TimeCase& time_case, const FusionDetectionOptions& options,
                             const std::function<bool()>& go_on) {
  for (const std::string& type : options.operators) operator_case(type, options.image);
  return Detection(time_case, options, go_on).run();
}

TimeCase time_on(const Runtime& runtime, const RuntimeOptions& options, int runs) {
  TimingOptions timing;
  timing.warmup_runs = 2;
  timing.warmup_ms = 0;
  timing.minimum_runs = timing.maximum_runs = runs;
  return [&runtime, options, timing](const FusionCase& one) {
    const std::shared_ptr<PreparedNetwork> apart = runtime.prepare(one.apart, options);
    const std::shared_ptr<PreparedNetwork> together = runtime.prepare(one.together, options);
    auto round = [apart, together, timing] {
      return CaseTimes{measure([&] { apart->run(); }, timing).median_ms,
                       measure([&] { together->run(); }, timing).median_ms};
    };
    round();
    return round;
  };
}

nlohmann::ordered_json to_json(const FusionFindings& findings) {
  nlohmann::ordered_json document = nasbench::to_json(findings.rules);
  document["operators_ms"] = findings.operators_ms;
  document["usual_ms"] = findings.usual_ms;
  document["threshold"] = findings.threshold;
  document["evidence"] = nlohmann::ordered_json::array();
  for (const PairFinding& pair : findings.pairs) {
    document["evidence"].push_back({{"pair", {pair.first, pair.second}},
                                    {"fused", pair.fused},
                                    {"decided", pair.decided},
                                    {"saved", pair.saved},
                                    {"interval", {pair.lower, pair.upper}},
                                    {"fence", name(pair.fence)},
                                    {"rounds", pair.rounds}});
  }
  document["refused"] = findings.refused;
  return document;
}

}  // namespace tenshot::descriptor
