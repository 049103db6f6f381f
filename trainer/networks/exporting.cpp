#include "trainer/networks/exporting.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/protobuf.h"
#include "trainer/core/prediction_table.h"
#include "trainer/core/quantity_card.h"

namespace tenshot::trainer {
namespace {

// Fields of protocol buffers (protobuf.dev, "Encoding"), numbered as in onnx.proto: what predicts needs no library.

std::string field(int number, std::uint64_t value, std::uint64_t wire_type = 0) {
  std::string bytes;
  append_varint(bytes, static_cast<std::uint64_t>(number) << 3 | wire_type);
  append_varint(bytes, value);
  return bytes;
}

std::string field(int number, const std::string& content) { return field(number, content.size(), 2) + content; }

constexpr std::uint64_t float_type = 1, int64_type = 7, double_type = 11;  // TensorProto.DataType

template <class Number>
std::string raw(const std::vector<double>& values) {
  const std::vector<Number> numbers(values.begin(), values.end());
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::string initializer(const Formula::Constant& constant, bool doubles) {
  const std::string rows = constant.rows == 0 ? "" : field(1, constant.rows);
  const std::uint64_t type = constant.whole ? int64_type : doubles ? double_type : float_type;
  return field(5, rows + field(1, constant.columns) + field(2, type) + field(8, constant.name) +
                      field(9, constant.whole ? raw<std::int64_t>(constant.values)
                               : doubles      ? raw<double>(constant.values)
                                              : raw<float>(constant.values)));
}

/// The attributes that an operation has here: what reduces or chooses does it along the columns.
std::string attributes(const std::string& operation, std::int64_t value) {
  constexpr std::uint64_t integer = 2, integers = 7;  // AttributeProto.AttributeType
  const auto attribute = [&](const char* name) {
    return field(5, field(1, name) + field(3, value) + field(20, integer));
  };
  if (operation == "Gather" || operation == "GatherElements" || operation == "Concat") return attribute("axis");
  if (operation == "Cast") return attribute("to");
  if (operation == "ReduceMax") return field(5, field(1, "axes") + field(8, value) + field(20, integers));
  return "";
}

std::string node(const std::string& operation, const std::vector<std::string>& inputs, const std::string& output,
                 std::int64_t value = 1) {
  std::string bytes;
  for (const std::string& input : inputs) bytes += field(1, input);
  return field(1, bytes + field(2, output) + field(3, output) + field(4, operation) + attributes(operation, value));
}

std::string value_info(const std::string& name, std::uint64_t columns) {
  const std::string batch = field(1, field(2, "N"));
  const std::string shape = columns == 0 ? batch : batch + field(1, field(1, columns));
  return field(1, name) + field(2, field(1, field(1, float_type) + field(2, shape)));
}

/// Adds the bounds, and gives the names of the latency, which is NaN where they are useless, and of both.
std::vector<std::string> with_bounds(const ExportedFormula& exported, Formula& formula, double confidence) {
  const FormulaValue latency(formula, exported.latency, 1), deviation(formula, exported.deviation, 1);
  const FormulaValue lower = latency * exp(deviation * std::min(exported.quantile((1 - confidence) / 2), 0.0)),
                     upper = latency * exp(deviation * std::max(exported.quantile((1 + confidence) / 2), 0.0));
  const FormulaValue usable = apply("Less", {upper, lower * widest_interval}, 1);
  const FormulaValue refused = constant(formula, Eigen::MatrixXd::Constant(1, 1, std::nan("")));
  std::vector<std::string> names;
  for (const FormulaValue& value : {latency, lower, upper}) {
    names.push_back(apply("Where", {usable, value, refused}, 1).name());
  }
  return names;
}

ExportedFormula exported_of(const Predictor& predictor) {
  ExportedFormula found = predictor.formula();
  if (!predictor.has_intervals()) found.deviation.clear();
  return found;
}

}  // namespace

void export_torchscript(const Predictor& predictor, const std::filesystem::path& path) {
  write_file_atomically(path, torchscript(exported_of(predictor), predictor.space(), predictor.to_archive().card));
}

void export_onnx(const Predictor& predictor, const std::filesystem::path& path, double confidence) {
  const nlohmann::json card = predictor.to_archive().card;
  const ExportedFormula exported = exported_of(predictor);
  if (!(confidence > 0 && confidence < 1)) {
    throw InputError("confidence " + shortest(confidence) + ": expected a number between 0 and 1, such as 0.9");
  }
  Formula formula = exported.formula;
  std::vector<std::string> values = {exported.latency};
  if (!exported.deviation.empty()) values = with_bounds(exported, formula, confidence);
  const Quantity quantity = predictor.quantity();
  const std::vector<std::string> names = {column(quantity), column("lower", quantity), column("upper", quantity)};
  std::string graph = node("Cast", {"encoding"}, "x", formula.doubles ? double_type : float_type);
  for (Formula::Step step : formula.steps) {
    std::replace(step.operands.begin(), step.operands.end(), std::string("encoding"), std::string("x"));
    const bool of_rows = step.operation == "GatherRows";
    graph += node(of_rows ? "Gather" : step.operation, step.operands, step.result, of_rows ? 0 : 1);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {  // outputs [N] in 32 bits of values [N, 1]
    graph += node("Reshape", {values[i], "flat"}, names[i] + "_flat");
    graph += node("Cast", {names[i] + "_flat"}, names[i], float_type);
  }
  graph += field(2, "tenshot_predictor");
  for (const Formula::Constant& constant : formula.constants) graph += initializer(constant, formula.doubles);
  graph += initializer({"flat", 0, 1, {-1}, true}, false);
  graph += field(11, value_info("encoding", static_cast<std::uint64_t>(formula.width)));
  for (std::size_t i = 0; i < values.size(); ++i) graph += field(12, value_info(names[i], 0));
  const std::string opset = field(8, field(1, "") + field(2, 17));
  std::string model = field(1, 8) + field(2, "tenshot") + opset + field(7, graph);
  const auto add = [&](const char* key, const std::string& text) {
    model += field(14, field(1, key) + field(2, text));
  };
  add("card", card.dump());
  if (values.size() > 1) add("confidence", shortest(confidence));
  if (const nasbench::SearchSpace* decided = predictor.space().search_space()) {
    add("decisions", nlohmann::json(decided->decisions()).dump());
  }
  write_file_atomically(path, model);
}

}  // namespace tenshot::trainer
