#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/trust.h"

namespace tenshot::trainer {

/// The networks that a verdict is about: of networks by name those that the user `named`, else those of the pool
/// (known_architectures()), else the measured ones.
std::vector<Architecture> judged_by(const PoolModel& model, const std::vector<Architecture>& measured,
                                    const std::vector<Architecture>& named = {});

/// How far a predictor is to be trusted, by the median width of its 90 % intervals over the networks judged, and what
/// three more measurements would do: the three most informative of them (next_measurements).
struct Verdict {
  Trust trust = Trust::doubtful;
  double half_width = 0;  ///< nine of ten predictions are expected within ± this share
  /// The same of networks of other kinds than were measured; nothing where the predictor does not compare them.
  std::optional<double> of_other_kinds;
  std::size_t measurements = 0;   ///< that the predictor was made from
  std::size_t warnings = 0;       ///< among its explanation
  std::optional<double> further;  ///< half_width after three more; nothing where the predictor does not say
};

/// Nothing for predictors without intervals, and where no network is judged.
std::optional<Verdict> verdict(const Predictor& predictor, const std::vector<Architecture>& judged,
                               const std::vector<Architecture>& measured);

/// A predictor's content with its verdict in the card, where one of a finite width was found.
Archive judged_archive(const Predictor& predictor, const std::optional<Verdict>& verdict);
/// The verdict that a predictor's card keeps; nothing in files of earlier versions. Throws FormatError.
std::optional<Verdict> kept_verdict(const Archive& archive);

/// "Good: expect nine of ten predictions within ±6 %, of networks of other kinds within ±20 % (from 10 measurements;
/// three more would narrow that to ±5 %)"
std::string in_words(const Verdict& verdict);
/// {"trust": "good", "within_percent": 6.1, "within_percent_of_other_kinds": 20.3, "measurements": 10, "warnings": 0,
/// "within_percent_after_three_more": 5.2}
nlohmann::json to_json(const Verdict& verdict);

/// How many further measurements are expected to bring `half_width` to `wanted`: 0 where it is there already; nothing
/// where `most_planned` would not do, too few networks are judged, or the predictor does not say what it is uncertain
/// about.
std::optional<std::size_t> measurements_until(double wanted, const Verdict& verdict, const Predictor& predictor,
                                              const std::vector<Architecture>& judged,
                                              const std::vector<Architecture>& measured);

/// Most further measurements that measurements_until() looks at.
constexpr std::size_t most_planned = 64;

}  // namespace tenshot::trainer
