#!/usr/bin/env bash
set -euo pipefail
cmake -G Ninja -S . -B build -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_TESTING=OFF
cmake --build build
cmake --install build
mkdir -p "$SP_DIR/bda"
cp build/python/bda/*.py build/python/bda/*.pyi build/python/bda/py.typed "$SP_DIR/bda/"
ln -s "$PREFIX/lib/libbda.so.0" "$SP_DIR/bda/libbda.so.0"
