// What every look at the machine shares: the walk, one read buffer, and the questions that do not
// depend on a type. Belongs to one thread. Knows no resource type.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "account/account_book.hpp"
#include "datum/os/walk.hpp"
#include "datum/resource/observer.hpp"
#include "service/unit_book.hpp"
#include "sysctl/boot_values.hpp"

namespace datum::resource {

// Large enough that a system call a piece does not matter, small enough for a job of every thread.
inline constexpr std::size_t kReadSize = 256 * 1024;
// A file whose size already differs is hashed all the same up to here: its digest tells what was
// there. What Datum owns is hashed at any size, because ownership hangs on the digest.
inline constexpr std::uint64_t kMaxHashedForDrift = 16ULL * 1024 * 1024;
// Holes cost whoever makes them nothing and the reader half a second a gigabyte. What has more of
// them is not what Datum left there.
inline constexpr std::uint64_t kMaxHoles = 16ULL * 1024 * 1024 * 1024;
// Of a file that says it is empty: those of /proc and /sys are far smaller.
inline constexpr std::uint64_t kMaxUnsized = 16ULL * 1024 * 1024;

[[nodiscard]] core::Found found_of(os::FileType type);
// Whether reading it to its end is in proportion to what lies there.
[[nodiscard]] bool is_mostly_holes(const os::FileStat& stat);
[[nodiscard]] core::Identity identity_of(const os::FileStat& stat);
// Whether `stat` is the object that was seen. Of a folder only device and inode count: its size and
// times change with its entries, which Datum itself may just have changed.
[[nodiscard]] bool is_same_object(const os::FileStat& stat, core::Found found,
                                  const core::Identity& identity);

class Sight {
 public:
  Sight(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared);

  [[nodiscard]] const Machine& machine() const { return *machine_; }
  [[nodiscard]] const Declared& declared() const { return *declared_; }
  [[nodiscard]] os::Files& files() const { return *machine_->files; }
  [[nodiscard]] os::Walker& walker() { return walker_; }
  [[nodiscard]] UnitBook& units() { return units_; }
  // Each is read when somebody first asks, and then never again.
  [[nodiscard]] Result<const BootValues*> boot_values();
  [[nodiscard]] Result<const os::PackageBook*> packages();
  [[nodiscard]] Result<const AccountBook*> accounts();
  // The errors say which secret cannot be resolved, and why.
  [[nodiscard]] Result<std::string> secret(std::string_view name) const;
  // A secret that is a crypt hash, without line ends; anything else is `invalid_argument`.
  [[nodiscard]] Result<std::string> password_hash(std::string_view name) const;
  [[nodiscard]] MutableByteView buffer();

  // What lies under the name; no value if nothing does.
  [[nodiscard]] Result<std::optional<os::FileStat>> find(const os::Location& where) const;

  // SHA-256 of everything from the handle's offset to the end, and how much that was. `expected` is
  // the size from `stat`: the end is believed there without a further read. `cancelled` when the
  // stop flag is set; `limit_exceeded` for a file without a size that does not end.
  struct Hashed {
    Digest plain;
    std::uint64_t size = 0;
  };
  [[nodiscard]] Result<Hashed> hash(const os::Handle& file, std::uint64_t expected);

  // How a File that is looked at may be opened: without a look beforehand where Datum left a
  // regular file and nobody but root can have put something else.
  [[nodiscard]] os::Access read_access(const model::Target& target, const os::Location& where);
  // The same for the next File that is looked at, which this process itself has just put there.
  void expect_regular(bool expected) { expects_regular_ = expected; }

  // The digest under which sensitive content may be recorded.
  [[nodiscard]] Digest keyed(const Digest& plain) const;

  // Whether this name, what lies there or a folder on the way is one of Datum's own files.
  [[nodiscard]] bool is_own(const os::Location& where, const std::optional<os::FileStat>& stat);
  // Whether a declared target (or, with `ancestors`, a folder on the way to one) is this very name,
  // whatever path leads there. A path that cannot be walked counts as being it: nothing is removed
  // on a guess.
  [[nodiscard]] bool is_declared(const os::Location& where, bool ancestors);

 private:
  [[nodiscard]] bool is_own_folder(const os::Folder& folder);
  // Whether it is an object inside of Datum's folders that another mount or a hard link shows here.
  [[nodiscard]] bool is_own_elsewhere(std::uint64_t device, std::uint64_t inode,
                                      std::uint64_t mount, bool has_other_names) const;

  std::shared_ptr<const Machine> machine_;
  std::shared_ptr<const Declared> declared_;
  os::Walker walker_;
  UnitBook units_;
  std::optional<BootValues> boot_values_;
  std::optional<Result<os::PackageBook>> packages_;
  std::optional<AccountBook> accounts_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t owned_hint_ = 0;  // see read_access
  bool expects_regular_ = false;
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> own_folders_;
};

}  // namespace datum::resource
