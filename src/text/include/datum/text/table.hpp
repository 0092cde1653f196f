// Aligned columns for people. Cells are untrusted and are escaped here; widths are code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datum/text/terminal.hpp"

namespace datum::text {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

struct Cell {
  Cell(std::string cell_text, Colour cell_colour = Colour::none)  // NOLINT: implicit by design
      : text(std::move(cell_text)), colour(cell_colour) {}
  Cell(std::string_view cell_text) : text(cell_text) {}  // NOLINT: implicit by design
  Cell(const char* cell_text) : text(cell_text) {}       // NOLINT: implicit by design

  std::string text;
  Colour colour = Colour::none;
};

// Collects rows, then renders them all: a column is as wide as its widest cell.
class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // Exactly one cell a column.
  void add_row(std::vector<Cell> cells);
  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }

  // One line a row under a line of titles, columns two spaces apart, nothing after the last
  // character of a line. With `max_width` (0: unlimited) a line that would be longer has its widest
  // columns narrowed, none below eight; what is cut ends in an ellipsis.
  [[nodiscard]] std::string render(const Painter& painter, std::size_t max_width = 0) const;

 private:
  [[nodiscard]] std::vector<std::size_t> column_widths(std::size_t max_width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  // escaped
};

}  // namespace datum::text
