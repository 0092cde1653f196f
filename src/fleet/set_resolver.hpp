// All resources of a set of layers, merged and checked together, and from there the resources of
// one host after another. What hosts of one set share is computed once. Private to the module; one
// thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "documents.hpp"
#include "merge.hpp"

namespace datum::fleet {

class SetResolver {
 public:
  explicit SetResolver(const Documents& documents);

  // Makes these layers (ascending) the current set.
  void enter(const std::vector<LayerId>& layers);
  // What is wrong for every host of the current set.
  [[nodiscard]] const Faults& faults() const { return faults_; }
  [[nodiscard]] const std::vector<const Merged*>& members() const { return members_; }
  // Nothing if no member of the current set has that reference.
  [[nodiscard]] const Merged* find(const model::Reference& reference) const;

  struct HostResult {
    std::vector<model::ResourcePtr> resources;  // by reference; incomplete if there are errors
    Faults faults;                              // beside those of the set
    Faults fact_faults;                         // of profile facts that nobody gave
    std::set<std::string> missing_facts;        // those
  };
  // A host of the current set. Without `keep`, nothing but what varies is looked at.
  [[nodiscard]] HostResult resolve(const LabelView& labels, bool keep);
  [[nodiscard]] Filled fill(const Merged& merged, const LabelView& labels) {
    return merger_.fill(merged, labels);
  }

 private:
  struct BodiesHash {
    std::size_t operator()(const std::vector<BodyId>& bodies) const;
  };
  // A merged resource. `plain`: it is fixed, sound, writes no path beside its target and refers to
  // nothing that could be missing, so that a set need not look at it.
  struct Slot {
    std::unique_ptr<Merged> merged;
    bool plain = false;
  };
  // A document, as far as choosing needs it; those of one reference stand together.
  struct Choice {
    BodyId body = kNone;
    LayerId layer = kNone;
  };

  const Slot& slot_of(RefId id, std::vector<BodyId>& bodies);
  void fill_slot(Slot& slot, RefId id, const std::vector<BodyId>& bodies);
  [[nodiscard]] bool may_be_missing(const Merged& from, const Edge& edge) const;
  void look_at(const Merged& member);
  void check_targets();
  void check_references(const Merged& from);
  void check_reference(const Merged& from, const Edge& edge);
  void check_cycles();
  [[nodiscard]] bool has_cycle_anywhere() const;
  [[nodiscard]] const Merged* owner_of(const model::Target& target) const;
  void claim_provider_paths(const Merged& member, const model::Resource& resource, Faults& faults);
  void check_second_writer(const Merged& first, const Merged& second,
                           const model::Resource& resource, const std::string& path,
                           Faults& faults) const;
  void check_on_provider_path(const Merged& member, const model::Resource& resource,
                              Faults& faults) const;
  void shared_target(const Merged& first, const Merged& second, const std::string& target,
                     Faults& faults) const;
  [[nodiscard]] std::string at(const Merged& merged) const;

  const Documents& documents_;
  Merger merger_;
  std::vector<Choice> choices_;              // by reference, lowest layer first
  std::vector<std::uint32_t> first_choice_;  // of each reference, and the end
  std::vector<bool> takes_all_;              // layers without a match
  bool may_have_cycle_ = false;              // all documents together have one, so a set could
  std::vector<Slot> single_;                 // by body: merged from it alone
  std::unordered_map<std::vector<BodyId>, Slot, BodiesHash> several_;
  std::unordered_map<model::Target, std::uint32_t, model::TargetHash> target_ids_;
  std::vector<std::vector<RefId>> claimants_;  // references that ever had the target, by target id
  std::vector<std::uint32_t> contested_;       // targets with several

  // The current set.
  std::vector<const Merged*> members_;
  std::vector<std::uint32_t> index_of_;  // member of each reference, kNone if it has none
  std::vector<const Merged*> varying_;
  std::unordered_map<std::string, const Merged*> provider_paths_;
  Faults faults_;
};

}  // namespace datum::fleet
