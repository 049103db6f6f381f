#include "experiments/kernels/kept_rows.h"

#include <algorithm>
#include <sstream>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"

namespace tenshot::experiments {

KeptRows::KeptRows(std::filesystem::path file, std::string header)
    : file_(std::move(file)), header_(std::move(header)) {
  if (!std::filesystem::exists(file_)) return;
  std::istringstream lines(read_file(file_));
  std::string line;
  std::getline(lines, line);
  if (line + "\n" != header_) throw InputError(file_.string() + ": has other columns; remove it");
  while (std::getline(lines, line)) earlier_.push_back(line);
}

bool KeptRows::has(const std::string& runtime, const std::string& method, const std::string& budget) {
  const std::string begin = start(runtime, method, budget);
  for (const std::string& line : earlier_) {
    if (line.rfind(begin, 0) != 0) continue;
    lines_.push_back(line);
    return true;
  }
  return false;
}

void KeptRows::add(const std::string& begin, const std::string& rest) {
  const auto same = [&](const std::string& line) { return line.rfind(begin, 0) == 0; };
  for (auto* lines : {&earlier_, &lines_}) {
    lines->erase(std::remove_if(lines->begin(), lines->end(), same), lines->end());
  }
  lines_.push_back(begin + rest);
  keep();
}

void KeptRows::keep() const {
  std::string csv = header_;
  for (const std::string& line : lines_) csv += line + "\n";
  // Rows of the earlier run that are still to come.
  for (const std::string& line : earlier_) {
    if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) csv += line + "\n";
  }
  write_file_atomically(file_, csv);
}

std::string KeptRows::start(const std::string& runtime, const std::string& method, const std::string& budget) {
  return runtime + ",\"" + method + "\",\"" + budget + "\",";
}

}  // namespace tenshot::experiments
