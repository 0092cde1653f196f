#include "story_import.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "datum/blobs/blob_store.hpp"
#include "datum/engine/store.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "desired.hpp"
#include "durable_file.hpp"

namespace datum::program {

namespace {

Result<bool> make_or_check_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0) return true;
  if (errno != EEXIST) return fail(error_from_errno(errno, folder));
  std::error_code error;
  const bool empty = std::filesystem::is_empty(folder, error);
  if (error) return fail(error_from_errno(error.value(), folder));
  const auto cut = words_of_cut_import(folder);
  if (!cut.empty()) return fail(ErrorCode::not_empty, cut);
  if (!empty) return fail(ErrorCode::not_empty, folder + " is not empty");
  return false;
}

Status write_mark(const std::string& folder, const std::string& file) {
  DATUM_ASSIGN(auto mark, DurableFile::create(folder + "/" + std::string(engine::kImportedName)));
  DATUM_TRY(mark.write(as_bytes("imported from " + file + "\n")));
  return mark.commit();
}

Result<ImportedStore> fill(const std::string& file, const std::string& folder) {
  DATUM_TRY(write_mark(folder, file));
  const auto files = os_linux::make_files();
  DATUM_ASSIGN(const auto blobs, blobs::open_blobs(*files, folder, false));
  ImportedStore imported;
  imported.folder = folder;
  DATUM_ASSIGN(
      imported.head,
      history::import_story(
          file, folder + "/journal", [&](const Digest& digest, ByteSource& content) -> Status {
            DATUM_ASSIGN(const auto stored, blobs->put_stream(content));
            if (stored.digest != digest)
              return fail(ErrorCode::corrupt,
                          "content sha256:" + digest.hex() + " is not what its name says");
            ++imported.contents;
            return blobs->sync();
          }));
  return imported;
}

}  // namespace

std::string words_of_cut_import(const std::string& folder) {
  const auto has = [&folder](const std::string& name) {
    std::error_code ignored;
    return std::filesystem::exists(folder + "/" + name, ignored);
  };
  const auto mark = std::string(engine::kImportedName);
  if (has("journal") || (!has(mark) && !has(mark + ".part"))) return {};
  return folder +
         ": an import into this folder was cut off (or is running still); it holds nothing that "
         "the "
         "export does not: remove the folder (rm -r), and import again";
}

Result<ImportedStore> import_store(const std::string& file, const std::string& folder) {
  const auto place = absolute_path(folder);
  DATUM_ASSIGN(const bool made, make_or_check_folder(place));
  auto imported = fill(file, place);
  if (imported) return imported;
  std::error_code ignored;
  for (const auto* const name : {"blobs", "journal", "journal.importing"})
    std::filesystem::remove_all(place + "/" + name, ignored);
  std::filesystem::remove(place + "/" + std::string(engine::kImportedName), ignored);
  if (made) std::filesystem::remove(place, ignored);
  return imported;
}

}  // namespace datum::program
