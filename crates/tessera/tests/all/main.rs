//! The tests of the crate as one program: each of its own would be linked by itself.

mod arrays;
mod compare;
mod cores;
mod extents;
mod fill;
mod kernels;
mod micro;
mod printed;
mod program;
mod ranks;
mod strips;
mod timeline;
mod unroll;
