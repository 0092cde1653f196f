// A fleet to begin with: small enough to read in a minute, complete enough to render.
#include "datum/fleet/starter.hpp"

#include <algorithm>

#include "datum/model/reference.hpp"

namespace datum::fleet {
namespace {

constexpr std::uint32_t kFileMode = 0644;
constexpr std::uint32_t kFolderMode = 0755;

constexpr std::string_view kFleet =
    "# The root of the fleet. `datum validate` checks everything below it.\n"
    "datum: v1alpha1\n"
    "type: Fleet\n"
    "name: fleet\n";

constexpr std::string_view kLayer =
    "# Every host gets the resources in this folder. A layer with `match` takes some hosts only, "
    "and one\n"
    "# of higher precedence overrides fields of this one.\n"
    "datum: v1alpha1\n"
    "type: Layer\n"
    "name: base\n"
    "precedence: 0\n";

constexpr std::string_view kHello =
    "# Only observed: Datum shows whether it drifted and changes nothing. Remove `policy` to have "
    "it\n"
    "# corrected on hosts that enforce.\n"
    "datum: v1alpha1\n"
    "type: File\n"
    "name: hello\n"
    "policy: observe\n"
    "desired:\n"
    "  path: /usr/local/share/datum-hello\n"
    "  mode: \"0644\"\n"
    "  content: |\n"
    "    Datum keeps this file on {{ host }}.\n";

std::string host_document(std::string_view host) {
  std::string text =
      "# One document for each machine. Labels are what layers match.\n"
      "datum: v1alpha1\n"
      "type: Host\n"
      "name: \"";
  return text.append(host).append("\"\nlabels:\n  environment: test\n");
}

Status write_file(os::Files& files, const os::Handle& folder, std::string_view name,
                  std::string_view text) {
  DATUM_ASSIGN(const auto handle, files.create_file(folder, name));
  DATUM_TRY(files.write(handle, as_bytes(text)));
  DATUM_TRY(files.set_mode(handle, kFileMode));
  DATUM_TRY(files.sync(handle));
  return files.sync(folder);
}

// The folder of `path` below `root`, made where it is missing.
Result<os::Handle> make_folders(os::Files& files, const std::string& root, std::string_view path) {
  DATUM_ASSIGN(auto at, files.open_root(root));
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const auto name = path.substr(0, slash);
    const auto made = files.make_directory(at, name, kFolderMode);
    if (!made && made.error().code() != ErrorCode::already_exists) return fail(made.error());
    DATUM_TRY(files.sync(at));
    DATUM_ASSIGN(auto below, files.open_directory(at, name, os::Follow::no));
    at = std::move(below);
    path.remove_prefix(slash + 1);
  }
  return at;
}

// The folder, made with those above it where they are missing.
Result<os::Handle> open_or_make(os::Files& files, const std::string& path) {
  auto opened = files.open_root(path);
  if (opened || opened.error().code() != ErrorCode::not_found || path == "/") return opened;
  const auto slash = path.rfind('/');
  DATUM_ASSIGN(const auto parent, open_or_make(files, slash == 0 ? "/" : path.substr(0, slash)));
  DATUM_TRY(files.make_directory(parent, path.substr(slash + 1), kFolderMode));
  DATUM_TRY(files.sync(parent));
  return files.open_root(path);
}

}  // namespace

Result<std::vector<StarterFile>> starter_fleet(std::string_view host) {
  if (!model::is_document_name(host))
    return fail(ErrorCode::invalid_argument,
                "a host's name has letters, digits and . - _ + @ : only");
  return std::vector<StarterFile>{
      {"datum.yaml", std::string(kFleet)},
      {"hosts/" + std::string(host) + ".yaml", host_document(host)},
      {"layers/base/layer.yaml", std::string(kLayer)},
      {"layers/base/hello.yaml", std::string(kHello)},
  };
}

Result<std::vector<std::string>> write_starter_fleet(os::Files& files, const std::string& root,
                                                     std::string_view host) {
  DATUM_ASSIGN(const auto starter, starter_fleet(host));
  DATUM_ASSIGN(const auto folder, open_or_make(files, root));
  DATUM_ASSIGN(const auto entries, files.list(folder));
  for (const auto& entry : entries)
    if (entry.name == "datum.yaml")
      return fail(ErrorCode::already_exists, root + " holds a fleet already: its datum.yaml");
  for (const auto& entry : entries)
    if (entry.name.front() != '.')
      return fail(ErrorCode::not_empty, root + " is not empty: it holds " + entry.name);
  std::vector<std::string> written;
  for (const auto& [path, text] : starter) {
    DATUM_ASSIGN(const auto parent, make_folders(files, root, path));
    const auto name = std::string_view(path).substr(path.rfind('/') + 1);
    DATUM_TRY(write_file(files, parent, name, text));
    written.push_back(path);
  }
  return written;
}

}  // namespace datum::fleet
