// The minimum over the terms, and who is named for it.
#include "datum/core/mode.hpp"

#include <catch2/catch.hpp>

using namespace datum::core;

TEST_CASE("mode: without any configuration the host observes") {
  const auto mode = host_mode({});
  CHECK(mode.mode == Mode::observe);
  CHECK(mode.term == ModeTerm::absent);
}

TEST_CASE("mode: an argument stands in for the configuration in both directions") {
  ModeTerms terms;
  terms.configured = Mode::enforce;
  CHECK(host_mode(terms).term == ModeTerm::configuration);
  terms.argument = Mode::observe;
  CHECK(host_mode(terms).mode == Mode::observe);
  CHECK(host_mode(terms).term == ModeTerm::argument);
  terms.configured = Mode::observe;
  terms.argument = Mode::enforce;
  CHECK(host_mode(terms).mode == Mode::enforce);
}

TEST_CASE("mode: a hold wins over an argument and names its reason") {
  ModeTerms terms;
  terms.argument = Mode::enforce;
  terms.held = true;
  terms.outside_window = true;
  terms.hold_reason = "database migration";
  const auto mode = host_mode(terms);
  CHECK(mode.mode == Mode::observe);
  CHECK(mode.term == ModeTerm::hold);
  CHECK(mode.reason == "hold: database migration");
  terms.held = false;
  CHECK(host_mode(terms).term == ModeTerm::window);
}

TEST_CASE("mode: a resource can only be weaker than its host") {
  const EffectiveMode enforce{Mode::enforce, ModeTerm::configuration, ""};
  const EffectiveMode observe{Mode::observe, ModeTerm::hold, "hold"};
  CHECK(resource_mode(enforce, false, false) == enforce);
  CHECK(resource_mode(enforce, true, false).term == ModeTerm::policy);
  CHECK(resource_mode(enforce, false, true).term == ModeTerm::observe_list);
  CHECK(resource_mode(observe, false, false) == observe);
  CHECK(resource_mode(observe, true, true).term == ModeTerm::hold);
}
