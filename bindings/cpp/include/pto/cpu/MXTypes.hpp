// The float types of 8 and 4 bits.

#ifndef PTO_CPU_MX_TYPES_HPP
#define PTO_CPU_MX_TYPES_HPP

#include <pto/pto-inst.hpp>

#endif
