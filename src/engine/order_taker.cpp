#include "datum/engine/order_taker.hpp"

#include <algorithm>
#include <utility>

#include "co_try.hpp"
#include "datum/codec/link.hpp"
#include "running.hpp"
#include "sealed_file.hpp"

namespace datum::engine {
namespace {

constexpr std::size_t kNumberSize = 8;

tl::unexpected<Error> refused_order(std::string why) {
  return fail(ErrorCode::refused, "an order is not carried out: " + std::move(why));
}

bool only_weakens(core::OrderKind kind) {
  return kind == core::OrderKind::hold || kind == core::OrderKind::revoke;
}

bool is_signed_by_signer(const core::Signed& order, const NodeIdentity& identity) {
  crypto::Signature signature;
  if (order.signature.size() != signature.bytes.size()) return false;
  std::copy(order.signature.begin(), order.signature.end(), signature.bytes.begin());
  return std::any_of(identity.signers.begin(), identity.signers.end(), [&](const auto& key) {
    return key.fingerprint() == order.signer &&
           crypto::verify(key, crypto::SignedAs::order, order.body, signature);
  });
}

Status keep_order_number(os::Files& files, const std::string& store_folder, std::uint64_t number) {
  DATUM_ASSIGN(const auto folder, make_store_folder(files, store_folder, kIdentityFolder));
  Bytes bytes(kNumberSize);
  store_le(bytes.data(), number);
  return write_sealed(files, folder, kOrderFile, std::move(bytes));
}

// nullopt: it is so already.
Result<std::optional<core::Command>> command_of(const core::OrderBody& order,
                                                const core::State& state) {
  const core::Actor actor{core::ActorKind::control_plane, order.by, 0, ""};
  switch (order.kind) {
    case core::OrderKind::hold:
      return core::Command(core::SetHold{core::HoldOrigin::link, order.until, order.reason, actor});
    case core::OrderKind::lift:
      if (!state.link_hold) return std::nullopt;
      return core::Command(core::LiftHold{core::HoldOrigin::link, actor});
    case core::OrderKind::revoke:
      return core::Command(core::ChangeLifecycle{core::NodeLifecycle::disconnected,
                                                 "revoked: " + order.reason, actor});
    case core::OrderKind::retire:
      break;
  }
  return fail(ErrorCode::unsupported, "this version does not carry out an order to " +
                                          std::string(core::to_string(order.kind)));
}

}  // namespace

Result<core::OrderBody> verify_order(const core::Signed& order, const NodeIdentity& identity) {
  auto body = codec::decode_order_body(order.body);
  if (!body) return refused_order("it cannot be read: " + body.error().message());
  if (body->mesh != identity.mesh) return refused_order("it is of the mesh " + body->mesh);
  if (!body->node.empty() && body->node != identity.node)
    return refused_order("it is for " + body->node);
  if (body->number == 0) return refused_order("it has no number");
  const bool has_signature = !order.signature.empty();
  if (!has_signature && only_weakens(body->kind)) return body;
  if (!is_signed_by_signer(order, identity))
    return refused_order("none of the mesh's signers signed it");
  return body;
}

Result<std::uint64_t> read_order_number(os::Files& files, const std::string& store_folder) {
  DATUM_ASSIGN(const auto store, files.open_root(store_folder));
  const auto folder = files.open_directory(store, kIdentityFolder, os::Follow::no);
  if (!folder && folder.error().code() == ErrorCode::not_found) return std::uint64_t{0};
  if (!folder) return fail(folder.error());
  const auto bytes = read_sealed(files, *folder, kOrderFile, kNumberSize);
  if (!bytes && bytes.error().code() == ErrorCode::not_found) return std::uint64_t{0};
  if (!bytes) return fail(bytes.error());
  if (bytes->size() != kNumberSize) return fail(ErrorCode::corrupt, "identity/order is damaged");
  return load_le<std::uint64_t>(bytes->data());
}

loop::Task<Result<CarriedOut>> carry_out(loop::Loop& loop, os::Files& files, Store& store,
                                         std::shared_ptr<const NodeIdentity> identity,
                                         core::Signed order) {
  auto& history = *store.history;
  if (!history.healthy() || history.is_unrecorded())
    co_return fail(ErrorCode::unavailable, "nothing can be recorded");
  DATUM_CO_ASSIGN(const auto body, verify_order(order, *identity));
  using Number = Result<std::uint64_t>;
  std::function<Number()> read = [&files, folder = store.folder] {
    return read_order_number(files, folder);
  };
  auto reading = loop::run_on<Number>(loop.pool(), std::move(read));
  DATUM_CO_ASSIGN(const auto last, co_await reading);
  if (body.number == last) co_return CarriedOut{body, 0};
  if (body.number < last)
    co_return refused_order("its number " + std::to_string(body.number) + " is not above " +
                            std::to_string(last) + ", which was carried out");
  DATUM_CO_ASSIGN(const auto command, command_of(body, history.state()));
  if (command) DATUM_CO_TRY(history.execute(*command));
  auto waiting = wait_durable(history);
  DATUM_CO_TRY(co_await waiting);
  const auto at = history.durable();
  // After the record: an order that a death came upon in between is carried out again, to the same.
  std::function<Status()> keep = [&files, folder = store.folder, number = body.number] {
    return keep_order_number(files, folder, number);
  };
  auto keeping = loop::run_on<Status>(loop.pool(), std::move(keep));
  DATUM_CO_TRY(co_await keeping);
  co_return CarriedOut{body, at};
}

}  // namespace datum::engine
