#include <torch/script.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "trainer/core/part_vocabulary.h"
#include "trainer/core/prediction_table.h"
#include "trainer/core/quantity_card.h"
#include "trainer/networks/exporting.h"

namespace tenshot::trainer {
namespace {

at::Tensor tensor_of(const Formula::Constant& constant, bool doubles) {
  const at::Tensor values = torch::tensor(constant.values, at::kDouble)
                                .to(constant.whole ? at::kLong
                                    : doubles      ? at::kDouble
                                                   : at::kFloat);
  return constant.rows == 0 ? values : values.view({constant.rows, constant.columns});
}

/// An operation of a formula, as operations.txt says.
std::string spelled(const Formula::Step& step, const std::vector<std::string>& operands) {
  const std::string& all = export_methods("operations");
  const std::size_t at = all.find("\n" + step.operation + ": ") + step.operation.size() + 3;
  const std::string spelling = all.substr(at, all.find('\n', at) - at);
  std::string text;
  for (std::size_t i = 0; i < spelling.size(); ++i) {
    if (spelling[i] != '$') {
      text += spelling[i];
    } else if (spelling[++i] == '*') {
      for (const std::string& operand : operands) text += (&operand == operands.data() ? "" : ", ") + operand;
    } else {
      text += operands.at(static_cast<std::size_t>(spelling[i] - '0'));
    }
  }
  return text;
}

/// values(encoding): the latency and, where there are intervals, the deviation, each [N, 1].
void define_values(torch::jit::Module& module, const ExportedFormula& exported) {
  const Formula& formula = exported.formula;
  std::map<std::string, std::string> names = {{"encoding", "x"}};
  for (const Formula::Constant& constant : formula.constants) {
    module.register_buffer(constant.name, tensor_of(constant, formula.doubles));
    names[constant.name] = "self." + constant.name;
  }
  std::string source = "def values(self, encoding: Tensor) -> List[Tensor]:\n  x = encoding";
  source += formula.doubles ? ".to(7)\n" : "\n";  // 7 is torch.float64, which has no name here
  for (const Formula::Step& step : formula.steps) {
    std::vector<std::string> operands;
    for (const std::string& operand : step.operands)
      operands.push_back(names.try_emplace(operand, operand).first->second);
    source += "  " + step.result + " = " + spelled(step, operands) + "\n";
  }
  source += "  return [" + exported.latency + (exported.deviation.empty() ? "" : ", " + exported.deviation) + "]\n";
  module.define(source);
}

/// A file of methods, without the comments above them.
std::string methods(const std::string& name) {
  const std::string& file = export_methods(name);
  return file.substr(file.find("def "));
}

/// encode() of a space, and the attribute `decisions`.
void define_parsing(torch::jit::Module& module, const nasbench::SearchSpace& space) {
  const auto add_text = [&](const char* name, const std::string& text) {
    module.register_attribute(name, c10::StringType::get(), text);
  };
  add_text("space", std::string(space.name()));
  add_text("separator", std::string(1, space.part_separator()));
  add_text("example", space.example());
  c10::List<std::int64_t> decisions;
  for (const int options : space.decisions()) decisions.push_back(options);
  module.register_attribute("decisions", c10::ListType::ofInts(), decisions);
  const PartVocabulary vocabulary = part_vocabulary(space);
  const auto part_type = c10::DictType::create(c10::StringType::get(), c10::IntType::get());
  c10::impl::GenericList parts(part_type);
  std::int64_t row = 0;
  for (const std::vector<std::string>& spellings : vocabulary.spellings) {
    c10::Dict<std::string, std::int64_t> rows;
    for (const std::string& spelling : spellings) rows.insert(spelling, row++);
    parts.emplace_back(rows);
  }
  module.register_attribute("part_rows", c10::ListType::create(part_type), parts);
  module.register_buffer(
      "part_encodings",
      torch::tensor(vocabulary.encodings).view({row, static_cast<std::int64_t>(space.encoding_width())}));
  module.define(methods("space"));
}

void define_names(torch::jit::Module& module, const ExportedFormula& exported) {
  c10::Dict<std::string, std::int64_t> rows;
  for (std::size_t i = 0; i < exported.names.size(); ++i) {
    rows.insert_or_assign(exported.names[i], static_cast<std::int64_t>(i));
  }
  module.register_attribute("rows", c10::DictType::create(c10::StringType::get(), c10::IntType::get()), rows);
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> encodings = exported.encodings;
  const at::Tensor features =
      torch::from_blob(const_cast<double*>(encodings.data()), {encodings.rows(), encodings.cols()}, at::kDouble);
  module.register_buffer("network_features", features.clone());
  module.define(methods("names"));
}

void define_intervals(torch::jit::Module& module, const ExportedFormula& exported) {
  std::vector<double> probabilities, quantiles;
  constexpr int steps = 2000;
  for (int i = 1; i < steps; ++i) {
    probabilities.push_back(static_cast<double>(i) / steps);
    quantiles.push_back(exported.quantile(probabilities.back()));
  }
  module.register_buffer("probabilities", torch::tensor(probabilities, at::kDouble));
  module.register_buffer("quantiles", torch::tensor(quantiles, at::kDouble));
  module.register_attribute("widest_interval", c10::FloatType::get(), widest_interval);
  module.define(methods("intervals"));
}

}  // namespace

std::string torchscript(const ExportedFormula& exported, const nasbench::NetworkSpace& space,
                        const nlohmann::json& card) {
  torch::jit::Module module("tenshot_predictor");
  const bool intervals = !exported.deviation.empty();
  define_values(module, exported);
  const nasbench::SearchSpace* decided = space.search_space();
  decided != nullptr ? define_parsing(module, *decided) : define_names(module, exported);
  if (intervals) define_intervals(module, exported);
  const bool refuses = intervals && decided == nullptr;  // those of a space are made of the same operators
  const std::string latency =
      refuses ? "self.forward_interval(encoding, 0.9)[0]" : "self.values(encoding)[0].squeeze(1)";
  module.define(
      "def predict(self, architectures: List[str]) -> Tensor:\n"
      "  encoding = self.encode(architectures)\n  return " +
      latency + "\n");
  module.define(exported.relaxed.empty() ? "def forward(self, encoding: Tensor) -> Tensor:\n  return " + latency + "\n"
                                         : methods(exported.relaxed));
  if (const Quantity quantity = get_quantity(card); quantity != Quantity::latency) {
    module.register_attribute("quantity", c10::StringType::get(), std::string(datasets::name(quantity)));
    module.register_attribute("unit", c10::StringType::get(), std::string(datasets::unit(quantity)));
  }
  std::ostringstream bytes;
  module.save(bytes, {{"card.json", card.dump(1)}});
  return bytes.str();
}

}  // namespace tenshot::trainer
