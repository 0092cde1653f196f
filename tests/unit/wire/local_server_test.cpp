// Callers of a socket that is served on a real loop: each is read on a thread of its own and
// answered on the loop.
#include "datum/wire/local_server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "datum/base/time.hpp"
#include "datum/uv/uv_loop.hpp"
#include "scratch.hpp"

namespace {

using namespace datum;
using namespace datum::wire;

// Nobody here waits for long: whoever should answer does.
constexpr std::int64_t kLong = 60 * kNsPerSecond;
// Of a server: see its source.
constexpr std::size_t kMostAtOnce = 8;

using Texts = std::vector<std::string>;

Result<std::string> read_word(LocalStream& stream) {
  DATUM_ASSIGN(const auto frame, stream.receive(100, kLong));
  return std::string(as_text(frame.message));
}

std::vector<LocalPart> sent_away(const std::string& why) {
  return {{8, why}};
}

// A server whose answers are `answer`'s.
struct Served {
  explicit Served(LocalServer::Answer<std::string> answer) {
    auto listening = LocalServer::listen<std::string>(*loop, folder.socket(), ::geteuid(),
                                                      read_word, std::move(answer), sent_away);
    REQUIRE(listening);
    server = std::move(*listening);
  }
  // What callers do, beside the loop, while it serves them.
  void serve(const std::function<void()>& calls) {
    const auto callers = loop->make_serial_worker();
    callers->submit(calls, [this] { loop->stop(); });
    loop->run();
  }
  // Sends a word.
  [[nodiscard]] LocalStream ask(const std::string& word) const {
    auto stream = LocalStream::connect(folder.socket());
    if (!stream) return LocalStream(-1);
    static_cast<void>(stream->send(1, as_bytes(word), kLong));
    return std::move(*stream);
  }
  Folder folder;
  std::unique_ptr<loop::Loop> loop = uv::make_loop(1);
  std::unique_ptr<LocalServer> server;
};

// The next frame as its kind and its text; the error's name where none comes.
std::string hear(LocalStream& stream) {
  const auto frame = stream.receive(kMaxFrame, kLong);
  if (!frame) return std::string(to_string(frame.error().code()));
  return std::to_string(frame->kind) + ":" + std::string(as_text(frame->message));
}

}  // namespace

TEST_CASE("local server: who asks is answered in order, and hung up on after the last of it") {
  const auto loop_thread = std::this_thread::get_id();
  Served served([&](const Result<std::string>& asked, const LocalServer::Caller& caller) {
    CHECK(std::this_thread::get_id() == loop_thread);
    caller.send({{5, ""}});
    caller.end({{6, "to " + asked.value_or("nobody")}, {7, std::string(kMaxFrame + 3, 'x')}});
  });
  Texts heard;
  served.serve([&] {
    auto stream = served.ask("hello");
    for (int frame = 0; frame < 5; ++frame) heard.push_back(hear(stream));
  });
  CHECK(heard ==
        Texts{"5:", "6:to hello", "7:" + std::string(kMaxFrame, 'x'), "7:xxx", "unavailable"});
}

TEST_CASE("local server: what cannot be read is answered as well") {
  Served served([](const Result<std::string>& asked, const LocalServer::Caller& caller) {
    caller.end({{9, asked ? "read" : std::string(to_string(asked.error().code()))}});
  });
  std::string heard;
  served.serve([&] {
    auto stream = served.ask(std::string(101, 'x'));
    heard = hear(stream);
  });
  CHECK(heard == "9:limit exceeded");
}

TEST_CASE("local server: one more than it has room for is told so, until somebody has ended") {
  std::vector<LocalServer::Caller> waiting;
  Served served([&](const Result<std::string>&, const LocalServer::Caller& caller) {
    waiting.push_back(caller);
    caller.send({{5, ""}});
  });
  std::vector<LocalStream> streams;
  Texts heard;
  served.serve([&] {
    for (std::size_t each = 0; each <= kMostAtOnce; ++each) {
      streams.push_back(served.ask("x"));
      heard.push_back(hear(streams.back()));
    }
  });
  CHECK(heard == Texts{"5:", "5:", "5:", "5:", "5:", "5:", "5:", "5:",
                       "8:8 others ask at this moment, and no more may: try again"});
  CHECK(hear(streams.back()) == "unavailable");
  REQUIRE(waiting.size() == kMostAtOnce);
  waiting.front().end({});
  heard.clear();
  served.serve([&] {
    heard.push_back(hear(streams.front()));
    streams.push_back(served.ask("x"));
    heard.push_back(hear(streams.back()));
  });
  CHECK(heard == Texts{"unavailable", "5:"});
}

TEST_CASE("local server: when it goes nobody is waited for, all are told, a late answer is not") {
  std::vector<LocalServer::Caller> waiting;
  Served served([&](const Result<std::string>&, const LocalServer::Caller& caller) {
    waiting.push_back(caller);
    caller.send({{5, ""}});
  });
  std::optional<LocalStream> silent, asked;
  std::string heard;
  served.serve([&] {
    auto connected = LocalStream::connect(served.folder.socket());
    if (connected) silent.emplace(std::move(*connected));
    asked.emplace(served.ask("x"));
    heard = hear(*asked);
  });
  CHECK(heard == "5:");
  REQUIRE(waiting.size() == 1);
  served.server.reset();
  waiting.front().send({{6, "late"}});
  waiting.front().end({{7, "late"}});
  REQUIRE(silent);
  for (auto* const each : {&*silent, &*asked}) {
    CHECK(hear(*each) == "8:it ends, and what was asked may be done");
    CHECK(hear(*each) == "unavailable");
  }
  CHECK(LocalStream::connect(served.folder.socket()).error().code() == ErrorCode::not_found);
}

TEST_CASE("local server: its folder is made, and has to be its user's alone") {
  const Folder folder;
  const auto loop = uv::make_loop(1);
  const auto path = folder.path() + "/run/s";
  const auto listen = [&] {
    return LocalServer::listen<std::string>(
        *loop, path, ::geteuid(), read_word,
        [](const Result<std::string>&, const LocalServer::Caller& caller) { caller.end({}); },
        sent_away);
  };
  CHECK(listen().has_value());
  struct stat info {};
  REQUIRE(::stat((folder.path() + "/run").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0700);
  REQUIRE(::chmod((folder.path() + "/run").c_str(), 0750) == 0);
  const auto refused = listen();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::refused);
}
