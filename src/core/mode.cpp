// The minimum over the terms of design §3. No term can raise what another has lowered.
#include "datum/core/mode.hpp"

namespace datum::core {

static std::string with_reason(std::string_view word, const std::string& reason) {
  std::string text(word);
  if (!reason.empty()) text.append(": ").append(reason);
  return text;
}

EffectiveMode host_mode(const ModeTerms& terms) {
  if (terms.held) return {Mode::observe, ModeTerm::hold, with_reason("hold", terms.hold_reason)};
  if (terms.outside_window)
    return {Mode::observe, ModeTerm::window,
            with_reason("outside the window", terms.window_reason)};
  if (terms.argument)
    return {*terms.argument, ModeTerm::argument,
            std::string("--mode ").append(to_string(*terms.argument))};
  if (terms.configured)
    return {*terms.configured, ModeTerm::configuration,
            std::string("agent.yaml says ").append(to_string(*terms.configured))};
  return {Mode::observe, ModeTerm::absent, "no configuration names a mode"};
}

EffectiveMode resource_mode(const EffectiveMode& host, bool policy_observe, bool in_observe_list) {
  if (host.mode == Mode::observe) return host;
  if (policy_observe) return {Mode::observe, ModeTerm::policy, "the resource's policy is observe"};
  if (in_observe_list)
    return {Mode::observe, ModeTerm::observe_list, "held in observe by agent.yaml"};
  return host;
}

}  // namespace datum::core
