#include <cmath>
#include <set>

#include "nasbench/spaces/layered_levels.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr std::size_t most_layers = 1000;

/// Names stand in strings of architectures, and those in CSV files.
bool is_option_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 0x7F && c != '|' && c != ',' && c != '"' && c != '\'';
  });
}

void require_body(const JsonReader& reader, const json& object, const std::string& file, const std::string& what) {
  const bool is_template = object.contains("template");
  if (is_template == object.contains("operators")) {
    throw FormatError(file + ": " + what + " has " +
                      (is_template ? "both 'template' and 'operators'" : "neither 'template' nor 'operators'") +
                      "; give one of them ([] computes nothing)");
  }
  if (is_template && !object.at("template").is_string()) {
    reader.fail("template", "the name of a template", object.at("template"));
  }
}

/// The name of an option that is as it should be, but for a name that another one has.
std::string option_name(const json& object, const std::string& file, const std::string& where) {
  const JsonReader reader(object, file, where);
  const std::string name = reader.text_that("name", "a name without blanks, commas, quotes and '|'", is_option_name);
  require_body(reader, object, file, where + ": option '" + name + "'");
  return name;
}

}  // namespace

void LayeredSpace::read_layers(const json& definition) {
  const json& layers = JsonReader(definition, file_, "").array("layers");
  if (layers.empty()) {
    throw FormatError(file_ + R"(: layers is empty, expected such as [{"out": 24, "stride": 2, "options": [...]}])");
  }
  for (std::size_t i = 0; i < layers.size(); ++i) read_layer(layers[i], "layers[" + std::to_string(i) + "]");
}

void LayeredSpace::read_layer(const json& object, const std::string& place) {
  const JsonReader layer(object, file_, place);
  Layer made;
  made.place = place;
  made.object = &object;
  const bool has_body = object.contains("template") || object.contains("operators");
  made.decides_option = object.contains("options") || !has_body;
  if (object.contains("options") && has_body) {
    throw FormatError(file_ + ": " + place + ": has both 'options' and a 'template' or 'operators'; give one of them");
  }
  if (has_body) require_body(layer, object, file_, place);
  if (made.decides_option) layer.require("out", "the channels that every option of the layer gives");
  made.out = layer.whole_number("out", 1, 0);
  made.stride = layer.whole_number("stride", 1, 1);
  if (made.out > largest_channel_count) layer.fail("out", "at most 2^20", object.at("out"));
  if (const json* scaled = layer.find("scaled"); scaled != nullptr && !scaled->is_boolean()) {
    layer.fail("scaled", "true or false", *scaled);
  }
  const json* repeated = layer.find("repeat");
  const int repeat = repeated != nullptr && repeated->is_array() ? 1 : layer.whole_number("repeat", 1, 1);
  read_choices(object, made);
  const std::size_t more = static_cast<std::size_t>(repeat) * made.decision_count();
  std::size_t decisions = (resolutions_.empty() ? 0 : 1) + (widths_.empty() ? 0 : 1) + more;
  for (const Layer& before : layers_) decisions += before.decision_count();
  if (decisions > Architecture::max_decisions) {
    throw FormatError(file_ + ": " + place + ": makes " + std::to_string(decisions) + " decisions, at most " +
                      std::to_string(Architecture::max_decisions) + " are supported");
  }
  if (layers_.size() + static_cast<std::size_t>(repeat) > most_layers) {
    throw FormatError(file_ + ": " + place + ": makes " +
                      std::to_string(layers_.size() + static_cast<std::size_t>(repeat)) + " layers, at most " +
                      std::to_string(most_layers) + " are supported");
  }
  const std::string tensor_name =
      layer.find("as") == nullptr ? "" : layer.text_that("as", "a name of letters, digits and '_'", is_name);
  read_options(object, made);
  if (alternative_count(made) > most_options) {
    throw FormatError(file_ + ": " + place + ": has " + std::to_string(alternative_count(made)) +
                      (made.choices.empty() ? " options" : " combinations of options") + ", at most " +
                      std::to_string(most_options) + " are supported");
  }
  for (int copy = 0; copy < repeat; ++copy) {
    layers_.push_back(made);
    if (copy > 0) layers_.back().stride = 1;
    layers_.back().takes = copy == 0 && object.contains("from");
    if (copy + 1 == repeat) layers_.back().name = tensor_name;
  }
}

void LayeredSpace::read_choices(const json& object, Layer& made) const {
  const JsonReader layer(object, file_, made.place);
  for (const auto& item : object.items()) {
    if (!item.value().is_array() || is_one_of(item.key(), {"options", "operators", "from", "comment"})) continue;
    const bool repeats = item.key() == "repeat";
    Choice choice{item.key(), {}, {}};
    for (std::size_t i = 0; i < item.value().size() && i <= most_options; ++i) {
      const json& value = item.value()[i];
      const std::string place = layer.full(item.key()) + "[" + std::to_string(i) + "]";
      const double number = value.is_number() ? value.get<double>() : std::nan("");
      if (!std::isfinite(number)) layer.fail_at(place, "a number: a list is a decision between numbers", value);
      if (repeats && (number < 1 || number > most_repeats || number != std::floor(number))) {
        layer.fail_at(place, "a whole number from 1 to " + std::to_string(most_repeats), value);
      }
      const std::string name = (repeats ? "x" : item.key()) + shortest(number);
      if (!is_option_name(name))
        layer.fail_at(layer.full(item.key()), "a key without blanks and '|' for a decision", value);
      if (std::find(choice.names.begin(), choice.names.end(), name) != choice.names.end()) {
        layer.fail_at(place, "each number once", value);
      }
      choice.values.push_back(number);
      choice.names.push_back(name);
    }
    if (choice.values.empty()) layer.fail(item.key().c_str(), "at least one number", item.value());
    made.choices.push_back(std::move(choice));
  }
}

void LayeredSpace::read_options(const json& layer, Layer& made) const {
  std::vector<Option>& options = made.options;
  const std::string& place = made.place;
  if (!made.decides_option) {
    options.push_back({"", &layer, place});
    return;
  }
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
    for (std::size_t i = 0; i < list.size(); ++i) add(list[i], "option_sets." + set + "[" + std::to_string(i) + "]");
  };
  const std::string where = place + ".options";
  const auto found = layer.find("options");
  if (found != layer.end() && found->is_string()) {
    add_set(found->get<std::string>(), where);
  } else if (found != layer.end() && found->is_array()) {
    for (std::size_t i = 0; i < found->size(); ++i) {
      const json& entry = (*found)[i];
      const std::string entry_place = where + "[" + std::to_string(i) + "]";
      entry.is_string() ? add_set(entry.get<std::string>(), entry_place) : add(entry, entry_place);
    }
  } else if (found != layer.end()) {
    throw FormatError(file_ + ": " + where + " is " + shown(*found) + ", expected a list, or a name of option_sets");
  }
  if (options.empty()) {
    throw FormatError(file_ + ": " + place +
                      R"(: has no options, expected such as [{"name": "k3", "template": "block"}], or a 'template')");
  }
}

}  // namespace tenshot::nasbench
