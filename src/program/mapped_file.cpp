#include "datum/program/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace datum::program {

Result<std::shared_ptr<const MappedFile>> MappedFile::map(int descriptor, const std::string& name) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return fail(error_from_errno(errno, name));
  void* at = MAP_FAILED;
  if (S_ISREG(info.st_mode) && info.st_size > 0)
    at = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, descriptor,
                0);
  if (at == MAP_FAILED)
    return fail(ErrorCode::invalid_argument, name + ": an empty file, or not a regular one");
  return std::shared_ptr<const MappedFile>(
      new MappedFile(at, static_cast<std::size_t>(info.st_size)));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail(error_from_errno(errno, path));
  auto mapped = map(descriptor, path);
  ::close(descriptor);
  return mapped;
}

MappedFile::~MappedFile() {
  ::munmap(at_, size_);
}

}  // namespace datum::program
