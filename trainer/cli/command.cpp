#include "trainer/cli/command.h"

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <sstream>

#include "nasbench/formats/network_file.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/suggestion.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"
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
/// What --json is to print; null where it was not asked for.
nlohmann::json outcome;

}  // namespace

std::string help_page(const std::string& name, const Placeholders& placeholders) {
  const std::string heading = "\n== " + name + "\n";
  for (const std::string& file : help_files) {
    const std::string& all = help_texts(file);
    const std::size_t found = all.find(heading);
    if (found == std::string::npos) continue;
    const std::size_t begin = found + heading.size();
    std::string page = all.substr(begin, all.find("\n\n== ", begin) - begin);
    for (const auto& [placeholder, text_of] : placeholders) {
      const std::vector<std::string> parts = parts_between(page, "{" + placeholder + "}");
      if (parts.size() > 1) page = joined(parts, text_of());
    }
    return page;
  }
  throw Error("there is no page of help '" + name + "'");
}

OptionParser::OptionParser(const std::string& verb, const Placeholders& placeholders)
    : verb_(verb),
      placeholders_(placeholders),
      options_("tenshot " + verb, parts_between(help_page(verb), "\n").front()) {
  options_.add_options()("h,help", "show this help")("q,quiet", "no progress, no remarks");
  placeholders_["suffixes"] = [] { return joined(nasbench::network_suffixes()); };
  add_page(verb, 1);
}

void OptionParser::add_page(const std::string& page, std::size_t first) {
  if (page == "with json") has_outcome_ = true;
  const std::vector<std::string> lines = parts_between(help_page(page, placeholders_), "\n");
  for (std::size_t i = first; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.rfind("  ", 0) == 0 || line.rfind("own  ", 0) == 0) {
      example_ += line.substr(line.find(' ')) + "\n";
    } else if (!line.empty()) {
      const std::size_t colon = line.find(": ");
      add(line.substr(0, colon), colon == std::string::npos ? "" : line.substr(colon + 2));
    }
  }
}

void OptionParser::add(const std::string& declared, const std::string& meaning) {
  std::istringstream words(declared);
  std::string kind, name, otherwise;
  words >> kind >> std::ws;
  std::getline(words, name, '=');
  std::getline(words, otherwise);
  if (kind == "with") {
    placeholders_["use"] = [meaning] { return meaning; };
    return add_page("with " + name, 0);
  }
  if (kind == "arguments") {
    further_ = {name, meaning};
    return;
  }
  const std::shared_ptr<cxxopts::Value> value = kind == "flag"     ? cxxopts::value<bool>()
                                                : kind == "number" ? cxxopts::value<double>()
                                                                   : cxxopts::value<std::string>();
  options_.add_options()(name, meaning, otherwise.empty() ? value : value->default_value(otherwise));
  known_.push_back("--" + name);
  if (kind != "texts" && kind != "flag") single_.push_back(name);
  if (kind != "argument") return;
  argument_ = {name, meaning};
  options_.parse_positional({name});
}

bool OptionParser::parse(const std::vector<std::string>& given) {
  arguments_ = given;
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
    const auto& [argument, its_meaning] = argument_;
    const auto& [several, their_meaning] = further_;
    options_.custom_help((argument.empty() ? "" : "<" + argument + "> ") + std::string("[options]") +
                         (several.empty() ? "" : " [" + several + " …]"));
    options_.positional_help("");
    std::cout << options_.help();
    if (!argument.empty()) std::cout << "  <" << argument << ">: " << its_meaning << "\n";
    if (!several.empty()) std::cout << "  " << several << ": " << their_meaning << "\n";
    std::cout << "\nExample:\n" << example_;
    return false;
  }
  for (const std::string& name : single_) {
    if (all(name).size() > 1) throw UsageError("--" + name + " is given twice, and takes one value");
  }
  quiet = has("quiet");
  rest_ = result_.unmatched();
  for (const std::string& argument : rest_) {
    if (!further_.first.empty() && (argument.size() < 2 || argument.front() != '-')) continue;
    throw UsageError("'" + argument + "' is not expected here" + suggestion_for({argument}) + "; see tenshot " + verb_ +
                     " --help");
  }
  if (!has_outcome_ || !has("json")) return true;
  if (has("out") && get("out") == "-") {
    throw UsageError("--json and --out - would both write to standard output; name a file");
  }
  outcome = {{"format", "tenshot.outcome/1"},
             {"verb", verb_},
             {"remarks", nlohmann::json::array()},
             {"written", nlohmann::json::array()}};
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
  throw UsageError("tenshot " + verb_ + " needs " + (option == argument_.first ? "" : "--") + option +
                   "; see tenshot " + verb_ + " --help");
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

void say(const std::string& text, nlohmann::json values) {
  keep_as_remark(text, std::move(values));
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

void keep_as_remark(const std::string& text, nlohmann::json values) {
  if (outcome.is_null() || text.empty()) return;
  values["text"] = excerpt(text, std::string::npos);
  outcome["remarks"].push_back(std::move(values));
}

std::string shell_word(const std::string& text) {
  std::string word;
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  const bool plain = !text.empty() && text.find_first_of(" \t\n'\"\\$`*?[]#~!<>|&;(){}") == std::string::npos;
  return plain ? word : "'" + word + "'";
}

void say_written(const std::string& file, const std::string& what, const std::string& next) {
  if (file != "-") tell_people(file + ": " + what + " written" + (next.empty() ? "" : "; next: " + next));
  if (outcome.is_null()) return;
  outcome["written"].push_back({{"file", file}, {"what", what}});
  if (!next.empty()) outcome["next"] = next;
}

void put_outcome(const nlohmann::json& values) {
  if (!outcome.is_null()) outcome.update(values);
}

void print_outcome() {
  if (!outcome.is_null()) std::cout << outcome.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  std::cout.flush();
  if (!std::cout) throw FileError("standard output: cannot write to it");
}

void report(const datasets::Findings& findings) {
  if (findings.empty()) return;
  say_first(findings.first(), &datasets::Finding::message, findings.total());
  say(findings.summary());
}

void report(const datasets::KitResults& results) {
  say_first(results.findings, &datasets::KitFinding::message, results.findings.size());
  for (std::size_t i = shown_lines; i < results.findings.size(); ++i) keep_as_remark(results.findings[i].message);
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

void save_trained(const trainer::Archive& archive, const std::string& out) {
  trainer::save(archive, out);
  std::error_code ignored;
  std::filesystem::remove(out + ".partial", ignored);
}

}  // namespace tenshot::cli
