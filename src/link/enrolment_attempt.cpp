#include "datum/link/enrolment_attempt.hpp"

#include <optional>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/link/connection.hpp"
#include "datum/link/node_link.hpp"
#include "datum/link/trust.hpp"

namespace datum::link {

struct EnrolmentAttempt::Impl : std::enable_shared_from_this<EnrolmentAttempt::Impl> {
  Impl(loop::Loop& its_loop, loop::Network& its_network, EnrolmentQuestion its_question,
       std::function<void(Result<EnrolmentAnswer>)> its_done)
      : loop(its_loop),
        network(its_network),
        question(std::move(its_question)),
        done(std::move(its_done)),
        limit(its_loop.make_timer()) {}

  void try_next();
  void next_or_fail(const Error& error);
  void connected(std::unique_ptr<loop::Stream> stream);
  void ask();
  void take(const core::LinkMessage& message);
  void ended(const LinkEnd& end);
  void finish(Result<EnrolmentAnswer> answer);

  loop::Loop& loop;
  loop::Network& network;
  EnrolmentQuestion question;
  std::function<void(Result<EnrolmentAnswer>)> done;
  std::unique_ptr<loop::Timer> limit;
  std::unique_ptr<loop::Connecting> connecting;
  std::unique_ptr<Connection> connection;
  std::size_t trying = 0;
  bool has_asked = false;
};

void EnrolmentAttempt::Impl::try_next() {
  const std::weak_ptr<Impl> weak = weak_from_this();
  connecting = network.connect(question.addresses[trying], kConnectWithinNs, [weak](auto result) {
    const auto self = weak.lock();
    if (!self) return;
    if (result) return self->connected(std::move(*result));
    self->next_or_fail(result.error());
  });
}

void EnrolmentAttempt::Impl::next_or_fail(const Error& error) {
  connection.reset();
  limit->stop();
  if (++trying < question.addresses.size()) return try_next();
  finish(fail(error));
}

void EnrolmentAttempt::Impl::connected(std::unique_ptr<loop::Stream> stream) {
  auto context =
      wire::TlsContext::make(wire::TlsEnd::connects, {}, trust_pin(question.pin, loop.clock()));
  if (!context) return finish(fail(std::move(context).error()));
  connection = std::make_unique<Connection>(loop, std::move(stream), *context);
  const std::weak_ptr<Impl> weak = weak_from_this();
  connection->start({[weak] {
                       if (const auto self = weak.lock()) self->ask();
                     },
                     [weak](const core::LinkMessage& message) {
                       if (const auto self = weak.lock()) self->take(message);
                     },
                     [weak](const LinkEnd& end) {
                       if (const auto self = weak.lock()) self->ended(end);
                     }});
}

// TLS is up, so the judge has found the pinned key: the token may be said.
void EnrolmentAttempt::Impl::ask() {
  has_asked = true;
  const auto binding = connection->binding(kEnrolmentBinding);
  const std::weak_ptr<Impl> weak = weak_from_this();
  limit->start(kAnswerWithinNs, 0, [weak] {
    if (const auto self = weak.lock())
      self->next_or_fail({ErrorCode::timed_out, self->connection->peer() + " does not answer"});
  });
  static_cast<void>(connection->send(question.make_request(binding)));
}

void EnrolmentAttempt::Impl::take(const core::LinkMessage& message) {
  if (const auto* grant = std::get_if<core::EnrolmentGrant>(&message)) return finish({*grant});
  if (const auto* pending = std::get_if<core::EnrolmentPending>(&message))
    return finish({*pending});
  if (const auto* refusal = std::get_if<core::EnrolmentRefusal>(&message))
    return finish({*refusal});
  const auto kind = std::string(core::to_string(core::kind_of(message)));
  next_or_fail({ErrorCode::corrupt, connection->peer() + " answers with " + kind});
}

void EnrolmentAttempt::Impl::ended(const LinkEnd& end) {
  const auto peer = connection->peer();
  if (!end.by_peer) {
    const bool is_trust = !has_asked && !end.was_cut;
    return next_or_fail(
        {is_trust ? ErrorCode::refused : ErrorCode::unavailable, peer + ": " + end.why});
  }
  const auto& goodbye = end.goodbye;
  if (goodbye.not_before_ns > 0) return finish({core::EnrolmentPending{goodbye.not_before_ns}});
  finish({core::EnrolmentRefusal{goodbye.cause, goodbye.why, "run datum enrol again"}});
}

// The caller may destroy the attempt.
void EnrolmentAttempt::Impl::finish(Result<EnrolmentAnswer> answer) {
  const auto self = shared_from_this();
  limit->stop();
  connection.reset();
  if (const auto call = std::exchange(done, nullptr)) call(std::move(answer));
}

EnrolmentAttempt::EnrolmentAttempt(loop::Loop& loop, loop::Network& network,
                                   EnrolmentQuestion question,
                                   std::function<void(Result<EnrolmentAnswer>)> done)
    : impl_(std::make_shared<Impl>(loop, network, std::move(question), std::move(done))) {
  DATUM_ASSERT(!impl_->question.addresses.empty());
  impl_->try_next();
}
EnrolmentAttempt::~EnrolmentAttempt() {
  impl_->done = nullptr;
}

}  // namespace datum::link
