// Events field by field: names, order, forms and nesting.
#include "datum/codec/describe.hpp"

#include <catch2/catch.hpp>

#include "datum/core/status.hpp"
#include "examples.hpp"

using namespace datum;

namespace {

// Writes what it is told as one line: `name=value`, lists in brackets, groups in braces.
class LineSink : public codec::FieldSink {
 public:
  void text(std::string_view name, std::string_view value) override {
    say(name, "'" + std::string(value) + "'");
  }
  void number(std::string_view name, std::uint64_t value) override {
    say(name, std::to_string(value));
  }
  void signed_number(std::string_view name, std::int64_t value) override {
    say(name, "s" + std::to_string(value));
  }
  void boolean(std::string_view name, bool value) override { say(name, value ? "yes" : "no"); }
  void time(std::string_view name, WallNs value) override {
    say(name, "t" + std::to_string(value.ns));
  }
  void duration_ns(std::string_view name, std::int64_t value) override {
    say(name, "d" + std::to_string(value));
  }
  void digest(std::string_view name, const Digest& value) override {
    say(name, value.empty() ? "none" : value.hex().substr(0, 4));
  }
  void begin_list(std::string_view name, std::size_t count) override {
    say(name, std::to_string(count) + "[ ");
    ++depth;
  }
  void end_list() override {
    line += "] ";
    --depth;
  }
  void begin_group(std::string_view name) override {
    say(name, "{ ");
    ++depth;
  }
  void end_group() override {
    line += "} ";
    --depth;
  }

  std::string line;
  int depth = 0;

 private:
  void say(std::string_view name, const std::string& value) {
    if (!name.empty()) line += std::string(name) + "=";
    line += value;
    if (line.back() != ' ') line += ' ';
  }
};

std::string line_of(const core::Event& event) {
  LineSink sink;
  codec::describe_event(event, sink);
  CHECK(sink.depth == 0);
  return sink.line;
}

}  // namespace

TEST_CASE("codec: an observation is told with references, targets and words, drifts as groups") {
  core::ResourceObserved event;
  event.pass = 7;
  event.reference = {model::ResourceType::file, "motd"};
  event.target = {model::TargetFamily::path, "/etc/motd"};
  event.condition = core::Condition::drifted;
  event.found = core::Found::file;
  event.drifts = {{"mode", "0644", "0600"}};
  event.observation.bytes.fill(0xab);
  CHECK(line_of(event) ==
        "pass=7 reference='File[motd]' target='/etc/motd' condition='drifted' found='file' "
        "drifts=1[ { field='mode' desired='0644' observed='0600' } ] reason='' obstacle='none' "
        "observation=abab content=none detail='' missingParent='' notDeclared=0[ ] "
        "notDeclaredMore=0 ");
}

TEST_CASE("codec: times, durations, errno, flags and actors are told apart from numbers") {
  CHECK(line_of(core::ClockJumped{{5}, {9}}) == "before=t5 after=t9 ");
  CHECK(line_of(core::StoreUnwritable{"EIO", -5}) == "problem='EIO' sysErrno=s-5 ");
  core::ActionTimedOut timed_out;
  timed_out.target = {model::TargetFamily::unit, "ssh.service"};
  timed_out.limit_ns = 3;
  CHECK(line_of(timed_out) == "pass=0 ordinal=0 target='unit:ssh.service' limitNs=d3 ");
  core::PassFinished finished;
  finished.flags = static_cast<std::uint32_t>(core::StatusFlag::awaiting_reboot);
  CHECK(line_of(finished).find("flags=1[ 'awaiting-reboot' ]") != std::string::npos);
  const core::HoldLifted lifted{core::HoldOrigin::local,
                                {core::ActorKind::person, "ann", 1'000, "hold"}};
  CHECK(line_of(lifted) ==
        "origin='local' actor={ kind='person' name='ann' uid=1000 command='hold' } ");
}

TEST_CASE("codec: what names nothing is told as nothing") {
  CHECK(line_of(core::OwnershipRemoved{}) == "pass=0 target='' reference='' ");
  CHECK(line_of(core::RebootSeen{}) == "boot='' ");
}

TEST_CASE("codec: every event is told the same with defaults as with values, names and nesting") {
  for (const auto& example : test::event_examples()) {
    INFO(example.name);
    const auto line = line_of(example.event);
    CHECK_FALSE(line.empty());
    // Every text of the example appears, so no member is left out.
    const auto dump = test::dump(example.event);
    for (std::size_t at = 0; (at = dump.find("=text of ", at)) != std::string::npos;) {
      const auto end = dump.find('\n', at);
      const auto text = dump.substr(at + 1, end - at - 1);
      INFO(text);
      CHECK(line.find(text) != std::string::npos);
      at = end;
    }
  }
}
