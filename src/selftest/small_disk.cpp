#include "small_disk.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace datum::selftest {
namespace {

namespace fs = std::filesystem;

// Room for a store, a tree and a few rounds of both.
constexpr std::uint64_t kBytes = std::uint64_t{32} * 1024 * 1024;
constexpr std::int64_t kToolLimitNs = 60 * kNsPerSecond;

std::string find_tool(std::string_view name) {
  std::error_code ignored;
  for (const auto* folder : {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"}) {
    const auto path = folder + std::string(name);
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

}  // namespace

SmallDisk::SmallDisk(loop::Loop& loop, std::string folder)
    : loop_(loop), folder_(std::move(folder)), image_(folder_ + ".img") {}

Status SmallDisk::run(std::vector<std::string> argv) {
  const auto name = argv.front();
  argv.front() = find_tool(name);
  if (argv.front().empty()) return fail(ErrorCode::unavailable, name + " is not on this machine");
  loop::ChildOptions options;
  options.argv = std::move(argv);
  options.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"};
  options.timeout_ns = kToolLimitNs;
  loop::ChildResult result;
  DATUM_TRY(loop_.spawn(options, [this, &result](loop::ChildResult ended) {
    result = std::move(ended);
    loop_.stop();
  }));
  loop_.run();
  if (result.exit_status == 0) return {};
  return fail(ErrorCode::unavailable,
              name + " fails: " + result.output.substr(0, result.output.find('\n')));
}

Status SmallDisk::mount() {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  std::ofstream(image_, std::ios::binary).close();
  if (!problem) fs::resize_file(image_, kBytes, problem);
  if (problem) return fail(error_from_errno(problem.value(), image_));
  auto mounted = run({"mkfs.ext4", "-q", "-m", "0", "-F", image_});
  if (mounted) mounted = run({"mount", "-o", "loop", image_, folder_});
  if (mounted) return {};
  fs::remove(image_, problem);
  fs::remove(folder_, problem);
  return mounted;
}

Status SmallDisk::fill(std::uint64_t left) {
  std::error_code problem;
  const auto space = fs::space(folder_, problem);
  if (problem) return fail(error_from_errno(problem.value(), folder_));
  std::ofstream filler(folder_ + "/filler", std::ios::binary);
  const std::vector<char> piece(64 * 1024, 'x');
  auto bytes = space.available - std::min<std::uint64_t>(left, space.available);
  while (bytes > 0 && filler) {
    const auto count = std::min<std::uint64_t>(bytes, piece.size());
    filler.write(piece.data(), static_cast<std::streamsize>(count));
    bytes -= count;
  }
  filler.flush();  // that the end of it does not fit is what is wanted
  return {};
}

Status SmallDisk::make_room() {
  std::error_code problem;
  fs::remove(folder_ + "/filler", problem);
  if (problem) return fail(error_from_errno(problem.value(), folder_));
  return {};
}

Status SmallDisk::unmount() {
  DATUM_TRY(run({"umount", folder_}));
  std::error_code ignored;
  fs::remove(image_, ignored);
  fs::remove(folder_, ignored);
  return {};
}

}  // namespace datum::selftest
