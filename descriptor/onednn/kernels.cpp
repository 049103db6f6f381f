#include "descriptor/onednn/kernels.h"

#include <algorithm>
#include <array>
#include <set>

#include "descriptor/cold/cold_files.h"
#include "descriptor/compiled/compiled_kernel.h"
#include "descriptor/compiled/layout.h"
#include "descriptor/machine/machine.h"
#include "descriptor/onednn/cold_engine.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {

using dnnl::memory;
using nasbench::Shape;
using Tag = memory::format_tag;

namespace {

constexpr memory::data_type f32 = memory::data_type::f32;
constexpr auto inference = dnnl::prop_kind::forward_inference;

/// How a tensor lies that lies row by row whatever it is, and how one lies between layers.
memory::desc row_by_row(const Shape& shape) {
  constexpr std::array<Tag, 7> tags = {Tag::undef, Tag::a, Tag::ab, Tag::abc, Tag::abcd, Tag::abcde, Tag::abcdef};
  return memory::desc(shape, f32, tags.at(shape.size()));
}

memory::desc canonical(const Shape& shape) {
  return shape.size() == 4 ? memory::desc(shape, f32, Tag::nhwc) : row_by_row(shape);
}

/// What an activation is in oneDNN: one operation, or one after another.
struct EltwiseStep {
  dnnl::algorithm algorithm;
  float alpha = 0, beta = 0;
};

std::vector<EltwiseStep> eltwise_steps(const ColdActivation& activation) {
  const auto alpha = static_cast<float>(activation.alpha), beta = static_cast<float>(activation.beta);
  const std::string& name = activation.name;
  if (name.empty()) return {};
  if (name == "relu") return {{dnnl::algorithm::eltwise_relu}};
  if (name == "leaky_relu") return {{dnnl::algorithm::eltwise_relu, alpha}};
  if (name == "relu6") return {{dnnl::algorithm::eltwise_clip, 0, 6}};
  if (name == "clip") return {{dnnl::algorithm::eltwise_clip, alpha, beta}};
  if (name == "hard_swish") return {{dnnl::algorithm::eltwise_hardswish}};
  if (name == "hard_sigmoid") {
    return {{dnnl::algorithm::eltwise_linear, alpha, beta}, {dnnl::algorithm::eltwise_clip, 0, 1}};
  }
  if (name == "sigmoid") return {{dnnl::algorithm::eltwise_logistic}};
  if (name == "silu") return {{dnnl::algorithm::eltwise_swish, 1}};
  if (name == "tanh") return {{dnnl::algorithm::eltwise_tanh}};
  if (name == "gelu") return {{dnnl::algorithm::eltwise_gelu_erf}};
  if (name == "elu") return {{dnnl::algorithm::eltwise_elu, alpha}};
  if (name == "linear") return {{dnnl::algorithm::eltwise_linear, alpha, beta}};
  throw InputError("the cold engine does not know the activation '" + name + "'");
}

dnnl::primitive_attr attributes_of(const std::vector<EltwiseStep>& steps) {
  dnnl::post_ops after;
  for (const EltwiseStep& step : steps) after.append_eltwise(1.0F, step.algorithm, step.alpha, step.beta);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  return attributes;
}

/// A family of kernels: an algorithm, and who chooses the layout of images.
struct Variant {
  const char* suffix;
  dnnl::algorithm algorithm;
  Tag images;
};

const Variant convolution_variants[] = {{" nhwc", dnnl::algorithm::convolution_direct, Tag::nhwc},
                                        {" any", dnnl::algorithm::convolution_direct, Tag::any},
                                        {" nchw", dnnl::algorithm::convolution_direct, Tag::nchw},
                                        {" winograd", dnnl::algorithm::convolution_winograd, Tag::any}};

/// What all kernels of a layer with weights share.
LayerKernel base_kernel(const ColdNetwork& network, const ColdLayer& layer) {
  LayerKernel kernel;
  kernel.has_weights = true;
  kernel.inputs = {{DNNL_ARG_SRC, layer.inputs[0], canonical(shape_of(network, layer.inputs[0]))}};
  kernel.output = {DNNL_ARG_DST, layer.output, canonical(shape_of(network, layer.output))};
  const Shape weights = weight_shape(network, layer);
  kernel.bias = memory::desc({weights[0]}, f32, Tag::a);
  if (layer.kind == ColdKind::linear) {
    kernel.raw_weights = memory::desc(weights, f32, Tag::ab);
  } else if (layer.groups == 1) {
    kernel.raw_weights = memory::desc(weights, f32, Tag::abcd);
  } else {
    kernel.raw_weights =
        memory::desc({layer.groups, weights[0] / layer.groups, weights[1], weights[2], weights[3]}, f32, Tag::abcde);
  }
  return kernel;
}

/// The same dimensions, of a layout that the library chooses.
memory::desc any(const memory::desc& description) { return memory::desc(description.dims(), f32, Tag::any); }

dnnl::convolution_forward::desc convolution(const ColdLayer& layer, const LayerKernel& kernel, const Variant& variant) {
  const auto images = [&](const memory::desc& description) {
    return memory::desc(description.dims(), f32, variant.images);
  };
  const memory::desc source = images(kernel.inputs[0].description), target = images(kernel.output.description);
  const auto after = [&](int dimension, int extent, int stride, int dilation, int before) -> memory::dim {
    const memory::dim in = source.dims()[static_cast<std::size_t>(dimension)];
    const memory::dim out = target.dims()[static_cast<std::size_t>(dimension)];
    return (out - 1) * stride + memory::dim{dilation} * (extent - 1) + 1 - in - before;
  };
  return dnnl::convolution_forward::desc(
      inference, variant.algorithm, source, any(kernel.raw_weights), kernel.bias, target,
      {layer.stride.height, layer.stride.width}, {layer.dilation.height - 1, layer.dilation.width - 1},
      {layer.padding.top, layer.padding.left},
      {after(2, layer.kernel.height, layer.stride.height, layer.dilation.height, layer.padding.top),
       after(3, layer.kernel.width, layer.stride.width, layer.dilation.width, layer.padding.left)});
}

/// Adds a kernel for every implementation of `primitive`.
template <class PrimitiveDescription>
void add_implementations(PrimitiveDescription primitive, const LayerKernel& base, const char* suffix,
                         const std::string& name, std::vector<LayerKernel>& kernels) {
  do {
    LayerKernel kernel = base;
    kernel.name = primitive.impl_info_str() + std::string(suffix);
    if (!name.empty() && kernel.name != name) continue;
    kernel.primitive = primitive;
    kernel.source = primitive.src_desc();
    kernel.target = primitive.dst_desc();
    kernel.weights = primitive.weights_desc();
    // "any" often is one of the layouts that are tried by name.
    const bool chosen = std::string(suffix) == " any" && kernel.source == base.inputs[0].description &&
                        kernel.target == base.output.description;
    if (!chosen) kernels.push_back(std::move(kernel));
    if (!name.empty()) return;
  } while (primitive.next_impl());
}

dnnl::primitive_attr user_scratchpad(const ColdActivation& activation) {
  dnnl::primitive_attr attributes = attributes_of(eltwise_steps(activation));
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

std::vector<LayerKernel> convolution_kernels(const ColdNetwork& network, const ColdLayer& layer,
                                             const dnnl::engine& engine, const std::string& name) {
  const LayerKernel base = base_kernel(network, layer);
  std::vector<LayerKernel> kernels;
  for (const Variant& variant : convolution_variants) {
    if (!name.empty() && !ends_with(name, variant.suffix)) continue;
    try {
      const auto description = convolution(layer, base, variant);  // which iterating over implementations reads
      const dnnl::convolution_forward::primitive_desc primitive(description, user_scratchpad(layer.activation), engine);
      add_implementations(primitive, base, variant.suffix, name, kernels);
    } catch (const dnnl::error&) {  // no implementation for this layout: another variant has one
    }
  }
  return kernels;
}

std::vector<LayerKernel> linear_kernels(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                                        const std::string& name) {
  const LayerKernel base = base_kernel(network, layer);
  std::vector<LayerKernel> kernels;
  for (const bool plain : {false, true}) {
    const char* suffix = plain ? " plain" : " chosen";
    if (!name.empty() && !ends_with(name, suffix)) continue;
    try {
      const dnnl::inner_product_forward::desc description(inference, base.inputs[0].description,
                                                          plain ? base.raw_weights : any(base.raw_weights), base.bias,
                                                          base.output.description);
      const dnnl::inner_product_forward::primitive_desc primitive(description, user_scratchpad(layer.activation),
                                                                  engine);
      add_implementations(primitive, base, suffix, name, kernels);
    } catch (const dnnl::error&) {  // as above
    }
  }
  return kernels;
}

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

bool is_reference(const LayerKernel& kernel) { return kernel.name.rfind("ref", 0) == 0; }

}  // namespace

bool is_matrix_product(const std::string& kernel) {
  return kernel.find("gemm:") != std::string::npos && kernel.find("brgemm:") == std::string::npos;
}

std::vector<LayerKernel> layer_kernels(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                                       const std::string& name) {
  std::vector<LayerKernel> kernels;
  if (layer.kind == ColdKind::convolution) {
    kernels = convolution_kernels(network, layer, engine, name);
  } else if (layer.kind == ColdKind::linear) {
    kernels = linear_kernels(network, layer, engine, name);
  } else {
    try {
      kernels = {plain_kernel(network, layer, engine)};
    } catch (const dnnl::error&) {  // said below
    }
  }
  if (name.empty() && !std::all_of(kernels.begin(), kernels.end(), is_reference)) {
    kernels.erase(std::remove_if(kernels.begin(), kernels.end(), is_reference), kernels.end());
  }
  std::set<std::string> names;  // the first of a name is the one that is found by it
  kernels.erase(std::remove_if(kernels.begin(), kernels.end(),
                               [&](const LayerKernel& kernel) { return !names.insert(kernel.name).second; }),
                kernels.end());
  return kernels;
}

InputError no_kernel(const ColdLayer& layer, const std::string& name) {
  return InputError("layer '" + layer.name + "': there is no kernel '" + name +
                    "' for it on this machine; measure and plan anew");
}

void require_kernel(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                    const std::string& name) {
  const bool is_there = is_compiled(name) ? compiled_kernel(network, layer, name).has_value()
                                          : !layer_kernels(network, layer, engine, name).empty();
  if (!is_there) throw no_kernel(layer, name);
}

LayerKernel named_kernel(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                         const std::string& name) {
  std::vector<LayerKernel> kernels = layer_kernels(network, layer, engine, name);
  if (kernels.empty()) throw no_kernel(layer, name);
  return std::move(kernels.front());
}

std::vector<std::string> kernel_names(const ColdNetwork& network, const ColdLayer& layer) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::vector<std::string> names;
  for (const LayerKernel& kernel : layer_kernels(network, layer, engine)) names.push_back(kernel.name);
  const std::vector<std::string> compiled = compiled_kernel_names(network, layer);
  names.insert(names.end(), compiled.begin(), compiled.end());
  if (names.empty()) throw InputError("layer '" + layer.name + "': neither oneDNN nor tenshot has a kernel for it");
  return names;
}

std::string cold_machine() {
  const dnnl_version_t* version = dnnl_version();
  const std::string revision = cpu_revision();
  return cpu_model() + (revision.empty() ? "" : ", " + revision) + ", oneDNN " + std::to_string(version->major) + "." +
         std::to_string(version->minor) + "." + std::to_string(version->patch) + ", instruction set " +
         std::to_string(static_cast<int>(dnnl::get_effective_cpu_isa()));
}

void require_this_machine(const ColdPlan& plan) {
  const std::string here = cold_machine();
  if (plan.machine == here) return;
  throw InputError("the plan was made for '" + plan.machine + "', this is '" + here +
                   "': kernels and their weights differ; measure and plan anew");
}

}  // namespace tenshot::descriptor
