// Folders as in systemd.unit(5), "Unit File Load Path".
#include "unit_links.hpp"

#include <array>

#include "../path_facts.hpp"

namespace datum::resource {

namespace {

constexpr std::array<std::string_view, 3> kGenerators{
    "/run/systemd/generator.early", "/run/systemd/generator", "/run/systemd/generator.late"};
constexpr std::string_view kRuntime = "/run/systemd/system";

// Whether a folder "*.wants" or "*.requires" in `folder` has the unit.
Result<bool> has_link(Sight& sight, std::string_view folder, std::string_view unit) {
  const std::string base(folder);
  const auto inside = sight.walker().locate(base + "/x");
  if (!inside && is_missing(inside.error())) return false;
  if (!inside) return fail(inside.error());
  DATUM_ASSIGN(const auto entries, sight.files().list(inside->folder->handle));
  for (const auto& entry : entries) {
    const std::string_view name(entry.name);
    if (!name.ends_with(".wants") && !name.ends_with(".requires")) continue;
    const auto where = sight.walker().locate(base + "/" + entry.name + "/" + std::string(unit));
    if (!where && is_missing(where.error())) continue;
    if (!where) return fail(where.error());
    DATUM_ASSIGN(const auto stat, sight.find(*where));
    if (stat) return true;
  }
  return false;
}

}  // namespace

bool is_wanted_by_generator(Sight& sight, std::string_view unit) {
  const auto by_hand = has_link(sight, kRuntime, unit);
  if (!by_hand || *by_hand) return false;
  for (const auto folder : kGenerators) {
    const auto made = has_link(sight, folder, unit);
    if (made && *made) return true;
  }
  return false;
}

}  // namespace datum::resource
