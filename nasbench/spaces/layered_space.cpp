#include "nasbench/spaces/layered_space.h"

#include <mutex>

#include "nasbench/spaces/layered_levels.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

namespace {

constexpr std::uint32_t part_options = 256;

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
  for (const ShippedFile& file : shipped_spaces()) {
    if (file.name == name) return &LayeredSpace::intern(parse_json(file.content, file.name), file.name, true);
  }
  return nullptr;
}

}  // namespace

LayeredSpace::~LayeredSpace() = default;

const LayeredSpace::Level& LayeredSpace::level(const NetworkShape& shape, std::size_t width) const {
  const std::lock_guard lock(levels_->mutex);
  std::unique_ptr<Level>& found = levels_->of_shape[{shape.resolution, shape.classes, width}];
  std::size_t expanded = 0;
  if (!found) found = make_level(shape, width, expanded);
  return *found;
}

const LayeredSpace::Level& LayeredSpace::level_of(const Architecture& architecture, const NetworkShape& shape) const {
  const NetworkShape own = shape_of(architecture, shape);  // which looks at the architecture first
  return level(own, width_of(architecture));
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

void LayeredSpace::append_format(std::string& text, const Architecture& architecture) const {
  require_member(*this, architecture);
  for (std::size_t d = 0; d < names_.size(); ++d) {
    if (d > 0) text += '|';
    text += names_[d][architecture[d]];
  }
}

std::string LayeredSpace::definition() const {
  const std::vector<std::string> known = space_names();
  return std::find(known.begin(), known.end(), name_) == known.end() ? definition_->dump() : std::string();
}

std::vector<double> LayeredSpace::operation_counts(const Architecture& architecture) const {
  require_member(*this, architecture);
  std::vector<double> counts(counted_.size(), 0);
  for (const Layer& layer : layers_) {
    const int repeat = alternative(layer, chosen(layer, architecture)).repeat;
    for (std::size_t i = 0; i < layer.decision_count(); ++i) {
      const std::size_t d = layer.first_decision + i;
      const auto place = std::find(counted_.begin(), counted_.end(), names_[d][architecture[d]]);
      counts[static_cast<std::size_t>(place - counted_.begin())] += layer.decides_option && i == 0 ? repeat : 1;
    }
  }
  return counts;
}

std::size_t LayeredSpace::chosen(const Layer& layer, const Architecture& architecture) const {
  std::size_t number = 0;
  for (std::size_t i = 0; i < layer.decision_count(); ++i) {
    const std::size_t d = layer.first_decision + i;
    number = number * static_cast<std::size_t>(decisions_[d]) + architecture[d];
  }
  return number;
}

std::size_t LayeredSpace::width_of(const Architecture& architecture) const {
  return widths_.empty() ? 0 : architecture[decisions_.size() - (resolutions_.empty() ? 1 : 2)];
}

std::size_t LayeredSpace::resolution_of(const Architecture& architecture) const {
  return resolutions_.empty() ? 0 : architecture[decisions_.size() - 1];
}

NetworkShape LayeredSpace::shape_of(const Architecture& architecture, NetworkShape shape) const {
  require_member(*this, architecture);
  if (!resolutions_.empty()) shape.resolution = resolutions_[resolution_of(architecture)];
  if (shape.resolution < 1 || shape.resolution > largest_resolution || shape.classes < 1 ||
      shape.classes > largest_class_count) {
    throw InputError(name_ + ": a resolution of " + std::to_string(shape.resolution) + " pixels and " +
                     std::to_string(shape.classes) + " classes; expected at least 1, and at most " +
                     std::to_string(largest_resolution) + " and " + std::to_string(largest_class_count));
  }
  return shape;
}

std::vector<const Block*> LayeredSpace::blocks_of(const Architecture& architecture, const Level& level) const {
  std::vector<const Block*> blocks = {&level.stem};
  for (std::size_t l = 0; l < layers_.size(); ++l) blocks.push_back(&level.layers[l][chosen(layers_[l], architecture)]);
  blocks.push_back(&level.head);
  return blocks;
}

std::int64_t LayeredSpace::flop_count(const Architecture& architecture, const NetworkShape& shape) const {
  std::int64_t count = 0;
  for (const Block* block : blocks_of(architecture, level_of(architecture, shape))) count += block->multiply_adds;
  return count;
}

std::vector<OperatorSpecification> LayeredSpace::operator_list(const Architecture& architecture) const {
  std::vector<OperatorSpecification> list;
  for (const Block* block : blocks_of(architecture, level_of(architecture, default_shape()))) {
    for (const BlockOperator& entry : block->operators) list.push_back(entry.specification);
  }
  return list;
}

std::vector<std::uint32_t> LayeredSpace::operator_parts(const Architecture& architecture) const {
  require_member(*this, architecture);
  const auto widths = static_cast<std::uint32_t>(std::max<std::size_t>(1, widths_.size()));
  const auto level = static_cast<std::uint32_t>(resolution_of(architecture) * widths + width_of(architecture));
  const auto stages = static_cast<std::uint32_t>(layers_.size()) + 2;
  std::vector<std::uint32_t> parts;
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const bool fixed = stage == 0 || stage + 1 == stages;
    const auto option = static_cast<std::uint32_t>(fixed ? 0 : chosen(layers_[stage - 1], architecture));
    parts.push_back((level * stages + stage) * part_options + option);
  }
  return parts;
}

std::vector<OperatorSpecification> LayeredSpace::operator_part(std::uint32_t part) const {
  const auto stages = static_cast<std::uint32_t>(layers_.size()) + 2;
  const std::size_t option = part % part_options, stage = part / part_options % stages,
                    widths = std::max<std::size_t>(1, widths_.size()), width = part / part_options / stages % widths,
                    resolution = part / part_options / stages / widths;
  const bool fixed = stage == 0 || stage + 1 == stages;
  if (resolution >= std::max<std::size_t>(1, resolutions_.size()) ||
      option >= (fixed ? 1 : alternative_count(layers_[stage - 1]))) {
    throw InputError(name_ + " has no part " + std::to_string(part) + " of operators");
  }
  const Level& level = this->level({resolutions_.empty() ? resolution_ : resolutions_[resolution], classes_}, width);
  const Block& block = stage == 0 ? level.stem : fixed ? level.head : level.layers[stage - 1][option];
  std::vector<OperatorSpecification> list;
  for (const BlockOperator& entry : block.operators) list.push_back(entry.specification);
  return list;
}

const LayeredSpace& LayeredSpace::intern(const nlohmann::json& definition, const std::string& file, bool is_shipped) {
  Interned& all = interned();
  const std::lock_guard lock(all.mutex);
  const std::string key = definition.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto found = all.spaces.find(key);
  if (found != all.spaces.end()) return *found->second;
  std::unique_ptr<LayeredSpace> made(new LayeredSpace(definition, file));
  if (!is_shipped) made->check_levels();  // tests look at those that ship
  return *all.spaces.emplace(key, std::move(made)).first->second;
}

const LayeredSpace& layered_space(const nlohmann::json& definition, const std::string& file) {
  return guarded_json(file, "space file", [&]() -> const LayeredSpace& {
    const LayeredSpace& space = LayeredSpace::intern(definition, file, false);
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
