#include "plan_file.hpp"

#include "datum/program/mapped_file.hpp"
#include "durable_file.hpp"

namespace datum::program {

Status write_plan_file(const std::string& path, std::string_view text) {
  DATUM_ASSIGN(auto file, DurableFile::create(path));
  DATUM_TRY(file.write(as_bytes(text)));
  return file.commit();
}

Result<PlanFile> read_plan_file(const std::string& path) {
  PlanFile read;
  DATUM_ASSIGN(read.file, MappedFile::open(path));
  DATUM_ASSIGN(read.plan, parse_saved_plan(as_text(read.file->bytes()), path));
  return read;
}

}  // namespace datum::program
