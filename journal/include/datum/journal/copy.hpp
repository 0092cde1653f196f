// A copy of another store's journal that grows as its records come in: one file of values (record
// and keys block each, as an export has them), dense from the first that came. Each append is
// verified (envelope and chain) before it is written and durable before it counts. For one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "datum/journal/log.hpp"

namespace datum::journal {

class Copy {
 public:
  // Opens `file`, or makes it (0600, folder synced). `store` is whose records they are. What a
  // crash left behind the last whole record is cut off; damage before it is `corrupt` and changes
  // nothing.
  [[nodiscard]] static Result<std::unique_ptr<Copy>> open(const std::string& file,
                                                          const Id128& store);
  ~Copy();

  // `seq` 0: nothing came yet, and the first record may have any number.
  [[nodiscard]] Head head() const;
  // Takes `count` values that begin with record `first`. On success all of them are durable.
  // Records that are there already are passed over if they are the same; `first` behind a gap takes
  // nothing: the head says so. `corrupt`: the bytes are no such values. `conflict`: they do not
  // continue what is there. After an error nothing of them is there; after `io_error` or `no_space`
  // this object takes nothing more (`io_error` also where somebody else changed the file).
  [[nodiscard]] Result<Head> append(Seq first, std::uint32_t count, ByteView values);

 private:
  struct Impl;
  explicit Copy(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The whole records of a copy that may grow meanwhile, verified, as a Reader. Nothing is written.
[[nodiscard]] Result<std::unique_ptr<Reader>> open_copy(const std::string& file,
                                                        const Id128& store);

}  // namespace datum::journal
