#pragma once

#include <string>
#include <vector>

namespace tenshot::trainer::report {

/// Text as HTML text or attribute value.
std::string escaped(const std::string& text);

/// One table: a header, rows of the same length, and what it shows.
struct HtmlTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< text; `**bold**` is bold
};

/// A number between 0 and 1 in each cell, shown by its shade and in writing.
struct HeatMap {
  std::string caption;
  std::vector<std::string> names;           ///< of rows and columns
  std::vector<std::vector<double>> values;  ///< NaN: empty
};

/// One self-contained HTML page: no script, no file or address beside it. Light or dark as the reader's system is;
/// what is wider than the window scrolls by itself.
class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  void heading(const std::string& text);
  void paragraph(const std::string& text);
  void list(const std::vector<std::string>& entries);
  /// Pictures side by side where there is room, each with its caption. `svg` is an element (plot.h); `name` is its own
  /// in the page, fit for a file.
  struct Figure {
    std::string name;
    std::string svg;
    std::string caption;
  };
  void figures(const std::vector<Figure>& figures);
  void table(const HtmlTable& table);
  void heat_map(const HeatMap& map);

  std::string html() const;
  /// The page's pictures as files of their own: light or dark as the reader's system is.
  struct Picture {
    std::string name;
    std::string svg;
  };
  const std::vector<Picture>& pictures() const { return pictures_; }

 private:
  std::string title_;
  std::string body_;
  std::vector<Picture> pictures_;
};

}  // namespace tenshot::trainer::report
