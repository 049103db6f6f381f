#include <nlohmann/json.hpp>

#include "descriptor/cold/cold_network.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {

using nlohmann::json;

namespace {

constexpr std::array<const char*, 12> kind_names = {"convolution", "linear",  "max_pool", "average_pool",
                                                    "activation",  "add",     "multiply", "concatenate",
                                                    "slice",       "shuffle", "softmax",  "reshape"};
constexpr double most_elements = 1e9;

json to_json(const ColdLayer& layer) {
  json object = {{"kind", kind_names.at(static_cast<std::size_t>(layer.kind))},
                 {"name", layer.name},
                 {"inputs", layer.inputs},
                 {"output", layer.output}};
  const auto window = window_numbers(layer);
  if (window != window_numbers({})) object["window"] = window;
  if (layer.count_padding) object["count_padding"] = 1;
  if (layer.groups != 1) object["groups"] = layer.groups;
  if (layer.axis != 1) object["axis"] = layer.axis;
  if (layer.start != 0) object["start"] = layer.start;
  if (!layer.activation.name.empty()) {
    object["activation"] = {layer.activation.name, layer.activation.alpha, layer.activation.beta};
  }
  if (!layer.weights_of.empty()) object["weights_of"] = layer.weights_of;
  if (!layer.norms_of.empty()) {
    object["norms_of"] = layer.norms_of;
    object["norm_epsilons"] = layer.norm_epsilons;
  }
  return object;
}

ColdKind kind_from(const JsonReader& reader) {
  const std::string text = reader.text("kind", "");
  for (std::size_t i = 0; i < kind_names.size(); ++i) {
    if (text == kind_names[i]) return static_cast<ColdKind>(i);
  }
  reader.fail("kind", "one of " + joined(kind_names), reader.require("kind", "a kind of layer"));
}

int tensor_from(const JsonReader& reader, const char* key, const json& value, const ColdNetwork& network) {
  const int number = reader.whole_number_of(value, reader.full(key), 0);
  if (number >= static_cast<int>(network.tensors.size())) reader.fail(key, "numbers of tensors", value);
  return number;
}

void read_window(const JsonReader& reader, ColdLayer& layer) {
  const json& window = reader.array("window");
  if (window.size() != 10) reader.fail("window", "ten whole numbers", window);
  std::array<int, 10> n;
  for (std::size_t i = 0; i < n.size(); ++i) {
    n[i] = reader.whole_number_of(window[i], reader.full("window"), i < 6 ? 1 : 0);
  }
  layer.kernel = {n[0], n[1]};
  layer.stride = {n[2], n[3]};
  layer.dilation = {n[4], n[5]};
  layer.padding = {n[6], n[7], n[8], n[9]};
}

void read_activation(const JsonReader& reader, ColdLayer& layer) {
  const json& a = reader.array("activation");
  if (a.size() != 3) reader.fail("activation", "a name and two numbers", a);
  layer.activation = {a[0].get<std::string>(), a[1].get<double>(), a[2].get<double>()};
}

/// What the engine relies on; oneDNN checks the rest when it makes the kernel.
void require_sound(const JsonReader& reader, const ColdLayer& layer, const ColdNetwork& network) {
  const json& inputs = reader.require("inputs", "numbers of tensors");
  const std::size_t wanted = layer.kind == ColdKind::add || layer.kind == ColdKind::multiply ? 2 : 1;
  if (layer.inputs.size() < wanted) reader.fail("inputs", std::to_string(wanted) + " tensors at least", inputs);
  const nasbench::Shape &in = shape_of(network, layer.inputs[0]), &out = shape_of(network, layer.output);
  const auto demand = [&](bool holds, const char* what) {
    if (!holds) reader.fail("inputs", what, inputs);
  };
  const auto axis = static_cast<std::size_t>(layer.axis);
  switch (layer.kind) {
    case ColdKind::convolution:
      demand(in.size() == 4 && out.size() == 4 && in[1] % layer.groups == 0 && out[1] % layer.groups == 0,
             "images whose channels the groups divide");
      break;
    case ColdKind::max_pool:
    case ColdKind::average_pool:
      demand(in.size() == 4, "an image");
      demand(out.size() == 4 || (out.size() == 2 && layer.kernel.height == in[2] && layer.kernel.width == in[3]),
             "an image, or two dimensions of a pool over all positions");
      break;
    case ColdKind::linear: demand(in.size() == 2 && out.size() == 2, "tensors of two dimensions"); break;
    case ColdKind::slice:
      demand(axis < in.size() && in.size() == out.size() && layer.start + out[axis] <= in[axis],
             "a tensor that the slice lies in");
      break;
    case ColdKind::concatenate:
    case ColdKind::softmax: demand(axis < in.size() && in.size() == out.size(), "tensors that have the axis"); break;
    case ColdKind::shuffle:
      demand(in.size() == 4 && in == out && in[1] % layer.groups == 0, "an image whose channels the groups divide");
      break;
    default: demand(nasbench::element_count(in) == nasbench::element_count(out), "as many numbers as the output has");
  }
}

ColdLayer layer_from(const JsonReader& reader, const ColdNetwork& network) {
  ColdLayer layer;
  layer.kind = kind_from(reader);
  layer.name = reader.text("name", "");
  for (const json& input : reader.array("inputs")) {
    layer.inputs.push_back(tensor_from(reader, "inputs", input, network));
  }
  layer.output = tensor_from(reader, "output", reader.require("output", "the number of a tensor"), network);
  layer.count_padding = reader.whole_number("count_padding", 0, 0) != 0;
  layer.groups = reader.whole_number("groups", 1, 1);
  layer.axis = reader.whole_number("axis", 0, 1);
  layer.start = reader.whole_number("start", 0, 0);
  layer.weights_of = reader.text("weights_of", "");
  if (reader.find("window") != nullptr) read_window(reader, layer);
  if (reader.find("activation") != nullptr) read_activation(reader, layer);
  for (const json& norm : reader.array("norms_of")) layer.norms_of.push_back(norm.get<std::string>());
  for (const json& epsilon : reader.array("norm_epsilons")) layer.norm_epsilons.push_back(epsilon.get<double>());
  require_sound(reader, layer, network);
  return layer;
}

nasbench::Shape shape_from(const JsonReader& reader, const json& value) {
  if (!value.is_array() || value.empty() || value.size() > 6) reader.fail("tensors", "lists of dimensions", value);
  nasbench::Shape shape;
  double elements = 1;
  for (const json& extent : value) {
    shape.push_back(reader.whole_number_of(extent, reader.full("tensors"), 1));
    elements *= static_cast<double>(shape.back());
  }
  if (elements > most_elements) reader.fail("tensors", "at most 10^9 numbers", value);
  return shape;
}

}  // namespace

std::array<int, 10> window_numbers(const ColdLayer& layer) {
  const nasbench::Extent &kernel = layer.kernel, &stride = layer.stride, &dilation = layer.dilation;
  const nasbench::Padding& padding = layer.padding;
  return {kernel.height,  kernel.width, stride.height, stride.width,   dilation.height,
          dilation.width, padding.top,  padding.left,  padding.bottom, padding.right};
}

json to_json(const ColdNetwork& network) {
  json layers = json::array();
  for (const ColdLayer& layer : network.layers) layers.push_back(to_json(layer));
  return {{"tensors", network.tensors}, {"input", network.input}, {"output", network.output}, {"layers", layers}};
}

ColdNetwork cold_network_from(const json& value, const std::string& file) {
  const JsonReader reader(value, file, "network");
  ColdNetwork network;
  for (const json& shape : reader.array("tensors")) network.tensors.push_back(shape_from(reader, shape));
  const auto tensor = [&](const char* key) {
    const int number = reader.whole_number(key, 0, 0);
    if (number >= static_cast<int>(network.tensors.size())) {
      reader.fail(key, "the number of a tensor", reader.require(key, "the number of a tensor"));
    }
    return number;
  };
  network.input = tensor("input");
  network.output = tensor("output");
  for (const JsonReader& layer : reader.objects("layers")) network.layers.push_back(layer_from(layer, network));
  return network;
}

}  // namespace tenshot::descriptor
