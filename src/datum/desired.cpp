#include "desired.hpp"

#include <unistd.h>

#include <cstdio>

namespace datum::program {

void print_findings(const fleet::Findings& findings, const char* word) {
  for (const auto& finding : findings)
    std::fprintf(stderr, "%s: %s\n", word, fleet::to_string(finding).c_str());
}

Result<fleet::FleetPtr> load_fleet_or_report(os::Files& files, const Arguments& arguments) {
  return load_fleet(files, arguments.fleet, print_findings);
}

Result<fleet::Profile> read_profile(const Arguments& arguments) {
  return read_profile(arguments.profile, print_findings);
}

Result<Desired> load_desired(os::Files& files, const os::Handle& root, const Arguments& arguments) {
  if (arguments.fleet.empty() && arguments.manifest.empty())
    return fail(ErrorCode::invalid_argument,
                arguments.command_line +
                    ": give the desired state: --fleet DIR [--host NAME], or --manifest FILE");
  return load_desired(files, root, arguments, print_findings);
}

std::string host_name(const Arguments& arguments) {
  return host_name(arguments.host);
}

std::string local_fleet(const Arguments& arguments, const std::string& source) {
  return below(absolute_path(arguments.root), source);
}

void fill_in(Arguments& arguments, const config::Configuration& configuration) {
  if (arguments.host.empty() && configuration.host.value && arguments.manifest.empty())
    arguments.host = *configuration.host.value;
  if (arguments.fleet.empty() && arguments.manifest.empty() && configuration.source.value)
    arguments.fleet = local_fleet(arguments, *configuration.source.value);
}

std::optional<core::Mode> mode_argument(const Arguments& arguments) {
  if (!arguments.mode) return std::nullopt;
  return *arguments.mode == "enforce" ? core::Mode::enforce : core::Mode::observe;
}

core::Actor current_actor(const Arguments& arguments) {
  return person(::getuid(), arguments.command_line);
}

}  // namespace datum::program
