// The machine's package manager: what is installed, what a transaction would do, and the tools that
// do it. Words of states are dpkg's own. Nothing here changes the machine: tools that do are handed
// out as argument vectors, to be run as services of their own. Calls block and may come from any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/loop/loop.hpp"

namespace datum::os {

enum class PackageState : std::uint8_t {
  not_installed,
  config_files,
  half_installed,
  unpacked,
  half_configured,
  triggers_awaited,
  triggers_pending,
  installed,
};
[[nodiscard]] std::string_view to_string(PackageState state);  // "half-configured"

// One package of one architecture. Texts are borrowed from the book.
struct InstalledPackage {
  std::string_view name;
  std::string_view architecture;
  std::string_view version;    // epoch included where there is one; empty: none was ever there
  std::string_view conffiles;  // " PATH MD5[ obsolete]", one a line
  PackageState state = PackageState::not_installed;
  bool held = false;
  bool needs_reinstall = false;
};
// Something of it beyond configuration files is there.
[[nodiscard]] bool is_present(const InstalledPackage& package);
// The package manager began with it and has not come to an end.
[[nodiscard]] bool is_interrupted(const InstalledPackage& package);
[[nodiscard]] std::string describe(const InstalledPackage& package);  // "foo (half-configured)"

// All packages that the package manager knows, as of one moment.
class PackageBook {
 public:
  // `status` and what stands in `updates`, oldest first, which takes precedence. `corrupt` with the
  // place for what is not of that form, and then nothing is believed. An empty status is an empty
  // book.
  [[nodiscard]] static Result<PackageBook> parse(std::string status,
                                                 std::vector<std::string> updates = {});

  // "name", of the machine's own architecture or of none, or "name:architecture". Null: unknown.
  [[nodiscard]] const InstalledPackage* find(std::string_view name) const;
  [[nodiscard]] const std::vector<InstalledPackage>& packages() const { return packages_; }
  [[nodiscard]] std::string_view native_architecture() const { return native_; }
  // Whether records lie about that a run did not come to merge.
  [[nodiscard]] bool has_updates() const { return texts_.size() > 1; }

 private:
  std::vector<std::unique_ptr<const std::string>> texts_;
  std::vector<InstalledPackage> packages_;  // sorted by name and architecture, unique
  std::string_view native_;
};

// Debian's order of versions (deb-version(7)): <0, 0, >0. Any bytes; epochs of any length.
[[nodiscard]] int compare_debian_versions(std::string_view a, std::string_view b);

struct PackageWish {
  std::string name;     // as declared, "libc6:i386" included
  std::string version;  // install: exactly this one; empty: any
  bool remove = false;
  bool operator==(const PackageWish&) const = default;
};
// One transaction.
struct PackageOrder {
  std::vector<PackageWish> wishes;
  bool replace_conffiles = false;  // else a changed one is kept
  bool allow_downgrade = false;
  bool change_held = false;  // some of the wishes are on hold
  bool reinstall = false;    // some are there only in part, at the version that is wanted
};

struct Tool {
  std::vector<std::string> argv;         // argv[0] is an absolute path; no shell
  std::vector<std::string> environment;  // whole
};

// What a transaction would do to one package.
struct ForeseenChange {
  enum class Kind : std::uint8_t { install, remove, configure };
  Kind kind = Kind::install;
  std::string name;  // without the machine's own architecture
  std::string from;  // version that is there now; empty: none
  std::string to;    // version that it would have; empty: none
  bool operator==(const ForeseenChange&) const = default;
};
struct Foresight {
  std::vector<ForeseenChange> changes;
  std::string refusal;  // why it would not even begin, in the tool's words; empty: it would
  std::vector<std::string> unknown;  // names that, or whose version, are not in the lists
};

struct LockHolder {
  std::int64_t pid = 0;
  std::string program;  // empty: not to be seen
  std::string lock;     // path
};

// Runs a child to its end; for what only reads.
using RunChild = std::function<Result<loop::ChildResult>(const loop::ChildOptions&)>;

class PackageTools {
 public:
  virtual ~PackageTools() = default;

  // Why there is no package manager that Datum knows, in words; nothing if there is one.
  [[nodiscard]] virtual std::optional<std::string> find_absence() = 0;
  // As of one moment: read anew where it changed meanwhile, `conflict` if it kept changing.
  // `corrupt`, `limit_exceeded`, or what reading returns.
  [[nodiscard]] virtual Result<PackageBook> read() = 0;
  // Changes nothing. An error: it could not be asked.
  [[nodiscard]] virtual Result<Foresight> simulate(const PackageOrder& order,
                                                   const RunChild& run_child) = 0;
  // Whether a source of packages changed after the lists of what it offers were read.
  [[nodiscard]] virtual bool lists_are_older() = 0;
  // Who works with the package manager now; nobody as far as can be seen.
  [[nodiscard]] virtual std::optional<LockHolder> find_lock_holder() = 0;
  // What a transaction laid beside configuration files that somebody changed:
  // "/etc/x.dpkg-dist". Of the package in a book.
  [[nodiscard]] virtual std::vector<std::string> find_conffile_leftovers(
      const InstalledPackage& package) = 0;

  [[nodiscard]] virtual Tool transaction(const PackageOrder& order) = 0;
  [[nodiscard]] virtual Tool refresh() = 0;
  // Brings interrupted packages to an end.
  [[nodiscard]] virtual Tool finish_interrupted(bool replace_conffiles) = 0;
  [[nodiscard]] virtual Tool hold(const std::vector<std::string>& names, bool held) = 0;
};

}  // namespace datum::os
