// Bytes of the stream through TLS into frames and messages, and back.
#include "datum/link/connection.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/codec/link.hpp"
#include "datum/wire/frame.hpp"

namespace datum::link {

// Held weakly by all that calls later, strongly by a call that is under way.
struct Connection::Impl : std::enable_shared_from_this<Connection::Impl> {
  Impl(loop::Loop& its_loop, std::unique_ptr<loop::Stream> its_stream,
       const wire::TlsContext& context)
      : loop(its_loop),
        stream(std::move(its_stream)),
        session(context),
        limit(its_loop.make_timer()),
        heard_at(its_loop.clock().boot_now()) {}

  void start(ConnectionEvents its_events);
  void arrived(const Bytes& bytes);
  // Takes whole frames off `text`; false when the connection ended meanwhile.
  bool take_frames();
  bool take_frame(std::uint8_t kind, ByteView message);
  void flush();
  void fault(core::LinkCause cause, std::string why);
  void close(core::Goodbye goodbye, std::string why);
  void ended(const Status& status);
  void tell_end(LinkEnd end);
  [[nodiscard]] std::size_t frame_limit() const {
    return is_known ? wire::kMaxFrame : kMaxStrangersFrame;
  }

  loop::Loop& loop;
  std::unique_ptr<loop::Stream> stream;
  wire::TlsSession session;
  std::unique_ptr<loop::Timer> limit;  // of a stranger's time
  BootNs heard_at;
  ConnectionEvents events;
  Bytes text;  // of the peer, not a whole frame yet
  bool told_established = false;
  bool is_known = false;
  bool is_over = false;  // nothing is sent or taken any more
  std::optional<LinkEnd> waiting_end;
};

void Connection::Impl::start(ConnectionEvents its_events) {
  events = std::move(its_events);
  const std::weak_ptr<Impl> weak = weak_from_this();
  limit->start(kStrangersTimeNs, 0, [weak] {
    if (const auto self = weak.lock())
      self->fault(core::LinkCause::too_slow, "no first message within 30 s");
  });
  stream->start({[weak](const Bytes& bytes) {
                   if (const auto self = weak.lock()) self->arrived(bytes);
                 },
                 [weak](const Status& status) {
                   if (const auto self = weak.lock()) self->ended(status);
                 },
                 [weak] {
                   const auto self = weak.lock();
                   if (self && !self->is_over && self->told_established && self->events.drained)
                     self->events.drained();
                 }});
  flush();
}

void Connection::Impl::arrived(const Bytes& bytes) {
  if (is_over) return;
  heard_at = loop.clock().boot_now();
  const auto status = session.receive(bytes, text);
  flush();
  if (!status) return fault(core::LinkCause::protocol, status.error().message());
  if (is_over) return;
  if (session.is_established() && !std::exchange(told_established, true)) {
    events.established();
    if (is_over) return;
  }
  if (take_frames() && session.peer_ended()) ended({});
}

bool Connection::Impl::take_frames() {
  std::size_t at = 0;
  while (text.size() - at >= wire::kFrameHead) {
    std::array<std::byte, wire::kFrameHead> head;
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), head.size(), head.begin());
    const auto frame = wire::read_frame_head(head, frame_limit());
    if (!frame) {
      fault(core::LinkCause::protocol, frame.error().message());
      return false;
    }
    const auto whole = wire::kFrameHead + frame->size;
    if (text.size() - at < whole) break;
    const Bytes message(text.begin() + static_cast<std::ptrdiff_t>(at + wire::kFrameHead),
                        text.begin() + static_cast<std::ptrdiff_t>(at + whole));
    at += whole;
    if (!take_frame(frame->kind, message)) return false;
  }
  text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool Connection::Impl::take_frame(std::uint8_t kind, ByteView message) {
  auto read = codec::decode_link(kind, message);
  if (!read) {
    fault(core::LinkCause::protocol, read.error().message());
    return false;
  }
  if (!*read) return true;  // of a later version
  if (auto* goodbye = std::get_if<core::Goodbye>(&**read)) {
    is_over = true;
    stream->end();
    const auto why = goodbye->why;
    tell_end({std::move(*goodbye), true, false, why});
    return false;
  }
  events.message(std::move(**read));
  return !is_over;
}

void Connection::Impl::flush() {
  if (!session.has_output()) return;
  const auto sent = stream->send(session.take_output());
  if (sent || is_over) return;
  // Nothing more gets through: a goodbye would wait behind what is not taken.
  is_over = true;
  const bool is_slow = sent.error().code() == ErrorCode::limit_exceeded;
  core::Goodbye goodbye;
  goodbye.cause = is_slow ? core::LinkCause::too_slow : core::LinkCause::stopping;
  goodbye.why = sent.error().message();
  tell_end({goodbye, false, !is_slow, goodbye.why});
}

void Connection::Impl::fault(core::LinkCause cause, std::string why) {
  core::Goodbye goodbye;
  goodbye.cause = cause;
  goodbye.why = why;
  close(std::move(goodbye), std::move(why));
}

void Connection::Impl::close(core::Goodbye goodbye, std::string why) {
  if (is_over) return;
  is_over = true;
  if (session.is_established()) {
    const core::LinkMessage message(goodbye);
    const auto frame = wire::make_frame(static_cast<std::uint8_t>(core::LinkKind::goodbye),
                                        codec::encode_link(message));
    if (session.send(frame)) session.end();
  }
  flush();
  stream->end();
  tell_end({std::move(goodbye), false, false, std::move(why)});
}

void Connection::Impl::ended(const Status& status) {
  if (is_over) return;
  is_over = true;
  stream->end();
  core::Goodbye goodbye;
  goodbye.why = status ? "the peer ended the connection" : status.error().message();
  tell_end({goodbye, false, true, goodbye.why});
}

// Later, so that no call into the connection calls back.
void Connection::Impl::tell_end(LinkEnd end) {
  limit->stop();
  if (waiting_end) return;
  waiting_end = std::move(end);
  loop.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->events.end(*self->waiting_end);
  });
}

Connection::Connection(loop::Loop& loop, std::unique_ptr<loop::Stream> stream,
                       const wire::TlsContext& context)
    : impl_(std::make_shared<Impl>(loop, std::move(stream), context)) {}
// A callback may destroy its connection: what called it still holds the rest, and sees that it is
// over.
Connection::~Connection() {
  impl_->is_over = true;
}

void Connection::start(ConnectionEvents events) {
  impl_->start(std::move(events));
}

void Connection::let_in() {
  impl_->is_known = true;
  impl_->limit->stop();
}

Status Connection::send(const core::LinkMessage& message) {
  if (impl_->is_over)
    return fail(ErrorCode::unavailable, impl_->stream->peer() + ": the connection has ended");
  DATUM_ASSERT(impl_->told_established);
  const auto frame = wire::make_frame(static_cast<std::uint8_t>(core::kind_of(message)),
                                      codec::encode_link(message));
  DATUM_TRY(impl_->session.send(frame));
  impl_->flush();
  if (impl_->is_over) return fail(ErrorCode::limit_exceeded, impl_->waiting_end->why);
  return {};
}

bool Connection::has_room() const {
  constexpr std::size_t kWithHeads = core::kMaxLinkPart + 4096;  // of frame, message and records
  return !impl_->is_over && impl_->stream->unsent() + kWithHeads <= loop::kMaxUnsent;
}

void Connection::set_reading(bool reading) {
  if (!impl_->is_over) impl_->stream->set_reading(reading);
}

void Connection::close(core::LinkCause cause, std::string why, std::int64_t not_before_ns) {
  core::Goodbye goodbye;
  goodbye.cause = cause;
  goodbye.why = why;
  goodbye.not_before_ns = not_before_ns;
  impl_->close(std::move(goodbye), std::move(why));
}

const std::string& Connection::peer() const {
  return impl_->stream->peer();
}

BootNs Connection::heard_at() const {
  return impl_->heard_at;
}

std::optional<Bytes> Connection::peer_certificate() const {
  return impl_->session.peer_certificate();
}

Bytes Connection::binding(std::string_view label) const {
  return impl_->session.binding(label);
}

}  // namespace datum::link
