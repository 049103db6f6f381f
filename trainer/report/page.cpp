#include "trainer/report/page.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace tenshot::trainer::report {
namespace {

/// Series colours after Okabe and Ito (Color Universal Design, 2008), darker on white and lighter on black.
constexpr const char* colours =
    R"(:root { color-scheme: light dark; --paper: #fff; --p1: #1c1e21; --p2: #d5d8dc; --p3: #e6eef8; --p4: var(--paper); --p5: #80868b;
  --p10: #0b62a4; --p11: #c2500a; --p12: #00795a; --p13: #a3458a; --p14: #8a6d00; --p15: #3a87b8; --p16: #6b4fbb;
  --p17: #666; --heat: 11, 98, 164; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --p1: #e8eaed; --p2: #3b4148; --p3: #1f3147; --p5: #8b929a;
  --p10: #6cb4ee; --p11: #f08c4a; --p12: #3fcf9f; --p13: #e08bc9; --p14: #e6c229; --p15: #8fd0f5; --p16: #b49cff;
  --p17: #b0b0b0; --heat: 108, 180, 238; } })";

constexpr const char* layout = R"(
body { margin: 0 auto; padding: 1rem; max-width: 70rem; background: var(--paper); color: var(--p1);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem; }
figure { margin: 0; max-width: 40rem; } figure svg { width: 100%; height: auto; display: block; }
figcaption, caption { font-size: .9rem; text-align: left; opacity: .85; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--p2); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); }
.heat td { text-align: center; } .heat th:not(:first-child) { writing-mode: vertical-rl; text-align: left; }
.heat tr > th:first-child { writing-mode: horizontal-tb; }
)";

/// Escaped, with `**bold**` as an element.
std::string marked_up(const std::string& text) {
  std::string html = escaped(text);
  for (const char* tag : {"<strong>", "</strong>"}) {
    const std::size_t at = html.find("**");
    if (at != std::string::npos) html.replace(at, 2, tag);
  }
  return html;
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
  std::string file = svg.substr(0, open) + " style=\"background: var(--paper)\">\n<style>" + colours + "</style>";
  return file + svg.substr(open + 1) + "\n";
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

void Page::heading(const std::string& text) { body_ += "<h2>" + escaped(text) + "</h2>\n"; }

void Page::paragraph(const std::string& text) { body_ += "<p>" + escaped(text) + "</p>\n"; }

void Page::list(const std::vector<std::string>& entries) {
  body_ += "<ul>\n";
  for (const std::string& entry : entries) body_ += "<li>" + escaped(entry) + "</li>\n";
  body_ += "</ul>\n";
}

void Page::figures(const std::vector<Figure>& figures) {
  body_ += "<div class=\"figures\">\n";
  for (const Figure& figure : figures) {
    pictures_.push_back({file_name(figure.name), standalone(figure.svg)});
    body_ += "<figure>" + figure.svg + "<figcaption>" + escaped(figure.caption) + "</figcaption></figure>\n";
  }
  body_ += "</div>\n";
}

void Page::table(const HtmlTable& table) {
  body_ += "<div class=\"wide\" tabindex=\"0\"><table><caption>" + escaped(table.caption) + "</caption>\n<tr>";
  for (const std::string& name : table.header) body_ += "<th scope=\"col\">" + escaped(name) + "</th>";
  body_ += "</tr>\n";
  for (const auto& row : table.rows) {
    body_ += "<tr>";
    for (const std::string& value : row) body_ += "<td>" + marked_up(value) + "</td>";
    body_ += "</tr>\n";
  }
  body_ += "</table></div>\n";
}

void Page::heat_map(const HeatMap& map) {
  double lowest = 1;
  for (const auto& row : map.values) {
    for (const double value : row) {
      if (std::isfinite(value)) lowest = std::min(lowest, value);
    }
  }
  body_ += "<div class=\"wide\" tabindex=\"0\"><table class=\"heat\"><caption>" + escaped(map.caption) +
           "</caption>\n<tr><th></th>";
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

std::string Page::html() const {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
         "href=\"data:,\">\n"
         "<title>" +
         escaped(title_) + "</title>\n<style>" + colours + layout + "</style>\n</head>\n<body>\n<main>\n<h1>" +
         escaped(title_) + "</h1>\n" + body_ + "</main>\n</body>\n</html>\n";
}

}  // namespace tenshot::trainer::report
