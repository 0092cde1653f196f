// One file on a simulated disk that fails and loses what was not synced, by a seeded plan. It owns
// the bytes and the faults and knows no format. It models what Linux promises and no more: a write
// may reach the disk at any time, whole, in part or not, until a sync that succeeds; after a sync
// that failed the writes before it look clean and may never reach the disk.
//
// Threads: none; a simulation is one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::journal {

struct SimFaults {
  // The n-th write or sync from now on fails (1 is the next one, 0 none), with this errno. A write
  // that fails leaves a part of itself, as the seed says.
  std::uint64_t fail_write = 0;
  int write_errno = 28;  // ENOSPC
  std::uint64_t fail_sync = 0;
  int sync_errno = 5;  // EIO
};

class SimDisk {
 public:
  explicit SimDisk(std::uint64_t seed, std::uint64_t capacity = std::uint64_t{1} << 30)
      : state_(seed), capacity_(capacity) {}

  [[nodiscard]] Status write(std::uint64_t offset, ByteView bytes);
  [[nodiscard]] Status truncate(std::uint64_t size);
  [[nodiscard]] Status sync();
  // What a process reads: every write that succeeded since the last crash.
  [[nodiscard]] ByteView contents() const { return cached_; }
  // Damage: changes a byte behind every process's back, durably.
  void flip(std::uint64_t offset, std::uint8_t mask);

  // Power is cut. Of each write since the last good sync the disk keeps all, some sectors, or
  // nothing, independently. Whoever had the file open has lost it.
  void crash();

  void set_faults(const SimFaults& faults) { faults_ = faults; }
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t writes() const { return writes_; }
  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }
  // Counts crashes: an opener of an earlier one may not touch the disk any more.
  [[nodiscard]] std::uint64_t boot() const { return boot_; }

  // The writer's lock; it ends with the power.
  [[nodiscard]] bool try_lock();
  void unlock(std::uint64_t boot);
  [[nodiscard]] bool is_locked() const { return is_locked_; }

 private:
  struct Change {
    std::uint64_t offset = 0;
    Bytes bytes;
    bool is_truncate = false;
  };
  std::uint64_t draw(std::uint64_t below);
  static void apply(Bytes& image, const Change& change);
  void apply_partly(const Change& change);

  std::uint64_t state_;
  std::uint64_t capacity_;
  SimFaults faults_;
  Bytes durable_;
  Bytes cached_;
  std::vector<Change> dirty_;  // since the last sync that succeeded or failed
  std::uint64_t writes_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t boot_ = 0;
  bool is_locked_ = false;
};

}  // namespace datum::journal
