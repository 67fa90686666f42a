//! Settings of the allocator for memory that the process has freed.

/// Keeps it, for work that is done again and again: the server reads a text anew after every key, and fresh pages are a
/// sixth of the time to read a long one. Commands that end soon do without.
pub fn keep() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the allocator takes these at any time, under its own lock, and refuses what it does not know.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 30);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
    }
}
