#include "service_client.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "datum/codec/manifest_file.hpp"
#include "datum/host/local_end.hpp"
#include "datum/program/session.hpp"
#include "datum/wire/local_socket.hpp"
#include "print.hpp"

namespace datum::program {
namespace {

using host::LocalFrame;

// The service takes a request up while its loop turns; one that does not in this time is stuck.
constexpr std::int64_t kTakenUpWithinNs = 15 * kNsPerSecond;
// A pass lasts as long as it does: the service has the limits.
constexpr std::int64_t kNoLimit = 0;

// One that is stuck, or one that was killed with a request in its hands.
Error silent(const wire::Peer& peer, const Error& error) {
  const auto service = "the service (process " + std::to_string(peer.pid) + ") ";
  if (error.code() == ErrorCode::timed_out)
    return {ErrorCode::busy, service + "has the store and does not answer: " + error.message()};
  return {ErrorCode::busy,
          service + "hung up before it answered, so it ended: " + error.message() +
              ". What it has done of this the journal says; systemctl status datum-host says why"};
}

Status send_frame(wire::LocalStream& stream, LocalFrame kind, ByteView message) {
  return stream.send(static_cast<std::uint8_t>(kind), message, kTakenUpWithinNs);
}

Status send_parts(wire::LocalStream& stream, LocalFrame kind, ByteView bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), wire::kMaxFrame));
    DATUM_TRY(send_frame(stream, kind, part));
    bytes = bytes.subspan(part.size());
  }
  return {};
}

Status send_rest(wire::LocalStream& stream, const Sent& sent) {
  if (sent.desired != nullptr) {
    const auto sink = [&stream](ByteView bytes) {
      return send_parts(stream, LocalFrame::manifest, bytes);
    };
    DATUM_TRY(codec::write_manifest(*sent.desired->manifest, *sent.desired->content, sink));
    DATUM_TRY(send_frame(stream, LocalFrame::manifest_end, {}));
  }
  if (sent.plan.empty()) return {};
  DATUM_TRY(send_parts(stream, LocalFrame::plan, sent.plan));
  return send_frame(stream, LocalFrame::plan_end, {});
}

using Take = std::function<void(LocalFrame kind, std::string_view text)>;

// Connects, sends, and hands each frame of the answer to `take`, the first of them `within_ns`.
Result<int> converse(const std::string& path, const host::LocalRequest& request,
                     const Sent& to_send, const Take& take,
                     std::int64_t within_ns = kTakenUpWithinNs) {
  auto connected = wire::LocalStream::connect(path);
  if (!connected && connected.error().code() == ErrorCode::unavailable)
    return fail(ErrorCode::not_found, connected.error().message());
  if (!connected) return fail(std::move(connected).error());
  auto& stream = *connected;
  DATUM_ASSIGN(const auto peer, stream.peer());
  if (peer.uid != trusted_uid())
    return fail(ErrorCode::refused,
                path + ": somebody else listens there, uid " + std::to_string(peer.uid));
  const auto text = host::encode_request(request);
  auto sent =
      stream.send(static_cast<std::uint8_t>(LocalFrame::request), as_bytes(text), within_ns);
  if (sent) sent = send_rest(stream, to_send);
  // Where sending failed the service may have said why before it hung up.
  for (bool taken_up = false;;) {
    auto frame = stream.receive(wire::kMaxFrame, taken_up ? kNoLimit : within_ns);
    if (!frame) return fail(silent(peer, sent ? frame.error() : sent.error()));
    const auto kind = static_cast<LocalFrame>(frame->kind);
    taken_up = true;
    if (kind == LocalFrame::end) return host::parse_end(as_text(frame->message));
    take(kind, as_text(frame->message));
  }
}

std::string socket_path(const Arguments& arguments) {
  return below(absolute_path(arguments.root), std::string(kSocketPath));
}

}  // namespace

Result<host::LocalRequest> make_local_request(const Arguments& arguments, host::LocalVerb verb) {
  const auto style = output_style(arguments);
  host::LocalRequest request;
  request.verb = verb;
  DATUM_ASSIGN(request.state, state_folder(arguments));
  request.command_line = arguments.command_line;
  request.json = arguments.json;
  request.all = arguments.all;
  request.colour = style.colour;
  request.width = style.width;
  return request;
}

Result<int> ask_service(const Arguments& arguments, host::LocalRequest request, const Sent& sent) {
  if (sent.desired != nullptr) {
    request.has_manifest = true;
    request.source = sent.desired->provenance.source;
  }
  request.has_plan = !sent.plan.empty();
  return converse(socket_path(arguments), request, sent,
                  [](LocalFrame kind, std::string_view text) {
                    if (kind == LocalFrame::output) print(text);
                    if (kind != LocalFrame::errors) return;
                    std::fwrite(text.data(), 1, text.size(), stderr);
                  });
}

Status tell_service(const Arguments& arguments, host::LocalRequest request) {
  std::string errors;
  DATUM_ASSIGN(const int code, converse(socket_path(arguments), request, {},
                                        [&errors](LocalFrame kind, std::string_view part) {
                                          if (kind == LocalFrame::errors) errors += part;
                                        }));
  if (code == 0) return {};
  constexpr std::string_view kPrefix = "datum: ";
  if (errors.starts_with(kPrefix)) errors.erase(0, kPrefix.size());
  if (errors.ends_with('\n')) errors.pop_back();
  constexpr int kBusy = 3;
  return fail(code == kBusy ? ErrorCode::busy : ErrorCode::refused, std::move(errors));
}

Result<std::optional<host::ServiceFacts>> find_service_facts(const Arguments& arguments,
                                                             std::int64_t within_ns) {
  const auto request = make_local_request(arguments, host::LocalVerb::facts);
  if (!request) return std::nullopt;
  std::string text;
  const auto take = [&text](LocalFrame kind, std::string_view part) {
    if (kind == LocalFrame::output) text += part;
  };
  const auto asked = converse(socket_path(arguments), *request, {}, take, within_ns);
  if (!asked && asked.error().code() == ErrorCode::busy) return fail(asked.error());
  if (!asked || *asked != 0) return std::nullopt;
  auto facts = host::parse_facts(text);
  if (!facts) return std::nullopt;
  return std::move(*facts);
}

}  // namespace datum::program
