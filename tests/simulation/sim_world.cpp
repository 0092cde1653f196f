#include "sim_world.hpp"

#include <algorithm>
#include <set>

#include "datum/crypto/digest.hpp"
#include "datum/history/events.hpp"
#include "datum/history/history.hpp"
#include "datum/os/accounts.hpp"

namespace datum::simulation {

namespace {

constexpr const char* kState = "/var/lib/datum";
constexpr std::uint64_t kMaxSteps = 200'000;  // of one life; a pass takes a few hundred

journal::OpenOptions journal_options() {
  journal::OpenOptions options;
  options.indexes = history::index_names();
  return options;
}

// Contents of a manifest that stand in it.
class InlineContents : public ContentSource {
 public:
  explicit InlineContents(model::ManifestPtr manifest) : manifest_(std::move(manifest)) {}
  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    for (const auto& resource : manifest_->resources)
      if (const auto* content = resource->content();
          content != nullptr && content->digest == digest)
        return std::unique_ptr<ByteSource>(std::make_unique<Text>(content->bytes));
    return fail(ErrorCode::not_found, "no such content");
  }

 private:
  class Text : public ByteSource {
   public:
    explicit Text(std::string text) : text_(std::move(text)) {}
    Result<std::size_t> read(MutableByteView out) override {
      const auto size = std::min(out.size(), text_.size() - at_);
      std::copy_n(as_bytes(text_).begin() + static_cast<std::ptrdiff_t>(at_), size, out.begin());
      at_ += size;
      return size;
    }

   private:
    std::string text_;
    std::size_t at_ = 0;
  };
  model::ManifestPtr manifest_;
};

model::ResourcePtr make_resource(model::ResourceType type, const std::string& path,
                                 std::vector<model::FieldValue> fields) {
  auto resource = std::make_shared<model::Resource>();
  resource->reference = {type, path.substr(1)};
  std::replace(resource->reference.name.begin(), resource->reference.name.end(), '/', '-');
  resource->fields = std::move(fields);
  resource->fields.push_back({model::Field::path, path});
  model::finish_resource(*resource);
  return resource;
}

}  // namespace

struct World::Fault {
  enum class Kind { none, kill, power_cut, journal_fails, blob_fails, hold } kind = Kind::none;
  std::uint64_t after_steps = 0;    // of the loop
  std::uint64_t after_changes = 0;  // changing system calls; 0: not by these
};

// Everything that dies with a process, in the order in which it must go.
struct World::Process {
  explicit Process(std::uint64_t seed) : loop(seed) {}
  support::SimLoop loop;
  os::Handle root;
  std::unique_ptr<os::Accounts> accounts;
  std::shared_ptr<resource::Machine> machine;
  engine::Store store;
  std::unique_ptr<engine::Conductor> conductor;
  std::optional<loop::Task<bool>> task;
  std::optional<Result<engine::PassReport>> report;
  core::Mode mode = core::Mode::observe;
  bool held = false;
};

World::World(std::uint64_t seed)
    : seed_(seed), random_(seed), disk_(std::make_shared<journal::SimDisk>(seed)) {
  files_.put_directory(kState, 0700);
  files_.put_directory("/etc");
  files_.put_directory("/srv");
  files_.settle();
  boot_.bytes[0] = 1;
  files_.set_before_call(
      [this](support::Call call, std::string_view name) { check_call(call, name); });
  declare_anew();
}

World::~World() {
  files_.set_before_call({});
}

std::uint64_t World::draw(std::uint64_t below) {
  return below == 0 ? 0 : random_() % below;
}

void World::violate(const std::string& what) {
  violations_.push_back("round " + std::to_string(counts_.rounds) + ": " + what);
}

// A few folders, files and links out of a small world, so that versions overlap and leave each
// other.
void World::declare_anew() {
  auto manifest = std::make_shared<model::Manifest>();
  manifest->host = "sim";
  const auto version = std::to_string(draw(4));
  for (const char* folder : {"/etc/a", "/etc/a/b", "/srv/c"}) {
    std::vector<model::FieldValue> fields{{model::Field::mode, std::string("0755")}};
    if (chance(30) && std::string(folder) == "/srv/c")
      fields.push_back({model::Field::purge, true});
    manifest->resources.push_back(
        make_resource(model::ResourceType::directory, folder, std::move(fields)));
  }
  for (int number = 0; number < 12; ++number) {
    if (chance(25)) continue;  // leaves, or was never there
    static constexpr const char* kFolders[] = {"/etc/a", "/etc/a/b", "/srv/c", "/etc"};
    const auto path = std::string(kFolders[number % 4]) + "/file" + std::to_string(number);
    model::Content content;
    content.bytes = "file " + std::to_string(number) + " version " + version + "\n";
    content.size = content.bytes.size();
    content.has_bytes = true;
    content.digest = crypto::sha256(as_bytes(content.bytes));
    manifest->resources.push_back(
        make_resource(model::ResourceType::file, path,
                      {{model::Field::content, content},
                       {model::Field::mode, std::string(chance(50) ? "0644" : "0600")}}));
  }
  for (int number = 0; number < 3; ++number) {
    if (chance(30)) continue;
    manifest->resources.push_back(
        make_resource(model::ResourceType::symlink, "/srv/c/link" + std::to_string(number),
                      {{model::Field::target, "f" + std::to_string(number) + "-" + version}}));
  }
  if (auto finished = model::finish_manifest(*manifest); !finished)
    violate("the generator made a bad manifest: " + finished.error().message());
  manifest_ = std::move(manifest);
  contents_ = std::make_shared<InlineContents>(manifest_);
}

void World::write_as_foreigner() {
  ++counts_.faults["foreign writer"];
  foreign_since_pass_ = true;
  const auto& resources = manifest_->resources;
  for (std::uint64_t i = 0; i < 1 + draw(3); ++i) {
    const auto& resource = *resources[draw(resources.size())];
    const auto& path = resource.target.name;
    const auto stat = files_.find_stat(path);
    if (resource.reference.type == model::ResourceType::directory) {
      if (stat) files_.set_mode_of(path, 0700);
      continue;
    }
    if (!stat) continue;
    if (chance(30))
      files_.remove(path);
    else if (resource.reference.type == model::ResourceType::file && chance(50))
      files_.put_file(path, "somebody else's\n", 0666);
    else if (stat->type == os::FileType::regular)
      files_.set_mode_of(path, 0777);
  }
  if (files_.find_stat("/srv/c") && chance(30)) files_.put_file("/srv/c/stray", "stray\n");
}

World::Fault World::choose_fault() {
  Fault fault;
  fault.kind = static_cast<Fault::Kind>(draw(6));
  fault.after_steps = 1 + draw(25);
  if (chance(60)) fault.after_changes = 1 + draw(60);
  return fault;
}

// A name that the generator or a foreigner gives below /etc and /srv; everything else that changes
// lies in the store.
static bool is_tree_name(std::string_view name) {
  return name.starts_with("file") || name.starts_with("link") || name == "stray";
}

// No effect outside the store without its durable announcement, and none at all in observe.
void World::check_call(support::Call call, std::string_view name) {
  if (process_ == nullptr || !support::changes_machine(call)) return;
  const auto* history = process_->store.history.get();
  const bool staged = name.starts_with(".datum-");
  if (history == nullptr || !(staged || is_tree_name(name))) return;
  if (staged && (call == support::Call::remove_file || call == support::Call::remove_directory))
    return;  // cleaning up is no effect of a pass
  if (process_->mode == core::Mode::observe)
    violate("a changing call in observe: " + std::string(name));
  const auto& pass = history->state().pass;
  if (!pass || pass->open.empty() || history->durable() != history->state().seq)
    violate("an effect without a durable announcement: " + std::string(support::to_string(call)) +
            " " + std::string(name));
}

static loop::Task<bool> one_life(engine::Conductor& conductor, engine::PassRequest request,
                                 std::optional<Result<engine::PassReport>>& report) {
  const auto terms = request.read_terms();
  auto recovering = conductor.recover(terms, request.manifest);
  auto recovered = co_await recovering;
  if (!recovered) {
    report.emplace(fail(std::move(recovered).error()));
    co_return false;
  }
  auto running = conductor.run(std::move(request));
  report.emplace(co_await running);
  co_return true;
}

void World::run_pass(core::Mode mode, const Fault& fault) {
  Process process(random_());
  process.loop.set_boot_id(boot_);
  process.mode = mode;
  if (fault.kind == Fault::Kind::journal_fails)
    disk_->set_faults({.fail_write = 1 + draw(20), .fail_sync = 1 + draw(8)});
  auto log = journal::open_sim_log(disk_, journal_options(), seed_);
  auto history = log ? history::History::open(process.loop, std::move(*log))
                     : Result<std::unique_ptr<history::History>>(fail(log.error()));
  if (!history) {
    if (fault.kind != Fault::Kind::journal_fails)
      violate("the journal does not open: " + history.error().message());
    disk_->set_faults({});
    if (disk_->is_locked()) disk_->unlock(disk_->boot());
    return;
  }
  process_ = &process;
  auto store = engine::open_store_over(process.loop, files_, kState, std::move(*history),
                                       {"/", "sim", "local", "1"});
  auto root = files_.open_root("/");
  if (!store || !root) {
    violate("the store does not open: " + (store ? root.error() : store.error()).message());
    process_ = nullptr;
    return;
  }
  process.store = std::move(*store);
  process.root = std::move(*root);
  auto accounts = os::read_accounts(files_, process.root);
  process.accounts = std::move(*accounts);
  process.machine = std::make_shared<resource::Machine>();
  process.machine->files = &files_;
  process.machine->root = &process.root;
  process.machine->root_path = "/";
  process.machine->accounts = process.accounts.get();
  process.machine->content = contents_.get();
  process.machine->sensitive_key = process.store.sensitive_key;
  process.conductor =
      std::make_unique<engine::Conductor>(process.loop, process.store, process.machine);
  engine::PassRequest request;
  request.manifest = manifest_;
  request.content = contents_;
  request.version = "1";
  request.limits.allowed = 100;
  request.read_terms = [&process] {
    core::ModeTerms terms;
    terms.argument = process.mode;
    terms.held = process.held;
    return terms;
  };
  process.task.emplace(one_life(*process.conductor, std::move(request), process.report));
  drive(process, fault);
  end(process, fault);
  process_ = nullptr;
}

// Steps the loop until the pass has ended or the fault is due.
void World::drive(Process& process, const Fault& fault) {
  const bool dies = fault.kind == Fault::Kind::kill || fault.kind == Fault::Kind::power_cut;
  if (dies && fault.after_changes != 0) files_.stop_at_change(fault.after_changes);
  if (fault.kind == Fault::Kind::blob_fails)
    files_.fail_call(chance(50) ? support::Call::sync : support::Call::write, 1 + draw(12), 28);
  process.loop.post([&process] { process.task->start(); });
  for (std::uint64_t step = 0; step < kMaxSteps; ++step) {
    if (process.report) return;
    if (dies && (files_.stopped() || (fault.after_changes == 0 && step >= fault.after_steps)))
      return;
    if (fault.kind == Fault::Kind::hold && step >= fault.after_steps) process.held = true;
    if (!process.loop.step()) break;
    ++counts_.steps;
  }
  if (!process.report) violate("the pass hangs");
}

void World::end(Process& process, const Fault& fault) {
  static constexpr const char* kNames[] = {
      "none", "killed", "power cut", "journal fails", "blob or file call fails", "hold"};
  ++counts_.faults[kNames[static_cast<int>(fault.kind)]];
  const bool finished = process.report.has_value();
  if (finished && process.store.history->healthy()) {
    if (*process.report) {
      ++counts_.passes;
      counts_.actions += process.report->value().outcomes.size();
    } else if (fault.kind == Fault::Kind::none) {
      violate("a pass without a fault failed: " + process.report->error().message());
    }
  }
  if (const auto& pass = process.store.history->state().pass;
      !finished && pass && !pass->open.empty())
    ++counts_.crashes_in_wave;
  process.loop.kill();
  process.task.reset();
  process.conductor.reset();
  process.machine.reset();
  process.root = {};
  process.store.blobs.reset();
  process_ = nullptr;
  process.store.history.reset();
  disk_->set_faults({});
  if (fault.kind == Fault::Kind::power_cut) {
    files_.crash(random_());
    disk_->crash();
    ++boot_.bytes[1];
  } else {
    files_.end_process();
    if (disk_->is_locked()) disk_->unlock(disk_->boot());
  }
  files_.stop_at_change(0);
  files_.forget_faults();
}

// Dense, whole, and the State is what its records add up to; what is claimed is true on the model.
void World::check_journal() {
  auto log = journal::open_sim_log(disk_, journal_options(), seed_);
  if (!log) return violate("the journal does not open again: " + log.error().message());
  const auto verified = history::verify(**log);
  if (!verified)
    violate("verify: " + verified.error().message());
  else if (!verified->sound)
    violate("verify: " + verified->problem);
  reader_ = log->get();
  const auto whole = history::fold(**log, 0, false);
  const auto quick = history::fold(**log, 0, true);
  if (!whole || !quick || !(*whole == *quick))
    violate("the state from the checkpoint is not the state from all records");
  else if (!foreign_since_pass_)
    check_claims(*whole);
  reader_ = nullptr;
  log->reset();
  if (disk_->is_locked()) disk_->unlock(disk_->boot());
}

// The last records about a target, for the report of a violation.
std::string World::story_of(const model::Target& target) {
  std::string story;
  if (reader_ == nullptr) return story;
  const auto events = history::find_target(*reader_, target, 1, 1'000'000);
  if (!events) return events.error().message();
  const auto skip = events->size() > 8 ? events->size() - 8 : 0;
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

// What Datum left, as the journal says it, lies there, unless an action on it is open.
void World::check_claims(const core::State& state) {
  for (const auto& [target, owned] : state.owned) {
    if (!owned.created || owned.left.found != core::Found::file) continue;
    if (state.pass)
      for (const auto& [ordinal, open] : state.pass->open)
        if (open.target == target) goto next;
    {
      const auto content = files_.find_content(target.name);
      const auto stat = files_.find_stat(target.name);
      const auto key = files_.find_content(std::string(kState) + "/key");
      const auto is_left = [&](const Digest& left) {
        // Digests of what others may not read are keyed; the mode may have changed since.
        return left.empty() || left == crypto::sha256(as_bytes(*content)) ||
               (key && left == crypto::hmac_sha256(as_bytes(*key),
                                                   crypto::sha256(as_bytes(*content)).view()));
      };
      if (!content)
        violate("the journal says that " + target.name + " was left there, and it is gone; " +
                story_of(target));
      else if (stat->inode == owned.left.inode && !is_left(owned.left.content))
        violate("the journal claims another content of " + target.name + ", which is \"" +
                *content + "\"; " + story_of(target));
    }
  next:;
  }
}

std::vector<std::string> World::listing() {
  std::vector<std::string> lines;
  for (const auto& path : files_.paths()) {
    if (path.starts_with(kState)) continue;
    const auto stat = files_.find_stat(path);
    lines.push_back(path + " " + std::to_string(stat->inode) + " " + std::to_string(stat->mode) +
                    " " + std::to_string(stat->ctime_ns));
  }
  return lines;
}

std::vector<std::string> World::leftovers() {
  std::vector<std::string> found;
  for (const auto& path : files_.paths())
    if (path.find("/.datum-") != std::string::npos) found.push_back(path);
  return found;
}

void World::live_once() {
  ++counts_.rounds;
  if (chance(40)) declare_anew();
  if (chance(30)) write_as_foreigner();
  const auto fault = choose_fault();
  const auto mode = chance(25) ? core::Mode::observe : core::Mode::enforce;
  const auto before = listing();
  run_pass(mode, fault);
  if (mode == core::Mode::observe && fault.kind != Fault::Kind::power_cut && listing() != before)
    violate("observe changed the tree");
  check_journal();
  if (mode == core::Mode::enforce && fault.kind == Fault::Kind::none) foreign_since_pass_ = false;
}

void World::heal_and_demand() {
  ++counts_.rounds;
  const Fault none;
  run_pass(core::Mode::enforce, none);
  run_pass(core::Mode::enforce, none);
  foreign_since_pass_ = false;
  const auto left = leftovers();
  if (!left.empty()) violate("left behind: " + left.front());
  for (const auto& resource : manifest_->resources) {
    const auto* content = resource->content();
    const auto& path = resource->target.name;
    if (content != nullptr && files_.find_content(path) != content->bytes)
      violate("not converged: " + path);
    if (resource->reference.type == model::ResourceType::symlink &&
        files_.find_target(path) != resource->text(model::Field::target))
      violate("not converged: " + path);
  }
  const auto records = [this] {
    auto log = journal::open_sim_log(disk_, journal_options(), seed_);
    const auto head = log ? (*log)->read_head() : Result<journal::Head>(fail(log.error()));
    if (log) log->reset();
    if (disk_->is_locked()) disk_->unlock(disk_->boot());
    return head ? head->seq : 0;
  };
  const auto before = records();
  const auto tree = listing();
  run_pass(core::Mode::enforce, none);
  if (listing() != tree) violate("a converged pass changed the tree");
  if (records() > before + 4)
    violate("a converged pass appended " + std::to_string(records() - before) + " records");
  check_journal();
}

}  // namespace datum::simulation
