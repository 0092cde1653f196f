// Findings of a fleet as one text, for who cannot print them as they come.
#pragma once

#include <cstddef>
#include <string>

#include "datum/program/desired.hpp"

namespace datum::program {

class FindingsText {
 public:
  // Borrows this object.
  [[nodiscard]] TellFindings teller();
  // "; FILE:LINE: …" for each error, the first few of them, and how many more there are. Empty:
  // there were none.
  [[nodiscard]] std::string errors() const;

 private:
  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace datum::program
