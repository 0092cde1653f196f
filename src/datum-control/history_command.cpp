// Lists the control plane's own records, beside the server or without one.
#include <cstdio>

#include "commands.hpp"
#include "datum/base/rfc3339.hpp"
#include "datum/codec/control_event.hpp"
#include "datum/control/ledger.hpp"
#include "datum/program/session.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"
#include "key_files.hpp"

namespace datum::control {
namespace {

// Fields as members of the object that stands open.
class JsonSink final : public codec::FieldSink {
 public:
  explicit JsonSink(text::JsonWriter& json) : json_(json) {}
  void text(std::string_view name, std::string_view value) override { key(name).value(value); }
  void number(std::string_view name, std::uint64_t value) override { key(name).value(value); }
  void signed_number(std::string_view name, std::int64_t value) override { key(name).value(value); }
  void boolean(std::string_view name, bool value) override { key(name).value(value); }
  void time(std::string_view name, WallNs value) override {
    key(name).value(value.ns == 0 ? std::string() : format_rfc3339(value));
  }
  void duration_ns(std::string_view name, std::int64_t value) override { key(name).value(value); }
  void digest(std::string_view name, const Digest& value) override {
    key(name).value(value.empty() ? std::string() : value.hex());
  }
  void begin_list(std::string_view name, std::size_t) override { key(name).begin_array(); }
  void end_list() override { json_.end_array(); }
  void begin_group(std::string_view name) override { key(name).begin_object(); }
  void end_group() override { json_.end_object(); }

 private:
  text::JsonWriter& key(std::string_view name) {
    if (!name.empty()) json_.key(name);
    return json_;
  }
  text::JsonWriter& json_;
};

// The texts and numbers that a line has room for; bytes and digests are for --json.
class LineSink final : public codec::FieldSink {
 public:
  void text(std::string_view name, std::string_view value) override { add(name, value); }
  void number(std::string_view name, std::uint64_t value) override {
    if (value != 0) add(name, std::to_string(value));
  }
  void signed_number(std::string_view, std::int64_t) override {}
  void boolean(std::string_view name, bool value) override {
    if (value) add(name, "yes");
  }
  void time(std::string_view name, WallNs value) override {
    if (value.ns != 0) add(name, format_rfc3339(value));
  }
  void duration_ns(std::string_view, std::int64_t) override {}
  void digest(std::string_view, const Digest&) override {}
  void begin_list(std::string_view, std::size_t) override { ++lists_; }
  void end_list() override { --lists_; }
  void begin_group(std::string_view) override {}
  void end_group() override {}

  std::string line;

 private:
  void add(std::string_view name, std::string_view value) {
    constexpr std::size_t kMostOfOne = 60;
    if (lists_ > 0 || value.empty() || value.size() > kMostOfOne) return;
    line += " " + std::string(name) + "=" + text::escape(value);
  }
  int lists_ = 0;
};

std::string line_of(const StoredEvent& stored, bool as_json) {
  const auto name = codec::control_event_name(stored.event);
  if (!as_json) {
    LineSink sink;
    codec::describe_control_event(stored.event, sink);
    return std::to_string(stored.seq) + " " + format_rfc3339(stored.wall) + " " +
           std::string(name) + sink.line + "\n";
  }
  text::JsonWriter json;
  json.begin_object().member("seq", stored.seq).member("time", format_rfc3339(stored.wall));
  json.member("kind", name).key("fields").begin_object();
  JsonSink sink(json);
  codec::describe_control_event(stored.event, sink);
  json.end_object().end_object();
  return json.take() + "\n";
}

Status run_history(const Arguments& arguments) {
  DATUM_TRY(check_own_store(program::absolute_path(arguments.state)));
  const auto folder = program::absolute_path(arguments.state) + "/journal";
  auto log = journal::open_log(folder, ledger_options(journal::OpenMode::read_only));
  if (!log && log.error().code() == ErrorCode::busy)
    log = journal::open_log(folder, ledger_options(journal::OpenMode::live));
  if (!log) return fail(std::move(log).error());
  DATUM_ASSIGN(const auto head, (*log)->read_head());
  const auto& node = arguments.request.target;
  return scan_ledger(**log, head.first, [&](const StoredEvent& stored) {
    if (!node.empty() && core::control::node_of(stored.event) != node) return;
    const auto line = line_of(stored, arguments.request.json);
    std::fwrite(line.data(), 1, line.size(), stdout);
  });
}

}  // namespace

int history_command(const Arguments& arguments) {
  const auto done = run_history(arguments);
  return done ? 0 : refuse(done.error());
}

}  // namespace datum::control
