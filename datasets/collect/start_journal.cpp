#include "datasets/collect/start_journal.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {

StartJournal::StartJournal(std::filesystem::path file, const NetworkSpace& space)
    : file_(std::move(file)), space_(space) {
  if (std::filesystem::exists(file_)) read();
}

void StartJournal::read() {
  std::istringstream lines(read_file(file_));
  for (std::string line; std::getline(lines, line);) {
    try {
      const nlohmann::json entry = parse_json(line, file_.string());
      const Architecture architecture = space_.parse(entry.at("architecture").get<std::string>());
      starts_[architecture].push_back(start_from_json(entry.at("start")));
    } catch (const Error&) {  // half a line, of a process that was killed
    } catch (const nlohmann::json::exception&) {
    }
  }
}

std::vector<FreshStart> StartJournal::of(const Architecture& architecture) const {
  const auto found = starts_.find(architecture);
  return found == starts_.end() ? std::vector<FreshStart>() : found->second;
}

void StartJournal::add(const Architecture& architecture, const FreshStart& start) {
  starts_[architecture].push_back(start);
  // The line ends before it, too: half a line that stands at the end of the file must not spoil this one.
  const nlohmann::json entry = {{"architecture", space_.format(architecture)}, {"start", to_json(start)}};
  std::ofstream stream(file_, std::ios::app);
  stream << "\n" << entry.dump() << "\n";
  if (!stream.flush()) throw FileError(file_.string() + ": cannot be written");
}

void StartJournal::forget() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
  starts_.clear();
}

}  // namespace tenshot::datasets
