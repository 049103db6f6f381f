#include "trainer/core/json_field.h"

#include <algorithm>

#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::trainer {

bool is_in(double value, Range range) { return value >= range.least && value <= range.most; }

std::string text_of(Range range) { return "a number from " + shortest(range.least) + " to " + shortest(range.most); }

JsonField::JsonField(const Archive& archive)
    : json_(&archive.card), source_("its card"), whole_("the whole"), by_hand_(false) {}

JsonField::JsonField(const nlohmann::json& document, const std::string& file)
    : json_(&document), source_(file), whole_("the spec"), by_hand_(true) {}

void JsonField::fail(const std::string& expected) const {
  throw FormatError(source_ + ": " + (path_.empty() ? whole_ : path_) + " is " + shown(*json_) + ", expected " +
                    expected);
}

std::string JsonField::path_to(const std::string& key) const {
  if (!by_hand_) return path_.empty() ? key : path_ + "." + key;
  std::string part = "/";
  for (const char c : key) part += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return path_ + part;
}

std::optional<JsonField> JsonField::find(const std::string& key) const {
  if (!json_->is_object()) fail("an object");
  const auto found = json_->find(key);
  if (found == json_->end()) return std::nullopt;
  return JsonField(*found, *this, path_to(key));
}

JsonField JsonField::at(const std::string& key) const {
  if (const auto found = find(key)) return *found;
  const std::string path = path_to(key);
  throw FormatError(source_ + ": " + (by_hand_ ? path + " is missing" : "no field '" + path + "'"));
}

void JsonField::only_keys(const std::vector<std::string>& allowed) const {
  if (!json_->is_object()) fail("an object with the keys: " + joined(allowed));
  for (const auto& [key, value] : json_->items()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    throw FormatError(source_ + ": " + path_to(excerpt(key)) + " is not known here; the keys are: " + joined(allowed));
  }
}

std::vector<JsonField> JsonField::list(std::size_t most) const {
  if (by_hand_ && (!json_->is_array() || json_->empty())) fail("a list with at least one entry");
  if (!json_->is_array() || json_->size() > most) fail("a list of at most " + std::to_string(most) + " entries");
  std::vector<JsonField> entries;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    const std::string place = std::to_string(i);
    entries.push_back(JsonField((*json_)[i], *this, path_ + (by_hand_ ? "/" + place : "[" + place + "]")));
  }
  return entries;
}

std::string JsonField::text() const {
  if (!json_->is_string() || (by_hand_ && json_->get_ref<const std::string&>().empty())) fail("a text");
  return json_->get<std::string>();
}

std::string JsonField::one_of(const std::vector<std::string>& allowed) const {
  const bool known = json_->is_string() && std::find(allowed.begin(), allowed.end(), *json_) != allowed.end();
  if (!known) fail("one of: " + joined(allowed));
  return text();
}

std::vector<std::string> JsonField::texts(std::size_t most) const {
  std::vector<std::string> result;
  for (const JsonField& entry : list(most)) result.push_back(entry.text());
  return result;
}

bool JsonField::boolean() const {
  if (!json_->is_boolean()) fail("true or false");
  return json_->get<bool>();
}

double JsonField::number(Range range) const {
  const double value = json_->is_number() ? json_->get<double>() : std::nan("");
  if (!is_in(value, range)) fail(text_of(range));
  return value;
}

std::int64_t JsonField::whole_number(std::int64_t least, std::int64_t most) const {
  const bool huge = json_->is_number_unsigned() && json_->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (!json_->is_number_integer() || huge || json_->get<std::int64_t>() < least || json_->get<std::int64_t>() > most) {
    fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return json_->get<std::int64_t>();
}

}  // namespace tenshot::trainer
