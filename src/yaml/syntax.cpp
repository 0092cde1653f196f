// The lenient check: libyaml's whole language, nothing kept.
#include <string>

#include "datum/yaml/yaml.hpp"
#include "event_source.hpp"

namespace datum::yaml {
namespace {

// libyaml looks at every open level for every token; no real file comes near.
constexpr std::uint32_t kMaxCheckedDepth = 256;
// Time is linear, about 20 ms a MiB; data of that size belongs into no configuration file.
constexpr std::size_t kMaxCheckedBytes = 64U << 20U;

Diagnostic make_fault(const yaml_mark_t& mark, std::string message, std::string hint = {}) {
  if (hint.size() > kMaxHintBytes) hint.clear();
  return {"", static_cast<std::uint32_t>(mark.line) + 1,
          static_cast<std::uint32_t>(mark.column) + 1, std::move(message), std::move(hint)};
}

Diagnostic describe_stop(const yaml_parser_t& parser, std::string_view bytes) {
  if (parser.error == YAML_SCANNER_ERROR || parser.error == YAML_PARSER_ERROR) {
    auto found = explain(complaint_of(parser), bytes);
    yaml_mark_t mark{0, found.mark.line, found.mark.column};
    return make_fault(mark, std::move(found.message), std::move(found.hint));
  }
  const bool unreadable = parser.error == YAML_READER_ERROR;
  return {"", 0, 0,
          unreadable ? "byte " + std::to_string(parser.problem_offset + 1) + ": " +
                           std::string(text_of(parser.problem))
                     : "no memory left to read it",
          ""};
}

}  // namespace

std::optional<Diagnostic> find_syntax_fault(std::string_view bytes) {
  if (bytes.size() > kMaxCheckedBytes) return Diagnostic{"", 0, 0, "larger than 64 MiB", ""};
  EventSource source(bytes, YAML_ANY_ENCODING);
  std::uint32_t depth = 0;
  while (source.next()) {
    const auto& event = source.event();
    if (event.type == YAML_STREAM_END_EVENT) return std::nullopt;
    if (event.type == YAML_MAPPING_START_EVENT || event.type == YAML_SEQUENCE_START_EVENT) {
      if (++depth > kMaxCheckedDepth)
        return make_fault(event.start_mark, "this is nested deeper than 256 levels");
    } else if (event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT) {
      --depth;
    }
  }
  return describe_stop(source.parser(), bytes);
}

}  // namespace datum::yaml
