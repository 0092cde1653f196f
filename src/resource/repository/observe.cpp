// Looking at a Repository: each declared field against what the files say.
#include "../path_facts.hpp"
#include "../show.hpp"
#include "../transfer.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/model/reserved.hpp"
#include "repository_files.hpp"
#include "repository_provider.hpp"

namespace datum::resource {

namespace {

using model::Field;

constexpr std::uint32_t kSourceFileMode = 0644;

std::string or_none(std::string_view text) {
  return text.empty() ? "none" : shown(text);
}

class ComparingSources {
 public:
  ComparingSources(Sight& sight, const model::Resource& resource, core::Observation& seen)
      : sight_(sight), resource_(resource), seen_(seen) {}

  Status run(const RepositoryFile& list) {
    const auto there = parse_sources(list.text);
    DATUM_ASSIGN(const auto wanted, wanted_files(sight_, resource_, list));
    const auto said = parse_sources(wanted.list);
    compare_line("url", said.find("uris"), there.find("uris"));
    compare_line("suite", said.find("suites"), there.find("suites"));
    compare_line("components", said.find("components"), there.find("components"));
    DATUM_TRY(compare_key(wanted, there));
    const bool trusted = resource_.flag(Field::is_unsigned);
    if (trusted != there.trusted()) add("unsigned", word_of(trusted), word_of(there.trusted()));
    const bool enabled = said.enabled();
    if (enabled != there.enabled()) add("enabled", word_of(enabled), word_of(there.enabled()));
    DATUM_TRY(compare_pin(wanted));
    // What says the same in another way may say more than apt's fields that are known here.
    if (list_drifts_ == 0 && list.text != wanted.list)
      add("content", "as Datum writes it", there.more ? "another repository too" : "other lines");
    if (!is_well_kept(sight_, list.stat))
      add("mode", shown_mode(kSourceFileMode), shown_mode(list.stat.mode));
    return {};
  }

 private:
  void add(std::string_view field, std::string desired, std::string observed) {
    add_drift(seen_, field, std::move(desired), std::move(observed));
    ++list_drifts_;
  }
  void compare_line(std::string_view field, std::string_view desired, std::string_view observed) {
    if (desired != observed) add(field, or_none(desired), or_none(observed));
  }

  Status compare_key(const WantedFiles& wanted, const Sources& there) {
    const auto named = there.find("signed-by");
    if (named != wanted.key_file) add("signingKey", or_none(wanted.key_file), or_none(named));
    for (const auto& path : places_beside(resource_.target)) {
      if (path == model::repository_files(resource_.target.name).apt_pin) continue;
      DATUM_ASSIGN(const auto file, read_repository_file(sight_, path));
      if (path != wanted.key_file) {
        if (file) add_drift(seen_, "signingKey", or_none(wanted.key_file), path);
      } else if (!file) {
        add_drift(seen_, "signingKey", path, "absent");
      } else if (file->text != wanted.key) {
        add_drift(seen_, "signingKey", shown_content(digest_of(wanted.key), wanted.key.size()),
                  shown_content(digest_of(file->text), file->text.size()));
      } else if (!is_well_kept(sight_, file->stat)) {
        add_drift(seen_, "signingKey", "mode " + shown_mode(kSourceFileMode),
                  "mode " + shown_mode(file->stat.mode));
      }
    }
    return {};
  }

  Status compare_pin(const WantedFiles& wanted) {
    if (!wanted.pin) return {};
    const auto path = model::repository_files(resource_.target.name).apt_pin;
    DATUM_ASSIGN(const auto file, read_repository_file(sight_, path));
    if (file && file->text == *wanted.pin && is_well_kept(sight_, file->stat)) return {};
    const auto desired = parse_sources(*wanted.pin);
    const auto observed = file ? parse_sources(file->text) : Sources{};
    auto said = or_none(observed.find("pin-priority"));
    if (file && observed.find("pin-priority") == desired.find("pin-priority"))
      said += " (not as Datum writes it)";
    add_drift(seen_, "priority", std::string(desired.find("pin-priority")), std::move(said));
    return {};
  }

  static Digest digest_of(std::string_view text) { return crypto::sha256(as_bytes(text)); }

  Sight& sight_;
  const model::Resource& resource_;
  core::Observation& seen_;
  std::size_t list_drifts_ = 0;
};

void observe_declared(Sight& sight, const model::Resource& resource, const RepositoryFile& list,
                      core::Observation& seen) {
  auto compared = ComparingSources(sight, resource, seen).run(list);
  if (!compared) set_unknown(seen, "its files cannot be compared", compared.error());
}

// Looks at the list; false if nothing more is to be said.
bool look_at_list(Sight& sight, const os::Location& where, core::Observation& seen) {
  const auto stat = sight.find(where);
  if (!stat) {
    set_unknown(seen, "cannot be looked at", stat.error());
    return false;
  }
  if (!accept(sight, where, *stat, seen) || !*stat) return false;
  if ((*stat)->type == os::FileType::regular) return true;
  add_type_drift(seen, os::FileType::regular, (*stat)->type);
  return false;
}

}  // namespace

bool is_well_kept(const Sight& sight, const os::FileStat& stat) {
  return stat.uid == sight.machine().trusted_uid && stat.mode == kSourceFileMode;
}

Result<std::optional<RepositoryFile>> read_repository_file(Sight& sight, const std::string& path) {
  const auto where = sight.walker().locate(path);
  if (!where && where.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!where) return fail(where.error());
  auto opened =
      sight.files().open_file_with_stat(where->folder->handle, where->name, os::Access::read);
  if (!opened && opened.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!opened) return fail(std::move(opened).error().context(path));
  if (opened->stat.size > kMaxRepositoryFile)
    return fail(ErrorCode::limit_exceeded, path + ": too large for what it should be");
  RepositoryFile file;
  file.stat = opened->stat;
  const auto room = sight.buffer();
  while (file.text.size() <= kMaxRepositoryFile) {
    DATUM_ASSIGN(const auto count, sight.files().read(opened->handle, room));
    if (count == 0) break;
    file.text.append(as_text(room.first(count)));
  }
  return file;
}

Result<std::optional<std::string>> read_key(Sight& sight, const model::Resource& repository) {
  const auto* const value = repository.find(Field::signing_key);
  if (value == nullptr) return std::nullopt;
  const auto& content = std::get<model::SharedContent>(*value).get();
  if (content.size > kMaxRepositoryFile)
    return fail(ErrorCode::limit_exceeded, "signingKey: too large for a key");
  DATUM_ASSIGN(const auto opened, open_content(sight, content));
  std::string key;
  const auto room = sight.buffer();
  while (key.size() <= kMaxRepositoryFile) {
    DATUM_ASSIGN(const auto count, opened.source->read(room));
    if (count == 0) break;
    key.append(as_text(room.first(count)));
  }
  if (crypto::sha256(as_bytes(key)) != content.digest)
    return fail(ErrorCode::conflict, "signingKey: its bytes are not the declared ones");
  return key;
}

std::string key_path(const model::Resource& repository, std::string_view key) {
  const auto files = model::repository_files(repository.target.name);
  return key.starts_with("-----BEGIN") ? files.apt_key_asc : files.apt_key_gpg;
}

Result<WantedFiles> wanted_files(Sight& sight, const model::Resource& repository,
                                 const std::optional<RepositoryFile>& list) {
  WantedFiles wanted;
  DATUM_ASSIGN(auto key, read_key(sight, repository));
  if (key && !repository.flag(Field::is_unsigned)) {
    wanted.key_file = key_path(repository, *key);
    wanted.key = std::move(*key);
  }
  const bool enabled_now = !list || parse_sources(list->text).enabled();
  wanted.list =
      write_sources(repository, wanted.key_file, repository.flag(Field::enabled, enabled_now));
  if (const auto* priority = repository.find(Field::priority); priority != nullptr)
    wanted.pin = write_pin(repository, std::get<std::int64_t>(*priority));
  return wanted;
}

void RepositoryProvider::observe(Sight& sight, const model::Resource& resource,
                                 core::Observation& seen) const {
  if (!is_apt_name(resource.target.name))
    return set_unknown(seen,
                       "apt passes over files whose name has other characters than letters, "
                       "digits and - _ .");
  const auto path = place_of(resource.target).str();
  const auto where = sight.walker().locate(path);
  if (!where && where.error().code() != ErrorCode::not_found)
    return set_unknown(seen, "not looked at and not touched", where.error());
  seen.found = core::Found::absent;
  if (where && look_at_list(sight, *where, seen)) {
    const auto list = read_repository_file(sight, path);
    if (!list || !*list)
      return set_unknown(
          seen, "its list cannot be read" + (list ? std::string() : ": " + list.error().message()));
    seen.identity = identity_of((*list)->stat);
    seen.content = crypto::sha256(as_bytes((*list)->text));
    seen.content_size = (*list)->text.size();
    if (resource.absent()) return add_state_drift(seen, true);
    return observe_declared(sight, resource, **list, seen);
  }
  if (seen.found == core::Found::absent && !resource.absent()) add_state_drift(seen, false);
  if (seen.found != core::Found::absent && resource.absent() && seen.found != core::Found::unseen)
    add_state_drift(seen, true);
}

}  // namespace datum::resource
