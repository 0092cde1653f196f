// The files of a Repository as text: what Datum writes, and what of a file that is there says what
// (sources.list(5), deb822 style; apt_preferences(5)). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "datum/model/manifest.hpp"

namespace datum::resource {

// Fields of the first paragraph, names in small letters, values with single spaces.
struct Sources {
  std::map<std::string, std::string, std::less<>> fields;
  bool more = false;  // there is another paragraph

  [[nodiscard]] std::string_view find(std::string_view name) const;
  [[nodiscard]] bool enabled() const;  // apt's default is yes
  [[nodiscard]] bool trusted() const;
};
[[nodiscard]] Sources parse_sources(std::string_view text);

// `key`: path of the key file, empty for an unsigned one. `enabled`: where nothing is declared, as
// the file says that is there.
[[nodiscard]] std::string write_sources(const model::Resource& repository, std::string_view key,
                                        bool enabled);
// What pins all that comes from where the repository is.
[[nodiscard]] std::string write_pin(const model::Resource& repository, std::int64_t priority);
[[nodiscard]] std::string_view suite_of(const model::Resource& repository);
[[nodiscard]] std::string components_of(const model::Resource& repository);
// apt passes over files with other names.
[[nodiscard]] bool is_apt_name(std::string_view id);

}  // namespace datum::resource
