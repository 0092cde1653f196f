#include "mount_provider.hpp"

#include "../path_facts.hpp"
#include "../show.hpp"
#include "datum/crypto/digest.hpp"
#include "mount_facts.hpp"

namespace datum::resource {

namespace {

using model::Field;

std::string joined(const std::set<std::string, std::less<>>& options) {
  std::string text;
  for (const auto& option : options) text.append(text.empty() ? "" : ",").append(option);
  return text.empty() ? "none of them" : shown(text);
}

// "present" and "absent" are words of a document: the line is there, and not mounted, or neither.
std::string words_of(const MountFacts& facts) {
  const bool line = !facts.lines.empty();
  if (!facts.live) return line ? "present" : "absent";
  if (line) return facts.mounted ? "mounted" : "in fstab, not mounted";
  return facts.mounted ? "mounted, not in fstab" : "absent";
}

bool is_state(std::string_view state, const MountFacts& facts) {
  const bool line = !facts.lines.empty();
  const bool mounted = facts.mounted.has_value();
  if (state == "absent") return !line && !mounted;
  if (state == "present" || !facts.live) return line;
  return line && (mounted == (state == "mounted"));
}

Digest digest_of(const MountFacts& facts) {
  if (facts.lines.empty()) return {};
  std::string all;
  for (const auto& line : facts.lines)
    for (const auto* field : {&line.device, &line.fs_type, &line.options})
      all.append(*field).append(1, '\0');
  return crypto::sha256(as_bytes(all));
}

void compare_lines(const MountFacts& facts, const WantedMount& wanted, core::Observation& seen) {
  const auto compare = [&](std::string_view field, std::string_view desired,
                           std::string FstabLine::*piece) {
    for (const auto& line : facts.lines) {
      if (line.*piece == desired) continue;
      add_drift(seen, field, shown(desired), shown(line.*piece));
      return;
    }
  };
  compare("device", wanted.device, &FstabLine::device);
  compare("fsType", wanted.fs_type, &FstabLine::fs_type);
  if (!wanted.options) return;
  for (const auto& line : facts.lines) {
    if (are_same_options(line.options, *wanted.options)) continue;
    add_drift(seen, "options", shown(*wanted.options), shown(line.options));
    return;
  }
}

// What is mounted, where it is to be.
void compare_mounted(Sight& sight, const MountFacts& facts, const WantedMount& wanted,
                     core::Observation& seen) {
  const auto& mounted = *facts.mounted;
  const auto same = is_mounted_device(sight, wanted.device, mounted);
  if (same == false) {
    add_drift(seen, "mountedDevice", shown(wanted.device), shown(mounted.source));
    return;
  }
  if (!same)
    seen.warning = "whether " + shown(mounted.source) + ", which is mounted, is " +
                   shown(wanted.device) + " cannot be told";
  if (!wanted.options) return;
  const auto desired = restrictions(*wanted.options);
  const auto observed = restrictions(mounted.options);
  if (desired != observed) add_drift(seen, "mountedOptions", joined(desired), joined(observed));
}

Status check_own(Sight& sight, std::string_view path) {
  const auto where = sight.walker().locate(path);
  if (!where) return {};
  DATUM_ASSIGN(const auto stat, sight.find(*where));
  if (sight.is_own(*where, stat))
    return fail(ErrorCode::refused, "it belongs to Datum itself; not touched");
  return {};
}

}  // namespace

void MountProvider::observe(Sight& sight, const model::Resource& resource,
                            core::Observation& seen) const {
  const auto& path = resource.target.name;
  if (const auto own = check_own(sight, path); !own)
    return set_unknown(seen, own.error().message());
  const auto facts = look_at_mount(sight, path);
  if (!facts) return set_unknown(seen, "cannot be looked at", facts.error());
  const bool there = !facts->lines.empty() || facts->mounted;
  seen.found = there ? core::Found::present : core::Found::absent;
  seen.content = digest_of(*facts);
  if (!facts->live) seen.warning = "only fstab is managed; nothing is mounted under --root";
  const auto state = resource.text(Field::state);
  if (!is_state(state, *facts)) add_drift(seen, "state", std::string(state), words_of(*facts));
  if (resource.absent()) return;
  const auto wanted = wanted_mount(resource);
  compare_lines(*facts, wanted, seen);
  if (state == "mounted" && facts->mounted) compare_mounted(sight, *facts, wanted, seen);
}

Status MountProvider::stage(Bench& bench, Work& work) const {
  const std::string path = work.action->target.name;
  DATUM_ASSIGN(const auto facts, look_at_mount(bench.sight, path));
  const bool same = facts.fstab && work.before
                        ? identity_of(facts.fstab->stat) == identity_of(*work.before)
                        : facts.fstab.has_value() == work.before.has_value();
  if (!same) return changed_meanwhile(work);
  if (facts.fstab && facts.fstab->stat.links > 1)
    return fail(ErrorCode::conflict, "other names share /etc/fstab (hard links)");
  const std::string old = facts.fstab ? facts.fstab->text : std::string();
  const auto text =
      work.removes() ? remove_fstab(old, path) : write_fstab(old, wanted_mount(*work.resource));
  return text == old ? Status{} : stage_whole_text(bench, work, text, metadata_before(work));
}

Status MountProvider::commit(Bench& bench, Work& work) const {
  return work.temp.empty() ? Status{} : put_in_place(bench, work);
}

Status MountProvider::remove(Bench& bench, Work& work) const {
  return commit(bench, work);
}

Status look_at_leaving_mount(Sight& sight, core::LeavingObservation& seen) {
  DATUM_ASSIGN(const auto facts, look_at_mount(sight, seen.target.name));
  seen.found = facts.lines.empty() ? core::Found::absent : core::Found::present;
  seen.content = digest_of(facts);
  if (facts.mounted) seen.note = "it stays mounted until it is unmounted by hand, or the next boot";
  return {};
}

}  // namespace datum::resource
