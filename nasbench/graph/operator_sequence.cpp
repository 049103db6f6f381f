#include "nasbench/graph/operator_sequence.h"

#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

Shape without_resolution(Shape shape) {
  if (shape.size() == 4) shape[2] = shape[3] = 1;
  return shape;
}

OperatorSequence without_resolution(OperatorSequence sequence) {
  sequence.input = without_resolution(std::move(sequence.input));
  for (OperatorSpecification& op : sequence.operators) {
    for (Shape& input : op.inputs) input = without_resolution(std::move(input));
    op.output = without_resolution(std::move(op.output));
  }
  return sequence;
}

}  // namespace

bool same_at_any_resolution(const OperatorSequence& a, const OperatorSequence& b) {
  return a == b || without_resolution(a) == without_resolution(b);
}

std::string format(const OperatorSequence& sequence, bool at_any_resolution) {
  if (at_any_resolution) return format(without_resolution(sequence));
  if (sequence.is_empty_call()) return "empty call " + format(sequence.input);
  std::vector<std::string> operators;
  for (const OperatorSpecification& op : sequence.operators) operators.push_back(format(op));
  return joined(operators, " then ");
}

OperatorSequence opaque_operator(const std::string& name, int channels, int resolution) {
  OperatorSpecification op;
  op.name = name;
  op.inputs = {{1, channels, resolution, resolution}};
  op.output = op.inputs[0];
  return {op.output, {op}};
}

}  // namespace tenshot::nasbench
