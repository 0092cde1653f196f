// Resolves a fleet for the nodes that are its hosts, sends what they are to have, each content
// once, and has it released as one generation. The server reads no path of this command's.
#include <algorithm>
#include <cstdio>
#include <set>

#include "client.hpp"
#include "commands.hpp"
#include "datum/base/time.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/fleet/resolve.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/program/desired.hpp"
#include "datum/program/session.hpp"
#include "datum/text/terminal.hpp"

namespace datum::control {
namespace {

void tell_findings(const fleet::Findings& findings, const char* word) {
  for (const auto& finding : findings)
    std::fprintf(stderr, "%s: %s\n", word, text::escape_lines(fleet::to_string(finding)).c_str());
}

// Facts come from machines under the names that fleets use for them, or without "datum/".
fleet::Profile profile_of(const NodeProfile& node) {
  fleet::Profile profile;
  for (const auto& fact : node.profile)
    for (const auto label : fleet::profile_labels())
      if (label == fact.name || label == "datum/" + fact.name)
        profile.facts[std::string(label)] = fact.value;
  return profile;
}

class MemoryContent final : public ByteSource {
 public:
  explicit MemoryContent(ByteView bytes) : bytes_(bytes) {}
  Result<std::size_t> read(MutableByteView out) override {
    const auto count = std::min(out.size(), bytes_.size());
    std::copy_n(bytes_.begin(), count, out.begin());
    bytes_ = bytes_.subspan(count);
    return count;
  }

 private:
  ByteView bytes_;
};

// Whoever hung up has said already what it had to say.
constexpr std::int64_t kSaidWithinNs = 10 * kNsPerSecond;

class Push {
 public:
  Push(const Arguments& arguments, Client client)
      : request_(arguments.request), client_(std::move(client)) {}

  // The hosts of `fleet` among `nodes`; of `only` all must be.
  Result<int> run(const fleet::FleetPtr& fleet, const std::vector<NodeProfile>& nodes,
                  const std::vector<std::string>& only) {
    std::map<std::string, fleet::Profile, std::less<>> profiles;
    for (const auto& node : nodes) {
      const bool is_meant =
          only.empty() || std::find(only.begin(), only.end(), node.node) != only.end();
      if (is_meant && fleet->has_host(node.node)) profiles[node.node] = profile_of(node);
    }
    for (const auto& name : only)
      if (profiles.count(name) == 0)
        return fail(ErrorCode::not_found, name + ": no enrolled node that is a host of this fleet");
    std::vector<std::string> hosts;
    for (const auto& [name, profile] : profiles) hosts.push_back(name);
    fleet::Resolver resolver(fleet);
    resolver.resolve_each(
        hosts, [&](std::string_view host) { return profiles.find(host)->second; },
        [&](const std::string& host, const fleet::Resolved& resolved) {
          if (status_) status_ = take(fleet, host, resolved);
        });
    if (client_.is_cut_off()) return client_.hear(kSaidWithinNs);
    DATUM_TRY(status_);
    std::sort(request_.manifests.begin(), request_.manifests.end(),
              [](const auto& one, const auto& other) { return one.node < other.node; });
    return client_.ask(request_);
  }

 private:
  Status take(const fleet::FleetPtr& fleet, const std::string& host,
              const fleet::Resolved& resolved) {
    tell_findings(resolved.warnings, "warning");
    tell_findings(resolved.errors, "error");
    if (!resolved.manifest)
      return fail(ErrorCode::invalid_argument,
                  "the fleet has no valid manifest for " + host + ": nothing was pushed");
    if (request_.revision.empty()) request_.revision = resolved.manifest->revision;
    const auto content = fleet::make_content_source(fleet, resolved.manifest);
    for (const auto& resource : resolved.manifest->resources) {
      const auto* each = resource->content();
      if (each == nullptr || !each->secret.empty()) continue;
      if (each->size <= model::kInlineContent) continue;  // stands in the manifest
      if (!sent_.insert(each->digest).second) continue;
      DATUM_ASSIGN(const auto source, content->open(each->digest));
      DATUM_TRY(client_.send_blob(each->digest, *source));
    }
    DATUM_ASSIGN(const auto bytes, codec::encode_manifest(*resolved.manifest, *content));
    const auto digest = crypto::sha256(bytes);
    if (sent_.insert(digest).second) {
      MemoryContent source(bytes);
      DATUM_TRY(client_.send_blob(digest, source));
    }
    request_.manifests.push_back({host, digest, bytes.size()});
    return {};
  }

  LocalRequest request_;
  Client client_;
  std::set<Digest> sent_;
  Status status_;
};

Result<std::vector<NodeProfile>> ask_profiles(const Arguments& arguments) {
  DATUM_ASSIGN(auto client, Client::connect(arguments.socket));
  LocalRequest request;
  request.verb = LocalVerb::profiles;
  request.command_line = arguments.request.command_line;
  std::string text;
  DATUM_ASSIGN(const auto code, client.ask(request, &text));
  if (code != 0) return fail(ErrorCode::unavailable, "the control plane does not say its nodes");
  return parse_profiles(text);
}

Result<int> run_push(const Arguments& arguments) {
  DATUM_ASSIGN(const auto nodes, ask_profiles(arguments));
  const auto files = os_linux::make_files();
  DATUM_ASSIGN(const auto fleet, program::load_fleet(*files, arguments.fleet, tell_findings));
  DATUM_ASSIGN(auto client, Client::connect(arguments.socket));
  auto wanted = arguments;
  wanted.request.verb = LocalVerb::push;
  wanted.request.source = "fleet " + program::absolute_path(arguments.fleet);
  Push push(wanted, std::move(client));
  return push.run(fleet, nodes, arguments.hosts);
}

}  // namespace

int push_command(const Arguments& arguments) {
  const auto code = run_push(arguments);
  return code ? *code : refuse(code.error());
}

}  // namespace datum::control
