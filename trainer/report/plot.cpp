#include "trainer/report/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "descriptor/machine/child_process.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/temporary_folder.h"
#include "nasbench/support/text.h"
#include "trainer/report/page.h"

namespace tenshot::trainer::report {
namespace {

// gnuplot draws in the colours rgb(1, 1, n); in the page, n names the variable --p<n>.
constexpr int ink = 1, grid = 2, band = 3, paper = 4, guide = 5, first_series = 10, series_colours = 8;

std::string colour(int n) {
  constexpr const char* digits = "0123456789abcdef";
  return std::string("linecolor rgb \"#0101") + digits[n / 16] + digits[n % 16] + "\"";
}
std::string series_colour(std::size_t index) {
  return colour(first_series + static_cast<int>(index % static_cast<std::size_t>(series_colours)));
}
std::string text_colour() { return "text" + colour(ink).substr(4); }

/// Text between gnuplot's double quotes.
std::string quoted(const std::string& text) {
  std::string safe = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '`' || c == '$') continue;
    safe += c == '\n' ? ' ' : c;
  }
  return safe + "\"";
}

std::string preamble(const Axes& axes, const std::string& size = "560,420") {
  std::string script = "set terminal svg size " + size +
                       " dynamic noenhanced font \"sans-serif,15\"\n"
                       "set output \"plot.svg\"\nset border 3 " +
                       colour(ink) + "\nset tics nomirror " + text_colour() + "\nset grid " + colour(grid) +
                       " linetype 1\nset key " + axes.key + " " + text_colour() +
                       " reverse Left samplen 2\nset xlabel " + quoted(axes.x) + " " + text_colour() + "\nset ylabel " +
                       quoted(axes.y) + " " + text_colour() + "\n";
  if (axes.logarithmic_x) script += "set logscale x\n";
  if (!axes.y_range.empty()) script += "set yrange " + axes.y_range + "\n";
  return script;
}

/// Whether gnuplot can place a value: a finite one, whose axis can be divided too.
bool can_be_drawn(double value) {
  constexpr double largest = 1e30;
  return std::abs(value) <= largest;  // not, where it is NaN
}

/// The points of a series that can be drawn, on an axis that may be logarithmic.
Series drawable(const Series& series, const Axes& axes = {}) {
  Series result{series.name, {}, {}, {}};
  for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    const bool beyond = axes.logarithmic_x && !(series.x[i] > 0);
    if (beyond || !can_be_drawn(series.x[i]) || !can_be_drawn(series.y[i])) continue;
    result.x.push_back(series.x[i]);
    result.y.push_back(series.y[i]);
    if (i >= series.spread.size()) continue;
    result.spread.push_back(can_be_drawn(series.spread[i]) ? series.spread[i] : 0);
  }
  return result;
}

std::vector<Series> drawable(const std::vector<Series>& all, const Axes& axes = {}) {
  std::vector<Series> result;
  for (const Series& series : all) {
    Series points = drawable(series, axes);
    if (!points.x.empty()) result.push_back(std::move(points));
  }
  return result;
}

/// What is drawn where there is no point: gnuplot refuses axes without a range.
std::string empty_plot() { return "set xrange [0.5:1.5]\nset yrange [0:1]\nplot 2 notitle\n"; }

std::string data_block(std::size_t index, const Series& series) {
  std::string text = "$d" + std::to_string(index) + " << END\n";
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    text += shortest(series.x[i]) + " " + shortest(series.y[i]);
    text += " " + shortest(series.spread.empty() ? 0.0 : series.spread[i]) + "\n";
  }
  return text + "END\n";
}

std::string run_gnuplot(const std::string& script) {
  const std::filesystem::path program = descriptor::find_program("gnuplot");
  if (program.empty()) throw FileError("gnuplot is not installed, which draws the report; install gnuplot-nox");
  const TemporaryFolder folder;
  const std::filesystem::path script_file = folder.path() / "plot.gp", picture = folder.path() / "plot.svg";
  write_file_atomically(script_file, "cd '" + folder.path().string() + "'\n" + script);
  descriptor::ChildProcess child;
  child.command = {program.string(), script_file.string()};
  child.output = folder.path() / "log";
  child.time_limit_s = 60;
  descriptor::run_child(child);
  return read_file(picture);
}

/// Pictures of a page differ in the ids that they define.
std::string next_prefix() {
  static int count = 0;
  return "p" + std::to_string(++count) + "-";
}

std::string drawn(const std::string& script, const std::string& alternative_text) {
  return inlined(run_gnuplot(script), next_prefix(), alternative_text);
}

std::string plot_command(const std::vector<std::string>& plots) { return "plot " + joined(plots) + "\n"; }

/// Removes every `<tag…>…</tag>`.
void remove_elements(std::string& text, const std::string& tag) {
  const std::string close = "</" + tag + ">";
  for (std::size_t at = text.find("<" + tag); at != std::string::npos; at = text.find("<" + tag, at)) {
    const std::size_t end = text.find(close, at);
    if (end == std::string::npos) return;
    text.erase(at, end + close.size() - at);
  }
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// "rgb(  1,   1,  10)" → "var(--p10)"; other colours stay.
void use_page_colours(std::string& text) {
  const std::string open = "rgb(";
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
    const std::size_t close = text.find(')', at);
    if (close == std::string::npos) return;
    std::string inside = text.substr(at + open.size(), close - at - open.size());
    inside.erase(std::remove(inside.begin(), inside.end(), ' '), inside.end());
    if (inside.compare(0, 4, "1,1,") != 0) continue;
    text.replace(at, close + 1 - at, "var(--p" + inside.substr(4) + ")");
  }
}

}  // namespace

std::string inlined(const std::string& svg, const std::string& prefix, const std::string& alternative_text) {
  const std::size_t start = svg.find("<svg");
  if (start == std::string::npos) throw FormatError("gnuplot wrote no picture");
  std::string text = svg.substr(start);
  remove_elements(text, "title");
  remove_elements(text, "desc");
  remove_elements(text, "filter");
  use_page_colours(text);
  for (const char* quote : {"'", "\""}) {
    replace_all(text, std::string("id=") + quote, std::string("\x01id=") + quote + prefix);
    replace_all(text, std::string("href=") + quote + "#", std::string("\x01href=") + quote + "#" + prefix);
  }
  replace_all(text, "url(#", "url(#" + prefix);
  replace_all(text, "\x01", "");
  text.insert(4, " role=\"img\" aria-label=\"" + escaped(alternative_text) + "\"");
  return text;
}

std::string scatter_plot(const std::vector<Series>& all, const std::string& alternative_text,
                         datasets::Quantity quantity) {
  const std::vector<Series> series = drawable(all);
  double low = HUGE_VAL, high = 0;
  for (const Series& s : series) {
    for (const auto* values : {&s.x, &s.y}) {
      for (const double value : *values) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
  }
  const std::string what = std::string(title(quantity)) + ", " + std::string(unit(quantity));
  std::string script = preamble({"measured " + what, "predicted " + what}, "460,440");
  if (series.empty()) return drawn(script + empty_plot(), alternative_text);
  const std::string range = "[" + shortest(0.9 * low) + ":" + shortest(1.05 * high) + "]";
  script += "set size ratio 1\nset xrange " + range + "\nset yrange " + range + "\n";
  std::vector<std::string> plots = {"1.1*x with filledcurves y1=0 " + colour(band) + " title \"within 10 %\"",
                                    "0.9*x with filledcurves y1=0 " + colour(paper) + " notitle",
                                    "x with lines " + colour(guide) + " notitle"};
  for (std::size_t i = 0; i < series.size(); ++i) {
    script += data_block(i, series[i]);
    const bool few = series[i].x.size() <= 30;
    plots.push_back("$d" + std::to_string(i) + " using 1:2 with points pointtype " + (few ? "6" : "7") + " pointsize " +
                    (few ? "0.9 linewidth 2 " : "0.25 ") + series_colour(i) + " title " + quoted(series[i].name));
  }
  return drawn(script + plot_command(plots), alternative_text);
}

std::string line_plot(const std::vector<Series>& all, const Axes& axes, const std::string& alternative_text,
                      bool diagonal) {
  const std::vector<Series> series = drawable(all, axes);
  std::string script = preamble(axes);
  if (series.empty()) return drawn(script + empty_plot(), alternative_text);
  std::vector<std::string> plots;
  if (diagonal) plots.push_back("x with lines " + colour(guide) + " dashtype 2 notitle");
  for (std::size_t i = 0; i < series.size(); ++i) {
    script += data_block(i, series[i]);
    const std::string data = "$d" + std::to_string(i);
    const bool marked = series[i].x.size() <= 12;
    plots.push_back(data + " using 1:2 with " + (marked ? "linespoints pointtype 7 pointsize 0.5" : "lines") +
                    " linewidth 2 " + series_colour(i) + " title " + quoted(series[i].name));
    if (!series[i].spread.empty()) {
      plots.push_back(data + " using 1:2:3 with yerrorbars pointtype 7 pointsize 0.3 " + series_colour(i) + " notitle");
    }
  }
  return drawn(script + plot_command(plots), alternative_text);
}

std::string bar_plot(const std::vector<std::string>& labels, const Series& bars, const Axes& axes,
                     const std::string& alternative_text) {
  const Series drawn_bars = drawable(bars);
  if (drawn_bars.x.empty()) return drawn(preamble(axes) + empty_plot(), alternative_text);
  std::string script =
      preamble(axes) + "unset key\nset style fill solid 0.8\nset boxwidth 0.6\nset xtics rotate by 30 right (";
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < labels.size(); ++i) tics.push_back(quoted(labels[i]) + " " + std::to_string(i));
  script += joined(tics) + ")\nset xrange [-0.6:" + shortest(static_cast<double>(labels.size()) - 0.4) + "]\n" +
            data_block(0, drawn_bars);
  std::vector<std::string> plots = {"$d0 using 1:2 with boxes " + series_colour(0)};
  if (!drawn_bars.spread.empty())
    plots.push_back("$d0 using 1:2:3 with yerrorbars pointtype 0 linewidth 1.5 " + colour(ink));
  return drawn(script + plot_command(plots), alternative_text);
}

}  // namespace tenshot::trainer::report
