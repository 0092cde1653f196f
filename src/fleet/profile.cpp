// Reads the facts of a machine from a file, for resolving without it.
#include <algorithm>

#include "datum/fleet/fleet.hpp"
#include "match.hpp"
#include "reader.hpp"

namespace datum::fleet {

ParsedProfile parse_profile(std::string_view file, std::string_view bytes) {
  ParsedProfile parsed;
  Read read;
  Reader reader(0, read);
  const auto yaml = yaml::parse(file, bytes);
  for (const auto& fault : yaml.diagnostics)
    reader.fault({fault.line, fault.column}, fault.message, fault.hint);
  if (yaml.documents.size() > 1)
    reader.fault(yaml.documents[1].at, "a profile is one document", "keep the first");
  const auto entries =
      yaml.documents.empty() ? std::nullopt : reader.mapping(yaml.documents[0].root, "the profile");
  if (entries)
    for (const auto& [key, value] : *entries) {
      auto name = std::string(key.text());
      if (!name.starts_with("datum/")) name.insert(0, "datum/");
      if (!is_profile_label(name)) {
        reader.unknown_key(key, "a profile", profile_labels());
        continue;
      }
      const auto text = reader.text(value, key.text(), model::kMaxText);
      if (text && !parsed.profile.facts.emplace(name, *text).second)
        reader.fault(key.at(), name + " is given twice", "keep one of them");
    }
  const std::vector<std::string> files{std::string(file)};
  for (const auto& fault : read.faults) parsed.errors.push_back(to_finding(files, fault));
  if (!parsed.errors.empty()) parsed.profile = {};
  return parsed;
}

}  // namespace datum::fleet
