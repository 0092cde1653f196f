#include "datum/inspect/postmortem.hpp"
#include "told.hpp"

using namespace datum;
using namespace datum::inspect;
using namespace datum::inspect::test;

namespace {

// A pass over many files with usual paths, all of which were changed.
PassStory large(std::uint32_t count) {
  PassStory story;
  story.pass = 2;
  story.host = "web1";
  story.finished.emplace();
  story.began = {2, WallNs{1}, BootNs{1}, Id128{{1}}};
  story.last = {3 * count, WallNs{1'000'000'000}, BootNs{1'000'000'000}, Id128{{1}}};
  const auto digest = "sha256:" + crypto::sha256(as_bytes("x")).hex() + " (1024 bytes)";
  for (std::uint32_t i = 0; i < count; ++i) {
    ActionStory action;
    action.ordinal = i;
    action.target = path("/srv/www/sites/example/htdocs/page-" + std::to_string(i) + ".html");
    action.reference = file("example-page-" + std::to_string(i));
    action.changes = {{"content", digest, digest}, {"mode", "0644", "0640"}};
    action.wave = 1 + i / 2048;
    action.announced = {3 + i, WallNs{i}, BootNs{i}, Id128{{1}}};
    action.ended = {4 + i, WallNs{1000 + i}, BootNs{1000 + i}, Id128{{1}}};
    action.phase = core::Phase::succeeded;
    action.duration_ns = 1'500'000;
    action.old_content = crypto::sha256(as_bytes("x"));
    action.documents = "layers/web/pages.yaml:" + std::to_string(3 * i);
    if (i > 0) action.after = {i - 1};
    story.actions.push_back(std::move(action));
  }
  return story;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("inspect: a page of 10,000 actions holds each of them and takes at most 5 MB") {
  const auto page = postmortem_html(large(10'000));
  CHECK(page.size() <= 5'000'000);
  CHECK(times(page, "<li id=a") == 10'000);
  CHECK(times(page, "<rect") <= 300);
}

TEST_CASE("inspect: a page of few actions draws a bar for each and a line for each dependency") {
  const auto page = postmortem_html(large(40));
  CHECK(times(page, "<rect") == 40);
  CHECK(times(page, "<path class=l") == 39);
}

TEST_CASE("inspect: nothing that a journal says becomes markup, wherever it stands in the page") {
  const std::string hostile =
      "</title><script>alert(1)</script>\"' onload=x &amp; \xE2\x80\xAE \x07";
  auto story = large(3);
  story.host = hostile;
  story.started.actor.name = hostile;
  story.started.mode.reason = hostile;
  story.started.provenance.source = hostile;
  for (auto& action : story.actions) {
    action.target = path(hostile);
    action.reference = file(hostile);
    action.changes = {{hostile, hostile, hostile}};
    action.message = hostile;
    action.output = hostile;
    action.documents = hostile;
    action.not_kept = hostile;
    action.phase = core::Phase::failed;
  }
  story.first_failure = 0;
  const auto page = postmortem_html(story);
  CHECK(times(page, "<script") == 0);
  CHECK(times(page, "</title>") == 1 + 3);  // the page's own, and one for each bar
  CHECK(times(page, "\xE2\x80\xAE") == 0);
  CHECK(times(page, "\x07") == 0);
  CHECK(times(page, "&lt;script&gt;") > 20);
  CHECK(times(page, "\\u202e") > 20);
}

TEST_CASE("inspect: the page forbids scripts and names nothing outside of itself") {
  const auto page = postmortem_html(large(3));
  CHECK(times(page, "default-src 'none'") == 1);
  for (const auto* forbidden : {"http:", "https:", "src=", "url(", "@import", "<link", "<script"})
    CHECK(times(page, forbidden) == 0);
}
