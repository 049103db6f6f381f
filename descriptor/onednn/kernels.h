#pragma once

#include <dnnl.hpp>
#include <string>
#include <vector>

#include "descriptor/cold/cold_network.h"
#include "nasbench/graph/operator_specification.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {

// Needs oneDNN's headers: for the sources of this room only.

/// A tensor that a primitive reads or writes, and how the primitive sees it.
struct TensorArgument {
  int argument = 0;  ///< DNNL_ARG_SRC and so on
  int tensor = 0;    ///< number of the tensor in the network
  dnnl::memory::desc description;
};

/// One implementation of one layer. Between layers an image lies channels last (nhwc), all else row by row; what a
/// kernel wants otherwise is reordered before and after it, as a part of its execution.
struct LayerKernel {
  std::string name;  ///< "jit:avx512_core nhwc", "jit_wino_4x3:avx512_core any"
  dnnl::primitive_desc_base primitive;
  std::vector<TensorArgument> inputs;
  TensorArgument output;
  dnnl::memory::desc source, target;  ///< layouts that the kernel wants; of layers with weights
  bool has_weights = false;
  dnnl::memory::desc raw_weights, weights, bias;
  bool transforms() const { return has_weights && raw_weights != weights; }
};

/// Whether a kernel is a matrix product, whose code is shared.
bool is_matrix_product(const std::string& kernel);

/// The kernels of a layer in the library's order of preference, without its reference implementations where there are
/// others. For convolutions and linear layers: every implementation for channels last, for the layout that it prefers
/// itself ("any"), for the file's (nchw), and Winograd's algorithm. `name`: that kernel alone, or nothing.
std::vector<LayerKernel> layer_kernels(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                                       const std::string& name = "");

/// Says that a layer has no kernel of this name here.
InputError no_kernel(const ColdLayer& layer, const std::string& name);

/// Throws InputError that names the layer where it has no kernel of this name, of the library or a compiled one.
void require_kernel(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                    const std::string& name);

/// The library's kernel of this name. Throws as require_kernel.
LayerKernel named_kernel(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                         const std::string& name);

}  // namespace tenshot::descriptor
