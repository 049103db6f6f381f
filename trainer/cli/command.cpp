#include "trainer/cli/command.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <sstream>

#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/suggestion.h"
#include "nasbench/support/text.h"
#include "trainer/cli/signals.h"

namespace tenshot::cli {
namespace {

/// Earlier names of options, which stay good: one thing has one name in help and messages.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> aliases = {
    {{"measured", "measurements"}, {"after", "measurements"}, {"candidates", "archs"}, {"limit-ms", "limit"}}};

/// `argument` with an earlier name of an option in its place by today's, where the verb has that.
std::string renamed(const std::string& argument, const std::vector<std::string>& known) {
  const std::string name = argument.substr(0, argument.find('='));
  const auto has = [&](const std::string& option) { return std::count(known.begin(), known.end(), option) > 0; };
  for (const auto& [earlier, today] : aliases) {
    if (name != "--" + std::string(earlier) || has(name) || !has("--" + std::string(today))) continue;
    return "--" + std::string(today) + argument.substr(name.size());
  }
  return argument;
}

/// --quiet was given; one verb runs in a process.
bool quiet = false;
/// The remarks of the outcome that is alive.
nlohmann::json* remarks_now = nullptr;

}  // namespace

OptionParser::OptionParser(const std::string& verb, const std::string& summary, const std::string& example)
    : verb_(verb), summary_(summary), example_(example), options_("tenshot " + verb, summary) {
  options_.add_options()("h,help", "show this help")("q,quiet", "no progress, no remarks");
}

void run_sub_verb(const std::string& verb, const std::vector<SubVerb>& verbs, const std::string& examples,
                  const std::vector<std::string>& arguments) {
  std::string bars, listed;
  for (std::size_t i = 0; i < verbs.size(); ++i) {
    const std::string& name = verbs[i].first;
    if (!arguments.empty() && name == arguments[0]) return verbs[i].second({arguments.begin() + 1, arguments.end()});
    bars += (i == 0 ? "" : "|") + name;
    listed += (i == 0 ? "" : i + 1 == verbs.size() ? " or " : ", ") + name;
  }
  const auto asks_for_help = [](const auto& argument) { return argument == "--help" || argument == "-h"; };
  if (std::any_of(arguments.begin(), arguments.end(), asks_for_help)) {
    std::cout << "Usage: tenshot " << verb << " " << bars << " [options]; each has --help\n\nExample:\n" << examples;
    return;
  }
  throw UsageError("tenshot " + verb + " needs " + listed +
                   (arguments.empty() ? std::string() : ", not '" + excerpt(arguments[0]) + "'"));
}

void OptionParser::add(const std::string& name, const std::string& meaning,
                       const std::shared_ptr<cxxopts::Value>& value, const std::optional<std::string>& otherwise) {
  options_.add_options()(name, meaning, otherwise ? value->default_value(*otherwise) : value);
  known_.push_back("--" + name);
}

void OptionParser::add_positional(const std::string& name, const std::string& meaning) {
  positional_ = name;
  positional_meaning_ = meaning;
  text(name, meaning);
  options_.parse_positional({name});
}

void OptionParser::add_rest(const std::string& name, const std::string& meaning) {
  rest_name_ = name;
  rest_meaning_ = meaning;
}

bool OptionParser::parse(const std::vector<std::string>& given) {
  std::vector<std::string> arguments;
  for (const std::string& argument : given) arguments.push_back(renamed(argument, known_));
  std::vector<const char*> argv = {"tenshot"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  try {
    result_ = options_.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const std::exception& error) {  // cxxopts renamed its exceptions between releases
    throw UsageError(std::string(error.what()) + suggestion_for(arguments) + "; see tenshot " + verb_ + " --help");
  }
  if (has("help")) {
    options_.custom_help((positional_.empty() ? "" : "<" + positional_ + "> ") + std::string("[options]") +
                         (rest_name_.empty() ? "" : " [" + rest_name_ + " …]"));
    options_.positional_help("");
    std::cout << options_.help();
    if (!positional_.empty()) std::cout << "  <" << positional_ << ">: " << positional_meaning_ << "\n";
    if (!rest_name_.empty()) std::cout << "  " << rest_name_ << ": " << rest_meaning_ << "\n";
    std::cout << "\nExample:\n" << example_;
    return false;
  }
  quiet = has("quiet");
  rest_ = result_.unmatched();
  for (const std::string& argument : rest_) {
    if (!rest_name_.empty() && (argument.size() < 2 || argument.front() != '-')) continue;
    throw UsageError("'" + argument + "' is not expected here" + suggestion_for({argument}) + "; see tenshot " + verb_ +
                     " --help");
  }
  return true;
}

std::string OptionParser::suggestion_for(const std::vector<std::string>& arguments) const {
  for (const std::string& argument : arguments) {
    if (argument.compare(0, 2, "--") != 0) continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) return suggestion(name, known_);
  }
  return {};
}

std::vector<std::string> OptionParser::all(const std::string& option) const {
  std::vector<std::string> values;
  for (const auto& argument : result_.arguments()) {
    if (argument.key() == option) values.push_back(argument.value());
  }
  return values;
}

std::string OptionParser::required(const std::string& option) const {
  if (has(option)) return get(option);
  throw UsageError("tenshot " + verb_ + " needs " + (option == positional_ ? "" : "--") + option + "; see tenshot " +
                   verb_ + " --help");
}

int OptionParser::integer(const std::string& option, int least) const {
  const std::string text = get(option);
  const auto value = parse_integer(text);
  if (!value || *value < least || *value > std::numeric_limits<int>::max()) {
    throw UsageError("--" + option + " is '" + text + "', expected a whole number of at least " +
                     std::to_string(least));
  }
  return static_cast<int>(*value);
}

double OptionParser::number_between(const std::string& option, double above, double below,
                                    const std::string& expected) const {
  const std::optional<double> value = parse_number(get(option));
  if (value && *value > above && *value < below) return *value;
  throw UsageError("--" + option + " is '" + excerpt(get(option)) + "', expected " + expected);
}

std::string OptionParser::one_of(const std::string& option, const std::string& kind,
                                 const std::vector<std::string>& allowed) const {
  const std::string given = get(option);
  if (std::find(allowed.begin(), allowed.end(), given) != allowed.end()) return given;
  throw UsageError("there is no " + kind + " '" + given + "'; there are: " + joined(allowed));
}

void OptionParser::require_of(const std::vector<std::string>& offered, const std::vector<std::string>& all,
                              const std::string& owner) const {
  for (const std::string& option : all) {
    if (!has(option) || std::find(offered.begin(), offered.end(), option) != offered.end()) continue;
    throw UsageError("--" + option + " is no option of " + owner +
                     (offered.empty() ? std::string(", which has none of its own")
                                      : ", whose own are: --" + joined(offered, ", --")));
  }
}

void say(const std::string& text) {
  keep_as_remark(text);
  tell_people(text);
}

/// A line whose first word says how good or bad things are has it in colour on a terminal (no-color.org).
std::string coloured(const std::string& line) {
  static const std::map<std::string, const char*> colours = {
      {"Good", "32"}, {"Fair", "33"}, {"Warning", "33"}, {"Poor", "31"}, {"Doubtful", "31"}};
  static const char* const unwanted = std::getenv("NO_COLOR");
  const std::size_t colon = line.find(':');
  const auto colour = colours.find(line.substr(0, colon));
  if (colour == colours.end() || (unwanted != nullptr && *unwanted != '\0') || ::isatty(STDERR_FILENO) != 1)
    return line;
  return std::string("\033[1;") + colour->second + "m" + colour->first + "\033[0m" + line.substr(colon);
}

void tell_people(const std::string& text) {
  if (quiet) return;
  constexpr std::size_t longest = 2000;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) std::cerr << coloured(excerpt(line, longest)) << "\n";
}

void say_written(const std::string& out, const std::string& what, const std::string& next) {
  if (out == "-") return;
  tell_people(out + ": " + what + " written" + (next.empty() ? "" : "; next: " + next));
}

void say_first(const std::vector<std::string>& lines, std::size_t all, const std::string& more) {
  for (std::size_t i = 0; i < std::min(shown_lines, lines.size()); ++i) say(lines[i]);
  if (all > shown_lines) say("… and " + std::to_string(all - shown_lines) + " more" + more);
}

void report(const datasets::Findings& findings) {
  if (findings.empty()) return;
  std::vector<std::string> lines;
  for (const auto& finding : findings.first()) lines.push_back(finding.message());
  say_first(lines, findings.total());
  say(findings.summary());
}

void report(const datasets::KitResults& results) {
  std::vector<std::string> lines;
  for (const auto& finding : results.findings) lines.push_back(finding.message);
  say_first(lines, lines.size());
  std::string text = std::to_string(results.latencies.size()) + " of " + std::to_string(results.planned) +
                     " architectures measured, " + std::to_string(results.descriptor.operators.size()) + " operators";
  if (results.descriptor.has_counters()) text += " with counters";
  if (results.descriptor.has_in_network()) {
    text += ", " + std::to_string(results.descriptor.in_network.size()) + " operations inside a network";
  }
  if (results.aggregated > 0) {
    text += "; " + std::to_string(results.aggregated) +
            " as an average or median that the tool printed, so without a spread";
  }
  say(text);
}

Outcome::Outcome(const OptionParser& options) : json_(options.has("json")) {
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
  tell_people(text);
  values["text"] = excerpt(text, std::string::npos);
  object_.at("remarks").push_back(std::move(values));
}

void Outcome::written(const std::string& file, const std::string& what, const std::string& next) {
  say_written(file, what, next);
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

ProgressLine::ProgressLine() : visible_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (width_ > 0) std::cerr << "\r" << std::string(width_, ' ') << "\r" << std::flush;
}

void ProgressLine::show(const std::string& text) {
  if (!visible_ || seconds_since(last_shown_) < 0.1) return;
  last_shown_ = Clock::now();
  std::cerr << "\r" << text << std::string(text.size() < width_ ? width_ - text.size() : 0, ' ') << std::flush;
  width_ = text.size();
}

std::string own_program() {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return unknown ? "/proc/self/exe" : self.string();
}

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole >= 3600) return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
  if (whole >= 60) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole) + " s";
}

trainer::TrainingControl training_control(const std::string& out, int threads, ProgressLine& progress) {
  trainer::TrainingControl control;
  control.threads = threads;
  if (out != "-") control.state_file = out + ".partial";
  control.on_epoch = [&progress](const trainer::TrainingProgress& now) {
    progress.show("epoch " + std::to_string(now.epoch) + " of " + std::to_string(now.epochs) + ", loss " +
                  decimals(now.loss, 5) + ", " + duration(now.seconds_left) + " left");
    return !stop_requested();
  };
  return control;
}

void forget_training(const std::string& out) {
  std::error_code ignored;
  std::filesystem::remove(out + ".partial", ignored);
}

}  // namespace tenshot::cli
