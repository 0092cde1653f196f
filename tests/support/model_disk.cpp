// What is live, what is durable, and what a crash makes of the difference.
#include "support/model_disk.hpp"

#include <algorithm>

#include "datum/base/assert.hpp"

namespace datum::support {

InodeNumber ModelDisk::make_inode(Inode proto) {
  const auto number = next_++;
  proto.links = 0;
  ++used_inodes_[proto.file_system];
  durable_[number] =
      proto;  // born empty: this is what its name leads to if nothing else is written
  live_[number] = std::move(proto);
  dirty_.insert(number);
  return number;
}

Inode* ModelDisk::find(InodeNumber number) {
  const auto found = live_.find(number);
  return found == live_.end() ? nullptr : &found->second;
}
const Inode* ModelDisk::find(InodeNumber number) const {
  const auto found = live_.find(number);
  return found == live_.end() ? nullptr : &found->second;
}

void ModelDisk::change_names(const NameChange& change) {
  for (const auto& slot : change) {
    auto& entries = live_.at(slot.directory).entries;
    const auto old = entries.find(slot.name);
    if (old != entries.end()) {
      --live_.at(old->second).links;
      entries.erase(old);
    }
    if (slot.value == 0) continue;
    entries.emplace(slot.name, slot.value);
    auto& inode = live_.at(slot.value);
    ++inode.links;
    if (inode.type == os::FileType::directory) inode.parent = slot.directory;
  }
  pending_.push_back(change);
}

void ModelDisk::forget_if_unnamed(InodeNumber number, bool open) {
  const auto found = live_.find(number);
  if (found == live_.end() || found->second.links > 0 || open || roots_.contains(number)) return;
  used_blocks_[found->second.file_system] -=
      static_cast<std::int64_t>(found->second.content.blocks());
  --used_inodes_[found->second.file_system];
  dirty_.erase(number);
  dirty_content_.erase(number);
  live_.erase(found);
}

void ModelDisk::apply_durably(const NameChange& change) {
  for (const auto& slot : change) {
    const auto directory = durable_.find(slot.directory);
    if (directory == durable_.end()) continue;
    if (slot.value == 0)
      directory->second.entries.erase(slot.name);
    else
      directory->second.entries[slot.name] = slot.value;
  }
}

void ModelDisk::sync(InodeNumber number) {
  const auto& inode = live_.at(number);
  if (inode.type == os::FileType::directory) {
    // Every change of this directory, whole, with all that came before it on the same names.
    std::set<std::pair<InodeNumber, std::string>> wanted;
    std::vector<NameChange> chosen;
    std::vector<NameChange> rest;
    for (auto change = pending_.rbegin(); change != pending_.rend(); ++change) {
      const bool take = std::any_of(change->begin(), change->end(), [&](const Slot& slot) {
        return slot.directory == number || wanted.contains({slot.directory, slot.name});
      });
      if (take)
        for (const auto& slot : *change) wanted.emplace(slot.directory, slot.name);
      (take ? chosen : rest).push_back(std::move(*change));
    }
    std::for_each(chosen.rbegin(), chosen.rend(),
                  [&](const NameChange& change) { apply_durably(change); });
    pending_.assign(std::make_move_iterator(rest.rbegin()), std::make_move_iterator(rest.rend()));
  }
  if (dirty_.erase(number) == 0) return;
  auto& kept = durable_[number];
  auto entries = std::move(kept.entries);
  auto content = std::move(kept.content);
  kept = inode;
  kept.entries = std::move(entries);
  if (dirty_content_.erase(number) == 0) kept.content = std::move(content);
  sweep_durable();
}

void ModelDisk::sync_file_system(std::uint32_t file_system) {
  std::vector<NameChange> rest;
  for (auto& change : pending_) {
    // A change never spans file systems.
    if (durable_.at(change.front().directory).file_system == file_system)
      apply_durably(change);
    else
      rest.push_back(std::move(change));
  }
  pending_ = std::move(rest);
  const auto dirty = dirty_;
  for (const auto number : dirty)
    if (live_.at(number).file_system == file_system) sync(number);
}

void ModelDisk::settle_content(InodeNumber number, std::mt19937_64& random, Survives survives,
                               CrashOutcome& outcome) {
  const auto& now = live_.at(number);
  auto& kept = durable_.at(number);
  const bool metadata =
      survives == Survives::everything || (survives == Survives::seeded && random() % 2 == 0);
  if (metadata) {
    kept.mode = now.mode;
    kept.uid = now.uid;
    kept.gid = now.gid;
    kept.attributes = now.attributes;
    kept.immutable = now.immutable;
    kept.flags = now.flags;
    kept.mtime_ns = now.mtime_ns;
    kept.ctime_ns = now.ctime_ns;
  }
  if (!dirty_content_.contains(number)) return;
  const auto fate = survives == Survives::everything ? 0
                    : survives == Survives::nothing  ? 1
                                                     : random() % 5;
  const auto whole = now.content.text();
  switch (fate) {
    case 0:
      kept.content = now.content;
      break;
    case 1:
      break;  // the old content
    case 2:
      kept.content = Content();
      break;
    case 3:
      kept.content = now.content;
      kept.content.truncate(whole.empty() ? 0 : random() % whole.size());
      break;
    default:
      kept.content = Content();
      kept.content.truncate(whole.size());
  }
  if (kept.content.text() != whole) ++outcome.contents_lost;
}

CrashOutcome ModelDisk::crash(std::uint64_t seed, Survives survives) {
  std::mt19937_64 random(seed);
  CrashOutcome outcome;
  const auto count = pending_.size();
  const auto kept = survives == Survives::nothing      ? 0
                    : survives == Survives::everything ? count
                                                       : random() % (count + 1);
  outcome.name_changes_kept = kept;
  outcome.name_changes_lost = count - kept;
  for (std::size_t i = 0; i < kept; ++i) apply_durably(pending_[i]);
  for (const auto number : dirty_) settle_content(number, random, survives, outcome);
  pending_.clear();
  dirty_.clear();
  dirty_content_.clear();
  live_ = durable_;
  drop_unreachable();
  durable_ = live_;
  return outcome;
}

// Counts links anew from the roots and forgets what no name leads to.
void ModelDisk::drop_unreachable() {
  for (auto& [number, inode] : live_) inode.links = 0;
  std::set<InodeNumber> seen(roots_.begin(), roots_.end());
  std::vector<InodeNumber> todo(roots_.begin(), roots_.end());
  while (!todo.empty()) {
    const auto number = todo.back();
    todo.pop_back();
    for (const auto& [name, child] : live_.at(number).entries) {
      auto& inode = live_.at(child);
      ++inode.links;
      if (inode.type == os::FileType::directory) inode.parent = number;
      if (seen.insert(child).second) todo.push_back(child);
    }
  }
  std::erase_if(live_, [&](const auto& entry) { return !seen.contains(entry.first); });
  used_blocks_.clear();
  used_inodes_.clear();
  for (const auto& [number, inode] : live_) {
    used_blocks_[inode.file_system] += static_cast<std::int64_t>(inode.content.blocks());
    ++used_inodes_[inode.file_system];
  }
}

// Inodes that neither the kernel nor a durable name knows pile up; they go when there are many.
void ModelDisk::sweep_durable() {
  if (durable_.size() < 2 * live_.size() + 4096) return;
  std::set<InodeNumber> named(roots_.begin(), roots_.end());
  for (const auto& [number, inode] : durable_)
    for (const auto& [name, child] : inode.entries) named.insert(child);
  for (const auto& change : pending_)
    for (const auto& slot : change) named.insert({slot.directory, slot.value});
  std::erase_if(durable_, [&](const auto& entry) {
    return !named.contains(entry.first) && !live_.contains(entry.first);
  });
}

std::uint64_t ModelDisk::used_blocks(std::uint32_t file_system) const {
  const auto found = used_blocks_.find(file_system);
  return found == used_blocks_.end() ? 0 : static_cast<std::uint64_t>(found->second);
}
std::uint64_t ModelDisk::used_inodes(std::uint32_t file_system) const {
  const auto found = used_inodes_.find(file_system);
  return found == used_inodes_.end() ? 0 : static_cast<std::uint64_t>(found->second);
}
void ModelDisk::count_blocks(std::uint32_t file_system, std::int64_t difference) {
  used_blocks_[file_system] += difference;
}

}  // namespace datum::support
