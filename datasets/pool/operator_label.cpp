#include "datasets/pool/operator_label.h"

#include <nlohmann/json.hpp>

#include "nasbench/spaces/specification_json.h"

namespace tenshot::datasets {
namespace {

using nasbench::OperatorSequence;

OperatorSequence key_by_name(const std::string& name, int channels, int resolution,
                             const nasbench::NetworkSpace& space) {
  const auto known = space.named_operation(name, channels, resolution);
  return known ? *known : nasbench::opaque_operator(name, channels, resolution);
}

}  // namespace

bool is_known_by_name(const std::string& name, const OperatorSequence& key, const nasbench::NetworkSpace& space) {
  return key == key_by_name(name, key.channels(), key.resolution(), space);
}

void put_operator(nlohmann::json& entry, const std::string& name, const OperatorSequence& key,
                  const nasbench::NetworkSpace& space) {
  entry["name"] = name;
  entry["channels"] = key.channels();
  entry["resolution"] = key.resolution();
  if (is_known_by_name(name, key, space)) return;
  entry["input"] = key.input;
  entry["operators"] = nlohmann::json::array();
  for (const nasbench::OperatorSpecification& op : key.operators) {
    entry["operators"].push_back(nasbench::specification_json(op));
  }
}

OperatorSequence read_operator_key(const JsonReader& entry, const std::string& name,
                                   const nasbench::NetworkSpace& space) {
  const int channels = entry.whole_number("channels", 0, 0), resolution = entry.whole_number("resolution", 0, 0);
  if (entry.find("operators") == nullptr) return key_by_name(name, channels, resolution, space);
  OperatorSequence key;
  key.input = nasbench::shape_from_json(entry, "input", "the shape of what the operators read");
  for (const JsonReader& op : entry.objects("operators")) {
    key.operators.push_back(nasbench::specification_from_json(op));
  }
  return key;
}

}  // namespace tenshot::datasets
