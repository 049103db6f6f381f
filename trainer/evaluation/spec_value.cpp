#include "trainer/evaluation/spec_value.h"

#include <algorithm>

#include "datasets/tables/json_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::trainer::evaluation {
namespace {

/// One part of a JSON pointer.
std::string escaped(const std::string& key) {
  std::string part = "/";
  for (const char c : key) part += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return part;
}

}  // namespace

void SpecValue::fail(const std::string& expected) const {
  throw FormatError(file_ + ": " + (pointer_.empty() ? "the spec" : pointer_) + " is " + datasets::shown(*json_) +
                    ", expected " + expected);
}

std::string SpecValue::text() const {
  if (!json_->is_string() || json_->get_ref<const std::string&>().empty()) fail("a text");
  return json_->get<std::string>();
}

std::string SpecValue::one_of(const std::vector<std::string>& allowed) const {
  const bool known = json_->is_string() && std::find(allowed.begin(), allowed.end(), text()) != allowed.end();
  if (!known) fail("one of: " + joined(allowed));
  return text();
}

bool SpecValue::boolean() const {
  if (!json_->is_boolean()) fail("true or false");
  return json_->get<bool>();
}

long long SpecValue::integer(long long least, long long most) const {
  const std::string range = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  if (!json_->is_number_integer()) fail(range);
  const bool huge = json_->is_number_unsigned() && json_->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (huge || json_->get<std::int64_t>() < least || json_->get<std::int64_t>() > most) fail(range);
  return json_->get<std::int64_t>();
}

double SpecValue::number(double above, double most) const {
  const double value = json_->is_number() ? json_->get<double>() : above;
  if (!(value > above && value <= most)) fail("a number above " + shortest(above) + ", at most " + shortest(most));
  return value;
}

std::vector<SpecValue> SpecValue::list() const {
  if (!json_->is_array() || json_->empty()) fail("a list with at least one entry");
  std::vector<SpecValue> entries;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    entries.emplace_back((*json_)[i], file_, pointer_ + "/" + std::to_string(i));
  }
  return entries;
}

std::vector<std::string> SpecValue::texts() const {
  std::vector<std::string> values;
  for (const SpecValue& entry : list()) values.push_back(entry.text());
  return values;
}

void SpecValue::only_keys(const std::vector<std::string>& allowed) const {
  if (!json_->is_object()) fail("an object with the keys: " + joined(allowed));
  for (const auto& [key, value] : json_->items()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    throw FormatError(file_ + ": " + pointer_ + escaped(excerpt(key)) +
                      " is not known here; the keys are: " + joined(allowed));
  }
}

SpecValue SpecValue::at(const std::string& key) const {
  if (auto value = find(key)) return *value;
  throw FormatError(file_ + ": " + pointer_ + escaped(key) + " is missing");
}

std::optional<SpecValue> SpecValue::find(const std::string& key) const {
  if (!json_->is_object()) fail("an object");
  const auto found = json_->find(key);
  if (found == json_->end()) return std::nullopt;
  return SpecValue(*found, file_, pointer_ + escaped(key));
}

}  // namespace tenshot::trainer::evaluation
