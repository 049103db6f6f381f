#include <algorithm>
#include <utility>

#include "descriptor/compiled/kernel_makers.h"
#include "descriptor/compiled/layout.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Shape;

class Concatenation : public CompiledKernel {
 public:
  explicit Concatenation(std::vector<AxisView> parts) : parts_(std::move(parts)) {}

  void execute(const Arguments& arguments) const override {
    float* target = arguments.output;
    for (std::int64_t outer = 0; outer < parts_[0].outer; ++outer) {
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::int64_t count = parts_[i].extent * parts_[i].inner;
        target = std::copy_n(arguments.inputs[i] + outer * count, count, target);
      }
    }
  }

 private:
  std::vector<AxisView> parts_;
};

class Slice : public CompiledKernel {
 public:
  Slice(const AxisView& whole, const AxisView& part, std::int64_t start) : whole_(whole), part_(part), start_(start) {}

  void execute(const Arguments& arguments) const override {
    const std::int64_t count = part_.extent * part_.inner, row = whole_.extent * whole_.inner;
    for (std::int64_t outer = 0; outer < whole_.outer; ++outer) {
      std::copy_n(arguments.inputs[0] + outer * row + start_ * whole_.inner, count, arguments.output + outer * count);
    }
  }

 private:
  AxisView whole_, part_;
  std::int64_t start_;
};

/// Channel c of group g becomes channel c · groups + g.
class Shuffle : public CompiledKernel {
 public:
  Shuffle(std::int64_t pixels, std::int64_t channels, std::int64_t groups)
      : pixels_(pixels), groups_(groups), of_group_(channels / groups) {}

  void execute(const Arguments& arguments) const override {
    const float* source = arguments.inputs[0];
    float* target = arguments.output;
    for (std::int64_t pixel = 0; pixel < pixels_; ++pixel, source += groups_ * of_group_) {
      if (groups_ == 2) {
        for (std::int64_t channel = 0; channel < of_group_; ++channel, target += 2) {
          target[0] = source[channel];
          target[1] = source[of_group_ + channel];
        }
        continue;
      }
      for (std::int64_t channel = 0; channel < of_group_; ++channel) {
        for (std::int64_t group = 0; group < groups_; ++group) *target++ = source[group * of_group_ + channel];
      }
    }
  }

 private:
  std::int64_t pixels_, groups_, of_group_;
};

/// Numbers keep their order row by row, so that only images change.
class Reshape : public CompiledKernel {
 public:
  explicit Reshape(Shape shape) : shape_(std::move(shape)) {}

  void execute(const Arguments& arguments) const override {
    to_channels_first(shape_, arguments.inputs[0], arguments.output);
  }

 private:
  Shape shape_;
};

bool is_image(const Shape& shape) { return shape.size() == 4 && shape[2] * shape[3] > 1 && shape[1] > 1; }

}  // namespace

std::unique_ptr<CompiledKernel> compiled_copy(const ColdNetwork& network, const ColdLayer& layer, const MachineCode&) {
  const Shape &in = shape_of(network, layer.inputs[0]), &out = shape_of(network, layer.output);
  if (!layer.activation.name.empty()) return nullptr;
  std::vector<AxisView> parts;
  switch (layer.kind) {
    case ColdKind::concatenate:
      for (const int input : layer.inputs) parts.push_back(view_from(shape_of(network, input), layer.axis));
      return std::make_unique<Concatenation>(std::move(parts));
    case ColdKind::slice:
      return std::make_unique<Slice>(view_from(in, layer.axis), view_from(out, layer.axis), layer.start);
    case ColdKind::shuffle:
      if (in.size() != 4) return nullptr;
      return std::make_unique<Shuffle>(in[0] * in[2] * in[3], in[1], layer.groups);
    case ColdKind::reshape:
      if (is_image(out)) return nullptr;
      return std::make_unique<Reshape>(in);
    default: return nullptr;
  }
}

}  // namespace tenshot::descriptor
