#pragma once

#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/core/archive_reader.h"

// Structs of options, each option declared once: its name, its place in the struct, what it may be and one sentence for
// people. From that come reading and writing JSON (of cards, experiments and the command line), validation, `--help`
// and the list of what there is. Defaults are the struct's own. A struct's declaration is the function
//
//   const Declaration<Options>& declared(const Options&);
//
// in the namespace of the struct.

namespace tenshot::trainer {

/// What is said of an option wherever one meets it.
struct OptionText {
  std::string name;  ///< in JSON: "learning_rate"
  std::string meaning;
  std::string expected;      ///< "a number from 0 to 1000"
  std::string argument;      ///< of `tenshot train`, "no-…" where it switches something off; empty: it has none
  nlohmann::json otherwise;  ///< its value unless told otherwise
  std::vector<OptionText> options;  ///< those that it holds, of an object
};
std::vector<std::string> names_of(const std::vector<OptionText>& options);

/// An option that is not what it should be: "posterior.noises.0 must be a number from 0.0001 to 10".
class BadOption : public InputError {
 public:
  BadOption(const std::vector<std::string>& path_of_option, const std::string& what_it_should_be);

  std::vector<std::string> path;
  std::string expected;
};

/// What an option may be.
class Allowed {
 public:
  struct Type {
    enum { flag, whole, number, text } of = flag;
    bool list = false;
  };
  Allowed() = default;
  static constexpr bool or_zero = true;
  /// Numbers in a range, and 0 where that is said.
  Allowed(double least, double most, bool zero = false) : range_{least, most}, zero_(zero) {}
  /// One of some texts.
  Allowed(std::initializer_list<const char*> texts) : texts_(texts.begin(), texts.end()) {}

  std::string expected(Type type) const;
  /// Throws BadOption without the option's own name.
  void require(const nlohmann::json& json, Type type) const;

 private:
  Range range_ = any_number;
  std::vector<std::string> texts_;
  bool zero_ = false;
};

template <class T>
constexpr Allowed::Type option_type{std::is_same_v<T, bool>       ? Allowed::Type::flag
                                    : std::is_integral_v<T>       ? Allowed::Type::whole
                                    : std::is_floating_point_v<T> ? Allowed::Type::number
                                                                  : Allowed::Type::text};
template <class T>
constexpr Allowed::Type option_type<std::vector<T>>{option_type<T>.of, true};

/// Whether T is a struct of options.
template <class T>
constexpr bool is_group = std::is_class_v<T> && !std::is_same_v<T, std::string> && !option_type<T>.list;

template <class T>
nlohmann::json option_json(const T& value) {
  if constexpr (is_group<T>) {
    return declared(value).to_json(value);
  } else {
    return value;
  }
}

/// One option of a struct. `member` is a pointer to the struct's member, or a function from the struct to it.
template <class Options>
struct DeclaredOption {
  template <class Member>
  DeclaredOption(const char* option_name, Member member, const Allowed& allowed, const char* meaning,
                 const char* argument = "")
      : name(option_name),
        get([member](const Options& o) { return option_json(std::invoke(member, o)); }),
        set([member, allowed](const nlohmann::json& json, Options& o) {
          auto& value = std::invoke(member, o);
          if constexpr (is_group<std::decay_t<decltype(value)>>) {
            value = declared(value).read(json);
          } else {
            allowed.require(json, option_type<std::decay_t<decltype(value)>>);
            json.get_to(value);
          }
        }),
        text([=](const Options& otherwise) {
          const auto& value = std::invoke(member, otherwise);
          if constexpr (is_group<std::decay_t<decltype(value)>>) {
            const auto& group = declared(value);
            return OptionText{option_name, meaning, group.expected(), argument, option_json(value), group.texts()};
          } else {
            const std::string expected = allowed.expected(option_type<std::decay_t<decltype(value)>>);
            return OptionText{option_name, meaning, expected, argument, option_json(value), {}};
          }
        }) {}

  std::string name;
  std::function<nlohmann::json(const Options&)> get;
  std::function<void(const nlohmann::json&, Options&)> set;
  std::function<OptionText(const Options& otherwise)> text;
};

/// All options of a struct. What has to hold between them is for `check`, which throws BadOption.
template <class Options>
class Declaration {
 public:
  using Check = void (*)(const Options&);
  explicit Declaration(std::vector<DeclaredOption<Options>> options, Check check = nullptr, Options otherwise = {})
      : options_(std::move(options)), check_(check), otherwise_(std::move(otherwise)) {}

  nlohmann::json to_json(const Options& options) const {
    nlohmann::json json = nlohmann::json::object();
    for (const auto& option : options_) json[option.name] = option.get(options);
    return json;
  }
  /// What `given` has, and otherwise the defaults; null and keys that are no option say nothing. Throws BadOption.
  Options read(const nlohmann::json& given) const {
    if (!given.is_null() && !given.is_object()) throw BadOption({}, expected());
    Options options = otherwise_;
    for (const auto& option : options_) {
      const auto found = given.find(option.name);
      if (found == given.end()) continue;
      try {
        option.set(*found, options);
      } catch (const BadOption& bad) {
        std::vector<std::string> path = {option.name};
        path.insert(path.end(), bad.path.begin(), bad.path.end());
        throw BadOption(path, bad.expected);
      }
    }
    if (check_ != nullptr) check_(options);
    return options;
  }
  std::vector<OptionText> texts() const {
    std::vector<OptionText> texts;
    for (const auto& option : options_) texts.push_back(option.text(otherwise_));
    return texts;
  }
  std::string expected() const { return "an object with the keys: " + joined(names_of(texts())); }

 private:
  std::vector<DeclaredOption<Options>> options_;
  Check check_;
  Options otherwise_;
};

/// Fails at the field or value below `field` that the option was read from, as deep as there is one.
[[noreturn]] void fail_at(JsonField field, const BadOption& bad);

/// Options from the settings of a card. Throws FormatError that names the field at fault.
template <class Options>
Options read_settings(const Declaration<Options>& declaration, const JsonField& settings) {
  try {
    return declaration.read(settings.json());
  } catch (const BadOption& bad) {
    fail_at(settings, bad);
  }
}

}  // namespace tenshot::trainer
