#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tenshot::trainer::evaluation {

/// A value of a JSON document together with the way to it, so that whatever is wrong with it can be said in one line:
/// the file, the JSON pointer (RFC 6901), the value found, and what is allowed there. The document must outlive it.
class SpecValue {
 public:
  SpecValue(const nlohmann::json& json, std::string file, std::string pointer = "")
      : json_(&json), file_(std::move(file)), pointer_(std::move(pointer)) {}

  const nlohmann::json& json() const { return *json_; }
  /// FormatError: "<file>: <pointer> is <value>, expected <expected>".
  [[noreturn]] void fail(const std::string& expected) const;

  /// The accessors throw FormatError when the value is something else.
  std::string text() const;
  std::string one_of(const std::vector<std::string>& allowed) const;
  bool boolean() const;
  long long integer(long long least, long long most) const;
  double number(double above, double most) const;
  /// A list with at least one entry.
  std::vector<SpecValue> list() const;
  std::vector<std::string> texts() const;
  /// Refuses everything but an object whose keys are among `allowed`.
  void only_keys(const std::vector<std::string>& allowed) const;
  SpecValue at(const std::string& key) const;
  std::optional<SpecValue> find(const std::string& key) const;
  bool is_object() const { return json_->is_object(); }

 private:
  const nlohmann::json* json_;
  std::string file_;
  std::string pointer_;
};

}  // namespace tenshot::trainer::evaluation
