#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenshot::trainer::report {

/// The content of colours.css or layout.css.
const std::string& page_style(const std::string& name);

/// Text as HTML text or attribute value.
std::string escaped(const std::string& text);
/// "12.3 %" of a share.
std::string percent(double share);
/// `value` with three significant digits, from a thousand on with all before the point.
std::string significant(double value);

/// One table: a header, rows of the same length, and what it shows.
struct HtmlTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< text; `**bold**` is bold
};

/// How far a result is to be trusted, which the page shows as a colour beside the words.
enum class Grade { good, fair, poor };

/// One self-contained HTML page: no script, no file or address beside it. Light or dark as the reader's system is. A
/// heading begins a card; cards stand in as many columns as the window has room for. What is wider than its card
/// scrolls inside it, with a shadow on the side where there is more.
class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  /// One line in large letters, and in small ones what it was checked on, where it was.
  void verdict(Grade grade, const std::string& text, const std::string& checked = {});
  /// What to beware of; nothing where there is nothing.
  void warnings(const std::vector<std::string>& texts);
  /// Names and values, in a few columns.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  /// A card is as wide as a column, or as the page; `halves`: what is in it stands side by side where there is room.
  enum class Width { column, page, halves };
  void heading(const std::string& text, Width width = Width::column);
  void paragraph(const std::string& text);
  void list(const std::vector<std::string>& entries);
  /// Pictures side by side where there is room, with captions: `svg` elements (plot.h), `name` unique in the page.
  struct Figure {
    std::string name;
    std::string svg;
    std::string caption;
    bool broad = false;  ///< so wide that a narrow window scrolls it rather than shrink it to nothing
  };
  void figures(const std::vector<Figure>& figures);
  /// A card of one picture.
  void figure(const std::string& title, const Figure& only) {
    heading(title);
    figures({only});
  }
  void table(const HtmlTable& table);
  /// Networks, whose names may be long, each followed by a few values.
  void entries(const std::string& caption, const std::vector<std::vector<std::string>>& rows);
  /// Tables that a reader opens.
  void folded(const std::string& summary, const std::vector<HtmlTable>& tables);
  /// A number between 0 and 1 for each pair of `names`, shown by its shade and in writing; NaN: an empty cell.
  void heat_map(const std::string& caption, const std::vector<std::string>& names,
                const std::vector<std::vector<double>>& values);
  /// What to run, with what each is for. A click selects a whole command.
  void commands(const std::vector<std::pair<std::string, std::string>>& commands);

  std::string html() const;
  /// The page's pictures, each `svg` a file of its own: light or dark as the reader's system is.
  const std::vector<Figure>& pictures() const { return pictures_; }

 private:
  std::string title_;
  std::string body_;
  bool has_cards_ = false;
  std::vector<Figure> pictures_;
};

}  // namespace tenshot::trainer::report
