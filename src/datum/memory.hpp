// How this short-lived program uses memory: a command builds some hundred thousand small values,
// uses them for a fraction of a second and ends. For programs that stay, none of this is right.
#pragma once

#include <type_traits>
#include <utility>

namespace datum::program {

// To be called first. The heap grows in one step and asks for large pages: otherwise every 4 KiB of
// it costs a page fault of its own. No effect on what the program may use; where the machine gives
// no large pages, or not that much address space, nothing changes.
void prepare_heap();

// A value that is needed until a command ends, or was: never destroyed, on purpose. To free some
// hundred thousand small things takes as long as to read them, and the kernel takes the whole
// process back a moment later. What must be closed is closed before.
template <class T>
[[gnu::noinline]] T& keep_until_exit(T&& value) {
  static_assert(!std::is_reference_v<T>, "to be moved in");
  return *new T(std::forward<T>(value));
}

}  // namespace datum::program
