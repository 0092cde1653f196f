// Drawing hosts from bytes.
#include "scenario.hpp"

#include <array>
#include <memory>

namespace datum::core::test {
namespace {

// Deep, wide, with names that begin alike.
constexpr std::array kPaths{"/a",     "/a/b",     "/a/b/c", "/a/b/c/d", "/a/bb", "/d",
                            "/d/e",   "/d/e/f",   "/d/g",   "/h",       "/h1",   "/h/i",
                            "/h/i/j", "/h/i/j/k", "/l",     "/m",       "/n",    "/o"};

std::string draw_word(Dice& dice) {
  return std::string(1, static_cast<char>('x' + dice.roll(3)));
}

model::Resource draw_path(Dice& dice, const std::string& name, const std::string& where,
                          const Variety& variety) {
  auto resource = file(name, where, draw_word(dice));
  const auto kind = dice.roll(8);
  if (kind >= 4) resource = folder(name, where, variety.purge && kind == 7);
  if (kind == 3) resource = link(name, where, "/" + draw_word(dice));
  if (variety.absent && dice.one_in(6)) resource = absent(resource);
  return resource;
}

void draw_requirements(Dice& dice, std::vector<model::Resource>& resources) {
  for (std::uint32_t i = 1; i < resources.size(); ++i)
    for (auto count = dice.roll(3); count > 0; --count)
      resources[i].requirements.push_back(resources[dice.roll(i)].reference);
}

}  // namespace

std::vector<model::Resource> draw_resources(Dice& dice, const Variety& variety) {
  std::vector<model::Resource> resources;
  for (const auto* where : kPaths) {
    if (dice.one_in(2)) continue;
    const std::string name(1, static_cast<char>('A' + resources.size()));
    resources.push_back(draw_path(dice, name, where, variety));
  }
  for (auto count = dice.roll(3); count > 0; --count)
    resources.push_back(package("p" + std::to_string(count)));
  dice.shuffle(resources);
  draw_requirements(dice, resources);
  const auto others = static_cast<std::uint32_t>(resources.size());
  for (auto count = dice.roll(3); count > 0 && others > 0; --count) {
    auto unit = service("s" + std::to_string(count));
    unit.restart_on = {resources[dice.roll(others)].reference};
    unit.reload_on = {resources[dice.roll(others)].reference};
    if (unit.restart_on == unit.reload_on) unit.reload_on.clear();
    resources.push_back(unit);
  }
  for (auto& resource : resources) {
    resource.observe_only = variety.observe_only && dice.one_in(6);
    resource.protect = dice.one_in(8);
  }
  return resources;
}

void draw_foreign(Dice& dice, Machine& machine) {
  for (const auto* where : kPaths) {
    const std::string name(where);
    const auto slash = name.rfind('/');
    const auto* above = slash == 0 ? nullptr : machine.find(name.substr(0, slash));
    if (slash != 0 && (above == nullptr || above->found != Found::directory)) continue;
    const auto kind = dice.roll(8);
    if (kind == 3) machine.put(name, Found::symlink, "/" + draw_word(dice));
    if (kind == 4) machine.put(name, Found::file, draw_word(dice));
    if (kind == 5) machine.put(name, Found::special);
    if (kind > 5) machine.put(name, Found::directory);
    if (kind > 5 && dice.one_in(3)) machine.put(name + "/stray", Found::file, "stray");
  }
}

void meddle(Dice& dice, Machine& machine) {
  std::vector<std::string> names;
  for (const auto& [target, object] : machine.objects())
    if (target.family == model::TargetFamily::path) names.push_back(target.name);
  for (const auto& name : names) {
    if (machine.find(name) == nullptr) continue;
    const auto act = dice.roll(8);
    const bool is_folder = machine.find(name)->found == Found::directory;
    if (act == 4 && !is_folder) machine.edit(name, "edited");
    if (act == 5 && !is_folder) machine.put(name, Found::file, "edited");
    if (act == 6) machine.take(name);
    if (act == 7 && is_folder) machine.put(name + "/stray", Found::file, "stray");
  }
}

World::PassOptions draw_options(Dice& dice) {
  World::PassOptions options;
  options.mode = dice.one_in(4) ? Mode::observe : Mode::enforce;
  options.limits.max = dice.roll(12);
  options.limits.allowed = dice.one_in(3) ? dice.roll(20) : 0;
  options.waves.actions = 1 + dice.roll(8);
  options.fault = [&dice](const Action&) -> std::string {
    const auto roll = dice.roll(10);
    if (roll == 8) return "broken";
    return roll == 9 ? "skip" : "";
  };
  return options;
}

}  // namespace datum::core::test
