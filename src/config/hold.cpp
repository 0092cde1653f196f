#include "datum/config/hold.hpp"

#include <charconv>

#include "datum/base/rfc3339.hpp"
#include "datum/config/trust.hpp"
#include "datum/yaml/scalar.hpp"
#include "small_file.hpp"

namespace datum::config {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Held without end, since the file says nothing that can be relied on. What it gave as a reason is
// kept for people.
Hold unclear(std::string fault, std::string reason = {}) {
  return {true, std::nullopt, std::move(reason), false, std::nullopt, std::move(fault)};
}

// The value of `line` if it begins with `key`.
std::optional<std::string_view> find_value(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  return trim(line.substr(key.size()));
}

struct Lines {
  std::optional<std::string_view> until;
  std::optional<std::string_view> reason;
  std::optional<std::string_view> now;
  std::optional<std::string_view> by;
  std::string fault;
};

std::optional<std::uint32_t> find_uid(std::string_view text) {
  std::uint32_t uid = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), uid);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return uid;
}

void take_line(Lines& lines, std::string_view line, std::size_t number) {
  const auto say = [&](std::string_view fault) {
    if (lines.fault.empty())
      lines.fault = "line " + std::to_string(number) + " " + std::string(fault);
  };
  if (line.empty() || line.front() == '#') return;
  const auto until = find_value(line, "until:");
  const auto reason = find_value(line, "reason:");
  const auto now = find_value(line, "now:");
  const auto by = find_value(line, "by:");
  if (!until && !reason && !now && !by)
    return say("is neither until: nor reason: nor now: nor by:");
  auto& kept = until ? lines.until : reason ? lines.reason : now ? lines.now : lines.by;
  if (kept) return say("repeats a key");
  kept = until ? until : reason ? reason : now ? now : by;
  if (now && *now != "true") say("says something else than now: true");
  if (by && !find_uid(*by)) say("gives no user's number after by:");
}

Lines split_lines(std::string_view bytes) {
  Lines lines;
  for (std::size_t number = 1; !bytes.empty(); ++number) {
    const auto end = bytes.find('\n');
    take_line(lines, trim(bytes.substr(0, end)), number);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  return lines;
}

// Without what was left of a character that was cut.
std::string cut_reason(std::string_view reason) {
  auto cut = reason.substr(0, kMaxHoldReason);
  while (!cut.empty() && cut.size() < reason.size() &&
         (static_cast<unsigned char>(reason[cut.size()]) & 0xC0U) == 0x80U)
    cut.remove_suffix(1);
  return std::string(cut);
}

std::string by_line(std::uint32_t by) {
  return "by: " + std::to_string(by) + "\n";
}

std::string make_bytes(std::optional<WallNs> until, std::string_view reason, bool now,
                       std::optional<std::uint32_t> by) {
  std::string bytes;
  if (until) {
    // Rounded up, so that the hold never ends before its time.
    const auto rest = until->ns % kNsPerSecond;
    bytes +=
        "until: " + format_rfc3339({rest > 0 ? until->ns - rest + kNsPerSecond : until->ns}) + "\n";
  }
  if (!reason.empty()) bytes += "reason: " + std::string(reason) + "\n";
  if (now) bytes += "now: true\n";
  if (by) bytes += by_line(*by);
  return bytes;
}

constexpr std::string_view kNewHoldName = ".hold.new";
constexpr std::string_view kLifterName = ".hold.lifted";

Status write_new(os::Files& files, const os::Handle& directory, std::string_view bytes) {
  if (auto removed = files.remove_file(directory, kNewHoldName);
      !removed && removed.error().code() != ErrorCode::not_found)
    return removed;  // what a process that died left behind
  DATUM_ASSIGN(const auto file, files.create_file(directory, kNewHoldName));
  DATUM_TRY(files.set_mode(file, 0644));
  DATUM_TRY(files.write(file, as_bytes(bytes)));
  return files.sync(file);
}

// What a file of the folder says, and whether nobody but `trusted_uid` can have said it.
struct Said {
  Hold hold;
  bool is_trusted = false;
};
Said read_file(os::Files& files, const os::Handle& directory, std::string_view name,
               std::uint32_t trusted_uid) {
  const auto file = files.open_file_with_stat(directory, name, os::Access::read);
  if (!file) {
    if (file.error().code() == ErrorCode::not_found) return {};
    return {unclear("it cannot be opened: " + file.error().message())};
  }
  const auto bytes = read_small_file(files, file->handle, kMaxHoldBytes);
  if (!bytes) return {unclear("it cannot be read: " + bytes.error().message())};
  return {parse_hold(*bytes), check_trusted(file->stat, name, trusted_uid).has_value()};
}

}  // namespace

bool is_in_force(const Hold& hold, WallNs now) {
  return hold.present && (!hold.until || now < *hold.until);
}

std::string describe(const Hold& hold) {
  if (!hold.present) return "not held";
  std::string text = hold.reason.empty() ? "no reason given" : hold.reason;
  text += hold.until ? ", until " + format_rfc3339(*hold.until) : ", without end";
  if (!hold.fault.empty()) text += " (the hold file is not clear: " + hold.fault + ")";
  return text;
}

std::string reason_of(const Hold& hold) {
  if (hold.fault.empty()) return hold.reason;
  const auto given = hold.reason.empty() ? "no reason given" : hold.reason;
  return given + " (the hold file is not clear: " + hold.fault + ")";
}

Hold parse_hold(std::string_view bytes) {
  if (bytes.size() > kMaxHoldBytes)
    return unclear("larger than " + std::to_string(kMaxHoldBytes) + " bytes");
  const auto lines = split_lines(bytes);
  const auto reason = cut_reason(lines.reason.value_or(""));
  if (!lines.fault.empty()) return unclear(lines.fault, reason);
  const bool now = lines.now.has_value();
  const auto by = lines.by ? find_uid(*lines.by) : std::nullopt;
  if (!lines.until) return {true, std::nullopt, reason, now, by, ""};
  const auto until = find_rfc3339(*lines.until);
  if (!until) return unclear("until: is no time such as 2026-11-29T18:00:00Z", reason);
  return {true, until, reason, now, by, ""};
}

Hold read_hold(os::Files& files, const os::Handle& directory, std::uint32_t trusted_uid) {
  auto said = read_file(files, directory, kHoldName, trusted_uid);
  if (!said.is_trusted) said.hold.by.reset();
  return std::move(said.hold);
}

Status write_hold(os::Files& files, const os::Handle& directory, std::optional<WallNs> until,
                  std::string_view reason, bool now, std::optional<std::uint32_t> by) {
  if (reason.size() > kMaxHoldReason)
    return fail(ErrorCode::invalid_argument,
                "the reason is longer than " + std::to_string(kMaxHoldReason) + " bytes");
  if (const auto fault = yaml::find_single_line_fault(reason))
    return fail(ErrorCode::invalid_argument, "the reason " + *fault);
  const auto bytes = make_bytes(until, trim(reason), now, by);
  DATUM_TRY(write_new(files, directory, bytes));
  DATUM_TRY(files.rename(directory, kNewHoldName, directory, kHoldName, false));
  return files.sync(directory);
}

Status lift_hold(os::Files& files, const os::Handle& directory, std::optional<std::uint32_t> by) {
  if (const auto stat = files.stat_at(directory, kHoldName);
      by && stat && stat->type == os::FileType::regular) {
    // A full disk keeps nobody from lifting: then it is not said who did.
    auto left = write_new(files, directory, by_line(*by));
    if (left) left = files.rename(directory, kNewHoldName, directory, kLifterName, false);
  }
  DATUM_TRY(files.remove_file(directory, kHoldName));
  return files.sync(directory);
}

std::optional<std::uint32_t> take_lifter(os::Files& files, const os::Handle& directory,
                                         std::uint32_t trusted_uid) {
  const auto said = read_file(files, directory, kLifterName, trusted_uid);
  if (!said.hold.present) return std::nullopt;
  // On a disk that takes no writes it stays, and nothing else is known there.
  static_cast<void>(files.remove_file(directory, kLifterName).has_value());
  return said.is_trusted ? said.hold.by : std::nullopt;
}

}  // namespace datum::config
