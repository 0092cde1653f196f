#include "datum/selftest/crash_points.hpp"

#include <charconv>
#include <utility>

namespace datum::selftest {
namespace {

// A folder is never exchanged for another type here ("aside"): no type replaces one.
constexpr std::string_view kWaveSteps[] = {"stage",   "staged",      "sync",          "rename",
                                           "renamed", "sync-folder", "folder-synced", "observe"};
constexpr std::string_view kJournalSteps[] = {
    "naming the data", "sync of the name", "removing the mark", "sync of the removal",
    "append",          "sync of the mark", "renaming the mark", "sync of the mark's name"};
constexpr std::string_view kStoreSteps[] = {"sync of a file", "sync of a folder",
                                            "sync of the file system", "rename"};
constexpr std::string_view kTreeSteps[] = {"sync of a file", "sync of a folder",
                                           "sync of the file system", "rename", "removal"};
constexpr std::string_view kRecoverySteps[] = {"sync of a file", "sync of a folder",
                                               "sync of the file system", "removal"};

constexpr std::string_view kUnitSteps[] = {"delivery"};

template <std::size_t N>
void add(std::vector<std::string>& points, std::string_view who,
         const std::string_view (&steps)[N]) {
  for (const auto step : steps)
    for (const std::string_view when : {": before ", ": after "})
      points.push_back(std::string(who).append(when).append(step));
}

// The rest of `line` behind `label`, as a number.
bool take(std::string_view line, std::string_view label, std::uint64_t& number) {
  if (!line.starts_with(label)) return false;
  line.remove_prefix(label.size());
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
  return parsed.ec == std::errc{} && parsed.ptr == line.data() + line.size();
}

bool read_line(std::string_view line, CutOrder& order) {
  constexpr std::string_view kPoint = "point ";
  std::uint64_t fails = 0;
  if (line.starts_with(kPoint)) {
    order.point = line.substr(kPoint.size());
    return true;
  }
  if (take(line, "fails ", fails)) {
    order.fails = fails == 1;
    return fails <= 1;
  }
  return take(line, "hit ", order.hit) || take(line, "file_limit ", order.file_limit);
}

}  // namespace

std::vector<std::string> all_points() {
  std::vector<std::string> points;
  add(points, "journal", kJournalSteps);
  add(points, "store", kStoreSteps);
  for (const auto step : kWaveSteps) points.push_back("wave: " + std::string(step));
  add(points, "unit", kUnitSteps);
  add(points, "tree", kTreeSteps);
  add(points, "recovery", kRecoverySteps);
  return points;
}

std::string to_text(const CutOrder& order) {
  return "point " + order.point + "\nhit " + std::to_string(order.hit) + "\nfails " +
         (order.fails ? "1" : "0") + "\nfile_limit " + std::to_string(order.file_limit) + "\n";
}

Result<CutOrder> parse_order(std::string_view text) {
  CutOrder order;
  for (int lines = 0; lines < 4; ++lines) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos || !read_line(text.substr(0, end), order))
      return fail(ErrorCode::invalid_argument, "no order of the self-test");
    text.remove_prefix(end + 1);
  }
  if (!text.empty()) return fail(ErrorCode::invalid_argument, "more than an order");
  return order;
}

CrashPoints::CrashPoints(CutOrder order, End end)
    : order_(std::move(order)), end_(std::move(end)) {}

// Whether it is the ordered one. The mutex is held.
bool CrashPoints::count(std::string_view point) {
  auto at = hits_.find(point);
  if (at == hits_.end()) at = hits_.emplace(point, 0).first;
  ++at->second;
  ++all_;
  if (order_.hit == 0) return false;
  return order_.point.empty() ? all_ == order_.hit
                              : order_.point == point && at->second == order_.hit;
}

void CrashPoints::reach(std::string_view point) {
  const std::lock_guard lock(mutex_);
  if (count(point) && !order_.fails) end_(point, order_.hit);
}

bool CrashPoints::reach_and_fails(std::string_view point) {
  const std::lock_guard lock(mutex_);
  if (!count(point)) return false;
  if (!order_.fails) end_(point, order_.hit);
  return order_.fails;
}

std::map<std::string, std::uint64_t> CrashPoints::hits() const {
  const std::lock_guard lock(mutex_);
  return {hits_.begin(), hits_.end()};
}

}  // namespace datum::selftest
