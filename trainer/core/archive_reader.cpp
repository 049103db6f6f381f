#include "trainer/core/archive_reader.h"

#include <cmath>
#include <limits>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"

namespace tenshot::trainer {
namespace {

/// The values of an array, each in the range.
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
