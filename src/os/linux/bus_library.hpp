// The functions of libsystemd that are needed, found when the program first asks for units: there
// is no link dependency, and a machine without the library is an ordinary machine. The only file
// that names its header. Owns nothing: the library stays loaded for the life of the process.
#pragma once

#include <systemd/sd-bus.h>

#include "datum/base/error.hpp"

namespace datum::os_linux {

struct BusLibrary {
  decltype(&::sd_bus_new) bus_new = nullptr;
  decltype(&::sd_bus_set_address) set_address = nullptr;
  decltype(&::sd_bus_start) start = nullptr;
  decltype(&::sd_bus_open_system) open_system = nullptr;
  decltype(&::sd_bus_close) close = nullptr;
  decltype(&::sd_bus_unref) unref = nullptr;
  decltype(&::sd_bus_process) process = nullptr;
  decltype(&::sd_bus_wait) wait = nullptr;
  decltype(&::sd_bus_send) send = nullptr;
  decltype(&::sd_bus_path_encode) path_encode = nullptr;
  decltype(&::sd_bus_message_new_method_call) new_method_call = nullptr;
  decltype(&::sd_bus_message_unref) message_unref = nullptr;
  decltype(&::sd_bus_message_get_reply_cookie) reply_cookie = nullptr;
  decltype(&::sd_bus_message_is_signal) is_signal = nullptr;
  decltype(&::sd_bus_message_get_error) message_error = nullptr;
  decltype(&::sd_bus_message_append_basic) append_basic = nullptr;
  decltype(&::sd_bus_message_open_container) open_container = nullptr;
  decltype(&::sd_bus_message_close_container) close_container = nullptr;
  decltype(&::sd_bus_message_enter_container) enter_container = nullptr;
  decltype(&::sd_bus_message_exit_container) exit_container = nullptr;
  decltype(&::sd_bus_message_read_basic) read_basic = nullptr;
  decltype(&::sd_bus_message_read_array) read_array = nullptr;
  decltype(&::sd_bus_message_peek_type) peek_type = nullptr;
  decltype(&::sd_bus_message_skip) skip = nullptr;
};

// `unavailable` with the linker's words when the library or one of these is missing.
[[nodiscard]] Result<BusLibrary> load_bus_library();

}  // namespace datum::os_linux
