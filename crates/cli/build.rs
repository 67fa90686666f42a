//! Compresses the explorer's page, which the command carries.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=assets/explorer.html");
    let page = fs::read("assets/explorer.html")?;
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(folder.join("explorer.html.zlib"), miniz_oxide::deflate::compress_to_vec_zlib(&page, 9))
}
