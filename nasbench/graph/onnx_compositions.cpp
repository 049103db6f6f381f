
#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_operators.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

// Einsum.

/// Letters of the axes of a tensor; those of an ellipsis are negative, −1 the last of them.
using Labels = std::string;

struct Equation {
  std::vector<Labels> operands;
  Labels output;
  std::map<char, std::int64_t> extents;
};

constexpr const char* ellipsis = "...";

Labels ellipsis_of(std::size_t axes) {
  Labels labels;
  for (std::size_t i = axes; i > 0; --i) labels += static_cast<char>(-static_cast<int>(i));
  return labels;
}

/// The labels of a text, with so many in the place of its ellipsis.
Labels labels_of(std::string text, std::size_t axes) {
  if (const std::size_t at = text.find(ellipsis); at != std::string::npos) text.replace(at, 3, ellipsis_of(axes));
  if (text.find(ellipsis) != std::string::npos) throw FormatError("its equation has two '...' in one");
  if (text.find('.') != std::string::npos) throw FormatError("its equation has a lone '.'");
  return text;
}

/// Without an output in the equation: the axes of the ellipsis, then the labels that stand once, in their order.
Labels implied_output(const std::vector<Labels>& operands, std::size_t stretched) {
  std::map<unsigned char, int> counts;
  for (const Labels& labels : operands) {
    for (const char label : labels) ++counts[static_cast<unsigned char>(label)];
  }
  Labels output = ellipsis_of(stretched);
  for (const auto& [label, count] : counts) {
    if (label < 128 && count == 1) output += static_cast<char>(label);
  }
  return output;
}

Equation parse(std::string text, const std::vector<Shape>& shapes) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> parts = parts_between(text.substr(0, arrow), ",");
  if (parts.size() != shapes.size()) {
    reject({"its equation is of ", parts.size(), " operands, it has ", shapes.size()});
  }
  Equation equation;
  std::size_t stretched = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool open = parts[i].find(ellipsis) != std::string::npos;
    const std::size_t named = parts[i].size() - (open ? 3 : 0), rank = shapes[i].size();
    if (named > rank || (!open && named < rank)) {
      reject({"its equation has ", named, " labels for an operand of ", rank, " dimensions"});
    }
    stretched = std::max(stretched, rank - named);
    const Labels& labels = equation.operands.emplace_back(labels_of(parts[i], rank - named));
    for (std::size_t axis = 0; axis < rank; ++axis) {
      std::int64_t& extent = equation.extents.emplace(labels[axis], 1).first->second;
      if (extent != shapes[i][axis] && extent != 1 && shapes[i][axis] != 1) {
        reject({"a label of its equation stands for ", extent, " and for ", shapes[i][axis]});
      }
      extent = std::max(extent, shapes[i][axis]);
    }
  }
  equation.output = arrow == std::string::npos ? implied_output(equation.operands, stretched)
                                               : labels_of(text.substr(arrow + 2), stretched);
  for (const char label : equation.output) {
    if (equation.extents.count(label) == 0) throw FormatError("its equation's output has a label that no operand has");
  }
  return equation;
}

Shape extents_of(const Equation& equation, const Labels& labels) {
  Shape shape;
  for (const char label : labels) shape.push_back(equation.extents.at(label));
  return shape;
}

bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }

/// An operand on its way: the axes of a tensor that is computed, or of a constant.
struct Term {
  bool constant = false;
  Source source;
  Labels labels;
  bool is_made = false;  ///< a constant that is no operand: of a sum or a product that is made beforehand
};

class Contraction {
 public:
  Contraction(const OnnxSteps& steps, const Equation& equation) : steps_(steps), equation_(equation) {}

  /// The product of both, with the labels of `keep` that either has. That of two constants is made beforehand.
  Term product(Term a, Term b, const Labels& keep) const {
    if (a.constant) std::swap(a, b);
    a = without_own_sums(a, b.labels, keep);
    b = without_own_sums(b, a.labels, keep);
    Labels batch, rows, columns, inner;
    for (const char label : a.labels) {
      (has(b.labels, label) ? (has(keep, label) ? batch : inner) : rows) += label;
    }
    for (const char label : b.labels) {
      if (!has(a.labels, label)) columns += label;
    }
    const Labels labels = batch + rows + columns;
    if (a.constant) return {true, {}, labels, true};
    return {false, steps_.reshape(multiplied(a, b, batch, rows, columns, inner), extents(labels)), labels};
  }

  Term without_own_sums(const Term& term, const Labels& others, const Labels& keep) const {
    std::vector<std::int64_t> axes;
    Labels left;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      if (has(others, term.labels[i]) || has(keep, term.labels[i])) {
        left.push_back(term.labels[i]);
      } else {
        axes.push_back(static_cast<std::int64_t>(i));
      }
    }
    if (term.constant) return {true, {}, left, term.is_made || !axes.empty()};
    return {false, steps_.sum_over(term.source, axes), left};
  }

  Source ordered(const Term& term, const Labels& order) const {
    std::vector<std::int64_t> axes;
    for (const char label : order) axes.push_back(static_cast<std::int64_t>(term.labels.find(label)));
    return steps_.transpose(term.source, axes);
  }

 private:
  Shape extents(const Labels& labels) const { return extents_of(equation_, labels); }

  std::int64_t size(const Labels& labels) const { return element_count(extents(labels)); }

  Shape matrices(const Labels& batch, std::int64_t rows, std::int64_t columns) const {
    Shape shape = extents(batch);
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  }

  Source multiplied(const Term& a, const Term& b, const Labels& batch, const Labels& rows, const Labels& columns,
                    const Labels& inner) const {
    const std::int64_t m = size(rows), n = size(columns), k = size(inner);
    const Source left = ordered(a, batch + rows + inner);
    if (inner.empty() && columns.empty()) {  // nothing is summed: each element by its factor
      if (b.constant) return steps_.multiply_by(left, extents(b.labels));
      Shape factor = extents(batch);
      factor.resize(batch.size() + rows.size(), 1);
      return steps_.multiply(left, steps_.reshape(ordered(b, batch), factor));
    }
    if (b.constant && batch.empty() && !b.is_made) {
      Shape flat = extents(rows);
      flat.push_back(k);
      return steps_.linear(steps_.reshape(left, flat), n);
    }
    const Source matrix = steps_.reshape(left, matrices(batch, m, k));
    if (b.constant) return steps_.constant_product(matrix, matrices(batch, k, n), matrices(batch, m, n));
    const Source right = steps_.reshape(ordered(b, batch + inner + columns), matrices(batch, k, n));
    return steps_.matrix_product(matrix, right);
  }

  const OnnxSteps& steps_;
  const Equation& equation_;
};

/// The operand with each label once, and without those that it is stretched along.
Term term_of(const OnnxSteps& steps, const Equation& equation, const EinsumOperand& operand, const Labels& labels) {
  Term term{operand.constant, operand.source, {}};
  Shape shape;
  for (std::size_t axis = 0; axis < labels.size(); ++axis) {
    const std::int64_t extent = operand.shape[axis];
    if (has(term.labels, labels[axis]) || extent != equation.extents.at(labels[axis])) continue;
    term.labels.push_back(labels[axis]);
    shape.push_back(extent);
  }
  if (operand.constant) return term;
  const bool same = element_count(shape) == element_count(operand.shape);
  term.source = same ? steps.reshape(term.source, shape) : steps.diagonal(term.source, shape);
  return term;
}

// Products and convolutions with what follows them.

/// A factor of a product: computed, as it is to be read, or a constant of that shape.
struct Factor {
  bool constant = false;
  Source source;
  Shape shape;
};

Factor factor_of(const OnnxSteps& steps, const OnnxNode& node, std::size_t input, const char* side) {
  const OnnxValue& value = node.input(input);
  const std::vector<std::int64_t> axes = factor_axes(node, value.shape.size(), side);
  Factor factor{value.constant, value.source, {}};
  for (const std::int64_t axis : axes) factor.shape.push_back(value.shape[static_cast<std::size_t>(axis)]);
  if (!value.constant) factor.source = steps.transpose(value.source, axes);
  return factor;
}

std::optional<Source> product(const OnnxSteps& steps, const Factor& left, const Factor& right, const Shape& output) {
  if ((left.constant && right.constant) || left.shape.empty() || right.shape.empty()) return std::nullopt;
  if (left.constant) return steps.constant_product(right.source, left.shape, output);
  if (!right.constant) {
    if (left.shape.size() < 2 || right.shape.size() < 2) return std::nullopt;
    return steps.matrix_product(left.source, right.source);
  }
  if (right.shape.size() == 2) return steps.linear(left.source, right.shape.back());
  return steps.constant_product(left.source, right.shape, output);
}

/// Whatever computes `type` of one tensor, as FusedConv and FusedGemm name it.
std::optional<Source> activated(const OnnxSteps& steps, const onnx::NodeProto& node, const Source& input) {
  const std::string function = text_attribute(node, "activation", node.op_type() == "GemmFastGelu" ? "FastGelu" : "");
  if (function.empty()) return input;
  std::vector<double> parameters;
  if (const onnx::AttributeProto* found = attribute(node, "activation_params")) {
    parameters.assign(found->floats().begin(), found->floats().end());
  }
  parameters.resize(2, 0);
  if (function == "Clip") {
    const bool relu6 = parameters[0] == 0 && parameters[1] == 6;
    if (relu6) return steps.activation(input, "relu6");
    return steps.activation(input, "clip", parameters[0], parameters[1]);
  }
  const auto name = onnx_conversions::activation_names().find(function);
  if (name == onnx_conversions::activation_names().end()) return std::nullopt;
  const bool has_parameters = function == "LeakyRelu" || function == "HardSigmoid";
  return steps.activation(input, name->second, has_parameters ? parameters[0] : 0, has_parameters ? parameters[1] : 0);
}

/// α · op(A) · op(B) + β · C: factors of numbers are folded into what is constant.
std::optional<Source> general_product(const OnnxSteps& steps, const onnx::NodeProto& node, const OnnxInputs& inputs,
                                      const OnnxValues& outputs) {
  if (given(inputs, 1) == nullptr) return std::nullopt;
  const OnnxValue* addend = given(inputs, 2);
  if (addend != nullptr && real_attribute(node, "beta", 1) == 0) addend = nullptr;
  const Factor left = factor_of(steps, {node, inputs}, 0, "A"), right = factor_of(steps, {node, inputs}, 1, "B");
  std::optional<Source> sum = product(steps, left, right, outputs[0].shape);
  if (!sum) return std::nullopt;
  if (addend != nullptr && addend->constant) sum = steps.add_constant(*sum, addend->stored);
  if (addend != nullptr && !addend->constant) sum = steps.add(*sum, addend->source);
  return activated(steps, node, *sum);
}

/// Inputs are image, weights, bias and what is added before the function.
std::optional<Source> fused_convolution(const OnnxSteps& steps, const onnx::NodeProto& node, const OnnxInputs& inputs,
                                        const OnnxValues& outputs) {
  onnx::NodeProto plain = node;
  plain.clear_domain();
  plain.set_op_type("Conv");
  const OnnxInputs own(inputs.begin(),
                       inputs.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, inputs.size())));
  NetworkNode convolution = operator_of(plain, own, {outputs[0]});
  Source last = steps.append(std::move(convolution));
  if (const OnnxValue* addend = given(inputs, 3)) {
    if (addend->constant) return std::nullopt;
    last = steps.add(last, addend->source);
  }
  return activated(steps, node, last);
}

}  // namespace

std::optional<Source> einsum_operators(const OnnxSteps& steps, const std::string& text,
                                       const std::vector<EinsumOperand>& operands) {
  std::vector<Shape> shapes;
  for (const EinsumOperand& operand : operands) shapes.push_back(operand.shape);
  const Equation equation = parse(text, shapes);
  if (std::set<char>(equation.output.begin(), equation.output.end()).size() != equation.output.size())
    return std::nullopt;
  const Contraction contraction(steps, equation);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    terms.push_back(term_of(steps, equation, operands[i], equation.operands[i]));
  }
  Term result = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    Labels keep = equation.output;
    for (std::size_t later = i + 1; later < terms.size(); ++later) keep += terms[later].labels;
    result = contraction.product(result, terms[i], keep);
  }
  if (result.constant) return std::nullopt;
  result = contraction.without_own_sums(result, {}, equation.output);
  return contraction.ordered(result, equation.output);
}

OnnxTypes einsum_types(const OnnxNode& node) {
  std::vector<Shape> shapes;
  for (const OnnxValue* input : node.inputs) {
    if (input == nullptr) return std::nullopt;
    shapes.push_back(input->shape);
  }
  const Equation equation = parse(node.text("equation", ""), shapes);
  return one_type(node.element(), extents_of(equation, equation.output));
}

std::optional<Source> composed(const OnnxSteps& steps, const onnx::NodeProto& node, const OnnxInputs& inputs,
                               const OnnxValues& outputs) {
  const std::string& type = node.op_type();
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  if (type == "Einsum") {
    std::vector<EinsumOperand> operands;
    for (const OnnxValue* input : inputs) {
      if (input == nullptr) return std::nullopt;
      operands.push_back({input->constant, input->source, input->shape});
    }
    return einsum_operators(steps, text_attribute(node, "equation", ""), operands);
  }
  static const std::set<std::string> products =
      words_of("Gemm FusedGemm FusedMatMul TransposeMatMul FusedMatMulActivation GemmFastGelu");
  if (products.count(type) != 0) return general_product(steps, node, inputs, outputs);
  if (type == "FusedConv") return fused_convolution(steps, node, inputs, outputs);
  return std::nullopt;
}

NetworkNode OnnxSteps::node(OperatorKind kind, const Source& input, Shape output, std::string name,
                            std::vector<Shape> constants) const {
  NetworkNode node = builder_.node(kind, name_, {input}, std::move(output), std::move(name));
  node.operation.constants = std::move(constants);
  return node;
}

Source OnnxSteps::append(NetworkNode node) const {
  node.name = name_;
  return builder_.append(std::move(node));
}

Source OnnxSteps::diagonal(const Source& input, Shape to) const {
  return append(node(OperatorKind::opaque, input, std::move(to), "Einsum"));
}

Source OnnxSteps::sum_over(const Source& input, const std::vector<std::int64_t>& axes) const {
  if (axes.empty()) return input;
  Shape output;
  for (std::size_t i = 0; i < shape(input).size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end()) {
      output.push_back(shape(input)[i]);
    }
  }
  NetworkNode sum = node(OperatorKind::reduce, input, std::move(output), "sum");
  sum.attributes.axes = axes;
  return append(std::move(sum));
}

Source OnnxSteps::constant_product(const Source& input, const Shape& constant, Shape output) const {
  return append(node(OperatorKind::opaque, input, std::move(output), "MatMul", {constant}));
}

Source OnnxSteps::multiply_by(const Source& input, const Shape& constant) const {
  return append(node(OperatorKind::multiply, input, shape(input), "", {constant}));
}

Source OnnxSteps::add_constant(const Source& input, const Shape& constant) const {
  NetworkNode sum = node(OperatorKind::add, input, shape(input), "", {constant});
  if (element_count(constant) == 1) {
    sum.attributes.alpha = 1;
    sum.operation.constants.clear();
  }
  return append(std::move(sum));
}

}  // namespace tenshot::nasbench
