// A folder of a test, and journals in it under a simulated loop.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "datum/history/history.hpp"
#include "datum/history/open.hpp"
#include "simulation/driven_host.hpp"
#include "support/scratch_folder.hpp"
#include "support/sim_loop.hpp"

namespace datum::history::test {

struct Scratch : support::ScratchFolder {
  Scratch() : ScratchFolder("history") {}
};

// One life of a process over the store in a folder.
struct Life {
  Life(const std::string& folder, std::size_t resources) : host(loop, resources) {
    auto opened = open_history(loop, folder);
    if (!opened) FAIL(opened.error().message());
    history = std::move(*opened);
    host.use(*history);
    host.begin();
  }
  // The archive of the records up to `to`.
  [[nodiscard]] Result<journal::ArchiveFile> archive(const std::string& folder, Seq to) {
    Result<journal::ArchiveFile> result = fail(ErrorCode::internal, "nothing was told");
    history->archive({*first_unarchived(*history->log()), to}, archive_folder(folder),
                     [&result](Result<journal::ArchiveFile> told) { result = std::move(told); });
    loop.run();
    return result;
  }

  support::SimLoop loop{7};
  simulation::DrivenHost host;
  std::unique_ptr<History> history;
};

}  // namespace datum::history::test
