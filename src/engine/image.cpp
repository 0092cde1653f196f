#include "datum/engine/image.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "datum/base/rfc3339.hpp"
#include "datum/engine/blob_receiver.hpp"
#include "datum/engine/declaration_files.hpp"
#include "datum/engine/identity.hpp"
#include "datum/engine/store.hpp"
#include "datum/engine/tool.hpp"
#include "datum/engine/witness.hpp"
#include "sealed_file.hpp"

namespace datum::engine {
namespace {

constexpr std::string_view kAsidePrefix = "image-";
constexpr std::string_view kDamagedPrefix = "damaged-";
constexpr std::string_view kImageJournal = "journal";
// Journal first: without it, and with anything else of these, a store is refused.
constexpr std::array<std::string_view, 6> kHistory{
    kImageJournal, "journal.compacting", "archive", "blobs", "key", kImportedName};
constexpr std::array<std::string_view, 5> kOwn{kIdentityFolder, kDeclarationsFolder, kIncomingName,
                                               kToolsFolder, "probe"};
// Below the root: folder and name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kMarks{{
    {"var/lib/datum/release", "trial"},
    {"var/lib/datum/release", "rolled-back"},
    {"var/lib/datum/release", "stopped"},
    {"run/datum", "host.sock"},
    {"run/datum", "stopping"},
    {"run/datum", "no-pass"},
    {"run", "datum-started"},
    {"run", "datum-failures"},
}};
constexpr std::string_view kRelease = "var/lib/datum/release";
constexpr std::string_view kRestoring = "restoring";
// Datum's own folders are three deep; what is deeper is not Datum's.
constexpr int kMaxDepth = 16;
constexpr int kMostImages = 100;
// As host::metrics_text begins.
constexpr std::string_view kMetricsBegin = "# HELP datum_";

// "image-20310501T101500Z", "damaged-20310501T101500Z-2": what Datum itself gave such a name.
bool is_named_by_time(std::string_view name, std::string_view prefix) {
  constexpr std::string_view kForm = "00000000T000000Z";
  if (!name.starts_with(prefix) || name.size() < prefix.size() + kForm.size()) return false;
  name.remove_prefix(prefix.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = 0; at < kForm.size(); ++at)
    if (is_digit(kForm[at]) ? !is_digit(name[at]) : name[at] != kForm[at]) return false;
  name.remove_prefix(kForm.size());
  return name.empty() || (name.size() > 1 && name.front() == '-' &&
                          std::all_of(name.begin() + 1, name.end(), is_digit));
}

// What can be seen beforehand to keep a name from being moved or removed.
Status check_name(const os::FileStat& stat, const std::string& path) {
  if (stat.mount_root)
    return fail(ErrorCode::refused, path + ": something is mounted there; nothing was touched");
  if (stat.immutable)
    return fail(ErrorCode::refused, path + ": nobody may change it (chattr); nothing was touched");
  return {};
}

Status check_tree(os::Files& files, const os::Handle& parent, const std::string& name,
                  const std::string& path, int depth) {
  const auto stat = files.stat_at(parent, name);
  if (!stat && stat.error().code() == ErrorCode::not_found) return {};
  if (!stat) return fail(Error(stat.error()).context(path));
  DATUM_TRY(check_name(*stat, path));
  if (stat->type != os::FileType::directory) return {};
  if (depth > kMaxDepth)
    return fail(ErrorCode::limit_exceeded, path + ": folders are too deep to be Datum's");
  DATUM_ASSIGN(const auto folder, files.open_directory(parent, name, os::Follow::no));
  DATUM_ASSIGN(const auto entries, files.list(folder));
  for (const auto& entry : entries)
    DATUM_TRY(check_tree(files, folder, entry.name, path + "/" + entry.name, depth + 1));
  return {};
}

Status remove_tree(os::Files& files, const os::Handle& parent, std::string_view name, int depth) {
  DATUM_ASSIGN(const auto stat, files.stat_at(parent, name));
  DATUM_TRY(check_name(stat, std::string(name)));
  if (stat.type != os::FileType::directory) return files.remove_file(parent, name);
  if (depth > kMaxDepth)
    return fail(ErrorCode::limit_exceeded, std::string(name) + ": folders are too deep");
  {
    DATUM_ASSIGN(const auto folder, files.open_directory(parent, name, os::Follow::no));
    DATUM_ASSIGN(const auto entries, files.list(folder));
    for (const auto& entry : entries) DATUM_TRY(remove_tree(files, folder, entry.name, depth + 1));
  }
  return files.remove_directory(parent, name);
}

class Stripping {
 public:
  Stripping(os::Files& files, const ImageRequest& request) : files_(files), request_(request) {}

  Result<std::vector<StrippedPart>> run() {
    auto stripped = strip();
    if (stripped) return std::move(parts_);
    return fail(is_touched_ ? half_done(stripped.error()) : std::move(stripped).error());
  }

 private:
  Status strip() {
    DATUM_TRY(refuse_a_running_rollback());
    DATUM_TRY(strip_store());
    for (const auto& [folder, name] : kMarks) DATUM_TRY(remove_below(below(folder), name));
    return remove_metrics();
  }

  [[nodiscard]] Error half_done(const Error& why) const {
    std::string done;
    for (const auto& part : parts_)
      done += (done.empty() ? "" : ", ") + part.path + " (" +
              (part.what == Stripped::removed     ? "removed"
               : part.what == Stripped::set_aside ? "set aside"
                                                  : "deleted") +
              ")";
    return {why.code(),
            why.message() + "; this machine is no image yet. Done so far: " +
                (done.empty() ? "a part of what is named here" : done) +
                ". Once the cause is mended, datum prepare-image again does the rest",
            why.sys_errno()};
  }

  [[nodiscard]] std::string below(std::string_view path) const {
    return (request_.root == "/" ? "" : request_.root) + "/" + std::string(path);
  }

  // Below another root no link is followed: what it says is meant for the machine that the image
  // becomes, and here it leads out to this one.
  Result<os::Handle> open_folder(const std::string& path) {
    const auto& root = request_.root;
    if (root == "/" || !path.starts_with(root + "/")) return files_.open_root(path);
    DATUM_ASSIGN(auto folder, files_.open_root(root));
    for (std::size_t at = root.size() + 1; at < path.size();) {
      const auto end = std::min(path.find('/', at), path.size());
      auto next = files_.open_directory(folder, path.substr(at, end - at), os::Follow::no);
      if (!next) return fail(std::move(next).error().context(path.substr(0, end)));
      folder = std::move(*next);
      at = end + 1;
    }
    return folder;
  }

  // Only what begins as the service writes it: whatever else the configuration names is not
  // Datum's.
  Status remove_metrics() {
    const auto& file = request_.metrics;
    if (file.empty()) return {};
    const auto slash = file.rfind('/');
    const auto path = slash == 0 ? std::string("/") : file.substr(0, slash);
    const auto name = file.substr(slash + 1);
    const auto folder = open_folder(path);
    if (!folder && folder.error().code() == ErrorCode::not_found) return {};
    if (!folder) return fail(folder.error());
    const auto stat = files_.stat_at(*folder, name);
    if (!stat || stat->type != os::FileType::regular) return {};
    DATUM_ASSIGN(const auto opened, files_.open_file(*folder, name, os::Access::read));
    Bytes begin(kMetricsBegin.size());
    DATUM_ASSIGN(const auto size, files_.read(opened, begin));
    if (as_text(ByteView(begin).first(size)) != kMetricsBegin) return {};
    return remove_in(*folder, path, name);
  }

  Status refuse_a_running_rollback() {
    const auto folder = open_folder(below(kRelease));
    if (!folder || !files_.stat_at(*folder, kRestoring)) return {};
    return fail(ErrorCode::refused, below(kRelease) +
                                        ": a rollback is being done, or was cut off; start the "
                                        "service, which ends it, and stop it again");
  }

  // Nothing there is no error.
  Status remove_in(const os::Handle& folder, const std::string& path, std::string_view name) {
    if (!files_.stat_at(folder, name)) return {};
    is_touched_ = true;
    auto removed = remove_tree(files_, folder, name, 0);
    if (!removed && removed.error().code() == ErrorCode::not_found) return {};
    if (!removed) return fail(Error(removed.error()).context(path + "/" + std::string(name)));
    parts_.push_back({path + "/" + std::string(name), Stripped::removed, ""});
    return files_.sync(folder);
  }

  Status remove_below(const std::string& path, std::string_view name) {
    auto folder = open_folder(path);
    if (!folder && folder.error().code() == ErrorCode::not_found) return {};
    if (!folder) return fail(std::move(folder).error());
    const auto stat = files_.stat_at(*folder, name);
    if (stat && stat->type == os::FileType::directory)
      return fail(ErrorCode::refused, path + "/" + std::string(name) +
                                          ": a folder, where Datum has "
                                          "a file; look what it is");
    return remove_in(*folder, path, name);
  }

  Status strip_store() {
    auto store = open_folder(request_.store);
    if (!store && store.error().code() == ErrorCode::not_found) return remove_witness();
    if (!store) return fail(std::move(store).error());
    DATUM_TRY(check_store(*store));
    // What takes room comes before anything goes: on a full disk nothing is half done.
    DATUM_ASSIGN(const auto history, find_history(*store));
    std::string aside;
    if (!history.empty()) {
      DATUM_ASSIGN(aside, folder_for(*store, history));
      DATUM_TRY(files_.sync(*store));
    }
    // First: a store without its witness is no loss, and the other way round it is one.
    DATUM_TRY(remove_witness());
    for (const auto name : kOwn) DATUM_TRY(remove_in(*store, request_.store, name));
    DATUM_TRY(set_history_aside(*store, history, aside));
    return request_.discard_journal ? discard(*store) : Status{};
  }

  // Its folder stays, empty: what Datum left on the machine is then no trace of a loss.
  Status remove_witness() {
    if (request_.config.empty()) return {};
    return remove_below(request_.config + "/" + std::string(kWitnessFolder), kWitnessName);
  }

  // Before anything is touched: it is a store, and nothing stands in the way of what is to be done.
  Status check_store(const os::Handle& store) {
    bool has_parts = false;
    const auto check = [&](std::string_view name) -> Status {
      if (files_.stat_at(store, name)) has_parts = true;
      const auto path = request_.store + "/" + std::string(name);
      return check_tree(files_, store, std::string(name), path, 0);
    };
    for (const auto name : kOwn) DATUM_TRY(check(name));
    for (const auto name : kHistory) DATUM_TRY(check(name));
    DATUM_ASSIGN(const auto images, names_with(store, kAsidePrefix));
    bool has_journal = files_.stat_at(store, kImageJournal) ||
                       files_.stat_at(store, "journal.compacting") ||
                       files_.stat_at(store, kImportedName);
    for (const auto& name : images) {
      DATUM_TRY(check(name));
      const auto image = files_.open_directory(store, name, os::Follow::no);
      has_journal = has_journal || (image && files_.stat_at(*image, kImageJournal));
    }
    DATUM_ASSIGN(const auto damaged, names_with(store, kDamagedPrefix));
    for (const auto& name : damaged) DATUM_TRY(check(name));
    if (has_parts && !has_journal && images.empty() && damaged.empty())
      return fail(ErrorCode::refused, request_.store +
                                          ": no journal lies there, so it is no store of Datum's, "
                                          "or one that has lost it; nothing was touched");
    return {};
  }

  // Folders that Datum named so.
  Result<std::vector<std::string>> names_with(const os::Handle& store, std::string_view prefix) {
    DATUM_ASSIGN(const auto entries, files_.list(store));
    std::vector<std::string> names;
    for (const auto& entry : entries) {
      if (!is_named_by_time(entry.name, prefix)) continue;
      DATUM_ASSIGN(const auto stat, files_.stat_at(store, entry.name));
      if (stat.type == os::FileType::directory) names.push_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // What moves together, the journal first.
  Result<std::vector<std::string>> find_history(const os::Handle& store) {
    std::vector<std::string> there;
    for (const auto name : kHistory) {
      const auto stat = files_.stat_at(store, name);
      if (!stat) continue;
      if (request_.discard_journal && stat->type == os::FileType::symlink)
        return fail(ErrorCode::symlink, request_.store + "/" + std::string(name) +
                                            ": a link; what it leads to has to be deleted first");
      there.emplace_back(name);
    }
    DATUM_ASSIGN(const auto damaged, names_with(store, kDamagedPrefix));
    there.insert(there.end(), damaged.begin(), damaged.end());
    return there;
  }

  Status set_history_aside(const os::Handle& store, const std::vector<std::string>& history,
                           const std::string& aside_name) {
    if (history.empty()) return {};
    const auto path = request_.store + "/" + aside_name;
    DATUM_ASSIGN(const auto aside, files_.open_directory(store, aside_name, os::Follow::no));
    for (const auto& name : history) {
      const auto from = request_.store + "/" + name;
      auto moved = files_.rename(store, name, aside, name, true);
      if (!moved) return fail(std::move(moved).error().context(from));
      is_touched_ = true;
      parts_.push_back({from, Stripped::set_aside, path});
      DATUM_TRY(files_.sync(aside));
      DATUM_TRY(files_.sync(store));
    }
    return {};
  }

  // What was cut off goes on in its folder: what belongs together stays together.
  Result<std::string> folder_for(const os::Handle& store, const std::vector<std::string>& there) {
    DATUM_ASSIGN(const auto former, names_with(store, kAsidePrefix));
    if (!former.empty()) {
      DATUM_ASSIGN(const auto last, files_.open_directory(store, former.back(), os::Follow::no));
      DATUM_ASSIGN(const auto entries, files_.list(last));
      const bool is_free = std::none_of(entries.begin(), entries.end(), [&](const auto& entry) {
        return std::find(there.begin(), there.end(), entry.name) != there.end();
      });
      const bool goes_on = entries.empty() || there.front() != kImageJournal;
      if (is_free && goes_on) return former.back();
    }
    std::string time;
    for (const char c : format_rfc3339(request_.now).substr(0, 19))
      if (c != '-' && c != ':') time += c;
    const auto base = std::string(kAsidePrefix) + time + "Z";
    for (int number = 1;; ++number) {
      const auto name = number == 1 ? base : base + "-" + std::to_string(number);
      const auto made = files_.make_directory(store, name, 0700);
      if (made) return name;
      if (made.error().code() != ErrorCode::already_exists || number == kMostImages)
        return fail(made.error().code(), request_.store + "/" + name + ": " +
                                             made.error().message() + "; nothing was touched");
    }
  }

  Status discard(const os::Handle& store) {
    DATUM_ASSIGN(const auto names, names_with(store, kAsidePrefix));
    for (const auto& name : names) {
      is_touched_ = true;
      auto removed = remove_tree(files_, store, name, 0);
      if (!removed) return fail(Error(removed.error()).context(request_.store + "/" + name));
      DATUM_TRY(files_.sync(store));
      parts_.push_back({request_.store + "/" + name, Stripped::discarded, ""});
    }
    // What this run moved there is gone with it.
    std::erase_if(parts_, [](const auto& part) { return part.what == Stripped::set_aside; });
    return {};
  }

  os::Files& files_;
  const ImageRequest& request_;
  std::vector<StrippedPart> parts_;
  bool is_touched_ = false;
};

}  // namespace

std::string_view to_string(Stripped what) {
  switch (what) {
    case Stripped::removed:
      return "removed";
    case Stripped::set_aside:
      return "setAside";
    case Stripped::discarded:
      return "discarded";
  }
  return "";
}

Result<std::vector<StrippedPart>> prepare_image(os::Files& files, const ImageRequest& request) {
  return Stripping(files, request).run();
}

}  // namespace datum::engine
