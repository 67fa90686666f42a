//! Instructions whose data decides where (isa/irregular.md).
//!
//! Generated from the instruction table by the test `generated`; do not edit.

use crate::typed::intrinsic::intrinsics;
use crate::typed::AsTile;

intrinsics! {
    /// `TGATHER(dst, src, idx, tmp)`: Picks elements of src by linear index.
    ///
    /// `k = idx(i,j); dst(i,j) = src(k / src.C, k mod src.C)` (isa/irregular.md 4)
    tgather_tmp[Dst: AsTile, Src: AsTile, Idx: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, idx: read Idx, tmp: write Tmp)
        = Tgather Plain {Src: Src, Idx: Idx, Dst: Dst};

    /// `TGATHER(dst, src, idx)`: Picks elements of src by linear index.
    ///
    /// `k = idx(i,j); dst(i,j) = src(k / src.C, k mod src.C)` (isa/irregular.md 4)
    tgather[Dst: AsTile, Src: AsTile, Idx: AsTile](dst: write Dst, src: read Src, idx: read Idx)
        = Tgather Plain {Src: Src, Idx: Idx, Dst: Dst};
}
