#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr std::string_view networks_format = "tenshot.networks/1";
constexpr double most_elements = 1e13;
constexpr double most_multiply_adds = 1e15;
constexpr int widest_window = 1 << 14;

json to_json(const OperatorSpecification& op) {
  json object = {{"kind", name(op.kind)}, {"inputs", op.inputs}, {"output", op.output}};
  if (!op.name.empty()) object["name"] = op.name;
  for (const auto& [key, extent] :
       {std::pair("kernel", op.kernel), std::pair("stride", op.stride), std::pair("dilation", op.dilation)}) {
    if (extent != Extent{}) object[key] = {extent.height, extent.width};
  }
  if (op.groups != 1) object["groups"] = op.groups;
  if (op.bias) object["bias"] = true;
  if (op.type != ElementType::float32) object["type"] = name(op.type);
  if (!op.constants.empty()) object["constants"] = op.constants;
  return object;
}

ElementType element_type(const JsonReader& reader) {
  const std::string text = reader.text("type", "float32");
  std::vector<std::string_view> known;
  for (int type = 0; type <= static_cast<int>(ElementType::boolean); ++type) {
    known.push_back(name(static_cast<ElementType>(type)));
    if (known.back() == text) return static_cast<ElementType>(type);
  }
  reader.fail("type", "one of " + joined(known), *reader.find("type"));
}

Shape shape_from(const json& value, const JsonReader& reader, const std::string& place) {
  if (!value.is_array() || value.size() > 16)
    reader.fail_at(place, "a list of dimensions, such as [1, 3, 224, 224]", value);
  Shape shape;
  double elements = 1;
  for (const json& extent : value) {
    shape.push_back(reader.whole_number_of(extent, place, 1));
    elements *= static_cast<double>(shape.back());
  }
  if (elements > most_elements) reader.fail_at(place, "at most 10^13 elements", value);
  return shape;
}

std::vector<Shape> shapes_from(const JsonReader& reader, const char* key) {
  std::vector<Shape> shapes;
  for (const json& shape : reader.array(key)) shapes.push_back(shape_from(shape, reader, reader.full(key)));
  return shapes;
}

Extent extent_from(const JsonReader& reader, const char* key) {
  const json* value = reader.find(key);
  if (value == nullptr) return {};
  if (!value->is_array() || value->size() != 2) reader.fail(key, "[height, width]", *value);
  const Extent extent = {reader.whole_number_of((*value)[0], reader.full(key), 1),
                         reader.whole_number_of((*value)[1], reader.full(key), 1)};
  if (extent.height > widest_window || extent.width > widest_window) reader.fail(key, "at most 16384", *value);
  return extent;
}

/// What would not fit 64 bits when it is counted.
bool is_countable(const OperatorSpecification& op) {
  double elements = 1, features = 1;
  for (const std::int64_t extent : op.output) elements *= static_cast<double>(extent);
  if (!op.inputs.empty()) {
    for (std::size_t i = 1; i < op.inputs[0].size(); ++i) {
      features = std::max(features, static_cast<double>(op.inputs[0][i]));
    }
  }
  const double window = static_cast<double>(op.kernel.height) * op.kernel.width;
  double widest = 1;
  for (const std::int64_t extent : op.output) widest = std::max(widest, static_cast<double>(extent));
  return elements * features * window / op.groups <= most_multiply_adds * 1e3 && features * widest * window < 1e18;
}

OperatorSpecification operator_from(const json& value, const std::string& file, const std::string& place) {
  const JsonReader reader(value, file, place);
  OperatorSpecification op;
  const std::string kind = reader.text("kind", "");
  try {
    op.kind = operator_kind(kind);
  } catch (const InputError& error) {
    throw FormatError(file + ": " + reader.full("kind") + ": " + excerpt(error.what(), 400));
  }
  op.name = excerpt(reader.text("name", ""));
  op.kernel = extent_from(reader, "kernel");
  op.stride = extent_from(reader, "stride");
  op.dilation = extent_from(reader, "dilation");
  op.groups = reader.whole_number("groups", 1, 1);
  if (const json* bias = reader.find("bias")) {
    if (!bias->is_boolean()) reader.fail("bias", "true or false", *bias);
    op.bias = bias->get<bool>();
  }
  op.inputs = shapes_from(reader, "inputs");
  op.output =
      shape_from(reader.require("output", "the shape of what the operator gives"), reader, reader.full("output"));
  op.constants = shapes_from(reader, "constants");
  op.type = element_type(reader);
  if (!is_countable(op)) throw FormatError(file + ": " + place + ": is too large to compute with");
  return op;
}

bool is_hash(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::size_t index_from(const JsonReader& reader, const json& value, const char* key, std::size_t below) {
  const int index = reader.whole_number_of(value, reader.full(key), 0);
  if (static_cast<std::size_t>(index) >= below) {
    reader.fail_at(reader.full(key), "numbers below " + std::to_string(below), value);
  }
  return static_cast<std::size_t>(index);
}

NamedNetwork network_from(const json& value, const std::vector<OperatorSpecification>& operators,
                          const std::string& file, const std::string& place) {
  const JsonReader reader(value, file, place);
  std::vector<OperatorSpecification> own;
  for (const json& index : reader.array("operators")) {
    own.push_back(operators[index_from(reader, index, "operators", operators.size())]);
  }
  NamedNetwork network = named_network(reader.text("name", ""), std::move(own), file);
  const std::string hash = reader.text("hash", "");
  const json* sources = reader.find("sources");
  if (!is_hash(hash)) reader.fail("hash", "64 hexadecimal digits", reader.require("hash", "64 hexadecimal digits"));
  if (sources == nullptr) {
    if (hash != network.hash) {
      throw FormatError(file + ": " + place + ": the hash of network '" + excerpt(network.name) +
                        "' is not that of its operators; the file was altered");
    }
    return network;
  }
  network.hash = hash;
  if (!sources->is_array() || sources->size() != network.operators.size()) {
    reader.fail("sources", "one list for each operator", *sources);
  }
  for (std::size_t i = 0; i < sources->size(); ++i) {
    std::vector<int>& list = network.sources.emplace_back();
    if (!(*sources)[i].is_array()) reader.fail("sources", "lists", (*sources)[i]);
    for (const json& source : (*sources)[i]) {
      if (!source.is_number_integer() || source.get<std::int64_t>() < -1 ||
          source.get<std::int64_t>() >= static_cast<std::int64_t>(i)) {
        reader.fail("sources", "-1, or an earlier operator", source);
      }
      list.push_back(source.get<int>());
    }
  }
  return network;
}

}  // namespace

json networks_json(const std::vector<Architecture>& identities) {
  json operators = json::array(), list = json::array();
  std::map<std::string, std::size_t> positions;
  for (const Architecture& identity : identities) {
    const NamedNetwork& network = named_network(identity);
    json indices = json::array();
    for (const OperatorSpecification& op : network.operators) {
      json object = to_json(op);
      const auto [place, added] =
          positions.emplace(object.dump(-1, ' ', false, json::error_handler_t::replace), operators.size());
      if (added) operators.push_back(std::move(object));
      indices.push_back(place->second);
    }
    json described = {{"name", network.name}, {"hash", network.hash}, {"operators", std::move(indices)}};
    if (!network.sources.empty()) described["sources"] = network.sources;
    list.push_back(std::move(described));
  }
  return {{"format", networks_format}, {"operators", std::move(operators)}, {"networks", std::move(list)}};
}

std::vector<Architecture> add_networks(const json& value, const std::string& file) {
  return guarded_json(file, "file of networks", [&] {
    const JsonReader reader(value, file, "");
    reader.require_format(networks_format, "file of networks");
    std::vector<OperatorSpecification> operators;
    const json& described = reader.array("operators");
    for (std::size_t i = 0; i < described.size(); ++i) {
      operators.push_back(operator_from(described[i], file, "operators[" + std::to_string(i) + "]"));
    }
    const json& list = reader.array("networks");
    std::vector<NamedNetwork> read;
    for (std::size_t i = 0; i < list.size(); ++i) {
      read.push_back(network_from(list[i], operators, file, "networks[" + std::to_string(i) + "]"));
    }
    std::vector<Architecture> identities;
    for (NamedNetwork& network : read) identities.push_back(add_network(std::move(network)));
    return identities;
  });
}

}  // namespace tenshot::nasbench
