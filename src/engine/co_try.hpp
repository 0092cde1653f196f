// Leaving a coroutine with an error: the counterparts of DATUM_TRY and DATUM_ASSIGN.
#pragma once

#include "datum/base/error.hpp"

#define DATUM_CO_TRY(expr)                                          \
  do {                                                              \
    if (auto datum_try_result = (expr); !datum_try_result)          \
      co_return ::datum::fail(std::move(datum_try_result).error()); \
  } while (false)

#define DATUM_CO_ASSIGN(decl, expr) \
  DATUM_CO_ASSIGN_INNER(DATUM_CONCAT(datum_result_, __LINE__), decl, expr)
#define DATUM_CO_ASSIGN_INNER(tmp, decl, expr)               \
  auto tmp = (expr);                                         \
  if (!tmp) co_return ::datum::fail(std::move(tmp).error()); \
  decl = std::move(*tmp)
