// The questions: no effect without its durable announcement, none at all in observe or while
// recovery looks; removals only of what the journal owns; a dense and whole journal whose replay is
// the live state; nothing told as done that the machine denies.
#include <algorithm>
#include <charconv>

#include "datum/crypto/digest.hpp"
#include "datum/history/events.hpp"
#include "sim_world.hpp"

namespace datum::simulation {

namespace {

bool is_removal(support::Call call) {
  return call == support::Call::remove_file || call == support::Call::remove_directory;
}

std::string_view last_component(const std::string& path) {
  return std::string_view(path).substr(path.rfind('/') + 1);
}

struct StagedName {
  std::string store;
  PassId pass = 0;
  std::uint32_t ordinal = 0;
};

// ".datum-STORE-PASS-ORDINAL", with a suffix or without.
StagedName parse_staged(std::string_view name) {
  StagedName staged;
  name.remove_prefix(std::string_view(".datum-").size());
  const auto store = name.substr(0, name.find('-'));
  staged.store = store;
  name.remove_prefix(std::min(store.size() + 1, name.size()));
  const auto pass = std::from_chars(name.data(), name.data() + name.size(), staged.pass);
  const auto* end = name.data() + name.size();
  if (pass.ptr < end) std::from_chars(pass.ptr + 1, end, staged.ordinal);
  return staged;
}

const core::AnnouncedState* find_open(const core::State& state, std::string_view name) {
  if (!state.pass) return nullptr;
  for (const auto& [ordinal, action] : state.pass->open)
    if (last_component(action.target.name) == name) return &action;
  return nullptr;
}

std::string describe(support::Call call, std::string_view name) {
  return std::string(support::to_string(call)) + " " + std::string(name);
}

}  // namespace

void World::check_call(support::Call call, std::string_view name) {
  if (life_ == nullptr || !support::changes_machine(call) || !life_->has_store()) return;
  const bool staged = name.starts_with(".datum-");
  const auto path = path_of(name);
  if (!staged && !path) return;
  if (life_->order().mode == core::Mode::observe)
    violate("a changing call in observe: " + describe(call, name));
  const auto& state = life_->state();
  if (!life_->all_durable()) violate("an effect before its announcement: " + describe(call, name));
  if (life_->phase() == Phase::recovery && state.pass)
    violate("recovery changes something before it has told: " + describe(call, name));
  const auto* open = find_open(state, name);
  if (open != nullptr && is_removal(call)) return check_removal(call, *path, open->kind);
  if (open != nullptr) return;
  if (staged) return check_staged(call, name);
  const bool given_back =
      call == support::Call::rename &&
      std::any_of(state.leftovers.begin(), state.leftovers.end(),
                  [&](const core::Leftover& left) { return left.target.name == *path; });
  if (!given_back) violate("an effect without an announcement: " + describe(call, name));
}

void World::check_staged(support::Call call, std::string_view name) {
  const auto& state = life_->state();
  const auto staged = parse_staged(name);
  const bool ours = staged.store == state.store.hex().substr(0, 16);
  const bool open = ours && state.pass && state.pass->id == staged.pass &&
                    state.pass->open.contains(staged.ordinal);
  const auto is_it = [&](const core::Leftover& left) {
    return left.pass == staged.pass && left.ordinal == staged.ordinal;
  };
  const bool known = ours && is_removal(call) &&
                     std::any_of(state.leftovers.begin(), state.leftovers.end(), is_it);
  if (!open && !known) violate("a temp file that nothing announced: " + describe(call, name));
}

void World::check_removal(support::Call call, const std::string& path, core::ActionKind kind) {
  using core::ActionKind;
  // A purge and `state: absent` remove whatever is there: a person said so by name.
  if (kind == ActionKind::purge || kind == ActionKind::remove) return;
  const auto what = describe(call, path);
  if (kind != ActionKind::leave && kind != ActionKind::replace)
    return violate("removed by an action that is no removal: " + what);
  const auto& owned = life_->state().owned;
  const auto known = owned.find({model::TargetFamily::path, path});
  if (known == owned.end() || !known->second.created)
    return violate("removed, and the journal did not create it: " + what);
  const auto stat = site_.files.find_stat(path);
  if (stat && stat->inode != known->second.left.inode)
    violate("removed, and it is not what Datum left there: " + what);
}

void World::check_step() {
  auto now = describe_tree(site_);
  if (now == tree_) return;
  tree_ = std::move(now);
  note_contents(false);
  if (life_->order().mode == core::Mode::observe) violate("observe changed the tree");
}

// --- between lives

void World::check_journal() {
  auto log = site_.open_journal();
  if (!log) return violate("the journal does not open again: " + log.error().message());
  const auto verified = history::verify(**log);
  if (!verified)
    violate("verify: " + verified.error().message());
  else if (!verified->sound)
    violate("verify: " + verified->problem);
  const auto whole = history::fold(**log, 0, false);
  const auto quick = history::fold(**log, 0, true);
  if (!whole || !quick || !(*whole == *quick)) {
    violate("the state from the checkpoint is not the state from all records");
  } else {
    state_ = *whole;
    check_orphans();
    check_claims(**log, *whole);
    check_deliveries(**log);
  }
  if (remembered_) {
    const auto then = history::fold(**log, remembered_->seq, false);
    if (!then || !(*then == *remembered_))
      violate("what was durable at " + std::to_string(remembered_->seq) +
              " replays to another state than was live");
  }
  log->reset();
  site_.unlock_journal();
}

// Whatever the lost store had owned is owned, or waits, until a pass has looked at what is
// declared.
void World::check_orphans() {
  if (!site_.witness || state_.store.empty()) return;
  if (state_.lost != site_.witness->head) return violate("a lost store is not told");
  if (state_.last_pass || state_.interrupted || state_.pass) return;
  for (const auto& [target, owned] : site_.witness->owned)
    if (!state_.owned.contains(target) && !state_.orphans.contains(target))
      violate("owned by a lost store, and forgotten: " + target.text());
}

// Gathers the last that is told of each target, and what was told to be created on the way.
struct World::Telling {
  std::map<model::Target, Word> words;
  std::optional<model::Target> creating;  // by the action whose end comes next
  std::vector<std::pair<model::Target, std::uint64_t>> created;  // with its inode

  void done(const model::Target& target, Seq seq, const core::Left& left) {
    words[target] = {seq, true, left};
    if (creating == target) created.emplace_back(target, left.inode);
    creating.reset();
  }
  void take(const history::StoredEvent& stored) {
    const auto seq = stored.place.seq;
    if (const auto* owned = std::get_if<core::OwnershipCreated>(&stored.event))
      // What a lost store had made is no claim of this one's.
      creating = owned->actor ? std::nullopt : std::optional(owned->target);
    else if (const auto* succeeded = std::get_if<core::ActionSucceeded>(&stored.event))
      done(succeeded->target, seq, succeeded->left);
    else if (const auto* failed = std::get_if<core::ActionFailed>(&stored.event))
      words[failed->target] = {seq, false, {}};
    else if (const auto* announced = std::get_if<core::ActionsAnnounced>(&stored.event))
      for (const auto& action : announced->actions) words[action.target] = {seq, false, {}};
    else if (const auto* recovered = std::get_if<core::ActionRecovered>(&stored.event);
             recovered != nullptr && recovered->outcome == core::RecoveredOutcome::took_effect)
      done(recovered->target, seq, recovered->left);
  }
};

void World::check_claims(journal::Log& log, const core::State& state) {
  Telling telling;
  const auto scanned = history::scan_events(log, 1, [&](const history::StoredEvent& stored) {
    telling.take(stored);
    return journal::Visit::go_on;
  });
  if (!scanned) violate("the journal cannot be read: " + scanned.error().message());
  for (const auto& [target, inode] : telling.created)
    if (foreigner_.made(inode)) violate("claimed as created, and not Datum's: " + target.name);
  for (const auto& [target, word] : telling.words) {
    if (!word.done || target.family != model::TargetFamily::path) continue;
    const auto touched = touched_.find(target.name);
    if (touched != touched_.end() && touched->second >= word.seq) continue;
    check_claim(log, target.name, word);
  }
  for (const auto& [target, owned] : state.owned)
    if (owned.left.found == core::Found::unseen)
      violate(target.name + " is owned and was not seen");
}

// Digests of what others may not read are keyed; the mode may have changed since.
bool World::is_left(const std::string& content, const Digest& left) {
  if (left.empty()) return true;
  const auto plain = crypto::sha256(as_bytes(content));
  const auto key = site_.files.find_content(std::string(kStore) + "/key");
  return left == plain || (key && left == crypto::hmac_sha256(as_bytes(*key), plain.view()));
}

// The last records about a path, for whoever has to find out.
static std::string story_of(journal::Log& log, const std::string& path) {
  constexpr std::size_t kShown = 8;
  std::string story;
  const auto events = history::find_target(log, {model::TargetFamily::path, path}, 1, 1'000'000);
  if (!events) return events.error().message();
  const auto skip = events->size() > kShown ? events->size() - kShown : 0;
  for (std::size_t i = skip; i < events->size(); ++i) {
    const auto& stored = (*events)[i];
    story += " " + std::to_string(stored.place.seq) + ":" +
             std::string(core::to_string(core::kind_of(stored.event)));
    if (const auto* recovered = std::get_if<core::ActionRecovered>(&stored.event))
      story += "(" + std::string(core::to_string(recovered->outcome)) + ")";
    if (const auto* done = std::get_if<core::ActionSucceeded>(&stored.event))
      story += "(" + std::string(core::to_string(done->kind)) + ")";
  }
  return story;
}

void World::check_claim(journal::Log& log, const std::string& path, const Word& word) {
  const auto stat = site_.files.find_stat(path);
  const auto at = " (record " + std::to_string(word.seq) + ");" + story_of(log, path);
  if (word.left.found == core::Found::absent) {
    if (stat) violate("told as gone, and it is there: " + path + at);
    return;
  }
  if (!stat) return violate("told as done, and it is gone: " + path + at);
  if (stat->inode != word.left.inode) return violate("told as done, and another: " + path + at);
  const auto content = site_.files.find_content(path);
  if (content && word.left.found == core::Found::file && !is_left(*content, word.left.content))
    violate("told as done, with other content: " + path + " has \"" + *content + "\"" + at);
}

}  // namespace datum::simulation
