// JSON text → values, strictly by RFC 8259, within limits. Pure, any thread; nothing throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"

namespace datum::text {

struct JsonLimits {
  std::size_t bytes = 64U << 20U;  // a report of 100,000 resources is 30 MiB
  std::size_t depth = 64;          // nothing that Datum reads or writes goes deeper than ten
  std::size_t values = 4'000'000;  // about 100 bytes each in memory
};

enum class JsonKind : std::uint8_t {
  null,
  boolean,
  integer,
  unsigned_integer,
  floating,
  string,
  array,
  object
};

struct JsonMember;

// Members keep their order. Integers that fit 64 bits are exact; `integer` is used for all that fit
// int64, `unsigned_integer` above that, `floating` for the rest.
struct JsonValue {
  JsonKind kind = JsonKind::null;
  bool boolean = false;
  std::int64_t integer = 0;
  std::uint64_t unsigned_integer = 0;
  double floating = 0;
  std::string string;
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;

  // The member of that name; nullptr if there is none or this is no object. Linear.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

// The one value that `text` holds. Errors: `corrupt` with the byte offset when it is not JSON, has
// two members of one name in an object, or anything follows; `limit_exceeded` beyond the limits.
[[nodiscard]] Result<JsonValue> read_json(std::string_view text, JsonLimits limits = {});

// Whether `text` is JSON, without keeping it; members of one name are allowed, as the RFC does.
// Errors as above.
[[nodiscard]] Status check_json(std::string_view text, JsonLimits limits = {});

}  // namespace datum::text
