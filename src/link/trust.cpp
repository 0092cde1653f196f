#include "datum/link/trust.hpp"

#include <utility>

namespace datum::link {
namespace {

// More certificates than a leaf and its authority are of no use to anybody.
constexpr std::size_t kLongestChain = 4;

Result<crypto::Certificate> read_leaf(const std::vector<Bytes>& chain) {
  if (chain.empty()) return fail(ErrorCode::refused, "the peer showed no certificate");
  if (chain.size() > kLongestChain)
    return fail(ErrorCode::refused, "the peer showed " + std::to_string(chain.size()) +
                                        " certificates, where two are the rule");
  return crypto::read_certificate(chain.front());
}

Status judge_leaf(const crypto::Certificate& leaf,
                  const std::vector<crypto::Certificate>& authorities, const std::string& mesh,
                  loop::Clock& clock) {
  const auto judged =
      crypto::judge(leaf, authorities, crypto::Role::control, mesh, clock.wall_now());
  if (judged.distrust == crypto::Distrust::none) return {};
  return fail(ErrorCode::refused, "the control plane's certificate: " + judged.why);
}

}  // namespace

wire::JudgePeer trust_authorities(std::vector<crypto::Certificate> authorities, std::string mesh,
                                  loop::Clock& clock) {
  return [authorities = std::move(authorities), mesh = std::move(mesh),
          &clock](const std::vector<Bytes>& chain) -> Status {
    DATUM_ASSIGN(const auto leaf, read_leaf(chain));
    return judge_leaf(leaf, authorities, mesh, clock);
  };
}

wire::JudgePeer trust_pin(Digest pin, loop::Clock& clock) {
  return [pin, &clock](const std::vector<Bytes>& chain) -> Status {
    DATUM_ASSIGN(const auto leaf, read_leaf(chain));
    for (std::size_t at = 1; at < chain.size(); ++at) {
      const auto authority = crypto::read_certificate(chain[at]);
      if (!authority || authority->subject.role != crypto::Role::authority ||
          authority->key.fingerprint() != pin)
        continue;
      return judge_leaf(leaf, {*authority}, authority->subject.mesh, clock);
    }
    return fail(ErrorCode::refused,
                "this is not the control plane that the token was made at: none of its "
                "certificates has the key " +
                    pin.hex());
  };
}

}  // namespace datum::link
