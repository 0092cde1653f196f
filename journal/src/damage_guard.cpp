#include "damage_guard.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

#include "datum/journal/damage.hpp"
#include "store_folder.hpp"

namespace datum::journal {
namespace {

constexpr std::array<int, 2> kFaults = {SIGSEGV, SIGBUS};
constexpr const char* kTold =
    ": the store holds pages that cannot be right, though it was closed in order: run the command "
    "again, which walks all of it first and names the damage\n";

struct Ending {
  std::array<char, 64> program{};
  int exit_status = 0;
  std::array<struct sigaction, kFaults.size()> before{};
};
// Written once, before there are threads; read by handlers, which can be given nothing else.
Ending& ending() {
  static constinit Ending only;
  return only;
}

thread_local const StoreAtWork* store_at_work = nullptr;

// The instruction is run again, and its fault then goes to who had it before.
void pass_on(int fault) {
  for (std::size_t at = 0; at < kFaults.size(); ++at)
    if (kFaults[at] == fault) ::sigaction(fault, &ending().before[at], nullptr);
}

void on_fault(int fault) {
  if (store_at_work != nullptr) store_at_work->end();
  pass_on(fault);
}

void say(const char* text) {
  // Nothing more can be done where not even this can be said.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

}  // namespace

StoreAtWork::StoreAtWork(const std::string& folder)
    : place_(folder), mark_(folder + "/" + kCleanName) {}

void StoreAtWork::end() const {
  if (ending().exit_status == 0) return;
  ::unlink(mark_.c_str());
  say(ending().program.data());
  say(": ");
  say(place_.c_str());
  say(kTold);
  ::_exit(ending().exit_status);
}

InsideStore::InsideStore(const StoreAtWork& store) : before_(store_at_work) {
  store_at_work = &store;
}

InsideStore::~InsideStore() {
  store_at_work = before_;
}

void end_in_words(const std::string& program, int exit_status) {
  program.copy(ending().program.data(), ending().program.size() - 1);
  ending().exit_status = exit_status;
  struct sigaction action {};
  action.sa_handler = on_fault;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t at = 0; at < kFaults.size(); ++at)
    ::sigaction(kFaults[at], &action, &ending().before[at]);
}

}  // namespace datum::journal
