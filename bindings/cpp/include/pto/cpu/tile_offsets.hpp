// GetTileElementOffset and GetTileOffset.

#ifndef PTO_CPU_TILE_OFFSETS_HPP
#define PTO_CPU_TILE_OFFSETS_HPP

#include <pto/pto-inst.hpp>

#endif
