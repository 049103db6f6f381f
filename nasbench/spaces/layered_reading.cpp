#include "nasbench/spaces/layered_levels.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr std::size_t most_widths = 32;
constexpr double widest = 64;

void require_keys(const json& object, const std::string& file, const std::string& place,
                  std::initializer_list<std::string_view> known) {
  for (const auto& item : object.items()) {
    if (is_one_of(item.key(), known)) continue;
    throw FormatError(file + ": " + place + "key '" + excerpt(item.key()) +
                      "' is unknown; known are: " + joined(known));
  }
}

bool is_space_name(std::string_view name) {
  return is_plain_name(name) && name.size() <= longest_name && name.front() != '.' && name.front() != '-';
}

}  // namespace

const json& list_or_none(const json& object, const char* key) {
  static const json none = json::array();
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

LayeredSpace::LayeredSpace(const json& definition, const std::string& file)
    : file_(file), definition_(std::make_unique<const json>(definition)), levels_(std::make_unique<Levels>()) {
  const JsonReader reader(*definition_, file_, "");
  reader.require_format(space_format, "space file");
  require_keys(*definition_, file_, "",
               {"format", "name", "comment", "input", "classes", "templates", "option_sets", "stem", "layers", "head",
                "resolution", "width", "outputs"});
  name_ = reader.text_that("name", "letters, digits, '.', '_' and '-', at most 100", is_space_name);
  const JsonReader input(reader.require("input", R"({"channels": 3, "resolution": 224})"), file_, "input");
  require_keys(*reader.find("input"), file_, "input: ", {"channels", "resolution"});
  input_channels_ = input.whole_number("channels", 1, 3);
  resolution_ = input.whole_number("resolution", 1, 0);
  classes_ = reader.whole_number("classes", 1, 1000);
  read_resolutions(*definition_);
  read_widths(*definition_);
  if (input_channels_ > largest_channel_count) input.fail("channels", "at most 2^20", *input.find("channels"));
  if (classes_ > largest_class_count) reader.fail("classes", "at most 10^6", *reader.find("classes"));
  read_layers(*definition_);
  name_decisions();
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

void LayeredSpace::read_widths(const json& definition) {
  const JsonReader reader(definition, file_, "");
  const json* width = reader.find("width");
  if (width == nullptr) return;
  const bool is_list = width->is_array();
  if (!is_list && !width->is_object()) reader.fail("width", R"({"multipliers": [0.5, 1], "multiple_of": 8})", *width);
  if (!is_list) require_keys(*width, file_, "width: ", {"multipliers", "multiple_of"});
  const json& list = is_list ? *width : reader.object("width")->array("multipliers");
  const int multiple = is_list ? 8 : reader.object("width")->whole_number("multiple_of", 1, 8);
  if (list.empty() || list.size() > most_widths) {
    throw FormatError(file_ + ": width has " + std::to_string(list.size()) + " multipliers, expected 1 to " +
                      std::to_string(most_widths));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = (is_list ? "width[" : "width.multipliers[") + std::to_string(i) + "]";
    const double multiplier = list[i].is_number() ? list[i].get<double>() : 0;
    if (!(multiplier > 0 && multiplier <= widest)) reader.fail_at(place, "a number above 0, and at most 64", list[i]);
    for (const WidthScale& other : widths_) {
      if (shortest(other.multiplier) == shortest(multiplier)) reader.fail_at(place, "each multiplier once", list[i]);
    }
    widths_.push_back({multiplier, multiple});
  }
}

void LayeredSpace::name_decisions() {
  for (Layer& layer : layers_) {
    layer.first_decision = names_.size();
    if (layer.decides_option) names_.emplace_back();
    for (const Option& option : layer.options) {
      if (layer.decides_option) names_.back().push_back(option.name);
    }
    for (const Choice& choice : layer.choices) names_.push_back(choice.names);
  }
  for (const std::vector<std::string>& names : names_) {
    for (const std::string& name : names) {
      if (std::find(counted_.begin(), counted_.end(), name) == counted_.end()) counted_.push_back(name);
    }
  }
  if (!widths_.empty()) names_.emplace_back();
  for (const WidthScale& width : widths_) names_.back().push_back("w" + shortest(width.multiplier));
  if (!resolutions_.empty()) names_.emplace_back();
  for (const int resolution : resolutions_) names_.back().push_back("r" + std::to_string(resolution));
  if (names_.empty()) {
    throw FormatError(file_ +
                      ": its layers decide nothing; give a layer 'options' or a list of numbers, or the space "
                      "a 'width' or a 'resolution'");
  }
  for (const std::vector<std::string>& names : names_) decisions_.push_back(static_cast<int>(names.size()));
}

void LayeredSpace::check_levels() {
  // Every list is expanded at every resolution, so that what is wrong is found when the file is read.
  std::vector<int> resolutions = resolutions_;
  if (resolutions.empty()) resolutions = {resolution_};
  std::size_t expanded = 0;
  for (const int resolution : resolutions) {
    for (std::size_t width = 0; width < std::max<std::size_t>(1, widths_.size()); ++width) {
      levels_->of_shape[{resolution, classes_, width}] = make_level({resolution, classes_}, width, expanded);
    }
  }
}

}  // namespace tenshot::nasbench
