// Asking the service that has the store: what it answers goes to this program's standard streams.
#pragma once

#include <optional>

#include "arguments.hpp"
#include "datum/host/local_request.hpp"
#include "datum/program/desired.hpp"

namespace datum::program {

// A request of `verb` about the store of these arguments, with what they say of the answer's look.
[[nodiscard]] Result<host::LocalRequest> make_local_request(const Arguments& arguments,
                                                            host::LocalVerb verb);
// What goes with a request; both are borrowed.
struct Sent {
  const Desired* desired = nullptr;  // its manifest
  ByteView plan = {};                // a saved plan's bytes; empty: none
};
// Sends it, with what goes with it, and prints what comes back; the exit code that the service
// says. `not_found`: no service listens. `busy`: one does and does not answer, not about this
// store, or it ended before it had answered.
[[nodiscard]] Result<int> ask_service(const Arguments& arguments, host::LocalRequest request,
                                      const Sent& sent);
// The same for a request without an answer but whether it was done: what the service says against
// it is the error. `not_found` and `busy` as above.
[[nodiscard]] Status tell_service(const Arguments& arguments, host::LocalRequest request);
// What only a running service knows; nothing where none can be asked. `busy`: one has the store and
// does not answer `within_ns`, or hangs up.
[[nodiscard]] Result<std::optional<host::ServiceFacts>> find_service_facts(
    const Arguments& arguments, std::int64_t within_ns);

}  // namespace datum::program
