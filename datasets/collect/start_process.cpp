#include "datasets/collect/start_process.h"

#include <nlohmann/json.hpp>

#include "descriptor/machine/child_process.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/passing_file.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

/// The last line that says something.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const std::size_t end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

}  // namespace

FreshStart start_in_process(const StartProcess& process) {
  descriptor::ChildProcess child;
  child.command = process.command;
  child.command.insert(child.command.end(), {"--weights", process.weights.string()});
  if (process.empty) child.command.emplace_back("--empty");
  child.command.push_back(process.network);
  child.output = process.output;
  child.time_limit_s = process.time_limit_s;
  child.go_on = process.go_on;
  const PassingFile output(child.output);
  descriptor::run_child(child);
  const std::string text = read_file(child.output);
  const nlohmann::json said = nlohmann::json::parse(last_line(text), nullptr, false);
  try {
    return start_from_json(said);
  } catch (const nlohmann::json::exception&) {
    throw Error(child.command[0] + " did not say what the start took: '" + excerpt(text, 200) + "'");
  }
}

}  // namespace tenshot::datasets
