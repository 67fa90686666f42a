//! The macro that makes an intrinsic of a row of the instruction table.

/// Intrinsics: type parameters, arguments in C++ order with what is done with each, row and form, the operands that
/// signatures judge together, and further rules about types. A scalar is a `value`, words are `attrs`.
macro_rules! intrinsics {
    ($($(#[$doc:meta])* $name:ident[$($T:ident: $Bound:ident),*]($($arg:ident: $how:ident $Arg:ident),*)
       = $Op:ident $Form:ident $({$($role:ident: $Type:ident),*})* $(if $rule:ident($($of:ident),*))*;)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, reason = "as many as the instruction has")]
        pub fn $name<$($T: $Bound),*>($($arg: intrinsics!(@type $how $Arg)),*) -> $crate::error::Result<$crate::machine::RecordEvent> {
            $crate::typed::known::legal!(
                $($crate::typed::known::refused(
                    tessera_isa::ops::Opcode::$Op,
                    tessera_isa::ops::Form::$Form,
                    [$((tessera_isa::ops::Role::$role, $Type::KNOWN)),*],
                ),)*
                $($crate::typed::known::$rule($($of::KNOWN),*),)*
            );
            intrinsics!(@issue $Op $Form [$($how $Arg $arg)*] [] $($how $Arg $arg)*)
        }
    )*};
    // Nothing but tiles.
    (@issue $Op:ident $Form:ident $all:tt [$($tile:tt)*]) => {
        $crate::dynamic::issue_tiles(tessera_isa::ops::Opcode::$Op, tessera_isa::ops::Form::$Form, [$($tile),*])
    };
    (@issue $Op:ident $Form:ident $all:tt [$($tile:tt)*] write $Arg:ident $arg:ident $($rest:ident)*) => {
        intrinsics!(@issue $Op $Form $all [$($tile)* (tessera_isa::ops::Role::$Arg, $arg.buf())] $($rest)*)
    };
    (@issue $Op:ident $Form:ident $all:tt [$($tile:tt)*] read $Arg:ident $arg:ident $($rest:ident)*) => {
        intrinsics!(@issue $Op $Form $all [$($tile)* (tessera_isa::ops::Role::$Arg, $arg.buf())] $($rest)*)
    };
    (@issue $Op:ident $Form:ident [$($how:ident $Arg:ident $arg:ident)*] [$($tile:tt)*] $($rest:ident)*) => {{
        let inst = $crate::dynamic::Instruction::new(tessera_isa::ops::Opcode::$Op);
        $(let inst = intrinsics!(@give inst $how $Arg $arg);)*
        inst.issue_as(tessera_isa::ops::Form::$Form)
    }};
    (@type write $T:ident) => { &mut $T };
    (@type read $T:ident) => { &$T };
    (@type value $T:ident) => { $T };
    (@type index $T:ident) => { usize };
    (@type attrs $T:ident) => { impl Into<tessera_isa::inst::Attrs> };
    (@type flag $T:ident) => { bool };
    (@give $inst:ident write $Arg:ident $arg:ident) => { $inst.tile(tessera_isa::ops::Role::$Arg, $arg.buf()) };
    (@give $inst:ident read $Arg:ident $arg:ident) => { $inst.tile(tessera_isa::ops::Role::$Arg, $arg.buf()) };
    (@give $inst:ident value $Arg:ident $arg:ident) => { $inst.value(tessera_isa::ops::Role::$Arg, $arg) };
    (@give $inst:ident index $Arg:ident $arg:ident) => { $inst.index(tessera_isa::ops::Role::$Arg, $arg) };
    (@give $inst:ident attrs $Arg:ident $arg:ident) => { $inst.attrs($arg.into()) };
    (@give $inst:ident flag $Arg:ident $arg:ident) => {
        $inst.attrs(tessera_isa::inst::Attrs::default().with(
            tessera_isa::ops::AttrName::$Arg,
            tessera_isa::inst::AttrValue::Bool($arg),
        ))
    };
}

/// Intrinsics with a view of global memory, which they read `from` or write `into`; what a view is decides when it runs.
macro_rules! transfers {
    ($($(#[$doc:meta])* $name:ident[$($T:ident: $Bound:ident),*]($($arg:ident: $how:ident $Arg:ident),*) = $Op:ident $way:ident $view:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<'v, Global: $crate::typed::Element, $($T: $Bound),*>($($arg: transfers!(@type $how $Arg)),*) -> $crate::error::Result<$crate::machine::RecordEvent> {
            let inst = $crate::dynamic::Instruction::new(tessera_isa::ops::Opcode::$Op);
            $(let inst = transfers!(@give inst $how $Arg $arg);)*
            transfers!(@issue inst $way $view)
        }
    )*};
    (@type from $T:ident) => { impl Into<$crate::typed::Tensor<'v, $T>> };
    (@type into $T:ident) => { impl Into<$crate::typed::TensorMut<'v, $T>> };
    (@type quant $T:ident) => { u64 };
    (@type $how:ident $T:ident) => { $crate::typed::intrinsic::intrinsics!(@type $how $T) };
    (@give $inst:ident from $Arg:ident $arg:ident) => { $inst };
    (@give $inst:ident into $Arg:ident $arg:ident) => { $inst };
    (@give $inst:ident quant $Arg:ident $arg:ident) => { $inst.scalar(tessera_isa::ops::Role::$Arg, $arg.into()) };
    (@give $inst:ident $how:ident $Arg:ident $arg:ident) => { $crate::typed::intrinsic::intrinsics!(@give $inst $how $Arg $arg) };
    (@issue $inst:ident from $view:ident) => { $inst.issue_from($view) };
    (@issue $inst:ident into $view:ident) => { $inst.issue_on($view) };
}

/// Intrinsics that give one element of a tile.
macro_rules! gets {
    ($($(#[$doc:meta])* $name:ident = $Op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<Src: $crate::typed::AsTile, T: $crate::typed::Element>(src: &Src, index: usize) -> $crate::error::Result<T> {
            use tessera_isa::ops::{Opcode, Role};
            $crate::dynamic::Instruction::new(Opcode::$Op).tile(Role::Src, src.buf()).index(Role::Index, index).get()
        }
    )*};
}
pub(crate) use {gets, intrinsics, transfers};
