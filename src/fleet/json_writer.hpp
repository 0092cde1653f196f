// JSON as text, for the two places of this module that yield some. Writes only; commas and escapes
// are its business, balance is the caller's. Private to the module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace datum::fleet {

class JsonWriter {
 public:
  // `indent` spaces a level and a line for each value; 0: everything on one line.
  explicit JsonWriter(int indent) : indent_(indent) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  // Bytes that are not UTF-8 become U+FFFD.
  JsonWriter& text(std::string_view value);
  JsonWriter& number(std::int64_t value);
  JsonWriter& boolean(bool value);
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void before_value();
  void new_line();

  std::string out_;
  int indent_;
  int depth_ = 0;
  bool first_ = true;  // nothing stands in the current brackets yet
  bool after_key_ = false;
};

}  // namespace datum::fleet
