#!/bin/sh
# Builds the board and leaves an archive beside the repository.
set -eu

version=$(sed -n 's/.*"version": "\(.*\)".*/\1/p' package.json)
npm run build
tar -czf "../room-board-$version.tar.gz" dist
echo "room-board $version is ready"
