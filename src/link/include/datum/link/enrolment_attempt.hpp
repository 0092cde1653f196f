// One attempt of a machine to become a node: connect, see that the other end is the control plane
// whose key the token pins, ask, hear the answer. What is asked, and what follows from the answer,
// is the caller's; so are files and events.
#pragma once

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "datum/core/link_message.hpp"
#include "datum/loop/loop.hpp"
#include "datum/loop/network.hpp"

namespace datum::link {

// What both ends of a connection export to be signed (docs/formats/link.md).
inline constexpr std::string_view kEnrolmentBinding = "datum enrol";
// From the request to its answer: a control plane that decides by itself does so at once.
inline constexpr std::int64_t kAnswerWithinNs = 30 * kNsPerSecond;

// A goodbye instead of an answer is a refusal with its cause, but where it says when to come back:
// then it is that.
using EnrolmentAnswer =
    std::variant<core::EnrolmentGrant, core::EnrolmentPending, core::EnrolmentRefusal>;

struct EnrolmentQuestion {
  std::vector<loop::Address> addresses;  // tried one after the other; at least one
  Digest pin;                            // of the authority's key
  // Called once TLS is up and the pin was proved, never before: with the bytes that the machine's
  // key has to sign.
  std::function<core::EnrolmentRequest(ByteView binding)> make_request;
};

// Destroying it gives up; `done` then never runs.
class EnrolmentAttempt {
 public:
  // `done` runs once, later. Errors: `unavailable`, `not_found`, `timed_out` where no address could
  // be asked; `refused` where the other end is not the pinned one. It may destroy this.
  EnrolmentAttempt(loop::Loop& loop, loop::Network& network, EnrolmentQuestion question,
                   std::function<void(Result<EnrolmentAnswer>)> done);
  ~EnrolmentAttempt();
  EnrolmentAttempt(const EnrolmentAttempt&) = delete;
  EnrolmentAttempt& operator=(const EnrolmentAttempt&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace datum::link
