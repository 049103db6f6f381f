#include "trainer/cli/until.h"

#include <nlohmann/json.hpp>
#include <string>

#include "nasbench/support/error.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "trainer/predictors/verdict.h"

namespace tenshot::cli {

void add_until_option(OptionParser& options) {
  options.text("until",
               "how sure to become, as in 15%: says how many measurements beside --measurements bring nine of ten "
               "predictions within ±15 %, as is expected, and plans so many unless --samples says otherwise");
}

double wanted_half_width(const OptionParser& options) {
  std::string text = options.get("until");
  if (!text.empty() && text.back() == '%') text.pop_back();
  const std::optional<double> percent = parse_number(trimmed(text));
  constexpr double most = 100;
  if (!percent || !(*percent > 0 && *percent < most)) {
    throw UsageError("--until is '" + options.get("until") + "', expected a width such as 15%");
  }
  if (!options.has("measurements")) {
    throw UsageError("--until is for planning further measurements: name those that you have by --measurements");
  }
  return *percent / most;
}

std::optional<std::size_t> say_needed(const OptionParser& options, const trainer::PoolModel& model,
                                      const trainer::AdaptationSet& measured,
                                      const std::vector<nasbench::Architecture>& named, Outcome& outcome) {
  const double wanted = wanted_half_width(options);
  const auto predictor = model.adapt(measured, {});
  const std::vector<nasbench::Architecture> judged = judged_by(model, measured.architectures, named);
  const std::optional<trainer::Verdict> now = verdict(*predictor, judged, measured.architectures);
  if (!now) {
    throw InputError("--until: a predictor of kind " + std::string(model.kind()) + " does not say how sure it is");
  }
  const std::optional<std::size_t> needed =
      measurements_until(wanted, *now, *predictor, judged, measured.architectures);
  nlohmann::json json = to_json(*now);
  json["wanted_percent"] = 100 * wanted;
  json["further_measurements"] = needed ? nlohmann::json(*needed) : nlohmann::json();
  json["reached"] = needed == std::size_t{0};
  outcome.set("verdict", json);
  const std::string width = significant_digits(100 * wanted, 3) + " %";
  outcome.tell(in_words(*now));
  if (!needed) {
    outcome.tell("up to " + std::to_string(trainer::most_planned) +
                 " further measurements are not expected to bring that to ±" + width);
  } else if (*needed == 0) {
    outcome.tell("that is within ±" + width + ": no further measurement is needed");
  } else {
    outcome.tell(std::to_string(*needed) + (*needed == 1 ? " further measurement is" : " further measurements are") +
                 " expected to bring that to ±" + width);
  }
  return needed;
}

}  // namespace tenshot::cli
