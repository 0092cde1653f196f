#include "stop_signals.hpp"

#include <csignal>

namespace datum::program {

Result<std::unique_ptr<loop::Signals>> watch_stop(Session& session, engine::Conductor& conductor) {
  return session.loop->watch_signals({SIGINT, SIGTERM, SIGHUP}, [&conductor](int number) {
    conductor.stop_request().stop("stopped by signal " + std::to_string(number));
  });
}

}  // namespace datum::program
