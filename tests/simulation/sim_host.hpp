// One machine and the lives of the host on it, one after the other, with what its journal says of
// them: for tests that follow one promise through one story.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/history/events.hpp"
#include "sim_life.hpp"

namespace datum::simulation {

// Dies at the nth time that an action gets to that point of its wave.
inline resource::CrashPoint die_at(Site& site, const std::string& wanted, int nth = 1) {
  // Every wave takes a copy of it; they count together.
  return [&site, wanted, left = std::make_shared<int>(nth)](const char* point, std::uint32_t) {
    if (point == wanted && --*left == 0) site.files.stop_at_change(1);
  };
}

struct Host {
  Site site{1};
  core::State state;  // at the end of the last life
  std::optional<engine::PassReport> report;

  // One life; false if it died.
  bool live(Order order) {
    report.reset();
    {
      Life life(site, std::move(order));
      REQUIRE(life.run() == "");
      if (life.report() && *life.report()) report = **life.report();
    }
    auto log = site.open_journal();
    REQUIRE(log);
    auto folded = history::fold(**log, 0, true);
    REQUIRE(folded);
    state = std::move(*folded);
    log->reset();
    site.unlock_journal();
    return report.has_value();
  }
  bool live(const model::ManifestPtr& manifest) {
    Order order;
    order.manifest = manifest;
    return live(std::move(order));
  }
  void die(const model::ManifestPtr& manifest, const std::string& point, int nth = 1) {
    Order order;
    order.manifest = manifest;
    order.crash_point = die_at(site, point, nth);
    REQUIRE_FALSE(live(std::move(order)));
    REQUIRE(state.pass);
  }

  template <class T>
  std::vector<T> events() {
    std::vector<T> found;
    auto log = site.open_journal();
    REQUIRE(log);
    const auto scanned = history::scan_events(**log, 1, [&](const history::StoredEvent& stored) {
      if (const auto* one = std::get_if<T>(&stored.event)) found.push_back(*one);
      return journal::Visit::go_on;
    });
    REQUIRE(scanned);
    log->reset();
    site.unlock_journal();
    return found;
  }
  std::size_t leftovers() {
    const auto paths = site.files.paths();
    return static_cast<std::size_t>(std::count_if(paths.begin(), paths.end(), [](const auto& path) {
      return path.find("/.datum-") != std::string::npos;
    }));
  }
  std::string text(const std::string& path) {
    return site.files.find_content(path).value_or("(nothing)");
  }
};

}  // namespace datum::simulation
