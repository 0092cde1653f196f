// The log over LMDB. Made by open_log only, which has walked what had to be walked.
#pragma once

#include <memory>
#include <string>

#include "file_io.hpp"
#include "lmdb_reader.hpp"

namespace datum::journal {

// What a log owns besides its environment.
struct StoreHandle {
  std::string path;
  Fd folder;
  Fd lock;
  OpenMode mode = OpenMode::open;
  std::uint32_t max_level = 1;
  CrashPoint crash_point;
  OpenOptions options;  // with which it was opened
};

class LmdbLog final : public LmdbReading<Log> {
 public:
  LmdbLog(std::shared_ptr<Environment> env, StoreHandle store);
  ~LmdbLog() override;

  [[nodiscard]] Result<Seq> append(const Batch& batch) override;
  [[nodiscard]] Status reserve(std::uint64_t bytes) override;
  [[nodiscard]] Status remove_before(Seq first) override;
  [[nodiscard]] Result<Verification> verify(Seq from) override;
  [[nodiscard]] Result<std::unique_ptr<Reader>> make_reader() override;
  [[nodiscard]] Result<Compaction> compact() override;
  [[nodiscard]] Status close() override;

  // `conflict`: a compaction has replaced the folder since it was opened.
  [[nodiscard]] Status check_place() const;
  // Appends values as another store holds them, in order; for import. Each was verified.
  [[nodiscard]] Status append_stored(const std::vector<ByteView>& values);

 private:
  [[nodiscard]] Status check_writable() const;
  // Writes the mark of an orderly end unless a commit failed, and keeps the lock.
  [[nodiscard]] Status close_environment();
  // Runs `body` in a durable transaction, growing the map as needed; every other failure is the
  // last.
  [[nodiscard]] Status commit(const std::function<int(MDB_txn*)>& body);

  StoreHandle store_;
  bool is_failed_ = false;
};

}  // namespace datum::journal
