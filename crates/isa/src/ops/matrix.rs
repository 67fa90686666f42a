//! Matrix products (isa/matrix.md).

use super::*;
use crate::elem::Elem::{self, *};

const TILES: &[Role] = &[Role::A, Role::B, Role::Dst];
const TRIPLES: &[&[Elem]] = &[&[I8, I8, I32], &[F16, F16, F32], &[Bf16, Bf16, F32], &[F32, F32, F32]];
const TRIPLES_A5: &[&[Elem]] = &[
    &[I8, I8, I32],
    &[F16, F16, F32],
    &[Bf16, Bf16, F32],
    &[F32, F32, F32],
    &[F8e4m3, F8e4m3, F32],
    &[F8e4m3, F8e5m2, F32],
    &[F8e5m2, F8e4m3, F32],
    &[F8e5m2, F8e5m2, F32],
    &[Hif8, Hif8, F32],
];
const ZN_512: Lay = Lay::Exactly(LayoutName::Zn, 512);

macro_rules! product {
    ($on:ident $triples:expr, $layouts:expr) => {
        Sig {
            on: Profiles::$on,
            forms: PLAIN,
            locs: &[(Role::A, &[Loc::Left]), (Role::B, &[Loc::Right]), (Role::Dst, &[Loc::Acc])],
            layouts: $layouts,
            types: Types::Rows(TILES, $triples),
            pipe: Pipe::M,
        }
    };
}

family! { after reduce::END;
    Tmatmul => OpInfo {
        mnemonic: "tmatmul",
        cpp: &["TMATMUL"],
        summary: "Matrix product: fresh product.",
        formula: "dst(i,j) = s(K), s(0) = +0, s(k+1) = round(s(k) + a(i,k)*b(k,j)) with one rounding; \
                  M = a.Rv, K = a.Cv, N = b.Cv",
        source: "isa/matrix.md 1",
        family: Family::Matrix,
        forms: &[form!(Plain: A, B => Dst)],
        sigs: &[
            product!(CPU TRIPLES, &[]),
            product!(A2A3 TRIPLES, &[&[(Role::A, Lay::Exactly(LayoutName::Zz, 512)), (Role::B, ZN_512), (Role::Dst, NZ)]]),
            product!(A5 TRIPLES_A5, &[&[(Role::A, NZ_512), (Role::B, ZN_512), (Role::Dst, NZ)]]),
        ],
        ids: ids!("tmatmul"),
        rules: rules! {
            ALL Signature "tmatmul-loc"; NPU Signature "tmatmul-layout"; ALL Signature "tmatmul-dtype";
            ALL ContractValid "tmatmul-valid"; ALL ContractShape "tmatmul-shape"; NPU ContractRange "tmatmul-range";
        },
        pipe: Pipe::M,
        sem: Sem::Contract { a: Role::A, b: Role::B, plus: None },
        examples: &[
            (Role::A, "!pto.tile<loc=left, f16, 16, 32>"),
            (Role::B, "!pto.tile<loc=right, f16, 32, 16>"),
            (Role::Dst, "!pto.tile<loc=acc, f32, 16, 16>"),
        ],
        ..LAYOUT
    };
}
