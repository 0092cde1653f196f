// libyaml's parser and its current event, owned, and its account of a fault as values.
#pragma once

#include <yaml.h>

#include <optional>
#include <string_view>

#include "explain.hpp"

namespace datum::yaml {

// Owns libyaml's parser and its current event.
class EventSource {
 public:
  explicit EventSource(std::string_view bytes, yaml_encoding_t encoding = YAML_UTF8_ENCODING) {
    ready_ = yaml_parser_initialize(&parser_) == 1;
    if (!ready_) return;
    yaml_parser_set_encoding(&parser_, encoding);
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    yaml_parser_set_input_string(&parser_, data, bytes.size());
  }
  ~EventSource() {
    drop_event();
    if (ready_) yaml_parser_delete(&parser_);
  }
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  // Frees the former event. False after a fault, which `parser()` then describes.
  [[nodiscard]] bool next() {
    drop_event();
    has_event_ = ready_ && yaml_parser_parse(&parser_, &event_) == 1;
    return has_event_;
  }
  [[nodiscard]] const yaml_event_t& event() const { return event_; }
  [[nodiscard]] const yaml_parser_t& parser() const { return parser_; }

 private:
  void drop_event() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = false;
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool ready_ = false;
  bool has_event_ = false;
};

inline std::string_view text_of(const char* text) {
  return text == nullptr ? "" : text;
}

inline Complaint complaint_of(const yaml_parser_t& parser) {
  return {text_of(parser.problem),
          text_of(parser.context),
          {parser.problem_mark.line, parser.problem_mark.column},
          {parser.context_mark.line, parser.context_mark.column},
          std::nullopt};
}

}  // namespace datum::yaml
