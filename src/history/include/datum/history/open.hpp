// Where the journal lies in a store's folder, and how it is opened for writing and for reading.
#pragma once

#include <memory>
#include <string>

#include "datum/history/history.hpp"
#include "datum/journal/place.hpp"

namespace datum::history {

// For the one process that writes; creates the store's folder and the journal if they are missing.
// The errors of journal::open_log. `crash_point` is for the self-test and for tests.
[[nodiscard]] Result<std::unique_ptr<History>> open_history(loop::Loop& loop,
                                                            const std::string& store_folder,
                                                            journal::CrashPoint crash_point = {});
// The same for a store that is there: `not_found` where there is none.
[[nodiscard]] Result<std::unique_ptr<History>> open_existing(loop::Loop& loop,
                                                             const std::string& store_folder);
// The journal of a store that is there, for History::resume: locked and walked as at any opening.
[[nodiscard]] Result<std::unique_ptr<journal::Log>> open_log_again(const std::string& store_folder);
// For reading only, whether somebody writes the store or not, and without keeping a writer out:
// with a reader's slot. A copy, and a store in which this user cannot have one, is locked against
// writers as long as it is open; no byte of it is written. `not_found` when there is no journal.
// `path` is a store's folder, which is read together with its archive, or an export file.
[[nodiscard]] Result<std::unique_ptr<journal::Reader>> open_reader(const std::string& path);
// Beside a writer that may come and go: takes no lock that would keep one out, but a reader's slot,
// so only the store's owner may.
[[nodiscard]] Result<std::unique_ptr<journal::Reader>> open_live_reader(
    const std::string& store_folder);
// The journal alone as a Log, without the archive, opened as by open_reader.
[[nodiscard]] Result<std::unique_ptr<journal::Log>> open_for_reading(
    const std::string& store_folder);
// The same, walked first even if it was closed in order, unless somebody writes it.
[[nodiscard]] Result<std::unique_ptr<journal::Log>> open_for_verify(
    const std::string& store_folder);

// Envelope, chain and indexes of the journal, every file of its archive and that none is missing,
// that every payload decodes, and that the checkpoint is what all of them add up to. A store or
// archive that is not sound is a success that says so.
[[nodiscard]] Result<journal::Verification> verify_store(const std::string& store_folder);
// What is wrong with the journal in a store's folder, in words; empty: nothing is. The archive is
// not looked at. `timed_out`, `busy`, `not_found`, `unsupported_version` say nothing about damage.
[[nodiscard]] Result<std::string> find_damage(const std::string& store_folder);
// journal::compact_store of the journal in a store's folder, which must be closed.
[[nodiscard]] Result<journal::Compaction> compact(const std::string& store_folder);

}  // namespace datum::history
