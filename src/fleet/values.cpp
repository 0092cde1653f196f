// See the header.
#include "values.hpp"

#include <algorithm>

#include "datum/model/manifest.hpp"
#include "datum/model/substitution.hpp"
#include "datum/yaml/scalar.hpp"
#include "reader.hpp"

namespace datum::fleet {
namespace {

using Checked = tl::expected<std::string, ValueFault>;

tl::unexpected<ValueFault> refuse(std::string message, std::string hint) {
  return tl::unexpected<ValueFault>(ValueFault{std::move(message), std::move(hint)});
}

Checked check_choice(const model::FieldDescriptor& field, std::string value) {
  if (std::find(field.choices.begin(), field.choices.end(), value) != field.choices.end())
    return value;
  const auto near = nearest(value, field.choices);
  return refuse(std::string(field.name) + " is " + yaml::quoted(value) + ", one of " +
                    join_words(field.choices) + " was expected",
                near ? "did you mean " + std::string(*near) + "?"
                     : "values are exact in case: write one of them");
}

Checked check_path_value(const model::FieldDescriptor& field, std::string value) {
  if (const auto status = model::check_path(value); !status)
    return refuse(std::string(field.name) + " " + yaml::quoted(value) +
                      " is not an absolute, normalised path",
                  status.error().message());
  return value;
}

}  // namespace

tl::expected<void, ValueFault> check_line(std::string_view key, std::string_view value,
                                          std::size_t max_length) {
  if (value.size() > max_length)
    return refuse(std::string(key) + " has " + std::to_string(value.size()) + " bytes, at most " +
                      std::to_string(max_length) + " are allowed",
                  "shorten it");
  if (const auto wrong = yaml::find_single_line_fault(value))
    return refuse(std::string(key) + " " + *wrong + ", one line of plain text was expected",
                  "take it out");
  return {};
}

tl::expected<std::string, ValueFault> check_value(const model::FieldDescriptor& field,
                                                  std::string value) {
  switch (field.kind) {
    case model::FieldKind::path:
      return check_path_value(field, std::move(value));
    case model::FieldKind::choice:
      return check_choice(field, std::move(value));
    case model::FieldKind::mode: {
      auto mode = model::normalise_mode(value);
      if (mode) return std::move(*mode);
      return refuse(std::string(field.name) + " is " + yaml::quoted(value) +
                        ", 3 or 4 octal digits were expected",
                    "write it in quotes, for example " + std::string(field.name) + ": \"0644\"");
    }
    case model::FieldKind::duration:
      if (model::find_duration_ms(value)) return value;
      return refuse(
          std::string(field.name) + " is " + yaml::quoted(value) + ", a duration was expected",
          "write a number with ms, s, m or h, at most 24h: 2s");
    case model::FieldKind::secret:
      if (model::is_secret_name(value)) return value;
      return refuse(yaml::quoted(value) + " is not the name of a secret",
                    "a secret's name has letters, digits and . - _ / only");
    default:
      return value;
  }
}

}  // namespace datum::fleet
