// The one table of resource types.
#include "directory/directory_provider.hpp"
#include "file/file_provider.hpp"
#include "provider.hpp"
#include "symlink/symlink_provider.hpp"

namespace datum::resource {

const Provider* find_provider(model::ResourceType type) {
  static const FileProvider kFile;
  static const DirectoryProvider kDirectory;
  static const SymlinkProvider kSymlink;
  switch (type) {
    case model::ResourceType::file:
      return &kFile;
    case model::ResourceType::directory:
      return &kDirectory;
    case model::ResourceType::symlink:
      return &kSymlink;
    default:
      return nullptr;
  }
}

}  // namespace datum::resource
