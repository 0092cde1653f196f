// A store under test, whichever implementation it has: opened, closed, opened again. The suite
// knows nothing else of it.
#pragma once

#include <memory>
#include <string>

#include "datum/journal/log.hpp"

namespace datum::journal::test {

class TestStore {
 public:
  virtual ~TestStore() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<Log>> open(const OpenOptions& options) = 0;
};

// "lmdb" or "sim".
std::unique_ptr<TestStore> make_store(const std::string& kind);

// Options with indexes `targets` and `passes`.
OpenOptions standard_options();

// Opens or fails the test.
std::unique_ptr<Log> open_or_fail(TestStore& store,
                                  const OpenOptions& options = standard_options());

// An entry whose views live as long as the text handed in.
Entry entry_of(std::string_view payload, std::vector<IndexKey> keys = {}, std::uint16_t kind = 1);

// Appends one record per payload in one batch; the last sequence.
Seq append_or_fail(Log& log, const std::vector<std::string>& payloads);

// What a journal holds, for comparison: sequence and payload.
std::vector<std::pair<Seq, std::string>> all_records(Reader& reader);

}  // namespace datum::journal::test
