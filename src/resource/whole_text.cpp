#include "whole_text.hpp"

namespace datum::resource {

namespace {

constexpr std::uint32_t kTextMode = 0644;
constexpr std::uint32_t kTextFolderMode = 0755;

bool is_regular(const std::optional<os::FileStat>& stat) {
  return stat && stat->type == os::FileType::regular;
}

}  // namespace

Result<WholeText> read_whole_text(Sight& sight, const os::Location& where) {
  DATUM_ASSIGN(const auto opened, sight.files().open_file_with_stat(where.folder->handle,
                                                                    where.name, os::Access::read));
  if (opened.stat.size > kMaxWholeText)
    return fail(ErrorCode::limit_exceeded, "more than 16 MiB of what should be written by hand");
  WholeText whole{opened.stat, {}};
  whole.text.reserve(static_cast<std::size_t>(opened.stat.size));
  const auto room = sight.buffer();
  while (whole.text.size() <= kMaxWholeText) {
    DATUM_ASSIGN(const auto count, sight.files().read(opened.handle, room));
    if (count == 0) break;
    whole.text.append(as_text(room.first(count)));
  }
  if (whole.text.size() != opened.stat.size)
    return fail(ErrorCode::conflict, "it changed while it was read");
  return whole;
}

Metadata metadata_before(const Work& work) {
  Metadata wanted;
  wanted.mode = kTextMode;
  if (!is_regular(work.before)) return wanted;
  wanted.uid = work.before->uid;
  wanted.gid = work.before->gid;
  wanted.mode = work.before->mode;
  wanted.owner_given = true;
  wanted.mode_given = true;
  return wanted;
}

Status stage_whole_text(Bench& bench, Work& work, std::string_view text, const Metadata& wanted) {
  auto& files = bench.files();
  DATUM_ASSIGN(work.handle, create_temp(bench, work));
  work.temp = bench.temp_name_of(work);
  os::Handle old;
  if (is_regular(work.before)) {
    DATUM_ASSIGN(old,
                 files.open_file(work.where.folder->handle, work.where.name, os::Access::read));
    DATUM_TRY(files.carry_flags(old, work.handle));
  }
  DATUM_TRY(files.write(work.handle, as_bytes(text)));
  DATUM_ASSIGN(const auto now, files.stat(work.handle));
  DATUM_TRY(apply_metadata(files, work.handle, now, wanted));
  if (old) DATUM_TRY(carry_attributes(files, old, work.handle, false, wanted));
  work.staged = true;
  return {};
}

Result<os::Location> locate_making_folder(Sight& sight, std::string_view path) {
  auto where = sight.walker().locate(path);
  if (where || where.error().code() != ErrorCode::not_found) return where;
  DATUM_ASSIGN(const auto folder, sight.walker().locate(path.substr(0, path.rfind('/'))));
  auto made = sight.files().make_directory(folder.folder->handle, folder.name, kTextFolderMode);
  if (!made && made.error().code() != ErrorCode::already_exists)
    return fail(std::move(made).error());
  DATUM_TRY(sight.files().sync(folder.folder->handle));
  return sight.walker().locate(path);
}

}  // namespace datum::resource
