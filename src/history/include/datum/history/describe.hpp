// The fields of an event by name, for reports. codec converts; readers of history reach it through
// here.
#pragma once

#include "datum/codec/describe.hpp"

namespace datum::history {
using codec::describe_event;
using codec::FieldSink;
}  // namespace datum::history
