#include "descriptor/onednn/kernels.h"

#include <algorithm>
#include <array>
#include <set>

#include "descriptor/cold/cold_files.h"
#include "descriptor/compiled/compiled_kernel.h"
#include "descriptor/compiled/layout.h"
#include "descriptor/machine/machine.h"
#include "descriptor/onednn/cold_engine.h"

namespace tenshot::descriptor {

using dnnl::memory;
using nasbench::Shape;
using Tag = memory::format_tag;

namespace {

constexpr memory::data_type f32 = memory::data_type::f32;

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

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

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
      dnnl::prop_kind::forward_inference, variant.algorithm, source, any(kernel.raw_weights), kernel.bias, target,
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
      const dnnl::inner_product_forward::desc description(
          dnnl::prop_kind::forward_inference, base.inputs[0].description,
          plain ? base.raw_weights : any(base.raw_weights), base.bias, base.output.description);
      const dnnl::inner_product_forward::primitive_desc primitive(description, user_scratchpad(layer.activation),
                                                                  engine);
      add_implementations(primitive, base, suffix, name, kernels);
    } catch (const dnnl::error&) {  // as above
    }
  }
  return kernels;
}

bool is_reference(const LayerKernel& kernel) { return kernel.name.rfind("ref", 0) == 0; }

}  // namespace

memory::desc row_by_row(const Shape& shape) {
  constexpr std::array<Tag, 7> tags = {Tag::undef, Tag::a, Tag::ab, Tag::abc, Tag::abcd, Tag::abcde, Tag::abcdef};
  return memory::desc(shape, f32, tags.at(shape.size()));
}

memory::desc canonical(const Shape& shape) {
  return shape.size() == 4 ? memory::desc(shape, f32, Tag::nhwc) : row_by_row(shape);
}

bool is_matrix_product(const std::string& kernel) {
  return kernel.find("gemm:") != std::string::npos && kernel.find("brgemm:") == std::string::npos;
}

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

std::vector<std::string> kernel_names(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine) {
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

std::vector<std::string> kernel_names(const ColdNetwork& network, const ColdLayer& layer) {
  return kernel_names(network, layer, dnnl::engine(dnnl::engine::kind::cpu, 0));
}

void require_this_machine(const ColdPlan& plan) {
  const std::string here = cold_machine();
  if (plan.machine == here) return;
  throw InputError("the plan was made for '" + plan.machine + "', this is '" + here +
                   "': kernels and their weights differ; measure and plan anew");
}

}  // namespace tenshot::descriptor
