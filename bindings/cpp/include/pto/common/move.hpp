// TMOV, TEXTRACT and TINSERT with their _FP forms (ops.md 2 and 3, fixpipe.md, cpp.md 6.3).

#ifndef PTO_COMMON_MOVE_HPP
#define PTO_COMMON_MOVE_HPP

#include <pto/common/arguments.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

template <typename Fp>
constexpr void CheckFp()
{
    PTO_STATIC_RULE(Fp::Loc == TileType::Scaling || (kProfile == Profile::Cpu && Fp::Loc == TileType::Mat),
                    "fp-operand: fp is a tile of TileType::Scaling");
}

template <typename Dst, typename Src>
constexpr void CheckInsert()
{
    PTO_STATIC_RULE(kProfile != Profile::A5 || Src::Loc != TileType::Vec || Dst::Loc != TileType::Vec ||
                        !Src::Info.IsNz() || Src::Cols <= Dst::Cols,
                    "tinsert-cols: source cols do not exceed destination cols");
}

// Is it a tile of quantization parameters, and not scratch?
template <typename T>
inline constexpr bool IsScaling = LiesIn<T>(1u << TESSERA_LOC_SCALING);

} // namespace pto_detail

// One form with its modes: ReLU, the vector cores that are written, and both again behind a phase. Template parameters and
// their names, the condition, parameters with and without defaults, their names; what is checked; the operands of the call.
#define PTO_MOVE_RELU(name, op, types, given, exists, defaulted, parameters, arguments, check, operands)                 \
    PTO_INTRINSIC_OR(name, (PTO_LIST types, ReluPreMode relu = ReluPreMode::NoRelu), (PTO_LIST given, relu), exists,     \
                     defaulted, parameters, arguments,                                                                   \
                     PTO_LIST check pto_detail::Call(op, #name, where) operands.Relu(relu).Issue();)
#define PTO_MOVE_MODE(name, op, types, given, exists, parameters, arguments, check, operands)                            \
    PTO_INTRINSIC(name, (PTO_LIST types, AccToVecMode mode, ReluPreMode relu = ReluPreMode::NoRelu),                     \
                  (PTO_LIST given, mode, relu), exists, parameters, arguments,                                           \
                  PTO_LIST check pto_detail::Call(op, #name, where) operands.Mode(mode).Relu(relu).Issue();)
#define PTO_MOVE_OR(name, op, types, given, exists, defaulted, parameters, arguments, check, operands)                   \
    PTO_MOVE_RELU(name, op, types, given, exists, defaulted, parameters, arguments, check, operands)                     \
    PTO_MOVE_MODE(name, op, types, given, exists, parameters, arguments, check, operands)
#define PTO_MOVE(name, op, types, given, exists, parameters, arguments, check, operands)                                 \
    PTO_MOVE_OR(name, op, types, given, exists, parameters, parameters, arguments, check, operands)
#define PTO_MOVE_PHASES(name, op, types, given, exists, parameters, arguments, check, operands)                          \
    PTO_MOVE(name, op, types, given, exists, parameters, arguments, check, operands)                                     \
    PTO_MOVE(name, op, (STPhase phase, PTO_LIST types), (phase, PTO_LIST given), exists, parameters, arguments, check,   \
             operands)

#define PTO_MOVED(name, sigs, form) PTO_STATIC_FLOW(name, sigs, pto_detail::Form::form, Src::Info, Dst::Info);

PTO_MOVE_PHASES(TMOV, TESSERA_OP_TMOV, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTileData<Src>),
                (Dst &dst, Src &src), (dst, src), (PTO_MOVED("tmov", kTmovSigs, Plain)), .Dst(dst).Src(src))
PTO_MOVE_PHASES(TMOV, TESSERA_OP_TMOV, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTileData<Src>),
                (Dst &dst, Src &src, uint64_t preQuantScalar), (dst, src, preQuantScalar),
                (PTO_MOVED("tmov", kTmovSigs, ScalarQuant)), .Dst(dst).Src(src).Quant(preQuantScalar))
PTO_MOVE_RELU(TMOV, TESSERA_OP_TMOV_FP, (typename Dst, typename Src, typename Fp), (Dst, Src, Fp),
              (pto_detail::IsScaling<Fp>), (Dst &dst, Src &src, Fp &fp), (Dst &dst, Src &src, Fp &fp), (dst, src, fp),
              (PTO_MOVED("tmov", kTmovSigs, VectorQuant) pto_detail::CheckFp<Fp>();), .Dst(dst).Src(src).Fp(fp))
PTO_MOVE_MODE(TMOV, TESSERA_OP_TMOV_FP, (typename Dst, typename Src, typename Fp), (Dst, Src, Fp), (pto_detail::IsTile<Fp>),
              (Dst &dst, Src &src, Fp &fp), (dst, src, fp),
              (PTO_MOVED("tmov", kTmovSigs, VectorQuant) pto_detail::CheckFp<Fp>();), .Dst(dst).Src(src).Fp(fp))
PTO_MOVE_MODE(TMOV, TESSERA_OP_TMOV_FP, (STPhase phase, typename Dst, typename Src, typename Fp), (phase, Dst, Src, Fp),
              (pto_detail::IsTile<Fp>), (Dst &dst, Src &src, Fp &fp), (dst, src, fp),
              (PTO_MOVED("tmov", kTmovSigs, VectorQuant) pto_detail::CheckFp<Fp>();), .Dst(dst).Src(src).Fp(fp))

// With scratch, which no profile here needs.
PTO_INTRINSIC(TMOV, (typename Dst, typename Src, typename Tmp), (Dst, Src, Tmp),
              (pto_detail::IsTile<Tmp> && !pto_detail::IsScaling<Tmp>), (Dst &dst, Src &src, [[maybe_unused]] Tmp &tmp), (dst, src, tmp),
              TMOV_IMPL<Dst, Src>(dst, src, where);)
PTO_INTRINSIC(TMOV, (int axis, typename Dst, typename Src, typename Tmp), (axis, Dst, Src, Tmp), (pto_detail::IsTile<Tmp>),
              (Dst &dst, Src &src, [[maybe_unused]] Tmp &tmp), (dst, src, tmp), TMOV_IMPL<Dst, Src>(dst, src, where);)

// With a Scaling tile: vector quantization.
PTO_MOVE_PHASES(TMOV_FP, TESSERA_OP_TMOV_FP, (typename Dst, typename Src, typename Fp), (Dst, Src, Fp),
                (pto_detail::IsTile<Fp>), (Dst &dst, Src &src, Fp &fp), (dst, src, fp),
                (PTO_MOVED("tmov", kTmovSigs, VectorQuant) pto_detail::CheckFp<Fp>();), .Dst(dst).Src(src).Fp(fp))
// With a value: the plain instruction, then the padding of dst becomes the value.
PTO_MOVE(TMOV_FP, TESSERA_OP_TMOV_FP, (typename Dst, typename Src, typename Fill), (Dst, Src, Fill),
         (pto_detail::IsScalar<Fill>), (Dst &dst, Src &src, Fill fp), (dst, src, fp),
         (PTO_MOVED("tmov", kTmovSigs, Fill)), .Dst(dst).Src(src).Scalar(TESSERA_ROLE_FILL, fp))

// TEXTRACT and TINSERT have the same forms, with the place of the window behind the parameter.
#define PTO_WINDOWS(name, sigs, check, usual)                                                                            \
    PTO_MOVE_OR(name, TESSERA_OP_##name, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTileData<Src>),                \
             (Dst &dst, Src &src, int64_t indexRow usual, int64_t indexCol usual),                                       \
             (Dst &dst, Src &src, int64_t indexRow, int64_t indexCol), (dst, src, indexRow, indexCol),                   \
             (PTO_MOVED(PTO_ID_##name, sigs, Plain) check), .Dst(dst).Src(src).At(indexRow, indexCol))                   \
    PTO_MOVE(name, TESSERA_OP_##name, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTileData<Src>),                   \
             (Dst &dst, Src &src, uint64_t preQuantScalar, int64_t indexRow, int64_t indexCol),                          \
             (dst, src, preQuantScalar, indexRow, indexCol), (PTO_MOVED(PTO_ID_##name, sigs, ScalarQuant) check),        \
             .Dst(dst).Src(src).At(indexRow, indexCol).Quant(preQuantScalar))                                            \
    PTO_MOVE_MODE(name, TESSERA_OP_##name##_FP, (typename Dst, typename Src, typename Fp), (Dst, Src, Fp),               \
                  (pto_detail::IsTile<Fp>), (Dst &dst, Src &src, Fp &fp, int64_t indexRow, int64_t indexCol),                \
                  (dst, src, fp, indexRow, indexCol),                                                                    \
                  (PTO_MOVED(PTO_ID_##name, sigs, VectorQuant) check pto_detail::CheckFp<Fp>();),                            \
                  .Dst(dst).Src(src).Fp(fp).At(indexRow, indexCol))                                                      \
    PTO_MOVE(name##_FP, TESSERA_OP_##name##_FP, (typename Dst, typename Src, typename Fp), (Dst, Src, Fp),               \
             (pto_detail::IsTile<Fp>), (Dst &dst, Src &src, Fp &fp, int64_t indexRow, int64_t indexCol),                     \
             (dst, src, fp, indexRow, indexCol),                                                                         \
             (PTO_MOVED(PTO_ID_##name, sigs, VectorQuant) check pto_detail::CheckFp<Fp>();),                                 \
             .Dst(dst).Src(src).Fp(fp).At(indexRow, indexCol))                                                           \
    PTO_MOVE(name##_FP, TESSERA_OP_##name##_FP, (typename Dst, typename Src, typename Fill), (Dst, Src, Fill),           \
             (pto_detail::IsScalar<Fill>), (Dst &dst, Src &src, int64_t indexRow, int64_t indexCol, Fill fp),                \
             (dst, src, indexRow, indexCol, fp), (PTO_MOVED(PTO_ID_##name, sigs, Fill) check),                           \
             .Dst(dst).Src(src).At(indexRow, indexCol).Scalar(TESSERA_ROLE_FILL, fp))
#define PTO_ID_TEXTRACT "textract"
#define PTO_ID_TINSERT "tinsert"
#define PTO_NONE
#define PTO_START = 0
#define PTO_CHECK_INSERT pto_detail::CheckInsert<Dst, Src>();
PTO_WINDOWS(TEXTRACT, kTextractSigs, PTO_NONE, PTO_START)
PTO_WINDOWS(TINSERT, kTinsertSigs, PTO_CHECK_INSERT, PTO_NONE)

// Two windows of one source, dst0 first (ops.md 3.3).
PTO_INTRINSIC_OR(TEXTRACT, (typename Dst0, typename Dst1, typename Src), (Dst0, Dst1, Src), (pto_detail::IsTile<Src>),
              (Dst0 &dst0, Dst1 &dst1, Src &src, int64_t indexRow0 = 0, int64_t indexCol0 = 0, int64_t indexRow1 = 0,
               int64_t indexCol1 = 0),
              (Dst0 &dst0, Dst1 &dst1, Src &src, int64_t indexRow0, int64_t indexCol0, int64_t indexRow1, int64_t indexCol1),
              (dst0, dst1, src, indexRow0, indexCol0, indexRow1, indexCol1),
              PTO_STATIC_FLOW("textract", kTextractSigs, pto_detail::Form::TwoWindows, Src::Info, Dst0::Info);
              PTO_STATIC_FLOW("textract", kTextractSigs, pto_detail::Form::TwoWindows, Src::Info, Dst1::Info);
              pto_detail::Call(TESSERA_OP_TEXTRACT, "TEXTRACT", where)
                  .Tile(TESSERA_ROLE_DST0, dst0)
                  .Tile(TESSERA_ROLE_DST1, dst1)
                  .Src(src)
                  .At(indexRow0, indexCol0)
                  .Scalar(TESSERA_ROLE_ROW1, indexRow1)
                  .Scalar(TESSERA_ROLE_COL1, indexCol1)
                  .Issue();)

// Into two or four groups of column blocks; cpu takes it too and the result is that of the plain form.
PTO_INTRINSIC_OR(TINSERT, (TInsertMode mode, typename Dst, typename Src), (mode, Dst, Src), (pto_detail::IsTile<Src>),
              (Dst &dst, Src &src, int64_t indexRow = 0, int64_t indexCol = 0),
              (Dst &dst, Src &src, int64_t indexRow, int64_t indexCol), (dst, src, indexRow, indexCol),
              PTO_MOVED("tinsert", kTinsertSigs, Plain)
              PTO_STATIC_RULE(kProfile == Profile::Cpu || (Src::Loc == TileType::Vec && Dst::Loc == TileType::Mat),
                              "tinsert-loc: the split form inserts a Vec tile into a Mat tile");
              PTO_STATIC_RULE(kProfile == Profile::Cpu || (Src::Info.IsNz() && Dst::Info.IsNz()),
                              "tinsert-layout: source and destination of the split form are NZ");
              pto_detail::Call(TESSERA_OP_TINSERT, "TINSERT", where).Dst(dst).Src(src).At(indexRow, indexCol).Split(mode).Issue();)

#undef PTO_MOVE_RELU
#undef PTO_MOVE_MODE
#undef PTO_MOVE_OR
#undef PTO_MOVE
#undef PTO_MOVE_PHASES
#undef PTO_MOVED
#undef PTO_WINDOWS
#undef PTO_ID_TEXTRACT
#undef PTO_ID_TINSERT
#undef PTO_NONE
#undef PTO_START
#undef PTO_CHECK_INSERT

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
