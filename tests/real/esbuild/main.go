// esbuild at work on the front end of DevTools: at the end of a build, with every file's syntax tree in its cache, dumps
// itself: esbuild FILE SHARE DIRECTORY, where DIRECTORY has sources, and SHARE is how many of them.
package main

import (
	"log"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"truth/record"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func sources(directory string, share float64) []string {
	files := []string{}
	check(filepath.Walk(directory, func(path string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".d.ts") && info.Size() < 200000 {
			files = append(files, path)
		}
		return err
	}))
	sort.Strings(files)
	if n := int(share * float64(len(files))); n < len(files) {
		files = files[:n]
	}
	return files
}

func main() {
	share, _ := strconv.ParseFloat(os.Args[2], 64)
	files := sources(os.Args[3], share)
	if len(files) < 10 {
		log.Fatal("no sources")
	}
	builds := 0
	dumper := api.Plugin{Name: "dump", Setup: func(build api.PluginBuild) {
		seen := map[string]*api.OnLoadArgs{}
		var mutex sync.Mutex // files are loaded at the same time
		build.OnResolve(api.OnResolveOptions{Filter: `^\.\.?/.*\.js$`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			// What is not among the sources stays out.
			return api.OnResolveResult{External: true, Path: filepath.Join(args.ResolveDir, args.Path)}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `lit.*\.ts$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			mutex.Lock()
			defer mutex.Unlock()
			seen[args.Path] = &args
			return api.OnLoadResult{}, nil
		})
		build.OnEnd(func(result *api.BuildResult) (api.OnEndResult, error) {
			if builds++; builds == 2 {
				done := make(chan bool)
				go func() {
					record.Dump(os.Args[1])
					close(done)
				}()
				<-done
			}
			return api.OnEndResult{}, nil
		})
	}}
	ctx, err := api.Context(api.BuildOptions{EntryPoints: files, Bundle: true, Outdir: "/nowhere", LogLevel: api.LogLevelSilent,
		Format: api.FormatESModule, Target: api.ES2022, Platform: api.PlatformNode, Sourcemap: api.SourceMapExternal, Metafile: true, MinifySyntax: true,
		MinifyIdentifiers: true, External: []string{"*.css", "*.js"}, Plugins: []api.Plugin{dumper}})
	if err != nil {
		log.Fatal(err)
	}
	for i := 0; i < 2; i++ {
		if result := ctx.Rebuild(); len(result.OutputFiles) < 10 {
			log.Fatalf("%d files, %d errors: %v", len(result.OutputFiles), len(result.Errors), result.Errors)
		}
	}
	ctx.Dispose()
}
