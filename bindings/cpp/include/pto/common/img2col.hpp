// TIMG2COL and the configuration that persists between instructions (ops.md 7).

#ifndef PTO_COMMON_IMG2COL_HPP
#define PTO_COMMON_IMG2COL_HPP

#include <pto/common/issue.hpp>

namespace pto {

enum class SetFmatrixMode : uint32_t { FMATRIX_A_AUTO, FMATRIX_B_AUTO, FMATRIX_A_MANUAL, FMATRIX_B_MANUAL };

inline namespace PTO_PROFILE_NAMESPACE {

// The configuration of a TIMG2COL. What is left at its default is taken from SETFMATRIX and SET_IMG2COL_PADDING.
struct Img2colConfig {
    static constexpr int64_t kUnset = INT64_MIN;

    int64_t kernelH = kUnset;
    int64_t kernelW = kUnset;
    int64_t strideH = 1;
    int64_t strideW = 1;
    int64_t dilationH = 1;
    int64_t dilationW = 1;
    int64_t padLeft = kUnset;
    int64_t padRight = kUnset;
    int64_t padTop = kUnset;
    int64_t padBottom = kUnset;
    int64_t fmapH = kUnset;
    int64_t fmapW = kUnset;
    int64_t posM = 0;
    int64_t posK = 0;

    // What is read outside the image.
    template <typename ValueT>
    Img2colConfig &SetPadValue(ValueT value)
    {
        padValue = pto_detail::MakeScalar(TESSERA_ROLE_FILL, value);
        hasPadValue = true;
        return *this;
    }

    TesseraScalar padValue{};
    bool hasPadValue = false;
};

namespace pto_detail {

inline void Apply(const Img2colConfig &cfg, Call &call)
{
    constexpr int64_t unset = Img2colConfig::kUnset;
    const auto or_ = [](int64_t value, int64_t missing) { return value != unset ? value : missing; };
    const auto two = [&](TesseraAttrName name, int64_t h, int64_t w, int64_t missing) {
        if (h != unset || w != unset) {
            call.Attr(name, or_(h, missing), or_(w, missing));
        }
    };
    two(TESSERA_ATTR_NAME_KERNEL, cfg.kernelH, cfg.kernelW, 0);
    two(TESSERA_ATTR_NAME_STRIDE, cfg.strideH, cfg.strideW, 1);
    two(TESSERA_ATTR_NAME_DILATION, cfg.dilationH, cfg.dilationW, 1);
    two(TESSERA_ATTR_NAME_FMAP, cfg.fmapH, cfg.fmapW, 0);
    if (cfg.padLeft != unset || cfg.padRight != unset || cfg.padTop != unset || cfg.padBottom != unset) {
        call.Attr(TESSERA_ATTR_NAME_PAD, or_(cfg.padLeft, 0), or_(cfg.padRight, 0), or_(cfg.padTop, 0),
                  or_(cfg.padBottom, 0));
    }
    if (cfg.hasPadValue) {
        call.Attr(TESSERA_ATTR_NAME_PAD_VALUE, cfg.padValue);
    }
}

// Kernel, stride, dilation, pads and pad value of a conv tile's fields.
template <typename ConvT>
inline Img2colConfig FieldsOf(const ConvT &conv)
{
    Img2colConfig cfg;
    cfg.kernelH = conv.GetFilterH();
    cfg.kernelW = conv.GetFilterW();
    cfg.strideH = conv.GetStrideH();
    cfg.strideW = conv.GetStrideW();
    cfg.dilationH = conv.GetDilationH();
    cfg.dilationW = conv.GetDilationW();
    cfg.padLeft = conv.GetPadList(0);
    cfg.padRight = conv.GetPadList(1);
    cfg.padTop = conv.GetPadList(2);
    cfg.padBottom = conv.GetPadList(3);
    cfg.SetPadValue(conv.GetPadValue());
    return cfg;
}

template <typename Dst, typename Src>
inline RecordEvent Img2col(Dst &dst, Src &src, const Img2colConfig &cfg, int64_t posM, int64_t posK)
{
    PTO_STATIC_FLOW("timg2col", kTimg2colSigs, Form::Plain, Src::Info, Dst::Info);
    Call call(TESSERA_OP_TIMG2COL);
    call.Dst(dst).Conv(src).Scalar(TESSERA_ROLE_POS_M, posM).Scalar(TESSERA_ROLE_POS_K, posK);
    Apply(cfg, call);
    return call.Issue();
}

// What SET_IMG2COL_KERNEL left for the TIMG2COLs of this thread that bring no configuration of their own.
inline Img2colConfig &CurrentImg2col()
{
    static thread_local Img2colConfig cfg;
    return cfg;
}

} // namespace pto_detail

template <typename TileDst, typename TileSrc, typename Cfg, typename... WaitEvents>
PTO_INST std::enable_if_t<std::is_base_of_v<Img2colConfig, Cfg>, pto_detail::EventIf<WaitEvents...>>
TIMG2COL(TileDst &dst, TileSrc &src, Cfg cfg, WaitEvents &...)
{
    return pto_detail::Img2col(dst, src, cfg, cfg.posM, cfg.posK);
}

// With the conv tile's fields; where SET_IMG2COL_KERNEL set a kernel on this thread, with that and what was configured.
template <typename TileDst, typename TileSrc, SetFmatrixMode = SetFmatrixMode::FMATRIX_A_MANUAL, typename... WaitEvents>
PTO_INST pto_detail::EventIf<WaitEvents...> TIMG2COL(TileDst &dst, TileSrc &src, int64_t posM = 0, int64_t posK = 0,
                                                 WaitEvents &...)
{
    const Img2colConfig &set = pto_detail::CurrentImg2col();
    return pto_detail::Img2col(dst, src, set.kernelH != Img2colConfig::kUnset ? set : pto_detail::FieldsOf(src), posM, posK);
}

// Size of the image and padding of later TIMG2COLs.
PTO_INST RecordEvent SETFMATRIX(int64_t fmapH, int64_t fmapW, int64_t padLeft = 0, int64_t padRight = 0,
                                int64_t padTop = 0, int64_t padBottom = 0)
{
    return pto_detail::Call(TESSERA_OP_SETFMATRIX)
        .Attr(TESSERA_ATTR_NAME_FMAP, fmapH, fmapW)
        .Attr(TESSERA_ATTR_NAME_PAD, padLeft, padRight, padTop, padBottom)
        .Issue();
}

// The parts of a configuration that SETFMATRIX sets.
PTO_INST RecordEvent SETFMATRIX(const Img2colConfig &cfg)
{
    Img2colConfig part;
    part.fmapH = cfg.fmapH;
    part.fmapW = cfg.fmapW;
    part.padLeft = cfg.padLeft;
    part.padRight = cfg.padRight;
    part.padTop = cfg.padTop;
    part.padBottom = cfg.padBottom;
    part.strideH = part.strideW = part.dilationH = part.dilationW = Img2colConfig::kUnset;
    pto_detail::Call call(TESSERA_OP_SETFMATRIX);
    pto_detail::Apply(part, call);
    return call.Issue();
}

// From the fields of a conv tile.
template <typename ConvT, SetFmatrixMode = SetFmatrixMode::FMATRIX_A_MANUAL, typename... WaitEvents>
PTO_INST std::enable_if_t<pto_detail::IsConvTile<ConvT>, pto_detail::EventIf<WaitEvents...>> SETFMATRIX(ConvT &conv, WaitEvents &...)
{
    if (conv.GetFmapH() == 0 || conv.GetFmapW() == 0) {
        pto_detail::Fail("timg2col-fmap", "the conv tile's image has " + std::to_string(conv.GetFmapH()) + " rows and " +
                                            std::to_string(conv.GetFmapW()) +
                                            " columns: set both with SetFmapH and SetFmapW");
        return {};
    }
    return SETFMATRIX(conv.GetFmapH(), conv.GetFmapW(), conv.GetPadList(0), conv.GetPadList(1), conv.GetPadList(2),
                      conv.GetPadList(3));
}

// Kernel, stride and dilation of later TIMG2COLs that are given by position only.
PTO_INST RecordEvent SET_IMG2COL_KERNEL(int64_t kernelH, int64_t kernelW, int64_t strideH = 1, int64_t strideW = 1,
                                        int64_t dilationH = 1, int64_t dilationW = 1)
{
    Img2colConfig &cfg = pto_detail::CurrentImg2col();
    cfg.kernelH = kernelH;
    cfg.kernelW = kernelW;
    cfg.strideH = strideH;
    cfg.strideW = strideW;
    cfg.dilationH = dilationH;
    cfg.dilationW = dilationW;
    return {};
}

// What later TIMG2COLs read outside the image.
template <typename FillT>
PTO_INST pto_detail::ScalarEventIf<FillT> SET_IMG2COL_PADDING(FillT value)
{
    return pto_detail::Call(TESSERA_OP_SET_IMG2COL_PADDING).Scalar(TESSERA_ROLE_FILL, value).Issue();
}

template <typename ConvT, SetFmatrixMode = SetFmatrixMode::FMATRIX_A_MANUAL, typename... WaitEvents>
PTO_INST std::enable_if_t<pto_detail::IsConvTile<ConvT>, pto_detail::EventIf<WaitEvents...>> SET_IMG2COL_PADDING(ConvT &conv,
                                                                                                    WaitEvents &...)
{
    return SET_IMG2COL_PADDING(conv.GetPadValue());
}

// Repetition has no effect here.
template <typename... Arguments>
PTO_INST RecordEvent SET_IMG2COL_RPT(const Arguments &...)
{
    return {};
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
