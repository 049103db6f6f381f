#include <cmath>

#include "nasbench/spaces/networks.h"
#include "trainer/cli/shared_options.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/prediction_table.h"
#include "trainer/core/quantity_card.h"
#include "trainer/predictors/registry.h"
#include "trainer/predictors/verdict.h"

namespace tenshot::cli {
namespace {

constexpr double shown_confidence = 0.9;

nlohmann::json to_json(const datasets::Fleet& fleet) {
  nlohmann::json json = {{"networks", fleet.shared}, {"differ_percent", 100 * fleet.spread}};
  for (const datasets::Fleet::Board& board : fleet.boards) {
    json["boards"].push_back(  // NaN becomes null
        {{"measurements", board.name}, {"slower_percent", board.compared ? 100 * std::expm1(board.level) : NAN}});
  }
  return json;
}

/// Says which of the measured networks the predictor still cannot predict. Throws InputError where it can predict none.
void require_some_usable(const trainer::Predictor& predictor, std::vector<nasbench::Architecture> measured) {
  if (measured.empty()) return;
  trainer::Predictions own = predictor.predict(measured, shown_confidence);
  const auto reasons = trainer::take_out_unusable(own, measured, predictor.space(), predictor.quantity());
  if (measured.empty()) throw InputError("none of the measured networks can be predicted: " + reasons.front());
  for (const std::string& reason : reasons) say(reason, {{"warns", true}});
}

}  // namespace

void run_adapt(const OptionParser& options) {
  const std::string out = options.required("out");
  if (!options.has("measurements") && !options.has("descriptor") && !options.has("like")) {
    throw UsageError("tenshot adapt needs --measurements; or --descriptor or --like; see tenshot adapt --help");
  }
  trainer::AdaptOptions adapt_options;
  if (options.has("like")) adapt_options.like = options.get("like");
  adapt_options.mode = options.one_of("mode", "adaptation mode", {"joint", "fine-tune", "set-encoder"});
  adapt_options.seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  if (options.has("clones")) adapt_options.clones = options.integer("clones", 1);
  quantity_option(options);
  const int threads = options.integer("threads", 1);
  const std::string checkpoint = checkpoint_of(options);
  FileRoles files(options);
  files.reads("--checkpoint", checkpoint);
  files.makes_training("--out", out);
  const auto model = trainer::load_pool_model(checkpoint);
  require_options_of(*model, options);
  const std::vector<nasbench::Architecture> named = networks_of(options);
  trainer::AdaptationSet set =
      adaptation_set(options, *model, trainer::adapted_quantity(model->pool(), quantity_option(options)));
  if (set.whole_milliseconds) {
    say(whole_numbers(*set.quantity) + ": on fast networks one step of this clock is a large relative error");
  }
  if (options.has("operators")) trainer::add_operators(set, options.get("operators"), *model);
  if (set.descriptor) remark_on_descriptor(*model, *set.descriptor);
  ProgressLine progress;
  adapt_options.control = training_control(out, threads, progress);
  if (set.fleet) put_outcome({{"fleet", to_json(*set.fleet)}});
  const auto predictor = model->adapt(set, adapt_options);
  trainer::require_quantity(quantity_option(options), *predictor, checkpoint);
  require_some_usable(*predictor, set.architectures);
  const auto found = judge(*model, *predictor, set, adapt_options, named);
  save_trained(judged_archive(*predictor, found), out);  // a page on it promises the same (`tenshot report`)
  if (found) put_outcome({{"verdict", to_json(*found)}});
  if (found) tell_people(in_words(*found));
  for (const trainer::Remark& remark : predictor->explanation()) say(in_words(remark), {{"warns", remark.warns}});
  const nasbench::SearchSpace* decided = predictor->space().search_space();
  say_written(out, "predictor",
              "tenshot predict --predictor " + shell_word(out) +
                  (decided == nullptr    ? " model.onnx"
                   : decided->listable() ? " --out predictions.csv"
                                         : " --archs candidates.csv --out predictions.csv"));
  if (found) refuse_doubtful(options, *found, out);
}

}  // namespace tenshot::cli
