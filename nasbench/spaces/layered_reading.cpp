#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "nasbench/spaces/layered_expansion.h"
#include "nasbench/spaces/layered_levels.h"
#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr int largest_channel_count = 1 << 20;
constexpr std::size_t most_options = 255;  ///< at one decision: a choice is one byte
constexpr std::size_t longest_name = 100;

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

/// The name of an option that is as it should be, but for a name that another one has.
std::string option_name(const json& object, const std::string& file, const std::string& where) {
  const JsonReader reader(object, file, where);
  const std::string name = reader.text("name", "");
  if (!is_option_name(name)) {
    reader.fail("name", "a name without blanks, commas, quotes and '|'",
                reader.require("name", "the name of the option"));
  }
  const bool is_template = object.contains("template");
  if (is_template == object.contains("operators")) {
    throw FormatError(file + ": " + where + ": option '" + name + "' has " +
                      (is_template ? "both 'template' and 'operators'" : "neither 'template' nor 'operators'") +
                      "; give one of them ([] computes nothing)");
  }
  if (is_template && !object.at("template").is_string()) {
    reader.fail("template", "the name of a template", object.at("template"));
  }
  return name;
}

}  // namespace

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
    const std::string name = option_name(object, file_, where);
    if (!names.insert(name).second) {
      throw FormatError(file_ + ": " + where + ": '" + name + "' names another option of this layer too; rename one");
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

}  // namespace tenshot::nasbench
