// Reading of 11 MB of documents against a bare libyaml event loop over the same bytes in the same
// run: the ratio says what scanning, splitting, trees and checks cost beside the parser itself.
#include <yaml.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "datum/yaml/yaml.hpp"

namespace {

constexpr std::size_t kBytes = 11U << 20U;  // a large fleet: 50,000 resources
constexpr int kRounds = 5;

std::string make_fleet() {
  std::string text;
  for (int i = 0; text.size() < kBytes; ++i) {
    const auto number = std::to_string(i);
    text += "---\ndatum: v1alpha1\ntype: File\nname: app-" + number +
            "\nrequires: [\"Package[nginx]\", \"User[app]\"]\ndesired:\n  path: /etc/app/conf.d/" +
            number + ".conf\n  owner: root\n  group: root\n  mode: \"0644\"\n  content: |\n" +
            "    # service " + number + "\n    listen = 0.0.0.0:80\n    upstream = {{ host }}\n";
  }
  return text;
}

template <class Work>
double best_seconds(Work work) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

std::size_t count_events(std::string_view bytes) {
  yaml_parser_t parser;
  yaml_event_t event;
  std::size_t count = 0;
  if (yaml_parser_initialize(&parser) == 0) return 0;
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(bytes.data()),
                               bytes.size());
  for (bool more = true; more && yaml_parser_parse(&parser, &event) == 1; ++count) {
    more = event.type != YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return count;
}

}  // namespace

int main() {
  const auto bytes = make_fleet();
  std::size_t events = 0;
  std::size_t documents = 0;
  const double bare = best_seconds([&] { events = count_events(bytes); });
  const double ours =
      best_seconds([&] { documents = datum::yaml::parse("x", bytes).documents.size(); });
  const double cut =
      best_seconds([&] { documents = std::max(documents, datum::yaml::split(bytes).size()); });
  std::printf("%zu bytes, %zu documents, %zu events\n", bytes.size(), documents, events);
  std::printf("libyaml alone %.3f s, datum %.3f s (split %.3f s), ratio %.2f\n", bare, ours, cut,
              ours / bare);
  return documents > 0 && events > documents ? 0 : 1;
}
