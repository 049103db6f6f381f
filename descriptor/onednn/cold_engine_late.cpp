#include "descriptor/onednn/cold_engine.h"
#include "nasbench/support/late_library.h"

namespace tenshot::descriptor {

std::string cold_machine() { return TENSHOT_HAS_ONEDNN ? from_engines_library("cold_machine", cold_machine)() : ""; }

std::vector<std::string> kernel_names(const ColdNetwork& network, const ColdLayer& layer) {
  return from_engines_library("kernel_names", kernel_names)(network, layer);
}

void require_this_machine(const ColdPlan& plan) {
  from_engines_library("require_this_machine", require_this_machine)(plan);
}

ColdStages measure_cold_stages(const std::filesystem::path& model, const ColdMeasureOptions& options) {
  return from_engines_library("measure_cold_stages", measure_cold_stages)(model, options);
}

std::string missing_weights(const ColdPlan& plan, const std::filesystem::path& folder) {
  return from_engines_library("missing_weights", missing_weights)(plan, folder);
}

bool make_weights(const ColdPlan& plan, const std::filesystem::path& model, const std::filesystem::path& folder) {
  return from_engines_library("make_weights", make_weights)(plan, model, folder);
}

ColdStart run_cold_start(const std::filesystem::path& plan, const ColdStartOptions& options) {
  return from_engines_library("run_cold_start", run_cold_start)(plan, options);
}

}  // namespace tenshot::descriptor
