#include "datasets/kit/converted.h"
#include "datasets/kit/kit.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/shared_options.h"
#include "trainer/core/prediction_table.h"
#include "trainer/core/quantity_card.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/registry.h"
#include "trainer/predictors/verdict.h"

namespace tenshot::cli {
namespace {

/// What to do once the plan is measured, and `measured` is there beside what was given here.
std::string adapt_command(const OptionParser& options, const std::string& measured) {
  std::string text = "tenshot adapt";
  if (options.has("checkpoint")) text += " --checkpoint " + shell_word(options.get("checkpoint"));
  for (const std::string& path : options.all("measurements")) text += " --measurements " + shell_word(path);
  text += " --measurements " + shell_word(measured) + (options.has("fleet") ? " --fleet" : "");
  if (options.has("networks")) text += " --networks " + shell_word(options.get("networks"));
  for (const char* option : {"shape", "runtime", "quantity", "descriptor"}) {
    for (const std::string& value : options.all(option)) text += " --" + std::string(option) + " " + shell_word(value);
  }
  return text + " --out device.tenshot";
}

void write_kit(const OptionParser& options, const datasets::KitRequest& request) {
  const std::string folder = options.get("kit");
  ProgressLine progress;
  const datasets::KitSummary kit = datasets::write_kit(folder, request, [&](std::size_t done, std::size_t all) {
    progress.show("model " + std::to_string(done) + " of " + std::to_string(all));
  });
  const std::string size = decimals(static_cast<double>(kit.bytes) / 1e6, 1) + " MB";
  say_written(folder, std::to_string(kit.models) + " models, " + size,
              "copy it to the device, run measure.sh" + std::string(options.has("profile") ? " --profile" : "") +
                  (quantity_option(options) == datasets::Quantity::cold ? " --cold 5" : "") +
                  " there, copy results/ back, then " + adapt_command(options, folder));
}

void add_converted(const OptionParser& options) {
  const std::string folder = options.get("kit"), from = options.get("converted");
  const datasets::ConvertedSummary added = datasets::add_converted(folder, from);
  if (!added.passed_over.empty()) {
    const std::size_t count = added.passed_over.size();
    say(from + ": " + std::to_string(count) + (count == 1 ? " file is" : " files are") +
        " of no model of the kit, such as " + added.passed_over.front() + "; left out");
  }
  if (added.without > 0) {
    say(std::to_string(added.without) + " operators and chains of the kit were not converted and will not be measured");
  }
  say_written(folder, std::to_string(added.models) + " converted models (." + added.format + ")",
              "copy it to the device and run measure.sh --command '… {model} …' there, or here with --adb for a phone");
}

/// `plan --kit KIT --converted DIR`, without a plan: the kit is there already.
bool adds_to_kit(const OptionParser& options) {
  if (!options.has("converted")) return false;
  if (!options.has("kit")) throw UsageError("--converted is of a --kit");
  if (options.has("checkpoint") || options.has("out") || options.has("networks")) return false;
  if (!datasets::is_kit(options.get("kit"))) {
    throw InputError(options.get("kit") + ": is no kit; write one first, by plan --kit");
  }
  return true;
}

/// What --until says: "15%", "15 %" and "15" are 0.15. Throws UsageError, also where --measurements is not given.
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

/// Adapts the model to what was measured, and says of the networks judged (judged_by in verdict.h) how sure it is and
/// how many further measurements are expected to do what --until asks for. Returns their number: 0 where it is so
/// already, nothing where `most_planned` (verdict.h) or all of the pool's networks would not do.
std::optional<std::size_t> say_needed(const OptionParser& options, const trainer::PoolModel& model,
                                      const trainer::AdaptationSet& measured,
                                      const std::vector<nasbench::Architecture>& named) {
  const double wanted = wanted_half_width(options);
  const auto predictor = model.adapt(measured, {});
  const std::vector<nasbench::Architecture> judged = judged_by(model, measured.architectures, named);
  const std::optional<trainer::Verdict> now = judge(model, *predictor, measured, {}, named);
  if (!now) {
    throw InputError("--until: a predictor of kind " + std::string(model.kind()) + " does not say how sure it is");
  }
  const std::optional<std::size_t> needed =
      measurements_until(wanted, *now, *predictor, judged, measured.architectures);
  nlohmann::json json = to_json(*now);
  json["wanted_percent"] = 100 * wanted;
  json["further_measurements"] = needed ? nlohmann::json(*needed) : nlohmann::json();
  json["reached"] = needed == std::size_t{0};
  put_outcome({{"verdict", json}});
  const std::string width = significant_digits(100 * wanted, 3) + " %";
  tell_people(in_words(*now));
  for (const trainer::Remark& remark : predictor->explanation()) {
    if (remark.warns) say(in_words(remark), {{"warns", true}});
  }
  refuse_doubtful(options, *now, joined(options.all("measurements")));
  if (!needed) {
    tell_people("no further measurements are expected to bring that to ±" + width + "; measure three, and ask again");
  } else if (*needed == 0) {
    tell_people("that is within ±" + width + ": no further measurement is needed; no plan is written");
  } else {
    tell_people(std::to_string(*needed) + (*needed == 1 ? " further measurement is" : " further measurements are") +
                " expected to bring that to ±" + width);
  }
  return needed;
}

trainer::PlanRequest plan_request(const OptionParser& options) {
  trainer::PlanRequest request;
  request.samples = static_cast<std::size_t>(options.integer("samples", 1));
  request.sampler = options.one_of("sampler", "sampler", trainer::plan_samplers());
  if (options.has("descriptor") && request.sampler != "information") {
    throw UsageError("--descriptor is for the sampler information; " + request.sampler + " does not look at it");
  }
  quantity_option(options);
  request.profiled = options.has("profile");
  request.seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  return request;
}

datasets::KitRequest kit_request(const OptionParser& options, std::uint64_t seed) {
  datasets::KitRequest kit;
  kit.weight_seed = seed;
  kit.batch = options.integer("batch", 1);
  kit.runs = options.integer("runs", 1);
  for (const char* option : {"batch", "resolution", "runs"}) {
    if (options.has(option) && !options.has("kit")) throw UsageError("--" + std::string(option) + " is of a --kit");
  }
  return kit;
}

/// Candidates, measurements that were made already, and the descriptor.
void add_what_is_known(const OptionParser& options, const trainer::PoolModel& model, datasets::Quantity quantity,
                       trainer::PlanRequest& request) {
  const nasbench::NetworkSpace& space = *model.pool().space;
  const nasbench::NetworkReadOptions read = read_options(options);
  request.candidates = networks_of(options, read);
  if (options.has("networks") && &space != &nasbench::networks()) {
    throw InputError("--networks: the checkpoint is of the space " + std::string(space.name()) +
                     ", whose candidates are named by --archs");
  }
  datasets::require_shapes_used(read);
  if (options.has("archs")) request.candidates = usable_architectures(options, options.get("archs"), space);
  if (options.has("kit") && &space == &nasbench::networks()) {
    // What a kit could not copy whole, and what is of another format than most of them.
    const std::string suffix = datasets::kit_suffix(request.candidates);
    leave_out(options, request.candidates, [&](const auto& network) { return datasets::kit_problem(network, suffix); });
  }
  request.measured = adaptation_set(options, model, quantity);
  require_options_of(model, options);
  if (options.has("descriptor") && model.planning_prior() != nullptr) {
    remark_on_descriptor(model, *request.measured.descriptor);
  }
}

}  // namespace

void run_plan(const OptionParser& options) {
  if (options.has("until")) wanted_half_width(options);
  if (options.has("fusion")) return run_fusion_kit(options);
  if (adds_to_kit(options)) return add_converted(options);
  if (!options.has("kit") && !options.has("out")) {  // a kit holds its plan
    throw UsageError("tenshot plan needs --out; or --kit, a folder to copy to the device; see tenshot plan --help");
  }
  trainer::PlanRequest request = plan_request(options);
  datasets::KitRequest kit = kit_request(options, request.seed);
  const std::string checkpoint = checkpoint_of(options);
  FileRoles files(options);
  files.reads("--checkpoint", checkpoint);
  if (options.has("out")) files.makes("--out", options.get("out"));
  if (options.has("kit")) files.writes("--kit", options.get("kit"), true);
  const auto model = trainer::load_pool_model(checkpoint);
  const nasbench::NetworkSpace& space = *model->pool().space;
  const datasets::Quantity quantity = trainer::adapted_quantity(model->pool(), quantity_option(options));
  kit.space = &space;
  kit.shape = space.default_shape();
  if (options.has("resolution")) {
    if (&space == &nasbench::networks()) {
      throw UsageError("--resolution is of search spaces; what files leave open of their inputs is said by --shape");
    }
    kit.shape.resolution = options.integer("resolution", 4);
  }
  add_what_is_known(options, *model, quantity, request);
  if (options.has("until")) {
    const auto needed = say_needed(options, *model, request.measured, request.candidates);
    if (needed == std::size_t{0}) return;
    const std::size_t all = request.candidates.size(), done = request.measured.architectures.size();
    const std::size_t most = all > done ? all - done : request.samples;  // of networks that are listed
    if (!options.has("samples")) request.samples = needed.value_or(std::min(trainer::more_measurements, most));
  }
  const std::vector<nasbench::Architecture> plan = trainer::plan(*model, request);
  if (options.has("kit")) {  // first: what a kit refuses leaves no plan
    kit.architectures = plan;
    kit.read = read_options(options);
    write_kit(options, kit);
  }
  if (options.has("out")) {
    trainer::write_plan(options.get("out"), plan, space);
    say_written(options.get("out"), "plan of " + std::to_string(plan.size()) + " architectures",
                options.has("kit")
                    ? ""
                    : "measure them (a column " + column(quantity) + "), then " +
                          adapt_command(options, options.has("measurements") ? "further.csv" : "measured.csv"));
  }
  if (options.has("converted")) add_converted(options);
}

}  // namespace tenshot::cli
