/* The C ABI of Tessera: the PTO tile ISA on a simulated core.
 *
 * Generated from bindings/cpp/src and the instruction table by `cargo xtask codegen`; do not edit.
 *
 * A machine is made by tessera_machine_create and belongs to one thread at a time until it is destroyed.
 * Pointers are null or valid for the call. Descriptors are copied; nothing of the caller's is kept after it.
 * Every element of a view, or of its extent where given, is in the caller's memory, which is writable where a call
 * stores.
 * Every call checks its arguments: null pointers, unknown tags and wrong sizes end in a status, rules that an
 * instruction breaks in TESSERA_STATUS_RULE with diagnostics, and then nothing was changed.
 */

#ifndef TESSERA_H
#define TESSERA_H

#include <stddef.h>
#include <stdint.h>

// Target profiles.
typedef enum TesseraProfile {
  TESSERA_PROFILE_CPU = 0, // the CPU simulator: the loosest legality, unlimited on-chip memory
  TESSERA_PROFILE_A2A3 = 1, // Ascend A2 and A3
  TESSERA_PROFILE_A5 = 2, // Ascend A5: two vector cores share one cube core
} TesseraProfile;

// Locations of tiles.
typedef enum TesseraLoc {
  TESSERA_LOC_VEC = 0, // UB
  TESSERA_LOC_MAT = 1, // L1
  TESSERA_LOC_LEFT = 2, // L0A
  TESSERA_LOC_RIGHT = 3, // L0B
  TESSERA_LOC_ACC = 4, // L0C
  TESSERA_LOC_BIAS = 5, // the bias table
  TESSERA_LOC_SCALING = 6, // the fixpipe buffer
  TESSERA_LOC_SCALE_LEFT = 7, // the L0A scale area
  TESSERA_LOC_SCALE_RIGHT = 8, // the L0B scale area
} TesseraLoc;

// Outer orders of a layout.
typedef enum TesseraBLayout {
  TESSERA_B_LAYOUT_ROW_MAJOR = 0,
  TESSERA_B_LAYOUT_COL_MAJOR = 1,
} TesseraBLayout;

// Inner orders of a layout.
typedef enum TesseraSLayout {
  TESSERA_S_LAYOUT_NONE_BOX = 0,
  TESSERA_S_LAYOUT_ROW_MAJOR = 1,
  TESSERA_S_LAYOUT_COL_MAJOR = 2,
} TesseraSLayout;

// Compact modes.
typedef enum TesseraCompact {
  TESSERA_COMPACT_NULL = 0,
  TESSERA_COMPACT_NORMAL = 1,
  TESSERA_COMPACT_ROW_PLUS_ONE = 2,
  TESSERA_COMPACT_ROW_ALIGNED_PADDING = 3,
} TesseraCompact;

// Layout tags of views.
typedef enum TesseraViewLayout {
  TESSERA_VIEW_LAYOUT_ND = 0,
  TESSERA_VIEW_LAYOUT_DN = 1,
  TESSERA_VIEW_LAYOUT_NZ = 2,
} TesseraViewLayout;

// ReLU on the way out of an accumulator.
typedef enum TesseraRelu {
  TESSERA_RELU_NO_RELU = 0,
  TESSERA_RELU_NORMAL_RELU = 1,
} TesseraRelu;

// Which vector core an Acc→Vec form writes.
typedef enum TesseraAccToVec {
  TESSERA_ACC_TO_VEC_SINGLE_MODE_VEC0 = 0,
  TESSERA_ACC_TO_VEC_SINGLE_MODE_VEC1 = 1,
  TESSERA_ACC_TO_VEC_DUAL_MODE_SPLIT_M = 2,
  TESSERA_ACC_TO_VEC_DUAL_MODE_SPLIT_N = 3,
} TesseraAccToVec;

// The NZ split forms of TINSERT.
typedef enum TesseraSplit {
  TESSERA_SPLIT_SPLIT2 = 0,
  TESSERA_SPLIT_SPLIT4 = 1,
} TesseraSplit;

// The attributes.
typedef enum TesseraAttrName {
  TESSERA_ATTR_NAME_ACC_TO_VEC_MODE = 0, // one of single_mode_vec0, single_mode_vec1, dual_mode_split_m, dual_mode_split_n
  TESSERA_ATTR_NAME_RELU_PRE_MODE = 1, // one of no_relu, normal_relu
  TESSERA_ATTR_NAME_MODE = 2, // one of split2, split4
  TESSERA_ATTR_NAME_DIM = 3, // an integer
  TESSERA_ATTR_NAME_KERNEL = 4, // a list of 2 integers
  TESSERA_ATTR_NAME_STRIDE = 5, // a list of 2 integers
  TESSERA_ATTR_NAME_DILATION = 6, // a list of 2 integers
  TESSERA_ATTR_NAME_PAD = 7, // a list of 4 integers
  TESSERA_ATTR_NAME_PAD_VALUE = 8, // a number
  TESSERA_ATTR_NAME_FMAP = 9, // a list of 2 integers
  TESSERA_ATTR_NAME_SHAPE = 10, // a list of 2 integers
  TESSERA_ATTR_NAME_SATURATE_INF = 11, // true or false
  TESSERA_ATTR_NAME_CMP_MODE = 12, // one of eq, ne, lt, le, gt, ge
  TESSERA_ATTR_NAME_PRECISION_MODE = 13, // one of DEFAULT, HIGH_PRECISION
  TESSERA_ATTR_NAME_RMODE = 14, // one of NONE, RINT, ROUND, FLOOR, CEIL, TRUNC, ODD, CAST_RINT
  TESSERA_ATTR_NAME_SAT_MODE = 15, // one of ON, OFF
  TESSERA_ATTR_NAME_IS_BINARY = 16, // true or false
  TESSERA_ATTR_NAME_SRC1_COL = 17, // an integer
  TESSERA_ATTR_NAME_SRC0_EQ_DST = 18, // true or false
  TESSERA_ATTR_NAME_HIGH_PRECISION = 19, // true or false
  TESSERA_ATTR_NAME_DESCENDING = 20, // true or false
  TESSERA_ATTR_NAME_UPPER_OR_LOWER = 21, // an integer
  TESSERA_ATTR_NAME_ROUNDS = 22, // an integer
  TESSERA_ATTR_NAME_IS_MSB = 23, // true or false
  TESSERA_ATTR_NAME_BYTE = 24, // an integer
  TESSERA_ATTR_NAME_OFFSET = 25, // an integer
  TESSERA_ATTR_NAME_MASK_PATTERN = 26, // one of P0101, P1010, P0001, P0010, P0100, P1000, P1111
  TESSERA_ATTR_NAME_EXHAUSTED = 27, // true or false
  TESSERA_ATTR_NAME_QUANT_TYPE = 28, // one of INT8_SYM, INT8_ASYM, MXFP8, MXFP4_E2M1
  TESSERA_ATTR_NAME_QUANT_SCALE_ALG = 29, // one of ocp, nv
  TESSERA_ATTR_NAME_GRP_AXIS = 30, // one of axis1, axis0
  TESSERA_ATTR_NAME_INTERLEAVE = 31, // true or false
  TESSERA_ATTR_NAME_STORE_MODE = 32, // one of nd, nz
  TESSERA_ATTR_NAME_ST_PHASE = 33, // one of unspecified, partial, final
  TESSERA_ATTR_NAME_ATOMIC_TYPE = 34, // one of atomic_none, atomic_add
  TESSERA_ATTR_NAME_PAD_MODE = 35, // one of PadNull, PadValue, PadFirstElem
  TESSERA_ATTR_NAME_INIT_OUT_BUFFER = 36, // true or false
  TESSERA_ATTR_NAME_GATHER_OOB = 37, // one of undefined, clamp, wrap, zero
  TESSERA_ATTR_NAME_SCATTER_ATOMIC_OP = 38, // one of none, add, max, min
  TESSERA_ATTR_NAME_SCATTER_OOB = 39, // one of undefined, skip, clamp, wrap
  TESSERA_ATTR_NAME_SCATTER_CONFLICT = 40, // one of default, last
  TESSERA_ATTR_NAME_PRINT_FORMAT = 41, // one of width8_precision4, width8_precision2, width10_precision6
  TESSERA_ATTR_NAME_PAD_OF_DST = 42, // one of null, zero, max, min
  TESSERA_ATTR_NAME_COALESCE = 43, // one of row, elem
  TESSERA_ATTR_NAME_ACC_PHASE = 44, // one of unspecified, partial, final
  TESSERA_ATTR_NAME_ENABLE = 45, // true or false
  TESSERA_ATTR_NAME_F32_MODE = 46, // one of round, rint
  TESSERA_ATTR_NAME_LAYOUT = 47, // one of nd, dn, nz
  TESSERA_ATTR_NAME_NAME = 48, // a name
  TESSERA_ATTR_NAME_PEER_FUNC = 49, // a name
  TESSERA_ATTR_NAME_SIZE = 50, // an integer
  TESSERA_ATTR_NAME_LOCATION = 51, // one of vec, mat, gm, left, right, acc, bias, scaling
  TESSERA_ATTR_NAME_AUTO = 52, // true or false
  TESSERA_ATTR_NAME_BASE = 53, // an integer
  TESSERA_ATTR_NAME_DIR_MASK = 54, // an integer
  TESSERA_ATTR_NAME_SLOT_SIZE = 55, // an integer
  TESSERA_ATTR_NAME_SLOT_NUM = 56, // an integer
  TESSERA_ATTR_NAME_LOCAL_SLOT_NUM = 57, // an integer
  TESSERA_ATTR_NAME_FLAG_BASE = 58, // an integer
  TESSERA_ATTR_NAME_PIPE_ID = 59, // an integer
  TESSERA_ATTR_NAME_NO_SPLIT = 60, // true or false
  TESSERA_ATTR_NAME_ACC_PUSH_EPILOGUE = 61, // a name
  TESSERA_ATTR_NAME_PIPE_SPLIT = 62, // an integer
  TESSERA_ATTR_NAME_NOTIFY_OP = 63, // one of atomic_add, set
  TESSERA_ATTR_NAME_WAIT_CMP = 64, // one of eq, ne, gt, ge, lt, le
  TESSERA_ATTR_NAME_REDUCE_OP = 65, // one of sum, max, min
  TESSERA_ATTR_NAME_ROOT = 66, // an integer
  TESSERA_ATTR_NAME_SYNC_ID = 67, // an integer
  TESSERA_ATTR_NAME_BLOCK_BYTES = 68, // an integer
  TESSERA_ATTR_NAME_COMM_BLOCK_OFFSET = 69, // an integer
  TESSERA_ATTR_NAME_QUEUE_NUM = 70, // an integer
  TESSERA_ATTR_NAME_CHANNEL_GROUP_IDX = 71, // an integer
  TESSERA_ATTR_NAME_FFTS_MODE = 72, // an integer
} TesseraAttrName;

// Element types.
typedef enum TesseraElem {
  TESSERA_ELEM_F32 = 0,
  TESSERA_ELEM_F16 = 1,
  TESSERA_ELEM_BF16 = 2,
  TESSERA_ELEM_I8 = 3,
  TESSERA_ELEM_I16 = 4,
  TESSERA_ELEM_I32 = 5,
  TESSERA_ELEM_I64 = 6,
  TESSERA_ELEM_U8 = 7,
  TESSERA_ELEM_U16 = 8,
  TESSERA_ELEM_U32 = 9,
  TESSERA_ELEM_U64 = 10,
  TESSERA_ELEM_F8E4M3 = 11,
  TESSERA_ELEM_F8E5M2 = 12,
  TESSERA_ELEM_F8E8M0 = 13,
  TESSERA_ELEM_HIF8 = 14,
  TESSERA_ELEM_F4E2M1X2 = 15,
  TESSERA_ELEM_F4E1M2X2 = 16,
} TesseraElem;

// Instructions; `tessera_issue` takes those with operands.
typedef enum TesseraOp {
  TESSERA_OP_TMOV = 0, // Move a tile's valid region, changing location, layout or (out of an accumulator) type on the way.
  TESSERA_OP_TMOV_FP = 1, // TMOV with a Scaling tile of quantization parameters, or with a value that fills dst's padding.
  TESSERA_OP_TRESHAPE = 2, // Reinterpret the same bytes as another tile type: a copy on cpu, a view on a2a3 and a5.
  TESSERA_OP_TTRANS = 3, // Transpose: over the source's valid region on cpu and a2a3, over its declared shape on a5.
  TESSERA_OP_TCONCAT = 4, // Join two tiles along the columns (cpu: or rows), or as many columns of each as index tiles say.
  TESSERA_OP_TPACK = 5, // Keep the low bytes of every element.
  TESSERA_OP_TEXTRACT = 6, // Take a window of the source, at (indexRow, indexCol), as a tile of its own.
  TESSERA_OP_TEXTRACT_FP = 7, // TEXTRACT with a Scaling tile of quantization parameters, or with a value that fills dst's padding.
  TESSERA_OP_TINSERT = 8, // Put the source into a window of the destination, at (indexRow, indexCol); the rest is preserved.
  TESSERA_OP_TINSERT_FP = 9, // TINSERT with a Scaling tile of quantization parameters, or with a value that fills dst's padding.
  TESSERA_OP_TFILLPAD = 10, // Copy the valid region and fill everything else of the declared area with the pad value.
  TESSERA_OP_TFILLPAD_INPLACE = 11, // Fill the padding of a tile where it lies; dst and src are views of one storage.
  TESSERA_OP_TFILLPAD_EXPAND = 12, // TFILLPAD into a tile that may be larger; a dynamic valid region becomes the whole declared area.
  TESSERA_OP_TIMG2COL = 13, // Rearrange image patches of a conv tile into the rows of a Left tile, for convolution by matrix product.
  TESSERA_OP_TINTERLEAVE = 14, // Interleave two tiles: the first half of the interleaved stream into dst0, the second into dst1.
  TESSERA_OP_TDEINTERLEAVE = 15, // Take an interleaved stream apart: even positions into dst0, odd ones into dst1.
  TESSERA_OP_TSUBVIEW = 16, // A view of a window of a tile; it keeps the source's pitch.
  TESSERA_OP_SUBSET = 17, // A view of a window of a tile; it keeps the source's pitch.
  TESSERA_OP_BITCAST = 18, // TRESHAPE to another element type with the same rows.
  TESSERA_OP_BIND_TILE = 19, // A tile's storage under another layout and valid region.
  TESSERA_OP_ALLOC_TILE = 20, // A tile, with optional address and run-time valid extents.
  TESSERA_OP_ALLOC_MULTI_TILE = 21, // Several equal tiles, one after the other, with optional address and run-time valid extents.
  TESSERA_OP_MULTI_TILE_GET = 22, // One of the tiles of a multi-buffer tile.
  TESSERA_OP_TASSIGN = 23, // Bind a tile to an address; moves no data.
  TESSERA_OP_SET_VALIDSHAPE = 24, // Set a dynamic valid region.
  TESSERA_OP_MAKE_TENSOR_VIEW = 25, // A strided view of global memory, one to five dimensions.
  TESSERA_OP_PARTITION_VIEW = 26, // A window of a view.
  TESSERA_OP_ADDPTR = 27, // Move a pointer by a number of elements.
  TESSERA_OP_TILE_BUF_ADDR = 28, // A pointer to a tile's first byte in its memory.
  TESSERA_OP_CASTPTR = 29, // A pointer as one to another element type, as a number, or of a number.
  TESSERA_OP_PTRTOINT = 30, // The byte address of a pointer.
  TESSERA_OP_INTTOPTR = 31, // The pointer of a byte address.
  TESSERA_OP_TENSOR_VIEW_ADDR = 32, // A pointer to element 0 of a view.
  TESSERA_OP_GET_TENSOR_VIEW_DIM = 33, // An extent of a view.
  TESSERA_OP_GET_TENSOR_VIEW_STRIDE = 34, // A stride of a view, in elements.
  TESSERA_OP_GET_VALIDSHAPE = 35, // The valid rows and columns of a tile at this moment.
  TESSERA_OP_TILE_VALID_ROWS = 36, // The valid rows of a tile at this moment.
  TESSERA_OP_TILE_VALID_COLS = 37, // The valid columns of a tile at this moment.
  TESSERA_OP_PRINT = 38, // Print scalars by a format.
  TESSERA_OP_TRAP = 39, // Stop the program.
  TESSERA_OP_LOAD_SCALAR = 40, // Read one element of global memory.
  TESSERA_OP_STORE_SCALAR = 41, // Write one element of global memory.
  TESSERA_OP_SETFMATRIX = 42, // Image size and padding of later TIMG2COLs.
  TESSERA_OP_SET_IMG2COL_PADDING = 43, // The pad value of later TIMG2COLs.
  TESSERA_OP_SET_IMG2COL_RPT = 44, // Accepted, without effect.
  TESSERA_OP_GET_SUBBLOCK_IDX = 45, // The number of the vector core in its block.
  TESSERA_OP_GET_SUBBLOCK_NUM = 46, // How many vector cores run the kernel in a block.
  TESSERA_OP_SET_FLAG_DYN = 47, // Order between two pipes, by a computed id.
  TESSERA_OP_WAIT_FLAG_DYN = 48, // Order between two pipes, by a computed id.
  TESSERA_OP_GET_BUF = 49, // Take a buffer's token.
  TESSERA_OP_RLS_BUF = 50, // Give a buffer's token back.
  TESSERA_OP_GET_BUF_DYN = 51, // Take a buffer's token, by a computed id.
  TESSERA_OP_RLS_BUF_DYN = 52, // Give a buffer's token back, by a computed id.
  TESSERA_OP_SET_INTRA_BLOCK = 53, // A token for another core of the block.
  TESSERA_OP_WAIT_INTRA_BLOCK = 54, // Wait for a token of another core of the block.
  TESSERA_OP_SET_CROSS_BLOCK = 55, // Arrive at a meeting of the cores of a kind in all blocks.
  TESSERA_OP_WAIT_CROSS_BLOCK = 56, // Wait until all cores of the kind have arrived.
  TESSERA_OP_SYNCALL = 57, // All cores of some kinds, in all blocks, arrive; then all go on.
  TESSERA_OP_MAKE_PREFETCH_ASYNC_CONTEXT = 58, // What reads ahead works with.
  TESSERA_OP_TPREFETCH_ASYNC = 59, // Read a view ahead into the cache; no value changes.
  TESSERA_OP_GET_PREFETCH_ASYNC_SESSION = 60, // The session of a context of reads ahead.
  TESSERA_OP_SYNC_SET = 61, // A token for another core.
  TESSERA_OP_SYNC_WAIT = 62, // Wait for another core's token.
  TESSERA_OP_CMO_CACHEINVALID = 63, // Write back and forget cached lines of global memory.
  TESSERA_OP_FENCE_BARRIER_ALL = 64, // What is earlier is done and visible before what is later.
  TESSERA_OP_SET_FFTS = 65, // Accepted, without effect.
  TESSERA_OP_SET_FLAG = 66, // Order between two pipes.
  TESSERA_OP_WAIT_FLAG = 67, // Order between two pipes.
  TESSERA_OP_RECORD_EVENT = 68, // Order between pipes.
  TESSERA_OP_WAIT_EVENT = 69, // Order between pipes.
  TESSERA_OP_BARRIER = 70, // The named pipe, or every pipe with PIPE_ALL, finishes what it has begun before it begins what follows.
  TESSERA_OP_TSYNC = 71, // Wait for events.
  TESSERA_OP_GET_BLOCK_IDX = 72, // The number of the running block.
  TESSERA_OP_GET_BLOCK_NUM = 73, // How many blocks run.
  TESSERA_OP_TPRINT = 74, // Print a tile's valid region.
  TESSERA_OP_TABS = 75, // Absolute value.
  TESSERA_OP_TADD = 76, // Sum of two tiles.
  TESSERA_OP_TADDRELU = 77, // Sum, clipped at zero.
  TESSERA_OP_TADDC = 78, // Sum of three tiles, left to right.
  TESSERA_OP_TAND = 79, // Bitwise AND.
  TESSERA_OP_TCMP = 80, // Compares two tiles; one bit per element into a mask (elementwise.md, 4).
  TESSERA_OP_TCVT = 81, // Converts every element to dst's type (elementwise.md, 5).
  TESSERA_OP_TDIV = 82, // Quotient of two tiles; integers truncate toward zero.
  TESSERA_OP_TEXP = 83, // Natural exponential.
  TESSERA_OP_TFMOD = 84, // Truncated remainder: a nonzero result has the sign of the dividend.
  TESSERA_OP_TLOG = 85, // Natural logarithm.
  TESSERA_OP_TMAX = 86, // Larger of two elements.
  TESSERA_OP_TMIN = 87, // Smaller of two elements.
  TESSERA_OP_TMUL = 88, // Product of two tiles.
  TESSERA_OP_TNEG = 89, // Sign change.
  TESSERA_OP_TNOT = 90, // Bitwise complement.
  TESSERA_OP_TOR = 91, // Bitwise OR.
  TESSERA_OP_TPOW = 92, // src0 raised to the power src1; integers by repeated multiplication, wrapping.
  TESSERA_OP_TPRELU = 93, // ReLU with a slope per element.
  TESSERA_OP_TRECIP = 94, // Reciprocal; integers truncate.
  TESSERA_OP_TRELU = 95, // Negative elements become zero.
  TESSERA_OP_TREM = 96, // Floored remainder: a nonzero result has the sign of the divisor (i64: truncated, as tfmod).
  TESSERA_OP_TRSQRT = 97, // Reciprocal of the square root, as one operation.
  TESSERA_OP_TSEL = 98, // Picks src0 where the mask bit is 1, src1 where it is 0; bits are copied.
  TESSERA_OP_TSHL = 99, // Left shift by a count per element.
  TESSERA_OP_TSHR = 100, // Right shift by a count per element; arithmetic for signed types, logical for unsigned.
  TESSERA_OP_TSQRT = 101, // Square root.
  TESSERA_OP_TSUB = 102, // Difference of two tiles.
  TESSERA_OP_TSUBC = 103, // Difference of two tiles plus a third.
  TESSERA_OP_TXOR = 104, // Bitwise exclusive OR.
  TESSERA_OP_TADDS = 105, // Adds a scalar.
  TESSERA_OP_TADDSC = 106, // Tile plus scalar plus tile.
  TESSERA_OP_TANDS = 107, // Bitwise AND with a scalar.
  TESSERA_OP_TAXPY = 108, // Adds a scaled tile to the destination, which is read and written.
  TESSERA_OP_TCMPS = 109, // Compares with a scalar; one bit per element into a mask (elementwise.md, 4).
  TESSERA_OP_TDIVS = 110, // Divides by a scalar, or a scalar by the tile: the operand order says which.
  TESSERA_OP_TEXPANDS = 111, // Every element of the valid region (in Mat: of the declared area) becomes the scalar.
  TESSERA_OP_TFMODS = 112, // Truncated remainder by a scalar.
  TESSERA_OP_TLRELU = 113, // ReLU with one slope for all elements.
  TESSERA_OP_TMAXS = 114, // Larger of element and scalar.
  TESSERA_OP_TMINS = 115, // Smaller of element and scalar.
  TESSERA_OP_TMULS = 116, // Multiplies by a scalar.
  TESSERA_OP_TORS = 117, // Bitwise OR with a scalar.
  TESSERA_OP_TPOWS = 118, // Power with a scalar exponent.
  TESSERA_OP_TREMS = 119, // Floored remainder by a scalar.
  TESSERA_OP_TSELS = 120, // Picks src where the mask bit is 1, the scalar where it is 0; bits are copied.
  TESSERA_OP_TSHLS = 121, // Left shift by one count.
  TESSERA_OP_TSHRS = 122, // Right shift by one count; arithmetic for signed types, logical for unsigned.
  TESSERA_OP_TSUBS = 123, // Subtracts a scalar.
  TESSERA_OP_TSUBSC = 124, // Tile minus scalar plus tile.
  TESSERA_OP_TXORS = 125, // Bitwise exclusive OR with a scalar.
  TESSERA_OP_TROWSUM = 126, // The sum of each row of src goes to column 0 of dst.
  TESSERA_OP_TROWPROD = 127, // The product of each row of src goes to column 0 of dst.
  TESSERA_OP_TROWMAX = 128, // The maximum of each row of src goes to column 0 of dst.
  TESSERA_OP_TROWMIN = 129, // The minimum of each row of src goes to column 0 of dst.
  TESSERA_OP_TCOLSUM = 130, // The sum of each column of src goes to row 0 of dst.
  TESSERA_OP_TCOLPROD = 131, // The product of each column of src goes to row 0 of dst.
  TESSERA_OP_TCOLMAX = 132, // The maximum of each column of src goes to row 0 of dst.
  TESSERA_OP_TCOLMIN = 133, // The minimum of each column of src goes to row 0 of dst.
  TESSERA_OP_TROWARGMAX = 134, // Column index of the first greatest element of each row, and with two destinations its value too.
  TESSERA_OP_TCOLARGMAX = 135, // Row index of the first greatest element of each column, and with two destinations its value too.
  TESSERA_OP_TROWARGMIN = 136, // Column index of the first least element of each row, and with two destinations its value too.
  TESSERA_OP_TCOLARGMIN = 137, // Row index of the first least element of each column, and with two destinations its value too.
  TESSERA_OP_TROWEXPAND = 138, // Copies column 0 of src into every column of dst; bits are moved, not computed.
  TESSERA_OP_TCOLEXPAND = 139, // Copies row 0 of src into every row of dst; bits are moved, not computed.
  TESSERA_OP_TROWEXPANDADD = 140, // Row broadcast: each row of the full operand adds the value (or 32-byte block) of that row in the other operand.
  TESSERA_OP_TROWEXPANDSUB = 141, // Row broadcast: each row of the full operand subtracts the value (or 32-byte block) of that row in the other operand.
  TESSERA_OP_TROWEXPANDMUL = 142, // Row broadcast: each row of the full operand multiplies by the value (or 32-byte block) of that row in the other operand.
  TESSERA_OP_TROWEXPANDDIV = 143, // Row broadcast: each row of the full operand divides by the value (or 32-byte block) of that row in the other operand.
  TESSERA_OP_TROWEXPANDMAX = 144, // Row broadcast: each row of the full operand takes the maximum with the value (or 32-byte block) of that row in the other operand.
  TESSERA_OP_TROWEXPANDMIN = 145, // Row broadcast: each row of the full operand takes the minimum with the value (or 32-byte block) of that row in the other operand.
  TESSERA_OP_TROWEXPANDEXPDIF = 146, // Row broadcast: each row of the full operand takes exp of the difference with the value (or 32-byte block) of that row in the other operand.
  TESSERA_OP_TCOLEXPANDADD = 147, // Column broadcast: each row of the full operand adds row 0 of the other operand.
  TESSERA_OP_TCOLEXPANDSUB = 148, // Column broadcast: each row of the full operand subtracts row 0 of the other operand.
  TESSERA_OP_TCOLEXPANDMUL = 149, // Column broadcast: each row of the full operand multiplies by row 0 of the other operand.
  TESSERA_OP_TCOLEXPANDDIV = 150, // Column broadcast: each row of the full operand divides by row 0 of the other operand.
  TESSERA_OP_TCOLEXPANDMAX = 151, // Column broadcast: each row of the full operand takes the maximum with row 0 of the other operand.
  TESSERA_OP_TCOLEXPANDMIN = 152, // Column broadcast: each row of the full operand takes the minimum with row 0 of the other operand.
  TESSERA_OP_TCOLEXPANDEXPDIF = 153, // Column broadcast: each row of the full operand takes exp of the difference with row 0 of the other operand.
  TESSERA_OP_TPAIRREDUCESUM = 154, // Adds neighbouring pairs of each row into the lower half of dst's row and zeroes the upper half.
  TESSERA_OP_TMATMUL = 155, // Matrix product: fresh product.
  TESSERA_OP_TMATMUL_ACC = 156, // Matrix product: product added to an accumulator.
  TESSERA_OP_TMATMUL_BIAS = 157, // Matrix product: product added to a bias row.
  TESSERA_OP_TMATMUL_MX = 158, // Matrix product of block-scaled (MX) operands: fresh product.
  TESSERA_OP_TMATMUL_MX_ACC = 159, // Matrix product of block-scaled (MX) operands: product added to an accumulator.
  TESSERA_OP_TMATMUL_MX_BIAS = 160, // Matrix product of block-scaled (MX) operands: product added to a bias row.
  TESSERA_OP_TGEMV = 161, // Row vector times matrix: fresh product.
  TESSERA_OP_TGEMV_ACC = 162, // Row vector times matrix: product added to an accumulator.
  TESSERA_OP_TGEMV_BIAS = 163, // Row vector times matrix: product added to a bias row.
  TESSERA_OP_TGEMV_MX = 164, // Row vector times matrix of block-scaled (MX) operands: fresh product.
  TESSERA_OP_TGEMV_MX_ACC = 165, // Row vector times matrix of block-scaled (MX) operands: product added to an accumulator.
  TESSERA_OP_TGEMV_MX_BIAS = 166, // Row vector times matrix of block-scaled (MX) operands: product added to a bias row.
  TESSERA_OP_TGET_SCALE_ADDR = 167, // Binds a scale tile to the scale area that belongs to a Left or Right tile; moves no data.
  TESSERA_OP_SETHF32MODE = 168, // From here on f32 operands of the non-MX products are rounded to 11 mantissa bits (a2a3); state of the kernel, no tile is touched.
  TESSERA_OP_SETTF32MODE = 169, // From here on f32 operands of the non-MX products are rounded to 10 mantissa bits (a5); state of the kernel, no tile is touched.
  TESSERA_OP_TCI = 170, // Counts up or down along a row.
  TESSERA_OP_TTRI = 171, // A triangular matrix of ones and zeros.
  TESSERA_OP_TRANDOM = 172, // Counter-based pseudo-random 32-bit words: Philox 4x32.
  TESSERA_OP_THISTOGRAM = 173, // Per row, the cumulative histogram of one byte of every element that passes a filter on the higher bytes.
  TESSERA_OP_TGATHER = 174, // Picks elements of src by linear index.
  TESSERA_OP_TGATHERB = 175, // Gathers blocks of 32 bytes by byte offset.
  TESSERA_OP_TSCATTER = 176, // Writes each element of src to the element of dst that its index names.
  TESSERA_OP_TSORT32 = 177, // Sorts every 32 columns of a row downward and writes (value, index) records.
  TESSERA_OP_TMRGSORT = 178, // Merges each four neighbouring sorted blocks of records of one row.
  TESSERA_OP_TGETVAL = 179, // Reads one element as a scalar.
  TESSERA_OP_TSETVAL = 180, // Writes a scalar into one element.
  TESSERA_OP_TPARTADD = 181, // Sum where both sources are valid, a copy where only one is.
  TESSERA_OP_TPARTMUL = 182, // Product where both sources are valid, a copy where only one is.
  TESSERA_OP_TPARTMAX = 183, // Maximum where both sources are valid, a copy where only one is.
  TESSERA_OP_TPARTMIN = 184, // Minimum where both sources are valid, a copy where only one is.
  TESSERA_OP_TPARTARGMAX = 185, // Greater value with its index where both sources are valid, a copy where only one is.
  TESSERA_OP_TPARTARGMIN = 186, // Smaller value with its index where both sources are valid, a copy where only one is.
  TESSERA_OP_TQUANT = 187, // Affine quantization of f32 to 8-bit integers, one factor (and offset) per row.
  TESSERA_OP_TDEQUANT = 188, // Integers back to f32 with a scale and an offset per row.
  TESSERA_OP_TQUANT_MX = 189, // Quantization to 8- or 4-bit floats with one shared exponent for 32 elements.
  TESSERA_OP_TLOAD = 190, // Copies a view of global memory into a tile and fills the tile's padding.
  TESSERA_OP_TPREFETCH = 191, // Reads a view ahead of its use, through a tile.
  TESSERA_OP_TSTORE = 192, // Copies a tile's valid region to a view; out of an accumulator it converts, quantizes and clips; it can add.
  TESSERA_OP_TSTORE_FP = 193, // tstore out of an accumulator with one quantization parameter per column.
  TESSERA_OP_MGATHER = 194, // Gathers rows or elements of a view by index.
  TESSERA_OP_MSCATTER = 195, // Scatters rows or elements of a tile into a view by index.
  TESSERA_OP_RESERVE_BUFFER = 196, // Memory for the slots of a FIFO, for the whole kernel.
  TESSERA_OP_IMPORT_RESERVED_BUFFER = 197, // The memory that another function reserved.
  TESSERA_OP_AIC_INITIALIZE_PIPE = 198, // The cube core's end of a pipe.
  TESSERA_OP_AIV_INITIALIZE_PIPE = 199, // The vector cores' end of a pipe.
  TESSERA_OP_INITIALIZE_L2L_PIPE = 200, // An end of a pipe whose slots lie on the chip.
  TESSERA_OP_INITIALIZE_L2G2L_PIPE = 201, // An end of a pipe whose slots lie in global memory.
  TESSERA_OP_DECLARE_TILE = 202, // A tile that a tpop gives its storage.
  TESSERA_OP_TPUSH_TO_AIV = 203, // Give a tile to the vector cores; waits for a free slot.
  TESSERA_OP_TPUSH_TO_AIC = 204, // Give a tile to the cube core; waits for a free slot.
  TESSERA_OP_TPOP_FROM_AIC = 205, // Take the next tile from the cube core; waits for it.
  TESSERA_OP_TPOP_FROM_AIV = 206, // Take the next tile from the vector cores; waits for it.
  TESSERA_OP_TFREE_FROM_AIC = 207, // Give the slot of the oldest popped tile back to the cube core.
  TESSERA_OP_TFREE_FROM_AIV = 208, // Give the slot of the oldest popped tile back to the vector cores.
  TESSERA_OP_TPUSH = 209, // tpush_to_aiv or tpush_to_aic, by the core.
  TESSERA_OP_TPOP = 210, // tpop_from_aic or tpop_from_aiv, by the core.
  TESSERA_OP_TFREE = 211, // tfree_from_aic or tfree_from_aiv, by the core.
  TESSERA_OP_TALLOC_TO_AIV = 212, // The view of the next slot for the vector cores; waits until it is free.
  TESSERA_OP_TALLOC_TO_AIC = 213, // The view of the next slot for the cube core; waits until it is free.
  TESSERA_OP_TALLOC = 214, // talloc_to_aiv or talloc_to_aic, by the core.
  TESSERA_OP_DECLARE_GLOBAL = 215, // A view that a talloc or a tpop makes one of a slot.
  TESSERA_OP_SET_QUANT_SCALAR = 216, // The factor by which the pushes that follow quantize.
  TESSERA_OP_SET_QUANT_VECTOR = 217, // The factors, one for each column, by which the pushes that follow quantize.
  TESSERA_OP_COMM_TPUT = 218, // Copies a view into a view, usually of another rank, through staging tiles; it can add.
  TESSERA_OP_COMM_TGET = 219, // Copies a view, usually of another rank, into a view through staging tiles.
  TESSERA_OP_COMM_TNOTIFY = 220, // Sets or adds to a signal word, after everything before it.
  TESSERA_OP_COMM_TWAIT = 221, // Holds up the process until all signal words compare true.
  TESSERA_OP_COMM_TTEST = 222, // Asks whether all signal words compare true.
  TESSERA_OP_COMM_TBROADCAST = 223, // Copies a view to every member of a group.
  TESSERA_OP_COMM_TGATHER = 224, // Joins the members' views by rows.
  TESSERA_OP_COMM_TSCATTER = 225, // Deals out a view's rows to the members.
  TESSERA_OP_COMM_TREDUCE = 226, // Sum, maximum or minimum of the members' views.
  TESSERA_OP_COMM_BUILD_ASYNC_SESSION = 227, // A session of asynchronous transfers, with scratch for them.
  TESSERA_OP_COMM_TPUT_ASYNC = 228, // Starts copying a dense view.
  TESSERA_OP_COMM_TGET_ASYNC = 229, // Starts copying a dense view.
  TESSERA_OP_COMM_WAIT_ASYNC_EVENT = 230, // Waits until a copy is done, and those that its session started before.
  TESSERA_OP_COMM_TEST_ASYNC_EVENT = 231, // Asks whether a copy is done, and those that its session started before.
  TESSERA_OP_TSUBRELU = 232, // Difference of two tiles, negative elements become zero.
  TESSERA_OP_TMULADDDST = 233, // Adds a product to the destination.
  TESSERA_OP_TFUSEDMULADD = 234, // Multiplies the destination and adds to it.
  TESSERA_OP_TFUSEDMULADDRELU = 235, // Multiplies the destination and adds to it, negative elements become zero.
  TESSERA_OP_TADDRELUCONV = 236, // Sum, negative elements become zero, converted to a narrower type.
  TESSERA_OP_TSUBRELUCONV = 237, // Difference, negative elements become zero, converted to a narrower type.
  TESSERA_OP_TADDDEQRELU = 238, // Sum of two i32 tiles times a scale, as f16, negative elements become zero.
  TESSERA_OP_TMOV_ZZ = 239, // Brings shared exponents into the order in which the matrix unit reads them.
  TESSERA_OP_TGATHER_ROWS = 240, // Picks rows of src by a pattern.
  TESSERA_OP_TSCATTER_COLS = 241, // Spreads the columns of src by a pattern.
  TESSERA_OP_TSCATTER_ROWS = 242, // Spreads the rows of src by a pattern.
} TesseraOp;

// Forms of an instruction.
typedef enum TesseraForm {
  TESSERA_FORM_PLAIN = 0,
  TESSERA_FORM_SCALAR_QUANT = 1,
  TESSERA_FORM_VECTOR_QUANT = 2,
  TESSERA_FORM_FILL = 3,
  TESSERA_FORM_TMP = 4,
  TESSERA_FORM_INDEXED = 5,
  TESSERA_FORM_INDEXED_OUT = 6,
  TESSERA_FORM_TWO_WINDOWS = 7,
  TESSERA_FORM_ONE_SOURCE = 8,
  TESSERA_FORM_NO_INDEX = 9,
  TESSERA_FORM_SCALAR_FIRST = 10,
  TESSERA_FORM_WINDOW = 11,
  TESSERA_FORM_VALUED = 12,
  TESSERA_FORM_COMPARE = 13,
  TESSERA_FORM_MASK = 14,
  TESSERA_FORM_IN_MEMORY = 15,
  TESSERA_FORM_BLOCKS = 16,
  TESSERA_FORM_LISTS = 17,
  TESSERA_FORM_LISTS_TMP_OUT = 18,
} TesseraForm;

// Operations on floats.
typedef enum TesseraFloatOp {
  TESSERA_FLOAT_OP_ADDF = 0, // arith.addf
  TESSERA_FLOAT_OP_SUBF = 1, // arith.subf
  TESSERA_FLOAT_OP_MULF = 2, // arith.mulf
  TESSERA_FLOAT_OP_DIVF = 3, // arith.divf
  TESSERA_FLOAT_OP_REMF = 4, // arith.remf
  TESSERA_FLOAT_OP_NEGF = 5, // arith.negf
  TESSERA_FLOAT_OP_MAXIMUMF = 6, // arith.maximumf
  TESSERA_FLOAT_OP_MINIMUMF = 7, // arith.minimumf
  TESSERA_FLOAT_OP_MAXNUMF = 8, // arith.maxnumf
  TESSERA_FLOAT_OP_MINNUMF = 9, // arith.minnumf
  TESSERA_FLOAT_OP_SQRT = 10, // math.sqrt
  TESSERA_FLOAT_OP_EXP = 11, // math.exp
  TESSERA_FLOAT_OP_EXP2 = 12, // math.exp2
  TESSERA_FLOAT_OP_LOG = 13, // math.log
  TESSERA_FLOAT_OP_LOG2 = 14, // math.log2
  TESSERA_FLOAT_OP_RSQRT = 15, // math.rsqrt
  TESSERA_FLOAT_OP_FMA = 16, // math.fma
  TESSERA_FLOAT_OP_ABSF = 17, // math.absf
  TESSERA_FLOAT_OP_FLOOR = 18, // math.floor
  TESSERA_FLOAT_OP_CEIL = 19, // math.ceil
  TESSERA_FLOAT_OP_POWF = 20, // math.powf
} TesseraFloatOp;

// What an operand is to its instruction.
typedef enum TesseraRole {
  TESSERA_ROLE_SRC = 0,
  TESSERA_ROLE_SRC0 = 1,
  TESSERA_ROLE_SRC1 = 2,
  TESSERA_ROLE_SRC2 = 3,
  TESSERA_ROLE_MASK = 4,
  TESSERA_ROLE_DST = 5,
  TESSERA_ROLE_DST0 = 6,
  TESSERA_ROLE_DST1 = 7,
  TESSERA_ROLE_DST_VAL = 8,
  TESSERA_ROLE_TMP = 9,
  TESSERA_ROLE_FP = 10,
  TESSERA_ROLE_QUANT = 11,
  TESSERA_ROLE_FILL = 12,
  TESSERA_ROLE_LEFT_PADDING = 13,
  TESSERA_ROLE_RIGHT_PADDING = 14,
  TESSERA_ROLE_INIT_CONDITION = 15,
  TESSERA_ROLE_ROW = 16,
  TESSERA_ROLE_COL = 17,
  TESSERA_ROLE_ROW1 = 18,
  TESSERA_ROLE_COL1 = 19,
  TESSERA_ROLE_A = 20,
  TESSERA_ROLE_B = 21,
  TESSERA_ROLE_ACC = 22,
  TESSERA_ROLE_BIAS = 23,
  TESSERA_ROLE_A_SCALE = 24,
  TESSERA_ROLE_B_SCALE = 25,
  TESSERA_ROLE_IDX = 26,
  TESSERA_ROLE_IDX0 = 27,
  TESSERA_ROLE_IDX1 = 28,
  TESSERA_ROLE_DST_IDX = 29,
  TESSERA_ROLE_POS_M = 30,
  TESSERA_ROLE_POS_K = 31,
  TESSERA_ROLE_TILE = 32,
  TESSERA_ROLE_ADDR = 33,
  TESSERA_ROLE_VALID_ROW = 34,
  TESSERA_ROLE_VALID_COL = 35,
  TESSERA_ROLE_GLOBAL = 36,
  TESSERA_ROLE_NUMBER = 37,
  TESSERA_ROLE_SCALAR = 38,
  TESSERA_ROLE_SRC3 = 39,
  TESSERA_ROLE_SRC0_IDX = 40,
  TESSERA_ROLE_SRC1_IDX = 41,
  TESSERA_ROLE_OFFSET = 42,
  TESSERA_ROLE_SCALE = 43,
  TESSERA_ROLE_CDST = 44,
  TESSERA_ROLE_EXECUTED = 45,
  TESSERA_ROLE_KEY0 = 46,
  TESSERA_ROLE_KEY1 = 47,
  TESSERA_ROLE_COUNTER0 = 48,
  TESSERA_ROLE_COUNTER1 = 49,
  TESSERA_ROLE_COUNTER2 = 50,
  TESSERA_ROLE_COUNTER3 = 51,
  TESSERA_ROLE_INDEX = 52,
  TESSERA_ROLE_VALUE = 53,
  TESSERA_ROLE_INIT = 54,
  TESSERA_ROLE_EXP = 55,
  TESSERA_ROLE_MAX = 56,
  TESSERA_ROLE_SCALING = 57,
  TESSERA_ROLE_EXP_ZZ = 58,
  TESSERA_ROLE_IDX_VIEW = 59,
  TESSERA_ROLE_SCRATCH_VIEW = 60,
  TESSERA_ROLE_SLOT_VIEW = 61,
  TESSERA_ROLE_C2V_BUF = 62,
  TESSERA_ROLE_V2C_BUF = 63,
  TESSERA_ROLE_PIPE = 64,
  TESSERA_ROLE_DST_VIEW = 65,
  TESSERA_ROLE_SRC_VIEW = 66,
  TESSERA_ROLE_SIGNAL = 67,
  TESSERA_ROLE_MEMBER = 68,
  TESSERA_ROLE_PING = 69,
  TESSERA_ROLE_PONG = 70,
  TESSERA_ROLE_WORKSPACE = 71,
  TESSERA_ROLE_SESSION = 72,
  TESSERA_ROLE_ASYNC_EVENT = 73,
} TesseraRole;


// The version of this ABI: it changes when a structure, a tag or a function's meaning does.
#define TESSERA_ABI_VERSION 7

// How a call ended.
typedef enum TesseraStatus {
  // It did what it says; warnings may be there.
  TESSERA_STATUS_OK = 0,
  // A rule is broken, nothing was changed; the diagnostics say which.
  TESSERA_STATUS_RULE = 1,
  // A pointer that must not be null is.
  TESSERA_STATUS_NULL = 2,
  // A tag, size, count or handle is not one that the call knows; the diagnostics say which.
  TESSERA_STATUS_ARGUMENT = 3,
  // A defect of the library; the machine is not to be used any more.
  TESSERA_STATUS_INTERNAL = 4,
} TesseraStatus;

// Pad values.
typedef enum TesseraPad {
  // No padding asked for.
  TESSERA_PAD_NULL = 0,
  // Zero.
  TESSERA_PAD_ZERO = 1,
  // The largest value.
  TESSERA_PAD_MAX = 2,
  // The smallest value.
  TESSERA_PAD_MIN = 3,
  // The element whose bits are the low ones of `pad_bits`.
  TESSERA_PAD_CUSTOM = 4,
} TesseraPad;

// Where a tile's bytes are.
typedef enum TesseraStorage {
  // Nowhere: the tile is only a type. TFILLPAD_INPLACE and views take such destinations.
  TESSERA_STORAGE_NONE = 0,
  // At the byte address `storage` of the location's memory.
  TESSERA_STORAGE_ADDRESS = 1,
  // In the automatic storage with the handle `storage`.
  TESSERA_STORAGE_AUTOMATIC = 2,
  // At the address `storage` of the host: in one of the machine's memories, or in memory of the caller's own.
  TESSERA_STORAGE_POINTER = 3,
} TesseraStorage;

// What a scalar is.
typedef enum TesseraNumber {
  // `bits` is an int64_t.
  TESSERA_NUMBER_INT = 0,
  // `bits` is a uint64_t.
  TESSERA_NUMBER_UINT = 1,
  // `bits` are the bits of a double.
  TESSERA_NUMBER_FLOAT = 2,
} TesseraNumber;

// Severities of diagnostics.
typedef enum TesseraSeverity {
  // Worth knowing.
  TESSERA_SEVERITY_NOTE = 0,
  // Legal, and probably not meant.
  TESSERA_SEVERITY_WARNING = 1,
  // Refused.
  TESSERA_SEVERITY_ERROR = 2,
} TesseraSeverity;

// A simulated core. C sees only pointers to it.
typedef struct TesseraMachine TesseraMachine;

// A tile: its type, its valid region and where its bytes are.
typedef struct TesseraTile {
  // A `TesseraLoc`.
  uint32_t loc;
  // A `TesseraElem`.
  uint32_t elem;
  // Declared rows.
  uint64_t rows;
  // Declared columns.
  uint64_t cols;
  // A `TesseraBLayout`.
  uint32_t blayout;
  // A `TesseraSLayout`.
  uint32_t slayout;
  // 512, 1024 or 32.
  uint32_t fractal;
  // A `TesseraCompact`.
  uint32_t compact;
  // A `TesseraPad`.
  uint32_t pad;
  // The bits of a custom pad value: as many of the low bytes as an element has.
  uint32_t pad_bits;
  // Valid rows as the type has them; -1 is dynamic.
  int64_t type_valid_row;
  // Valid columns as the type has them; -1 is dynamic.
  int64_t type_valid_col;
  // Valid rows now; -1 is not set yet.
  int64_t valid_row;
  // Valid columns now; -1 is not set yet.
  int64_t valid_col;
  // A `TesseraStorage`.
  uint32_t storage_kind;
  // Zero.
  uint32_t reserved;
  // A byte address, a handle or a pointer, as `storage_kind` says.
  uint64_t storage;
  // Bytes from there to the first element; views of windows have one.
  uint64_t offset;
  // Elements between two rows (row_major) or columns (col_major) of a view; 0 is the tile's own.
  uint64_t pitch;
} TesseraTile;

// A conv tile: a dense array in L1.
typedef struct TesseraConv {
  // A `TesseraLoc`.
  uint32_t loc;
  // A `TesseraElem`.
  uint32_t elem;
  // 1 for NDC1HWC0, 0 for NC1HWC0.
  uint32_t has_depth;
  // A `TesseraStorage`.
  uint32_t storage_kind;
  // N, D, C1, H, W, C0; D is 1 without depth.
  uint64_t dims[6];
  // A byte address, a handle or a pointer, as `storage_kind` says.
  uint64_t storage;
} TesseraConv;

// A tile operand.
typedef struct TesseraTileArg {
  // A `TesseraRole`.
  uint32_t role;
  // Zero.
  uint32_t reserved;
  // The tile.
  struct TesseraTile tile;
} TesseraTileArg;

// A scalar operand.
typedef struct TesseraScalar {
  // A `TesseraRole`.
  uint32_t role;
  // A `TesseraNumber`.
  uint32_t kind;
  // The value, read as `kind` says.
  uint64_t bits;
  // One more than the `TesseraElem` that is its type; 0 for a number without one.
  uint32_t elem;
  // Zero.
  uint32_t reserved;
} TesseraScalar;

// An attribute.
typedef struct TesseraAttr {
  // A `TesseraAttrName`.
  uint32_t name;
  // A `TesseraNumber` where the attribute is any number; zero otherwise.
  uint32_t kind;
  // The tag of a word, a number's bits, or as many integers as the attribute has; the others are zero.
  int64_t values[4];
} TesseraAttr;

// One instruction. Its form follows from the operands that are there.
typedef struct TesseraInst {
  // A `TesseraOp`.
  uint32_t op;
  // How many tiles.
  uint32_t tile_count;
  // How many scalars.
  uint32_t scalar_count;
  // How many attributes.
  uint32_t attr_count;
  // A `TesseraForm`, where the operands alone do not tell it (TDIVS with the scalar first); 0 otherwise.
  uint32_t form;
  // How many words.
  uint32_t word_count;
  // The tile operands, destinations included, in any order; at most 8.
  const struct TesseraTileArg *tiles;
  // The scalar operands, in any order; at most 8. May be null if there are none.
  const struct TesseraScalar *scalars;
  // The attributes, in any order; at most 8. May be null if there are none.
  const struct TesseraAttr *attrs;
  // The source of TIMG2COL; null otherwise.
  const struct TesseraConv *conv;
  // Words of the caller's choice, at most 96, that tell the instruction from all others, but for the address of its view:
  // `tessera_reissue` issues it again by them. May be null if there are none.
  const uint64_t *words;
} TesseraInst;

// A view of the caller's memory.
typedef struct TesseraView {
  // The element at index 0 of every dimension.
  void *data;
  // A `TesseraElem`.
  uint32_t elem;
  // A `TesseraViewLayout`.
  uint32_t layout;
  // How many dimensions, 1 to 5; 0 is a pointer to a dense array, which conv tiles are loaded from.
  uint32_t dims;
  // Zero.
  uint32_t reserved;
  // Extents in elements, outermost first.
  int64_t shape[5];
  // Strides in elements.
  int64_t stride[5];
  // Elements of the buffer from `data` on; -1 where unknown: then the view itself is believed.
  int64_t extent;
} TesseraView;

// One finding about the last call. The strings end in NUL, are never null, and live until the next call on the machine.
typedef struct TesseraDiagnostic {
  // The id of the broken rule.
  const char *rule;
  // One sentence with the actual values.
  const char *message;
  // Severity, rule, message, notes and help, on one line each.
  const char *text;
  // A `TesseraSeverity`.
  uint32_t severity;
  // Zero.
  uint32_t reserved;
} TesseraDiagnostic;

// One digit of a row's or a column's number: so many values, so many elements apart.
typedef struct TesseraDigit {
  // How many values the digit has; 0 is no digit.
  uint64_t extent;
  // Elements between two of them.
  int64_t stride;
} TesseraDigit;

// An array as rows and columns, whatever dimensions it has: the number of a row, and that of a column, is split into digits.
typedef struct TesseraMatrix {
  // A `TesseraLoc`; of an array in memory of the caller's own any one.
  uint32_t loc;
  // A `TesseraElem`.
  uint32_t elem;
  // The digits of rows, outermost first.
  struct TesseraDigit row[5];
  // The digits of columns, outermost first.
  struct TesseraDigit col[5];
  // Where the first element is: an address of the host.
  void *data;
} TesseraMatrix;

// One direction of a pipe between the cores of a block (TPUSH, TPOP, TFREE), as a judge of order sees it.
typedef struct TesseraFifo {
  // A number that tells it from all others: the address of its state.
  uint64_t key;
  // Whether it goes from the cube core to the vector cores.
  uint32_t to_vector;
  // 0 whole tiles, 1 rows halved, 2 columns halved.
  uint32_t split;
  // Whether both vector cores have a part in every slot.
  uint32_t both;
  // How many slots it has.
  uint32_t slots;
  // Bytes of a slot.
  uint64_t slot_size;
  // The address of the first slot in the consumer's memory.
  uint64_t base;
  // The first slot in global memory; null where slots lie in the consumer's memory.
  const void *global;
} TesseraFifo;

// A finding about the order of calls. The strings end in NUL, are never null, and live as long as the process.
typedef struct TesseraRace {
  // The finding, as `tessera_diagnostic` gives one.
  struct TesseraDiagnostic found;
  // The intrinsic that it is about; empty where there is none.
  const char *name;
  // The file of the call.
  const char *file;
  // The line of the call; 0 where it is not known.
  uint32_t line;
  // Zero.
  uint32_t reserved;
  // The finding as an object of JSON, on one line.
  const char *json;
} TesseraRace;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library's ABI; headers compare it with `TESSERA_ABI_VERSION`.
uint32_t tessera_abi_version(void);

// Makes a core of a profile with empty memories. `machine` receives it, or null if the call fails.
enum TesseraStatus tessera_machine_create(uint32_t profile, struct TesseraMachine **machine);

// Frees a core and all its storage. Null is allowed.
//
// # Safety
// The pointer is not used again.
void tessera_machine_destroy(struct TesseraMachine *machine);

// Allocates automatic storage for a tile in the memory of its location; its contents are undefined.
enum TesseraStatus tessera_storage_alloc(struct TesseraMachine *machine,
                                         const struct TesseraTile *tile,
                                         uint64_t *handle);

// Allocates automatic storage for a conv tile.
enum TesseraStatus tessera_storage_alloc_conv(struct TesseraMachine *machine,
                                              const struct TesseraConv *tile,
                                              uint64_t *handle);

// Frees automatic storage. Tiles that name it are refused from then on.
enum TesseraStatus tessera_storage_free(struct TesseraMachine *machine, uint64_t handle);

// Says that the caller writes to a tile's declared bytes through a pointer: they are defined from then on, whatever
// instructions do to them.
enum TesseraStatus tessera_expose(struct TesseraMachine *machine, const struct TesseraTile *tile);

// The same for a conv tile.
enum TesseraStatus tessera_expose_conv(struct TesseraMachine *machine, const struct TesseraConv *tile);

// Fills the memories of all locations, and automatic storage, with zeros, which are defined.
enum TesseraStatus tessera_machine_clear(struct TesseraMachine *machine);

// Begins anew on a profile: contents, configuration and automatic storage are gone, and memories stay at their addresses.
enum TesseraStatus tessera_machine_reset(struct TesseraMachine *machine,
                                         uint32_t profile);

// TASSIGN: may the tile lie where its descriptor says? Nothing is changed.
enum TesseraStatus tessera_assign(struct TesseraMachine *machine, const struct TesseraTile *tile);

// TASSIGN of a conv tile.
enum TesseraStatus tessera_assign_conv(struct TesseraMachine *machine, const struct TesseraConv *tile);

// Checks and executes one instruction. What happens to descriptors is the caller's business: after TRESHAPE on a2a3 and
// a5, TFILLPAD_INPLACE and TSUBVIEW the destination is a view of the source, and TFILLPAD_EXPAND makes a dynamic valid
// region the whole declared area.
enum TesseraStatus tessera_issue(struct TesseraMachine *machine, const struct TesseraInst *inst);

// Checks an instruction that reads one element of a tile as a scalar (TGETVAL), and gives the element; `len` is its size
// in bytes.
//
// # Safety
// `value` has room for `len` bytes.
enum TesseraStatus tessera_get(struct TesseraMachine *machine,
                               const struct TesseraInst *inst,
                               void *value,
                               size_t len);

// Checks and executes one instruction with a view of global memory: TLOAD, TSTORE, TSTORE_FP, TPREFETCH, MGATHER,
// MSCATTER. What is stored without a defined value is written as 0, counted, and reported in a warning.
enum TesseraStatus tessera_transfer(struct TesseraMachine *machine,
                                    const struct TesseraInst *inst,
                                    const struct TesseraView *view);

// TLOAD: the view into the tile's valid region.
enum TesseraStatus tessera_load(struct TesseraMachine *machine,
                                const struct TesseraTile *tile,
                                const struct TesseraView *view);

// TLOAD of a conv tile from a view of the same dimensions.
enum TesseraStatus tessera_load_conv(struct TesseraMachine *machine,
                                     const struct TesseraConv *tile,
                                     const struct TesseraView *view);

// TSTORE: the tile's valid region into the view. Bytes without a defined value are written as 0, counted, and reported
// in a warning.
enum TesseraStatus tessera_store(struct TesseraMachine *machine,
                                 const struct TesseraView *view,
                                 const struct TesseraTile *tile);

// Gives a tile's valid region its contents from a view, whatever location and layout the tile has: how a host puts
// operands where no TLOAD reaches. The padding is left alone.
enum TesseraStatus tessera_host_load(struct TesseraMachine *machine,
                                     const struct TesseraTile *tile,
                                     const struct TesseraView *view);

// Takes a tile's valid region into a view, whatever location and layout the tile has; `core` is the vector core whose
// copy of a Vec tile is meant, 0 or 1. Undefined bytes are treated as in `tessera_store`.
enum TesseraStatus tessera_host_store(struct TesseraMachine *machine,
                                      const struct TesseraView *view,
                                      const struct TesseraTile *tile,
                                      uint32_t core);

// Copies all bytes of a tile's declared area to another tile of as many bytes; what is undefined stays so.
enum TesseraStatus tessera_copy(struct TesseraMachine *machine,
                                const struct TesseraTile *dst,
                                const struct TesseraTile *src);

// Makes the contents of a tile undefined, as those of a new tile are.
enum TesseraStatus tessera_undefine(struct TesseraMachine *machine, const struct TesseraTile *tile);

// How many bytes without a defined value `tessera_store` has written as 0; 0 for null.
uint64_t tessera_undefined_stored(const struct TesseraMachine *machine);

// Reads the bytes of a tile's declared area as they lie in memory; `len` is their number. Undefined bytes read as 0.
//
// # Safety
// `bytes` has room for `len` bytes.
enum TesseraStatus tessera_read(struct TesseraMachine *machine,
                                const struct TesseraTile *tile,
                                void *bytes,
                                size_t len);

// Writes the bytes of a tile's declared area as they lie in memory; `len` is their number.
//
// # Safety
// `bytes` are `len` bytes.
enum TesseraStatus tessera_write(struct TesseraMachine *machine,
                                 const struct TesseraTile *tile,
                                 const void *bytes,
                                 size_t len);

// Reads one element of a tile's declared area; `len` is its size in bytes. An undefined one reads as 0.
//
// # Safety
// `value` has room for `len` bytes.
enum TesseraStatus tessera_read_element(struct TesseraMachine *machine,
                                        const struct TesseraTile *tile,
                                        int64_t row,
                                        int64_t col,
                                        void *value,
                                        size_t len);

// Reads element (0, 0) of a tile as the scalar of an instruction; `len` is its size in bytes. An undefined one is
// refused.
//
// # Safety
// `value` has room for `len` bytes.
enum TesseraStatus tessera_read_scalar(struct TesseraMachine *machine,
                                       const struct TesseraTile *tile,
                                       void *value,
                                       size_t len);

// Writes one element of a tile's declared area; `len` is its size in bytes.
//
// # Safety
// `value` are `len` bytes.
enum TesseraStatus tessera_write_element(struct TesseraMachine *machine,
                                         const struct TesseraTile *tile,
                                         int64_t row,
                                         int64_t col,
                                         const void *value,
                                         size_t len);

// How many findings the last call left: errors if it failed, warnings if not. 0 for null.
uint32_t tessera_diagnostic_count(const struct TesseraMachine *machine);

// One finding of the last call.
enum TesseraStatus tessera_diagnostic(const struct TesseraMachine *machine,
                                      uint32_t index,
                                      struct TesseraDiagnostic *diagnostic);

// Issues an instruction again that was issued with these words; `data` is that of its view, which is otherwise the same, or null.
// `TESSERA_STATUS_ARGUMENT`: it has to be issued in full, because the words mean nothing any more, or because something is to be said
// about it. A view may have been stored to before; in full it comes to the same.
enum TesseraStatus tessera_reissue(struct TesseraMachine *machine,
                                   const uint64_t *words,
                                   uint32_t count,
                                   void *data);

// The address of automatic storage on the host; it stays there until it is freed.
enum TesseraStatus tessera_storage_data(struct TesseraMachine *machine, uint64_t handle, void **data);

// The address of a location's memory on the host: a tile at address a lies a bytes behind it, as long as the machine
// lives. New memory reads as 0.
enum TesseraStatus tessera_memory_base(struct TesseraMachine *machine, uint32_t loc, void **data);

// Is it an address of the machine's memories or automatic storage? 0 for null.
uint32_t tessera_contains(const struct TesseraMachine *machine, size_t address);

// How many bytes a location's memory can have at its address; 0 for null and before the address was asked for.
uint64_t tessera_memory_room(const struct TesseraMachine *machine, uint32_t loc);

// Says that `size` bytes from `data` on are one buffer, so that views of it that leave it are refused; 0 forgets it. For
// all machines and threads.
void tessera_register_buffer(const void *data,
                             size_t size);

// Copies `extent` rows and columns from (src_at[0], src_at[1]) on to the first ones of `dst`. What is undefined stays so; where it
// is copied to memory of the caller's own it is written as 0, counted, and reported in a warning.
//
// # Safety
// As in `calls`; the arrays' elements are memory of the machine or of the caller.
enum TesseraStatus tessera_copy_matrix(struct TesseraMachine *machine,
                                       const struct TesseraMatrix *dst,
                                       const struct TesseraMatrix *src,
                                       const uint64_t (*src_at)[2],
                                       const uint64_t (*extent)[2]);

// The value of an element's bits.
enum TesseraStatus tessera_decode(uint32_t elem, uint64_t bits, double *value);

// One operation on floats of a type as programs compute it; operands that it does not have do not count.
enum TesseraStatus tessera_float(uint32_t op, uint32_t elem, double a, double b, double c, double *result);

// The bits of the element nearest to a value; beyond the largest one it is that one, infinities stay where there are.
enum TesseraStatus tessera_encode(uint32_t elem, double value, uint64_t *bits);

// Whether the order of calls is judged: 0 no, 1 with warnings, 2 with errors. The byte changes with `tessera_races_set`; at first
// it is what `TESSERA_RACES` (`off`, `warn`, `error`) says in the environment.
const uint8_t *tessera_races_mode(void);

// Says how the order of calls is judged from here on: 0 not at all, 1 with warnings, 2 with errors. Returns what was before.
uint32_t tessera_races_set(uint32_t mode);

// The place of this thread's next call: the intrinsic, the file and the line, the block and the vector core of the thread.
//
// # Safety
// The strings are null or end in NUL, and live as long as the process.
void tessera_races_at(const char *name,
                      const char *file,
                      uint32_t line,
                      uint32_t block,
                      uint32_t subblock);

// An order operation of this thread: `first` and `second` are the numbers of its pipes in C++, `mode` is that of a token; what it
// does not have is `UINT32_MAX`. `kind` is the kind of core: 1 the cube core, 2 a vector core, 3 both in one, 0 unknown.
void tessera_races_order(uint32_t op,
                         uint32_t kind,
                         uint32_t first,
                         uint32_t second,
                         uint32_t mode,
                         int64_t id);

// This thread pushes into a FIFO (`part` 0), pops from it (1), frees a slot (2) or takes one to fill it (3). Without a tile other
// instructions fill or read the slot where it lies.
void tessera_races_move(struct TesseraMachine *machine,
                        const struct TesseraFifo *fifo,
                        uint32_t part,
                        const struct TesseraTile *tile);

// An event of this thread, by a number that tells it from others: it is recorded behind the instruction before (`what` 0), the
// next instruction waits for it (1), or everything that comes later (2).
void tessera_races_event(uint64_t number,
                         uint32_t what);

// The kernel that this thread runs ends here.
void tessera_races_end(void);

// The program ends: everything that was judged is told.
void tessera_races_finish(void);

// Keeps another finding of the program beside those about order: its rule, 1 for an error and 0 for a warning, its text (the message, then
// notes and help, a line each), the intrinsic and the place.
//
// # Safety
// The strings are null or end in NUL.
void tessera_findings_add(const char *rule,
                          uint32_t is_error,
                          const char *text,
                          const char *name,
                          const char *file,
                          uint32_t line);

// How many findings about the order of calls there are.
uint32_t tessera_races_count(void);

// The n-th of them.
//
// # Safety
// `race` is null or has room for one.
enum TesseraStatus tessera_races_found(uint32_t n, struct TesseraRace *race);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TESSERA_H */
