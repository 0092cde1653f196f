// Reads what is kept of a node's journal. The server need not run; a copy that grows meanwhile is
// read as far as it was whole.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "commands.hpp"
#include "datum/control/node_journals.hpp"
#include "datum/crypto/certificate.hpp"
#include "datum/history/events.hpp"
#include "datum/inspect/store_report.hpp"
#include "datum/journal/export.hpp"
#include "datum/program/session.hpp"
#include "key_files.hpp"

namespace datum::control {
namespace {

struct KeptCopy {
  std::string path;
  Id128 store;
  std::filesystem::file_time_type written;
};

// Of all stores that the node had, the one written last: a machine that was enrolled anew has a new
// one.
Result<KeptCopy> find_newest_copy(const std::string& state, const std::string& node) {
  if (!crypto::is_name(node))
    return fail(ErrorCode::invalid_argument, node + " is no name of a node");
  const auto folder = NodeJournals::path_of(state + "/nodes", node, {});
  std::vector<KeptCopy> copies;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto store = Id128::find_hex(entry.path().stem().string());
    if (entry.path().extension() != ".copy" || !store) continue;
    copies.push_back({entry.path().string(), *store, entry.last_write_time(error)});
  }
  if (copies.empty())
    return fail(ErrorCode::not_found, folder + ": nothing of the journal of " + node +
                                          " is kept; does --state name the control plane's store?");
  return *std::max_element(copies.begin(), copies.end(), [](const auto& one, const auto& other) {
    return one.written < other.written;
  });
}

Status print_events(const Arguments& arguments, journal::Reader& reader) {
  DATUM_ASSIGN(const auto head, reader.read_head());
  inspect::Style style;
  return history::scan_events(reader, head.first, [&](const history::StoredEvent& stored) {
    const auto line =
        arguments.request.json ? inspect::event_json(stored) : inspect::event_line(stored, style);
    std::fwrite(line.data(), 1, line.size(), stdout);
    return journal::Visit::go_on;
  });
}

Status run_journal(const Arguments& arguments) {
  const auto state = program::absolute_path(arguments.state);
  // Root may: what is kept of nodes are plain files.
  if (::geteuid() != 0) DATUM_TRY(check_own_store(state));
  DATUM_ASSIGN(const auto kept, find_newest_copy(state, arguments.request.target));
  DATUM_ASSIGN(const auto reader, journal::open_copy(kept.path, kept.store));
  DATUM_ASSIGN(const auto head, reader->read_head());
  if (head.seq == 0)
    return fail(ErrorCode::not_found, "no record of " + arguments.request.target + " came yet");
  if (arguments.output.empty()) return print_events(arguments, *reader);
  DATUM_ASSIGN(const auto made, journal::export_records(*reader, {head.first, head.seq},
                                                        program::absolute_path(arguments.output)));
  std::printf("%s: records %llu to %llu of %s\n", arguments.output.c_str(),
              static_cast<unsigned long long>(made.first),
              static_cast<unsigned long long>(made.seq), arguments.request.target.c_str());
  return {};
}

}  // namespace

int journal_command(const Arguments& arguments) {
  const auto done = run_journal(arguments);
  return done ? 0 : refuse(done.error());
}

}  // namespace datum::control
