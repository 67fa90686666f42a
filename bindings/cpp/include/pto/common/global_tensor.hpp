// Views of the program's own memory (tile-model.md 7).

#ifndef PTO_COMMON_GLOBAL_TENSOR_HPP
#define PTO_COMMON_GLOBAL_TENSOR_HPP

#include <pto/common/error.hpp>
#include <pto/common/type.hpp>

namespace pto {
namespace model {

// One to five numbers, outermost dimension first; -1 is given when the object is made.
template <int64_t... Ds>
class Dims {
    static_assert(sizeof...(Ds) >= 1 && sizeof...(Ds) <= 5, "gm-bounds: a view has one to five dimensions");

public:
    static constexpr int Count = sizeof...(Ds);
    static constexpr int Dynamic = ((Ds == -1 ? 1 : 0) + ...);

    // All numbers are static.
    Dims() = default;

    // The dynamic numbers only, or all of them.
    template <typename... Ns, std::enable_if_t<(sizeof...(Ns) > 0) && (std::is_integral_v<Ns> && ...), int> = 0>
    explicit Dims(Ns... numbers)
    {
        static_assert(sizeof...(Ns) == Dynamic || sizeof...(Ns) == Count,
                      "gm-bounds: give the dynamic extents or strides of the view, or all of them");
        const int64_t given[] = {static_cast<int64_t>(numbers)...};
        for (int i = 0, from = 0; i < Count; ++i) {
            const bool taken = sizeof...(Ns) == Count || kStatic[i] == -1;
            const int64_t number = taken ? given[from++] : values_[i];
            if (kStatic[i] != -1 && number != kStatic[i]) {
                Fail("type-mismatch", "dimension " + std::to_string(i) + " is given " + std::to_string(number) +
                                          ", and the type fixes it to " + std::to_string(kStatic[i]));
            }
            values_[i] = number;
        }
    }

    int64_t operator[](int i) const { return values_[i]; }
    static constexpr int64_t Static(int i) { return kStatic[i]; }

private:
    static constexpr int64_t kStatic[] = {Ds...};
    int64_t values_[sizeof...(Ds)] = {Ds...};
};

} // namespace model

template <int64_t... Ds>
struct Shape : model::Dims<Ds...> {
    using model::Dims<Ds...>::Dims;
};

template <int64_t... Ds>
struct Stride : model::Dims<Ds...> {
    using model::Dims<Ds...>::Dims;
};

// A view: pointer, extents, strides in elements, and the tag that says which dimensions are rows and columns.
template <typename T, typename ShapeT, typename StrideT, Layout L = Layout::ND>
class GlobalTensor {
    static_assert(model::ElemOf<std::remove_const_t<T>>::known, "tile-dtype: this is no element type of the tile model");
    static_assert(ShapeT::Count == StrideT::Count, "gm-bounds: a view has as many strides as extents");
    static_assert(L == Layout::ND || L == Layout::DN || L == Layout::NZ, "tload-layout: a view is ND, DN or NZ");

public:
    using DType = std::remove_const_t<T>;
    static constexpr Layout Format = L;
    static constexpr bool IsConst = std::is_const_v<T>;
    static constexpr int DimCount = ShapeT::Count;

    explicit GlobalTensor(T *data, ShapeT shape = ShapeT(), StrideT stride = StrideT())
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
    GlobalTensor<T, NewShapeT, StrideT, L> Partition(NewShapeT sizes, const int64_t (&offsets)[ShapeT::Count]) const
    {
        static_assert(NewShapeT::Count == ShapeT::Count, "gm-bounds: a window has as many dimensions as its view");
        int64_t start = 0;
        for (int i = 0; i < DimCount; ++i) {
            if (offsets[i] < 0 || sizes[i] < 0 || offsets[i] > shape_[i] || sizes[i] > shape_[i] - offsets[i]) {
                model::Fail("gm-bounds", std::to_string(sizes[i]) + " elements from " + std::to_string(offsets[i]) +
                                             " on leave dimension " + std::to_string(i) + " of the view, which has " +
                                             std::to_string(shape_[i]));
            }
            start += offsets[i] * stride_[i];
        }
        constexpr int perByte = model::ElemOf<DType>::bits == 4 ? 2 : 1;
        if (start % perByte != 0) {
            model::Fail("tile-fp4", "the window starts at element " + std::to_string(start) +
                                        ", and two elements share a byte");
        }
        GlobalTensor<T, NewShapeT, StrideT, L> window(data_ + start / perByte, sizes, stride_);
        return window.SetExtent(extent_ < 0 ? -1 : extent_ - start);
    }

    T *data() const { return data_; }
    int64_t GetShape(int i) const { return shape_[i]; }
    int64_t GetStride(int i) const { return stride_[i]; }

    TesseraView Describe() const
    {
        TesseraView view{};
        // The library writes through the pointer in TSTORE only, which does not take a const tensor.
        view.data = const_cast<DType *>(data_);
        view.elem = static_cast<uint32_t>(model::ElemOf<DType>::tag);
        view.layout = static_cast<uint32_t>(L);
        view.dims = static_cast<uint32_t>(DimCount);
        for (int i = 0; i < DimCount; ++i) {
            view.shape[i] = shape_[i];
            view.stride[i] = stride_[i];
        }
        view.extent = extent_;
        return view;
    }

private:
    T *data_;
    ShapeT shape_;
    StrideT stride_;
    int64_t extent_ = -1;
};

} // namespace pto

#endif
