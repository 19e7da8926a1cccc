//go:build !newer

// Package version is in the program and in a plugin that was built for another version of it.
package version

const Version = 1
