#include "trainer/report/page.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace tenshot::trainer::report {
namespace {

/// Series colours after Okabe and Ito (Color Universal Design, 2008), darker on white and lighter on black.
constexpr const char* colours =
    R"(:root { color-scheme: light dark; --paper: #f4f6f8; --card: #fff; --ink: #1c1e21; --grid: #dfe2e6; --band: #dce8f5;
  --guide: #80868b; --good: #00795a; --fair: #a86a00; --poor: #b3261e; --s0: #0b62a4; --s1: #c2500a; --s2: #00795a;
  --s3: #a3458a; --s4: #8a6d00; --s5: #3a87b8; --s6: #6b4fbb; --s7: #666; --heat: 11, 98, 164; --cue: #1c1e2166; }
@media (prefers-color-scheme: dark) { :root { --paper: #101318; --card: #191d23; --ink: #e8eaed; --grid: #363c44;
  --band: #22364e; --guide: #8b929a; --good: #3fcf9f; --fair: #f0b429; --poor: #ff8a80; --s0: #6cb4ee; --s1: #f08c4a;
  --s2: #3fcf9f; --s3: #e08bc9; --s4: #e6c229; --s5: #8fd0f5; --s6: #b49cff; --s7: #b0b0b0; --heat: 108, 180, 238; --cue: #e8eaed66; } })";

constexpr const char* layout = R"(
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 96rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: .4rem 0; } h2 { font-size: 1.15rem; margin: .7rem 0 .5rem; }
.verdict { font-size: 1.25rem; line-height: 1.3; margin: .8rem 0; padding: .6rem .9rem; background: var(--card);
  border-left: .4rem solid var(--grade); border-radius: .4rem; }
.verdict p { margin: 0; } .verdict .checked { font-size: 1rem; margin-top: .4rem; }
.good { --grade: var(--good); } .fair { --grade: var(--fair); } .poor { --grade: var(--poor); }
.warnings { margin: .8rem 0; padding: .5rem .9rem .5rem 2rem; border: 1px solid var(--fair); border-radius: .4rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 9.5rem), 1fr)); gap: .6rem 1.2rem;
  margin: .8rem 0; }
.facts div { border-top: 2px solid var(--grid); padding-top: .2rem; }
.facts dt { font-size: .85rem; opacity: .8; } .facts dd { margin: 0; }
.cards { columns: 25rem; column-gap: 1rem; margin-top: 1rem; }
.card { break-inside: avoid; background: var(--card); border: 1px solid var(--grid); border-radius: .6rem;
  padding: .2rem 1rem .9rem; margin: 0 0 1rem; }
.card.page { column-span: all; margin-top: 1rem; }
.card.halves { columns: 25rem; column-gap: 2rem; } .halves > h2 { column-span: all; }
.card p, .card ul { margin: .5rem 0; } .card ul { padding-left: 1.2rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem; }
figure { margin: 0; } figure svg { width: 100%; height: auto; display: block; }
.page figure.broad svg { min-width: 52rem; }
svg circle:hover { stroke: var(--ink); stroke-width: 2; }
figcaption, .caption { font-size: .9rem; opacity: .85; }
.card p.caption { margin: .8rem 0 .2rem; }
.entries { list-style: none; padding: 0; margin: 0; font-size: .9rem; font-variant-numeric: tabular-nums; }
.card ul.entries { padding: 0; }
.figures, .entries li { break-inside: avoid; }
.entries li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .3rem 0;
  border-bottom: 1px solid var(--grid); }
.entries .values { display: flex; gap: 0 1rem; margin-left: auto; } .entries .values :first-child { font-weight: 600; }
.scrolled { margin: .6rem 0; }
.scrolled, figure.broad { overflow-x: auto;
  background: linear-gradient(to right, var(--card) 50%, transparent) left / 2.5rem 100% no-repeat local,
    linear-gradient(to left, var(--card) 50%, transparent) right / 2.5rem 100% no-repeat local,
    linear-gradient(to right, var(--cue), transparent) left / 1rem calc(100% - 2px) no-repeat scroll,
    linear-gradient(to left, var(--cue), transparent) right / 1rem calc(100% - 2px) no-repeat scroll, var(--card); }
pre { margin: .2rem 0 .6rem; padding: .5rem .7rem; background: var(--paper); border-radius: .4rem; font-size: .85rem;
  white-space: pre-wrap; user-select: all; cursor: copy; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; width: 100%; }
th, td { padding: .25rem .35rem; border-bottom: 1px solid var(--grid); text-align: right; vertical-align: top;
  white-space: nowrap; }
th { font-weight: 600; } thead th { vertical-align: bottom; white-space: normal; overflow-wrap: normal; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
td:first-child { min-width: 6rem; }
details { margin: .6rem 0; } summary { cursor: pointer; }
.heat { width: auto; } .heat td { text-align: center; min-width: 0; }
.heat th:not(:first-child) { writing-mode: vertical-rl; text-align: left; white-space: nowrap; }
.heat tr > th:first-child { writing-mode: horizontal-tb; min-width: 8rem; }
)";

/// Escaped, with `**bold**` as an element.
std::string marked_up(const std::string& text) {
  std::string html;
  for (const char c : escaped(text)) {
    html += c;
    if (c == '|') html += "<wbr>";  // an architecture's string may break between its parts
  }
  for (const char* tag : {"<strong>", "</strong>"}) {
    const std::size_t at = html.find("**");
    if (at != std::string::npos) html.replace(at, 2, tag);
  }
  return html;
}

/// The beginning of a table that a narrow window scrolls.
std::string scrolled_table(const std::string& caption, const std::string& attributes) {
  return "<p class=\"caption\">" + escaped(caption) + "</p>\n<div class=\"scrolled\" tabindex=\"0\"><table" +
         attributes + " aria-label=\"" + escaped(caption) + "\">\n";
}

/// Names may hold ids of strangers' tables.
std::string file_name(std::string text) {
  for (char& c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  return text;
}

/// An element of the page as a file: with the page's colours inside.
std::string standalone(const std::string& svg) {
  const std::size_t open = svg.find('>');
  std::string file = svg.substr(0, open) + " style=\"background: var(--card)\">\n<style>" + colours + "</style>";
  return file + svg.substr(open + 1) + "\n";
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string html;
  for (const char c : text) {
    const std::size_t known = std::string("&<>\"'").find(c);
    constexpr const char* names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    html += known == std::string::npos ? std::string(1, c) : names[known];
  }
  return html;
}

void Page::verdict(Grade grade, const std::string& text, const std::string& checked) {
  const char* name = grade == Grade::good ? "good" : grade == Grade::fair ? "fair" : "poor";
  body_ += std::string("<div class=\"verdict ") + name + "\"><p>" + escaped(text) + "</p>";
  body_ += (checked.empty() ? "" : "<p class=\"checked\">" + escaped(checked) + "</p>") + "</div>\n";
}

void Page::warnings(const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  body_ += "<ul class=\"warnings\">\n";
  for (const std::string& text : texts) body_ += "<li>" + marked_up(text) + "</li>\n";
  body_ += "</ul>\n";
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  body_ += "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts) {
    body_ += "<div><dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd></div>\n";
  }
  body_ += "</dl>\n";
}

void Page::heading(const std::string& text, Width width) {
  body_ += has_cards_ ? "</section>\n" : "<div class=\"cards\">\n";
  body_ += width == Width::column ? "<section class=\"card\">"
           : width == Width::page ? "<section class=\"card page\">"
                                  : "<section class=\"card page halves\">";
  body_ += "<h2>" + escaped(text) + "</h2>\n";
  has_cards_ = true;
}

void Page::paragraph(const std::string& text) { body_ += "<p>" + escaped(text) + "</p>\n"; }

void Page::list(const std::vector<std::string>& entries) {
  body_ += "<ul>\n";
  for (const std::string& entry : entries) body_ += "<li>" + marked_up(entry) + "</li>\n";
  body_ += "</ul>\n";
}

void Page::figures(const std::vector<Figure>& figures) {
  body_ += "<div class=\"figures\">\n";
  for (const Figure& figure : figures) {
    pictures_.push_back({file_name(figure.name), standalone(figure.svg)});
    body_ += figure.broad ? "<figure class=\"broad\" tabindex=\"0\">" : "<figure>";
    body_ += figure.svg + "<figcaption>" + escaped(figure.caption) + "</figcaption></figure>\n";
  }
  body_ += "</div>\n";
}

void Page::table(const HtmlTable& table) {
  body_ += scrolled_table(table.caption, "") + "<thead><tr>";
  for (const std::string& name : table.header) body_ += "<th scope=\"col\">" + escaped(name) + "</th>";
  body_ += "</tr></thead>\n<tbody>";
  for (const auto& row : table.rows) {
    body_ += "<tr>";
    for (const std::string& value : row) body_ += "<td>" + marked_up(value) + "</td>";
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::entries(const std::string& caption, const std::vector<Entry>& entries) {
  body_ += "<p class=\"caption\">" + escaped(caption) + "</p>\n<ul class=\"entries\">\n";
  for (const Entry& entry : entries) {
    body_ += "<li><span>" + marked_up(entry.name) + "</span><span class=\"values\">";
    for (const std::string& value : entry.values) body_ += "<span>" + escaped(value) + "</span> ";
    body_ += "</span></li>\n";
  }
  body_ += "</ul>\n";
}

void Page::folded(const std::string& summary, const std::vector<HtmlTable>& tables) {
  body_ += "<details><summary>" + escaped(summary) + "</summary>\n";
  for (const HtmlTable& each : tables) table(each);
  body_ += "</details>\n";
}

void Page::heat_map(const HeatMap& map) {
  double lowest = 1;
  for (const auto& row : map.values) {
    for (const double value : row) {
      if (std::isfinite(value)) lowest = std::min(lowest, value);
    }
  }
  body_ += scrolled_table(map.caption, " class=\"heat\"") + "<tr><th></th>";
  for (const std::string& name : map.names) body_ += "<th scope=\"col\">" + escaped(name) + "</th>";
  body_ += "</tr>\n";
  for (std::size_t r = 0; r < map.values.size(); ++r) {
    body_ += "<tr><th scope=\"row\">" + escaped(map.names[r]) + "</th>";
    for (const double value : map.values[r]) {
      char cell[96] = "<td></td>";
      if (std::isfinite(value)) {
        const double shade = lowest < 1 ? 0.6 * (value - lowest) / (1 - lowest) : 0.6;
        std::snprintf(cell, sizeof cell, "<td style=\"background: rgba(var(--heat), %.2f)\">%.2f</td>", shade, value);
      }
      body_ += cell;
    }
    body_ += "</tr>\n";
  }
  body_ += "</table></div>\n";
}

void Page::commands(const std::vector<std::pair<std::string, std::string>>& commands) {
  for (const auto& [purpose, command] : commands) {
    body_ += "<p class=\"caption\">" + escaped(purpose) + "</p>\n<pre>" + escaped(command) + "</pre>\n";
  }
}

std::string Page::html() const {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
         "href=\"data:,\">\n"
         "<title>" +
         escaped(title_) + "</title>\n<style>" + colours + layout + "</style>\n</head>\n<body>\n<main>\n<h1>" +
         escaped(title_) + "</h1>\n" + body_ + (has_cards_ ? "</section>\n</div>\n" : "") +
         "</main>\n</body>\n</html>\n";
}

}  // namespace tenshot::trainer::report
