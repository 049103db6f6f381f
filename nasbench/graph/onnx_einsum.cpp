// The steps that one ONNX node is written as, and Einsum as such steps.

#include <algorithm>
#include <map>
#include <set>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/graph/onnx_steps.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

/// Letters of the axes of a tensor. The axes of an ellipsis are the bytes above 127, 255 the last of them.
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
  const bool ascii = std::all_of(text.begin(), text.end(), [](unsigned char label) { return label < 128; });
  if (!ascii) throw FormatError("its equation has a label that is no letter");
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
  if (parts.size() != shapes.size()) reject({"its equation is of ", parts.size(), " operands, it has ", shapes.size()});
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
    for (const char label : a.labels) (has(b.labels, label) ? (has(keep, label) ? batch : inner) : rows) += label;
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
      if (b.constant) return steps_.append(OperatorKind::multiply, left, steps_.shape(left), "", {extents(b.labels)});
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
    return steps_.matrix_product(matrix, steps_.reshape(ordered(b, batch + inner + columns), matrices(batch, k, n)));
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
  term.source =
      same ? steps.reshape(term.source, shape) : steps.append(OperatorKind::opaque, term.source, shape, "Einsum");
  return term;
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
  return contraction.ordered(contraction.without_own_sums(result, {}, equation.output), equation.output);
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

Source OnnxSteps::sum_over(const Source& input, const std::vector<std::int64_t>& axes) const {
  if (axes.empty()) return input;
  Shape output;
  for (std::size_t i = 0; i < shape(input).size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end()) {
      output.push_back(shape(input)[i]);
    }
  }
  NetworkNode sum = builder_.node(OperatorKind::reduce, name_, {input}, std::move(output), "sum");
  sum.attributes.axes = axes;
  return append(std::move(sum));
}

Source OnnxSteps::add_constant(const Source& input, const Shape& constant) const {
  if (element_count(constant) != 1) return append(OperatorKind::add, input, shape(input), "", {constant});
  NetworkNode sum = builder_.node(OperatorKind::add, name_, {input}, shape(input));
  sum.attributes.alpha = 1;
  return append(std::move(sum));
}

}  // namespace tenshot::nasbench
