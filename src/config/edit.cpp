// The text is changed at one place that is found by looking for it, and the result is believed only
// because reading it says what was wanted: no second knowledge of YAML is needed here.
#include "datum/config/edit.hpp"

#include "small_file.hpp"

namespace datum::config {
namespace {

constexpr std::string_view kSection = "reconciliation:";
constexpr std::string_view kKey = "mode:";
constexpr std::string_view kNewFileName = ".agent.yaml.new";
// Where no place is named: nothing of these two is shown to anybody.
constexpr std::string_view kNoFile = "agent.yaml";
constexpr std::string_view kNoFolder = "/etc/datum";

// The offset of a line, from 1; the end where there are fewer.
std::size_t line_start(std::string_view bytes, std::uint32_t line) {
  std::size_t at = 0;
  for (; line > 1 && at < bytes.size(); --line) {
    const auto end = bytes.find('\n', at);
    at = end == std::string_view::npos ? bytes.size() : end + 1;
  }
  return at;
}

// The value that stands in this line behind the key.
std::string replace_value(std::string_view bytes, std::uint32_t line, std::string_view word) {
  const auto start = line_start(bytes, line);
  const auto key = bytes.find(kKey, start);
  auto value =
      key == std::string_view::npos ? key : bytes.find_first_not_of(" \t", key + kKey.size());
  if (value == std::string_view::npos) return {};
  if (bytes[value] == '"' || bytes[value] == '\'') ++value;
  std::string out(bytes.substr(0, value));
  for (const auto old : {to_string(Mode::observe), to_string(Mode::enforce)})
    if (bytes.substr(value).starts_with(old))
      return out.append(word).append(bytes.substr(value + old.size()));
  return {};
}

// Behind `reconciliation:`, in either of its two styles; at the end where it is not there.
std::string add_key(std::string_view bytes, std::string_view word) {
  std::string text(bytes);
  if (!text.empty() && text.back() != '\n') text += '\n';
  const std::string member = std::string(kKey) + " " + std::string(word);
  std::size_t at = text.starts_with(kSection) ? 0 : text.find("\n" + std::string(kSection));
  if (at == std::string::npos) return text + std::string(kSection) + "\n  " + member + "\n";
  at = text.find(kSection, at) + kSection.size();
  const auto next = text.find_first_not_of(" \t", at);
  if (next != std::string::npos && text[next] == '{')
    return text.insert(next + 1, text.substr(next + 1).starts_with("}") ? member : member + ", ");
  const auto end = text.find('\n', at);
  const auto first = text.find_first_not_of(' ', end + 1);
  const auto indent = first == std::string::npos || first == end + 1 ? 2 : first - end - 1;
  return text.insert(end + 1, std::string(indent, ' ') + member + "\n");
}

// Every setting but the mode, without places.
std::string others(const Configuration& configuration) {
  std::string text;
  for (const auto& line : describe(configuration))
    if (line.key != "reconciliation.mode")
      text += line.key + "=" + line.value + (line.origin.is_default() ? "\n" : "!\n");
  return text;
}

}  // namespace

Result<std::string> edit_mode(std::string_view bytes, Mode mode) {
  const auto before = parse_configuration(kNoFile, kNoFolder, bytes);
  if (!before.faults.empty())
    return fail(ErrorCode::invalid_argument, yaml::to_string(before.faults.front()));
  const auto word = to_string(mode);
  const auto& origin = before.configuration.mode.origin;
  auto edited =
      origin.is_default() ? add_key(bytes, word) : replace_value(bytes, origin.line, word);
  const auto after = parse_configuration(kNoFile, kNoFolder, edited);
  const auto& now = after.configuration;
  if (!edited.empty() && after.faults.empty() && now.mode.value == mode &&
      !now.mode.origin.is_default() && others(now) == others(before.configuration))
    return edited;
  return fail(ErrorCode::unsupported,
              "the file is written in a way that is not changed by a program: set "
              "reconciliation.mode to " +
                  std::string(word) + " in it");
}

static Status write_new(os::Files& files, const os::Handle& directory, std::string_view bytes,
                        std::uint32_t mode) {
  if (auto removed = files.remove_file(directory, kNewFileName);
      !removed && removed.error().code() != ErrorCode::not_found)
    return removed;  // what a process that died left behind
  DATUM_ASSIGN(const auto file, files.create_file(directory, kNewFileName));
  DATUM_TRY(files.set_mode(file, mode));
  DATUM_TRY(files.write(file, as_bytes(bytes)));
  DATUM_TRY(files.sync(file));
  DATUM_TRY(files.rename(directory, kNewFileName, directory, kFileName, false));
  return files.sync(directory);
}

Status set_mode(os::Files& files, const os::Handle& directory, std::string_view directory_path,
                std::optional<std::uint32_t> trusted_uid, Mode mode) {
  // Whom to trust and what is wrong with the file is read_configuration's to say.
  DATUM_TRY(read_configuration(files, directory, directory_path, trusted_uid));
  const auto file = files.open_file(directory, kFileName, os::Access::read);
  if (!file && file.error().code() != ErrorCode::not_found) return fail(file.error());
  std::string bytes;
  std::uint32_t permissions = 0644;
  if (file) {
    DATUM_ASSIGN(bytes, read_small_file(files, *file, kMaxFileBytes));
    DATUM_ASSIGN(const auto stat, files.stat(*file));
    permissions = stat.mode;
  }
  DATUM_ASSIGN(const auto edited, edit_mode(bytes, mode));
  return write_new(files, directory, edited, permissions);
}

}  // namespace datum::config
