// Records as lines and as JSON, over the one visitor that names the fields of every event.
#include <algorithm>

#include "datum/history/describe.hpp"
#include "datum/inspect/store_report.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

class JsonSink : public history::FieldSink {
 public:
  explicit JsonSink(text::JsonWriter& json) : json_(json) {}

  void text(std::string_view name, std::string_view value) override { named(name).value(value); }
  void number(std::string_view name, std::uint64_t value) override { named(name).value(value); }
  void signed_number(std::string_view name, std::int64_t value) override {
    named(name).value(value);
  }
  void boolean(std::string_view name, bool value) override { named(name).value(value); }
  void time(std::string_view name, WallNs value) override {
    if (value.ns == 0)
      named(name).null();
    else
      named(name).value(text::format_rfc3339(value, text::Precision::milliseconds));
  }
  void duration_ns(std::string_view name, std::int64_t value) override { named(name).value(value); }
  void digest(std::string_view name, const Digest& value) override {
    if (value.empty())
      named(name).null();
    else
      named(name).value(value.hex());
  }
  void begin_list(std::string_view name, std::size_t) override { named(name).begin_array(); }
  void end_list() override { json_.end_array(); }
  void begin_group(std::string_view name) override { named(name).begin_object(); }
  void end_group() override { json_.end_object(); }

 private:
  text::JsonWriter& named(std::string_view name) { return name.empty() ? json_ : json_.key(name); }
  text::JsonWriter& json_;
};

// Every field on a line of its own, indented by depth; empty ones are left out.
class LineSink : public history::FieldSink {
 public:
  void text(std::string_view name, std::string_view value) override {
    if (!value.empty()) line(name, text::escape(value));
  }
  void number(std::string_view name, std::uint64_t value) override {
    if (value != 0) line(name, std::to_string(value));
  }
  void signed_number(std::string_view name, std::int64_t value) override {
    if (value != 0) line(name, std::to_string(value));
  }
  void boolean(std::string_view name, bool value) override { line(name, value ? "yes" : "no"); }
  void time(std::string_view name, WallNs value) override {
    if (value.ns != 0) line(name, text::format_rfc3339(value, text::Precision::milliseconds));
  }
  void duration_ns(std::string_view name, std::int64_t value) override {
    line(name, text::format_duration(value));
  }
  void digest(std::string_view name, const Digest& value) override {
    if (!value.empty()) line(name, "sha256:" + value.hex());
  }
  void begin_list(std::string_view name, std::size_t count) override {
    if (count != 0) line(name, std::to_string(count));
    ++depth_;
  }
  void end_list() override { --depth_; }
  void begin_group(std::string_view name) override {
    line(name.empty() ? "-" : name, "");
    ++depth_;
  }
  void end_group() override { --depth_; }

  std::string take() { return std::move(lines_); }

 private:
  void line(std::string_view name, const std::string& value) {
    constexpr std::size_t kNameWidth = 16;
    lines_ += std::string(2 + 2 * depth_, ' ');
    if (value.empty())
      lines_ += name;
    else
      lines_ += pad(name.empty() ? "-" : name, kNameWidth) + " " + value;
    lines_ += "\n";
  }
  std::string lines_;
  std::size_t depth_ = 0;
};

// A list's name is a plural in English.
std::string counted(std::string_view name, std::size_t count) {
  if (count == 1 && name.ends_with('s')) name.remove_suffix(1);
  return std::string(name);
}

// The first texts of an event, at its top level: enough for one line.
class BriefSink : public history::FieldSink {
 public:
  void text(std::string_view name, std::string_view value) override {
    if (words_ && !value.empty()) return add(text::escape(value));
    if (depth_ > 0 || value.empty() || name == "version" || name == "observation" || name == "boot")
      return;
    add(text::escape(value));
  }
  void number(std::string_view name, std::uint64_t value) override {
    if (value == 0 || name == "pass" || name == "ordinal") return;
    if (depth_ == 0 || (depth_ == 1 && counts_))
      add(std::string(name) + " " + std::to_string(value));
  }
  void signed_number(std::string_view, std::int64_t) override {}
  void boolean(std::string_view, bool) override {}
  void time(std::string_view, WallNs) override {}
  void duration_ns(std::string_view, std::int64_t value) override {
    if (depth_ == 0 && value != 0) add(text::format_duration(value));
  }
  void digest(std::string_view, const Digest&) override {}
  void begin_list(std::string_view name, std::size_t count) override {
    words_ = depth_ == 0 && name == "flags";
    if (depth_ == 0 && count != 0 && !words_)
      add(std::to_string(count) + " " + counted(name, count));
    ++depth_;
  }
  void end_list() override {
    --depth_;
    words_ = false;
  }
  void begin_group(std::string_view name) override {
    counts_ = depth_ == 0 && (name == "counts" || name == "planned");
    ++depth_;
  }
  void end_group() override {
    --depth_;
    counts_ = false;
  }

  std::string take() { return std::move(brief_); }

 private:
  void add(const std::string& words) { brief_ += (brief_.empty() ? "" : "  ") + words; }
  std::string brief_;
  std::size_t depth_ = 0;
  bool words_ = false;   // inside a list whose words are short and few
  bool counts_ = false;  // inside a group of nothing but counts
};

}  // namespace

std::string event_line(const history::StoredEvent& stored, const Style& style) {
  constexpr std::size_t kSeqWidth = 7;
  constexpr std::size_t kNarrowSeqWidth = 5;
  constexpr std::size_t kKindWidth = 22;
  const text::Painter painter(style.colour);
  BriefSink brief;
  history::describe_event(stored.event, brief);
  // On a narrow terminal the day and the second will do.
  constexpr std::size_t kWide = 110;
  const bool wide = style.width >= kWide;
  auto time = text::format_rfc3339(stored.place.wall,
                                   wide ? text::Precision::milliseconds : text::Precision::seconds);
  constexpr std::size_t kDay = 5;  // "2026-" in front of it
  if (!wide) time = time.substr(kDay, time.size() - kDay - 1).replace(kDay, 1, " ");
  auto seq = std::to_string(stored.place.seq);
  const auto seq_width = wide ? kSeqWidth : kNarrowSeqWidth;
  if (seq.size() < seq_width) seq.insert(0, seq_width - seq.size(), ' ');
  const auto kind = pad(core::to_string(core::kind_of(stored.event)), kKindWidth);
  const auto head = seq + "  " + time + "  ";
  const auto room = std::max<std::size_t>(style.width, 80) - text::width(head) - kKindWidth - 2;
  const auto about = text::fit(brief.take(), room);
  auto line = head + painter.paint(text::Colour::bold, kind) + "  " + about;
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string event_json(const history::StoredEvent& stored) {
  text::JsonWriter json;
  json.begin_object()
      .member("seq", stored.place.seq)
      .member("time", text::format_rfc3339(stored.place.wall, text::Precision::milliseconds))
      .member("boot", stored.place.boot.hex())
      .member("monotonicNs", stored.place.mono.ns)
      .member("kind", core::to_string(core::kind_of(stored.event)))
      .key("event")
      .begin_object();
  JsonSink sink(json);
  history::describe_event(stored.event, sink);
  json.end_object().end_object();
  return json.take() + "\n";
}

std::string event_text(const history::StoredEvent& stored, const Style& style) {
  const text::Painter painter(style.colour);
  LineSink lines;
  history::describe_event(stored.event, lines);
  return painter.paint(text::Colour::bold,
                       "record " + std::to_string(stored.place.seq) + "  " +
                           std::string(core::to_string(core::kind_of(stored.event)))) +
         "\n  " + pad("time", 16) + " " +
         text::format_rfc3339(stored.place.wall, text::Precision::milliseconds) + "\n  " +
         pad("boot", 16) + " " + stored.place.boot.hex() + "\n" + lines.take();
}

}  // namespace datum::inspect
