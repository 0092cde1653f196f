#include "datum/text/table.hpp"

#include <algorithm>
#include <numeric>

#include "datum/base/assert.hpp"

namespace datum::text {
namespace {

constexpr std::size_t kGap = 2;
// Narrower than this a name tells nothing.
constexpr std::size_t kNarrowest = 8;

std::string pad(const Cell& cell, Align align, std::size_t columns, const Painter& painter) {
  const auto shown = fit(cell.text, columns);
  const std::string blank(columns - width(shown), ' ');
  const auto painted = painter.paint(cell.colour, shown);
  return align == Align::left ? painted + blank : blank + painted;
}

std::string render_line(const std::vector<Cell>& cells, const std::vector<Column>& columns,
                        const std::vector<std::size_t>& widths, const Painter& painter) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    line += pad(cells[i], columns[i].align, widths[i], painter);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  DATUM_ASSERT(!columns_.empty());
}

void Table::add_row(std::vector<Cell> cells) {
  DATUM_ASSERT(cells.size() == columns_.size());
  for (auto& cell : cells) cell.text = escape(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::column_widths(std::size_t max_width) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(width(columns_[i].title));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width(row[i].text));
  }
  if (max_width == 0) return widths;
  auto total = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  while (total > max_width) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kNarrowest) break;
    --*widest;
    --total;
  }
  return widths;
}

std::string Table::render(const Painter& painter, std::size_t max_width) const {
  const auto widths = column_widths(max_width);
  std::vector<Cell> titles;
  for (const auto& column : columns_) titles.emplace_back(column.title, Colour::bold);
  std::string out = render_line(titles, columns_, widths, painter);
  for (const auto& row : rows_) out += render_line(row, columns_, widths, painter);
  return out;
}

}  // namespace datum::text
