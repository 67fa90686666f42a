//! Instructions whose data decides the index map (isa/irregular.md). Their routes are computed at every run, and
//! nothing is written before all of them are known.

use crate::definedness::{DefinednessTransfer, TransferMove};
use crate::lower::{Direct, operand};
use smallvec::SmallVec;
use std::borrow::Cow;
use tessera_isa::inst::Inst;
use tessera_isa::sem::{From, Route, Routes, Routing, routes};
use tessera_kernels::memory::{Area, Memories};
use tessera_kernels::nest::{Dim, Nest, read_bits};
use tessera_kernels::{Failure, Place, internal_error};

/// A routed instruction, and the routes of its last run.
#[derive(Clone, Debug)]
pub struct RoutedRun {
    inst: Inst,
    how: Routing,
    direct: Option<Direct>,
    /// Unless it went without.
    routes: Option<Routes>,
}

impl RoutedRun {
    pub fn new(inst: &Inst, how: Routing) -> Self {
        RoutedRun { inst: inst.clone(), how, direct: Direct::new(inst, how), routes: None }
    }

    /// Looks at the data.
    pub fn find(&mut self, memories: &Memories, places: &[Place]) -> Result<Option<Failure>, Failure> {
        if self.direct.as_ref().is_some_and(|direct| direct.is_ready(memories, places)) {
            self.routes = None;
            return Ok(None);
        }
        let routes = self.routes(memories, places)?;
        let warning = routes.warning.clone();
        self.routes = Some(routes);
        Ok(warning.map(|fault| (*fault).into()))
    }

    fn routes(&self, memories: &Memories, places: &[Place]) -> Result<Routes, Failure> {
        let read = |tile: usize, at: i64, len: u64| {
            let (start, memory) = memories.operand(places, operand(tile, 0))?;
            let at = i64::try_from(start).ok()?.checked_add(at)?;
            let is_defined = !memories.tracked || memory.defined().has_all(usize::try_from(at).ok()?, len as usize);
            is_defined.then(|| read_bits(memory.bytes(), at, 8 * len as u32))
        };
        routes(&self.inst, self.how, &read).map_err(|fault| Failure::from(*fault))
    }

    /// The routes of the last run; its sources are unchanged.
    pub fn last(&self, memories: &Memories, places: &[Place]) -> Result<Cow<'_, Routes>, Failure> {
        match &self.routes {
            Some(routes) => Ok(Cow::Borrowed(routes)),
            None => self.routes(memories, places).map(Cow::Owned),
        }
    }

    /// Moves and makes the bytes; returns whether an undefined byte is left.
    pub fn run(&self, memories: &mut Memories, places: &[Place]) -> Result<bool, Failure> {
        let Some(routes) = &self.routes else {
            let done = self.direct.as_ref().and_then(|direct| direct.run(memories, places));
            return done.map(|()| false).ok_or_else(nowhere);
        };
        // Everything is read before anything is written: a partial operation may work in place.
        let mut bytes: Vec<u8> = Vec::new();
        let mut defined: Vec<Defined> = Vec::with_capacity(routes.all.len());
        for route in &routes.all {
            let len = route.len as usize;
            defined.push(match route.from {
                From::Tile(tile, at) => {
                    let (start, memory) = memories.operand(places, operand(tile, 0)).ok_or_else(nowhere)?;
                    let first = usize::try_from(start as i64 + at).map_err(|_| nowhere())?;
                    bytes.extend(memory.bytes().get(first..first + len).ok_or_else(nowhere)?);
                    match memory.defined().has_all(first, len) {
                        true => Defined::All,
                        false => Defined::Some(memory.defined().expand(first, len)),
                    }
                }
                From::Value(bits) => {
                    bytes.extend(&bits.to_le_bytes()[..len]);
                    Defined::All
                }
                From::Undefined => {
                    bytes.resize(bytes.len() + len, 0);
                    Defined::Some(vec![0; len])
                }
            });
        }
        let (tracked, mut left_undefined, mut next) = (memories.tracked, false, 0);
        for (route, defined) in routes.all.iter().zip(defined) {
            let len = route.len as usize;
            let from = &bytes[next..next + len];
            next += len;
            let (start, memory) = memories.operand_mut(places, operand(route.dst, 0)).ok_or_else(nowhere)?;
            let first = usize::try_from(start as i64 + route.to).map_err(|_| nowhere())?;
            memory.as_mut().get_mut(first..first + len).ok_or_else(nowhere)?.copy_from_slice(from);
            match defined {
                _ if !tracked => {}
                Defined::All => memory.defined_mut().insert(first, len),
                Defined::Some(which) => {
                    memory.defined_mut().assign(first, &which);
                    left_undefined = true;
                }
            }
        }
        Ok(left_undefined)
    }

    /// The effect of routes on defined bits and origins: copies, and bytes that become undefined.
    pub fn shadow(routes: &Routes) -> Vec<DefinednessTransfer> {
        let of = |route: &Route| match route.from {
            From::Tile(tile, at) => {
                let dims = SmallVec::from_iter([Dim { extent: route.len, step: [1, 1, 0, 0] }]);
                let nest = Nest { bits: [8, 8, 0, 0], base: [route.to, at, 0, 0], dims };
                let copy = TransferMove::copy(operand(tile, 0), operand(route.dst, 0), SmallVec::from_iter([nest]));
                Some(DefinednessTransfer::Move(Box::new(copy)))
            }
            From::Undefined => {
                let area = Area::range(route.to, route.len);
                Some(DefinednessTransfer::Clear { operand: operand(route.dst, 0), area })
            }
            From::Value(_) => None,
        };
        routes.all.iter().filter_map(of).collect()
    }

    /// Calls `f(place, bytes)` for every value that routes make.
    pub fn for_each_value(routes: &Routes, places: &[Place], mut f: impl FnMut(Place, &[u8])) -> Result<(), Failure> {
        for route in &routes.all {
            let From::Value(bits) = route.from else { continue };
            let place = places.get(usize::from(operand(route.dst, 0))).ok_or_else(nowhere)?;
            let at = usize::try_from(place.at as i64 + route.to).map_err(|_| nowhere())?;
            f(Place { at, ..*place }, &bits.to_le_bytes()[..route.len as usize]);
        }
        Ok(())
    }
}

fn nowhere() -> Failure {
    internal_error("a route leads out of a memory")
}

/// The defined bytes of a route.
enum Defined {
    All,
    Some(Vec<u8>),
}
