#include <set>

#include "nasbench/graph/network_builder.h"
#include "nasbench/spaces/layered_expansion.h"
#include "nasbench/spaces/layered_levels.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

namespace {

std::string size_text(const Shape& shape) {
  if (shape.size() != 4) return "a flat tensor";
  return std::to_string(shape[2]) + "x" + std::to_string(shape[3]);
}

/// The channels that the layer has to give at the builder's width; 0 where nobody says.
int out_of(const nlohmann::json& layer, int out, const BlockBuilder& builder) {
  const auto scaled = layer.find("scaled");
  if (out == 0 || builder.width == nullptr || (scaled != layer.end() && *scaled == false)) return out;
  return static_cast<int>(rounded_to_multiple(out * builder.width->multiplier, builder.width->multiple_of));
}

/// Which tensors are needed at one place of a network: what stands before a block, and named ones by their numbers.
struct Needed {
  bool before = false;
  std::set<std::size_t> named;

  void add(const Source& source) {
    if (source.output == 0)
      before = true;
    else
      named.insert(static_cast<std::size_t>(source.output) - 1);
  }
};

/// Adds to `needed` what the block takes so that it gives `roots`. Throws where an operator does nothing for them.
void take_needed(const Block& block, std::vector<Source> roots, const std::string& where, Needed& needed) {
  std::vector<bool> used(block.operators.size(), false);
  while (!roots.empty()) {
    const Source source = roots.back();
    roots.pop_back();
    if (source.node < 0) {
      needed.add(source);
      continue;
    }
    const auto node = static_cast<std::size_t>(source.node);
    if (used[node]) continue;
    used[node] = true;
    roots.insert(roots.end(), block.operators[node].inputs.begin(), block.operators[node].inputs.end());
  }
  const auto idle = std::find(used.begin(), used.end(), false);
  if (idle == used.end()) return;
  const BlockOperator& op = block.operators[static_cast<std::size_t>(idle - used.begin())];
  throw FormatError(where + ": nothing takes what " + op.place + " (" + std::string(name(op.specification.kind)) +
                    ") gives; name it by 'as' and take it by 'from', or leave it out");
}

/// Appends a block to a network; what it gives of the tensor `input`. `tensors` are those that blocks named so far.
Source append_block(NetworkBuilder& builder, const Block& block, const std::string& prefix, const Source& input,
                    std::vector<Source>& tensors) {
  std::vector<Source> values;
  const auto value_of = [&](const Source& source) -> Source {
    if (source.node >= 0) return {values[static_cast<std::size_t>(source.node)].node, source.output};
    return source.output == 0 ? input : tensors[static_cast<std::size_t>(source.output) - 1];
  };
  for (const BlockOperator& entry : block.operators) {
    const OperatorSpecification& op = entry.specification;
    NetworkNode node;
    node.operation = op;
    node.name = prefix + "_" + std::to_string(values.size()) + "_" + std::string(name(op.kind));
    for (const Source& source : entry.inputs) node.inputs.push_back(value_of(source));
    node.outputs = {{op.output, op.type}};
    for (const Shape& output : entry.more_outputs) node.outputs.push_back({output, op.type});
    for (TensorType& output : node.outputs) output.shape[0] = builder.type(node.inputs.front()).shape[0];  // the batch
    node.attributes.padding = {entry.padding.height, entry.padding.width, entry.padding.height, entry.padding.width};
    if (op.kind == OperatorKind::batch_norm) node.attributes.alpha = batch_norm_epsilon;
    if (op.kind == OperatorKind::concatenate || op.kind == OperatorKind::softmax || op.kind == OperatorKind::split) {
      node.attributes.axes = {1};
    }
    node.attributes.mode = entry.mode;
    if (op.name == "hard_sigmoid") {
      node.attributes.alpha = 1.0 / 6;
      node.attributes.beta = 0.5;
    }
    values.push_back(builder.append(std::move(node)));
  }
  std::vector<Source> named;
  for (const NamedTensor& tensor : block.named) named.push_back(value_of(tensor.source));
  const Source output = value_of(block.output);
  tensors.insert(tensors.end(), named.begin(), named.end());
  return output;
}

}  // namespace

std::size_t LayeredSpace::alternative_count(const Layer& layer) const {
  std::size_t count = layer.options.size();
  for (const Choice& choice : layer.choices) count = std::min(count, most_options + 1) * choice.values.size();
  return count;
}

LayeredSpace::Alternative LayeredSpace::alternative(const Layer& layer, std::size_t number) const {
  Alternative found;
  found.values.resize(layer.choices.size());
  for (std::size_t c = layer.choices.size(); c-- > 0;) {
    const Choice& choice = layer.choices[c];
    const std::size_t at = number % choice.values.size();
    number /= choice.values.size();
    found.values[c] = choice.values[at];
    if (choice.key == "repeat") found.repeat = static_cast<int>(choice.values[at]);
    found.text = "|" + choice.names[at] + found.text;
  }
  found.option = &layer.options[number];
  found.text = layer.decides_option ? found.option->name + found.text : found.text.substr(found.text.empty() ? 0 : 1);
  return found;
}

Block LayeredSpace::make_block(const Layer& layer, const Alternative& alternative, const BlockBuilder& builder,
                               const Shape& before, const TemplateValues& common) const {
  Expansion expansion(builder, before);
  const int out = out_of(*layer.object, layer.out, builder);
  Source last = layer.takes ? expansion.taken(layer.object->at("from"), layer.place) : Source{};
  for (int copy = 0; copy < alternative.repeat; ++copy) {
    const std::int64_t in = channels_of(expansion.shape(last));
    const int stride = copy == 0 ? layer.stride : 1;
    TemplateValues values = common;
    values["stride"] = static_cast<double>(stride);
    values["in"] = static_cast<double>(in);
    if (out > 0) {
      values["out"] = static_cast<double>(out);
      values["same_shape"] = in == out && stride == 1 ? 1.0 : 0.0;
    }
    for (const auto& item : layer.object->items()) {
      if (item.value().is_array() || is_one_of(item.key(), {"out", "stride", "repeat", "options", "comment", "as",
                                                            "from", "scaled", "template", "operators"})) {
        continue;
      }
      values[item.key()] = builder.value_of(item.value(), layer.place + "." + item.key(), values);
    }
    for (std::size_t c = 0; c < layer.choices.size(); ++c) {
      if (layer.choices[c].key != "repeat") values[layer.choices[c].key] = alternative.values[c];
    }
    const Option& option = *alternative.option;
    TemplateValues own = values;
    for (const auto& item : option.object->items()) {
      if (!layer.decides_option || is_one_of(item.key(), {"name", "template", "operators", "comment"})) continue;
      own[item.key()] = builder.value_of(item.value(), option.place + "." + item.key(), values);
    }
    last = expansion.append_body(*option.object, option.place, own, last);
  }
  Block block = expansion.take(last);
  if (!layer.name.empty()) block.named = {{layer.name, block.output_shape, last}};
  return block;
}

std::vector<Block> LayeredSpace::make_blocks(const Layer& layer, const BlockBuilder& builder, const Shape& before,
                                             const TemplateValues& common) const {
  const int out = out_of(*layer.object, layer.out, builder);
  std::vector<Block> blocks;
  for (std::size_t number = 0; number < alternative_count(layer); ++number) {
    const Alternative alternative = this->alternative(layer, number);
    blocks.push_back(make_block(layer, alternative, builder, before, common));
    const Shape &output = blocks.back().output_shape, &first = blocks.front().output_shape;
    const std::string where = file_ + ": " + layer.place +
                              (alternative.text.empty() ? "" : ", option '" + alternative.text + "'") + ": gives ";
    if (out > 0 && channels_of(output) != out) {
      throw FormatError(where + std::to_string(channels_of(output)) + " channels, the layer's 'out' is " +
                        std::to_string(out));
    }
    if (output == first) continue;
    const bool by_size = channels_of(output) == channels_of(first);
    const auto text = [by_size](const Shape& shape) { return by_size ? size_text(shape) : format_extents(shape); };
    throw FormatError(where + text(output) + ", option '" + this->alternative(layer, 0).text + "' gives " +
                      text(first) + "; all options of a layer give the same");
  }
  return blocks;
}

std::unique_ptr<LayeredSpace::Level> LayeredSpace::make_level(const NetworkShape& shape, std::size_t width,
                                                              std::size_t& expanded) const {
  auto level = std::make_unique<Level>();
  BlockBuilder builder{list_or_none(*definition_, "templates"), file_, expanded};
  TemplateValues common = {{"resolution", static_cast<double>(shape.resolution)},
                           {"classes", static_cast<double>(shape.classes)}};
  if (!widths_.empty()) {
    builder.width = &widths_[width];
    common["width"] = widths_[width].multiplier;
  }
  for (const Layer& layer : layers_) {
    if (!layer.name.empty()) builder.layer_by_tensor.emplace(layer.name, layer.place);
  }
  const Shape input = {1, input_channels_, shape.resolution, shape.resolution};
  level->stem = builder.build(list_or_none(*definition_, "stem"), "stem", input, common);
  Shape before = level->stem.output_shape;
  for (const Layer& layer : layers_) {
    level->layers.push_back(make_blocks(layer, builder, before, common));
    const Block& first = level->layers.back().front();
    builder.add_tensors(first, layer.place + ".as");
    before = first.output_shape;
  }
  level->head = builder.build(list_or_none(*definition_, "head"), "head", before, common);
  find_outputs(builder, *level);
  require_needed(*level, builder.tensors.size());
  return level;
}

void LayeredSpace::find_outputs(const BlockBuilder& builder, Level& level) const {
  const nlohmann::json& outputs = list_or_none(*definition_, "outputs");
  if (definition_->contains("outputs") && (!outputs.is_array() || outputs.empty())) {
    throw FormatError(file_ + ": outputs is " + shown(outputs) + ", expected the names of tensors");
  }
  std::set<std::string> seen, known;
  for (const NamedTensor& tensor : builder.tensors) known.insert(tensor.name);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string place = file_ + ": outputs[" + std::to_string(i) + "]";
    const std::string name = outputs[i].is_string() ? outputs[i].get<std::string>() : std::string();
    if (known.find(name) == known.end()) {
      throw FormatError(place + ": there is no tensor " + shown(outputs[i]) +
                        "; named are: " + (known.empty() ? "none" : joined(known)));
    }
    if (!seen.insert(name).second) throw FormatError(place + ": '" + excerpt(name) + "' is an output already");
    for (std::size_t t = 0; t < builder.tensors.size(); ++t) {
      if (builder.tensors[t].name == name) level.outputs.push_back(t);
    }
  }
}

void LayeredSpace::require_needed(const Level& level, std::size_t tensor_count) const {
  Needed needed;
  needed.before = level.outputs.empty();
  needed.named.insert(level.outputs.begin(), level.outputs.end());
  std::size_t end = tensor_count;  // the number after those that the block names
  const auto take = [&](const Block* blocks, std::size_t count, const std::string& place) {
    Needed before;
    before.named = needed.named;
    end -= blocks[0].named.size();
    for (const Block* block = blocks; block != blocks + count; ++block) {
      std::vector<Source> roots;
      if (needed.before) roots.push_back(block->output);
      for (std::size_t i = 0; i < block->named.size(); ++i) {
        if (needed.named.count(end + i) > 0) roots.push_back(block->named[i].source);
      }
      take_needed(*block, std::move(roots), file_ + ": " + place, before);
    }
    needed = std::move(before);
  };
  take(&level.head, 1, "head");
  for (std::size_t l = layers_.size(); l-- > 0;) take(level.layers[l].data(), level.layers[l].size(), layers_[l].place);
  take(&level.stem, 1, "stem");
}

Network LayeredSpace::computation(const Architecture& architecture, const NetworkShape& shape, int batch) const {
  const NetworkShape own = shape_of(architecture, shape);
  NetworkBuilder builder;
  Source last = builder.input("input", {batch, input_channels_, own.resolution, own.resolution});
  std::size_t stage = 0;
  const Level& level = this->level(own, width_of(architecture));
  std::vector<Source> tensors;
  for (const Block* block : blocks_of(architecture, level)) {
    last = append_block(builder, *block, "stage" + std::to_string(stage++), last, tensors);
  }
  if (level.outputs.empty()) builder.output(last);
  for (const std::size_t tensor : level.outputs) builder.output(tensors[tensor]);
  return builder.take();
}

}  // namespace tenshot::nasbench
