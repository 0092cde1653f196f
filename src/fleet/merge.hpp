// One resource from the documents of several layers, and its values once a host is known. Private
// to the module; one Merger per thread.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "datum/model/substitution.hpp"
#include "documents.hpp"
#include "match.hpp"

namespace datum::fleet {

struct Edge {
  const ReferenceAt* to = nullptr;
  std::string_view key;  // requires, restartOn, reloadOn
};

struct Merged {
  RefId id = kNone;
  std::vector<BodyId> bodies;  // lowest layer first
  // The statement that counts for each field.
  std::vector<std::pair<model::Field, const Part*>> winners;
  std::vector<Edge> edges;  // each reference once per key
  Faults faults;            // of the merge, and of the values where nothing varies

  model::ResourcePtr fixed;          // where nothing varies by host and nothing is wrong
  model::Resource base;              // otherwise: all that does not vary
  std::vector<const Part*> varying;  // what is missing in `base`
  std::uint32_t target_id = kNone;   // of `fixed`: a number of the SetResolver's

  [[nodiscard]] bool varies() const { return !varying.empty(); }
  [[nodiscard]] const Part* winner(model::Field field) const;
  [[nodiscard]] Place place_of(const Documents& documents, model::Field field) const;
  // The document that holds the part, which is one of `bodies`.
  [[nodiscard]] const Body& body_of(const Documents& documents, const Part& part) const;
};

// What filling in the values of one host yields.
struct Filled {
  model::ResourcePtr resource;  // null if there is an error
  Faults faults;
  Faults fact_faults;                      // of profile facts that nobody gave
  std::vector<std::string> missing_facts;  // their labels
};

class Merger {
 public:
  explicit Merger(const Documents& documents) : documents_(documents) {}

  // `bodies` share one reference and ascend by layer.
  [[nodiscard]] Merged merge(RefId id, const std::vector<BodyId>& bodies);
  // Of a Merged that varies.
  [[nodiscard]] Filled fill(const Merged& merged, const LabelView& labels);

 private:
  struct Template {
    Status status;
    model::Pieces pieces;
    std::string fault;  // of a `{{ … }}`; empty if all are sound
    bool varies = false;
    bool has_secrets = false;
  };

  void merge_field(Merged& merged, const Body& body, const Part& part);
  void check_conflicts(Merged& merged);
  void merge_lists(Merged& merged);
  void set_value(Merged& merged, const Part& part);
  [[nodiscard]] bool part_varies(const Merged& merged, const Part& part);
  [[nodiscard]] bool same_value(const Part& a, const Part& b) const;

  // The value of a part whose text is `text`. `labels` may be null where nothing varies.
  [[nodiscard]] std::optional<model::Value> make_content(const std::string& folder,
                                                         const Part& part, const std::string& text,
                                                         const LabelView* labels, Filled& out);
  [[nodiscard]] std::optional<model::Value> make_source(const std::string& path, const Part& part,
                                                        const std::string& written,
                                                        const std::string& folder, Filled& out);
  [[nodiscard]] std::optional<model::Value> make_template(const std::string& path, const Part& part,
                                                          const LabelView* labels, Filled& out);
  [[nodiscard]] Result<std::string> find_file(const std::string& folder, const Part& part,
                                              const std::string& text);
  const Template& load_template(const std::string& path);

  const Documents& documents_;
  std::unordered_map<std::string, Template> templates_;  // by path
};

// Rules that need the whole resource: required fields, privileged modes, Datum's own files …
void check_resource(const Documents& documents, const Merged& merged,
                    const model::Resource& resource, Faults& faults);
// Whether a resource may not stand on a path that a provider writes: anything but a File that
// declares metadata alone.
[[nodiscard]] bool claims_content(const model::Resource& resource);

}  // namespace datum::fleet
