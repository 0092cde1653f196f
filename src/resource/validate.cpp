// The validators. A program sees the staged file under its temp name; systemd's needs a unit under
// its own name and gets a shadow of it.
#include "validate.hpp"

#include <array>

#include "datum/text/json_reader.hpp"
#include "datum/yaml/yaml.hpp"
#include "nginx_shadow.hpp"
#include "show.hpp"
#include "unit_shadow.hpp"

namespace datum::resource {

namespace {

// The built-in ones hold the file in memory, with about ten times its size for the tree.
constexpr std::uint64_t kMaxParsed = 16ULL * 1024 * 1024;

struct Program {
  std::string_view name;
  std::array<std::string_view, 2> binaries;     // the first that is there
  std::array<std::string_view, 4> before_path;  // arguments; the path is the last one
};
constexpr std::array kPrograms{
    Program{"sshd", {"/usr/sbin/sshd", "/usr/bin/sshd"}, {"-t", "-f"}},
    Program{"sudoers", {"/usr/sbin/visudo", "/usr/bin/visudo"}, {"-c", "-f"}},
    Program{"nginx", {"/usr/sbin/nginx", "/usr/bin/nginx"}, {"-t", "-q", "-c"}},
    Program{"systemd-unit",
            {"/usr/bin/systemd-analyze", "/bin/systemd-analyze"},
            {"--man=no", "verify"}},
};

Result<Bytes> read_staged(Bench& bench, const Work& work) {
  auto& files = bench.files();
  DATUM_ASSIGN(const auto stat, files.stat(work.handle));
  if (stat.size > kMaxParsed)
    return fail(ErrorCode::limit_exceeded, "more than 16 MiB cannot be validated");
  DATUM_TRY(files.seek(work.handle, 0));
  Bytes content(stat.size);
  for (std::size_t filled = 0; filled < content.size();) {
    DATUM_ASSIGN(const auto count,
                 files.read(work.handle, MutableByteView(content).subspan(filled)));
    if (count == 0) return fail(ErrorCode::conflict, "the staged file was cut short");
    filled += count;
  }
  return content;
}

// `sensitive`: the place of a fault is told, not the words that stand there.
Status check_yaml(std::string_view text, bool sensitive) {
  yaml::Options options;
  options.allow_nulls = true;
  options.allow_empty_file = true;
  const auto parsed = yaml::parse("", text, options);
  if (parsed.diagnostics.empty()) return {};
  const auto& first = parsed.diagnostics.front();
  return fail(ErrorCode::invalid_argument, "line " + std::to_string(first.line) + ", column " +
                                               std::to_string(first.column) + ": " +
                                               (sensitive ? "not valid YAML" : first.message));
}

Status validate_parsed(Bench& bench, const Work& work, std::string_view name, bool sensitive) {
  DATUM_ASSIGN(const auto content, read_staged(bench, work));
  auto checked =
      name == "json" ? text::check_json(as_text(content)) : check_yaml(as_text(content), sensitive);
  if (!checked) return fail(std::move(checked).error().context("validate: " + std::string(name)));
  return {};
}

// sshd refuses to test anything without this folder.
Status make_sshd_folder(Bench& bench) {
  DATUM_ASSIGN(const auto where, bench.sight.walker().locate("/run/sshd"));
  auto made = bench.files().make_directory(where.folder->handle, where.name, 0755);
  if (!made && made.error().code() == ErrorCode::already_exists) return {};
  return made;
}

std::string path_of(const Work& work, std::string_view name) {
  std::string path = work.where.folder->real_path;
  if (path != "/") path += '/';
  return path.append(name);
}

// Whatever runs as root must be root's, and so must the way to it: a folder that somebody else can
// write would let them choose the program.
Status check_trusted(Bench& bench, const os::Location& where, const os::FileStat& stat,
                     const std::string& path) {
  constexpr std::uint32_t kOthersWrite = 0022;
  if (bench.sight.machine().trusted_uid != 0) return {};
  if (!where.folder->untrusted.empty())
    return fail(ErrorCode::refused, path + " is not run: " + where.folder->untrusted);
  if (stat.type == os::FileType::symlink) return {};
  if (stat.uid != 0 || (stat.mode & kOthersWrite) != 0)
    return fail(ErrorCode::refused, path + " is not run: its owner is uid " +
                                        std::to_string(stat.uid) + ", its mode " +
                                        shown_mode(stat.mode));
  return {};
}

// `path` with the links at its end followed, inside the root.
Result<std::string> resolve_program(Bench& bench, std::string path) {
  constexpr int kMaxAlternatives = 8;  // as many as any real system of alternatives needs, and more
  for (int i = 0; i < kMaxAlternatives; ++i) {
    DATUM_ASSIGN(const auto where, bench.sight.walker().locate(path));
    DATUM_ASSIGN(const auto stat, bench.files().stat_at(where.folder->handle, where.name));
    DATUM_TRY(check_trusted(bench, where, stat, path));
    if (stat.type == os::FileType::regular) return path;
    if (stat.type != os::FileType::symlink)
      return fail(ErrorCode::refused, path + " is a " + std::string(to_string(stat.type)));
    auto target = bench.files().read_symlink(where.folder->handle, where.name);
    if (!target) return fail(std::move(target).error().context(path));
    // A relative link is walked from the real folder; ".." in it is not for a program of a package.
    const bool absolute = !target->empty() && (*target)[0] == '/';
    path = absolute ? *target : where.folder->real_path + "/" + *target;
  }
  return fail(ErrorCode::limit_exceeded, path + ": too many links");
}

Result<std::string> find_program(Bench& bench, const Program& program) {
  for (const auto binary : program.binaries) {
    auto found = resolve_program(bench, std::string(binary));
    if (found) return found;
    const auto code = found.error().code();
    if (code != ErrorCode::not_found && code != ErrorCode::not_directory) return found;
  }
  return fail(ErrorCode::unavailable,
              std::string(program.binaries[0]) + " is not installed: nothing was changed");
}

// How long a validator may take. Real ones need well below a second; a wave should end in this.
constexpr std::int64_t kValidatorLimitNs = 30 * kNsPerSecond;
// Of what it says, the first and the last half: what a record may hold of a tool's output.
constexpr std::size_t kValidatorOutputLimit = 16 * 1024;

// The program of the machine that is worked on, with that machine's libraries: under another root
// it runs inside it.
Result<loop::ChildResult> run_program(Bench& bench, const Program& program, const std::string& path,
                                      std::string_view environment) {
  DATUM_ASSIGN(const auto binary, find_program(bench, program));
  loop::ChildOptions options;
  options.timeout_ns = kValidatorLimitNs;
  options.output_limit = kValidatorOutputLimit;
  options.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                         "LANG=C.UTF-8", "HOME=/", "TERM=dumb"};
  if (!environment.empty()) options.environment.emplace_back(environment);
  options.argv = {binary};
  for (const auto argument : program.before_path)
    if (!argument.empty()) options.argv.emplace_back(argument);
  options.argv.push_back(path);
  const auto& root = bench.sight.machine().root_path;
  if (root == "/") return bench.options.run_child(options);
  options.argv.insert(options.argv.begin(), {std::string(), root});
  for (const auto* changer : {"/usr/sbin/chroot", "/usr/bin/chroot"}) {
    options.argv[0] = changer;
    auto ran = bench.options.run_child(options);
    if (ran || ran.error().code() != ErrorCode::not_found) return ran;
  }
  return fail(ErrorCode::unavailable,
              "this machine has no chroot(8) to run it under --root: nothing was changed");
}

// The first and the last half, and what is missing between them.
std::string output_of(const loop::ChildResult& result) {
  if (result.output_left_out == 0) return result.output;
  auto text = result.output;
  return text.insert(kValidatorOutputLimit / 2, "\n[" + std::to_string(result.output_left_out) +
                                                    " bytes were left out here]\n");
}

Status judge(const loop::ChildResult& result) {
  if (result.timed_out)
    return fail(ErrorCode::timed_out, "it did not end within " +
                                          std::to_string(kValidatorLimitNs / kNsPerSecond) +
                                          " seconds and was killed");
  if (result.signal != 0)
    return fail(ErrorCode::invalid_argument, "it died of signal " + std::to_string(result.signal));
  if (result.exit_status != 0)
    return fail(ErrorCode::invalid_argument,
                "refused, exit status " + std::to_string(result.exit_status));
  return {};
}

Status run_and_judge(Bench& bench, Work& work, const Program& program, const std::string& path,
                     bool sensitive, std::string_view environment = {}) {
  DATUM_ASSIGN(auto result, run_program(bench, program, path, environment));
  work.output = sensitive && !result.output.empty() ? std::string(kRedacted) : output_of(result);
  return judge(result);
}

Status validate_with(Bench& bench, Work& work, const Program& program, bool sensitive) {
  if (!bench.options.run_child)
    return fail(ErrorCode::unavailable, "no program can be run here: nothing was changed");
  const auto& machine = bench.sight.machine();
  if (machine.root_path != "/" && machine.trusted_uid != 0)
    return fail(ErrorCode::unsupported,
                "only root can run the programs of another root. Nothing was changed");
  // A program gets a path. Where somebody else may rename, it could be led to another file, and
  // what it says of that one would be told.
  if (const auto& untrusted = work.where.folder->untrusted; !untrusted.empty())
    return fail(ErrorCode::refused, untrusted +
                                        ": what a program is shown there could be exchanged. "
                                        "Nothing was changed");
  if (program.name == "sshd") DATUM_TRY(make_sshd_folder(bench));
  const auto check = [&](const std::string& path, const std::string& environment) {
    return run_and_judge(bench, work, program, path, sensitive, environment);
  };
  if (program.name == "nginx" && work.where.name != "nginx.conf")
    return with_nginx_shadow(bench, work,
                             [&](const std::string& main_file) { return check(main_file, {}); });
  if (program.name != "systemd-unit")
    return run_and_judge(bench, work, program, path_of(work, work.temp), sensitive);
  return with_unit_shadow(bench, work, check);
}

}  // namespace

Status validate_staged(Bench& bench, Work& work, bool sensitive) {
  return validate_staged_as(bench, work, work.resource->text(model::Field::validate, "none"),
                            sensitive);
}

Status validate_staged_as(Bench& bench, Work& work, std::string_view name, bool sensitive) {
  if (name == "none") return {};
  if (name == "json" || name == "yaml") return validate_parsed(bench, work, name, sensitive);
  for (const auto& program : kPrograms) {
    if (program.name != name) continue;
    auto status = validate_with(bench, work, program, sensitive);
    if (!status) return fail(std::move(status).error().context("validate: " + std::string(name)));
    return {};
  }
  return fail(ErrorCode::invalid_argument, "validate: " + std::string(name) + " is unknown");
}

}  // namespace datum::resource
