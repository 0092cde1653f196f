// The wave of all packages that can be changed now: one transaction of the package manager, first
// simulated, then run as a tool of its own life, and told by looking at the database once more.
// What has to come before it (an index that is too old, packages that were cut off) and after it
// (holds) are steps of the same wave. Belongs on a pool thread, one at a time. Durability is the
// package manager's own.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../action_wave.hpp"

namespace datum::resource {

class PackageWave final : public ActionWave {
 public:
  explicit PackageWave(WaveBasis basis);

  [[nodiscard]] Result<std::vector<Prepared>> prepare(blobs::BlobStore& store) override;
  [[nodiscard]] bool uses_tools() const override { return true; }
  [[nodiscard]] std::optional<ToolStep> next_step() override;
  void end_step(ToolStepEnd end) override;
  void cancel(std::string reason) override;
  [[nodiscard]] std::int64_t act() override { return 0; }
  [[nodiscard]] std::vector<core::ActionResult> finish() override;

 private:
  struct Work {
    const core::Action* action = nullptr;
    const model::Resource* resource = nullptr;  // null: it left the declaration
    std::optional<Error> error;
    std::string skipped;
    std::string still_running;
    std::string output;
    std::string ended_badly;  // how its transaction ended
    bool acted = false;       // its transaction was begun
    bool unpacked = false;    // and its tool says that it unpacked it, where it was not there

    [[nodiscard]] bool removes() const;
    [[nodiscard]] bool going() const { return !error && skipped.empty(); }
  };
  enum class Stage : std::uint8_t { begin, keep, lists, transactions, hold, unhold, done };

  [[nodiscard]] std::optional<ToolStep> wait_for_lock();
  [[nodiscard]] std::optional<ToolStep> next_of_stage();
  [[nodiscard]] std::optional<ToolStep> begin();
  [[nodiscard]] std::vector<std::string> foreign_interruptions(const os::PackageBook& book) const;
  [[nodiscard]] std::optional<ToolStep> refresh_old_lists();
  // Of the service's own package (own_release.cpp).
  void refuse_rolled_back(Work& work);
  [[nodiscard]] std::optional<ToolStep> keep_release();
  void end_keeping(const ToolStepEnd& end);
  [[nodiscard]] bool needs_own_files(const Work& work, const os::InstalledPackage& package) const;
  [[nodiscard]] std::optional<ToolStep> next_transaction();
  [[nodiscard]] std::optional<ToolStep> next_hold(bool held);
  [[nodiscard]] ToolStep refresh();
  [[nodiscard]] os::PackageOrder make_order(const os::PackageBook& book, bool replace_conffiles);
  [[nodiscard]] std::optional<os::PackageWish> wish_of(const Work& work,
                                                       const os::PackageBook& book) const;
  [[nodiscard]] bool foresee(os::PackageOrder& order, bool& again);
  void fail_unknown(const os::Foresight& seen, os::PackageOrder& order);
  [[nodiscard]] bool is_named(const os::PackageOrder& order, const std::string& name,
                              bool to_remove) const;
  [[nodiscard]] std::string find_offence(const os::PackageOrder& order,
                                         const os::Foresight& seen) const;
  [[nodiscard]] std::vector<std::string> wrong_holds(const os::PackageBook& book, bool held) const;
  Work* find_work(const std::string& name);
  void fail_wishes(const os::PackageOrder& order, const Error& error);
  void fail_all(const Error& error);
  [[nodiscard]] core::ActionResult describe(Work& work, Observer& observer);
  static void note_change(const Work& work, Observer& observer, core::ActionResult& result);

  std::vector<Work> works_;
  Stage stage_ = Stage::begin;
  bool replace_conffiles_ = false;  // of the transaction that is next: `keep` goes first
  bool refreshed_ = false;
  bool keeping_ = false;                     // the running release is kept just now
  std::optional<os::PackageOrder> running_;  // the transaction whose end is waited for
  std::set<std::string> held_before_;
  std::string native_;  // the machine's own architecture
  std::int64_t waited_ns_ = 0;
};

}  // namespace datum::resource
