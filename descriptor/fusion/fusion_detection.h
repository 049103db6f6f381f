#pragma once

#include <functional>
#include <map>
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
  CaseImage image;
  /// Which share of the usual operator's time, the median over the operators, fusing has to save. Larger finds fewer
  /// pairs fused; smaller takes more of what is no fusion for one: operators that share code save a little as well.
  double alpha = 0.15;
  /// Each round times both networks of a case once; no case is decided before so many, and an interval needs eight.
  /// More take longer, and make a decision by chance less likely.
  int least_rounds = 8;
  /// A case that is within the noise after so many rounds stays undecided. More take longer and leave fewer of those.
  int most_rounds = 100;
};

/// Times of the two networks of a case, in milliseconds.
struct CaseTimes {
  double apart_ms = 0, together_ms = 0;
};

/// What times a case: each call is a round, in which one network is timed right after the other, so that what a shared
/// machine does meanwhile falls on both. Throws InputError where a runtime cannot run one of them.
using TimeCase = std::function<std::function<CaseTimes()>(const FusionCase&)>;

/// What was found of two operators in a row.
struct PairFinding {
  std::string first, second;
  /// What is saved where the two stand side by side instead of behind a fence each, as a share of the usual
  /// operator's time: the median over the rounds, and its 95 % confidence interval.
  double saved = 0, lower = 0, upper = 0;
  Fence fence = Fence::softmax;  ///< the one with which less was saved
  int rounds = 0;
  bool fused = false;    ///< with both fences the interval is over the threshold
  bool decided = false;  ///< it is, or with one of them under it
};

struct FusionFindings {
  nasbench::FusionRules rules;
  std::map<std::string, double> operators_ms;  ///< what each operator takes within a network
  double usual_ms = 0;                         ///< their median
  /// The share of it that fusing has to save: alpha, or more where that is within what controls seem to save.
  double threshold = 0;
  std::vector<PairFinding> pairs;
  std::vector<std::string> refused;  ///< cases that the runtime cannot run, and why
};

/// Finds out by test cases what a runtime fuses, after Zhang et al. (MobiSys 2021, §4.1): every two operators in a row,
/// then, where operators fuse, whether they do so at a fork and at a join. Where the paper compares a pair with its
/// operators alone (Inequality 1), each case here is two networks of the same operators, so that calls, ends and
/// layouts cancel. Pairs with a pool, which nothing fuses with, are controls: what is under twice the 95th percentile
/// of what they seem to save is not taken for fusion. Undecided pairs count as not fused. At a join where either branch
/// would save as much, the first is taken. `go_on` is asked before each case; throws Interrupted once it says no,
/// InputError where options are out of range or no operator can be timed.
FusionFindings detect_fusion(const TimeCase& time_case, const FusionDetectionOptions& options,
                             const std::function<bool()>& go_on = {});

/// Times cases on a runtime: the median of `runs` runs of each network in a round, after a warm-up.
TimeCase time_on(const Runtime& runtime, const RuntimeOptions& options, int runs = 9);

/// The rules as a file (tenshot.fusion/1), with the findings behind them under "evidence", and what was refused.
nlohmann::ordered_json to_json(const FusionFindings& findings);

}  // namespace tenshot::descriptor
