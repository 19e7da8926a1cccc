// A plugin that the runtime refuses: it was built with another version of a package.
package main

import "plugins/version"

var Version = version.Version

func main() {}
