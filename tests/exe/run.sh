#!/bin/sh
# Executables: all that is beside this file, one after the other. TAP on standard output.
here=$(dirname "$0")
"$here/server.sh"
"$here/debug.sh"
"$here/typed.sh"
