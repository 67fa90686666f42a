// TMOV, TEXTRACT and TINSERT with their _FP forms (ops.md 2 and 3, fixpipe.md).

#ifndef PTO_COMMON_MOVE_HPP
#define PTO_COMMON_MOVE_HPP

#include <pto/common/issue.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace detail {

template <typename FpTileData>
constexpr void CheckFp()
{
    PTO_STATIC_RULE(FpTileData::Loc == TileType::Scaling, "fp-operand: fp is a tile of TileType::Scaling");
}

template <typename DstTileData, typename SrcTileData>
constexpr void CheckInsert()
{
    PTO_STATIC_RULE(kProfile != Profile::A5 || SrcTileData::Loc != TileType::Vec || DstTileData::Loc != TileType::Vec ||
                        !SrcTileData::Info.IsNz() || SrcTileData::Cols <= DstTileData::Cols,
                    "tinsert-cols: source cols do not exceed destination cols");
}

} // namespace detail

// TMOV: plain, with relu, with a mode, with a quantization parameter, with a Scaling tile and a mode.
template <typename DstTileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TMOV(DstTileData &dst, SrcTileData &src, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TMOV).Dst(dst).Src(src).Issue();
}

template <typename DstTileData, typename SrcTileData, ReluPreMode reluMode, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TMOV(DstTileData &dst, SrcTileData &src, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TMOV).Dst(dst).Src(src).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TMOV(DstTileData &dst, SrcTileData &src, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TMOV).Dst(dst).Src(src).Mode(mode).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TMOV(DstTileData &dst, SrcTileData &src, uint64_t preQuantScalar, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::ScalarQuant, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TMOV).Dst(dst).Src(src).Quant(preQuantScalar).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TMOV(DstTileData &dst, SrcTileData &src, uint64_t preQuantScalar, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::ScalarQuant, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TMOV).Dst(dst).Src(src).Quant(preQuantScalar).Mode(mode).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FpTileData, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TMOV(DstTileData &dst, SrcTileData &src, FpTileData &fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TMOV_FP).Dst(dst).Src(src).Fp(fp).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FpTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TMOV(DstTileData &dst, SrcTileData &src, FpTileData &fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TMOV_FP).Dst(dst).Src(src).Fp(fp).Mode(mode).Relu(reluMode).Issue();
}

// TMOV_FP with a Scaling tile: vector quantization.
template <typename DstTileData, typename SrcTileData, typename FpTileData, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TMOV_FP(DstTileData &dst, SrcTileData &src, FpTileData &fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TMOV_FP).Dst(dst).Src(src).Fp(fp).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FpTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TMOV_FP(DstTileData &dst, SrcTileData &src, FpTileData &fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TMOV_FP).Dst(dst).Src(src).Fp(fp).Mode(mode).Relu(reluMode).Issue();
}

// TMOV_FP with a value: the plain instruction, then the padding of dst becomes the value.
template <typename DstTileData, typename SrcTileData, typename FillT, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TMOV_FP(DstTileData &dst, SrcTileData &src, FillT fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::Fill, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TMOV_FP).Dst(dst).Src(src).Scalar(TESSERA_ROLE_FILL, fp).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FillT, ReluPreMode reluMode, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TMOV_FP(DstTileData &dst, SrcTileData &src, FillT fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::Fill, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TMOV_FP).Dst(dst).Src(src).Scalar(TESSERA_ROLE_FILL, fp).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FillT, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TMOV_FP(DstTileData &dst, SrcTileData &src, FillT fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tmov", kTmovSigs, detail::Form::Fill, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TMOV_FP).Dst(dst).Src(src).Scalar(TESSERA_ROLE_FILL, fp).Mode(mode).Relu(reluMode).Issue();
}

// TEXTRACT: plain, with relu, with a mode, with a quantization parameter, with a Scaling tile and a mode.
template <typename DstTileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TEXTRACT(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TEXTRACT).Dst(dst).Src(src).At(indexRow, indexCol).Issue();
}

template <typename DstTileData, typename SrcTileData, ReluPreMode reluMode, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TEXTRACT(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TEXTRACT).Dst(dst).Src(src).At(indexRow, indexCol).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TEXTRACT(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TEXTRACT).Dst(dst).Src(src).At(indexRow, indexCol).Mode(mode).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TEXTRACT(DstTileData &dst, SrcTileData &src, uint64_t preQuantScalar, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::ScalarQuant, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TEXTRACT).Dst(dst).Src(src).At(indexRow, indexCol).Quant(preQuantScalar).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TEXTRACT(DstTileData &dst, SrcTileData &src, uint64_t preQuantScalar, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::ScalarQuant, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TEXTRACT).Dst(dst).Src(src).At(indexRow, indexCol).Quant(preQuantScalar).Mode(mode).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FpTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TEXTRACT(DstTileData &dst, SrcTileData &src, FpTileData &fp, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TEXTRACT_FP).Dst(dst).Src(src).Fp(fp).At(indexRow, indexCol).Mode(mode).Relu(reluMode).Issue();
}

// TEXTRACT_FP with a Scaling tile: vector quantization.
template <typename DstTileData, typename SrcTileData, typename FpTileData, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TEXTRACT_FP(DstTileData &dst, SrcTileData &src, FpTileData &fp, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TEXTRACT_FP).Dst(dst).Src(src).Fp(fp).At(indexRow, indexCol).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FpTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TEXTRACT_FP(DstTileData &dst, SrcTileData &src, FpTileData &fp, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TEXTRACT_FP).Dst(dst).Src(src).Fp(fp).At(indexRow, indexCol).Mode(mode).Relu(reluMode).Issue();
}

// TEXTRACT_FP with a value: the plain instruction, then the padding of dst becomes the value.
template <typename DstTileData, typename SrcTileData, typename FillT, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TEXTRACT_FP(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, FillT fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::Fill, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TEXTRACT_FP).Dst(dst).Src(src).At(indexRow, indexCol).Scalar(TESSERA_ROLE_FILL, fp).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FillT, ReluPreMode reluMode, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TEXTRACT_FP(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, FillT fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::Fill, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TEXTRACT_FP).Dst(dst).Src(src).At(indexRow, indexCol).Scalar(TESSERA_ROLE_FILL, fp).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FillT, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TEXTRACT_FP(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, FillT fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::Fill, SrcTileData::Info, DstTileData::Info);
    return detail::Call(TESSERA_OP_TEXTRACT_FP).Dst(dst).Src(src).At(indexRow, indexCol).Scalar(TESSERA_ROLE_FILL, fp).Mode(mode).Relu(reluMode).Issue();
}

// TEXTRACT of two windows of one source, dst0 first (ops.md 3.3).
template <typename Dst0TileData, typename Dst1TileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::TileEventIf<SrcTileData, WaitEvents...> TEXTRACT(Dst0TileData &dst0, Dst1TileData &dst1,
                                                                  SrcTileData &src, int64_t indexRow0,
                                                                  int64_t indexCol0, int64_t indexRow1,
                                                                  int64_t indexCol1, WaitEvents &...)
{
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::TwoWindows, SrcTileData::Info, Dst0TileData::Info);
    PTO_STATIC_FLOW("textract", kTextractSigs, detail::Form::TwoWindows, SrcTileData::Info, Dst1TileData::Info);
    return detail::Call(TESSERA_OP_TEXTRACT)
        .Tile(TESSERA_ROLE_DST0, dst0)
        .Tile(TESSERA_ROLE_DST1, dst1)
        .Src(src)
        .At(indexRow0, indexCol0)
        .Scalar(TESSERA_ROLE_ROW1, indexRow1)
        .Scalar(TESSERA_ROLE_COL1, indexCol1)
        .Issue();
}

// TINSERT: plain, with relu, with a mode, with a quantization parameter, with a Scaling tile and a mode.
template <typename DstTileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TINSERT(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    return detail::Call(TESSERA_OP_TINSERT).Dst(dst).Src(src).At(indexRow, indexCol).Issue();
}

template <typename DstTileData, typename SrcTileData, ReluPreMode reluMode, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TINSERT(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    return detail::Call(TESSERA_OP_TINSERT).Dst(dst).Src(src).At(indexRow, indexCol).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TINSERT(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    return detail::Call(TESSERA_OP_TINSERT).Dst(dst).Src(src).At(indexRow, indexCol).Mode(mode).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TINSERT(DstTileData &dst, SrcTileData &src, uint64_t preQuantScalar, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::ScalarQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    return detail::Call(TESSERA_OP_TINSERT).Dst(dst).Src(src).At(indexRow, indexCol).Quant(preQuantScalar).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TINSERT(DstTileData &dst, SrcTileData &src, uint64_t preQuantScalar, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::ScalarQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    return detail::Call(TESSERA_OP_TINSERT).Dst(dst).Src(src).At(indexRow, indexCol).Quant(preQuantScalar).Mode(mode).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FpTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TINSERT(DstTileData &dst, SrcTileData &src, FpTileData &fp, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TINSERT_FP).Dst(dst).Src(src).Fp(fp).At(indexRow, indexCol).Mode(mode).Relu(reluMode).Issue();
}

// TINSERT_FP with a Scaling tile: vector quantization.
template <typename DstTileData, typename SrcTileData, typename FpTileData, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TINSERT_FP(DstTileData &dst, SrcTileData &src, FpTileData &fp, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TINSERT_FP).Dst(dst).Src(src).Fp(fp).At(indexRow, indexCol).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FpTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::TileEventIf<FpTileData, WaitEvents...> TINSERT_FP(DstTileData &dst, SrcTileData &src, FpTileData &fp, int64_t indexRow, int64_t indexCol, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::VectorQuant, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    detail::CheckFp<FpTileData>();
    return detail::Call(TESSERA_OP_TINSERT_FP).Dst(dst).Src(src).Fp(fp).At(indexRow, indexCol).Mode(mode).Relu(reluMode).Issue();
}

// TINSERT_FP with a value: the plain instruction, then the padding of dst becomes the value.
template <typename DstTileData, typename SrcTileData, typename FillT, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TINSERT_FP(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, FillT fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::Fill, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    return detail::Call(TESSERA_OP_TINSERT_FP).Dst(dst).Src(src).At(indexRow, indexCol).Scalar(TESSERA_ROLE_FILL, fp).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FillT, ReluPreMode reluMode, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TINSERT_FP(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, FillT fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::Fill, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    return detail::Call(TESSERA_OP_TINSERT_FP).Dst(dst).Src(src).At(indexRow, indexCol).Scalar(TESSERA_ROLE_FILL, fp).Relu(reluMode).Issue();
}

template <typename DstTileData, typename SrcTileData, typename FillT, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TINSERT_FP(DstTileData &dst, SrcTileData &src, int64_t indexRow, int64_t indexCol, FillT fp, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::Fill, SrcTileData::Info, DstTileData::Info);
    detail::CheckInsert<DstTileData, SrcTileData>();
    return detail::Call(TESSERA_OP_TINSERT_FP).Dst(dst).Src(src).At(indexRow, indexCol).Scalar(TESSERA_ROLE_FILL, fp).Mode(mode).Relu(reluMode).Issue();
}

// TINSERT in two or four groups of column blocks; cpu takes it too and the result is that of the plain form.
template <TInsertMode mode, typename DstTileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TINSERT(DstTileData &dst, SrcTileData &src, int64_t indexRow = 0,
                                                int64_t indexCol = 0, WaitEvents &...)
{
    PTO_STATIC_FLOW("tinsert", kTinsertSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info);
    PTO_STATIC_RULE(kProfile == Profile::Cpu || (SrcTileData::Loc == TileType::Vec && DstTileData::Loc == TileType::Mat),
                    "tinsert-loc: the split form inserts a Vec tile into a Mat tile");
    PTO_STATIC_RULE(kProfile == Profile::Cpu || (SrcTileData::Info.IsNz() && DstTileData::Info.IsNz()),
                    "tinsert-layout: source and destination of the split form are NZ");
    return detail::Call(TESSERA_OP_TINSERT).Dst(dst).Src(src).At(indexRow, indexCol).Split(mode).Issue();
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
