//go:build truth
// +build truth

package main

import (
	"path/filepath"

	"truth/record"
)

// Also writes what the allocator was told.
func dump(directory string) { record.Dump(filepath.Join(directory, "types")) }
