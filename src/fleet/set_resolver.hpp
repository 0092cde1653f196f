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
  struct Owner {
    std::uint32_t stamp = 0;  // of the set in which `member` owns the target
    const Merged* member = nullptr;
  };

  const Merged* member(RefId id, std::vector<BodyId>& bodies);
  const Merged* adopt(std::unique_ptr<Merged>& slot, RefId id, const std::vector<BodyId>& bodies);
  void check_targets();
  void check_references();
  void check_reference(const Merged& from, const Edge& edge);
  void check_cycles();
  [[nodiscard]] const Merged* owner_of(const model::Target& target) const;
  void claim_provider_paths(const Merged& member, const model::Resource& resource, Faults& faults);
  void check_on_provider_path(const Merged& member, const model::Resource& resource,
                              Faults& faults) const;
  void shared_target(const Merged& first, const Merged& second, const std::string& target,
                     Faults& faults) const;
  [[nodiscard]] std::string at(const Merged& merged) const;

  const Documents& documents_;
  Merger merger_;
  std::vector<LayerId> layer_of_;                // of each body, close together
  std::vector<std::unique_ptr<Merged>> single_;  // by body: merged from it alone
  std::unordered_map<std::vector<BodyId>, std::unique_ptr<Merged>, BodiesHash> several_;
  std::unordered_map<model::Target, std::uint32_t, model::TargetHash> target_ids_;
  std::vector<Owner> owners_;  // by target id

  // The current set.
  std::uint32_t stamp_ = 0;
  std::vector<const Merged*> members_;
  std::vector<std::uint32_t> index_of_;  // member of each reference, kNone if it has none
  std::vector<const Merged*> varying_;
  std::unordered_map<std::string, const Merged*> provider_paths_;
  Faults faults_;
};

}  // namespace datum::fleet
