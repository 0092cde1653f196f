// Any bytes as a stored record, as a store's data file and as an export. The first byte chooses.
// Nothing crashes, every failure has words, and what is accepted is what its own rules say.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "datum/base/assert.hpp"
#include "envelope.hpp"
#include "export_format.hpp"
#include "file_io.hpp"
#include "store_walk.hpp"

namespace {
using namespace datum;
using namespace datum::journal;

Fd in_memory(ByteView bytes) {
  Fd fd(::memfd_create("fuzz", MFD_CLOEXEC));
  DATUM_ASSERT(fd.is_open() && write_all(fd.get(), bytes));
  return fd;
}

void check_record(ByteView bytes) {
  constexpr Seq kSeq = 1;
  const auto record = read_value(bytes, kSeq);
  if (!record) {
    DATUM_ASSERT(record.error().code() == ErrorCode::corrupt);
    DATUM_ASSERT(record.error().message().starts_with("record 1: "));
  } else {
    DATUM_ASSERT(record->stored.size() + record->keys.size() == bytes.size());
    DATUM_ASSERT(record->payload.size() <= kMaxPayload);
  }
  static_cast<void>(for_each_key(
      bytes, [](const IndexKey& key) { DATUM_ASSERT(!key.index.empty() && !key.key.empty()); }));
  static_cast<void>(find_checked("name", bytes));
  const auto entry = find_index_entry(bytes);
  DATUM_ASSERT(!entry || index_entry(entry->key, entry->seq) == as_text(bytes));
}

void check_store(ByteView bytes) {
  const Fd fd = in_memory(bytes);
  const auto probe = probe_store(fd.get());
  const auto walked = walk_store(fd.get());
  DATUM_ASSERT(walked.has_value());
  DATUM_ASSERT(walked->sound == walked->problem.empty());
  // The walk looks at everything that the probe does.
  DATUM_ASSERT(!walked->sound || (probe && probe->head.seq == walked->head.seq &&
                                  probe->head.hash == walked->head.hash));
}

void check_export_of(ByteView bytes) {
  const Fd fd = in_memory(bytes);
  auto source = ExportSource::open("/proc/self/fd/" + std::to_string(fd.get()));
  DATUM_ASSERT(source.has_value());
  Seq seen = 0;
  Seq bad_seq = 0;
  const auto facts = check_export(
      *source, [&](std::uint64_t, const Record&) { ++seen; }, bad_seq);
  DATUM_ASSERT(facts ? seen == facts->count() && bad_seq == 0 : !facts.error().message().empty());
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView bytes(reinterpret_cast<const std::byte*>(data + 1), size - 1);
  if (data[0] == 'R') check_record(bytes);
  if (data[0] == 'S') check_store(bytes);
  if (data[0] == 'X') check_export_of(bytes);
  return 0;
}
