// Any event, field by field, for people and programs: tables, JSON and reports are written over
// this one visitor, so an event's fields are named in one place. Names are those of
// schema/event.capnp. Knows no output format and, in this header, no Cap'n Proto.
#pragma once

#include <cstdint>
#include <string_view>

#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/core/event.hpp"

namespace datum::codec {

// Receives the fields in a fixed order. Names are camelCase and constant for the life of the
// program; the name of a list's element is empty. Texts are borrowed for the call; they are bytes
// as they were found (a file's name need not be UTF-8), so whoever prints them escapes.
class FieldSink {
 public:
  virtual ~FieldSink() = default;

  // References ("File[hosts]"), targets ("/etc/hosts", "unit:ssh.service"), enumerations in words,
  // ids in hexadecimal (empty for none) and plain texts.
  virtual void text(std::string_view name, std::string_view value) = 0;
  virtual void number(std::string_view name, std::uint64_t value) = 0;
  virtual void signed_number(std::string_view name, std::int64_t value) = 0;  // may be negative
  virtual void boolean(std::string_view name, bool value) = 0;
  virtual void time(std::string_view name, WallNs value) = 0;  // 0: none
  virtual void duration_ns(std::string_view name, std::int64_t value) = 0;
  virtual void digest(std::string_view name, const Digest& value) = 0;  // zero: none
  virtual void begin_list(std::string_view name, std::size_t count) = 0;
  virtual void end_list() = 0;
  virtual void begin_group(std::string_view name) = 0;
  virtual void end_group() = 0;
};

// Every field of the event, the default ones included, so that the shape of one kind is always the
// same. The event's own name and its place in the journal are the caller's
// (`core::to_string(core::kind_of(event))`).
void describe_event(const core::Event& event, FieldSink& sink);

}  // namespace datum::codec
