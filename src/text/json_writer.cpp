#include "datum/text/json_writer.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/base/utf8.hpp"
#include "unsafe.hpp"

namespace datum::text {
namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
}

void append_code_point(std::string& out, const CodePoint& point, std::string_view bytes) {
  if (!point.valid) {
    out += "\xEF\xBF\xBD";
  } else if (point.value == '"' || point.value == '\\') {
    out += '\\';
    out += static_cast<char>(point.value);
  } else if (point.value == '\n') {
    out += "\\n";
  } else if (point.value == '\t') {
    out += "\\t";
  } else if (point.value == '\r') {
    out += "\\r";
  } else if (is_unsafe(point.value)) {
    std::array<char, 8> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "\\u%04x", point.value);
    out += buffer.data();
  } else {
    out += bytes;
  }
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto point = decode_utf8(text);
    append_code_point(out, point, text.substr(0, point.size));
    text.remove_prefix(point.size);
  }
  out += '"';
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

void JsonWriter::before_value() {
  if (levels_.empty()) {
    DATUM_ASSERT(out_.empty());
    return;
  }
  auto& level = levels_.back();
  DATUM_ASSERT(level.object == after_key_);
  if (!level.object && !level.empty) out_ += ',';
  level.empty = false;
  after_key_ = false;
}

JsonWriter& JsonWriter::begin(bool object, char bracket) {
  before_value();
  levels_.push_back({object, true});
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::end(bool object, char bracket) {
  DATUM_ASSERT(!levels_.empty() && levels_.back().object == object && !after_key_);
  levels_.pop_back();
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::begin_object() {
  return begin(true, '{');
}
JsonWriter& JsonWriter::end_object() {
  return end(true, '}');
}
JsonWriter& JsonWriter::begin_array() {
  return begin(false, '[');
}
JsonWriter& JsonWriter::end_array() {
  return end(false, ']');
}

JsonWriter& JsonWriter::key(std::string_view name) {
  DATUM_ASSERT(!levels_.empty() && levels_.back().object && !after_key_);
  if (!levels_.back().empty) out_ += ',';
  append_string(out_, name);
  out_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  append_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::value(bool boolean) {
  before_value();
  out_ += boolean ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::write_signed(std::int64_t number) {
  before_value();
  out_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::write_unsigned(std::uint64_t number) {
  before_value();
  out_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::null() {
  before_value();
  out_ += "null";
  return *this;
}

bool JsonWriter::complete() const {
  return levels_.empty() && !out_.empty();
}

std::string JsonWriter::take() {
  DATUM_ASSERT(complete());
  return std::exchange(out_, {});
}

}  // namespace datum::text
