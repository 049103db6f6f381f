#include "nasbench/support/error.h"
#include "trainer/cli/shared_options.h"

namespace tenshot::cli {

void add_quantity_option(OptionParser& options, const std::string& default_meaning) {
  options.text("quantity",
               "what is measured and predicted: latency (latency_ms), cold (cold_ms), energy (energy_mj) or memory "
               "(memory_mib); default: " +
                   default_meaning);
}

std::optional<datasets::Quantity> quantity_option(const OptionParser& options) {
  if (!options.has("quantity")) return std::nullopt;
  try {
    return datasets::quantity_named(options.get("quantity"));
  } catch (const InputError& error) {
    throw UsageError(std::string("--quantity: ") + error.what());
  }
}

void require_quantity(const OptionParser& options, const trainer::Predictor& predictor, const std::string& file) {
  const std::optional<datasets::Quantity> asked = quantity_option(options);
  if (!asked || *asked == predictor.quantity()) return;
  throw InputError(file + ": predicts " + std::string(name(predictor.quantity())) + ", asked for " +
                   std::string(name(*asked)) + " (--quantity)");
}

}  // namespace tenshot::cli
