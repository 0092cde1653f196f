#include "bus_library.hpp"

#include <dlfcn.h>

namespace datum::os_linux {

namespace {

class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void find_messages(Finder& finder, BusLibrary& found) {
  finder.find(found.new_method_call, "sd_bus_message_new_method_call");
  finder.find(found.message_unref, "sd_bus_message_unref");
  finder.find(found.reply_cookie, "sd_bus_message_get_reply_cookie");
  finder.find(found.is_signal, "sd_bus_message_is_signal");
  finder.find(found.message_error, "sd_bus_message_get_error");
  finder.find(found.append_basic, "sd_bus_message_append_basic");
  finder.find(found.open_container, "sd_bus_message_open_container");
  finder.find(found.close_container, "sd_bus_message_close_container");
  finder.find(found.enter_container, "sd_bus_message_enter_container");
  finder.find(found.exit_container, "sd_bus_message_exit_container");
  finder.find(found.read_basic, "sd_bus_message_read_basic");
  finder.find(found.read_array, "sd_bus_message_read_array");
  finder.find(found.peek_type, "sd_bus_message_peek_type");
  finder.find(found.skip, "sd_bus_message_skip");
}

}  // namespace

Result<BusLibrary> load_bus_library() {
  // Never unloaded: it may have left things behind in the threads that called it.
  void* const library = ::dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return fail(ErrorCode::unavailable, why == nullptr ? "libsystemd cannot be loaded" : why);
  }
  BusLibrary found;
  Finder finder(library);
  finder.find(found.bus_new, "sd_bus_new");
  finder.find(found.set_address, "sd_bus_set_address");
  finder.find(found.start, "sd_bus_start");
  finder.find(found.open_system, "sd_bus_open_system");
  finder.find(found.close, "sd_bus_close");
  finder.find(found.unref, "sd_bus_unref");
  finder.find(found.process, "sd_bus_process");
  finder.find(found.wait, "sd_bus_wait");
  finder.find(found.send, "sd_bus_send");
  finder.find(found.path_encode, "sd_bus_path_encode");
  find_messages(finder, found);
  if (!finder.missing().empty())
    return fail(ErrorCode::unavailable, "libsystemd has no " + finder.missing());
  return found;
}

}  // namespace datum::os_linux
