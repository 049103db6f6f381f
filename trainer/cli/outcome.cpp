#include "trainer/cli/outcome.h"

#include <iostream>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::cli {
namespace {

/// The remarks of the outcome that is alive; one verb runs in a process.
nlohmann::json* remarks_now = nullptr;

}  // namespace

Outcome::Outcome(const OptionParser& options) : json_(options.has("json")), quiet_(options.has("quiet")) {
  object_ = {{"format", "tenshot.outcome/1"},
             {"verb", options.verb()},
             {"remarks", nlohmann::json::array()},
             {"written", nlohmann::json::array()}};
  if (!json_) return;
  const std::vector<std::string> outputs = options.all("out");
  if (!outputs.empty() && outputs.back() == "-") {
    throw UsageError("--json and --out - would both write to standard output; name a file");
  }
  remarks_now = &object_.at("remarks");
}

Outcome::~Outcome() { remarks_now = nullptr; }

void Outcome::set(const std::string& key, nlohmann::json value) { object_[key] = std::move(value); }

void Outcome::remark(const std::string& text, nlohmann::json values) {
  if (text.empty()) return;
  tell(text);
  values["text"] = excerpt(text, std::string::npos);
  object_.at("remarks").push_back(std::move(values));
}

void Outcome::tell(const std::string& text) { tell_people(text, quiet_); }

void Outcome::written(const std::string& file, const std::string& what, const std::string& next) {
  say_written(file, what, next, quiet_);
  object_.at("written").push_back({{"file", file}, {"what", what}});
  if (!next.empty()) object_["next"] = next;
}

void Outcome::finish() {
  if (!json_) return;
  std::cout << object_.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  if (!std::cout) throw FileError("standard output: cannot write the outcome");
}

void add_json_option(OptionParser& options) {
  options.flag("json", "one JSON object on standard output: what the verb found, remarks, files written, next command");
}

void keep_as_remark(const std::string& text) {
  if (remarks_now != nullptr && !text.empty()) remarks_now->push_back({{"text", excerpt(text, std::string::npos)}});
}

}  // namespace tenshot::cli
