// Looking at a Sysctl: the running value, our drop-in, and whatever comes after it at boot.
#include "../path_facts.hpp"
#include "../show.hpp"
#include "datum/crypto/digest.hpp"
#include "kernel.hpp"
#include "sysctl_provider.hpp"

namespace datum::resource {

namespace {

constexpr std::uint32_t kWritableByOthers = 0022;
// Ours are shorter than 5 KiB; what somebody else put there is read as far as this.
constexpr std::size_t kMaxDropIn = 64 * 1024;

Result<std::string> read_drop_in(Sight& sight, const os::Handle& file) {
  std::string text;
  const auto room = sight.buffer();
  while (text.size() < kMaxDropIn) {
    DATUM_ASSIGN(const auto count, sight.files().read(file, room));
    if (count == 0) break;
    text.append(as_text(room.first(count)));
  }
  return text;
}

// What lies under the drop-in's name says about the key, in the words of a report.
struct Persisted {
  std::string words;  // the value, or what is wrong
  bool as_declared = false;
};

Persisted judge_file(Sight& sight, const model::Resource& resource, const os::OpenedFile& opened,
                     std::string_view text) {
  const auto found = parse_drop_in(text, resource.target.name);
  if (!found.value) return {"a file that does not set it", false};
  if (!is_private(sight, opened.stat))
    return {shown(*found.value) + ", in a file that others than root can write", false};
  return {shown(*found.value), says(found, resource)};
}

// Fills in what lies there; false if the question is settled (it cannot be looked at).
bool look_at_drop_in(Sight& sight, const model::Resource& resource, core::Observation& seen,
                     Persisted& persisted) {
  persisted.words = "absent";
  const auto place = look_at_own_place(sight, place_of(resource.target), seen);
  if (!place) return false;
  if (!place->stat) return true;
  if (place->stat->type != os::FileType::regular) {
    persisted.words = "a " + std::string(to_string(place->stat->type));
    return true;
  }
  const auto opened = sight.files().open_file_with_stat(place->where->folder->handle,
                                                        place->where->name, os::Access::read);
  auto text =
      opened ? read_drop_in(sight, opened->handle) : Result<std::string>(fail(opened.error()));
  if (!text) {
    set_unknown(seen, "its drop-in cannot be read", text.error());
    return false;
  }
  seen.identity = identity_of(opened->stat);
  seen.content = crypto::sha256(as_bytes(*text));
  seen.content_size = text->size();
  persisted = judge_file(sight, resource, *opened, *text);
  return true;
}

// Adds the drift of the running value; false if it cannot be looked at.
bool compare_live(Sight& sight, const model::Resource& resource, core::Observation& seen,
                  bool& missing) {
  if (!is_live(sight.machine())) {
    seen.warning = "only the drop-in is managed; the live value is not under --root";
    return true;
  }
  const auto live = read_kernel(sight, resource.target.name);
  if (!live) {
    set_unknown(seen, "its live value cannot be read", live.error());
    return false;
  }
  missing = !*live;
  const auto wanted = resource.text(model::Field::value);
  if (missing)
    add_drift(seen, "value", shown(wanted), "absent");
  else if (**live != collapsed(wanted))
    add_drift(seen, "value", shown(wanted), shown(**live));
  return true;
}

void observe_declared(Sight& sight, const model::Resource& resource, core::Observation& seen,
                      Persisted persisted) {
  const auto wanted = resource.text(model::Field::value);
  bool missing = false;
  if (!compare_live(sight, resource, seen, missing)) return;
  const bool live_is_fine = seen.drifts.empty() || missing;
  const auto values = sight.boot_values();
  if (!values) return set_unknown(seen, "sysctl.d cannot be read", values.error());
  const auto* later = (*values)->find_later(resource.target.name, wanted);
  if (!persisted.as_declared || later != nullptr) {
    auto words = persisted.as_declared ? std::string() : persisted.words;
    if (later != nullptr)
      words.append(words.empty() ? "" : ", and ")
          .append(shown(later->value))
          .append(" by ")
          .append(later->file);
    add_drift(seen, "persisted", shown(wanted), std::move(words));
  }
  if (!persisted.as_declared || !live_is_fine) return;
  if (later != nullptr)
    add_obstacle(seen, core::Obstacle::overridden, later->file + " sets " + shown(later->value));
  else if (missing)
    add_obstacle(seen, core::Obstacle::no_such_key, kernel_path(resource.target.name));
}

}  // namespace

bool is_private(const Sight& sight, const os::FileStat& stat) {
  return stat.uid == sight.machine().trusted_uid && (stat.mode & kWritableByOthers) == 0;
}

bool says(const DropIn& found, const model::Resource& sysctl) {
  return found.value && collapsed(*found.value) == collapsed(sysctl.text(model::Field::value));
}

std::string describe_removal(Sight& sight, const os::Location& drop_in, std::string_view key) {
  if (!is_live(sight.machine())) return "only the drop-in goes: the live value is not under --root";
  const auto file = sight.files().open_file(drop_in.folder->handle, drop_in.name, os::Access::read);
  const auto text = file ? read_drop_in(sight, *file) : Result<std::string>(fail(file.error()));
  const auto live = read_kernel(sight, key);
  if (!text || !live || !*live) return "only the drop-in goes: the kernel has no such value";
  const auto found = parse_drop_in(*text, key);
  const auto stays = "the live value " + shown(**live) + " stays: ";
  if (!found.value || collapsed(*found.value) != **live) return stays + "it is not ours any more";
  if (!found.before) return stays + "what it was before is not known";
  if (*found.before == **live) return stays + "it was the same before";
  return "the live value goes back from " + shown(**live) + " to " + shown(*found.before);
}

void SysctlProvider::observe(Sight& sight, const model::Resource& resource,
                             core::Observation& seen) const {
  Persisted persisted;
  if (!look_at_drop_in(sight, resource, seen, persisted)) return;
  if (!resource.absent()) return observe_declared(sight, resource, seen, std::move(persisted));
  if (seen.found == core::Found::absent) return;
  add_state_drift(seen, true);
  if (const auto where = sight.walker().locate(place_of(resource.target)))
    seen.warning = describe_removal(sight, *where, resource.target.name);
}

}  // namespace datum::resource
