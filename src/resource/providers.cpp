// The one table of resource types.
#include "authorized_key/key_provider.hpp"
#include "directory/directory_provider.hpp"
#include "file/file_provider.hpp"
#include "hostname/hostname_provider.hpp"
#include "mount/mount_provider.hpp"
#include "provider.hpp"
#include "repository/repository_provider.hpp"
#include "setting/setting_provider.hpp"
#include "symlink/symlink_provider.hpp"
#include "sysctl/sysctl_provider.hpp"
#include "timer/timer_provider.hpp"
#include "timezone/timezone_provider.hpp"

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
  static const HostnameProvider kHostname;
  static const TimezoneProvider kTimezone;
  static const KeyProvider kKey;
  static const SettingProvider kSetting;
  static const MountProvider kMount;
  static const TimerProvider kTimer;
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
    case model::ResourceType::hostname:
      return &kHostname;
    case model::ResourceType::timezone:
      return &kTimezone;
    case model::ResourceType::authorized_key:
      return &kKey;
    case model::ResourceType::setting:
      return &kSetting;
    case model::ResourceType::mount:
      return &kMount;
    case model::ResourceType::timer:
      return &kTimer;
    default:
      return nullptr;
  }
}

}  // namespace datum::resource
