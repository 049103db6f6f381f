#include <algorithm>
#include <cmath>
#include <iostream>

#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"
#include "trainer/cli/shared_options.h"
#include "trainer/core/knowledge.h"
#include "trainer/core/shipped.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {
namespace {

nlohmann::ordered_json described(const trainer::PoolModel& model, const trainer::OwnFits& fits, std::size_t number) {
  const datasets::DeviceRuntime& device = model.pool().devices[number];
  const trainer::OwnFit& fit = fits.devices[number];
  const trainer::Knowledge* knowledge = model.knowledge();
  return {{"id", device.id},
          {"device", device.device},
          {"runtime", device.runtime},
          {"threads", device.threads},
          {"precision", device.precision},
          {"batch", device.batch},
          {"space", model.pool().space->name()},
          {"source", knowledge == nullptr ? "" : knowledge->sources[knowledge->source_of[number]].name},
          {"networks", fit.networks},
          {"within_10", fit.within_10},  // NaN becomes null
          {"within_20", fit.within_20}};
}

/// In small letters, with blanks for hyphens and underscores.
std::string plain(std::string text) {
  for (char& c : text) c = c == '-' || c == '_' ? ' ' : c;
  return lower_case(text);
}

bool has_text(const nlohmann::ordered_json& device, const std::string& text) {
  return std::any_of(device.begin(), device.end(), [&](const nlohmann::ordered_json& field) {
    return plain(field.is_string() ? field.get<std::string>() : field.dump()).find(plain(text)) != std::string::npos;
  });
}

std::string shown(const nlohmann::ordered_json& device) {
  const auto text = [&](const char* key) { return device.at(key).get<std::string>(); };
  std::vector<std::string> parts = {text("device"), text("runtime")};
  if (device.at("threads") != 0) parts.push_back(device.at("threads").dump() + " threads");
  if (!text("precision").empty()) parts.push_back(text("precision"));
  if (device.at("batch") != 1 && device.at("batch") != 0) parts.push_back("batch " + device.at("batch").dump());
  parts.push_back((text("source").empty() ? "" : text("source") + ", ") + device.at("networks").dump() + " networks");
  if (text("space") != "networks") parts.push_back("of " + text("space") + " alone");
  if (std::isfinite(device.at("within_10").get<double>())) {
    parts.push_back("left out: " + whole_percent(device.at("within_10")) + " within ±10 %, " +
                    whole_percent(device.at("within_20")) + " within ±20 %");
  }
  parts.erase(std::remove(parts.begin(), parts.end(), std::string()), parts.end());
  return text("id") + ": " + joined(parts);
}

std::vector<std::string> checkpoints_of(const OptionParser& options) {
  if (options.has("checkpoint")) return {checkpoint_option(options)};
  std::vector<std::string> shipped;
  for (const std::filesystem::path& found : trainer::shipped_knowledge()) {
    shipped.push_back(found.lexically_normal().string());
  }
  if (shipped.empty()) {
    throw FileError("no knowledge came with this program (networks.tenshot, cells.tenshot); give --checkpoint");
  }
  return shipped;
}

}  // namespace

void run_devices(const OptionParser& options) {
  nlohmann::ordered_json found = nlohmann::ordered_json::array();
  std::size_t known = 0;
  for (const std::string& checkpoint : checkpoints_of(options)) {
    const auto model = trainer::load_pool_model(checkpoint);
    const trainer::OwnFits fits = model->own_fits();
    for (std::size_t d = 0; d < model->pool().devices.size(); ++d) {
      nlohmann::ordered_json device = described(*model, fits, d);
      ++known;
      if (!options.has("text") || has_text(device, options.get("text"))) found.push_back(std::move(device));
    }
  }
  if (found.empty()) {
    throw InputError("none of the " + std::to_string(known) + " device-runtimes has '" + excerpt(options.get("text")) +
                     "' in any field; tenshot devices lists them all");
  }
  if (options.has("json")) {
    std::cout << found.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return;
  }
  for (const nlohmann::ordered_json& device : found) std::cout << excerpt(shown(device), 500) << "\n";
  say("next: tenshot predict --device " + shell_word(found.front().at("id").get<std::string>()) +
      (options.has("checkpoint") ? " --checkpoint " + shell_word(options.get("checkpoint")) : "") +
      (found.front().at("space") == "networks" ? " model.onnx" : " ARCHITECTURE"));
}

}  // namespace tenshot::cli
