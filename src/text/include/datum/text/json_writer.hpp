// JSON out of values, without a tree in between: members appear in the order of the calls. One
// line, no spaces, so that lists of objects are JSON lines. Pure; one writer belongs to one thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/shared_text.hpp"

namespace datum::text {

class JsonWriter {
 public:
  // Structure. A value inside an object follows its `key`; calls in any other order are a
  // programmer's error.
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  // Bytes that are not UTF-8 become U+FFFD. Control and bidirectional characters are written as
  // \u and four digits, so that the output may go to a terminal.
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(const SharedText& text) { return value(text.view()); }
  JsonWriter& value(bool boolean);
  template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) JsonWriter& value(T number) {
    if constexpr (std::signed_integral<T>)
      return write_signed(number);
    else
      return write_unsigned(number);
  }
  JsonWriter& null();

  // key and value in one.
  template <class T>
  JsonWriter& member(std::string_view name, const T& of) {
    key(name);
    return value(of);
  }

  // True if every structure is closed and there is a value.
  [[nodiscard]] bool complete() const;
  // What was written; the writer is then empty and may be used again. Only when complete.
  [[nodiscard]] std::string take();

 private:
  struct Level {
    bool object;
    bool empty;
  };
  JsonWriter& write_signed(std::int64_t number);
  JsonWriter& write_unsigned(std::uint64_t number);
  void before_value();
  JsonWriter& begin(bool object, char bracket);
  JsonWriter& end(bool object, char bracket);

  std::string out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

// `text` as a JSON string with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace datum::text
