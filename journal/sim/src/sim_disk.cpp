#include "datum/journal/sim_disk.hpp"

#include <algorithm>

namespace datum::journal {

// A sector is what a disk writes whole.
static constexpr std::size_t kSector = 512;

// splitmix64: small, and the same everywhere.
std::uint64_t SimDisk::draw(std::uint64_t below) {
  state_ += 0x9E3779B97F4A7C15U;
  auto value = state_;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27) * 0x94D049BB133111EBU;
  return (value ^ value >> 31) % below;
}

void SimDisk::apply(Bytes& image, const Change& change) {
  if (change.is_truncate) {
    image.resize(change.offset);
    return;
  }
  image.resize(std::max(image.size(), change.offset + change.bytes.size()));
  std::copy(change.bytes.begin(), change.bytes.end(),
            image.begin() + static_cast<std::ptrdiff_t>(change.offset));
}

Status SimDisk::write(std::uint64_t offset, ByteView bytes) {
  ++writes_;
  Change change{offset, {bytes.begin(), bytes.end()}, false};
  const bool is_planned = faults_.fail_write != 0 && --faults_.fail_write == 0;
  const bool is_full = offset + bytes.size() > capacity_;
  if (is_planned || is_full) {
    change.bytes.resize(draw(bytes.size() + 1));
    if (is_full && offset + change.bytes.size() > capacity_)
      change.bytes.resize(capacity_ > offset ? capacity_ - offset : 0);
    apply(cached_, change);
    dirty_.push_back(std::move(change));
    return fail(error_from_errno(is_planned ? faults_.write_errno : 28, "write"));
  }
  apply(cached_, change);
  dirty_.push_back(std::move(change));
  return {};
}

Status SimDisk::truncate(std::uint64_t size) {
  Change change{size, {}, true};
  apply(cached_, change);
  dirty_.push_back(std::move(change));
  return {};
}

Status SimDisk::sync() {
  ++syncs_;
  if (faults_.fail_sync != 0 && --faults_.fail_sync == 0) {
    // What reached the disk is decided now; the cache goes on showing all of it, and no later sync
    // will write the rest.
    for (const auto& change : dirty_) apply_partly(change);
    dirty_.clear();
    return fail(error_from_errno(faults_.sync_errno, "sync"));
  }
  for (const auto& change : dirty_) apply(durable_, change);
  dirty_.clear();
  return {};
}

void SimDisk::apply_partly(const Change& change) {
  const auto fate = draw(3);
  if (fate == 0) return;
  if (fate == 1 || change.is_truncate) {
    apply(durable_, change);
    return;
  }
  for (std::size_t at = 0; at < change.bytes.size();) {
    // Sectors are those of the disk, not of the write.
    const auto end = std::min(change.bytes.size(), at + kSector - (change.offset + at) % kSector);
    const auto* const begin = change.bytes.data();
    if (draw(2) == 0) apply(durable_, {change.offset + at, {begin + at, begin + end}, false});
    at = end;
  }
}

void SimDisk::crash() {
  for (const auto& change : dirty_) apply_partly(change);
  dirty_.clear();
  cached_ = durable_;
  faults_ = {};
  is_locked_ = false;
  ++boot_;
}

void SimDisk::flip(std::uint64_t offset, std::uint8_t mask) {
  for (auto* const image : {&durable_, &cached_})
    if (offset < image->size()) (*image)[offset] ^= static_cast<std::byte>(mask);
}

bool SimDisk::try_lock() {
  if (is_locked_) return false;
  is_locked_ = true;
  return true;
}

void SimDisk::unlock(std::uint64_t boot) {
  if (boot == boot_) is_locked_ = false;
}

}  // namespace datum::journal
