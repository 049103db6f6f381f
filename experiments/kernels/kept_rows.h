#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenshot::experiments {

/// The rows of one runtime's file, by method and budget; those of an earlier run are kept, and not computed again.
class KeptRows {
 public:
  /// `header`: the first line, with its end. Throws InputError where the file is there with another one.
  KeptRows(std::filesystem::path file, std::string header);

  /// Whether an earlier run had this row, which then stands again.
  bool has(const std::string& runtime, const std::string& method, const std::string& budget);
  /// A new row, `begin` (see start) and the rest of it; written at once.
  void add(const std::string& begin, const std::string& rest);
  void keep() const;

  /// RUNTIME,"METHOD","BUDGET", with which a row begins.
  static std::string start(const std::string& runtime, const std::string& method, const std::string& budget);

 private:
  std::filesystem::path file_;
  std::string header_;
  std::vector<std::string> earlier_, lines_;
};

}  // namespace tenshot::experiments
