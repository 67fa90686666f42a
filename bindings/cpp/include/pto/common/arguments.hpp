// Types of arguments that the instruction table does not list (cpp.md 6.2, 6.5, 6.6 and 7).

#ifndef PTO_COMMON_ARGUMENTS_HPP
#define PTO_COMMON_ARGUMENTS_HPP

#include <pto/common/issue.hpp>

namespace pto {

using TRandomKey = uint32_t[2];
using TRandomCounter = uint32_t[4];

// Which byte THISTOGRAM counts, 0 being the lowest.
enum class HistByte : uint32_t { BYTE_0, BYTE_1, BYTE_2, BYTE_3 };

// Which part of a sum a product is; it changes no result.
enum class AccPhase : uint32_t { Unspecified = 0, Unknown = 0, Partial = 2, Final = 3 };
// Which part of a result a move or a store is; it changes no result.
enum class STPhase : uint32_t { Unspecified = 0, Partial = 2, Final = 3 };

enum class TFillPadMode : uint32_t { Normal, InPlace, Expand };

enum class AtomicType : uint32_t { AtomicNone, AtomicAdd };

enum class QuantType : uint32_t { MXFP8, MXFP4_E2M1, INT8_SYM, INT8_ASYM };

// An MX format and its scale's algorithm in one.
enum class MxQuantAlg : uint32_t { OcpMxFp8E4M3, NvMxFp8E4M3, OcpMxFp4E2M1, NvMxFp4E2M1, Hif4 };

// How TPRINT writes floats.
enum class PrintFormat : uint32_t { Width8_Precision4, Width8_Precision2, Width10_Precision6 };

// Does a pattern name columns or rows?
enum class GatherAxis : uint32_t { GATHER_ROW, GATHER_COL };
enum class ScatterAxis : uint32_t { SCATTER_ROW, SCATTER_COL };
enum class GatherExec : uint32_t { Scalar, Simt };
enum class ScatterConflict : uint32_t { Last, Default };

// How many records TMRGSORT took from each list.
struct MrgSortExecutedNumList {
    uint16_t mrgSortList0 = 0;
    uint16_t mrgSortList1 = 0;
    uint16_t mrgSortList2 = 0;
    uint16_t mrgSortList3 = 0;
};

inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

// Where the core leaves them.
using CountsTile = Tile<TileType::Vec, uint16_t, 1, 16, BLayout::RowMajor, 1, 4>;

inline void ReadCounts(MrgSortExecutedNumList &executed, const CountsTile &counts)
{
    executed = {counts.GetValue(0, 0), counts.GetValue(0, 1), counts.GetValue(0, 2), counts.GetValue(0, 3)};
}

} // namespace pto_detail
} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
