#include "datum/resource/portrait.hpp"

#include <algorithm>

#include "account/account_facts.hpp"
#include "datum/model/reserved.hpp"
#include "datum/resource/wave.hpp"
#include "file/file_facts.hpp"
#include "package/package_observer.hpp"
#include "path_facts.hpp"
#include "portrait_parts.hpp"
#include "service/service_observer.hpp"
#include "service/unit_facts.hpp"
#include "show.hpp"
#include "sysctl/kernel.hpp"

namespace datum::resource {

namespace {

using model::ResourceType;

constexpr std::uint32_t kPortraitSetIds = 06000;
constexpr std::uint32_t kWorldWritable = 0002;
constexpr std::uint32_t kFirstPerson = 1000;  // login.defs, UID_MIN of every distribution

// Folders in which a mode that everybody may write has to be meant.
bool is_guarded(std::string_view path) {
  constexpr std::string_view kGuarded[] = {"/etc/", "/usr/", "/bin/", "/sbin/", "/lib/"};
  return std::any_of(std::begin(kGuarded), std::end(kGuarded),
                     [path](std::string_view folder) { return path.starts_with(folder); });
}

class Painter {
 public:
  explicit Painter(const Machine& machine)
      : machine_(machine),
        declared_(make_declared(std::make_shared<const model::Manifest>())),
        sight_({std::shared_ptr<const Machine>(), &machine},
               {std::shared_ptr<const Declared>(), &declared_}) {}

  Result<std::vector<Portrait>> part(const model::Target& target) {
    return portray_part(sight_, target);
  }

  Result<Portrait> path(std::string_view asked) {
    DATUM_ASSIGN(const auto where, sight_.walker().locate(asked));
    DATUM_ASSIGN(const auto stat, sight_.find(where));
    if (!stat) return fail(ErrorCode::not_found, "nothing is there");
    if (sight_.is_own(where, stat))
      return fail(ErrorCode::refused, "it belongs to Datum itself and cannot be declared");
    Portrait made;
    made.name = asked;
    add(made, "path", std::string(asked));
    switch (stat->type) {
      case os::FileType::symlink: {
        made.type = ResourceType::symlink;
        DATUM_ASSIGN(auto target, sight_.files().read_symlink(where.folder->handle, where.name));
        add(made, "target", std::move(target));
        return made;
      }
      case os::FileType::directory:
        made.type = ResourceType::directory;
        add_metadata(made, *stat);
        return made;
      case os::FileType::regular:
        made.type = ResourceType::file;
        add_metadata(made, *stat);
        DATUM_TRY(add_content(made, where, *stat));
        return made;
      default:
        return fail(ErrorCode::unsupported, "a socket, device or pipe cannot be declared");
    }
  }

  Result<Portrait> package(const std::string& name) {
    if (auto why = find_package_absence(machine_))
      return fail(ErrorCode::unsupported, std::move(*why));
    DATUM_ASSIGN(const auto* book, sight_.packages());
    const auto* found = book->find(name);
    if (found == nullptr || !os::is_present(*found))
      return fail(ErrorCode::not_found, "it is not installed");
    if (os::is_interrupted(*found))
      return fail(ErrorCode::conflict, os::describe(*found) + "; finish that first");
    Portrait made{ResourceType::package, name, {}, {}, {}};
    add(made, "state", std::string("present"));
    if (found->held) {
      add(made, "version", std::string(found->version));
      add(made, "pinned", true);
    } else {
      made.notes.push_back("version " + shown(found->version) +
                           " is there; it is not held, so none is declared");
    }
    return made;
  }

  Result<Portrait> service(const std::string& name) {
    if (auto why = find_unit_absence(machine_))
      return fail(ErrorCode::unsupported, std::move(*why));
    DATUM_ASSIGN(const auto* unit, sight_.units().find(model::normalise_unit(name)));
    if (!unit->problem.empty()) return fail(ErrorCode::unavailable, unit->problem);
    if (!exists(*unit)) return fail(ErrorCode::not_found, "there is no such unit");
    const auto startup = startup_of(unit->file_state);
    Portrait made{ResourceType::service, name, {}, {}, {}};
    add(made, "state", std::string(is_running(*unit) ? "running" : "stopped"));
    add(made, "enabled",
        startup == Startup::on || (startup == Startup::no_answer && is_running(*unit)));
    if (is_masked(*unit)) add(made, "masked", true);
    if (startup == Startup::no_answer)
      made.notes.push_back("the unit file is " + shown(unit->file_state) +
                           ": whether it is enabled cannot be observed");
    return made;
  }

  Result<Portrait> user(const std::string& name) {
    DATUM_ASSIGN(const auto* book, sight_.accounts());
    if (auto problem = book->user_problem(name); !problem.empty())
      return fail(ErrorCode::conflict, std::move(problem));
    const auto* found = book->find_user(name);
    if (found == nullptr) return fail(ErrorCode::not_found, "there is no such local user");
    Portrait made{ResourceType::user, name, {}, {}, {}};
    add(made, "state", std::string("present"));
    add(made, "uid", found->uid);
    const auto primary = book->group_name(found->gid);
    if (book->find_group(primary) != nullptr)
      add(made, "primaryGroup", primary);
    else
      made.notes.push_back("its primary group is " + primary + ", a number without a name");
    const auto groups = book->supplementary_groups(*found);
    add(made, "groups", std::vector<std::string>(groups.begin(), groups.end()));
    add(made, "home", found->home);
    add(made, "shell", found->shell);
    add(made, "comment", found->comment);
    if (found->uid < kFirstPerson && found->uid != 0) add(made, "system", true);
    if (is_locked(found->password)) add(made, "locked", true);
    if (has_password(found->password))
      made.notes.push_back(
          "it has a password, which is not printed: passwordRef names a secret with its hash");
    return made;
  }

  Result<Portrait> group(const std::string& name) {
    DATUM_ASSIGN(const auto* book, sight_.accounts());
    if (auto problem = book->group_problem(name); !problem.empty())
      return fail(ErrorCode::conflict, std::move(problem));
    const auto* found = book->find_group(name);
    if (found == nullptr) return fail(ErrorCode::not_found, "there is no such local group");
    Portrait made{ResourceType::group, name, {}, {}, {}};
    add(made, "state", std::string("present"));
    add(made, "gid", found->gid);
    return made;
  }

  Result<Portrait> sysctl(const std::string& name) {
    if (!is_live(machine_)) return fail(ErrorCode::unsupported, "not under --root");
    const auto key = model::normalise_sysctl(name);
    DATUM_ASSIGN(auto value, read_kernel(sight_, key));
    if (!value) return fail(ErrorCode::not_found, "the kernel does not know it");
    Portrait made{ResourceType::sysctl, key, {}, {}, {}};
    add(made, "value", collapsed(*value));
    made.notes.push_back("the plan makes " + model::sysctl_drop_in(key) +
                         ", unless it is there: the value is to hold after a restart too");
    return made;
  }

 private:
  static void add(Portrait& made, const char* field, Portrait::Value value) {
    made.fields.emplace_back(field, std::move(value));
  }

  void add_metadata(Portrait& made, const os::FileStat& stat) const {
    add(made, "owner", machine_.accounts->user_name(stat.uid));
    add(made, "group", machine_.accounts->group_name(stat.gid));
    add(made, "mode", shown_mode(stat.mode));
    const bool guarded = is_guarded(made.name) && (stat.mode & kWorldWritable) != 0;
    if ((stat.mode & kPortraitSetIds) != 0 || guarded) add(made, "allowPrivileged", true);
  }

  // What others may not read is not printed either.
  Status add_content(Portrait& made, const os::Location& where, const os::FileStat& stat) {
    if (denies_others(stat.mode)) {
      made.notes.push_back(
          "others may not read it, so its content is not printed and only its owner and mode are "
          "declared; secretRef names a secret with the content");
      return {};
    }
    if (stat.size > kMaxPortraitContent) {
      made.notes.push_back("larger than 16 MiB: only its owner and mode are declared");
      return {};
    }
    auto& files = sight_.files();
    DATUM_ASSIGN(const auto file,
                 files.open_file(where.folder->handle, where.name, os::Access::read));
    std::string bytes;
    const auto room = sight_.buffer();
    for (;;) {
      DATUM_ASSIGN(const auto count, files.read(file, room));
      if (count == 0) break;
      bytes.append(as_text(room.first(count)));
      if (bytes.size() > kMaxPortraitContent)
        return fail(ErrorCode::limit_exceeded, "it grows while it is read");
    }
    made.content = std::move(bytes);
    return {};
  }

  const Machine& machine_;
  const Declared declared_;
  Sight sight_;
};

Result<Portrait> portray_named(const Machine& machine, const model::Reference& reference) {
  Painter painter(machine);
  const std::string name = reference.name;
  switch (reference.type) {
    case ResourceType::package:
      return painter.package(name);
    case ResourceType::service:
      return painter.service(name);
    case ResourceType::user:
      return painter.user(name);
    case ResourceType::group:
      return painter.group(name);
    case ResourceType::sysctl:
      return painter.sysctl(name);
    default:
      return fail(
          ErrorCode::unsupported,
          "name a File, Directory or Symlink by its path, a Mount as mount:/PATH, a Setting "
          "as setting:/PATH [section] key; a Repository has no portrait");
  }
}

}  // namespace

Result<std::vector<Portrait>> portray(const Machine& machine, std::string_view asked) {
  if (const auto part = find_part(asked)) {
    auto made = Painter(machine).part(*part);
    if (!made) return fail(std::move(made).error().context(shown(asked)));
    return made;
  }
  const auto reference = model::find_reference(asked);
  if (!reference && !asked.starts_with('/'))
    return fail(ErrorCode::invalid_argument,
                shown(asked) + ": an absolute path or Type[name] was expected, as Package[nginx]");
  auto made = reference ? portray_named(machine, *reference) : Painter(machine).path(asked);
  if (!made) return fail(std::move(made).error().context(shown(asked)));
  std::vector<Portrait> one;
  one.push_back(std::move(*made));
  return one;
}

}  // namespace datum::resource
