//! The layout of a view of global memory: as it is written, or as its strides and the tile that it meets say
//! (isa/structure.md 8).

use super::{GlobalArg, ViewTag};
use crate::elem::Elem;
use crate::tile::{LayoutName, Tile};

/// The layout that a view has where it meets a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViewTags {
    is_written: bool,
    /// The layout for an NZ tile, for a DN tile, and for any other.
    tags: [ViewTag; 3],
}

impl ViewTags {
    /// The tags of a view of which nothing is known.
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
        if dims.len() == 1 {
            // One row, or one column of a DN tile.
            return ViewTags { tags: [ViewTag::Nd, ViewTag::Dn, ViewTag::Nd], ..Self::ND };
        }
        let at = |back: usize| dims.len().checked_sub(back);
        let dim = |back: usize| *dims.get(at(back)?)?;
        let stride = |back: usize| u64::try_from((*strides.get(at(back)?)?)?).ok();
        let (e4, s4, e3, s3) = (dim(1), stride(1), dim(2), stride(2));
        // The stride of an extent that is 1 does not count, and a number that is not known is large enough
        // (isa/today.md 3).
        let is_dense = |extent: Option<u64>, stride: Option<u64>| extent == Some(1) || stride == Some(1);
        let is_apart = |extent: Option<u64>, stride: Option<u64>, other: Option<u64>| {
            extent == Some(1) || stride.zip(other).is_none_or(|(stride, other)| stride >= other)
        };
        let (nd, dn) = (is_dense(e4, s4) && is_apart(e3, s3, e4), is_dense(e3, s3) && is_apart(e4, s4, e3));
        let mut tags = match (nd, dn) {
            (false, true) => [ViewTag::Dn; 3],
            (true, true) => [ViewTag::Nd, ViewTag::Dn, ViewTag::Nd],
            _ => [ViewTag::Nd; 3],
        };
        let boxed = e3 == Some(16) || e3 == Some(1) && dim(3).is_some() && stride(3) == e4;
        if dims.len() == 5 && s4 == Some(1) && s3 == e4 && e4.is_some_and(|e4| elem.bytes_of(e4) == 32) && boxed {
            tags[0] = ViewTag::Nz;
        }
        ViewTags { is_written: false, tags }
    }

    /// Whether the last two strides imply another layout than this written one (`view-layout`).
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
