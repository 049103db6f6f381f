#pragma once

#include <cstddef>
#include <cxxopts.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "datasets/kit/kit_results.h"
#include "datasets/tables/findings.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/core/predictor.h"

namespace tenshot::cli {

/// The command line itself is wrong: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One verb: options in, library call, output out. Throws; main turns what it throws into a line and an exit code.
struct Command {
  std::string name;
  std::string summary;
  void (*run)(const std::vector<std::string>& arguments);
};

/// What the program does with its arguments, by main.cpp, or by predict_main.cpp where it only predicts: the exit code.
int run(const std::vector<std::string>& arguments);

/// A verb below another, such as `plan` in `tenshot cold plan`.
using SubVerb = std::pair<std::string, std::function<void(const std::vector<std::string>& arguments)>>;

/// Runs the one of `verbs`, which stand below `verb`, that the first argument names, with the arguments after it.
/// Without such a one --help or -h lists them and shows `examples`. Throws UsageError that lists them otherwise.
void run_sub_verb(const std::string& verb, const std::vector<SubVerb>& verbs, const std::string& examples,
                  const std::vector<std::string>& arguments);

bool wants_help(const std::vector<std::string>& arguments);

/// One a file of this folder.
extern const Command adapt_command, collect_command, dataset_command, devices_command, evaluate_command,
    experiment_command, export_command, info_command, kernels_command, network_command, plan_command, predict_command,
    report_command, run_network_command, run_operators_command, train_command;

/// The options of a verb with what every verb has: --help (usage, options, example), --quiet.
class OptionParser {
 public:
  OptionParser(const std::string& verb, const std::string& summary, const std::string& example);

  const std::string& verb() const { return verb_; }
  /// Options in the order in which help lists them: one that is there or not; with a text (integer() makes a number of
  /// one), several texts, or a number. Without the option there is `otherwise`, or nothing.
  void flag(const std::string& name, const std::string& meaning);
  void text(const std::string& name, const std::string& meaning, const std::optional<std::string>& otherwise = {}) {
    add(name, meaning, cxxopts::value<std::string>(), otherwise);
  }
  void texts(const std::string& name, const std::string& meaning) {
    add(name, meaning, cxxopts::value<std::vector<std::string>>(), {});
  }
  void number(const std::string& name, const std::string& meaning, const std::optional<std::string>& otherwise = {}) {
    add(name, meaning, cxxopts::value<double>(), otherwise);
  }
  /// An argument without a name, which `has` and `get` know as `name`.
  void add_positional(const std::string& name, const std::string& meaning);

  /// Any number of arguments without names, which rest() gives.
  void add_rest(const std::string& name, const std::string& meaning);
  const std::vector<std::string>& rest() const { return rest_; }

  /// Parses. Prints help and returns false when asked for it. Throws UsageError on an unknown option, a value that does
  /// not parse, or a surplus argument.
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
  /// Throws UsageError when an option of `all` was given that is not among those that `owner` offers. Defaults are not
  /// given.
  void require_of(const std::vector<std::string>& offered, const std::vector<std::string>& all,
                  const std::string& owner) const;

 private:
  void add(const std::string& name, const std::string& meaning, const std::shared_ptr<cxxopts::Value>& value,
           const std::optional<std::string>& otherwise);
  /// The names of the verb's options, with their dashes.
  std::vector<std::string> known_options() const;
  /// "; did you mean '--samples'?" for the first unknown option.
  std::string suggestion_for(const std::vector<std::string>& arguments) const;

  std::string verb_, summary_, example_;
  std::string positional_;
  std::string rest_name_, rest_meaning_;
  std::vector<std::string> rest_;
  cxxopts::Options options_;
  cxxopts::ParseResult result_;
};

/// Says on stderr what reading left out: the first findings in full, then how many there are.
void report(const datasets::Findings& findings, bool quiet);
/// The same of a kit, and how much of it was measured.
void report(const datasets::KitResults& results, bool quiet);
/// Lines on stderr unless quiet; names of strangers in them command no terminal. They are remarks of --json too.
void say(const std::string& text, bool quiet);
/// The same for people alone.
void tell_people(const std::string& text, bool quiet);

/// The last line of a verb that succeeded: "device.tenshot: predictor written; next: tenshot predict --predictor
/// device.tenshot --out predictions.csv". `next` may be empty; nothing is said of standard output ("-").
void say_written(const std::string& out, const std::string& what, const std::string& next, bool quiet);

/// One line of progress on stderr, rewritten in place; silent when quiet or when stderr is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);

 private:
  bool visible_;
  std::size_t width_ = 0;
  double last_shown_s_ = -1;
};

std::string duration(double seconds);

/// Training that shows its progress, keeps unfinished work in `<out>.partial` and stops on a signal.
trainer::TrainingControl training_control(const std::string& out, int threads, ProgressLine& progress);
/// Removes what training kept, once its result is safe in `out`.
void forget_training(const std::string& out);

}  // namespace tenshot::cli
