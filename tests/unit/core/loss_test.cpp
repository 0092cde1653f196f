// A store that is not the one its witness knows: how that is judged, told, and ended.
#include <catch2/catch.hpp>

#include "world.hpp"

namespace {

using namespace datum;
using namespace datum::core;
using namespace datum::core::test;

Witness witness_of(const World& world) {
  return make_witness(world.state, {world.state.store, world.state.seq, digest_of("head")});
}

// What `world` says of a store that is there; its record with the witness's number has that hash.
std::optional<LossKind> judge(const World& world, const Witness& witness, const char* hash) {
  FoundStore found{world.state.store, world.state.seq, std::nullopt};
  if (hash != nullptr) found.hash = digest_of(hash);
  const auto loss = find_loss(world.state, witness, found);
  if (!loss) return std::nullopt;
  CHECK(loss->witness == witness.head);
  CHECK(loss->owned == witness.owned);
  return loss->kind;
}

// A host whose store was lost after it had made /a and /b, of which /a is still declared.
struct Lost {
  Lost() {
    before.pass(manifest_of({file("a", "/a"), file("b", "/b")}));
    world.machine = before.machine;
    world.run(RecordLoss{lost_store(LossKind::foreign, witness_of(before))});
  }
  std::vector<Event> pass() { return world.pass(manifest_of({file("a", "/a")})); }
  std::vector<Event> decide(OrphanDecision decision, std::vector<model::Target> targets) {
    return world.run(DecideOrphans{std::move(targets), decision, actor});
  }

  World before;
  World world;
  Actor actor{ActorKind::person, "ada", 0, "datum remove"};
};

}  // namespace

TEST_CASE("loss: a store is the witness's own while it holds the record that the witness names") {
  World world;
  const auto witness = witness_of(world);
  CHECK(judge(world, witness, "head") == std::nullopt);
  world.pass(manifest_of({file("a", "/a")}));
  CHECK(judge(world, witness, "head") == std::nullopt);
  CHECK(judge(world, witness, nullptr) == std::nullopt);  // its record was archived
  CHECK(judge(world, witness, "other") == LossKind::behind_witness);
}

TEST_CASE("loss: one that ends before the witness is behind, one of another name is foreign") {
  World world;
  auto witness = witness_of(world);
  ++witness.head.seq;
  CHECK(judge(world, witness, nullptr) == LossKind::behind_witness);
  witness.head.store = id_of(77);
  CHECK(judge(world, witness, nullptr) == LossKind::foreign);
}

TEST_CASE("loss: the same witness shows one loss, and tells of it once") {
  Lost lost;
  const auto witness = witness_of(lost.before);
  CHECK(lost.world.state.lost == witness.head);
  CHECK(judge(lost.world, witness, nullptr) == std::nullopt);
  lost.pass();
  lost.decide(OrphanDecision::adopt, {path("/b")});
  CHECK(judge(lost.world, witness, nullptr) == std::nullopt);
}

TEST_CASE("loss: a witness has what is owned and what waits, and the highest generation") {
  Lost lost;
  CHECK(witness_of(lost.world).owned.size() == 2);
  lost.pass();
  const auto witness = witness_of(lost.world);
  REQUIRE(witness.owned.size() == 2);
  CHECK(witness.owned.at(path("/b")).created);
  DeclarationId low, high;
  low.number = 3;
  high.number = 4;
  lost.world.append(DeclarationAccepted{low, {}, {}});
  CHECK(witness_of(lost.world).declaration == low);
  lost.world.append(DeclarationStored{high, {}});
  CHECK(witness_of(lost.world).declaration == high);
}

TEST_CASE("loss: a new store begins with it, and with one record for each target that was owned") {
  World before;
  before.pass(manifest_of({file("a", "/a"), file("b", "/b")}));
  CreateStore create{id_of(3), "/", "h", "local", "1.0"};
  create.lost = lost_store(LossKind::missing, witness_of(before));
  const auto events = decide(State{}, create);
  REQUIRE(events);
  REQUIRE(events->size() == 4);
  const auto told = all_of_kind<StoreLossDetected>(*events).front();
  CHECK(told.kind == LossKind::missing);
  CHECK(told.last_known_owned == std::vector{path("/a"), path("/b")});
  const auto orphans = all_of_kind<TargetOrphaned>(*events);
  CHECK(orphans[1].target == path("/b"));
  CHECK(orphans[1].created);
  CHECK(orphans[1].left == before.state.owned.at(path("/b")).left);
}

TEST_CASE(
    "loss: a list that no record can hold is cut there, and every target is told all the same") {
  LostStore lost;
  for (int number = 0; number < 3000; ++number) {
    Owned owned;
    owned.reference = ref("File[x]");
    lost.owned[path("/a/rather/long/name/" + std::to_string(number))] = owned;
  }
  World world;
  const auto events = world.run(RecordLoss{lost});
  CHECK(all_of_kind<StoreLossDetected>(events).front().last_known_owned.size() < 1000);
  CHECK(world.state.loss->last_known_owned.size() == 3000);
  CHECK(world.state.orphans.size() == 3000);
}

TEST_CASE("loss: what a store owns already is no orphan of another") {
  World world;
  world.pass(manifest_of({file("a", "/a")}));
  World before;
  before.pass(manifest_of({file("a", "/a"), file("b", "/b")}));
  world.run(RecordLoss{lost_store(LossKind::behind_witness, witness_of(before))});
  CHECK(world.state.loss->last_known_owned == std::vector{path("/b")});
  CHECK(world.state.owned.contains(path("/a")));
}

TEST_CASE(
    "loss: what is declared needs no decision, in observe either; the rest is never converged") {
  for (const auto mode : {Mode::observe, Mode::enforce}) {
    Lost lost;
    World::PassOptions options;
    options.mode = mode;
    lost.world.pass(manifest_of({file("a", "/a")}), options);
    CHECK(lost.world.state.loss->last_known_owned == std::vector{path("/b")});
    CHECK(lost.world.state.orphans.size() == 1);
    CHECK(lost.world.status().condition == Condition::unknown);
    CHECK(lost.world.machine.find("/b") != nullptr);
  }
}

TEST_CASE("loss: an orphan to be removed goes as whatever left the declaration, with who decided") {
  Lost lost;
  lost.pass();
  const auto events = lost.decide(OrphanDecision::remove, {path("/b")});
  const auto created = all_of_kind<OwnershipCreated>(events);
  REQUIRE(created.size() == 1);
  CHECK(created[0].actor == lost.actor);
  CHECK_FALSE(lost.world.state.loss);
  lost.pass();
  CHECK(lost.world.machine.find("/b") == nullptr);
  CHECK(lost.world.status().condition == Condition::converged);
}

TEST_CASE("loss: an orphan that was changed since is let go, and one that was adopted stays") {
  Lost changed;
  changed.pass();
  changed.world.machine.edit("/b", "by hand");
  changed.decide(OrphanDecision::remove, {path("/b")});
  changed.pass();
  CHECK(changed.world.machine.find("/b") != nullptr);
  CHECK_FALSE(changed.world.state.owned.contains(path("/b")));

  Lost adopted;
  adopted.pass();
  CHECK(all_of_kind<OwnershipAdopted>(adopted.decide(OrphanDecision::adopt, {path("/b")}))
            .front()
            .actor == adopted.actor);
  CHECK(adopted.world.status().condition == Condition::converged);
  adopted.pass();
  CHECK(adopted.world.machine.find("/b") != nullptr);
}

TEST_CASE("loss: only an orphan can be decided about, and one wrong name decides nothing") {
  Lost lost;
  lost.pass();
  const DecideOrphans command{{path("/b"), path("/a")}, OrphanDecision::remove, lost.actor};
  CHECK(lost.world.try_run(command).error().code() == ErrorCode::refused);
  CHECK(lost.world.state.orphans.contains(path("/b")));
}

TEST_CASE("loss: a second one keeps what waits from the first") {
  Lost lost;
  lost.pass();
  LostStore again;
  again.kind = LossKind::behind_witness;
  again.witness = {id_of(9), 3, digest_of("again")};
  Owned owned;
  owned.reference = ref("File[c]");
  again.owned[path("/c")] = owned;
  lost.world.run(RecordLoss{again});
  CHECK(lost.world.state.loss->last_known_owned == std::vector{path("/b"), path("/c")});
  CHECK(lost.world.state.orphans.size() == 2);
}

TEST_CASE(
    "loss: no generation below that of the lost store is taken, and at it only the same one") {
  DeclarationId known;
  known.mesh = id_of(5);
  known.epoch = 1;
  known.number = 7;
  known.manifest = digest_of("seven");
  LostStore lost;
  lost.declaration = known;
  World world;
  world.run(RecordLoss{lost});
  const auto code = [&](std::uint64_t number, const char* manifest) {
    auto next = known;
    next.number = number;
    next.manifest = digest_of(manifest);
    const auto taken = world.try_run(ReceiveDeclaration{next});
    return taken ? ErrorCode::internal : taken.error().code();
  };
  CHECK(code(6, "six") == ErrorCode::refused);
  CHECK(code(7, "other") == ErrorCode::refused);
  CHECK(code(7, "seven") == ErrorCode::internal);
  CHECK(code(8, "eight") == ErrorCode::internal);
  known.mesh = id_of(6);  // of another mesh it says nothing
  CHECK(code(1, "one") == ErrorCode::internal);
}
