// Parses and type-checks packages of the standard library from source, keeps the syntax trees and all that go/types
// found, and dumps itself: gotypes FILE [SHARE], where SHARE is the part of the packages, 1 unless given.
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
	"sort"
	"strconv"
	"strings"

	"truth/record"
)

// A checked package.
type checked struct {
	path  string
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
	errs  []error
}

var (
	fset     = token.NewFileSet()
	packages = map[string]*checked{}
)

func (c *checked) Import(path string) (*types.Package, error) {
	return imports.Import(path)
}

var imports types.Importer

func check(path, dir string) *checked {
	c := &checked{path: path}
	p, err := build.Default.ImportDir(dir, 0)
	if err != nil {
		return nil
	}
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		c.files = append(c.files, f)
	}
	c.info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes:     map[ast.Node]*types.Scope{},
	}
	keepInstances(c.info)
	config := types.Config{Importer: c, FakeImportC: true, Error: func(err error) { c.errs = append(c.errs, err) }}
	c.pkg, _ = config.Check(path, fset, c.files, c.info)
	return c
}

func main() {
	share := 1.0
	if len(os.Args) > 2 {
		share, _ = strconv.ParseFloat(os.Args[2], 64)
	}
	build.Default.CgoEnabled = false
	imports = importer.ForCompiler(fset, "source", nil)
	root := filepath.Join(runtime.GOROOT(), "src")
	root, _ = filepath.EvalSymlinks(root)
	dirs := []string{}
	filepath.Walk(root, func(path string, d os.FileInfo, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if name := d.Name(); name == "testdata" || name == "vendor" || name == "internal" || name == "cmd" || strings.HasPrefix(name, "_") {
			return filepath.SkipDir
		}
		dirs = append(dirs, path)
		return nil
	})
	sort.Strings(dirs)
	dirs = dirs[:int(float64(len(dirs))*share)]
	errors := 0
	for _, dir := range dirs {
		path, _ := filepath.Rel(root, dir)
		if c := check(path, dir); c != nil {
			packages[path] = c
			errors += len(c.errs)
		}
	}
	println(len(packages), "packages,", errors, "errors")
	record.Dump(os.Args[1])
}
