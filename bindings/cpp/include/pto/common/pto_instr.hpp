// All intrinsics. Destinations come first; trailing events are waited for; every intrinsic returns an event.

#ifndef PTO_INST_HPP
#include <pto/pto-inst.hpp>
#elif !defined(PTO_COMMON_PTO_INSTR_HPP)
#define PTO_COMMON_PTO_INSTR_HPP

#include <pto/common/compare.hpp>
#include <pto/common/conv_moves.hpp>
#include <pto/common/elementwise.hpp>
#include <pto/common/fill.hpp>
#include <pto/common/gather.hpp>
#include <pto/common/img2col.hpp>
#include <pto/common/irregular.hpp>
#include <pto/common/matrix.hpp>
#include <pto/common/memory.hpp>
#include <pto/common/memory_model.hpp>
#include <pto/common/transfer.hpp>
#include <pto/common/move.hpp>
#include <pto/common/mx_quant.hpp>
#include <pto/common/print.hpp>
#include <pto/common/products.hpp>
#include <pto/common/quant_config.hpp>
#include <pto/common/rearrange.hpp>
#include <pto/common/reduce.hpp>
#include <pto/common/scalar.hpp>

#endif
