#include "nasbench/support/json_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot {

using nlohmann::json;

JsonReader::JsonReader(const json& object, const std::string& file, std::string path)
    : object_(object), file_(file), path_(std::move(path)) {
  if (!object_.is_object()) fail_at(path_.empty() ? "the file" : path_, "an object", object_);
}

const json* JsonReader::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json& JsonReader::require(const char* key, const char* expected) const {
  const json* value = find(key);
  if (value == nullptr) throw FormatError(file_ + ": no key '" + full(key) + "', expected " + expected);
  return *value;
}

std::string JsonReader::text(const char* key, std::string otherwise) const {
  const json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) fail(key, "a text", *value);
  return value->get<std::string>();
}

std::string JsonReader::text_that(const char* key, const std::string& expected, bool (*holds)(std::string_view)) const {
  const json& value = require(key, expected.c_str());
  if (!value.is_string() || !holds(value.get_ref<const std::string&>())) fail(key, expected, value);
  return value.get<std::string>();
}

int JsonReader::whole_number(const char* key, int least, int otherwise) const {
  const json* value = find(key);
  return value == nullptr ? otherwise : whole_number_of(*value, full(key), least);
}

int JsonReader::whole_number_of(const json& value, const std::string& place, int least) const {
  constexpr int largest_count = 1'000'000'000;  // most of a batch's images, threads, channels, pixels or runs
  // An unsigned value beyond int64 would turn negative if it were asked for as a signed one.
  const bool small = value.is_number_unsigned()
                         ? value.get<std::uint64_t>() <= largest_count
                         : value.is_number_integer() && value.get<std::int64_t>() <= largest_count;
  if (!small || value.get<std::int64_t>() < least) {
    fail_at(place, "a whole number from " + std::to_string(least) + " to " + std::to_string(largest_count), value);
  }
  return value.get<int>();
}

double JsonReader::non_negative_of(const json& value, const std::string& place) const {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0) || std::isinf(number)) fail_at(place, "a finite number that is not negative", value);
  return number;
}

const json& JsonReader::array(const char* key) const {
  static const json none = json::array();
  const json* value = find(key);
  if (value == nullptr) return none;
  if (!value->is_array()) fail(key, "a list", *value);
  return *value;
}

std::optional<JsonReader> JsonReader::object(const char* key) const {
  const json* value = find(key);
  return value == nullptr ? std::nullopt : std::optional<JsonReader>(std::in_place, *value, file_, full(key));
}

std::vector<JsonReader> JsonReader::objects(const char* key) const {
  std::vector<JsonReader> readers;
  for (const json& object : array(key)) {
    readers.emplace_back(object, file_, full(key) + "[" + std::to_string(readers.size()) + "]");
  }
  return readers;
}

void JsonReader::require_format(std::string_view format, const std::string& kind) const {
  const std::string wanted = '"' + std::string(format) + '"';
  const json& value = require("format", (wanted + ": this is no " + kind).c_str());
  if (!value.is_string()) fail("format", wanted, value);
  const auto found = value.get<std::string>();
  if (found == format) return;
  const std::string_view family = format.substr(0, format.find('/') + 1);
  const auto version_of = [&](std::string_view text) {
    return begins_with(text, family) ? parse_integer(text.substr(family.size())) : std::nullopt;
  };
  const auto version = version_of(found);
  const std::string message = file_ + ": format is '" + excerpt(found) + "'";
  if (version && *version > version_of(format).value_or(0)) {
    throw FormatError(message + ", newer than this tenshot reads (" + std::string(format) + "); use a newer tenshot");
  }
  throw FormatError(message + ", expected " + std::string(format));
}

void JsonReader::fail(const char* key, const std::string& expected, const json& found) const {
  fail_at(full(key), expected, found);
}

void JsonReader::fail_at(const std::string& place, const std::string& expected, const json& found) const {
  throw FormatError(file_ + ": " + place + " is " + shown(found) + ", expected " + expected);
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return value.empty() ? "an empty list" : "a list";
  return excerpt(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

bool is_plain_file_name(std::string_view name) {
  const bool ordinary = std::all_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7F && c != '/' && c != '\\' && c != ':';
  });
  return ordinary && !name.empty() && name.size() <= 255 && name != "." && name != ".." && name != "-";
}

bool is_plain_name(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return is_filled(text) && text.find_first_not_of(plain) == std::string_view::npos;
}

std::string json_reason(const json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t code_end = text.find("] ");
  return excerpt(code_end == std::string_view::npos ? text : text.substr(code_end + 2));
}

/// Whether brackets are nested deeper than so many levels; in the text, as asking the parser at each value takes long.
static bool is_deeper(std::string_view text, int levels) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > levels) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

json parse_json(std::string_view text, const std::string& file) {
  constexpr int deepest = 64;
  if (is_deeper(text, deepest)) {
    throw FormatError(file + ": is nested deeper than " + std::to_string(deepest) + " levels");
  }
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte);
    throw FormatError(file + ":" + std::to_string(std::count(before.begin(), before.end(), '\n') + 1) +
                      ": is not valid JSON here (syntax, or text that is not UTF-8)");
  } catch (const json::exception& error) {
    throw FormatError(file + ": is not JSON that tenshot can read (" + json_reason(error) + ")");
  }
}

}  // namespace tenshot
