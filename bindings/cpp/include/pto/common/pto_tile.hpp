// Everything is in one header.

#ifndef PTO_COMMON_PTO_TILE_HPP
#define PTO_COMMON_PTO_TILE_HPP

#include <pto/pto-inst.hpp>

#endif
