#include "enumerations.hpp"

#include "datum/base/assert.hpp"
#include "value.capnp.h"

namespace datum::codec {

bool is_known(model::ResourceType value) {
  switch (value) {
    case model::ResourceType::file:
    case model::ResourceType::directory:
    case model::ResourceType::symlink:
    case model::ResourceType::package:
    case model::ResourceType::repository:
    case model::ResourceType::service:
    case model::ResourceType::user:
    case model::ResourceType::group:
    case model::ResourceType::sysctl:
    case model::ResourceType::hostname:
    case model::ResourceType::timezone:
    case model::ResourceType::authorized_key:
    case model::ResourceType::setting:
    case model::ResourceType::mount:
    case model::ResourceType::timer:
      return true;
  }
  return false;
}

bool is_known(model::TargetFamily value) {
  switch (value) {
    case model::TargetFamily::path:
    case model::TargetFamily::package:
    case model::TargetFamily::repository:
    case model::TargetFamily::unit:
    case model::TargetFamily::user:
    case model::TargetFamily::group:
    case model::TargetFamily::sysctl:
    case model::TargetFamily::hostname:
    case model::TargetFamily::timezone:
    case model::TargetFamily::authorized_key:
    case model::TargetFamily::setting:
    case model::TargetFamily::mount:
    case model::TargetFamily::timer:
      return true;
  }
  return false;
}

bool is_known(core::Mode value) {
  switch (value) {
    case core::Mode::observe:
    case core::Mode::enforce:
      return true;
  }
  return false;
}

bool is_known(core::ModeTerm value) {
  switch (value) {
    case core::ModeTerm::absent:
    case core::ModeTerm::configuration:
    case core::ModeTerm::argument:
    case core::ModeTerm::hold:
    case core::ModeTerm::window:
    case core::ModeTerm::policy:
    case core::ModeTerm::observe_list:
      return true;
  }
  return false;
}

bool is_known(core::Condition value) {
  switch (value) {
    case core::Condition::converged:
    case core::Condition::drifted:
    case core::Condition::unknown:
    case core::Condition::skipped:
      return true;
  }
  return false;
}

bool is_known(core::Found value) {
  switch (value) {
    case core::Found::absent:
    case core::Found::file:
    case core::Found::directory:
    case core::Found::symlink:
    case core::Found::special:
    case core::Found::present:
    case core::Found::unseen:
      return true;
  }
  return false;
}

bool is_known(core::Obstacle value) {
  switch (value) {
    case core::Obstacle::none:
    case core::Obstacle::mount_point:
    case core::Obstacle::hard_links:
    case core::Obstacle::no_content:
    case core::Obstacle::not_corrected:
    case core::Obstacle::not_empty:
    case core::Obstacle::immutable:
    case core::Obstacle::unresolved_secret:
    case core::Obstacle::unmanaged_content:
    case core::Obstacle::overridden:
    case core::Obstacle::no_such_key:
    case core::Obstacle::no_password:
      return true;
  }
  return false;
}

bool is_known(core::ActionKind value) {
  switch (value) {
    case core::ActionKind::create:
    case core::ActionKind::update:
    case core::ActionKind::replace:
    case core::ActionKind::remove:
    case core::ActionKind::purge:
    case core::ActionKind::leave:
    case core::ActionKind::release:
    case core::ActionKind::adopt:
    case core::ActionKind::rename:
      return true;
  }
  return false;
}

bool is_known(core::Phase value) {
  switch (value) {
    case core::Phase::waiting:
    case core::Phase::announced:
    case core::Phase::succeeded:
    case core::Phase::failed:
    case core::Phase::blocked:
    case core::Phase::skipped:
    case core::Phase::not_started:
      return true;
  }
  return false;
}

bool is_known(core::ActorKind value) {
  switch (value) {
    case core::ActorKind::person:
    case core::ActorKind::service:
    case core::ActorKind::control_plane:
    case core::ActorKind::recovery:
      return true;
  }
  return false;
}

bool is_known(core::LastEnd value) {
  switch (value) {
    case core::LastEnd::created:
    case core::LastEnd::clean:
    case core::LastEnd::crashed:
    case core::LastEnd::rebooted:
      return true;
  }
  return false;
}

bool is_known(core::Trigger value) {
  switch (value) {
    case core::Trigger::start:
    case core::Trigger::declaration:
    case core::Trigger::timer:
    case core::Trigger::reconnect:
    case core::Trigger::manual:
      return true;
  }
  return false;
}

bool is_known(core::Interruption value) {
  switch (value) {
    case core::Interruption::reboot:
    case core::Interruption::crash:
    case core::Interruption::timeout:
    case core::Interruption::stop:
    case core::Interruption::superseded:
    case core::Interruption::mode_lowered:
      return true;
  }
  return false;
}

bool is_known(core::RecoveredOutcome value) {
  switch (value) {
    case core::RecoveredOutcome::took_effect:
    case core::RecoveredOutcome::did_not:
    case core::RecoveredOutcome::untellable:
      return true;
  }
  return false;
}

bool is_known(core::LossKind value) {
  switch (value) {
    case core::LossKind::missing:
    case core::LossKind::foreign:
    case core::LossKind::corrupt:
    case core::LossKind::behind_witness:
    case core::LossKind::rewound:
    case core::LossKind::cloned:
    case core::LossKind::suspected:
      return true;
  }
  return false;
}

bool is_known(core::HoldOrigin value) {
  switch (value) {
    case core::HoldOrigin::local:
    case core::HoldOrigin::link:
      return true;
  }
  return false;
}

bool is_known(core::NodeLifecycle value) {
  switch (value) {
    case core::NodeLifecycle::unmanaged:
    case core::NodeLifecycle::hosted:
    case core::NodeLifecycle::enrolled:
    case core::NodeLifecycle::disconnected:
      return true;
  }
  return false;
}

bool is_known(core::LinkCause value) {
  switch (value) {
    case core::LinkCause::stopping:
    case core::LinkCause::busy:
    case core::LinkCause::protocol:
    case core::LinkCause::too_slow:
    case core::LinkCause::version:
    case core::LinkCause::token_unknown:
    case core::LinkCause::token_expired:
    case core::LinkCause::token_used:
    case core::LinkCause::name_taken:
    case core::LinkCause::name_refused:
    case core::LinkCause::profile_refused:
    case core::LinkCause::key_unproved:
    case core::LinkCause::revoked:
    case core::LinkCause::retired:
    case core::LinkCause::clone:
    case core::LinkCause::replaced:
    case core::LinkCause::clock:
    case core::LinkCause::by_person:
      return true;
  }
  return false;
}

bool is_known(core::DeclarationStep value) {
  switch (value) {
    case core::DeclarationStep::stored:
    case core::DeclarationStep::accepted:
    case core::DeclarationStep::rejected:
    case core::DeclarationStep::applied:
      return true;
  }
  return false;
}

bool is_known(core::control::KeyUse value) {
  switch (value) {
    case core::control::KeyUse::authority:
    case core::control::KeyUse::signer:
      return true;
  }
  return false;
}

bool is_known(core::control::Standing value) {
  switch (value) {
    case core::control::Standing::enrolled:
    case core::control::Standing::retired:
    case core::control::Standing::revoked:
      return true;
  }
  return false;
}

bool is_known(core::OrderKind value) {
  switch (value) {
    case core::OrderKind::hold:
    case core::OrderKind::lift:
    case core::OrderKind::revoke:
    case core::OrderKind::retire:
      return true;
  }
  return false;
}

std::string_view word_of(core::ActorKind value) {
  switch (value) {
    case core::ActorKind::person:
      return "person";
    case core::ActorKind::service:
      return "service";
    case core::ActorKind::control_plane:
      return "controlPlane";
    case core::ActorKind::recovery:
      return "recovery";
  }
  return "unknown";
}

std::uint16_t stored_number(ErrorCode code) {
  using Stored = schema::ErrorCode;
  const auto number = [](Stored stored) { return static_cast<std::uint16_t>(stored); };
  switch (code) {
    case ErrorCode::invalid_argument:
      return number(Stored::INVALID_ARGUMENT);
    case ErrorCode::not_found:
      return number(Stored::NOT_FOUND);
    case ErrorCode::already_exists:
      return number(Stored::ALREADY_EXISTS);
    case ErrorCode::permission_denied:
      return number(Stored::PERMISSION_DENIED);
    case ErrorCode::corrupt:
      return number(Stored::CORRUPT);
    case ErrorCode::unsupported_version:
      return number(Stored::UNSUPPORTED_VERSION);
    case ErrorCode::io_error:
      return number(Stored::IO_ERROR);
    case ErrorCode::no_space:
      return number(Stored::NO_SPACE);
    case ErrorCode::read_only:
      return number(Stored::READ_ONLY);
    case ErrorCode::busy:
      return number(Stored::BUSY);
    case ErrorCode::timed_out:
      return number(Stored::TIMED_OUT);
    case ErrorCode::cancelled:
      return number(Stored::CANCELLED);
    case ErrorCode::conflict:
      return number(Stored::CONFLICT);
    case ErrorCode::refused:
      return number(Stored::REFUSED);
    case ErrorCode::unavailable:
      return number(Stored::UNAVAILABLE);
    case ErrorCode::limit_exceeded:
      return number(Stored::LIMIT_EXCEEDED);
    case ErrorCode::not_directory:
      return number(Stored::NOT_DIRECTORY);
    case ErrorCode::is_directory:
      return number(Stored::IS_DIRECTORY);
    case ErrorCode::symlink:
      return number(Stored::SYMLINK);
    case ErrorCode::cross_device:
      return number(Stored::CROSS_DEVICE);
    case ErrorCode::not_empty:
      return number(Stored::NOT_EMPTY);
    case ErrorCode::unsupported:
      return number(Stored::UNSUPPORTED);
    case ErrorCode::internal:
      return number(Stored::INTERNAL);
  }
  DATUM_ASSERT(!"a code outside the enumeration");
  return number(Stored::INTERNAL);
}

std::optional<ErrorCode> find_error_code(std::uint16_t stored) {
  using Stored = schema::ErrorCode;
  switch (static_cast<Stored>(stored)) {
    case Stored::NONE:
      return {};
    case Stored::INVALID_ARGUMENT:
      return ErrorCode::invalid_argument;
    case Stored::NOT_FOUND:
      return ErrorCode::not_found;
    case Stored::ALREADY_EXISTS:
      return ErrorCode::already_exists;
    case Stored::PERMISSION_DENIED:
      return ErrorCode::permission_denied;
    case Stored::CORRUPT:
      return ErrorCode::corrupt;
    case Stored::UNSUPPORTED_VERSION:
      return ErrorCode::unsupported_version;
    case Stored::IO_ERROR:
      return ErrorCode::io_error;
    case Stored::NO_SPACE:
      return ErrorCode::no_space;
    case Stored::READ_ONLY:
      return ErrorCode::read_only;
    case Stored::BUSY:
      return ErrorCode::busy;
    case Stored::TIMED_OUT:
      return ErrorCode::timed_out;
    case Stored::CANCELLED:
      return ErrorCode::cancelled;
    case Stored::CONFLICT:
      return ErrorCode::conflict;
    case Stored::REFUSED:
      return ErrorCode::refused;
    case Stored::UNAVAILABLE:
      return ErrorCode::unavailable;
    case Stored::LIMIT_EXCEEDED:
      return ErrorCode::limit_exceeded;
    case Stored::NOT_DIRECTORY:
      return ErrorCode::not_directory;
    case Stored::IS_DIRECTORY:
      return ErrorCode::is_directory;
    case Stored::SYMLINK:
      return ErrorCode::symlink;
    case Stored::CROSS_DEVICE:
      return ErrorCode::cross_device;
    case Stored::NOT_EMPTY:
      return ErrorCode::not_empty;
    case Stored::UNSUPPORTED:
      return ErrorCode::unsupported;
    case Stored::INTERNAL:
      return ErrorCode::internal;
  }
  return {};
}

}  // namespace datum::codec
