#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "nasbench/support/error.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {
namespace {

void require(bool valid, const std::string& what, const std::string& range) {
  if (!valid) throw InputError(what + " must be " + range);
}

/// visit(name, value) for each of them.
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
}

constexpr std::size_t longest_list = 1000;
constexpr std::int64_t largest_count = 1'000'000;

void read(const CardField& field, double& value) { value = field.number(any_number); }
void read(const CardField& field, int& value) { value = static_cast<int>(field.whole_number(0, largest_count)); }
void read(const CardField& field, std::size_t& value) {
  value = static_cast<std::size_t>(field.whole_number(0, largest_count));
}
void read(const CardField& field, std::vector<std::string>& values) { values = field.texts(longest_list); }
void read(const CardField& field, std::vector<double>& values) {
  values.clear();
  for (const CardField& entry : field.list(longest_list)) values.push_back(entry.number(any_number));
}

}  // namespace

PosteriorOptions checked_options(const CardField& settings) {
  PosteriorOptions options;
  each_option(options, [&](const char* name, auto& value) {
    if (const auto field = settings.find(name)) read(*field, value);
  });
  require_valid(options);
  return options;
}

void require_valid(const PosteriorOptions& options) {
  const auto none_below = [](const std::vector<double>& values, double least) {
    return !values.empty() && std::all_of(values.begin(), values.end(), [&](double v) { return v >= least; });
  };
  const auto between = [](double value, double least, double most) { return value >= least && value <= most; };
  require(none_below(options.noises, 1e-4), "noises", "a list of standard deviations of log latency, .0001 or more");
  require(none_below(options.closeness, 1e-3), "closeness", "a list of factors, .001 or more");
  require(none_below(options.slow_steps, 0), "slow_steps", "a list of steps of log latency, 0 or more");
  require(between(options.library_share, 0, 1e3), "library_share", "from 0 to 1000");
  require(between(options.cost_spread, 0, 1e3), "cost_spread", "from 0 to 1000");
  require(between(options.cost_spread_floor, 1e-6, 1e3), "cost_spread_floor", "from 1e-6 to 1000");
  require(between(options.residual_share, 0, 10), "residual_share", "from 0 to 10");
  require(options.student_freedom == 0 || between(options.student_freedom, 1, 1e3), "student_freedom",
          "0 (Gaussian), or from 1 to 1000");
  require(between(options.slow_share, 0, 0.5), "slow_share", "from 0 to .5");
  require(between(options.largest_slow_noise, 0, 1), "largest_slow_noise", "from 0 to 1");
  require(between(options.gross_share, 0, 0.5), "gross_share", "from 0 to .5");
  require(between(options.gross_spread, 1e-3, 10), "gross_spread", "from .001 to 10");
  require(options.newton_steps >= 1 && options.newton_steps <= 1000, "newton_steps", "from 1 to 1000");
  require(options.path_entries >= 1, "path_entries", "1 or more");
  require(options.kept >= 1, "kept", "1 or more");
  require(options.described_share > 0 && options.described_share < 1, "described_share", "between 0 and 1");
  require(between(options.described_spread, 1e-6, 10), "described_spread", "from 1e-6 to 10");
}

void to_json(nlohmann::json& json, const PosteriorOptions& options) {
  json = nlohmann::json::object();
  each_option(options, [&](const char* name, const auto& value) { json[name] = value; });
}

void from_json(const nlohmann::json& json, PosteriorOptions& options) {
  options = {};
  each_option(options, [&](const char* name, auto& value) {
    if (json.contains(name)) json.at(name).get_to(value);
  });
}

}  // namespace tenshot::trainer::structured
