// The only file that knows the JSON library. It is driven as a stream of events, so that limits
// hold while it reads, and its exceptions end here.
#include "datum/text/json_reader.hpp"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

namespace datum::text {

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const auto& member : members)
    if (member.name == name) return &member.value;
  return nullptr;
}

namespace {

using Json = nlohmann::json;

// Takes the library's events. Without a tree it only counts.
class Receiver final : public Json::json_sax_t {
 public:
  Receiver(JsonLimits limits, bool keeps) : limits_(limits), keeps_(keeps) {}

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({.kind = JsonKind::boolean, .boolean = value}); }
  bool number_integer(number_integer_t value) override {
    return add({.kind = JsonKind::integer, .integer = value});
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(INT64_MAX))
      return add({.kind = JsonKind::integer, .integer = static_cast<std::int64_t>(value)});
    return add({.kind = JsonKind::unsigned_integer, .unsigned_integer = value});
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return add({.kind = JsonKind::floating, .floating = value});
  }
  bool string(string_t& value) override {
    return add({.kind = JsonKind::string, .string = keeps_ ? std::move(value) : std::string()});
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(JsonKind::object); }
  bool start_array(std::size_t /*size*/) override { return open(JsonKind::array); }
  bool key(string_t& name) override {
    if (keeps_) keys_.push_back(std::move(name));
    return true;
  }
  bool end_object() override { return has_distinct_members() && close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return stop(ErrorCode::corrupt, "not JSON at byte " + std::to_string(position));
  }

  [[nodiscard]] Error error() const {
    return error_.value_or(Error(ErrorCode::internal, "the JSON reader stopped without a reason"));
  }
  [[nodiscard]] JsonValue take() { return std::move(root_); }

 private:
  bool stop(ErrorCode code, std::string message) {
    if (!error_) error_ = Error(code, std::move(message));
    return false;
  }

  bool count() {
    if (++values_ > limits_.values)
      return stop(ErrorCode::limit_exceeded,
                  "more than " + std::to_string(limits_.values) + " JSON values");
    return true;
  }

  bool add(JsonValue value) {
    if (!count()) return false;
    if (keeps_) place(std::move(value));
    return true;
  }

  void place(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().kind == JsonKind::array) {
      open_.back().items.push_back(std::move(value));
    } else {
      open_.back().members.push_back({std::move(keys_.back()), std::move(value)});
      keys_.pop_back();
    }
  }

  bool open(JsonKind kind) {
    if (++depth_ > limits_.depth)
      return stop(ErrorCode::limit_exceeded,
                  "JSON nested deeper than " + std::to_string(limits_.depth) + " levels");
    if (!count()) return false;
    if (keeps_) open_.push_back({.kind = kind});
    return true;
  }

  bool close() {
    --depth_;
    if (!keeps_) return true;
    auto value = std::move(open_.back());
    open_.pop_back();
    place(std::move(value));
    return true;
  }

  bool has_distinct_members() {
    if (!keeps_) return true;
    std::vector<std::string_view> names;
    for (const auto& member : open_.back().members) names.emplace_back(member.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return true;
    constexpr std::size_t kShown = 64;
    return stop(ErrorCode::corrupt,
                "a JSON object has two members \"" + std::string(twice->substr(0, kShown)) + "\"");
  }

  JsonLimits limits_;
  bool keeps_;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  std::optional<Error> error_;
  JsonValue root_;
  std::vector<JsonValue> open_;
  std::vector<std::string> keys_;
};

// What the library would take although it is not JSON.
Status check_bytes(std::string_view text, JsonLimits limits) {
  if (text.size() > limits.bytes)
    return fail(ErrorCode::limit_exceeded,
                "JSON of more than " + std::to_string(limits.bytes) + " bytes");
  if (text.starts_with("\xEF\xBB\xBF"))
    return fail(ErrorCode::corrupt, "not JSON at byte 1: a byte-order mark");
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)
    return fail(ErrorCode::corrupt, "not JSON at byte " + std::to_string(zero + 1) + ": zero");
  return {};
}

Status receive(std::string_view text, JsonLimits limits, Receiver& receiver) {
  DATUM_TRY(check_bytes(text, limits));
  try {
    if (Json::sax_parse(text.begin(), text.end(), &receiver)) return {};
    return fail(receiver.error());
  } catch (const std::exception& exception) {
    return fail(ErrorCode::internal, std::string("the JSON reader failed: ") + exception.what());
  }
}

}  // namespace

Result<JsonValue> read_json(std::string_view text, JsonLimits limits) {
  Receiver receiver(limits, true);
  DATUM_TRY(receive(text, limits, receiver));
  return receiver.take();
}

Status check_json(std::string_view text, JsonLimits limits) {
  Receiver receiver(limits, false);
  return receive(text, limits, receiver);
}

}  // namespace datum::text
