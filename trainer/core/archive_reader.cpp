#include "trainer/core/archive_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::trainer {
namespace {

bool is_in(double value, Range range) { return value >= range.least && value <= range.most; }

std::string text_of(Range range) { return "a number from " + shortest(range.least) + " to " + shortest(range.most); }

template <class Number>
std::vector<Number> checked(std::vector<Number> values, const std::string& name, Range range,
                            std::optional<std::size_t> size) {
  if (size && values.size() != *size) {
    throw FormatError("array '" + name + "' has " + std::to_string(values.size()) + " values, expected " +
                      std::to_string(*size));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    if (!is_in(value, range)) require_in_range(value, range, "array '" + name + "'[" + std::to_string(i) + "]");
  }
  return values;
}

}  // namespace

JsonField::JsonField(const Archive& archive) : json_(&archive.card), source_("its card"), by_hand_(false) {}

JsonField::JsonField(const nlohmann::json& document, const std::string& file)
    : json_(&document), source_(file), by_hand_(true) {}

void JsonField::fail(const std::string& expected) const {
  const std::string whole = by_hand_ ? "the spec" : "the whole", place = path_.empty() ? whole : path_;
  throw FormatError(source_ + ": " + place + " is " + shown(*json_) + ", expected " + expected);
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

void require_in_range(double value, Range range, const std::string& field) {
  if (is_in(value, range)) return;
  throw FormatError(field + " is " + shortest(value) + ", expected " + text_of(range));
}

std::uint64_t seed_of(const JsonField& card) {
  return static_cast<std::uint64_t>(card.at("seed").whole_number(0, std::numeric_limits<std::int64_t>::max()));
}

std::vector<double> checked_doubles(const Archive& archive, const std::string& name, Range range,
                                    std::optional<std::size_t> size) {
  return checked(archive.doubles(name), name, range, size);
}

std::vector<float> checked_floats(const Archive& archive, const std::string& name, Range range,
                                  std::optional<std::size_t> size) {
  return checked(archive.floats(name), name, range, size);
}

FieldSequence::FieldSequence(const Archive& archive, const std::string& name)
    : name_(name), values_(archive.doubles(name)) {}

double FieldSequence::next(const std::string& field) {
  if (at_ == values_.size()) throw FormatError("array '" + name_ + "' ends before its field " + field);
  return values_[at_++];
}

double FieldSequence::number(const std::string& field, Range range) {
  const double value = next(field);
  if (!is_in(value, range)) require_in_range(value, range, "array '" + name_ + "': " + field);
  return value;
}

double FieldSequence::number_or_nan(const std::string& field, Range range) {
  const double value = next(field);
  if (!std::isnan(value)) require_in_range(value, range, "array '" + name_ + "': " + field);
  return value;
}

Eigen::VectorXd FieldSequence::vector(const std::string& field, Eigen::Index size, Range range) {
  return matrix(field, size, 1, range);
}

Eigen::MatrixXd FieldSequence::matrix(const std::string& field, Eigen::Index rows, Eigen::Index columns, Range range) {
  const auto left = static_cast<Eigen::Index>(values_.size() - at_);
  if (rows < 0 || columns < 0 || (columns > 0 && rows > left / columns)) {
    throw FormatError("array '" + name_ + "' ends before its field " + field);
  }
  Eigen::MatrixXd result(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r) {
    for (Eigen::Index c = 0; c < columns; ++c) result(r, c) = number(field, range);
  }
  return result;
}

void FieldSequence::require_end() const {
  if (at_ == values_.size()) return;
  throw FormatError("array '" + name_ + "' has " + std::to_string(values_.size()) + " values, expected " +
                    std::to_string(at_));
}

}  // namespace tenshot::trainer
