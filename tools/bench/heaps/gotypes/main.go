// Gotypes fills its heap with the syntax trees of Go's standard library and all that go/types finds in them, as a language
// server or a linter does: a few hundred types, interfaces everywhere, and large maps. See grow for its arguments; the
// library is in GOROOT.
package main

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"heaps/grow"
)

// checked is a package that has been type-checked.
type checked struct {
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// library is the standard library while its packages are being checked, from the first one on.
type library struct {
	fset     *token.FileSet
	importer types.Importer
	packages map[string]*checked
}

func (l *library) check(dir string) *checked {
	p, err := build.Default.ImportDir(dir, 0)
	if err != nil {
		return nil // no package for this system
	}
	c := &checked{info: &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Instances:  map[*ast.Ident]types.Instance{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes:     map[ast.Node]*types.Scope{},
	}}
	for _, name := range p.GoFiles {
		if f, err := parser.ParseFile(l.fset, filepath.Join(dir, name), nil, parser.ParseComments); err == nil {
			c.files = append(c.files, f)
		}
	}
	config := types.Config{Importer: l.importer, FakeImportC: true, Error: func(error) {}}
	c.pkg, _ = config.Check(p.ImportPath, l.fset, c.files, c.info)
	return c
}

// directories returns the directories of the standard library that may have packages, in lexical order.
func directories() []string {
	root, _ := filepath.EvalSymlinks(filepath.Join(runtime.GOROOT(), "src"))
	dirs := []string{}
	filepath.Walk(root, func(path string, d os.FileInfo, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		switch name := d.Name(); {
		case name == "testdata", name == "vendor", name == "internal", name == "cmd", strings.HasPrefix(name, "_"):
			return filepath.SkipDir
		}
		dirs = append(dirs, path)
		return nil
	})
	return dirs
}

func main() {
	build.Default.CgoEnabled = false
	dirs := directories()
	if len(dirs) < 100 {
		println("gotypes: no standard library in", runtime.GOROOT())
		os.Exit(1)
	}
	var current *library
	next := 0
	grow.Main(func(uint64) interface{} {
		if next == 0 {
			fset := token.NewFileSet()
			current = &library{fset, importer.ForCompiler(fset, "source", nil), map[string]*checked{}}
		}
		for i := 0; i < 8; i++ {
			current.packages[dirs[next]] = current.check(dirs[next])
			next = (next + 1) % len(dirs)
			if next == 0 {
				break
			}
		}
		return current
	})
}
