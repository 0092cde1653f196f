// The one table of resource types.
#include "directory/directory_provider.hpp"
#include "file/file_provider.hpp"
#include "provider.hpp"
#include "repository/repository_provider.hpp"
#include "symlink/symlink_provider.hpp"
#include "sysctl/sysctl_provider.hpp"

namespace datum::resource {

Result<os::Location> Provider::locate(Sight& sight, std::string_view place,
                                      const Work& /*work*/) const {
  return sight.walker().locate(place);
}

const Provider* find_provider(model::ResourceType type) {
  static const FileProvider kFile;
  static const DirectoryProvider kDirectory;
  static const SymlinkProvider kSymlink;
  static const SysctlProvider kSysctl;
  static const RepositoryProvider kRepository;
  switch (type) {
    case model::ResourceType::file:
      return &kFile;
    case model::ResourceType::directory:
      return &kDirectory;
    case model::ResourceType::symlink:
      return &kSymlink;
    case model::ResourceType::sysctl:
      return &kSysctl;
    case model::ResourceType::repository:
      return &kRepository;
    default:
      return nullptr;
  }
}

}  // namespace datum::resource
