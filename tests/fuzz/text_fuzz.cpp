// Any bytes → JSON reader, diff and escaping: nothing crashes, what is shown is safe on a terminal,
// and JSON that was read and written again reads the same. The first `|` of the input divides
// it into the two sides of a diff.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "datum/base/assert.hpp"
#include "datum/base/utf8.hpp"
#include "datum/text/diff.hpp"
#include "datum/text/json_reader.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/table.hpp"
#include "datum/text/terminal.hpp"

namespace {
using namespace datum;
using namespace datum::text;

void check_safe(std::string_view shown, bool lines) {
  while (!shown.empty()) {
    const auto point = decode_utf8(shown);
    DATUM_ASSERT(point.valid && !is_bidirectional_control(point.value));
    const bool layout = lines && (point.value == '\n' || point.value == '\t');
    DATUM_ASSERT(layout || !is_control(point.value));
    shown.remove_prefix(point.size);
  }
}

void write(JsonWriter& writer, const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::null:
      writer.null();
      break;
    case JsonKind::boolean:
      writer.value(value.boolean);
      break;
    case JsonKind::integer:
      writer.value(value.integer);
      break;
    case JsonKind::unsigned_integer:
      writer.value(value.unsigned_integer);
      break;
    case JsonKind::floating:
      writer.value(value.floating > 0);
      break;  // the writer has none
    case JsonKind::string:
      writer.value(value.string);
      break;
    case JsonKind::array:
      writer.begin_array();
      for (const auto& item : value.items) write(writer, item);
      writer.end_array();
      break;
    case JsonKind::object:
      writer.begin_object();
      for (const auto& member : value.members) {
        writer.key(member.name);
        write(writer, member.value);
      }
      writer.end_object();
      break;
  }
}

void check_json_of(std::string_view bytes) {
  const auto value = read_json(bytes);
  DATUM_ASSERT(!value || check_json(bytes));
  if (!value) return;
  JsonWriter writer;
  write(writer, *value);
  const auto once = writer.take();
  check_safe(once, false);
  write(writer, *read_json(once));
  DATUM_ASSERT(writer.take() == once);
}

void check_escaping(std::string_view bytes) {
  check_safe(escape(bytes), false);
  check_safe(escape_lines(bytes), true);
  const auto string = read_json(json_string(bytes));
  DATUM_ASSERT(string && string->kind == JsonKind::string);
  const auto shown = escape(bytes);
  for (const std::size_t columns : {1U, 5U, 80U}) {
    const auto fitted = fit(shown, columns);
    DATUM_ASSERT(width(fitted) <= columns);
    DATUM_ASSERT(fitted == shown || fitted.ends_with("…"));
  }
  Table table({{"A"}, {"B"}});
  table.add_row({std::string(bytes), "x"});
  const auto rendered = table.render(Painter(false), 40);
  std::size_t newlines = 0;
  for (const char c : rendered) newlines += c == '\n' ? 1 : 0;
  DATUM_ASSERT(newlines == 2);
}

void check_diff(std::string_view before, std::string_view after) {
  const auto result = diff(before, after, {"a", "b"});
  DATUM_ASSERT((result.kind == DiffKind::same) == (before == after));
  DATUM_ASSERT(result.text.empty() == (result.kind == DiffKind::same));
  if (result.kind != DiffKind::unified) return;
  DATUM_ASSERT(result.removed + result.added > 0);
  DATUM_ASSERT(result.removed + result.added <= kMaxDiffEdits);
  const auto back = diff(after, before, {"b", "a"});
  DATUM_ASSERT(back.removed == result.added && back.added == result.removed);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_json_of(bytes);
  check_escaping(bytes);
  const auto cut = std::min(bytes.find('|'), size);
  check_diff(bytes.substr(0, cut), bytes.substr(std::min(cut + 1, size)));
  return 0;
}
