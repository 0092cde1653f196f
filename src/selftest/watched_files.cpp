#include "datum/selftest/watched_files.hpp"

#include <string>
#include <utility>

namespace datum::selftest {
namespace {

using os::Handle;

constexpr int kEio = 5;

class WatchedFiles final : public os::Files {
 public:
  WatchedFiles(os::Files& files, CrashPoints& points, std::function<std::string_view()> who)
      : files_(files), points_(points), who_(std::move(who)) {}

  [[nodiscard]] Status sync(const Handle& handle) override {
    const auto seen = files_.stat(handle);
    const bool is_folder = seen && seen->type == os::FileType::directory;
    return step(is_folder ? "sync of a folder" : "sync of a file",
                [&] { return files_.sync(handle); });
  }
  [[nodiscard]] Status sync_file_system(const Handle& handle) override {
    return step("sync of the file system", [&] { return files_.sync_file_system(handle); });
  }
  [[nodiscard]] Status rename(const Handle& from_parent, std::string_view from,
                              const Handle& to_parent, std::string_view to,
                              bool no_replace) override {
    return step("rename",
                [&] { return files_.rename(from_parent, from, to_parent, to, no_replace); });
  }
  [[nodiscard]] Status remove_file(const Handle& parent, std::string_view name) override {
    return removal(parent, name, [&] { return files_.remove_file(parent, name); });
  }
  [[nodiscard]] Status remove_directory(const Handle& parent, std::string_view name) override {
    return removal(parent, name, [&] { return files_.remove_directory(parent, name); });
  }

  [[nodiscard]] Result<Handle> open_root(const std::string& path) override {
    return files_.open_root(path);
  }
  [[nodiscard]] Result<Handle> open_directory(const Handle& parent, std::string_view name,
                                              os::Follow follow) override {
    return files_.open_directory(parent, name, follow);
  }
  [[nodiscard]] Result<Handle> open_file(const Handle& parent, std::string_view name,
                                         os::Access access) override {
    return files_.open_file(parent, name, access);
  }
  [[nodiscard]] Result<os::OpenedFile> open_file_with_stat(const Handle& parent,
                                                           std::string_view name,
                                                           os::Access access) override {
    return files_.open_file_with_stat(parent, name, access);
  }
  [[nodiscard]] Result<Handle> create_file(const Handle& parent, std::string_view name) override {
    return files_.create_file(parent, name);
  }
  [[nodiscard]] Result<os::FileStat> stat(const Handle& handle) override {
    return files_.stat(handle);
  }
  [[nodiscard]] Result<os::FileStat> stat_at(const Handle& parent, std::string_view name) override {
    return files_.stat_at(parent, name);
  }
  [[nodiscard]] Result<std::size_t> read(const Handle& handle, MutableByteView out) override {
    return files_.read(handle, out);
  }
  [[nodiscard]] Status write(const Handle& handle, ByteView bytes) override {
    return files_.write(handle, bytes);
  }
  [[nodiscard]] Result<std::uint64_t> seek_data(const Handle& handle,
                                                std::uint64_t offset) override {
    return files_.seek_data(handle, offset);
  }
  [[nodiscard]] Result<std::uint64_t> seek_hole(const Handle& handle,
                                                std::uint64_t offset) override {
    return files_.seek_hole(handle, offset);
  }
  [[nodiscard]] Status seek(const Handle& handle, std::uint64_t offset) override {
    return files_.seek(handle, offset);
  }
  [[nodiscard]] Status truncate(const Handle& handle, std::uint64_t size) override {
    return files_.truncate(handle, size);
  }
  [[nodiscard]] bool reports_file_system_sync_errors() override {
    return files_.reports_file_system_sync_errors();
  }
  [[nodiscard]] Status set_owner(const Handle& handle, std::uint32_t uid,
                                 std::uint32_t gid) override {
    return files_.set_owner(handle, uid, gid);
  }
  [[nodiscard]] Status set_owner_at(const Handle& parent, std::string_view name, std::uint32_t uid,
                                    std::uint32_t gid) override {
    return files_.set_owner_at(parent, name, uid, gid);
  }
  [[nodiscard]] Status set_mode(const Handle& handle, std::uint32_t mode) override {
    return files_.set_mode(handle, mode);
  }
  [[nodiscard]] Result<std::vector<os::Attribute>> read_attributes(const Handle& handle) override {
    return files_.read_attributes(handle);
  }
  [[nodiscard]] Status set_attribute(const Handle& handle,
                                     const os::Attribute& attribute) override {
    return files_.set_attribute(handle, attribute);
  }
  [[nodiscard]] Status remove_attribute(const Handle& handle, std::string_view name) override {
    return files_.remove_attribute(handle, name);
  }
  [[nodiscard]] Status carry_flags(const Handle& from, const Handle& to) override {
    return files_.carry_flags(from, to);
  }
  [[nodiscard]] Status make_directory(const Handle& parent, std::string_view name,
                                      std::uint32_t mode) override {
    return files_.make_directory(parent, name, mode);
  }
  [[nodiscard]] Status make_symlink(const Handle& parent, std::string_view name,
                                    std::string_view target) override {
    return files_.make_symlink(parent, name, target);
  }
  [[nodiscard]] Result<std::string> read_symlink(const Handle& parent,
                                                 std::string_view name) override {
    return files_.read_symlink(parent, name);
  }
  [[nodiscard]] Result<std::vector<os::DirectoryEntry>> list(const Handle& directory) override {
    return files_.list(directory);
  }
  [[nodiscard]] Result<os::Space> space(const Handle& handle) override {
    return files_.space(handle);
  }

 protected:
  void close(int) noexcept override {}  // every handle is of the files behind

 private:
  template <class Act>
  Status step(std::string_view what, Act act) {
    const std::string who(who_());
    if (points_.reach_and_fails(who + ": before " + std::string(what)))
      return fail(Error(ErrorCode::io_error, "a failing disk, made by the self-test", kEio));
    auto done = act();
    points_.reach(who + ": after " + std::string(what));
    return done;
  }
  // A name that is not there is asked for in vain, often: no step.
  template <class Act>
  Status removal(const Handle& parent, std::string_view name, Act act) {
    if (!files_.stat_at(parent, name)) return act();
    return step("removal", act);
  }

  os::Files& files_;
  CrashPoints& points_;
  const std::function<std::string_view()> who_;
};

}  // namespace

std::unique_ptr<os::Files> watch_files(os::Files& files, CrashPoints& points,
                                       std::function<std::string_view()> who) {
  return std::make_unique<WatchedFiles>(files, points, std::move(who));
}

}  // namespace datum::selftest
