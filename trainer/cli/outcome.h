#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "trainer/cli/command.h"

namespace tenshot::cli {

/// The verb succeeded, and its verdict gives reason to doubt: exit code 3, which --strict asks for.
class DoubtfulVerdict : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a verb has to say when it has succeeded: lines for people on standard error and, with --json, one object for
/// programs on standard output, `tenshot.outcome/1`:
///
///   {"format": "tenshot.outcome/1", "verb": "adapt", "verdict": {…}, "remarks": [{"text": "…"}, …],
///    "written": [{"file": "device.tenshot", "what": "predictor"}], "next": "tenshot predict …"}
///
/// While one is alive, whatever say() tells becomes a remark of it too.
class Outcome {
 public:
  /// Throws UsageError where --json would share standard output with what an option writes to "-".
  explicit Outcome(const OptionParser& options);
  ~Outcome();
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;

  /// A further key of the object, such as "verdict".
  void set(const std::string& key, nlohmann::json value);
  /// A sentence with what it says as values; for people it is said.
  void remark(const std::string& text, nlohmann::json values);
  /// A line for people, of what set() says to programs.
  void tell(const std::string& text);
  /// A file that was written and the next command; for people it is said (say_written).
  void written(const std::string& file, const std::string& what, const std::string& next);
  /// Prints the object where --json was given. Call it last.
  void finish();

 private:
  bool json_, quiet_;
  nlohmann::json object_;
};

/// --json, which every verb with an Outcome has.
void add_json_option(OptionParser& options);

/// Makes what say() tells a remark of the Outcome of --json that is alive.
void keep_as_remark(const std::string& text);

}  // namespace tenshot::cli
