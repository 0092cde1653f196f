#include "reader.hpp"

#include <algorithm>
#include <array>

#include "datum/base/time.hpp"
#include "datum/config/glob.hpp"
#include "datum/config/quantity.hpp"
#include "datum/model/reference.hpp"
#include "datum/yaml/scalar.hpp"

namespace datum::config {

void Reader::read(const yaml::Node& root) {
  static constexpr std::array<Key, 15> kKeys = {{
      {"host", &Reader::take_host},
      {"reconciliation", &Reader::take_reconciliation},
      {"trust", &Reader::take_trust},
      {"observe", &Reader::take_observe},
      {"protect", &Reader::take_protect},
      {"secrets", &Reader::take_secrets},
      {"journal", &Reader::take_journal},
      {"removals", &Reader::take_removals},
      {"orphans", &Reader::take_orphans},
      {"packages", &Reader::take_packages},
      {"windows", &Reader::take_windows},
      {"control", &Reader::take_control},
      {"source", &Reader::take_source},
      {"metrics", &Reader::take_metrics},
      {"state", &Reader::take_state},
  }};
  read_section(root, "agent.yaml", kKeys);
}

void Reader::read_section(const yaml::Node& node, std::string_view what,
                          std::span<const Key> keys) {
  if (!node.is_mapping()) {
    add_fault(node, std::string(what) + " must be a mapping, not a " +
                        std::string(to_string(node.kind())));
    return;
  }
  for (const auto& entry : node.entries()) {
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& candidate) {
      return candidate.name == entry.key.text();
    });
    if (key == keys.end()) {
      std::string known;
      for (const auto& candidate : keys)
        known += (known.empty() ? "" : ", ") + std::string(candidate.name);
      add_fault(entry.key, "unknown key " + yaml::quoted(entry.key.text().substr(0, 64)),
                "known here: " + known);
    } else if (!yaml::is_null(entry.value)) {
      (this->*key->take)(entry.value);
    }
  }
}

void Reader::take_reconciliation(const yaml::Node& value) {
  static constexpr std::array<Key, 3> kKeys = {{{"mode", &Reader::take_mode},
                                                {"interval", &Reader::take_interval},
                                                {"passLimit", &Reader::take_pass_limit}}};
  read_section(value, "reconciliation", kKeys);
}

void Reader::take_trust(const yaml::Node& value) {
  static constexpr std::array<Key, 1> kKeys = {{{"strictPaths", &Reader::take_strict_paths}}};
  read_section(value, "trust", kKeys);
}

void Reader::take_secrets(const yaml::Node& value) {
  static constexpr std::array<Key, 2> kKeys = {
      {{"backend", &Reader::take_backend}, {"path", &Reader::take_secrets_path}}};
  read_section(value, "secrets", kKeys);
  const bool has_path = value.is_mapping() && !out_.secrets_path.origin.is_default();
  if (has_path && out_.secrets_backend.value == SecretsBackend::credentials)
    add_fault(*value.find("path"), "path has no meaning beside backend: credentials",
              "leave it out, or write backend: file");
}

void Reader::take_journal(const yaml::Node& value) {
  static constexpr std::array<Key, 2> kKeys = {{{"archiveAbove", &Reader::take_archive_above},
                                                {"archiveAfter", &Reader::take_archive_after}}};
  read_section(value, "journal", kKeys);
}

void Reader::take_removals(const yaml::Node& value) {
  static constexpr std::array<Key, 1> kKeys = {{{"max", &Reader::take_removals_max}}};
  read_section(value, "removals", kKeys);
}

void Reader::take_packages(const yaml::Node& value) {
  static constexpr std::array<Key, 1> kKeys = {
      {{"finishInterrupted", &Reader::take_finish_interrupted}}};
  read_section(value, "packages", kKeys);
}

void Reader::take_host(const yaml::Node& value) {
  const auto name = take_text(value);
  if (!name) return;
  if (!model::is_document_name(*name))
    return add_fault(value, "a host's name has letters, digits and . - _ + @ : only");
  out_.host = {*name, origin(value)};
}

void Reader::take_mode(const yaml::Node& value) {
  const auto text = value.is_scalar() ? value.text() : "";
  if (text != "observe" && text != "enforce")
    return add_fault(value, "mode must be observe or enforce");
  out_.mode = {text == "enforce" ? Mode::enforce : Mode::observe, origin(value)};
}

void Reader::take_pass_limit(const yaml::Node& value) {
  // Shorter and a small fleet's pass would not end on a busy machine; longer and the next timer's
  // pass would wait for days.
  constexpr std::int64_t kLeast = 10 * kNsPerSecond;
  constexpr std::int64_t kMost = 24 * 3'600 * kNsPerSecond;
  const auto limit = take_duration(value);
  if (!limit) return;
  if (*limit < kLeast || *limit > kMost)
    return add_fault(value, "passLimit must be between 10s and 24h");
  out_.pass_limit_ns = {*limit, origin(value)};
}

void Reader::take_interval(const yaml::Node& value) {
  // Shorter and a machine does little but look at itself; longer than a week is no drift
  // correction.
  constexpr std::int64_t kLeast = kNsPerSecond;
  constexpr std::int64_t kMost = 7 * 86'400 * kNsPerSecond;
  const auto interval = take_duration(value);
  if (!interval) return;
  if (*interval < kLeast || *interval > kMost)
    return add_fault(value, "interval must be between 1s and 7d");
  out_.interval_ns = {*interval, origin(value)};
}

void Reader::take_strict_paths(const yaml::Node& value) {
  const auto strict = yaml::find_boolean(value);
  if (!strict) return add_fault(value, "strictPaths must be true or false");
  out_.strict_paths = {*strict, origin(value)};
}

void Reader::take_observe(const yaml::Node& value) {
  out_.observe = {take_globs(value), origin(value)};
}

void Reader::take_protect(const yaml::Node& value) {
  out_.protect = {take_globs(value), origin(value)};
}

void Reader::take_backend(const yaml::Node& value) {
  const auto text = value.is_scalar() ? value.text() : "";
  if (text != "file" && text != "credentials")
    return add_fault(value, "backend must be file or credentials");
  out_.secrets_backend = {text == "file" ? SecretsBackend::file : SecretsBackend::credentials,
                          origin(value)};
}

void Reader::take_secrets_path(const yaml::Node& value) {
  if (auto path = take_path(value)) out_.secrets_path = {std::move(*path), origin(value)};
}

void Reader::take_archive_above(const yaml::Node& value) {
  // A journal holds at least a few passes; below this it would be archived all the time.
  constexpr std::uint64_t kLeast = 16ULL << 20U;
  const auto size = value.is_scalar() ? find_size(value.text()) : std::nullopt;
  if (!size || *size < kLeast)
    return add_fault(value, "archiveAbove must be a size of at least 16MiB, such as 1GiB");
  out_.archive_above_bytes = {*size, origin(value)};
}

void Reader::take_archive_after(const yaml::Node& value) {
  constexpr std::int64_t kLeast = 86'400 * kNsPerSecond;  // younger records are still looked at
  const auto age = take_duration(value);
  if (!age) return;
  if (*age < kLeast) return add_fault(value, "archiveAfter must be at least 1d");
  out_.archive_after_ns = {*age, origin(value)};
}

void Reader::take_removals_max(const yaml::Node& value) {
  constexpr std::int64_t kMost = 1'000'000;  // more resources than a host can have
  const auto max = yaml::find_integer(value);
  if (!max || *max < 0 || *max > kMost)
    return add_fault(value, "max must be a number from 0 to 1000000");
  out_.removals_max = {static_cast<std::uint32_t>(*max), origin(value)};
}

void Reader::take_orphans(const yaml::Node& value) {
  const auto text = value.is_scalar() ? value.text() : "";
  for (const auto rule : {Orphans::wait, Orphans::adopt, Orphans::remove}) {
    if (text != to_string(rule)) continue;
    out_.orphans = {rule, origin(value)};
    return;
  }
  add_fault(value, "orphans must be wait, adopt or remove");
}

void Reader::take_finish_interrupted(const yaml::Node& value) {
  const auto finish = yaml::find_boolean(value);
  if (!finish) return add_fault(value, "finishInterrupted must be true or false");
  out_.finish_interrupted = {*finish, origin(value)};
}

// "name:port", "192.0.2.1:port", "[2001:db8::1]:port".
static bool is_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto host = text.substr(0, colon);
  const bool is_bracketed = host.front() == '[' && host.back() == ']' && host.size() > 2;
  if (!is_bracketed && host.find_first_of("[]: /@") != std::string_view::npos) return false;
  constexpr std::size_t kLongestPort = 5;
  const auto digits = text.substr(colon + 1);
  if (digits.empty() || digits.size() > kLongestPort) return false;
  std::uint32_t port = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return false;
    port = port * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  return port >= 1 && port <= 65535;
}

void Reader::take_control(const yaml::Node& value) {
  if (!value.is_sequence())
    return add_fault(value, "must be a list of addresses", "write [\"control.example:7600\"]");
  if (value.items().size() > kMaxControls)
    return add_fault(value, "more than " + std::to_string(kMaxControls) + " addresses");
  std::vector<std::string> addresses;
  for (const auto& item : value.items()) {
    auto text = take_text(item);
    if (!text) continue;
    if (!is_address(*text))
      add_fault(item, yaml::quoted(text->substr(0, 64)) + " is no address such as name:7600");
    else
      addresses.push_back(std::move(*text));
  }
  out_.control = {std::move(addresses), origin(value)};
}

void Reader::take_source(const yaml::Node& value) {
  if (auto path = take_path(value)) out_.source = {std::move(*path), origin(value)};
}

void Reader::take_metrics(const yaml::Node& value) {
  if (const auto path = take_path(value)) out_.metrics = {*path, origin(value)};
}

void Reader::take_state(const yaml::Node& value) {
  if (auto path = take_path(value)) out_.state = {std::move(*path), origin(value)};
}

std::optional<std::string> Reader::take_text(const yaml::Node& value) {
  if (!value.is_scalar()) {
    add_fault(value, "must be text, not a " + std::string(to_string(value.kind())));
    return std::nullopt;
  }
  if (const auto type = yaml::classify(value); type != yaml::ScalarType::string) {
    add_fault(value, "must be text and reads as " + std::string(yaml::to_string(type)),
              "write " + yaml::quoted(value.text()));
    return std::nullopt;
  }
  if (const auto fault = yaml::find_single_line_fault(value.text())) {
    add_fault(value, "the text " + *fault);
    return std::nullopt;
  }
  return std::string(value.text());
}

std::optional<std::string> Reader::take_path(const yaml::Node& value) {
  constexpr std::size_t kLongest = 4096;  // PATH_MAX of Linux
  auto path = take_text(value);
  if (!path) return std::nullopt;
  const auto padded = *path + "/";
  const bool plain = padded.find("//") == std::string::npos &&
                     padded.find("/./") == std::string::npos &&
                     padded.find("/../") == std::string::npos;
  if (path->empty() || path->front() != '/' || !plain || path->size() > kLongest) {
    add_fault(value, "must be an absolute path without //, ., .. or a / at its end");
    return std::nullopt;
  }
  return path;
}

std::optional<std::int64_t> Reader::take_duration(const yaml::Node& value) {
  const auto ns = value.is_scalar() ? find_duration_ns(value.text()) : std::nullopt;
  if (!ns) add_fault(value, "must be a duration such as 45s, 30m or 2h");
  return ns;
}

std::vector<std::string> Reader::take_globs(const yaml::Node& value) {
  std::vector<std::string> globs;
  if (!value.is_sequence()) {
    add_fault(value, "must be a list of references", "write [\"Package[nginx]\", \"File[*]\"]");
    return globs;
  }
  if (value.items().size() > kMaxGlobs) {
    add_fault(value, "more than " + std::to_string(kMaxGlobs) + " patterns");
    return globs;
  }
  for (const auto& item : value.items()) {
    auto glob = take_text(item);
    if (!glob) continue;
    if (const auto fault = find_glob_fault(*glob)) {
      add_fault(item, yaml::quoted(glob->substr(0, 64)) + " " + *fault);
    } else {
      globs.push_back(std::move(*glob));
    }
  }
  return globs;
}

Origin Reader::origin(const yaml::Node& value) const {
  return {std::string(file_), value.at().line};
}

void Reader::add_fault(const yaml::Node& value, std::string message, std::string hint) {
  if (faults_.size() >= yaml::kMaxDiagnostics) return;
  faults_.push_back({std::string(file_), value.at().line, value.at().column, std::move(message),
                     std::move(hint)});
}

}  // namespace datum::config
