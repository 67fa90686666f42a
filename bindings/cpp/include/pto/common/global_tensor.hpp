// Views of the program's own memory (tile-model.md 7, cpp.md 5).

#ifndef PTO_COMMON_GLOBAL_TENSOR_HPP
#define PTO_COMMON_GLOBAL_TENSOR_HPP

#include <pto/common/error.hpp>
#include <pto/common/type.hpp>

namespace pto {
namespace pto_model {

// Five numbers, outermost dimension first, of which the last `rank` count.
struct Five {
    int64_t numbers[5];
    int rank;
};

// What a list of template arguments says of them; -1 is given when an object is made. Fewer than five may also mean a view
// of as many dimensions: then only the dynamic ones among them, or as many as there are, are given.
template <int64_t... Ds>
struct Dims {
    static_assert(sizeof...(Ds) <= 5, "gm-bounds: a view has at most five dimensions");

    static constexpr int Given = sizeof...(Ds);
    static constexpr int Count = Given == 0 ? 5 : Given;
    static constexpr int Dynamic = ((Ds == -1 ? 1 : 0) + ... + (5 - Given));

    static constexpr int64_t Static(int i)
    {
        constexpr int64_t given[6] = {Ds...};
        return i < Given ? given[i] : -1;
    }
    static constexpr Five Default()
    {
        Five five{{1, 1, 1, 1, 1}, Count};
        for (int i = 0; i < Count; ++i) {
            const bool isOpen = Static(i) == -1 && Count == 5;
            five.numbers[5 - Count + i] = isOpen ? 1 : Static(i);
        }
        return five;
    }
    template <int kNumbers>
    static constexpr Five From(const int64_t (&given)[kNumbers])
    {
        constexpr bool isShort = Count < 5 && kNumbers != 5 && kNumbers != Dynamic;
        constexpr int rank = isShort ? Count : 5;
        static_assert(kNumbers == rank || kNumbers == Dynamic - (5 - rank),
                      "gm-bounds: give the dynamic extents or strides of the view, or all of them");
        Five five{{1, 1, 1, 1, 1}, rank};
        for (int i = 0, from = 0; i < rank; ++i) {
            const bool isDynamic = Static(i) == -1;
            five.numbers[5 - rank + i] = isDynamic ? given[from] : Static(i);
            from += isDynamic || kNumbers == rank ? 1 : 0;
        }
        return five;
    }
};

template <typename... Ns>
using IfNumbers = std::enable_if_t<(sizeof...(Ns) > 0) && (std::is_convertible_v<Ns, int64_t> && ...), int>;

} // namespace pto_model

#define PTO_FIVE(Name, field, fixed)                                                                                     \
    template <int64_t... Ds>                                                                                             \
    struct Name : pto_model::Dims<Ds...> {                                                                                   \
        using Base = pto_model::Dims<Ds...>;                                                                                 \
        static constexpr int64_t fixed[5] = {Base::Static(0), Base::Static(1), Base::Static(2), Base::Static(3),         \
                                             Base::Static(4)};                                                           \
        int64_t field[5];                                                                                                \
        int rank;                                                                                                        \
                                                                                                                         \
        constexpr Name() : Name(Base::Default()) {}                                                                      \
        template <typename... Ns, pto_model::IfNumbers<Ns...> = 0>                                                           \
        constexpr Name(Ns... numbers) : Name(Base::From({static_cast<int64_t>(numbers)...}))                             \
        {}                                                                                                               \
        constexpr int64_t operator[](int i) const { return field[5 - rank + i]; }                                        \
                                                                                                                         \
    private:                                                                                                             \
        constexpr explicit Name(const pto_model::Five &five) : field{}, rank(five.rank)                                      \
        {                                                                                                                \
            for (int i = 0; i < 5; ++i) {                                                                                \
                field[i] = five.numbers[i];                                                                              \
            }                                                                                                            \
        }                                                                                                                \
    };                                                                                                                   \
    template <typename... Ns>                                                                                            \
    Name(Ns...)->Name<(static_cast<void>(sizeof(Ns)), int64_t{-1})...>

// Extents and distances in elements. Those that the type fixes stay, whatever is given.
PTO_FIVE(Shape, shape, staticShape);
PTO_FIVE(Stride, stride, staticStride);
#undef PTO_FIVE

// A view: pointer, extents, strides in elements, and the tag that says which dimensions are rows and columns.
template <typename T, typename ShapeT, typename StrideT, Layout Tag = Layout::ND>
class GlobalTensor {
    static_assert(pto_model::ElemOf<std::remove_cv_t<T>>::known, "tile-dtype: this is no element type of the tile model");
    static_assert(ShapeT::Count == StrideT::Count, "gm-bounds: a view has as many strides as extents");

public:
    using Shape = ShapeT;
    using Stride = StrideT;
    using RawDType = std::remove_cv_t<T>;
    using DType = RawDType;
    static constexpr Layout layout = Tag;
    static constexpr Layout Format = Tag;
    static constexpr const int64_t (&staticShape)[5] = ShapeT::staticShape;
    static constexpr const int64_t (&staticStride)[5] = StrideT::staticStride;
    static constexpr bool IsConst = std::is_const_v<T>;
    static constexpr int DimCount = ShapeT::Count;

    GlobalTensor() = default;
    explicit GlobalTensor(T *data, const ShapeT &shape = ShapeT(), const StrideT &stride = StrideT())
        : data_(data), shape_(shape), stride_(stride)
    {}

    // How many elements lie from data() on: every access beyond them is then refused (gm-bounds).
    GlobalTensor &SetExtent(int64_t elements)
    {
        extent_ = elements;
        return *this;
    }

    // A window of the view, which lies inside it.
    template <typename NewShapeT>
    GlobalTensor<T, NewShapeT, StrideT, Tag> Partition(NewShapeT sizes, const int64_t (&offsets)[ShapeT::Count]) const
    {
        static_assert(NewShapeT::Count == ShapeT::Count, "gm-bounds: a window has as many dimensions as its view");
        int64_t start = 0;
        for (int i = 0; i < DimCount; ++i) {
            if (offsets[i] < 0 || sizes[i] < 0 || offsets[i] > shape_[i] || sizes[i] > shape_[i] - offsets[i]) {
                pto_model::Fail("gm-bounds", std::to_string(sizes[i]) + " elements from " + std::to_string(offsets[i]) +
                                             " on leave dimension " + std::to_string(i) + " of the view, which has " +
                                             std::to_string(shape_[i]));
            }
            start += offsets[i] * stride_[i];
        }
        constexpr int perByte = pto_model::ElemOf<DType>::bits == 4 ? 2 : 1;
        if (start % perByte != 0) {
            pto_model::Fail("tile-fp4", "the window starts at element " + std::to_string(start) +
                                        ", and two elements share a byte");
        }
        GlobalTensor<T, NewShapeT, StrideT, Tag> window(data_ + start / perByte, sizes, stride_);
        return window.SetExtent(extent_ < 0 ? -1 : extent_ - start);
    }

    T *data() const { return data_; }
    void Rebind(T *data) { data_ = data; }

    // -1 outside.
    int64_t GetShape(int i) const { return i >= 0 && i < shape_.rank ? shape_[i] : -1; }
    int64_t GetStride(int i) const { return i >= 0 && i < stride_.rank ? stride_[i] : -1; }
    template <int d>
    static constexpr int64_t GetShape()
    {
        return ShapeT::staticShape[d];
    }
    template <int d>
    static constexpr int64_t GetStride()
    {
        return StrideT::staticStride[d];
    }
    // The dynamic ones among these dimensions.
    template <int... ds, typename... Ns>
    void SetShape(Ns... numbers)
    {
        static_assert(sizeof...(ds) == sizeof...(Ns), "gm-bounds: give a number for each dimension");
        ((ShapeT::staticShape[ds] == -1 ? void(shape_.shape[ds] = static_cast<int64_t>(numbers)) : void()), ...);
    }
    template <int... ds, typename... Ns>
    void SetStride(Ns... numbers)
    {
        static_assert(sizeof...(ds) == sizeof...(Ns), "gm-bounds: give a number for each dimension");
        ((StrideT::staticStride[ds] == -1 ? void(stride_.stride[ds] = static_cast<int64_t>(numbers)) : void()), ...);
    }

    // One element, by its offset from data() or by five indices. Adding is atomic between threads.
    template <typename... Is>
    RawDType GetElement(Is... at) const
    {
        return GetProperDataPart(data_, Offset(at...));
    }
    void SetElement(int64_t offset, RawDType value) { SetProperDataPart(data_, static_cast<std::size_t>(offset), value); }
    void SetElement(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, RawDType value)
    {
        SetProperDataPart(data_, Offset(a, b, c, d, e), value);
    }
    void AddToElement(int64_t offset, RawDType value)
    {
        pto_model::AtomicAdd(data_, static_cast<std::size_t>(offset), value);
    }
    void AddToElement(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, RawDType value)
    {
        pto_model::AtomicAdd(data_, Offset(a, b, c, d, e), value);
    }

    TesseraView Describe() const
    {
        TesseraView view{};
        // The library writes through the pointer in TSTORE only, which does not take a const tensor.
        view.data = const_cast<DType *>(data_);
        view.elem = static_cast<uint32_t>(pto_model::ElemOf<DType>::tag);
        view.layout = static_cast<uint32_t>(Tag);
        view.dims = static_cast<uint32_t>(shape_.rank);
        for (int i = 0; i < shape_.rank; ++i) {
            view.shape[i] = shape_[i];
            view.stride[i] = stride_.stride[5 - shape_.rank + i];
        }
        view.extent = extent_;
        return view;
    }

private:
    std::size_t Offset(int64_t offset) const { return static_cast<std::size_t>(offset); }
    std::size_t Offset(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) const
    {
        const int64_t(&s)[5] = stride_.stride;
        return static_cast<std::size_t>(a * s[0] + b * s[1] + c * s[2] + d * s[3] + e * s[4]);
    }

    T *data_ = nullptr;
    ShapeT shape_;
    StrideT stride_;
    int64_t extent_ = -1;
};

namespace pto_model {

constexpr int64_t kOpen = -1;

// The five numbers that a matrix of R × C elements has in a layout (cpp.md 5); what depends on an open one is open.
template <typename T>
struct Matrix {
    int64_t rows;
    int64_t cols;
    Layout layout;

    static constexpr int64_t Div(int64_t a, int64_t b) { return a < 0 ? kOpen : a / b; }
    static constexpr int64_t Mul(int64_t a, int64_t b) { return a < 0 || b < 0 ? kOpen : a * b; }

    constexpr Five ShapeOf() const
    {
        constexpr int64_t c0 = 32 / static_cast<int64_t>(sizeof(T));
        switch (layout) {
            case Layout::NZ: return {{1, Div(cols, c0), Div(rows, 16), 16, c0}, 5};
            case Layout::MX_A_ZZ: return {{1, Div(rows, 16), Div(cols, 2), 16, 2}, 5};
            case Layout::MX_A_ND: return {{1, 1, rows, Div(cols, 2), 2}, 5};
            case Layout::MX_A_DN: return {{1, 1, Div(cols, 2), rows, 2}, 5};
            case Layout::MX_B_NN: return {{1, Div(cols, 16), Div(rows, 2), 16, 2}, 5};
            case Layout::MX_B_ND: return {{1, 1, Div(rows, 2), cols, 2}, 5};
            case Layout::MX_B_DN: return {{1, 1, cols, Div(rows, 2), 2}, 5};
            case Layout::HIF4_A_ZZ: return {{1, Div(rows, 16), cols, 16, 4}, 5};
            case Layout::HIF4_B_NN: return {{1, Div(cols, 16), rows, 16, 4}, 5};
            default: return {{1, 1, 1, rows, cols}, 5};
        }
    }
    constexpr Five StrideOf() const
    {
        constexpr int64_t c0 = 32 / static_cast<int64_t>(sizeof(T));
        const int64_t all = Mul(rows, cols);
        switch (layout) {
            case Layout::DN: return {{all, all, all, 1, rows}, 5};
            case Layout::NZ: return {{all, Mul(rows, c0), 16 * c0, c0, 1}, 5};
            case Layout::MX_A_ZZ: return {{all, Mul(16, cols), 32, 2, 1}, 5};
            case Layout::MX_A_ND: return {{all, all, cols, 2, 1}, 5};
            case Layout::MX_A_DN: return {{all, all, Mul(2, rows), 2, 1}, 5};
            case Layout::MX_B_NN: return {{all, Mul(16, rows), 32, 2, 1}, 5};
            case Layout::MX_B_ND: return {{all, all, Mul(2, cols), 2, 1}, 5};
            case Layout::MX_B_DN: return {{all, all, rows, 2, 1}, 5};
            case Layout::HIF4_A_ZZ: return {{all, Mul(16, cols), 64, 4, 1}, 5};
            case Layout::HIF4_B_NN: return {{all, Mul(16, rows), 64, 4, 1}, 5};
            default: return {{all, all, all, cols, 1}, 5};
        }
    }
};

template <typename T, int64_t Rows, int64_t Cols, Layout Tag, int i>
inline constexpr int64_t kShapeOf = Matrix<T>{Rows, Cols, Tag}.ShapeOf().numbers[i];
template <typename T, int64_t Rows, int64_t Cols, Layout Tag, int i>
inline constexpr int64_t kStrideOf = Matrix<T>{Rows, Cols, Tag}.StrideOf().numbers[i];

} // namespace pto_model

#define PTO_MATRIX(Name, Base, field, of, Of)                                                                              \
    template <typename T, int64_t Rows = -1, int64_t Cols = -1, Layout Tag = Layout::ND>                                   \
    struct Name : Base<pto_model::of<T, Rows, Cols, Tag, 0>, pto_model::of<T, Rows, Cols, Tag, 1>, pto_model::of<T, Rows, Cols, Tag, 2>,   \
                       pto_model::of<T, Rows, Cols, Tag, 3>, pto_model::of<T, Rows, Cols, Tag, 4>> {                                 \
        constexpr Name() : Name(Rows < 0 ? 1 : Rows, Cols < 0 ? 1 : Cols) {}                                             \
        constexpr Name(int64_t rows, int64_t cols)                                                                       \
        {                                                                                                                \
            const pto_model::Matrix<T> given{Rows < 0 ? rows : Rows, Cols < 0 ? cols : Cols, Tag};                             \
            for (int i = 0; i < 5; ++i) {                                                                                \
                this->field[i] = given.Of().numbers[i];                                                                 \
            }                                                                                                            \
        }                                                                                                                \
    }

// Extents and strides of a matrix in global memory, from its rows and columns.
PTO_MATRIX(TileShape2D, Shape, shape, kShapeOf, ShapeOf);
PTO_MATRIX(BaseShape2D, Stride, stride, kStrideOf, StrideOf);
#undef PTO_MATRIX

} // namespace pto

#endif
