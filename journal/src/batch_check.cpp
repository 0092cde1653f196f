#include "batch_check.hpp"

#include <algorithm>
#include <limits>

#include "envelope.hpp"

namespace datum::journal {
namespace {

Status check_keys(const Entry& entry, const std::function<bool(std::string_view)>& has_index) {
  if (entry.keys.size() > kMaxEntryKeys)
    return fail(ErrorCode::limit_exceeded, "an entry has more than 16 keys");
  for (const auto& key : entry.keys) {
    if (key.key.empty() || key.key.size() > kMaxName)
      return fail(ErrorCode::invalid_argument, "an index key must have 1 to 255 bytes");
    if (!has_index(key.index))
      return fail(ErrorCode::invalid_argument, "no index '" + std::string(key.index) + "'");
  }
  return {};
}

Status check_puts(const std::vector<Put>& puts, std::size_t max_value, std::size_t& bytes) {
  for (const auto& put : puts) {
    if (put.name.empty() || put.name.size() > kMaxName)
      return fail(ErrorCode::invalid_argument, "a name must have 1 to 255 bytes");
    if (put.name.starts_with("journal."))
      return fail(ErrorCode::invalid_argument, "'" + put.name + "' is the journal's own name");
    if (put.value.size() > max_value)
      return fail(ErrorCode::limit_exceeded, "the value of '" + put.name + "' is over the limit");
    bytes += put.name.size() + put.value.size() + kCheckedHeaderSize;
  }
  return {};
}

bool is_index_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  if (name.empty() || name.size() > 64) return false;
  if (name == "events" || name == "meta" || name == "projections") return false;
  return std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace

bool is_empty(const Batch& batch) {
  return batch.entries.empty() && batch.meta.empty() && batch.projections.empty() &&
         !batch.raise_level;
}

Status check_batch(const Batch& batch, const std::function<bool(std::string_view)>& has_index,
                   std::uint32_t level, std::uint32_t max_level) {
  if (batch.entries.size() > kMaxBatchRecords)
    return fail(ErrorCode::limit_exceeded, "a batch has more than 4096 records");
  std::size_t bytes = 0;
  for (const auto& entry : batch.entries) {
    if (entry.payload.size() > kMaxPayload)
      return fail(ErrorCode::limit_exceeded, "a payload is over 64 KiB");
    DATUM_TRY(check_keys(entry, has_index));
    bytes += value_size(entry.payload.size(), entry.keys);
  }
  DATUM_TRY(check_puts(batch.meta, kMaxMetaValue, bytes));
  DATUM_TRY(check_puts(batch.projections, kMaxBatchBytes, bytes));
  if (bytes > kMaxBatchBytes) return fail(ErrorCode::limit_exceeded, "a batch is over 8 MiB");
  if (batch.raise_level && (*batch.raise_level < level || *batch.raise_level > max_level))
    return fail(ErrorCode::invalid_argument, "level " + std::to_string(*batch.raise_level) +
                                                 " is outside " + std::to_string(level) + " to " +
                                                 std::to_string(max_level));
  return {};
}

Status check_options(const OpenOptions& options) {
  if (options.level == 0 || options.level > std::numeric_limits<std::uint16_t>::max())
    return fail(ErrorCode::invalid_argument, "a level is 1 to 65535");
  if (options.indexes.size() > kMaxIndexes)
    return fail(ErrorCode::limit_exceeded, "more than 32 indexes");
  for (const auto& name : options.indexes)
    if (!is_index_name(name))
      return fail(ErrorCode::invalid_argument, "'" + name + "' is no name for an index");
  return {};
}

}  // namespace datum::journal
