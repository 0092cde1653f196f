// prepare-image: the machine forgets who it is, so that copies of it come up as machines of their
// own. Refused while anybody has its store; what of its configuration goes into every copy is said.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "commands.hpp"
#include "datum/config/hold.hpp"
#include "datum/engine/image.hpp"
#include "datum/history/open.hpp"
#include "datum/history/story.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/program/session.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"
#include "print.hpp"
#include "service_client.hpp"
#include "story_source.hpp"

namespace datum::program {
namespace {

// The journal's own lock (docs/formats/journal.md), for as long as this lives: who has the store,
// or reads it as a copy, is known by it. It goes away with the journal, so that it keeps nobody out
// of the place, which has a lock of its own.
class StoreLock {
 public:
  StoreLock() = default;
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;
  ~StoreLock() {
    if (file_ >= 0) ::close(file_);
  }

  Status take(const std::string& store) {
    const auto path = store + "/journal/writer.lock";
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file_ < 0 && (errno == ENOENT || errno == ENOTDIR)) return {};  // there is no journal
    if (file_ < 0) return fail(error_from_errno(errno, path));
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) {
      // A compaction may have put another one in its place just now.
      struct stat held {};
      struct stat there {};
      if (::fstat(file_, &held) == 0 && ::stat(path.c_str(), &there) == 0 &&
          held.st_ino == there.st_ino && held.st_dev == there.st_dev)
        return {};
    } else if (errno != EWOULDBLOCK) {
      return fail(error_from_errno(errno, path));
    }
    return fail(ErrorCode::busy,
                store +
                    ": the store is in use; stop what has it (systemctl stop datum-host) "
                    "before the machine becomes an image");
  }

 private:
  int file_ = -1;
};

// One that cannot write its store has not got its lock.
Status refuse_service(const Arguments& arguments) {
  constexpr std::int64_t kAnswerWithinNs = 5 * kNsPerSecond;
  DATUM_ASSIGN(const auto service, find_service_facts(arguments, kAnswerWithinNs));
  // The root's own, too, whatever store is given: its socket and its marks are taken away.
  auto of_root = arguments;
  of_root.state.clear();
  DATUM_ASSIGN(const auto other, find_service_facts(of_root, kAnswerWithinNs));
  if (!service && !other) return {};
  return fail(ErrorCode::busy,
              "the service runs; stop it (systemctl stop datum-host) before the machine becomes an "
              "image");
}

// What a pass left half done is known to the journal alone. Whatever root the store is bound to: an
// image is often prepared from outside.
Status refuse_open_pass(os::Files& files, const std::string& store) {
  const auto journal = files.open_root(store + "/journal");
  if (!journal && journal.error().code() == ErrorCode::not_found) return {};
  DATUM_ASSIGN(const auto story, open_story_at(store));
  DATUM_ASSIGN(const auto state, history::fold(*story.reader, 0, true));
  if (!state.pass) return {};
  return fail(ErrorCode::refused, "pass " + std::to_string(state.pass->id) +
                                      " was cut off, and only this journal knows what of it was "
                                      "done; run a pass first, which ends it");
}

// What stays and is the same on every copy.
struct Kept {
  std::string path, why;
};
std::vector<Kept> find_kept(const Session& session, const config::Configuration& configuration) {
  std::vector<Kept> kept;
  auto& files = *session.files;
  const auto& config_folder = session.config_folder;
  if (configuration.host.value)
    kept.push_back({config_folder + "/agent.yaml",
                    "it names the host " + *configuration.host.value +
                        ": every machine that is made from this image will be that one"});
  const auto folder = files.open_root(config_folder);
  if (folder && config::read_hold(files, *folder).present)
    kept.push_back({config_folder + "/hold", "every machine that is made from this image is held"});
  if (configuration.secrets_backend.value == config::SecretsBackend::file) {
    const auto& set = configuration.secrets_path;
    const auto path = set.origin.is_default() ? set.value : below(session.root_path, set.value);
    const auto secrets = files.open_root(path);
    if (!secrets) return kept;
    const auto entries = files.list(*secrets);
    if (entries && !entries->empty())
      kept.push_back({path, "every machine that is made from this image has these secrets (" +
                                std::to_string(entries->size()) + ")"});
  }
  return kept;
}

void print_json(const std::vector<engine::StrippedPart>& parts, const std::vector<Kept>& kept) {
  const auto line = [](std::string_view path, std::string_view outcome, std::string_view moved_to,
                       std::string_view why) {
    text::JsonWriter json;
    json.begin_object()
        .member("path", path)
        .member("outcome", outcome)
        .member("movedTo", moved_to)
        .member("why", why)
        .end_object();
    print(json.take() + "\n");
  };
  for (const auto& part : parts) line(part.path, engine::to_string(part.what), part.moved_to, "");
  for (const auto& each : kept) line(each.path, "kept", "", each.why);
}

void print_words(const std::vector<engine::StrippedPart>& parts, const std::vector<Kept>& kept) {
  std::string aside;
  for (const auto& part : parts) {
    print((part.what == engine::Stripped::removed     ? "removed:   "
           : part.what == engine::Stripped::discarded ? "deleted:   "
                                                      : "set aside: ") +
          text::escape(part.path) + "\n");
    if (!part.moved_to.empty()) aside = part.moved_to;
  }
  if (!aside.empty())
    print("The history of this machine lies in " + text::escape(aside) +
          ", and is read with --state of that folder; --discard-journal deletes it.\n");
  print(parts.empty() ? "Nothing here is of this one machine: it is an image already.\n"
                      : "A machine that is made from this one now begins anew.\n");
  std::fflush(stdout);
  for (const auto& each : kept)
    std::fprintf(stderr, "warning: %s stays: %s\n", text::escape(each.path).c_str(),
                 text::escape(each.why).c_str());
}

Result<int> run_prepare_image(const Arguments& arguments) {
  DATUM_ASSIGN(const auto session, open_session(arguments));
  DATUM_ASSIGN(const auto configuration, read_config(*session.files, session.config_folder));
  DATUM_TRY(refuse_service(arguments));
  // Until the end: a service that starts meanwhile waits, and finds nothing half moved.
  DATUM_ASSIGN(const auto place,
               journal::lock_place(session.state_folder, journal::PlaceUse::moving));
  DATUM_TRY(StoreLock().take(session.state_folder));  // said before anything is read
  auto open = refuse_open_pass(*session.files, session.state_folder);
  if (!open) return fail(with_remedy(std::move(open).error(), session.state_folder));
  StoreLock lock;
  DATUM_TRY(lock.take(session.state_folder));
  engine::ImageRequest request;
  request.store = session.state_folder;
  request.root = session.root_path;
  request.config = session.config_folder;
  if (configuration.metrics.value)
    request.metrics = below(session.root_path, *configuration.metrics.value);
  request.now = session.loop->clock().wall_now();
  request.discard_journal = arguments.discard_journal;
  DATUM_ASSIGN(const auto parts, engine::prepare_image(*session.files, request));
  const auto kept = find_kept(session, configuration);
  if (arguments.json)
    print_json(parts, kept);
  else
    print_words(parts, kept);
  return 0;
}

}  // namespace

int image_command(const Arguments& arguments) {
  return finish(run_prepare_image(arguments));
}

}  // namespace datum::program
