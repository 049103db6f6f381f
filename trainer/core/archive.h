#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenshot::trainer {

/// A numeric array of an archive, as bytes with a type and a shape.
struct Array {
  enum class Type : std::uint8_t { float32, float64, uint8 };
  Type type = Type::float32;
  std::vector<std::int64_t> shape;
  std::string bytes;  ///< little-endian, row-major
};

template <class Number>
constexpr Array::Type array_type = std::is_same_v<Number, float>    ? Array::Type::float32
                                   : std::is_same_v<Number, double> ? Array::Type::float64
                                                                    : Array::Type::uint8;

template <class Number>
Array to_array(const std::vector<Number>& values, std::vector<std::int64_t> shape) {
  static_assert(array_type<Number> != Array::Type::uint8 || sizeof(Number) == 1);
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  return {array_type<Number>, std::move(shape), std::string(bytes, values.size() * sizeof(Number))};
}
/// As a list, [values.size()].
template <class Number>
Array to_array(const std::vector<Number>& values) {
  return to_array(values, {static_cast<std::int64_t>(values.size())});
}

/// The content of a `*.tenshot` file: a JSON card that a person can read, and the numbers.
///
/// On disk: the 8 bytes "TENSHOT\n", a format version and the card's length as little-endian 32- and 64-bit integers,
/// the card as JSON (which lists the arrays: name, type, shape), the arrays' bytes in that order, and the SHA-256 of
/// everything before it. Every byte is covered: a file cut short or altered anywhere does not load.
class Archive {
 public:
  static constexpr std::uint32_t format_version = 1;

  nlohmann::json card = nlohmann::json::object();

  void put(const std::string& name, Array array) { arrays_[name] = std::move(array); }
  void remove(const std::string& name) { arrays_.erase(name); }
  bool has(const std::string& name) const { return arrays_.count(name) != 0; }
  /// Throw FormatError when there is no array of that name and type.
  std::vector<float> floats(const std::string& name) const { return values<float>(name); }
  std::vector<double> doubles(const std::string& name) const { return values<double>(name); }
  std::vector<std::uint8_t> bytes(const std::string& name) const { return values<std::uint8_t>(name); }
  /// An array of floats of either width.
  std::vector<double> numbers(const std::string& name) const;
  const std::vector<std::int64_t>& shape(const std::string& name) const;

  std::string serialise() const;
  /// Throws FormatError that names `file`: not a tenshot file, of a newer version (both versions are printed), cut
  /// short, or damaged. Reads from memory, executes nothing, allocates no more than the bytes it was given.
  static Archive parse(std::string_view bytes, const std::string& file);

 private:
  const Array& array(const std::string& name, Array::Type type) const;
  template <class Number>
  std::vector<Number> values(const std::string& name) const {
    const Array& found = array(name, array_type<Number>);
    std::vector<Number> numbers(found.bytes.size() / sizeof(Number));
    if (!numbers.empty()) std::memcpy(numbers.data(), found.bytes.data(), found.bytes.size());
    return numbers;
  }

  std::map<std::string, Array> arrays_;
};

/// To and from a file, where a long list of measurements takes less room than in memory (space_card.h).
void save(const Archive& archive, const std::filesystem::path& path);
Archive load_archive(const std::filesystem::path& path);

}  // namespace tenshot::trainer
