// The file that a store's witness is: whole at any time, whatever is cut off, and believed only
// where nobody else could have written it.
#include "datum/engine/witness.hpp"

#include <catch2/catch.hpp>

#include "support/model_files.hpp"

using namespace datum;
using namespace datum::engine;

namespace {

const std::string kConfig = "/etc/datum";
constexpr std::string_view kFile = "/etc/datum/witness/store";

struct Kept {
  Kept() {
    files.put_directory(kConfig);
    files.settle();
  }
  Status write(Seq seq) {
    witness.head.seq = seq;
    return write_witness(files, kConfig, witness);
  }
  // The sequence that is read back; 0: there is none.
  Seq read() {
    const auto read = read_witness(files, kConfig, 0);
    if (!read) FAIL(read.error().message());
    if (!*read) return 0;
    auto same = witness;
    same.head.seq = (*read)->head.seq;
    CHECK(**read == same);
    return same.head.seq;
  }
  ErrorCode refused() {
    const auto read = read_witness(files, kConfig, 0);
    return read ? ErrorCode::internal : read.error().code();
  }

  support::ModelFiles files;
  core::Witness witness = make();

 private:
  static core::Witness make() {
    core::Witness witness;
    witness.root = "/";
    witness.host = "web-1";
    core::Owned owned;
    owned.reference = *model::find_reference("File[motd]");
    witness.owned[{model::TargetFamily::path, "/etc/motd"}] = owned;
    return witness;
  }
};

}  // namespace

TEST_CASE(
    "witness: whatever a cut leaves is the former one or the new one, and written is durable "
    "[L13]") {
  for (std::uint64_t at = 1;; ++at) {
    INFO(at);
    Kept kept;
    REQUIRE(kept.write(1));
    kept.files.stop_at_change(at);
    const bool written = kept.write(2).has_value();
    kept.files.crash(at);
    const auto seq = kept.read();
    CHECK((seq == 2 || (seq == 1 && !written)));
    CHECK(kept.write(3));  // what the cut left is in nobody's way
    CHECK(kept.read() == 3);
    if (written) break;
  }
}

TEST_CASE("witness: it is its owner's alone, and the configuration's folder is not made for it") {
  Kept kept;
  REQUIRE(kept.write(1));
  CHECK((kept.files.find_stat("/etc/datum/witness")->mode & 07777U) == 0700);
  CHECK(kept.read() == 1);
  support::ModelFiles bare;
  CHECK(write_witness(bare, kConfig, kept.witness).error().code() == ErrorCode::not_found);
  CHECK_FALSE(read_witness(bare, kConfig, 0).value());
}

TEST_CASE("witness: a damaged one is told as that, and one that others can write is not believed") {
  Kept kept;
  REQUIRE(kept.write(1));
  const auto whole = *kept.files.find_content(std::string(kFile));
  auto damaged = whole;
  damaged[9] = static_cast<char>(damaged[9] ^ 1);
  for (const auto& bytes : {damaged, whole.substr(0, whole.size() / 2), std::string()}) {
    kept.files.put_file(std::string(kFile), bytes, 0600);
    CHECK(kept.refused() == ErrorCode::corrupt);
  }
  kept.files.put_file(std::string(kFile), whole, 0600);
  CHECK(kept.read() == 1);
  kept.files.set_mode_of("/etc/datum/witness", 0777);
  CHECK(kept.refused() == ErrorCode::refused);
}

TEST_CASE(
    "witness: without one a loss is suspected where only a machine with a store has such files") {
  for (const char* trace : {"/etc/sysctl.d/70-datum-vm.swappiness.conf",
                            "/var/lib/datum/release/confirmed/bin/datum-host"}) {
    Kept kept;
    kept.files.put_file("/etc/sysctl.d/10-network.conf", "");
    CHECK_FALSE(is_loss_suspected(kept.files, kConfig, "/"));
    kept.files.put_file(trace, "");
    CHECK(is_loss_suspected(kept.files, kConfig, "/"));
    CHECK_FALSE(is_loss_suspected(kept.files, kConfig, "/srv/tree"));
    kept.files.put_directory("/etc/datum/witness");  // as of an image
    CHECK_FALSE(is_loss_suspected(kept.files, kConfig, "/"));
  }
}
