#include <algorithm>
#include <functional>
#include <map>

#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

using nlohmann::json;
using Size = std::function<std::int64_t(const OperatorSpecification&)>;

std::int64_t rounded_up(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

const Shape& input_of(const OperatorSpecification& op) { return op.inputs.empty() ? op.output : op.inputs.front(); }

std::int64_t side(const Shape& shape, std::size_t dimension) { return shape.size() == 4 ? shape[dimension] : 1; }

std::int64_t pixels(const Shape& shape) { return side(shape, 2) * side(shape, 3); }

std::int64_t inputs(const OperatorSpecification& op) { return channel_count(op, input_of(op)); }

std::int64_t outputs(const OperatorSpecification& op) { return channel_count(op, op.output); }

const std::map<std::string, Size>& known_sizes() {
  using Op = OperatorSpecification;
  static const std::map<std::string, Size> known = {
      {"groups", [](const Op& op) { return op.groups; }},
      {"window_height", [](const Op& op) { return op.kernel.height; }},
      {"window_width", [](const Op& op) { return op.kernel.width; }},
      {"stride_height", [](const Op& op) { return op.stride.height; }},
      {"stride_width", [](const Op& op) { return op.stride.width; }},
      {"input_channels", inputs},
      {"output_channels", outputs},
      {"group_inputs", [](const Op& op) { return inputs(op) / std::max(op.groups, 1); }},
      {"group_outputs", [](const Op& op) { return outputs(op) / std::max(op.groups, 1); }},
      {"input_pixels", [](const Op& op) { return pixels(input_of(op)); }},
      {"output_pixels", [](const Op& op) { return pixels(op.output); }},
      {"input_slices", [](const Op& op) { return rounded_up(inputs(op), 4); }},
      {"output_slices", [](const Op& op) { return rounded_up(outputs(op), 4); }},
      {"tiles", [](const Op& op) { return rounded_up(side(op.output, 2), 4) * rounded_up(side(op.output, 3), 4); }}};
  return known;
}

std::vector<std::string> size_names() {
  std::vector<std::string> names;
  for (const auto& [size, of] : known_sizes()) names.push_back(size);
  return names;
}

/// The tests of one size: a number that it equals, or an object of tests.
void add_conditions(KernelChoice& choice, const std::string& size, const json& tests, const std::string& place,
                    const JsonReader& reader) {
  const std::vector<std::string> known = {"at_least", "at_most", "equals", "multiple_of"};
  std::map<std::string, std::int64_t> values;
  const json all = tests.is_object() ? tests : json{{"equals", tests}};
  for (const auto& [test, value] : all.items()) {
    if (std::find(known.begin(), known.end(), test) == known.end()) {
      reader.fail_at(place, "a number, or tests out of " + joined(known), json(test));
    }
    values[test] = reader.whole_number_of(value, place, 1);
    choice.when.insert({size, test, values[test]});
  }
  const std::int64_t least = values.count("at_least") != 0 ? values["at_least"] : 1;
  const std::int64_t most = values.count("at_most") != 0 ? values["at_most"] : INT64_MAX;
  const std::int64_t equal = values.count("equals") != 0 ? values["equals"] : least;
  const std::int64_t factor = values.count("multiple_of") != 0 ? values["multiple_of"] : 1;
  if (least > most || equal < least || equal > most || (values.count("equals") != 0 && equal % factor != 0)) {
    throw FormatError(reader.file() + ": " + place + " is " + excerpt(tests.dump()) +
                      ": the tests contradict each other, no number passes them all");
  }
}

/// Says why `later` has no place behind `earlier`, which holds wherever it does.
[[noreturn]] void refuse(const std::vector<KernelChoice>& choices, std::size_t earlier, std::size_t later,
                         const std::string& file) {
  const KernelChoice &a = choices[earlier], &b = choices[later];
  const std::string first = "kernels[" + std::to_string(earlier) + "]",
                    second = "kernels[" + std::to_string(later) + "]";
  if (a.operations == b.operations && a.when.size() == b.when.size() && a.kernel != b.kernel) {
    throw FormatError(file + ": " + first + " and " + second + " contradict each other: the same conditions choose '" +
                      excerpt(a.kernel) + "' and '" + excerpt(b.kernel) + "', expected one of them");
  }
  throw FormatError(file + ": " + second + " ('" + excerpt(b.kernel) + "') is never chosen, because " + first + " ('" +
                    excerpt(a.kernel) + "') holds wherever it does; expected the particular before the general");
}

}  // namespace

bool SizeCondition::holds(const OperatorSpecification& operation) const {
  const std::int64_t found = known_sizes().at(size)(operation);
  if (test == "at_least") return found >= value;
  if (test == "at_most") return found <= value;
  return test == "equals" ? found == value : found % value == 0;
}

bool KernelChoice::holds(const OperatorSpecification& operation) const {
  const std::vector<std::string> types = fusion_types(operation);
  const auto is_for = [&](const std::string& type) { return operations.count(type) != 0; };
  return (operations.empty() || std::any_of(types.begin(), types.end(), is_for)) &&
         std::all_of(when.begin(), when.end(), [&](const SizeCondition& c) { return c.holds(operation); });
}

KernelChoice parse_kernel_choice(const json& value, const std::string& place, const std::string& file,
                                 std::set<std::string> operations) {
  const JsonReader reader(value, file, place);
  KernelChoice choice{reader.text("kernel", ""), std::move(operations), {}};
  if (choice.kernel.empty()) reader.fail("kernel", "the name of a kernel", value);
  const json* when = reader.find("when");
  if (when == nullptr) return choice;
  if (!when->is_object()) reader.fail("when", "an object: sizes and what is asked of them", *when);
  for (const auto& [size, tests] : when->items()) {
    if (size == "operation") continue;
    const std::string at = reader.full("when." + excerpt(size));
    if (known_sizes().count(size) == 0) reader.fail_at(at, "operation, or a size: " + joined(size_names()), tests);
    add_conditions(choice, size, tests, at, reader);
  }
  return choice;
}

void require_consistent(const std::vector<KernelChoice>& choices, const std::string& file) {
  for (std::size_t later = 1; later < choices.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const KernelChoice &a = choices[earlier], &b = choices[later];
      const bool wider =
          a.operations.empty() || (!b.operations.empty() && std::includes(a.operations.begin(), a.operations.end(),
                                                                          b.operations.begin(), b.operations.end()));
      if (!wider || !std::includes(b.when.begin(), b.when.end(), a.when.begin(), a.when.end())) continue;
      refuse(choices, earlier, later, file);
    }
  }
}

nlohmann::ordered_json to_json(const std::vector<KernelChoice>& choices) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const KernelChoice& choice : choices) {
    nlohmann::ordered_json when = nlohmann::ordered_json::object();
    if (!choice.operations.empty()) when["operation"] = choice.operations;
    for (const SizeCondition& condition : choice.when) when[condition.size][condition.test] = condition.value;
    list.push_back({{"kernel", choice.kernel}, {"when", when}});
  }
  return list;
}

std::string chosen_kernel(const std::vector<KernelChoice>& choices, const OperatorSpecification& operation,
                          const std::string& otherwise) {
  const auto found =
      std::find_if(choices.begin(), choices.end(), [&](const KernelChoice& choice) { return choice.holds(operation); });
  return found == choices.end() ? otherwise : found->kernel;
}

}  // namespace tenshot::nasbench
