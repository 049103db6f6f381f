#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/core/options_json.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// For options_json.h, which finds it by the type of the options.
template <class Options, class Visit>
void each_option(Options& options, const Visit& visit) {
  visit("noises", options.noises);
  visit("library_share", options.library_share);
  visit("cost_spread", options.cost_spread);
  visit("cost_spread_floor", options.cost_spread_floor);
  visit("closeness", options.closeness);
  visit("residual_share", options.residual_share);
  visit("student_freedom", options.student_freedom);
  visit("slow_steps", options.slow_steps);
  visit("slow_share", options.slow_share);
  visit("largest_slow_noise", options.largest_slow_noise);
  visit("gross_share", options.gross_share);
  visit("gross_spread", options.gross_spread);
  visit("newton_steps", options.newton_steps);
  visit("path_entries", options.path_entries);
  visit("kept", options.kept);
  visit("left_out", options.left_out);
  visit("described_share", options.described_share);
  visit("described_spread", options.described_spread);
  visit("strange_share", options.strange_share);
  visit("strange_devices", options.strange_devices);
  visit("planning_noise", options.planning_noise);
}

PosteriorOptions checked_options(const CardField& settings) {
  const auto options = options_from<PosteriorOptions>(settings);
  require_valid(options);
  return options;
}

void require_valid(const PosteriorOptions& options) {
  const auto none_below = [](const std::vector<double>& values, double least) {
    return !values.empty() && std::all_of(values.begin(), values.end(), [&](double v) { return v >= least; });
  };
  const auto between = [](double value, double least, double most) { return value >= least && value <= most; };
  require_option(none_below(options.noises, 1e-4), "noises",
                 "a list of standard deviations of log latency, .0001 or more");
  require_option(none_below(options.closeness, 1e-3), "closeness", "a list of factors, .001 or more");
  require_option(none_below(options.slow_steps, 0), "slow_steps", "a list of steps of log latency, 0 or more");
  require_option(between(options.library_share, 0, 1e3), "library_share", "from 0 to 1000");
  require_option(between(options.cost_spread, 0, 1e3), "cost_spread", "from 0 to 1000");
  require_option(between(options.cost_spread_floor, 1e-6, 1e3), "cost_spread_floor", "from 1e-6 to 1000");
  require_option(between(options.residual_share, 0, 10), "residual_share", "from 0 to 10");
  require_option(options.student_freedom == 0 || between(options.student_freedom, 1, 1e3), "student_freedom",
                 "0 (Gaussian), or from 1 to 1000");
  require_option(between(options.slow_share, 0, 0.5), "slow_share", "from 0 to .5");
  require_option(between(options.largest_slow_noise, 0, 1), "largest_slow_noise", "from 0 to 1");
  require_option(between(options.gross_share, 0, 0.5), "gross_share", "from 0 to .5");
  require_option(between(options.gross_spread, 1e-3, 10), "gross_spread", "from .001 to 10");
  require_option(options.newton_steps >= 1 && options.newton_steps <= 1000, "newton_steps", "from 1 to 1000");
  require_option(options.path_entries >= 1, "path_entries", "1 or more");
  require_option(options.kept >= 1, "kept", "1 or more");
  require_option(options.described_share > 0 && options.described_share < 1, "described_share", "between 0 and 1");
  require_option(between(options.described_spread, 1e-6, 10), "described_spread", "from 1e-6 to 10");
  require_option(between(options.strange_share, 0, 1), "strange_share", "from 0 to 1");
  require_option(options.strange_devices <= 1000, "strange_devices", "from 0 to 1000");
  require_option(between(options.planning_noise, 1e-4, 10), "planning_noise", "from .0001 to 10");
}

void to_json(nlohmann::json& json, const PosteriorOptions& options) { json = options_json(options); }

void from_json(const nlohmann::json& json, PosteriorOptions& options) {
  options = options_from<PosteriorOptions>(json);
}

}  // namespace tenshot::trainer::structured
