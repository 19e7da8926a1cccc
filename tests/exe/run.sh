#!/bin/sh
# Runs the tests of executables beside this file one after the other. TAP on standard output.
here=$(dirname "$0")
"$here/server.sh"
"$here/debug.sh"
"$here/typed.sh"
