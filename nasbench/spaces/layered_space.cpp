#include "nasbench/spaces/layered_space.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "nasbench/graph/layer_graph_builder.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/spaces/shipped_spaces.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr int largest_resolution = 1 << 14;
constexpr int largest_class_count = 1'000'000;
constexpr int largest_channel_count = 1 << 20;
constexpr std::size_t most_options = 255;  ///< at one decision: a choice is one byte
constexpr std::size_t longest_name = 100;
constexpr std::uint32_t part_options = 256;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

void require_keys(const json& object, const std::string& file, const std::string& place,
                  std::initializer_list<std::string_view> known) {
  for (const auto& item : object.items()) {
    if (is_one_of(item.key(), known)) continue;
    throw FormatError(file + ": " + place + "key '" + excerpt(item.key()) +
                      "' is unknown; known are: " + joined(known));
  }
}

/// Names stand in strings of architectures, and those in CSV files.
bool is_option_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 0x7F && c != '|' && c != ',' && c != '"' && c != '\'';
  });
}

bool is_space_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                  c == '.';
         });
}

std::int64_t channels_of(const Shape& shape) { return shape.size() == 4 ? shape[1] : shape.back(); }

std::string size_text(const Shape& shape) {
  if (shape.size() != 4) return "a flat tensor";
  return std::to_string(shape[2]) + "x" + std::to_string(shape[3]);
}

const json& none() {
  static const json list = json::array();
  return list;
}

const json& list_or_none(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? none() : *found;
}

}  // namespace

struct LayeredSpace::Level {
  Block stem, head;
  std::vector<std::vector<Block>> layers;  ///< [layer][option]
};

struct LayeredSpace::Levels {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::unique_ptr<Level>> of_shape;  ///< by resolution and classes
};

LayeredSpace::~LayeredSpace() = default;

LayeredSpace::LayeredSpace(const json& definition, const std::string& file)
    : file_(file), definition_(std::make_unique<const json>(definition)), levels_(std::make_unique<Levels>()) {
  const JsonReader reader(*definition_, file_, "");
  reader.require_format(space_format, "space file");
  require_keys(*definition_, file_, "",
               {"format", "name", "comment", "input", "classes", "templates", "option_sets", "stem", "layers", "head",
                "resolution"});
  name_ = reader.text("name", "");
  if (!is_space_name(name_)) {
    reader.fail("name", "letters, digits, '.', '_' and '-', at most 100",
                reader.require("name", "the name of the space"));
  }
  const JsonReader input(reader.require("input", R"({"channels": 3, "resolution": 224})"), file_, "input");
  require_keys(*reader.find("input"), file_, "input: ", {"channels", "resolution"});
  input_channels_ = input.whole_number("channels", 1, 3);
  resolution_ = input.whole_number("resolution", 1, 0);
  classes_ = reader.whole_number("classes", 1, 1000);
  read_resolutions(*definition_);
  if (input_channels_ > largest_channel_count) input.fail("channels", "at most 2^20", *input.find("channels"));
  if (classes_ > largest_class_count) reader.fail("classes", "at most 10^6", *reader.find("classes"));
  read_layers(*definition_);
  name_decisions();
  // Every list is expanded once, at the ends of the range, so that what is wrong is found when the file is read.
  std::vector<int> checked = {resolution_};
  if (!resolutions_.empty()) {
    const auto [least, most] = std::minmax_element(resolutions_.begin(), resolutions_.end());
    checked = {*least, *most};
  }
  for (const int resolution : checked) level({resolution, classes_});
}

void LayeredSpace::read_resolutions(const json& definition) {
  const JsonReader reader(definition, file_, "");
  for (const json& value : reader.array("resolution")) {
    const int resolution = reader.whole_number_of(value, "resolution", 1);
    if (std::find(resolutions_.begin(), resolutions_.end(), resolution) != resolutions_.end()) {
      reader.fail_at("resolution", "each resolution once", value);
    }
    resolutions_.push_back(resolution);
  }
  if (resolutions_.size() > most_options) {
    throw FormatError(file_ + ": resolution has " + std::to_string(resolutions_.size()) + " options, at most " +
                      std::to_string(most_options) + " are supported");
  }
  if (resolution_ == 0 && !resolutions_.empty()) resolution_ = resolutions_.back();
  if (resolution_ == 0) throw FormatError(file_ + ": no key 'input.resolution', expected height and width in pixels");
  int largest = resolution_;
  for (const int resolution : resolutions_) largest = std::max(largest, resolution);
  if (largest > largest_resolution) {
    throw FormatError(file_ + ": a resolution of " + std::to_string(largest) + " pixels, at most " +
                      std::to_string(largest_resolution) + " are supported");
  }
}

void LayeredSpace::read_layers(const json& definition) {
  const JsonReader reader(definition, file_, "");
  const json& layers = reader.array("layers");
  if (layers.empty()) {
    throw FormatError(file_ + R"(: layers is empty, expected such as [{"out": 24, "stride": 2, "options": [...]}])");
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string place = "layers[" + std::to_string(i) + "]";
    const JsonReader layer(layers[i], file_, place);
    Layer made;
    made.place = place;
    layer.require("out", "the channels that every option of the layer gives");
    made.out = layer.whole_number("out", 1, 0);
    made.stride = layer.whole_number("stride", 1, 1);
    const int repeat = layer.whole_number("repeat", 1, 1);
    if (made.out > largest_channel_count) layer.fail("out", "at most 2^20", layers[i].at("out"));
    made.object = &layers[i];
    const std::size_t decisions = layers_.size() + static_cast<std::size_t>(repeat) + (resolutions_.empty() ? 0 : 1);
    if (decisions > Architecture::max_decisions) {
      throw FormatError(file_ + ": " + place + ": makes " + std::to_string(decisions) + " decisions, at most " +
                        std::to_string(Architecture::max_decisions) + " are supported");
    }
    for (int copy = 0; copy < repeat; ++copy) {
      layers_.push_back(made);
      if (copy == 0)
        read_options(layers[i], place);
      else
        layers_.back().options = layers_[layers_.size() - 2].options;
      if (copy > 0) layers_.back().stride = 1;
    }
  }
}

void LayeredSpace::read_options(const json& layer, const std::string& place) {
  std::vector<Option>& options = layers_.back().options;
  std::set<std::string> names;
  const auto add = [&](const json& object, const std::string& where) {
    const JsonReader reader(object, file_, where);
    const std::string name = reader.text("name", "");
    if (!is_option_name(name)) {
      reader.fail("name", "a name without blanks, commas, quotes and '|'",
                  reader.require("name", "the name of the option"));
    }
    if (!names.insert(name).second) {
      throw FormatError(file_ + ": " + where + ": '" + name + "' names another option of this layer too; rename one");
    }
    const bool is_template = object.contains("template");
    if (is_template == object.contains("operators")) {
      throw FormatError(file_ + ": " + where + ": option '" + name + "' has " +
                        (is_template ? "both 'template' and 'operators'" : "neither 'template' nor 'operators'") +
                        "; give one of them ([] computes nothing)");
    }
    if (is_template && !object.at("template").is_string()) {
      reader.fail("template", "the name of a template", object.at("template"));
    }
    options.push_back({name, &object, where});
  };
  const json& sets = list_or_none(*definition_, "option_sets");
  const auto add_set = [&](const std::string& set, const std::string& where) {
    if (!sets.is_object() || !sets.contains(set) || !sets.at(set).is_array()) {
      std::vector<std::string> known;
      for (const auto& item : sets.items()) known.push_back(item.key());
      throw FormatError(file_ + ": " + where + ": there is no list '" + excerpt(set) +
                        "' in option_sets; there are: " + (known.empty() ? "none" : joined(known)));
    }
    const json& list = sets.at(set);
    for (std::size_t i = 0; i < list.size(); ++i) {
      add(list[i], "option_sets." + set + "[" + std::to_string(i) + "]");
    }
  };
  const std::string where = place + ".options";
  const auto found = layer.find("options");
  if (found != layer.end() && found->is_string()) {
    add_set(found->get<std::string>(), where);
  } else if (found != layer.end() && found->is_array()) {
    for (std::size_t i = 0; i < found->size(); ++i) {
      const json& entry = (*found)[i];
      const std::string entry_place = where + "[" + std::to_string(i) + "]";
      if (entry.is_string()) {
        add_set(entry.get<std::string>(), entry_place);
      } else {
        add(entry, entry_place);
      }
    }
  } else if (found != layer.end()) {
    throw FormatError(file_ + ": " + where + " is " + shown(*found) + ", expected a list, or a name of option_sets");
  }
  if (options.empty()) {
    throw FormatError(file_ + ": " + place +
                      R"(: has no options, expected such as [{"name": "k3", "template": "block"}])");
  }
  if (options.size() > most_options) {
    throw FormatError(file_ + ": " + place + ": has " + std::to_string(options.size()) + " options, at most " +
                      std::to_string(most_options) + " are supported");
  }
}

void LayeredSpace::name_decisions() {
  for (const Layer& layer : layers_) {
    std::vector<std::string>& names = names_.emplace_back();
    for (const Option& option : layer.options) {
      names.push_back(option.name);
      if (std::find(counted_.begin(), counted_.end(), option.name) == counted_.end()) counted_.push_back(option.name);
    }
  }
  if (!resolutions_.empty()) {
    std::vector<std::string>& names = names_.emplace_back();
    for (const int resolution : resolutions_) names.push_back("r" + std::to_string(resolution));
  }
  for (const std::vector<std::string>& names : names_) decisions_.push_back(static_cast<int>(names.size()));
}

const LayeredSpace::Level& LayeredSpace::level(const NetworkShape& shape) const {
  const std::lock_guard lock(levels_->mutex);
  std::unique_ptr<Level>& found = levels_->of_shape[{shape.resolution, shape.classes}];
  if (!found) found = make_level(shape);
  return *found;
}

std::unique_ptr<LayeredSpace::Level> LayeredSpace::make_level(const NetworkShape& shape) const {
  auto level = std::make_unique<Level>();
  BlockBuilder builder(list_or_none(*definition_, "templates"), file_);
  const TemplateValues common = {{"resolution", static_cast<double>(shape.resolution)},
                                 {"classes", static_cast<double>(shape.classes)}};
  const Shape input = {1, input_channels_, shape.resolution, shape.resolution};
  level->stem = builder.build(list_or_none(*definition_, "stem"), "stem", input, common);
  Shape before = level->stem.output;
  for (const Layer& layer : layers_) {
    TemplateValues values = common;
    values["out"] = static_cast<double>(layer.out);
    values["stride"] = static_cast<double>(layer.stride);
    values["in"] = static_cast<double>(channels_of(before));
    values["same_shape"] = channels_of(before) == layer.out && layer.stride == 1 ? 1.0 : 0.0;
    for (const auto& item : layer.object->items()) {
      if (is_one_of(item.key(), {"out", "stride", "repeat", "options", "comment"})) continue;
      values[item.key()] = builder.value_of(item.value(), layer.place + "." + item.key(), values);
    }
    std::vector<Block>& blocks = level->layers.emplace_back();
    for (const Option& option : layer.options) {
      TemplateValues own = values;
      for (const auto& item : option.object->items()) {
        if (is_one_of(item.key(), {"name", "template", "operators", "comment"})) continue;
        own[item.key()] = builder.value_of(item.value(), option.place + "." + item.key(), values);
      }
      const auto name = option.object->find("template");
      blocks.push_back(name != option.object->end()
                           ? builder.build_template(name->get<std::string>(), option.place, before, own)
                           : builder.build(option.object->at("operators"), option.place + ".operators", before, own));
      const Shape& output = blocks.back().output;
      const std::string where = file_ + ": " + layer.place + ", option '" + option.name + "': gives ";
      if (channels_of(output) != layer.out) {
        throw FormatError(where + std::to_string(channels_of(output)) + " channels, the layer's 'out' is " +
                          std::to_string(layer.out));
      }
      if (output != blocks.front().output) {
        throw FormatError(where + size_text(output) + ", option '" + layer.options.front().name + "' gives " +
                          size_text(blocks.front().output) + "; all options of a layer give the same");
      }
    }
    before = blocks.front().output;
  }
  level->head = builder.build(list_or_none(*definition_, "head"), "head", before, common);
  return level;
}

Architecture LayeredSpace::parse(std::string_view text) const {
  const auto reject = [&](const std::string& what) {
    throw InputError("'" + excerpt(text, 200) + "' is no architecture of " + name_ + ": " + what + "; write it like " +
                     example());
  };
  Architecture architecture(names_.size());
  std::string_view rest = text;
  for (std::size_t d = 0; d < names_.size(); ++d) {
    const std::size_t end = rest.find('|');
    const std::string_view part = rest.substr(0, end);
    const auto found = std::find(names_[d].begin(), names_[d].end(), part);
    if (found == names_[d].end()) {
      reject("'" + excerpt(part) + "' at position " + std::to_string(d + 1) + " is none of " + joined(names_[d]));
    }
    architecture[d] = static_cast<std::uint8_t>(found - names_[d].begin());
    const bool last = d + 1 == names_.size();
    if (last != (end == std::string_view::npos)) {
      reject("it has " + std::to_string(std::count(text.begin(), text.end(), '|') + 1) + " parts, expected " +
             std::to_string(names_.size()));
    }
    if (!last) rest.remove_prefix(end + 1);
  }
  return architecture;
}

std::string LayeredSpace::format(const Architecture& architecture) const {
  std::string text;
  append_format(text, architecture);
  return text;
}

void LayeredSpace::append_format(std::string& text, const Architecture& architecture) const {
  check_architecture(architecture);
  for (std::size_t d = 0; d < names_.size(); ++d) {
    if (d > 0) text += '|';
    text += names_[d][architecture[d]];
  }
}

std::string LayeredSpace::definition() const {
  const std::vector<std::string> known = space_names();
  return std::find(known.begin(), known.end(), name_) == known.end() ? definition_->dump() : std::string();
}

void LayeredSpace::check_architecture(const Architecture& architecture) const { require_member(*this, architecture); }

std::vector<double> LayeredSpace::operation_counts(const Architecture& architecture) const {
  check_architecture(architecture);
  std::vector<double> counts(counted_.size(), 0);
  for (std::size_t d = 0; d < layers_.size(); ++d) {
    const auto place = std::find(counted_.begin(), counted_.end(), names_[d][architecture[d]]);
    counts[static_cast<std::size_t>(place - counted_.begin())] += 1;
  }
  return counts;
}

NetworkShape LayeredSpace::shape_of(const Architecture& architecture, NetworkShape shape) const {
  check_architecture(architecture);
  if (!resolutions_.empty()) shape.resolution = resolutions_[architecture[layers_.size()]];
  if (shape.resolution < 1 || shape.resolution > largest_resolution || shape.classes < 1 ||
      shape.classes > largest_class_count) {
    throw InputError(name_ + ": a resolution of " + std::to_string(shape.resolution) + " pixels and " +
                     std::to_string(shape.classes) + " classes; expected at least 1, and at most " +
                     std::to_string(largest_resolution) + " and " + std::to_string(largest_class_count));
  }
  return shape;
}

std::vector<const Block*> LayeredSpace::blocks_of(const Architecture& architecture, const NetworkShape& shape) const {
  const Level& level = this->level(shape_of(architecture, shape));
  std::vector<const Block*> blocks = {&level.stem};
  for (std::size_t d = 0; d < layers_.size(); ++d) blocks.push_back(&level.layers[d][architecture[d]]);
  blocks.push_back(&level.head);
  return blocks;
}

std::int64_t LayeredSpace::flop_count(const Architecture& architecture, const NetworkShape& shape) const {
  std::int64_t count = 0;
  for (const Block* block : blocks_of(architecture, shape)) count += block->multiply_adds;
  return count;
}

std::vector<OperatorSpecification> LayeredSpace::operator_list(const Architecture& architecture) const {
  std::vector<OperatorSpecification> list;
  for (const Block* block : blocks_of(architecture, default_shape())) {
    for (const BlockOperator& entry : block->operators) list.push_back(entry.specification);
  }
  return list;
}

std::vector<std::uint32_t> LayeredSpace::operator_parts(const Architecture& architecture) const {
  check_architecture(architecture);
  const std::uint32_t resolution = resolutions_.empty() ? 0 : architecture[layers_.size()];
  const auto stages = static_cast<std::uint32_t>(layers_.size()) + 2;
  std::vector<std::uint32_t> parts;
  parts.reserve(stages);
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const std::uint32_t option = stage == 0 || stage + 1 == stages ? 0 : architecture[stage - 1];
    parts.push_back((resolution * stages + stage) * part_options + option);
  }
  return parts;
}

std::vector<OperatorSpecification> LayeredSpace::operator_part(std::uint32_t part) const {
  const auto stages = static_cast<std::uint32_t>(layers_.size()) + 2;
  const std::size_t option = part % part_options, stage = part / part_options % stages,
                    resolution = part / part_options / stages;
  const bool fixed = stage == 0 || stage + 1 == stages;
  if (resolution >= std::max<std::size_t>(1, resolutions_.size()) ||
      option >= (fixed ? 1 : layers_[stage - 1].options.size())) {
    throw InputError(name_ + " has no part " + std::to_string(part) + " of operators");
  }
  const Level& level = this->level({resolutions_.empty() ? resolution_ : resolutions_[resolution], classes_});
  const Block& block = stage == 0 ? level.stem : fixed ? level.head : level.layers[stage - 1][option];
  std::vector<OperatorSpecification> list;
  for (const BlockOperator& entry : block.operators) list.push_back(entry.specification);
  return list;
}

namespace {

/// Appends a block to a graph whose layer `input` it takes; the layer that holds what it gives.
int append_block(LayerGraphBuilder& builder, const Block& block, const std::string& prefix, int input) {
  std::vector<int> layers;
  const auto layer_of = [&](int index) {
    return index == Block::input_index ? input : layers[static_cast<std::size_t>(index)];
  };
  for (const BlockOperator& entry : block.operators) {
    const OperatorSpecification& op = entry.specification;
    const std::string name = prefix + "_" + std::to_string(layers.size());
    const int first = layer_of(entry.inputs.front());
    const Window window = {op.kernel.height, op.stride.height, entry.padding.height};
    const bool plain_window = op.kernel.height == op.kernel.width && op.stride.height == op.stride.width &&
                              entry.padding.height == entry.padding.width && op.dilation == Extent{};
    switch (op.kind) {
      case OperatorKind::convolution:
        if (!plain_window || op.groups != 1 || op.bias) break;
        layers.push_back(builder.convolution(name, first, static_cast<int>(op.output[1]), window));
        continue;
      case OperatorKind::average_pool:
        if (!plain_window) break;
        layers.push_back(builder.average_pool(name, first, window));
        continue;
      case OperatorKind::batch_norm:
        layers.push_back(builder.batch_norm(name, first));
        continue;
      case OperatorKind::activation:
        if (op.name != "relu") break;
        layers.push_back(builder.relu(name, first));
        continue;
      case OperatorKind::global_pool:
        layers.push_back(builder.global_average_pool(name, first));
        continue;
      case OperatorKind::add:
        layers.push_back(builder.add(name, first, layer_of(entry.inputs.back())));
        continue;
      case OperatorKind::reshape:  // a linear layer flattens what it takes
        layers.push_back(first);
        continue;
      case OperatorKind::linear:
        if (!op.bias) break;
        layers.push_back(builder.linear(name, first, static_cast<int>(op.output.back())));
        continue;
      default:
        break;
    }
    throw InputError("a layer graph cannot hold this operator yet: " + format(op));
  }
  return layer_of(block.output_index);
}

}  // namespace

LayerGraph LayeredSpace::network(const Architecture& architecture, const NetworkShape& shape) const {
  const NetworkShape own = shape_of(architecture, shape);
  LayerGraphBuilder builder({input_channels_, own.resolution, own.resolution});
  int last = builder.input();
  std::size_t stage = 0;
  for (const Block* block : blocks_of(architecture, shape)) {
    last = append_block(builder, *block, "stage" + std::to_string(stage++), last);
  }
  return builder.take();
}

namespace {

/// Appends a block to a network; what it gives of the tensor `input`.
Source append_block(NetworkBuilder& builder, const Block& block, const std::string& prefix, const Source& input) {
  std::vector<Source> values;
  const auto value_of = [&](int index) {
    return index == Block::input_index ? input : values[static_cast<std::size_t>(index)];
  };
  for (const BlockOperator& entry : block.operators) {
    const OperatorSpecification& op = entry.specification;
    NetworkNode node;
    node.operation = op;
    node.name = prefix + "_" + std::to_string(values.size()) + "_" + std::string(name(op.kind));
    for (const int index : entry.inputs) node.inputs.push_back(value_of(index));
    Shape output = op.output;
    output[0] = builder.type(node.inputs.front()).shape[0];  // the batch
    node.outputs = {{std::move(output), op.type}};
    node.attributes.padding = {entry.padding.height, entry.padding.width, entry.padding.height, entry.padding.width};
    if (op.kind == OperatorKind::batch_norm) node.attributes.alpha = batch_norm_epsilon;
    if (op.kind == OperatorKind::concatenate || op.kind == OperatorKind::softmax) node.attributes.axes = {1};
    if (op.name == "hard_sigmoid") {
      node.attributes.alpha = 1.0 / 6;
      node.attributes.beta = 0.5;
    }
    values.push_back(builder.append(std::move(node)));
  }
  return value_of(block.output_index);
}

/// All spaces of layers that were read, by their descriptions.
struct Interned {
  std::recursive_mutex mutex;
  std::map<std::string, std::unique_ptr<const LayeredSpace>> spaces;
};

Interned& interned() {
  static Interned all;
  return all;
}

const LayeredSpace* shipped_space(std::string_view name) {
  for (const ShippedSpace& file : shipped_spaces()) {
    if (file.name == name) return &LayeredSpace::intern(parse_json(file.content, file.name), file.name);
  }
  return nullptr;
}

}  // namespace

Network LayeredSpace::computation(const Architecture& architecture, const NetworkShape& shape, int batch) const {
  const NetworkShape own = shape_of(architecture, shape);
  NetworkBuilder builder;
  Source last = builder.input("input", {batch, input_channels_, own.resolution, own.resolution});
  std::size_t stage = 0;
  for (const Block* block : blocks_of(architecture, shape)) {
    last = append_block(builder, *block, "stage" + std::to_string(stage++), last);
  }
  builder.output(last);
  return builder.take();
}

const LayeredSpace& LayeredSpace::intern(const json& definition, const std::string& file) {
  Interned& all = interned();
  const std::lock_guard lock(all.mutex);
  const std::string key = definition.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto found = all.spaces.find(key);
  if (found != all.spaces.end()) return *found->second;
  std::unique_ptr<const LayeredSpace> made(new LayeredSpace(definition, file));
  return *all.spaces.emplace(key, std::move(made)).first->second;
}

const LayeredSpace& layered_space(const json& definition, const std::string& file) {
  return guarded_json(file, "space file", [&]() -> const LayeredSpace& {
    const LayeredSpace& space = LayeredSpace::intern(definition, file);
    for (const std::string& known : space_names()) {
      if (known != space.name() || &space == shipped_space(known)) continue;
      throw FormatError(file + ": name is '" + known +
                        "', which this program knows with another content; give the space another name");
    }
    return space;
  });
}

const LayeredSpace& read_layered_space(const std::filesystem::path& path) {
  return layered_space(parse_json(read_file(path), path.string()), path.string());
}

const SearchSpace& fbnet() {
  static const SearchSpace& space = *shipped_space("fbnet");
  return space;
}

const SearchSpace& ofa() {
  static const SearchSpace& space = *shipped_space("ofa");
  return space;
}

}  // namespace tenshot::nasbench
