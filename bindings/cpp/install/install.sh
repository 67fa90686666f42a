#!/usr/bin/env bash
# Installs the C and C++ bindings without CMake: bindings/cpp/install/install.sh PREFIX [FOLDER OF BUILT LIBRARIES]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
prefix=${1:?usage: install.sh PREFIX [FOLDER OF BUILT LIBRARIES]}
built=${2:-}
if [ -z "$built" ]; then
    cargo build --release -p tessera-capi --manifest-path "$here/Cargo.toml"
    target=$(cargo metadata --format-version 1 --no-deps --manifest-path "$here/Cargo.toml" |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    built=$target/release
fi
mkdir -p "$prefix/include" "$prefix/lib/cmake/tessera" "$prefix/lib/pkgconfig"
cp -R "$here/include/." "$prefix/include/"
cp "$built/libtessera_capi.a" "$prefix/lib/libtessera.a"
for suffix in so dylib; do
    if [ -f "$built/libtessera_capi.$suffix" ]; then
        cp "$built/libtessera_capi.$suffix" "$prefix/lib/libtessera.$suffix"
    fi
done
cp "$here"/install/*.cmake "$prefix/lib/cmake/tessera/"
cp "$here/install/tessera.pc" "$prefix/lib/pkgconfig/"
