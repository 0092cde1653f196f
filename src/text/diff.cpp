// Myers' greedy algorithm over interned lines, between the common beginning and end, with the
// furthest points of every step kept for the way back. Then hunks out of the marked lines.
#include "datum/text/diff.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"

namespace datum::text {
namespace {

constexpr std::size_t kContext = 3;

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

// One side: its lines with their newline, a number for each distinct line, and what changed.
struct Side {
  std::vector<std::string_view> lines;
  std::vector<std::uint32_t> numbers;
  std::vector<bool> changed;
};

Side make_side(std::string_view text, std::unordered_map<std::string_view, std::uint32_t>& known) {
  Side side;
  side.lines = split_lines(text);
  for (const auto line : side.lines) {
    const auto next = static_cast<std::uint32_t>(known.size());
    side.numbers.push_back(known.emplace(line, next).first->second);
  }
  side.changed.resize(side.lines.size());
  return side;
}

// The part of both sides between their common lines at the beginning and at the end.
struct Middle {
  std::size_t begin = 0;
  std::size_t before_end = 0;
  std::size_t after_end = 0;
};

Middle find_middle(const Side& before, const Side& after) {
  Middle middle{0, before.lines.size(), after.lines.size()};
  while (middle.begin < middle.before_end && middle.begin < middle.after_end &&
         before.numbers[middle.begin] == after.numbers[middle.begin])
    ++middle.begin;
  while (middle.before_end > middle.begin && middle.after_end > middle.begin &&
         before.numbers[middle.before_end - 1] == after.numbers[middle.after_end - 1]) {
    --middle.before_end;
    --middle.after_end;
  }
  return middle;
}

// Searches the shortest way from the upper left to the lower right of the edit graph of the middle.
// `x` counts lines of before, `y` of after, `k` is x - y.
class Search {
 public:
  Search(Side& before, Side& after, const Middle& middle)
      : before_(before),
        after_(after),
        begin_(middle.begin),
        rows_(static_cast<int>(middle.before_end - middle.begin)),
        columns_(static_cast<int>(middle.after_end - middle.begin)) {}

  // Marks the lines that change; false if there are more than `limit`, with nothing marked.
  bool run(int limit) {
    for (int step = 0; step <= std::min(limit, rows_ + columns_); ++step)
      if (take_step(step)) {
        mark(step);
        return true;
      }
    return false;
  }

 private:
  // Furthest x on each diagonal after a step: diagonals -step..step, of which every other is used.
  [[nodiscard]] int reach(int step, int k) const {
    return reached_[static_cast<std::size_t>(step)][static_cast<std::size_t>(k + step)];
  }

  // Whether diagonal k of `step` is best reached from k + 1, by a line of after.
  [[nodiscard]] bool comes_from_above(int step, int k) const {
    return k == -step || (k != step && reach(step - 1, k - 1) < reach(step - 1, k + 1));
  }

  bool take_step(int step) {
    reached_.emplace_back(static_cast<std::size_t>(2 * step + 1), -1);
    for (int k = -step; k <= step; k += 2) {
      int x = 0;
      if (step > 0)
        x = comes_from_above(step, k) ? reach(step - 1, k + 1) : reach(step - 1, k - 1) + 1;
      int y = x - k;
      while (x < rows_ && y < columns_ && number(before_, x) == number(after_, y)) ++x, ++y;
      reached_.back()[static_cast<std::size_t>(k + step)] = x;
      if (x >= rows_ && y >= columns_) return true;
    }
    return false;
  }

  [[nodiscard]] std::uint32_t number(const Side& side, int at) const {
    return side.numbers[begin_ + static_cast<std::size_t>(at)];
  }

  void mark(int steps) {
    int k = rows_ - columns_;
    for (int step = steps; step > 0; --step) {
      const bool from_above = comes_from_above(step, k);
      k += from_above ? 1 : -1;
      const int x = reach(step - 1, k);
      auto& side = from_above ? after_ : before_;
      side.changed[begin_ + static_cast<std::size_t>(from_above ? x - k : x)] = true;
    }
  }

  Side& before_;
  Side& after_;
  std::size_t begin_;
  int rows_;
  int columns_;
  std::vector<std::vector<int>> reached_;
};

// Half-open ranges of lines of both sides that stand for one another.
struct Range {
  std::size_t before_begin, before_end, after_begin, after_end;
};

std::vector<Range> find_changes(const Side& before, const Side& after) {
  std::vector<Range> changes;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.lines.size() || j < after.lines.size()) {
    const Range start{i, i, j, j};
    while (i < before.lines.size() && before.changed[i]) ++i;
    while (j < after.lines.size() && after.changed[j]) ++j;
    if (i > start.before_begin || j > start.after_begin) {
      changes.push_back({start.before_begin, i, start.after_begin, j});
    } else {
      ++i;
      ++j;
    }
  }
  return changes;
}

void append_lines(std::string& out, char mark, const Side& side, std::size_t begin,
                  std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    out += mark;
    out += side.lines[i];
    if (side.lines[i].back() != '\n') out += "\n\\ No newline at end of file\n";
  }
}

std::string describe_range(std::size_t begin, std::size_t end) {
  const auto count = end - begin;
  const auto first = count == 0 ? begin : begin + 1;  // an empty range stands after line `begin`
  return std::to_string(first) + (count == 1 ? "" : "," + std::to_string(count));
}

// One hunk out of changes [first, last), which lie close together.
std::string make_hunk(const Side& before, const Side& after, const std::vector<Range>& changes,
                      std::size_t first, std::size_t last) {
  const auto lead = std::min(kContext, changes[first].before_begin);
  const auto trail = std::min(kContext, before.lines.size() - changes[last - 1].before_end);
  const Range hunk{changes[first].before_begin - lead, changes[last - 1].before_end + trail,
                   changes[first].after_begin - lead, changes[last - 1].after_end + trail};
  std::string out = "@@ -" + describe_range(hunk.before_begin, hunk.before_end) + " +" +
                    describe_range(hunk.after_begin, hunk.after_end) + " @@\n";
  auto at = hunk.before_begin;
  for (auto i = first; i < last; ++i) {
    append_lines(out, ' ', before, at, changes[i].before_begin);
    append_lines(out, '-', before, changes[i].before_begin, changes[i].before_end);
    append_lines(out, '+', after, changes[i].after_begin, changes[i].after_end);
    at = changes[i].before_end;
  }
  append_lines(out, ' ', before, at, hunk.before_end);
  return out;
}

std::string make_unified(const Side& before, const Side& after, const DiffLabels& labels) {
  const auto changes = find_changes(before, after);
  std::string out = "--- " + escape(labels.before) + "\n+++ " + escape(labels.after) + "\n";
  for (std::size_t first = 0; first < changes.size();) {
    auto last = first + 1;
    while (last < changes.size() &&
           changes[last].before_begin - changes[last - 1].before_end <= 2 * kContext)
      ++last;
    out += make_hunk(before, after, changes, first, last);
    first = last;
  }
  return out;
}

std::string sizes(std::string_view before, std::string_view after) {
  return format_size(before.size()) + " become " + format_size(after.size()) + "\n";
}

std::size_t count_changed(const Side& side) {
  return static_cast<std::size_t>(std::count(side.changed.begin(), side.changed.end(), true));
}

}  // namespace

Diff diff(std::string_view before, std::string_view after, const DiffLabels& labels) {
  if (before == after) return {};
  const auto zero = std::string_view::npos;
  if (before.find('\0') != zero || after.find('\0') != zero)
    return {DiffKind::binary, "binary content: " + sizes(before, after), 0, 0};
  if (before.size() > kMaxDiffBytes || after.size() > kMaxDiffBytes)
    return {DiffKind::summary, "too large to compare line by line: " + sizes(before, after), 0, 0};

  std::unordered_map<std::string_view, std::uint32_t> known;
  auto old_side = make_side(before, known);
  auto new_side = make_side(after, known);
  const auto middle = find_middle(old_side, new_side);
  if (!Search(old_side, new_side, middle).run(static_cast<int>(kMaxDiffEdits))) {
    const auto removed = middle.before_end - middle.begin;
    const auto added = middle.after_end - middle.begin;
    return {DiffKind::summary,
            "too much differs to show: from line " + std::to_string(middle.begin + 1) + " on, " +
                format_count(removed, "line") + " become " + format_count(added, "line") + "\n",
            removed, added};
  }
  return {DiffKind::unified, make_unified(old_side, new_side, labels), count_changed(old_side),
          count_changed(new_side)};
}

}  // namespace datum::text
