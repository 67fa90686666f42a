#!/bin/sh
# Installs the commands tessera and ptoas of a release into ~/.local/bin (or $TESSERA_INSTALL_DIR).
#   sh install.sh [VERSION]
# The archives lie below $TESSERA_DOWNLOAD_URL; the release workflow writes the address of its own release into the copy of
# this script that it publishes. The checksum is compared before anything is installed.
set -eu
base=${TESSERA_DOWNLOAD_URL:-@DOWNLOAD_URL@}
version=${1:-@VERSION@}
folder=${TESSERA_INSTALL_DIR:-$HOME/.local/bin}
fail() {
    echo "install.sh: $1" >&2
    exit 1
}
case "$base" in @*) fail "this copy of the script belongs to no release: set TESSERA_DOWNLOAD_URL to the folder with the archives" ;; esac
case "$version" in @*) fail "name the version: sh install.sh 0.2.0" ;; esac
case "$(uname -s)-$(uname -m)" in
Linux-x86_64) target=x86_64-unknown-linux-musl ;;
Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
Darwin-arm64) target=aarch64-apple-darwin ;;
*) fail "there is no archive for $(uname -s) on $(uname -m); build it with cargo install --path crates/cli" ;;
esac
name=tessera-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {
    if command -v curl >/dev/null; then
        curl -fsSL "$1" -o "$2"
    elif command -v wget >/dev/null; then
        wget -q "$1" -O "$2"
    else
        fail "neither curl nor wget is installed"
    fi || fail "cannot fetch $1"
}
fetch "$base/$name.tar.gz" "$work/$name.tar.gz"
fetch "$base/$name.tar.gz.sha256" "$work/$name.tar.gz.sha256"
wanted=$(cut -d' ' -f1 "$work/$name.tar.gz.sha256")
if command -v sha256sum >/dev/null; then
    is=$(sha256sum "$work/$name.tar.gz" | cut -d' ' -f1)
else
    is=$(shasum -a 256 "$work/$name.tar.gz" | cut -d' ' -f1)
fi
[ "$is" = "$wanted" ] || fail "the checksum of $name.tar.gz is $is and should be $wanted; nothing was installed"
tar -C "$work" -xzf "$work/$name.tar.gz"
mkdir -p "$folder"
# Moved into place, so that a running tessera is not overwritten.
cp "$work/$name/tessera" "$folder/.tessera.new"
mv "$folder/.tessera.new" "$folder/tessera"
ln -sf tessera "$folder/ptoas"
echo "installed: $("$folder/tessera" --version) as $folder/tessera and $folder/ptoas"
case ":$PATH:" in *":$folder:"*) ;; *) echo "note: $folder is not in PATH" ;; esac
