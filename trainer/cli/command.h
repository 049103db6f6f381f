#pragma once

#include <algorithm>
#include <cstddef>
#include <cxxopts.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "datasets/kit/kit_results.h"
#include "datasets/tables/findings.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "trainer/core/predictor.h"

namespace tenshot::cli {

/// The command line itself is wrong: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What `read` returns, which reads that option: an InputError of it is an error of the command line.
template <class Read>
auto from_option(const std::string& option, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw UsageError("--" + option + ": " + error.what());
  }
}

/// The verb succeeded, and its verdict gives reason to doubt: exit code 3, which --strict asks for.
class DoubtfulVerdict : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the program does with its arguments, by main.cpp, or by predict_main.cpp where it only predicts: the exit code.
int run(const std::vector<std::string>& arguments);

/// The content of a help file by its name without the suffix, and the names of those that the program has.
const std::string& help_texts(const std::string& name);
extern const std::vector<std::string> help_files;

/// What stands in a page of help in the place of a name in braces; asked for where it does.
using Placeholders = std::map<std::string, std::function<std::string()>>;
/// A page of the help files, without its heading.
std::string help_page(const std::string& name, const Placeholders& placeholders = {});

/// The options of a verb, which its page in help.txt lists, with what every verb has: --help, --quiet.
class OptionParser {
 public:
  OptionParser(const std::string& verb, const Placeholders& placeholders);

  const std::string& verb() const { return verb_; }
  /// As they were given.
  const std::vector<std::string>& arguments() const { return arguments_; }
  /// The values of `arguments` in the page.
  const std::vector<std::string>& rest() const { return rest_; }

  /// Parses. Prints help and returns false when asked for it. Throws UsageError on an unknown option, a value that does
  /// not parse, a surplus argument, or --json that would share standard output with what --out writes there. From then
  /// on --quiet and --json hold for all that this process says (say(), ProgressLine).
  ///
  /// Earlier names of options (--measured and --after for --measurements, --candidates for --archs) count as today's.
  bool parse(const std::vector<std::string>& arguments);

  bool has(const std::string& option) const { return result_.count(option) != 0; }
  template <class T = std::string>
  T get(const std::string& option) const {
    return result_[option].as<T>();
  }
  /// Every value of an option that may be given several times, in order; one with commas is one value.
  std::vector<std::string> all(const std::string& option) const;
  /// Throw UsageError when the option or argument is missing, or not an integer of `least` to 2³¹ − 1.
  std::string required(const std::string& option) const;
  int integer(const std::string& option, int least) const;
  /// Throws UsageError unless it is a number between two, which `expected` describes.
  double number_between(const std::string& option, double above, double below, const std::string& expected) const;
  /// Throws UsageError that lists `allowed`, which are of that kind, unless it is one of them.
  std::string one_of(const std::string& option, const std::string& kind, const std::vector<std::string>& allowed) const;
  /// Throws UsageError when an option of `all` was given, not left at its default, that `owner` does not offer.
  void require_of(const std::vector<std::string>& offered, const std::vector<std::string>& all,
                  const std::string& owner) const;

 private:
  /// Adds the options of a page, from its line `first`.
  void add_page(const std::string& page, std::size_t first);
  /// Adds what is declared before a line's colon: "text seed=1".
  void add(const std::string& declared, const std::string& meaning);
  /// "; did you mean '--samples'?" for the first unknown option.
  std::string suggestion_for(const std::vector<std::string>& arguments) const;

  std::string verb_, example_;
  Placeholders placeholders_;
  using NamedMeaning = std::pair<std::string, std::string>;
  NamedMeaning argument_, further_;  ///< of arguments without names; empty where there are none
  std::vector<std::string> arguments_, rest_;
  std::vector<std::string> known_ = {"--help", "--quiet"};  ///< the names of the verb's options, with their dashes
  std::vector<std::string> single_;                         ///< those that may be given once, without their dashes
  bool has_outcome_ = false;                                ///< whether --json prints the verb's outcome
  cxxopts::Options options_;
  cxxopts::ParseResult result_;
};

/// One verb: options in, library call, output out. Throws; main turns what it throws into a line and an exit code. Two
/// are parts of verbs: run_fusion_kit is `plan --fusion`, and measure_grid what `kernels grid --runtime` does first.
using RunVerb = void(const OptionParser& options);
RunVerb measure_grid, run_adapt, run_cold_measure, run_cold_plan, run_cold_predict, run_cold_run, run_collect,
    run_dataset_describe, run_dataset_import, run_dataset_operators, run_dataset_validate, run_devices, run_evaluate,
    run_experiment, run_export, run_fusion_kit, run_info, run_kernels_deduce, run_kernels_detect, run_kernels_find,
    run_kernels_grid, run_kernels_sample, run_kernels_train, run_network, run_network_describe, run_network_features,
    run_network_generate, run_network_list, run_operators, run_plan, run_predict, run_report, run_train;

/// What `train --help` says of predictors that learn from a pool, "structured: operator costs …; operators: …"; and of
/// the settings that they declare, each once, as help.txt lists options: whose it is, and its default there.
std::string predictors_in_help();
std::string settings_in_help();

/// Says on stderr what reading left out: the first findings in full, then how many there are.
void report(const datasets::Findings& findings);
/// The same of a kit, and how much of it was measured.
void report(const datasets::KitResults& results);
/// How many lines of a list are said in full (say_first).
constexpr std::size_t shown_lines = 10;

// What a verb says are lines for people on standard error, unless quiet. Where --json asks for its outcome (the page
// "with json"), they are kept too, and with what it found they are one object for programs on standard output,
// `tenshot.outcome/1`:
//
//   {"format": "tenshot.outcome/1", "verb": "adapt", "verdict": {…}, "remarks": [{"text": "…"}, …],
//    "written": [{"file": "device.tenshot", "what": "predictor"}], "next": "tenshot predict …"}

/// Lines, in which names of strangers command no terminal; a remark of the outcome, with what it says as `values`.
void say(const std::string& text, nlohmann::json values = {});
/// The same for people alone, and for programs alone.
void tell_people(const std::string& text);
void keep_as_remark(const std::string& text, nlohmann::json values = {});

/// Says the line that `line_of` makes of each of the first `shown_lines` things, then `more` of the rest.
template <class Things, class LineOf>
void say_first(const Things& things, LineOf line_of, std::size_t all, const std::string& more = "") {
  for (std::size_t i = 0; i < std::min(shown_lines, things.size()); ++i) say(std::invoke(line_of, things[i]));
  if (all > shown_lines) say("… and " + std::to_string(all - shown_lines) + " more" + more);
}

/// `text` as one word of a shell.
std::string shell_word(const std::string& text);

/// The last line of a verb that succeeded: "device.tenshot: predictor written; next: tenshot predict --predictor
/// device.tenshot --out predictions.csv". `next` may be empty; people are told nothing of standard output ("-").
void say_written(const std::string& file, const std::string& what, const std::string& next);

/// Adds further keys to the outcome, such as "verdict".
void put_outcome(const nlohmann::json& values);
/// Prints the outcome, where --json asks for it: once a verb has succeeded, and by a verb that fails with one.
void print_outcome();

/// One line of progress on stderr, rewritten in place; silent when quiet or when stderr is no terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);

 private:
  bool visible_;
  std::size_t width_ = 0;
  Clock::time_point last_shown_ = {};
};

std::string duration(double seconds);

/// The file of this program, by its own name where it has one.
std::string own_program();

/// Training that shows its progress, keeps unfinished work in `<out>.partial` and stops on a signal.
trainer::TrainingControl training_control(const std::string& out, int threads, ProgressLine& progress);
/// Writes what training made to `out`, and then removes what it kept.
void save_trained(const trainer::Archive& archive, const std::string& out);

}  // namespace tenshot::cli
