#include <cmath>
#include <set>

#include "nasbench/spaces/layered_expansion.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

std::vector<Source> Expansion::tensor(const std::string& name, const std::string& place) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->find(name); found != scope->end()) return found->second;
  }
  std::vector<Source> outside;
  for (std::size_t i = 0; i < builder_.tensors.size(); ++i) {
    if (builder_.tensors[i].name == name) outside.push_back({-1, static_cast<int>(i) + 1});
  }
  if (!outside.empty()) return outside;
  std::set<std::string> known;
  for (const Scope& scope : scopes_) {
    for (const auto& entry : scope) known.insert(entry.first);
  }
  for (const NamedTensor& made : builder_.tensors) known.insert(made.name);
  const auto later = builder_.layer_by_tensor.find(name);
  refuse(place + ": there is no tensor '" + excerpt(name) +
         "' before this; named are: " + (known.empty() ? "none" : joined(known)) +
         (later == builder_.layer_by_tensor.end() ? "" : "; " + later->second + " makes it, which comes later"));
}

std::vector<Expansion::Taken> Expansion::tensors_of(const json& from, const std::string& place) const {
  const auto is_text = [](const json& name) { return name.is_string(); };
  const bool one = from.is_string();
  if (!one && (!from.is_array() || from.empty() || !std::all_of(from.begin(), from.end(), is_text))) {
    fail(place, "the name of a tensor, or a list of names", from);
  }
  std::vector<Taken> tensors;
  for (const json& name : one ? json::array({from}) : from) {
    const auto& text = name.get_ref<const std::string&>();
    for (const Source& source : tensor(text, place)) {
      builder_.count_entry(place);
      tensors.push_back({"'" + text + "'", source});
    }
  }
  return tensors;
}

Source Expansion::taken(const json& from, const std::string& place) {
  return joined_channels(tensors_of(from, place + ".from"), place + ".from");
}

Source Expansion::joined_channels(const std::vector<Taken>& tensors, const std::string& place) {
  if (tensors.size() == 1) return tensors.front().source;
  Shape output = shape(tensors.front().source);
  std::vector<Source> sources = {tensors.front().source};
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const Shape& other = shape(tensors[i].source);
    require_fit(tensors[i], tensors.front(), 2, place);
    output[1] += other[1];
    sources.push_back(tensors[i].source);
  }
  return push_plain(place, OperatorKind::concatenate, output, std::move(sources));
}

Source Expansion::summed(const std::vector<Taken>& tensors, const std::string& place) {
  Source sum = tensors.front().source;
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    require_fit(tensors[i], tensors.front(), 1, place);
    sum = push_plain(place, OperatorKind::add, shape(sum), {sum, tensors[i].source});
  }
  return sum;
}

void Expansion::require_fit(const Taken& tensor, const Taken& first, std::size_t axis, const std::string& place) const {
  const Shape &other = shape(tensor.source), &wanted = shape(first.source);
  const auto from = static_cast<std::ptrdiff_t>(axis);
  if (other.size() == wanted.size() && std::equal(other.begin() + from, other.end(), wanted.begin() + from)) return;
  refuse(
      place + ": " + tensor.name + " is " + format_extents(other) + ", which does not fit " + format_extents(wanted) +
      " of " + first.name +
      (axis == 1 ? "; tensors that are added have one shape" : "; tensors that are joined have one height and width"));
}

Source Expansion::push_plain(const std::string& place, OperatorKind kind, const Shape& output,
                             std::vector<Source> inputs) {
  OperatorSpecification specification;
  specification.kind = kind;
  specification.output = output;
  return push(place, std::move(specification), std::move(inputs));
}

bool Expansion::has_name(Source source) const {
  return std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope& scope) {
    return std::any_of(scope.begin(), scope.end(), [&](const auto& entry) {
      return std::find(entry.second.begin(), entry.second.end(), source) != entry.second.end();
    });
  });
}

void Expansion::give_name(const json& name, const std::string& place, std::vector<Source> tensors) {
  if (!name.is_string() || !is_name(name.get_ref<const std::string&>())) {
    fail(place + ".as", "a name of letters, digits and '_'", name);
  }
  const auto& text = name.get_ref<const std::string&>();
  if (scopes_.back().emplace(text, std::move(tensors)).second) return;
  refuse(place + ".as: '" + excerpt(text) + "' names another tensor too; rename one");
}

Source Expansion::append_joint(const Entry& entry, Source input) {
  require_keys(entry, {});
  if (entry.find("from") != nullptr) return input;
  refuse(entry.place + ": has no 'from', expected the names of the tensors that it joins");
}

Source Expansion::append_split(const Entry& entry, Source input) {
  constexpr int most_parts = 1024;
  require_keys(entry, {"parts", "scaled"});
  const std::string place = entry.place + ".parts";
  const std::int64_t in = channels_of(shape(input));
  const json* parts = entry.find("parts");
  std::vector<std::int64_t> channels;
  if (parts != nullptr && parts->is_array()) {
    for (const json& part : *parts) {
      const double number = std::round(channels_of_value(entry, part, place));
      if (number < 1 || number > static_cast<double>(in) || std::isnan(number)) {
        fail(place, "1 to " + std::to_string(in) + " channels", part);
      }
      channels.push_back(static_cast<std::int64_t>(number));
    }
  } else {
    const int count = whole(entry, "parts", 2, 1, most_parts);
    channels.assign(static_cast<std::size_t>(count), in / count);
  }
  std::int64_t sum = 0;
  for (const std::int64_t part : channels) sum += part;
  if (sum != in) {
    refuse(place + ": " + std::to_string(channels.size()) + " parts of together " + std::to_string(sum) +
           " channels do not make up " + std::to_string(in));
  }
  Shape part = shape(input);
  part[1] = channels.front();
  const Source first = push_plain(entry.place, OperatorKind::split, part, {input});
  BlockOperator& added = block_.operators.back();
  for (std::size_t i = 1; i < channels.size(); ++i) {
    builder_.count_entry(place);
    part[1] = channels[i];
    added.more_outputs.push_back(part);
  }
  if (const json* names = entry.find("as"); names != nullptr && names->is_array()) {
    if (names->size() != channels.size()) {
      fail(entry.place + ".as", std::to_string(channels.size()) + " names, one for each part", *names);
    }
    for (int i = 0; i < static_cast<int>(names->size()); ++i) {
      give_name((*names)[static_cast<std::size_t>(i)], entry.place, {{first.node, i}});
    }
  }
  return {first.node, static_cast<int>(channels.size()) - 1};
}

Source Expansion::append_resize(const Entry& entry, Source input) {
  require_keys(entry, {"factor", "size", "mode"});
  require_image(entry, input);
  const std::string mode = text(entry, "mode");
  if (!mode.empty() && mode != "nearest" && mode != "bilinear")
    refuse(entry.place + ".mode is '" + excerpt(mode) + "', expected nearest or bilinear");
  const bool sized = entry.find("size") != nullptr;
  if (sized == (entry.find("factor") != nullptr)) {
    refuse(entry.place + ": has " + (sized ? "both 'factor' and 'size'" : "neither 'factor' nor 'size'") +
           ", expected one of them");
  }
  Extent size = extent(entry, "size", 1, {1, 1}, largest_resolution);
  const double factor = number(entry, "factor", 1);
  const Shape& from = shape(input);
  const auto scaled = [&](std::int64_t length) {
    const double result = std::floor(static_cast<double>(length) * factor);
    if (result >= 1 && result <= largest_resolution) return static_cast<int>(result);
    refuse(entry.place + ".factor is " + shortest(factor) + ", which makes " + shortest(result) + " of " +
           std::to_string(length) + " pixels, expected 1 to " + std::to_string(largest_resolution));
  };
  if (!sized) size = {scaled(from[2]), scaled(from[3])};
  const Shape output = {1, from[1], size.height, size.width};
  const Source resized = push_plain(entry.place, OperatorKind::resize, output, {input});
  block_.operators.back().mode = mode == "bilinear" ? "linear" : "nearest";
  return resized;
}

}  // namespace tenshot::nasbench
