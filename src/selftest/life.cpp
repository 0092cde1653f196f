#include "life.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

#include "datum/selftest/kept_unit.hpp"

namespace datum::selftest {
namespace {

namespace fs = std::filesystem;

// A pass takes well under a second here; whatever takes this long hangs.
constexpr std::int64_t kProcessLimitNs = 120 * kNsPerSecond;
// Of a process's output, more than a pass of the large size prints.
constexpr std::size_t kOutputLimit = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kOutputTold = 400;  // of it, in a violation

Status write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file) return {};
  return fail(ErrorCode::io_error, path.string() + ": cannot be written");
}

Status make_folder(const fs::path& path, fs::perms mode) {
  std::error_code problem;
  fs::create_directories(path, problem);
  if (!problem) fs::permissions(path, mode, problem);
  if (problem) return fail(error_from_errno(problem.value(), path.string()));
  return {};
}

bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::string tail_of(const std::string& output) {
  return output.size() <= kOutputTold ? output : output.substr(output.size() - kOutputTold);
}

void append(Violations& to, Violations more) {
  for (auto& one : more) to.push_back(std::move(one));
}

}  // namespace

Life::Life(loop::Loop& loop, os::Files& files, const CrashTest& test, std::string folder, Size size)
    : loop_(loop), files_(files), test_(test), folder_(std::move(folder)), size_(size) {}

Status Life::begin() {
  DATUM_TRY(make_folder(folder_, fs::perms::owner_all));
  DATUM_TRY(make_folder(folder_ + "/root", fs::perms(0755)));
  const fs::path fleet = folder_ + "/fleet";
  DATUM_TRY(make_folder(fleet / kLayerFolder, fs::perms::owner_all));
  for (const auto& [path, text] : fleet_frame()) DATUM_TRY(write_file(fleet / path, text));
  return {};
}

Status Life::declare_next() {
  expected_.before = std::move(expected_.after);
  expected_.strays.clear();
  expected_.has_failure = false;
  reloads_before_ = count_reloads(folder_ + "/" + std::string(kUnitStory));
  ++version_;
  auto scenario = make_scenario(test_.seed, version_, size_);
  const fs::path layer = folder_ + "/fleet/" + std::string(kLayerFolder);
  DATUM_TRY(write_file(layer / "resources.yaml", scenario.documents));
  for (const auto& [name, text] : scenario.sources) DATUM_TRY(write_file(layer / name, text));
  expected_.after = std::move(scenario.tree);
  if (!secret_.empty()) old_secrets_.insert(secret_);
  secret_ = std::move(scenario.secret);
  if (version_ == 1) return {};
  constexpr std::uint32_t kStrayMode = 0644;
  for (const auto& stray : scenario.strays) {
    const fs::path path = folder_ + "/root/" + stray;
    DATUM_TRY(write_file(path, "a stray\n"));
    std::error_code problem;
    fs::permissions(path, fs::perms(kStrayMode), problem);
    if (problem) return fail(error_from_errno(problem.value(), path.string()));
    expected_.before[stray] = {Kind::file, kStrayMode, "a stray\n"};
  }
  expected_.strays = std::move(scenario.strays);
  return {};
}

std::uint64_t Life::journal_bytes() const {
  std::error_code ignored;
  const auto size = fs::file_size(folder_ + "/state/journal/data.mdb", ignored);
  return ignored ? 0 : size;
}

std::uint32_t Life::changes() const {
  std::uint32_t count = 0;
  for (const auto& [path, entry] : expected_.after) {
    const auto before = expected_.before.find(path);
    if (before == expected_.before.end() || before->second != entry) ++count;
  }
  for (const auto& [path, entry] : expected_.before)
    if (!expected_.after.contains(path)) ++count;
  return count;
}

void Life::read_line(std::string_view line, ProcessEnd& end) {
  std::uint64_t number = 0;
  if (!take_word(line, kTold)) return;
  if (take_word(line, "durable ") && take_number(line, number)) {
    if (const auto hash = Digest::find_hex(line)) acknowledged_.push_back({number, *hash});
  } else if (take_word(line, "recovered ") && take_number(line, number)) {
    end.recovered_ns = static_cast<std::int64_t>(number);
  } else if (take_word(line, "hits ") && take_number(line, number)) {
    end.hits[std::string(line)] = number;
    end.all_hits += number;
  } else if (take_word(line, "ends at ")) {
    end.point = line;
  }
}

Result<ProcessEnd> Life::run(const CutOrder& order, std::int64_t kill_after_ns) {
  DATUM_TRY(write_file(folder_ + "/" + std::string(kOrderName), to_text(order)));
  loop::ChildOptions options;
  options.argv = test_.child;
  options.argv.push_back(folder_);
  options.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/",
                         "TERM=dumb"};
  options.output_limit = kOutputLimit;
  options.timeout_ns = kill_after_ns > 0 ? kill_after_ns : kProcessLimitNs;
  loop::ChildResult result;
  const auto began = loop_.clock().boot_now();
  DATUM_TRY(loop_.spawn(options, [this, &result](loop::ChildResult ended) {
    result = std::move(ended);
    loop_.stop();
  }));
  loop_.run();
  ProcessEnd end;
  end.duration_ns = loop_.clock().boot_now().ns - began.ns;
  end.was_killed = result.signal != 0;
  end.exit_status = result.exit_status;
  if (result.timed_out && kill_after_ns == 0)
    return fail(ErrorCode::timed_out, "a pass did not end in two minutes");
  std::string_view text = result.output;
  while (!text.empty()) {
    const auto length = std::min(text.find('\n'), text.size());
    read_line(text.substr(0, length), end);
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  end.output = std::move(result.output);
  return end;
}

Violations Life::judge(const ProcessEnd& end, Tree& seen, Claims& claims) {
  const auto state = folder_ + "/state";
  Violations violations;
  claims = read_claims(state, from_, acknowledged_, violations);
  append(violations, find_missing_blobs(files_, state, claims));
  const auto mark = secret_mark(test_.seed);
  append(violations, find_secrets(files_, state, mark, old_secrets_, known_blobs_));
  append(violations, find_secrets_in(end.output, mark));
  expected_.reloads = count_reloads(folder_ + "/" + std::string(kUnitStory)) - reloads_before_;
  auto tree = read_tree(folder_ + "/root");
  if (!tree)
    violations.push_back(tree.error().message());
  else
    seen = std::move(*tree);
  return violations;
}

Violations Life::judge_cut(const ProcessEnd& end) {
  Tree seen;
  Claims claims;
  auto violations = judge(end, seen, claims);
  if (violations.empty()) violations = selftest::judge_cut(expected_, seen, claims);
  return violations;
}

Violations Life::judge_end(const ProcessEnd& end) {
  Tree seen;
  Claims claims;
  auto violations = judge(end, seen, claims);
  if (end.exit_status != 0)
    violations.push_back("the last pass exits with " + std::to_string(end.exit_status) + ": " +
                         tail_of(end.output));
  append(violations, selftest::judge_end(expected_, seen, claims));
  from_ = claims.head + 1;
  return violations;
}

}  // namespace datum::selftest
