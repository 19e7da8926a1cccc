//go:build newer

package version

const Version = 2
