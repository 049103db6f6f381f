#pragma once

#include <functional>
#include <string>
#include <vector>

#include "descriptor/fusion/fusion_cases.h"
#include "descriptor/runtimes/runtime.h"
#include "nasbench/kernels/fusion_rules.h"

namespace tenshot::descriptor {

/// How fusion is detected.
struct FusionDetectionOptions {
  /// Every pair of them is a case: the time grows with the square of their number.
  std::vector<std::string> operators = testable_operators();
  /// The image that the cases' networks read. Larger ones stand out of the noise of small devices, and take longer in
  /// proportion.
  CaseImage image;
  /// α of Inequality 1: which share of the cheaper operator's time fusing has to save. Larger finds fewer pairs fused,
  /// and is misled less by caches that happen to be warm.
  double alpha = 0.5;
  /// Each round times all networks of a case once; no case is decided before so many. More take longer, and make a
  /// decision by chance less likely.
  int least_rounds = 5;
  /// A case that is within the noise after so many rounds stays undecided. More take longer and leave fewer of those.
  int most_rounds = 60;
  /// Standard error of a network's time that its rounds do not show, in ms: where networks are measured one after the
  /// other, and the machine changes between them. Larger leaves more pairs undecided.
  double drift_ms = 0;
};

/// Times of networks in one round, in milliseconds, in their order: taken one right after the other, so that what a
/// shared machine does meanwhile falls on all of them. Throws InputError where a runtime cannot run one of them.
using TimeCase = std::function<std::function<std::vector<double>()>(const std::vector<nasbench::Network>&)>;

/// What was found of two operators in a row.
struct PairFinding {
  std::string first, second;
  double first_ms = 0, second_ms = 0, connected_ms = 0;  ///< medians over the rounds, without what a call costs
  /// (T₁ + T₂ − T₁₂) / min(T₁, T₂): mean over the rounds and half of its 95 % confidence interval. Fused where it is
  /// over α (Inequality 1).
  double saved = 0, saved_error = 0;
  int rounds = 0;
  bool fused = false;
  bool decided = false;  ///< the interval does not contain α
};

struct FusionFindings {
  nasbench::FusionRules rules;
  std::vector<PairFinding> pairs;
  std::vector<std::string> refused;  ///< cases that the runtime cannot run, and why
};

/// Finds out by test cases what a runtime fuses (Zhang et al., MobiSys 2021, §4.1): every two operators in a row, by
/// Inequality 1; then, where operators fuse, whether they do so at a fork and at a join, by which plan of fusing comes
/// closest to the time that was measured. What a call costs, the time of an operator on a single pixel, is taken off
/// all times first; the paper's inequality would take it for saved. Undecided pairs count as not fused. `go_on` is
/// asked before each case; throws Interrupted once it says no.
FusionFindings detect_fusion(const TimeCase& time_case, const FusionDetectionOptions& options,
                             const std::function<bool()>& go_on = {});

/// Times cases on a runtime: the median of `runs` runs of each network in a round, after a warm-up.
TimeCase time_on(const Runtime& runtime, const RuntimeOptions& options, int runs = 9);

/// The rules as a file (tenshot.fusion/1), with the findings behind them under "evidence", and what was refused.
nlohmann::ordered_json to_json(const FusionFindings& findings);

}  // namespace tenshot::descriptor
