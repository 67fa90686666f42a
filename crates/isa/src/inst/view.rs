//! The layout of a view of global memory: as it is written, or as its strides and the tile that it meets say
//! (isa/structure.md 8).

use super::{GlobalArg, ViewTag};
use crate::elem::Elem;
use crate::tile::{LayoutName, Tile};

/// The layout that a view has where it meets a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViewTags {
    is_written: bool,
    /// Where it meets an NZ tile, a DN tile, and any other.
    tags: [ViewTag; 3],
}

impl ViewTags {
    /// What nothing is known of.
    pub const ND: ViewTags = ViewTags { is_written: false, tags: [ViewTag::Nd; 3] };

    /// A written tag counts everywhere.
    pub const fn written(tag: ViewTag) -> Self {
        ViewTags { is_written: true, tags: [tag; 3] }
    }

    /// Without a tag: from extents and strides, where they are constant.
    ///
    /// ```
    /// use tessera_isa::elem::Elem;
    /// use tessera_isa::inst::{ViewTag, ViewTags};
    ///
    /// let columns = ViewTags::inferred(Elem::F32, &[Some(16), Some(32)], &[Some(1), Some(16)]);
    /// assert_eq!(columns, ViewTags::inferred(Elem::F32, &[Some(16), Some(32)], &[Some(1), Some(20)]));
    /// assert!(columns.contradicts(ViewTag::Nd));
    /// ```
    pub fn inferred(elem: Elem, dims: &[Option<u64>], strides: &[Option<i64>]) -> Self {
        let at = |back: usize| {
            let n = dims.len().checked_sub(back)?;
            Some(((*dims.get(n)?)?, u64::try_from((*strides.get(n)?)?).ok()?))
        };
        let (e4, s4, e3, s3) = match (at(1), at(2)) {
            (Some((e4, s4)), Some((e3, s3))) => (e4, s4, e3, s3),
            // One row, or one column of a DN tile.
            _ if dims.len() == 1 => return ViewTags { tags: [ViewTag::Nd, ViewTag::Dn, ViewTag::Nd], ..Self::ND },
            _ => return Self::ND,
        };
        let (nd, dn) = (s4 == 1 && s3 >= e4, s3 == 1 && s4 >= e3);
        let mut tags = match (nd, dn) {
            (false, true) => [ViewTag::Dn; 3],
            (true, true) => [ViewTag::Nd, ViewTag::Dn, ViewTag::Nd],
            _ => [ViewTag::Nd; 3],
        };
        let boxed = e3 == 16 || e3 == 1 && at(3).is_some_and(|(_, s2)| s2 == e4);
        if dims.len() == 5 && s4 == 1 && s3 == e4 && elem.bytes_of(e4) == 32 && boxed {
            tags[0] = ViewTag::Nz;
        }
        ViewTags { is_written: false, tags }
    }

    /// Do the last two strides say another layout than this written one (`view-layout`)?
    pub fn contradicts(&self, written: ViewTag) -> bool {
        let [_, dn, other] = self.tags;
        dn == other && matches!((written, other), (ViewTag::Nd, ViewTag::Dn) | (ViewTag::Dn, ViewTag::Nd))
    }

    /// Its bits, for keys.
    pub fn bits(&self) -> u64 {
        self.tags.iter().fold(u64::from(self.is_written), |bits, tag| bits << 2 | *tag as u64)
    }

    /// The layout where it meets a tile.
    pub fn of(&self, tile: &Tile) -> ViewTag {
        let [nz, dn, other] = self.tags;
        match tile.layout_name() {
            LayoutName::Nz => nz,
            LayoutName::Dn => dn,
            _ => other,
        }
    }

    /// The view where it meets a tile; a list of elements is one column of a DN tile that has one.
    pub fn meet(&self, view: &mut GlobalArg, tile: &Tile) {
        view.tag = self.of(tile);
        if self.is_written || view.dims.len() != 1 {
            return;
        }
        if view.tag == ViewTag::Dn && tile.cols == 1 {
            view.dims.push(Some(1));
            view.strides.push(Some(0));
        } else {
            view.tag = ViewTag::Nd;
        }
    }
}
