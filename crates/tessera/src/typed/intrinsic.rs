//! How an intrinsic is made of a row of the instruction table.

/// Intrinsics: type parameters, arguments in C++ order with what is done with each, row and form, the operands that
/// signatures judge together, and further rules about types. A scalar is a `value`, words are `attrs`.
macro_rules! intrinsics {
    ($($(#[$doc:meta])* $name:ident[$($T:ident: $Bound:ident),*]($($arg:ident: $how:ident $Arg:ident),*)
       = $Op:ident $Form:ident $({$($role:ident: $Type:ident),*})* $(if $rule:ident($($of:ident),*))*;)*) => {$(
        $(#[$doc])*
        pub fn $name<$($T: $Bound),*>($($arg: intrinsics!(@type $how $Arg)),*) -> $crate::error::Result<$crate::machine::RecordEvent> {
            $crate::typed::known::legal!(
                $($crate::typed::known::refused(
                    tessera_isa::ops::Opcode::$Op,
                    tessera_isa::ops::Form::$Form,
                    [$((tessera_isa::ops::Role::$role, $Type::KNOWN)),*],
                ),)*
                $($crate::typed::known::$rule($($of::KNOWN),*),)*
            );
            let inst = $crate::dynamic::Instruction::new(tessera_isa::ops::Opcode::$Op);
            $(let inst = intrinsics!(@give inst $how $Arg $arg);)*
            inst.issue_as(tessera_isa::ops::Form::$Form)
        }
    )*};
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
pub(crate) use intrinsics;
