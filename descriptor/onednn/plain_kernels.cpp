#include <algorithm>

#include "descriptor/compiled/layout.h"
#include "descriptor/onednn/kernels.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {

using dnnl::memory;
using nasbench::Shape;

namespace {

constexpr auto inference = dnnl::prop_kind::forward_inference;

/// A layer without weights on its way to its primitive.
struct Making {
  const ColdNetwork& network;
  const ColdLayer& layer;
  const dnnl::engine& engine;
  LayerKernel kernel;

  const Shape& shape(int tensor) const { return shape_of(network, tensor); }
  const memory::desc& in(std::size_t i = 0) const { return kernel.inputs[i].description; }
  const memory::desc& out() const { return kernel.output.description; }

  template <class PrimitiveDescription>
  void set(const PrimitiveDescription& primitive) {
    kernel.primitive = primitive;
    kernel.name = primitive.impl_info_str();
  }
};

void make_pool(Making& m) {
  const ColdLayer& layer = m.layer;
  const Shape& in = m.shape(layer.inputs[0]);
  Shape out = m.shape(layer.output);
  if (out.size() == 2) out.insert(out.end(), {1, 1});
  m.kernel.output.description = canonical(out);
  const auto after = [&](std::size_t dimension, int extent, int stride, int before, int given) {
    return std::max<memory::dim>(given, (out[dimension] - 1) * stride + extent - in[dimension] - before);
  };
  const auto algorithm = layer.kind == ColdKind::max_pool ? dnnl::algorithm::pooling_max
                         : layer.count_padding            ? dnnl::algorithm::pooling_avg_include_padding
                                                          : dnnl::algorithm::pooling_avg_exclude_padding;
  const nasbench::Padding& padding = layer.padding;
  m.set(dnnl::pooling_forward::primitive_desc(
      {inference,
       algorithm,
       m.in(),
       m.out(),
       {layer.stride.height, layer.stride.width},
       {layer.kernel.height, layer.kernel.width},
       {padding.top, padding.left},
       {after(2, layer.kernel.height, layer.stride.height, padding.top, padding.bottom),
        after(3, layer.kernel.width, layer.stride.width, padding.left, padding.right)}},
      m.engine));
}

void make_activation(Making& m) {
  const std::vector<EltwiseStep> steps = eltwise_steps(m.layer.activation);
  const EltwiseStep& first = steps.front();
  m.set(dnnl::eltwise_forward::primitive_desc({inference, first.algorithm, m.in(), first.alpha, first.beta},
                                              attributes_of({steps.begin() + 1, steps.end()}), m.engine));
}

void make_pair(Making& m) {
  const auto algorithm = m.layer.kind == ColdKind::add ? dnnl::algorithm::binary_add : dnnl::algorithm::binary_mul;
  m.kernel.inputs[1].argument = DNNL_ARG_SRC_1;
  m.set(dnnl::binary::primitive_desc({algorithm, m.in(0), m.in(1), m.out()},
                                     attributes_of(eltwise_steps(m.layer.activation)), m.engine));
}

void make_concatenation(Making& m) {
  std::vector<memory::desc> parts;
  for (std::size_t i = 0; i < m.kernel.inputs.size(); ++i) {
    m.kernel.inputs[i].argument = DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i);
    parts.push_back(m.in(i));
  }
  m.set(dnnl::concat::primitive_desc(m.out(), m.layer.axis, parts, m.engine));
}

void make_slice(Making& m) {
  const Shape& out = m.shape(m.layer.output);
  memory::dims offsets(out.size(), 0);
  offsets[static_cast<std::size_t>(m.layer.axis)] = m.layer.start;
  m.kernel.inputs[0].description = m.in().submemory_desc(out, offsets);
  m.set(dnnl::reorder::primitive_desc(m.engine, m.in(), m.engine, m.out()));
}

/// Numbers keep their order row by row; only images lie otherwise.
void make_reshape(Making& m) {
  const Shape &in = m.shape(m.layer.inputs[0]), &out = m.shape(m.layer.output);
  if (out.size() == 4 && out[2] * out[3] > 1 && out[1] > 1) {
    throw InputError("layer '" + m.layer.name + "': oneDNN has no kernel for it: a reshape to an image");
  }
  m.kernel.output.description = row_by_row(in);
  m.set(dnnl::reorder::primitive_desc(m.engine, m.in(), m.engine, m.out()));
}

}  // namespace

LayerKernel plain_kernel(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine) {
  Making m{network, layer, engine, {}};
  for (const int input : layer.inputs) m.kernel.inputs.push_back({DNNL_ARG_SRC, input, canonical(m.shape(input))});
  m.kernel.output = {DNNL_ARG_DST, layer.output, canonical(m.shape(layer.output))};
  switch (layer.kind) {
    case ColdKind::max_pool:
    case ColdKind::average_pool: make_pool(m); break;
    case ColdKind::activation: make_activation(m); break;
    case ColdKind::add:
    case ColdKind::multiply: make_pair(m); break;
    case ColdKind::concatenate: make_concatenation(m); break;
    case ColdKind::slice: make_slice(m); break;
    case ColdKind::shuffle:
      m.set(dnnl::shuffle_forward::primitive_desc(
          {inference, m.in(), 1, static_cast<int>(m.shape(layer.output)[1]) / layer.groups}, engine));
      break;
    case ColdKind::softmax:
      m.set(dnnl::softmax_forward::primitive_desc({inference, m.in(), layer.axis}, engine));
      break;
    default: make_reshape(m);
  }
  return m.kernel;
}

}  // namespace tenshot::descriptor
