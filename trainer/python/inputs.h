#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "datasets/tables/space_files.h"
#include "nasbench/graph/operator_specification.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/core/predictor.h"

namespace tenshot::python {

// What Python gives, as the library takes it, and a search space as Python sees it.

using Strings = std::vector<std::string>;
/// Names of architectures, each with its latency in milliseconds, or CSV files of them, device-runtimes' folders, kits.
using Numbers = std::vector<std::pair<std::string, double>>;
using MeasurementSource = std::variant<Numbers, std::filesystem::path, std::vector<std::filesystem::path>>;
/// Extents by the name of an ONNX file's input.
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

/// A UserWarning at the line `level` calls of Python above.
void warn(const std::string& text, int level = 1);

/// A checkpoint's file, or the name of a shipped one; nothing: the shipped one that fits what is given.
using Checkpoint = std::optional<std::filesystem::path>;

/// `checkpoint`, or the shipped one of networks by name or of NAS-Bench-201, as the first of `candidates`, or of
/// `measurements`, says; of neither, that which knows the runtime `like`, else of NAS-Bench-201. Throws FileError.
std::filesystem::path checkpoint_for(const Checkpoint& checkpoint, const Strings& candidates,
                                     const std::optional<MeasurementSource>& measurements,
                                     const std::string& like = "");

/// Architectures, names or files from whatever holds them: a list, an array, a pandas Series, or the column
/// `architecture` or `network` of a DataFrame. Throws py::type_error on what is neither text nor a path.
Strings strings_of(const pybind11::iterable& architectures);

/// The content of docs.txt.
const std::string& module_docs(const std::string& name);

/// Architectures, names of networks or their files. Throws InputError, FileError, FormatError.
std::vector<nasbench::Architecture> parse_all(const nasbench::NetworkSpace& space, const Strings& strings,
                                              const Shapes& shapes = {});
Strings format_all(const nasbench::NetworkSpace& space, const std::vector<nasbench::Architecture>& architectures);

/// `fleet` is that of datasets::read_joined(). Of the quantity that is asked for by name, or that the checkpoint's pool
/// holds. Warns of what is left out or doubtful. Throws InputError on unusable ones, and what reading a file throws.
trainer::AdaptationSet adaptation_set(const trainer::PoolModel& model, const MeasurementSource& source,
                                      const std::optional<std::string>& quantity, bool fleet);

/// A search space, by name or file.
class Space {
 public:
  explicit Space(const nasbench::NetworkSpace& space) : space_(&space) {}
  explicit Space(const std::filesystem::path& name) : space_(&datasets::named_space(name.string())) {}

  std::string name() const { return std::string(space_->name()); }
  /// None where the architectures cannot be counted in 64 bits, or are named one by one.
  std::optional<std::uint64_t> size() const { return decided() ? decided()->size() : std::nullopt; }
  /// None of networks by name.
  std::vector<int> decisions() const { return decided() ? decided()->decisions() : std::vector<int>(); }
  std::vector<int> parse(const std::string& text) const {
    const nasbench::Architecture architecture = space_->parse(text);
    return {architecture.begin(), architecture.end()};
  }
  std::string format(const std::vector<int>& choices) const {
    const std::vector<int> decisions =
        decided() ? decided()->decisions() : std::vector<int>(space_->architecture_bytes(), 256);
    if (choices.size() != decisions.size()) {
      throw InputError("there are " + std::to_string(choices.size()) + " choices, expected " +
                       std::to_string(decisions.size()));
    }
    nasbench::Architecture architecture(choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] < 0 || choices[i] >= decisions[i]) {
        throw InputError("choice " + std::to_string(i) + " is " + std::to_string(choices[i]) + ", expected 0 to " +
                         std::to_string(decisions[i] - 1));
      }
      architecture[i] = static_cast<std::uint8_t>(choices[i]);
    }
    return space_->format(architecture);
  }
  bool contains(const std::string& text) const {
    try {
      space_->parse(text);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }
  Strings random(std::size_t count, std::uint64_t seed) const {
    Rng rng(seed);
    Strings strings;
    for (std::size_t i = 0; i < count; ++i)
      strings.push_back(space_->format(nasbench::search_space(*space_).random(rng)));
    return strings;
  }
  Strings all() const {
    if (decided() && !decided()->listable())
      throw InputError("the space " + name() + " is too large to list; draw from it with random");
    return format_all(*space_, nasbench::search_space(*space_).all());
  }

  std::int64_t multiply_adds(const std::string& text) const { return sum_of(text, nasbench::multiply_adds); }
  std::int64_t parameters(const std::string& text) const { return sum_of(text, nasbench::parameter_count); }
  Strings operators(const std::string& text) const {
    Strings lines;
    for (const auto& specification : space_->operator_list(space_->parse(text))) {
      lines.push_back(nasbench::format(specification));
    }
    return lines;
  }

 private:
  const nasbench::SearchSpace* decided() const { return space_->search_space(); }
  std::int64_t sum_of(const std::string& text, std::int64_t (*count)(const nasbench::OperatorSpecification&)) const {
    std::int64_t sum = 0;
    for (const auto& specification : space_->operator_list(space_->parse(text))) sum += count(specification);
    return sum;
  }

  const nasbench::NetworkSpace* space_;
};

}  // namespace tenshot::python
