#include "support/model_packages.hpp"

#include <algorithm>
#include <string_view>

namespace datum::support {

namespace {

std::string bare(const std::string& name) {
  constexpr std::string_view kOwn = ":amd64";
  return name.ends_with(kOwn) ? name.substr(0, name.size() - kOwn.size()) : name;
}

std::string paragraph(const std::string& name, const ModelPackage& package) {
  return "Package: " + name + "\nStatus: " + (package.held ? "hold" : "install") +
         (package.needs_reinstall ? " reinstreq " : " ok ") +
         std::string(os::to_string(package.state)) +
         "\nArchitecture: amd64\nVersion: " + package.version + "\n\n";
}

}  // namespace

const ModelPackage* ModelPackages::find(const std::string& name) const {
  const auto found = installed_.find(bare(name));
  return found == installed_.end() ? nullptr : &found->second;
}

bool ModelPackages::is_present(const std::string& name) const {
  const auto* package = find(name);
  return package != nullptr && package->state != os::PackageState::not_installed &&
         package->state != os::PackageState::config_files;
}

Result<os::PackageBook> ModelPackages::read() {
  ++counts_.reads;
  if (absent_) return fail(ErrorCode::not_found, *absent_);
  auto text = paragraph("dpkg", {"1.21", os::PackageState::installed, false, false});
  for (const auto& [name, package] : installed_) text += paragraph(name, package);
  std::vector<std::string> updates;
  if (unmerged_) updates.emplace_back("");
  return os::PackageBook::parse(std::move(text), std::move(updates));
}

const Offer* ModelPackages::find_offer(const std::string& name, const std::string& version) const {
  const auto offers = lists_.find(bare(name));
  if (offers == lists_.end() || offers->second.empty()) return nullptr;
  if (version.empty()) return &offers->second.back();
  for (const auto& offer : offers->second)
    if (offer.version == version) return &offer;
  return nullptr;
}

void ModelPackages::foresee_install(const std::string& name, const Offer& offer,
                                    os::Foresight& seen, std::set<std::string>& done) const {
  if (!done.insert(name).second) return;
  using Kind = os::ForeseenChange::Kind;
  for (const auto& enemy : offer.enemies)
    if (is_present(enemy) && done.insert(enemy).second)
      seen.changes.push_back({Kind::remove, enemy, find(enemy)->version, ""});
  for (const auto& need : offer.needs) {
    const auto* found = find_offer(need, "");
    if (found != nullptr && (!is_present(need) || find(need)->version != found->version))
      foresee_install(need, *found, seen, done);
  }
  const auto from = is_present(name) ? find(name)->version : std::string();
  seen.changes.push_back({Kind::install, name, from, offer.version});
  seen.changes.push_back({Kind::configure, name, "", offer.version});
}

os::Foresight ModelPackages::foresee(const os::PackageOrder& order) const {
  os::Foresight seen;
  std::set<std::string> done;
  for (const auto& wish : order.wishes) {
    const auto name = bare(wish.name);
    if (wish.remove) {
      if (is_present(name) && done.insert(name).second)
        seen.changes.push_back({os::ForeseenChange::Kind::remove, name, find(name)->version, ""});
      continue;
    }
    const auto* offer = find_offer(name, wish.version);
    if (offer == nullptr) {
      seen.unknown.push_back(name);
      seen.refusal += (seen.refusal.empty() ? "" : "; ") + name + " was not found";
      continue;
    }
    foresee_install(name, *offer, seen, done);
  }
  for (const auto& [name, package] : installed_)
    if (package.state == os::PackageState::half_configured && !done.contains(name))
      seen.changes.push_back({os::ForeseenChange::Kind::configure, name, "", package.version});
  return seen;
}

Result<os::Foresight> ModelPackages::simulate(const os::PackageOrder& order,
                                              const os::RunChild& /*run_child*/) {
  ++counts_.simulations;
  return foresee(order);
}

os::Tool ModelPackages::transaction(const os::PackageOrder& order) {
  orders_.push_back(order);
  os::Tool tool{{kProgram, "change", std::to_string(orders_.size() - 1),
                 order.replace_conffiles ? "replace" : "keep"},
                {}};
  for (const auto& wish : order.wishes) tool.argv.push_back(wish.name);
  return tool;
}

os::Tool ModelPackages::hold(const std::vector<std::string>& names, bool held) {
  os::Tool tool{{kProgram, held ? "hold" : "unhold"}, {}};
  tool.argv.insert(tool.argv.end(), names.begin(), names.end());
  return tool;
}

int ModelPackages::change(const os::PackageOrder& order) {
  ++counts_.transactions;
  const auto seen = foresee(order);
  if (!seen.refusal.empty()) return 100;
  int status = 0;
  for (const auto& change : seen.changes) {
    if (change.kind == os::ForeseenChange::Kind::remove) installed_.erase(change.name);
    if (change.kind != os::ForeseenChange::Kind::install) continue;
    auto& package = installed_[change.name];
    const auto* offer = find_offer(change.name, change.to);
    package.version = change.to;
    package.needs_reinstall = false;
    package.held = false;  // as some package managers do
    package.state =
        offer->script_fails ? os::PackageState::half_configured : os::PackageState::installed;
    if (offer->script_fails) status = 100;
  }
  return status;
}

int ModelPackages::carry_out(const std::vector<std::string>& argv) {
  const auto& verb = argv.at(1);
  if (verb == "change") return change(orders_.at(std::stoul(argv.at(2))));
  if (verb == "refresh") {
    ++counts_.refreshes;
    older_ = false;
    read_lists();
    return 0;
  }
  if (verb == "finish") {
    ++counts_.finished;
    unmerged_ = false;
    for (auto& [name, package] : installed_)
      if (package.state != os::PackageState::config_files)
        package.state = os::PackageState::installed;
    return 0;
  }
  ++counts_.holds;
  for (std::size_t i = 2; i < argv.size(); ++i) installed_.at(bare(argv[i])).held = verb == "hold";
  return 0;
}

}  // namespace datum::support
