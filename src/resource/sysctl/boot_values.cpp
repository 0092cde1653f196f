// The order and the syntax of sysctl.d(5). Settings with wildcards never win over one that names
// its key, so they do not matter to ours.
#include "boot_values.hpp"

#include <algorithm>
#include <array>

#include "../sight.hpp"
#include "datum/model/reserved.hpp"
#include "datum/resource/former.hpp"
#include "kernel.hpp"

namespace datum::resource {

namespace {

// In the order in which a file of one name takes precedence.
constexpr std::array<const char*, 5> kFolders{"/etc/sysctl.d", "/run/sysctl.d",
                                              "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d",
                                              "/lib/sysctl.d"};
// `sysctl --system` reads it after everything else; systemd-sysctl only where a drop-in is a link
// to it.
constexpr const char* kMainFile = "/etc/sysctl.conf";
// A thousand keys with a comment each are a tenth of it.
constexpr std::size_t kMaxSysctlFile = 1024 * 1024;
constexpr int kMaxDropInLinks = 8;  // one is usual
constexpr std::string_view kBefore = "# before: ";

std::string_view without_white(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
}

template <class Take>
void for_each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    take(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

struct Setting {
  std::string key;
  std::string_view value;
};

// "key = value", "-key = value" (failures do not matter); nothing for anything else.
std::optional<Setting> parse_setting(std::string_view line) {
  line = without_white(line);
  if (line.empty() || line.front() == '#' || line.front() == ';') return std::nullopt;
  const auto sign = line.find('=');
  if (sign == std::string_view::npos) return std::nullopt;
  auto key = without_white(line.substr(0, sign));
  if (!key.empty() && key.front() == '-') key = without_white(key.substr(1));
  if (key.empty() || key.find_first_of("*?[") != std::string_view::npos) return std::nullopt;
  return Setting{model::normalise_sysctl(key), without_white(line.substr(sign + 1))};
}

bool is_drop_in_name(std::string_view name) {
  return name.size() > 5 && name.ends_with(".conf") && name.front() != '.';
}

// What the link leads to, by its text alone: "../sysctl.conf" in /etc/sysctl.d is /etc/sysctl.conf.
std::string resolve(const std::string& folder, std::string_view text) {
  std::string path = text.starts_with('/') ? std::string() : folder;
  while (!text.empty()) {
    const auto slash = text.find('/');
    const auto part = text.substr(0, slash);
    if (part == "..")
      path.resize(path.empty() ? 0 : path.rfind('/'));
    else if (!part.empty() && part != ".")
      path.append(1, '/').append(part);
    text.remove_prefix(slash == std::string_view::npos ? text.size() : slash + 1);
  }
  return path;
}

Result<std::string> read_all(Sight& sight, const os::Handle& file) {
  std::string text;
  const auto room = sight.buffer();
  for (;;) {
    DATUM_ASSIGN(const auto count, sight.files().read(file, room));
    if (count == 0) return text;
    text.append(as_text(room.first(count)));
    if (text.size() > kMaxSysctlFile) return fail(ErrorCode::limit_exceeded, "larger than 1 MiB");
  }
}

// Empty for a link to /dev/null, which masks every file of its name.
Result<std::string> read_through_links(Sight& sight, std::string path) {
  for (int links = 0; links <= kMaxDropInLinks; ++links) {
    if (path == "/dev/null") return std::string();
    DATUM_ASSIGN(const auto where, sight.walker().locate(path));
    const auto file = sight.files().open_file(where.folder->handle, where.name, os::Access::read);
    if (file) return read_all(sight, *file);
    if (file.error().code() != ErrorCode::symlink) return fail(file.error());
    DATUM_ASSIGN(const auto text, sight.files().read_symlink(where.folder->handle, where.name));
    path = resolve(path.substr(0, path.rfind('/')), text);
  }
  return fail(ErrorCode::symlink, "too many links");
}

// The names in a folder; none if it is not there.
Result<std::vector<std::string>> names_in(Sight& sight, const std::string& folder) {
  std::vector<std::string> names;
  const auto where = sight.walker().locate(folder + "/x");
  if (!where) {
    const auto code = where.error().code();
    if (code == ErrorCode::not_found || code == ErrorCode::not_directory) return names;
    return fail(where.error());
  }
  DATUM_ASSIGN(const auto entries, sight.files().list(where->folder->handle));
  for (const auto& entry : entries)
    if (is_drop_in_name(entry.name)) names.push_back(entry.name);
  return names;
}

}  // namespace

DropIn parse_drop_in(std::string_view text, std::string_view key) {
  DropIn found;
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with(kBefore))
      found.before = std::string(without_white(line.substr(kBefore.size())));
    if (const auto setting = parse_setting(line); setting && setting->key == key)
      found.value = std::string(setting->value);
  });
  return found;
}

std::optional<std::string> find_persisted_value(std::string_view drop_in, std::string_view key) {
  return parse_drop_in(drop_in, key).value;
}

std::string write_drop_in(const model::Resource& sysctl, const std::optional<std::string>& before) {
  auto text = "# " + sysctl.reference.text() + ", kept by Datum: changes made here are undone.\n";
  if (before) text.append(kBefore).append(*before).append("\n");
  return text.append(sysctl.target.name)
      .append(" = ")
      .append(sysctl.text(model::Field::value))
      .append("\n");
}

Status BootValues::read(Sight& sight) {
  std::map<std::string, std::string> paths;  // file name → the one that counts
  for (const auto* folder : kFolders) {
    DATUM_ASSIGN(const auto names, names_in(sight, folder));
    for (const auto& name : names) paths.try_emplace(name, std::string(folder) + "/" + name);
  }
  const auto take = [&](ByKey& settings, const std::string& path) {
    const auto text = read_through_links(sight, path);
    if (text)
      add(settings, path, *text);
    else if (text.error().code() != ErrorCode::not_found)
      unread_.push_back(path + ": " + text.error().message());
  };
  for (const auto& [name, path] : paths) take(drop_ins_, path);
  take(main_file_, kMainFile);
  return {};
}

void BootValues::add(ByKey& settings, const std::string& path, std::string_view text) {
  for_each_line(text, [&](std::string_view line) {
    if (auto setting = parse_setting(line))
      settings.insert_or_assign(std::move(setting->key),
                                Assignment{path, std::string(setting->value)});
  });
}

const BootValues::Assignment* BootValues::find_later(std::string_view key,
                                                     std::string_view wanted) const {
  const auto own = model::sysctl_drop_in(key);
  const auto name_of = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  const auto differs = [&](const Assignment& one) {
    return collapsed(one.value) != collapsed(wanted);
  };
  const auto last = drop_ins_.find(key);
  if (last != drop_ins_.end() && name_of(last->second.file) > name_of(own) && differs(last->second))
    return &last->second;
  const auto main = main_file_.find(key);
  return main != main_file_.end() && differs(main->second) ? &main->second : nullptr;
}

}  // namespace datum::resource
