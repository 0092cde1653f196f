#include "datum/config/configuration.hpp"

#include <array>

#include "datum/base/assert.hpp"
#include "datum/config/quantity.hpp"
#include "datum/config/trust.hpp"
#include "datum/yaml/scalar.hpp"
#include "reader.hpp"
#include "small_file.hpp"

namespace datum::config {

std::string Origin::text() const {
  return is_default() ? "default" : file + ":" + std::to_string(line);
}

std::string_view to_string(Mode mode) {
  return mode == Mode::enforce ? "enforce" : "observe";
}

std::string_view to_string(SecretsBackend backend) {
  return backend == SecretsBackend::credentials ? "credentials" : "file";
}

std::string_view to_string(Orphans orphans) {
  if (orphans == Orphans::wait) return "wait";
  return orphans == Orphans::adopt ? "adopt" : "remove";
}

Configuration default_configuration(std::string_view directory) {
  Configuration configuration;
  configuration.secrets_path.value = std::string(directory) + "/secrets";
  return configuration;
}

namespace {

std::string describe_list(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const auto& item : items) text += (text.size() > 1 ? ", " : "") + yaml::quoted(item);
  return text + "]";
}

std::string describe_windows(const std::vector<Window>& windows) {
  if (windows.empty()) return "always";
  std::string text;
  for (const auto& window : windows) text += (text.empty() ? "" : "; ") + describe(window);
  return text;
}

std::string join(const std::vector<yaml::Diagnostic>& faults) {
  std::string text;
  for (const auto& fault : faults) text += (text.empty() ? "" : "\n") + yaml::to_string(fault);
  return text;
}

Status check_trust(os::Files& files, const os::Handle& handle, std::string_view path,
                   std::optional<std::uint32_t> trusted_uid) {
  if (!trusted_uid) return {};
  DATUM_ASSIGN(const auto stat, files.stat(handle));
  return check_trusted(stat, path, *trusted_uid);
}

}  // namespace

std::vector<Described> describe(const Configuration& configuration) {
  const auto& c = configuration;
  return {
      {"host", c.host.value.value_or("none"), c.host.origin},
      {"reconciliation.mode", std::string(to_string(c.mode.value)), c.mode.origin},
      {"reconciliation.interval", format_exact_duration(c.interval_ns.value), c.interval_ns.origin},
      {"reconciliation.passLimit", format_exact_duration(c.pass_limit_ns.value),
       c.pass_limit_ns.origin},
      {"trust.strictPaths", c.strict_paths.value ? "true" : "false", c.strict_paths.origin},
      {"observe", describe_list(c.observe.value), c.observe.origin},
      {"protect", describe_list(c.protect.value), c.protect.origin},
      {"secrets.backend", std::string(to_string(c.secrets_backend.value)),
       c.secrets_backend.origin},
      {"secrets.path", c.secrets_path.value, c.secrets_path.origin},
      {"journal.archiveAbove", format_exact_size(c.archive_above_bytes.value),
       c.archive_above_bytes.origin},
      {"journal.archiveAfter", format_exact_duration(c.archive_after_ns.value),
       c.archive_after_ns.origin},
      {"removals.max", std::to_string(c.removals_max.value), c.removals_max.origin},
      {"orphans", std::string(to_string(c.orphans.value)), c.orphans.origin},
      {"packages.finishInterrupted", c.finish_interrupted.value ? "true" : "false",
       c.finish_interrupted.origin},
      {"windows", describe_windows(c.windows.value), c.windows.origin},
      {"control", describe_list(c.control.value), c.control.origin},
      {"source", c.source.value.value_or("none"), c.source.origin},
      {"metrics", c.metrics.value.value_or("none"), c.metrics.origin},
      {"state", c.state.value, c.state.origin},
  };
}

Parsed parse_configuration(std::string_view file, std::string_view directory,
                           std::string_view bytes) {
  Parsed parsed{default_configuration(directory), {}};
  auto tree = yaml::parse(file, bytes, {.allow_nulls = true, .allow_empty_file = true});
  parsed.faults = std::move(tree.diagnostics);
  if (tree.documents.size() > 1)
    parsed.faults.push_back({std::string(file), tree.documents[1].at.line,
                             tree.documents[1].at.column, "only one document is allowed here", ""});
  if (parsed.faults.empty() && !tree.documents.empty())
    Reader(file, parsed.configuration, parsed.faults).read(tree.documents.front().root);
  if (!parsed.faults.empty()) parsed.configuration = default_configuration(directory);
  return parsed;
}

Result<Configuration> read_configuration(os::Files& files, const os::Handle& directory,
                                         std::string_view directory_path,
                                         std::optional<std::uint32_t> trusted_uid) {
  const auto path = std::string(directory_path) + "/" + std::string(kFileName);
  const auto file = files.open_file(directory, kFileName, os::Access::read);
  if (!file) {
    if (file.error().code() == ErrorCode::not_found) return default_configuration(directory_path);
    return fail(Error(file.error()).context(path));
  }
  DATUM_TRY(check_trust(files, directory, directory_path, trusted_uid));
  DATUM_TRY(check_trust(files, *file, path, trusted_uid));
  auto bytes = read_small_file(files, *file, kMaxFileBytes);
  if (!bytes) return fail(std::move(bytes.error()).context(path));
  auto parsed = parse_configuration(path, directory_path, *bytes);
  if (!parsed.faults.empty()) return fail(ErrorCode::invalid_argument, join(parsed.faults));
  return std::move(parsed.configuration);
}

}  // namespace datum::config
