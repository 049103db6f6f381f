#include "nasbench/kernels/fusion_rules.h"

#include <algorithm>
#include <array>
#include <map>

#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

using nlohmann::json;

constexpr const char* format_name = "tenshot.fusion/1";
constexpr std::size_t most_members = 1000;  ///< of a group, of the pairs: far beyond any runtime's

/// All names that rules may use: kinds of operators, activations, operators of two tensors.
const std::vector<std::string>& known_fusion_types() {
  static const auto known = words_of<std::vector<std::string>>(
      "convolution depthwise_convolution grouped_convolution transposed_convolution linear matrix_product max_pool "
      "average_pool global_pool activation add multiply elementwise concatenate split shuffle pad resize reshape "
      "transpose batch_norm layer_norm group_norm softmax reduce opaque "
      "relu relu6 clip hard_swish hard_sigmoid silu sigmoid gelu quick_gelu tanh leaky_relu elu celu selu softplus "
      "softsign mish erf sqrt exp log negate absolute reciprocal thresholded_relu "
      "subtract divide power minimum maximum prelu");
  return known;
}

bool is_operator(const std::string& text) {
  const std::vector<std::string>& known = known_fusion_types();
  return std::find(known.begin(), known.end(), text) != known.end();
}

class Groups {
 public:
  Groups(const json& groups, const JsonReader& reader) : reader_(reader) {
    if (!groups.is_object() || groups.size() > most_members) {
      reader.fail("groups",
                  "an object: the names of at most " + std::to_string(most_members) + " groups and their members",
                  groups);
    }
    for (const auto& [group, members] : groups.items()) {
      const std::string place = place_of(group);
      if (is_operator(group)) throw FormatError(reader.file() + ": " + place + " has the name of an operator");
      if (!members.is_array() || members.empty() || members.size() > most_members) {
        reader.fail_at(place, "a list of operators and groups", members);
      }
      groups_[group] = &members;
    }
    for (const auto& group : groups_) operators_of(json(group.first), place_of(group.first));
  }

  /// The operators that `value`, the name of an operator or a group, stands for.
  const std::set<std::string>& operators_of(const json& value, const std::string& place) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const auto known = resolved_.find(text);
    if (known != resolved_.end()) return known->second;
    if (is_operator(text)) return resolved_[text] = {text};
    const auto group = groups_.find(text);
    if (group == groups_.end()) {
      std::vector<std::string> names;
      for (const auto& [other, members] : groups_) names.push_back(excerpt(other));
      const std::string also = names.empty() ? "" : " or a group (" + joined(names) + ")";
      reader_.fail_at(place, "an operator" + also + "; there are the operators " + joined(known_fusion_types()), value);
    }
    const auto open = std::find(path_.begin(), path_.end(), text);
    if (open != path_.end()) {
      throw FormatError(reader_.file() + ": " + place_of(excerpt(text)) + " contains itself: " +
                        excerpt(joined(std::vector<std::string>(open, path_.end()), " → "), 200) + " → " +
                        excerpt(text) + "; expected groups without a cycle");
    }
    path_.push_back(text);
    std::set<std::string> all;
    std::size_t index = 0;
    for (const json& member : *group->second) {
      const std::set<std::string>& more =
          operators_of(member, place_of(excerpt(text)) + "[" + std::to_string(index++) + "]");
      all.insert(more.begin(), more.end());
    }
    path_.pop_back();
    return resolved_[text] = all;
  }

 private:
  static std::string place_of(const std::string& group) { return "groups." + group; }

  const JsonReader& reader_;
  std::map<std::string, const json*> groups_;
  std::map<std::string, std::set<std::string>> resolved_;
  std::vector<std::string> path_;
};

constexpr std::array<std::string_view, 4> rule_names = {"none", "first", "last", "latest"};  // as BranchRule has them

BranchRule branch_rule(const JsonReader& reader, const char* key) {
  const std::string text = reader.text(key, "none");
  const auto found = std::find(rule_names.begin(), rule_names.end(), text);
  if (found == rule_names.end()) reader.fail(key, "none, first, last or latest", json(text));
  return static_cast<BranchRule>(found - rule_names.begin());
}

/// The choices of kernels, each for one operation or a list of them.
std::vector<KernelChoice> choices_of(const JsonReader& reader, Groups& known) {
  std::vector<KernelChoice> choices;
  const json& list = reader.array("kernels");
  if (list.size() > most_members) reader.fail("kernels", "at most " + std::to_string(most_members), list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = "kernels[" + std::to_string(i) + "]";
    if (!list[i].is_object()) reader.fail_at(place, R"({"kernel": "winograd", "when": {"groups": 1}})", list[i]);
    const json when = list[i].value("when", json::object());
    const json named = when.is_object() ? when.value("operation", json::array()) : json::array();
    std::set<std::string> operations;
    for (const json& operation : named.is_array() ? named : json::array({named})) {
      const std::set<std::string>& more = known.operators_of(operation, place + ".when.operation");
      operations.insert(more.begin(), more.end());
    }
    choices.push_back(parse_kernel_choice(list[i], place, reader.file(), std::move(operations)));
  }
  require_consistent(choices, reader.file());
  return choices;
}

}  // namespace

std::string_view name(BranchRule rule) { return rule_names[static_cast<std::size_t>(rule)]; }

std::vector<std::string> fusion_types(const OperatorSpecification& operation) {
  const std::string kind(name(operation.kind));
  if (operation.kind == OperatorKind::activation || operation.kind == OperatorKind::elementwise) {
    return operation.name.empty() ? std::vector<std::string>{kind} : std::vector<std::string>{operation.name, kind};
  }
  if (operation.kind != OperatorKind::convolution || operation.groups == 1) return {kind};
  const bool depthwise =
      !operation.inputs.empty() && operation.groups == channel_count(operation, operation.inputs.front());
  return {depthwise ? "depthwise_convolution" : "grouped_convolution"};
}

bool FusionRules::fuses(const OperatorSpecification& first, const OperatorSpecification& next) const {
  const std::vector<std::string> successors = fusion_types(next);
  for (const std::string& type : fusion_types(first)) {
    for (const std::string& successor : successors) {
      if (pairs.count({type, successor}) != 0) return true;
    }
  }
  return false;
}

FusionRules parse_fusion_rules(std::string_view text, const std::string& file) {
  const json document = parse_json(text, file);
  return guarded_json(file, "file of fusion rules", [&] {
    const JsonReader reader(document, file, "");
    reader.require_format(format_name, "file of fusion rules");
    FusionRules rules;
    rules.name = excerpt(reader.text("name", std::filesystem::path(file).stem().string()));
    const json no_groups = json::object();
    const json* groups = reader.find("groups");
    Groups known(groups == nullptr ? no_groups : *groups, reader);
    reader.require("pairs", "a list of pairs: [[\"convolution\", \"relu\"]]");
    const json& pairs = reader.array("pairs");
    if (pairs.size() > most_members) reader.fail("pairs", "at most " + std::to_string(most_members) + " pairs", pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::string place = "pairs[" + std::to_string(i) + "]";
      if (!pairs[i].is_array() || pairs[i].size() != 2) {
        reader.fail_at(place, "two operators or groups, the earlier one first", pairs[i]);
      }
      const std::set<std::string> firsts = known.operators_of(pairs[i][0], place + "[0]");
      for (const std::string& next : known.operators_of(pairs[i][1], place + "[1]")) {
        for (const std::string& first : firsts) rules.pairs.emplace(first, next);
      }
    }
    rules.multi_inbound = branch_rule(reader, "multi_inbound");
    rules.multi_outbound = branch_rule(reader, "multi_outbound");
    if (rules.multi_outbound == BranchRule::latest)
      reader.fail("multi_outbound", "none, first or last", json("latest"));
    rules.kernels = choices_of(reader, known);
    return rules;
  });
}

FusionRules fusion_rules(const std::string& name_or_file) {
  for (const ShippedFile& shipped : shipped_rules()) {
    if (name_or_file == shipped.name) return parse_fusion_rules(shipped.content, shipped.name);
  }
  const bool is_name = name_or_file.find_first_of("./-") == std::string::npos;
  if (is_name && !std::filesystem::exists(name_or_file)) {
    throw FileError("there are no fusion rules '" + excerpt(name_or_file) + "'; expected a file, or one of " +
                    joined(shipped_rule_names()));
  }
  return parse_fusion_rules(read_file(name_or_file), name_or_file);
}

std::vector<std::string> shipped_rule_names() {
  std::vector<std::string> names;
  for (const ShippedFile& shipped : shipped_rules()) names.emplace_back(shipped.name);
  return names;
}

nlohmann::ordered_json to_json(const FusionRules& rules) {
  nlohmann::ordered_json document = {{"format", format_name}, {"name", rules.name}};
  document["pairs"] = nlohmann::ordered_json::array();
  for (const auto& [first, next] : rules.pairs) document["pairs"].push_back({first, next});
  document["multi_inbound"] = name(rules.multi_inbound);
  document["multi_outbound"] = name(rules.multi_outbound);
  if (!rules.kernels.empty()) document["kernels"] = to_json(rules.kernels);
  return document;
}

}  // namespace tenshot::nasbench
