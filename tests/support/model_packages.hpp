// A modelled package manager: os::PackageTools in memory. What is offered has versions, needs and
// enemies; a transaction changes the book when its tool is carried out, package after package. Its
// tools are `/model/packages` with the order in words. Tests set the scene, plant faults and count
// what it was asked. One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "datum/os/packages.hpp"

namespace datum::support {

struct Offer {
  std::string version;
  std::vector<std::string> needs;    // installed with it, at any version
  std::vector<std::string> enemies;  // removed for it
  bool script_fails = false;         // it stays half-configured
};

struct ModelPackage {
  std::string version;
  os::PackageState state = os::PackageState::installed;
  bool held = false;
  bool needs_reinstall = false;
};

class ModelPackages final : public os::PackageTools {
 public:
  static constexpr const char* kProgram = "/model/packages";

  // --- the scene. All packages are of "amd64", which is the machine's own.
  void put(const std::string& name, ModelPackage package) { installed_[name] = std::move(package); }
  [[nodiscard]] const ModelPackage* find(const std::string& name) const;
  // The newest one is offered last. Nobody sees it before the lists are read.
  void offer(const std::string& name, Offer offer) { sources_[name].push_back(std::move(offer)); }
  void read_lists() { lists_ = sources_; }
  void set_absent(std::optional<std::string> why) { absent_ = std::move(why); }
  void set_lock(std::optional<os::LockHolder> holder) { holder_ = std::move(holder); }
  void set_lists_older(bool older) { older_ = older; }
  void set_unmerged(bool unmerged) { unmerged_ = unmerged; }
  // What a started tool does; its exit status. To be called by the modelled service manager.
  int carry_out(const std::vector<std::string>& argv);

  struct Counts {
    int reads = 0, simulations = 0, refreshes = 0, transactions = 0, finished = 0, holds = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

  // --- os::PackageTools
  [[nodiscard]] std::optional<std::string> find_absence() override { return absent_; }
  [[nodiscard]] Result<os::PackageBook> read() override;
  [[nodiscard]] Result<os::Foresight> simulate(const os::PackageOrder& order,
                                               const os::RunChild& run_child) override;
  [[nodiscard]] bool lists_are_older() override { return older_; }
  [[nodiscard]] std::optional<os::LockHolder> find_lock_holder() override { return holder_; }
  [[nodiscard]] std::vector<std::string> find_conffile_leftovers(
      const os::InstalledPackage& /*package*/) override {
    return {};
  }
  [[nodiscard]] os::Tool transaction(const os::PackageOrder& order) override;
  [[nodiscard]] os::Tool refresh() override { return {{kProgram, "refresh"}, {}}; }
  [[nodiscard]] os::Tool finish_interrupted(bool /*replace_conffiles*/) override {
    return {{kProgram, "finish"}, {}};
  }
  [[nodiscard]] os::Tool hold(const std::vector<std::string>& names, bool held) override;

 private:
  [[nodiscard]] os::Foresight foresee(const os::PackageOrder& order) const;
  void foresee_install(const std::string& name, const Offer& offer, os::Foresight& seen,
                       std::set<std::string>& done) const;
  [[nodiscard]] const Offer* find_offer(const std::string& name, const std::string& version) const;
  [[nodiscard]] bool is_present(const std::string& name) const;
  int change(const os::PackageOrder& order);

  std::map<std::string, ModelPackage> installed_;
  std::map<std::string, std::vector<Offer>> sources_, lists_;
  std::vector<os::PackageOrder> orders_;  // handed out; a tool names its place
  std::optional<std::string> absent_;
  std::optional<os::LockHolder> holder_;
  bool older_ = false;
  bool unmerged_ = false;
  Counts counts_;
};

}  // namespace datum::support
