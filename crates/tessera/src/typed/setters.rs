//! Builders: what is given, and the field that holds it.

/// Methods that set a field and give the builder back.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) { $field:ident = $value:expr })*) => {$(
        $(#[$doc])*
        pub const fn $name(mut self, $($arg: $ty),*) -> Self {
            self.$field = $value;
            self
        }
    )*};
}
pub(crate) use setters;
