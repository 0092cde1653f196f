// Where the service's lines go: the system journal with fields where standard error leads there,
// else standard error. Whoever logs is this program; the modules below it only return errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datum/host/log_line.hpp"

namespace datum::host {

class Log {
 public:
  // Looks whether standard error is the journal's stream ($JOURNAL_STREAM), and drops the variable.
  [[nodiscard]] static Log open();
  Log(Log&& other) noexcept;
  Log& operator=(Log&&) = delete;
  ~Log();

  void write(Priority priority, std::string_view text, const std::vector<LogField>& fields = {});
  void error(std::string_view text) { write(Priority::error, text); }
  void warning(std::string_view text) { write(Priority::warning, text); }
  void notice(std::string_view text) { write(Priority::notice, text); }

 private:
  Log(int journal, bool marks) : journal_(journal), marks_(marks) {}
  int journal_;  // a connected socket; -1: standard error
  bool marks_;   // a manager reads standard error, and no person
};

}  // namespace datum::host
