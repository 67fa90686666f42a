// The _IMPL forms of communication are in the same header.

#ifndef PTO_COMM_PTO_COMM_INSTR_IMPL_HPP
#define PTO_COMM_PTO_COMM_INSTR_IMPL_HPP

#include <pto/comm/pto_comm_inst.hpp>

#endif
