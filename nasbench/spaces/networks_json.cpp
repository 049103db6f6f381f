#include <set>
#include <unordered_map>

#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/specification_json.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr std::string_view networks_format = "tenshot.networks/1";

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

/// A hash of what a file keeps of a network with edges, whose own hash is also of attributes that no file keeps.
std::string kept_hash(const NamedNetwork& network) {
  const std::string of_operators = named_network(network.name, network.operators, network.origin).hash;
  return sha256_hex(network.hash + of_operators + json(network.sources).dump());
}

NamedNetwork network_from(const JsonReader& reader, const std::vector<OperatorSpecification>& operators) {
  std::vector<OperatorSpecification> own;
  for (const json& index : reader.array("operators")) {
    own.push_back(operators[index_from(reader, index, "operators", operators.size())]);
  }
  NamedNetwork network = named_network(reader.text("name", ""), std::move(own), reader.file());
  const std::string hash = reader.text("hash", "");
  const json* sources = reader.find("sources");
  if (!is_hash(hash)) reader.fail("hash", "64 hexadecimal digits", reader.require("hash", "64 hexadecimal digits"));
  const auto require_hash = [&](const std::string& written, const std::string& expected) {
    if (written == expected) return;
    throw FormatError(reader.file() + ": " + reader.place() + ": the hash of network '" + excerpt(network.name) +
                      "' is not that of its operators; the file was altered");
  };
  if (sources == nullptr) {
    require_hash(hash, network.hash);
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
  // Files of earlier releases have none.
  if (reader.find("kept_hash") != nullptr) require_hash(reader.text("kept_hash", ""), kept_hash(network));
  return network;
}

/// Specifications by what they say: equal ones are one key.
struct SpecificationHash {
  std::size_t operator()(const OperatorSpecification* op) const {
    std::size_t hash = static_cast<std::size_t>(op->kind);
    const auto mix = [&hash](std::int64_t value) { hash = hash * 1'000'003 + static_cast<std::size_t>(value); };
    for (const std::int64_t extent : op->output) mix(extent);
    for (const Shape& input : op->inputs) {
      for (const std::int64_t extent : input) mix(extent);
    }
    for (const int value : {op->kernel.height, op->kernel.width, op->stride.height, op->groups}) mix(value);
    return hash;
  }
};
struct SameSpecification {
  bool operator()(const OperatorSpecification* a, const OperatorSpecification* b) const { return *a == *b; }
};

}  // namespace

json networks_json(const std::vector<Architecture>& identities) {
  json operators = json::array(), list = json::array();
  std::unordered_map<const OperatorSpecification*, std::size_t, SpecificationHash, SameSpecification> positions;
  std::set<Architecture> written;
  for (const Architecture& identity : identities) {
    if (!written.insert(identity).second) continue;
    const NamedNetwork& network = named_network(identity);
    json indices = json::array();
    for (const OperatorSpecification& op : network.operators) {
      const auto [place, added] = positions.emplace(&op, operators.size());
      if (added) operators.push_back(specification_json(op));
      indices.push_back(place->second);
    }
    json described = {{"name", network.name}, {"hash", network.hash}, {"operators", std::move(indices)}};
    if (!network.sources.empty()) {
      described["sources"] = network.sources;
      described["kept_hash"] = kept_hash(network);
    }
    list.push_back(std::move(described));
  }
  return {{"format", networks_format}, {"operators", std::move(operators)}, {"networks", std::move(list)}};
}

std::vector<Architecture> add_networks(const json& value, const std::string& file, NamedBy by) {
  return guarded_json(file, "file of networks", [&] {
    const JsonReader reader(value, file, "");
    reader.require_format(networks_format, "file of networks");
    std::vector<OperatorSpecification> operators;
    for (const JsonReader& entry : reader.objects("operators")) operators.push_back(specification_from_json(entry));
    std::vector<NamedNetwork> read;
    for (const JsonReader& entry : reader.objects("networks")) read.push_back(network_from(entry, operators));
    return add_networks(std::move(read), by);
  });
}

}  // namespace tenshot::nasbench
