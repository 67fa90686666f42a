// Everything is in one header.

#ifndef PTO_COMMON_UTILS_HPP
#define PTO_COMMON_UTILS_HPP

#include <pto/pto-inst.hpp>

#endif
