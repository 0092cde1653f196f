// A backup as one file: named contents, one behind the other, in chunks sealed under a passphrase
// (docs/formats/backup.md). Knows nothing of what the contents are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "datum/base/content.hpp"
#include "datum/crypto/seal.hpp"

namespace datum::control {

class BackupWriter {
 public:
  // At `part` (0600), which is new and on the file system of `path`, until `finish`.
  // `already_exists`: something lies at `path`.
  [[nodiscard]] static Result<BackupWriter> begin(const std::string& path, const std::string& part,
                                                  std::string_view passphrase);
  BackupWriter(BackupWriter&&) noexcept;
  // What was not finished is removed.
  ~BackupWriter();

  [[nodiscard]] Status add(std::string_view name, ByteView bytes);
  // The first `size` bytes of that file; `corrupt` where it is shorter.
  [[nodiscard]] Status add_file(std::string_view name, const std::string& path, std::uint64_t size);
  // Durable under its name on success; nothing is replaced.
  [[nodiscard]] Status finish();

 private:
  struct Impl;
  explicit BackupWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class BackupReader {
 public:
  // `corrupt`: it is no backup. `unsupported_version`: of a later one.
  [[nodiscard]] static Result<BackupReader> open(const std::string& path,
                                                 std::string_view passphrase);
  BackupReader(BackupReader&&) noexcept;
  ~BackupReader();

  struct Entry {
    std::string name;
    std::uint64_t size = 0;
  };
  // The next one, whose bytes are to be read to their end first; nothing: that was the last, and
  // the file is whole. `corrupt`: it was changed or cut off, or the passphrase is another.
  [[nodiscard]] Result<std::optional<Entry>> next();
  // Of the present one; no bytes: its end.
  [[nodiscard]] Result<Bytes> read();

 private:
  struct Impl;
  explicit BackupReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace datum::control
