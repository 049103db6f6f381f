#include "trainer/report/page.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "nasbench/support/number_text.h"

namespace tenshot::trainer::report {
namespace {

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

std::string list_of(const std::vector<std::string>& entries, const std::string& attributes) {
  std::string html = "<ul" + attributes + ">\n";
  for (const std::string& entry : entries) html += "<li>" + marked_up(entry) + "</li>\n";
  return html + "</ul>\n";
}

std::string captioned(const std::string& caption) { return "<p class=\"caption\">" + escaped(caption) + "</p>\n"; }

/// The beginning of a table that a narrow window scrolls.
std::string scrolled_table(const std::string& caption, const std::string& attributes) {
  return captioned(caption) + "<div class=\"scrolled\" tabindex=\"0\"><table" + attributes + " aria-label=\"" +
         escaped(caption) + "\">\n";
}

std::string file_name(std::string text) {
  const auto odd = [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; };
  std::replace_if(text.begin(), text.end(), odd, '_');
  return text;
}

std::string standalone(const std::string& svg) {
  const std::size_t open = svg.find('>');
  return svg.substr(0, open) + " style=\"background: var(--card)\">\n<style>" + page_style("colours") + "</style>" +
         svg.substr(open + 1) + "\n";
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

std::string percent(double share) { return decimals(100 * share, 1) + " %"; }

std::string significant(double value) {
  constexpr double in_full_from = 1e3, in_full_to = 1e7;
  if (std::abs(value) >= in_full_from && std::abs(value) < in_full_to) return decimals(value, 0);
  return significant_digits(value, 3);
}

void Page::verdict(Grade grade, const std::string& text, const std::string& checked) {
  const std::string name = grade == Grade::good ? "good" : grade == Grade::fair ? "fair" : "poor";
  body_ += "<div class=\"verdict " + name + "\"><p>" + escaped(text) + "</p>";
  body_ += (checked.empty() ? "" : "<p class=\"checked\">" + escaped(checked) + "</p>") + "</div>\n";
}

void Page::warnings(const std::vector<std::string>& texts) {
  if (!texts.empty()) body_ += list_of(texts, " class=\"warnings\"");
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
  const char* wide = width == Width::column ? "" : width == Width::page ? " page" : " page halves";
  body_ += std::string("<section class=\"card") + wide + "\"><h2>" + escaped(text) + "</h2>\n";
  has_cards_ = true;
}

void Page::paragraph(const std::string& text) { body_ += "<p>" + escaped(text) + "</p>\n"; }

void Page::list(const std::vector<std::string>& entries) { body_ += list_of(entries, ""); }

void Page::figures(const std::vector<Figure>& figures) {
  body_ += "<div class=\"figures\">\n";
  for (const Figure& figure : figures) {
    pictures_.push_back({file_name(figure.name), standalone(figure.svg), figure.caption});
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

void Page::entries(const std::string& caption, const std::vector<std::vector<std::string>>& rows) {
  body_ += captioned(caption) + "<ul class=\"entries\">\n";
  for (const auto& row : rows) {
    body_ += "<li><span>" + marked_up(row.front()) + "</span><span class=\"values\">";
    for (std::size_t i = 1; i < row.size(); ++i) body_ += "<span>" + escaped(row[i]) + "</span> ";
    body_ += "</span></li>\n";
  }
  body_ += "</ul>\n";
}

void Page::folded(const std::string& summary, const std::vector<HtmlTable>& tables) {
  body_ += "<details><summary>" + escaped(summary) + "</summary>\n";
  for (const HtmlTable& each : tables) table(each);
  body_ += "</details>\n";
}

void Page::heat_map(const std::string& caption, const std::vector<std::string>& names,
                    const std::vector<std::vector<double>>& values) {
  double lowest = 1;
  for (const auto& row : values) {
    for (const double value : row) lowest = std::fmin(lowest, value);
  }
  body_ += scrolled_table(caption, " class=\"heat\"") + "<tr><th></th>";
  for (const std::string& name : names) body_ += "<th scope=\"col\">" + escaped(name) + "</th>";
  body_ += "</tr>\n";
  for (std::size_t r = 0; r < values.size(); ++r) {
    body_ += "<tr><th scope=\"row\">" + escaped(names[r]) + "</th>";
    for (const double value : values[r]) {
      const double shade = lowest < 1 ? 0.6 * (value - lowest) / (1 - lowest) : 0.6;
      body_ += std::isnan(value) ? "<td></td>"
                                 : "<td style=\"background: rgba(var(--heat), " + decimals(shade, 2) + ")\">" +
                                       decimals(value, 2) + "</td>";
    }
    body_ += "</tr>\n";
  }
  body_ += "</table></div>\n";
}

void Page::commands(const std::vector<std::pair<std::string, std::string>>& commands) {
  for (const auto& [purpose, command] : commands) body_ += captioned(purpose) + "<pre>" + escaped(command) + "</pre>\n";
}

std::string Page::html() const {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>" +
         escaped(title_) + "</title>\n<style>" + page_style("colours") + page_style("layout") +
         "</style>\n</head>\n<body>\n<main>\n<h1>" + escaped(title_) + "</h1>\n" + body_ +
         (has_cards_ ? "</section>\n</div>\n" : "") + "</main>\n</body>\n</html>\n";
}

}  // namespace tenshot::trainer::report
