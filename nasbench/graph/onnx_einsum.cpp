#include <algorithm>
#include <map>
#include <set>

#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/graph/onnx_steps.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

using Labels = std::vector<int>;  ///< letters; those of an ellipsis are negative, −1 the last of them

struct Equation {
  std::vector<Labels> operands;
  Labels output;
  std::map<int, std::int64_t> extents;
};

constexpr int ellipsis = 0;

Labels labels_of(const std::string& text) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      if (text.compare(i, 3, "...") != 0) throw FormatError("its equation has a lone '.'");
      labels.push_back(ellipsis);
      i += 2;
    } else {
      labels.push_back(static_cast<unsigned char>(text[i]));
    }
  }
  return labels;
}

void put_ellipsis(Labels& labels, std::size_t axes) {
  const auto at = std::find(labels.begin(), labels.end(), ellipsis);
  if (at == labels.end()) return;
  Labels stretched(labels.begin(), at);
  for (std::size_t i = axes; i > 0; --i) stretched.push_back(-static_cast<int>(i));
  stretched.insert(stretched.end(), at + 1, labels.end());
  labels = std::move(stretched);
}

/// Without an output in the equation: the axes of the ellipsis, then the labels that stand once, in their order.
Labels implied_output(const std::vector<Labels>& operands, std::size_t stretched) {
  std::map<int, int> counts;
  for (const Labels& labels : operands) {
    for (const int label : labels) ++counts[label];
  }
  Labels output;
  for (std::size_t i = stretched; i > 0; --i) output.push_back(-static_cast<int>(i));
  for (const auto& [label, count] : counts) {
    if (label > 0 && count == 1) output.push_back(label);
  }
  return output;
}

Equation parse(std::string text, const std::vector<Shape>& shapes) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> parts = parts_between(text.substr(0, arrow), ",");
  if (parts.size() != shapes.size()) {
    throw FormatError("its equation is of " + std::to_string(parts.size()) + " operands, it has " +
                      std::to_string(shapes.size()));
  }
  Equation equation;
  std::size_t stretched = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Labels labels = labels_of(parts[i]);
    const bool open = std::find(labels.begin(), labels.end(), ellipsis) != labels.end();
    const std::size_t named = labels.size() - (open ? 1 : 0);
    if (named > shapes[i].size() || (!open && named < shapes[i].size())) {
      throw FormatError("its equation has " + std::to_string(named) + " labels for an operand of " +
                        std::to_string(shapes[i].size()) + " dimensions");
    }
    if (std::count(labels.begin(), labels.end(), ellipsis) > 1) throw FormatError("its equation has two '...' in one");
    stretched = std::max(stretched, shapes[i].size() - named);
    put_ellipsis(labels, shapes[i].size() - named);
    for (std::size_t axis = 0; axis < labels.size(); ++axis) {
      std::int64_t& extent = equation.extents.emplace(labels[axis], 1).first->second;
      if (extent != shapes[i][axis] && extent != 1 && shapes[i][axis] != 1) {
        throw FormatError("a label of its equation stands for " + std::to_string(extent) + " and for " +
                          std::to_string(shapes[i][axis]));
      }
      extent = std::max(extent, shapes[i][axis]);
    }
    equation.operands.push_back(std::move(labels));
  }
  if (arrow == std::string::npos) {
    equation.output = implied_output(equation.operands, stretched);
  } else {
    equation.output = labels_of(text.substr(arrow + 2));
    put_ellipsis(equation.output, stretched);
  }
  for (const int label : equation.output) {
    if (equation.extents.count(label) == 0) throw FormatError("its equation's output has a label that no operand has");
  }
  return equation;
}

Shape extents_of(const Equation& equation, const Labels& labels) {
  Shape shape;
  for (const int label : labels) shape.push_back(equation.extents.at(label));
  return shape;
}

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

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
    for (const int label : a.labels) {
      (has(b.labels, label) ? (has(keep, label) ? batch : inner) : rows).push_back(label);
    }
    for (const int label : b.labels) {
      if (!has(a.labels, label)) columns.push_back(label);
    }
    const Labels labels = joined({batch, rows, columns});
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
    for (const int label : order) {
      axes.push_back(std::find(term.labels.begin(), term.labels.end(), label) - term.labels.begin());
    }
    return steps_.transpose(term.source, axes);
  }

 private:
  static Labels joined(const std::vector<Labels>& parts) {
    Labels all;
    for (const Labels& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

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
    const Source left = ordered(a, joined({batch, rows, inner}));
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
    const Source right = steps_.reshape(ordered(b, joined({batch, inner, columns})), matrices(batch, k, n));
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

}  // namespace

std::optional<Source> einsum_operators(const OnnxSteps& steps, const std::string& text,
                                       const std::vector<EinsumOperand>& operands) {
  std::vector<Shape> shapes;
  for (const EinsumOperand& operand : operands) shapes.push_back(operand.shape);
  const Equation equation = parse(text, shapes);
  if (std::set<int>(equation.output.begin(), equation.output.end()).size() != equation.output.size())
    return std::nullopt;
  const Contraction contraction(steps, equation);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    terms.push_back(term_of(steps, equation, operands[i], equation.operands[i]));
  }
  Term result = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    Labels keep = equation.output;
    for (std::size_t later = i + 1; later < terms.size(); ++later) {
      keep.insert(keep.end(), terms[later].labels.begin(), terms[later].labels.end());
    }
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

}  // namespace tenshot::nasbench
