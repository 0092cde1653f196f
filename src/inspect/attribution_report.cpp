// A drift's window as text and as JSON.
#include <cstdio>

#include "datum/inspect/attribution.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"
#include "words.hpp"

namespace datum::inspect {

std::string_view to_string(LogSource source) {
  switch (source) {
    case LogSource::dpkg:
      return "dpkg";
    case LogSource::apt:
      return "apt";
    case LogSource::boot:
      return "boot";
    case LogSource::shutdown:
      return "shutdown";
    case LogSource::login:
      return "login";
  }
  return "?";
}

namespace {

constexpr std::string_view kIndent = "           ";  // below the kind of an event's line
constexpr std::size_t kSourceWidth = 8;

std::string zoned_time(WallNs at) {
  return text::format_rfc3339(at);
}

std::string octal(std::uint32_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode));
  return text;
}

class Lines {
 public:
  explicit Lines(const Style& style) : width_(std::max<std::size_t>(style.width, 80)) {}
  void add(const std::string& words) {
    text_ += std::string(kIndent) + text::fit(words, width_ - kIndent.size()) + "\n";
  }
  void add(const LogEntry& entry) {
    auto words = "  " + zoned_time(entry.time) + "  " + pad(to_string(entry.source), kSourceWidth) +
                 " " + text::escape(entry.text);
    if (entry.source == LogSource::login)
      words += entry.end.ns == 0 ? ", no end recorded" : ", until " + zoned_time(entry.end);
    add(words);
  }
  std::string take() { return std::move(text_); }

 private:
  std::size_t width_;
  std::string text_;
};

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string all;
  for (const auto& part : parts)
    all += (all.empty() ? "" : std::string(between)) + text::escape(part);
  return all;
}

std::string own_text(const std::vector<Seq>& own) {
  if (own.empty()) return "Datum did nothing to it in this window";
  std::string records;
  for (const auto seq : own) records += (records.empty() ? "" : ", ") + std::to_string(seq);
  return "Datum itself acted on it in this window: records " + records;
}

void write_entries(text::JsonWriter& json, std::string_view name,
                   const std::vector<LogEntry>& entries) {
  json.key(name).begin_array();
  for (const auto& entry : entries) {
    json.begin_object()
        .member("time", zoned_time(entry.time))
        .member("source", to_string(entry.source))
        .member("text", entry.text)
        .key("end");
    if (entry.end.ns == 0)
      json.null();
    else
      json.value(zoned_time(entry.end));
    json.end_object();
  }
  json.end_array();
}

void write_texts(text::JsonWriter& json, std::string_view name,
                 const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const auto& each : texts) json.value(each);
  json.end_array();
}

void write_traces(text::JsonWriter& json, const std::optional<core::Traces>& traces) {
  json.key("traces");
  if (!traces) {
    json.null();
    return;
  }
  json.begin_object()
      .member("mtime", text::format_rfc3339(traces->mtime, text::Precision::milliseconds))
      .member("ctime", text::format_rfc3339(traces->ctime, text::Precision::milliseconds))
      .member("uid", traces->uid)
      .member("gid", traces->gid)
      .member("mode", octal(traces->mode))
      .end_object();
}

}  // namespace

std::string drift_report_text(const DriftReport& report, const LogsRead& logs, const Style& style) {
  const auto& window = report.window;
  Lines lines(style);
  lines.add("as declared when " +
            (window.good_pass != 0 ? "pass " + std::to_string(window.good_pass)
                                   : "record " + std::to_string(window.good)) +
            " looked, " + zoned_time(window.from) + "; not any more " + zoned_time(window.to));
  if (report.traces)
    lines.add("inode changed " + zoned_time(report.traces->ctime) + ", content " +
              zoned_time(report.traces->mtime) + ", owner " + std::to_string(report.traces->uid) +
              ":" + std::to_string(report.traces->gid) + ", mode " + octal(report.traces->mode));
  if (window.clock_jump_ns != 0)
    lines.add("the clock was set by " + text::format_duration(window.clock_jump_ns) +
              " in this window; times of logs may be off by that");
  if (window.declaration_changed)
    lines.add(
        "the declaration changed in this window: it may be as it was, and declared otherwise");
  lines.add(own_text(window.own));
  if (!report.inside.empty()) lines.add("in this window:");
  if (report.left_out > 0)
    lines.add("  … and " + text::format_count(report.left_out, "earlier entry", "earlier entries"));
  for (const auto& entry : report.inside) lines.add(entry);
  if (report.inside.empty() && !logs.read.empty())
    lines.add("nothing in this window in " + joined(logs.read, ", "));
  if (!logs.owner.empty())
    lines.add("of package " + text::escape(logs.owner) +
              (report.about_owner.empty() ? "" : ", and before this window:"));
  for (const auto& entry : report.about_owner) lines.add(entry);
  if (!logs.not_read.empty()) lines.add("not read: " + joined(logs.not_read, "; "));
  return lines.take();
}

std::string drift_report_json(const DriftReport& report, const LogsRead& logs) {
  const auto& window = report.window;
  text::JsonWriter json;
  json.begin_object()
      .member("window", window.drift)
      .member("good", window.good)
      .member("goodPass", window.good_pass)
      .member("from", text::format_rfc3339(window.from, text::Precision::milliseconds))
      .member("to", text::format_rfc3339(window.to, text::Precision::milliseconds))
      .member("clockJumpNs", window.clock_jump_ns)
      .member("declarationChanged", window.declaration_changed);
  write_traces(json, report.traces);
  json.key("ownRecords").begin_array();
  for (const auto seq : window.own) json.value(seq);
  json.end_array();
  write_entries(json, "inWindow", report.inside);
  json.member("leftOut", report.left_out).member("package", logs.owner);
  write_entries(json, "packageBefore", report.about_owner);
  write_texts(json, "logsRead", logs.read);
  write_texts(json, "logsNotRead", logs.not_read);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace datum::inspect
