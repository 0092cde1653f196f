// What is said of events: kinds, words, passes, targets.
#include "datum/core/event.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <utility>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

template <std::size_t... I>
std::vector<Event> one_of_each(std::index_sequence<I...>) {
  return {Event(std::variant_alternative_t<I, AnyEvent>())...};
}

}  // namespace

TEST_CASE("event: every alternative has a kind and a word of its own, in ascending order") {
  std::set<std::string_view> words;
  int last = 0;
  for (const auto& event : one_of_each(std::make_index_sequence<std::variant_size_v<AnyEvent>>())) {
    const auto kind = kind_of(event);
    CHECK(static_cast<int>(kind) > last);
    last = static_cast<int>(kind);
    CHECK(to_string(kind) != "?");
    CHECK(words.insert(to_string(kind)).second);
  }
}

TEST_CASE("event: the stored numbers of each group's first kind stay what they are") {
  CHECK(kind_of(Event(StoreCreated{})) == EventKind{1});
  CHECK(kind_of(Event(LifecycleChanged{})) == EventKind{20});
  CHECK(kind_of(Event(PassStarted{})) == EventKind{80});
  CHECK(kind_of(Event(ResourcesForgotten{})) == EventKind{87});
  CHECK(kind_of(Event(ActionsAnnounced{})) == EventKind{100});
  CHECK(kind_of(Event(OwnershipRemoved{})) == EventKind{144});
  CHECK(kind_of(Event(RebootSeen{})) == EventKind{201});
}

TEST_CASE("event: a kind that is not known is a question mark") {
  CHECK(to_string(EventKind{999}) == "?");
  CHECK(to_string(Condition{77}) == "?");
}

TEST_CASE("event: pass and targets are found in whatever event has them") {
  ActionSucceeded succeeded;
  succeeded.pass = 9;
  succeeded.target = path("/a");
  CHECK(pass_of(Event(succeeded)) == 9);
  CHECK(pass_of(Event(StoreClosed{})) == 0);
  const Event event(succeeded);
  REQUIRE(targets_of(event).size() == 1);
  CHECK(targets_of(event).front()->name == "/a");
  ActionsAnnounced announced;
  announced.actions.resize(2);
  const Event wave(announced);
  CHECK(targets_of(wave).size() == 2);
  ResourcesForgotten forgotten;
  forgotten.targets.resize(3);
  const Event gone(forgotten);
  CHECK(targets_of(gone).size() == 3);
  NotificationRaised raised;
  raised.unit.name = "web.service";
  const Event notification(raised);
  CHECK(targets_of(notification).front()->name == "web.service");
}

TEST_CASE("event: every blob that an event names is told, and nothing that is none") {
  ActionsAnnounced announced;
  announced.plan = digest_of("plan");
  announced.actions.resize(2);
  announced.actions[1].old_content = digest_of("old");
  const Event wave(announced);
  CHECK(blobs_of(wave) == std::vector{digest_of("plan"), digest_of("old")});
  PassStarted started;
  started.declaration.manifest = digest_of("manifest");
  started.provenance.documents = digest_of("documents");
  const Event start(started);
  CHECK(blobs_of(start) == std::vector{digest_of("manifest"), digest_of("documents")});
  ResourceObserved observed;
  observed.content = digest_of("content");
  const Event seen(observed);
  CHECK(blobs_of(seen).empty());
  PassFinished finished;
  const Event end(finished);
  CHECK(blobs_of(end).empty());
}
