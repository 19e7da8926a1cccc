// What a site generator does: goldmark parses pages, chroma reads the code in them, yaml their front matter, html/template
// renders; then dumps itself: site FILE SHARE DIRECTORY, where DIRECTORY and
// its docs/ have the pages, and SHARE is how often each.
package main

import (
	"bytes"
	"fmt"
	"html/template"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"gopkg.in/yaml.v3"

	"truth/record"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

type page struct {
	path    string
	front   yaml.Node
	meta    map[string]interface{}
	source  []byte
	tree    ast.Node
	context parser.Context
	code    map[ast.Node][]chroma.Token
	html    template.HTML
	related []*page
	links   map[string]*page
}

type site struct {
	pages  []*page
	byPath map[string]*page
	byTag  map[string][]*page
	layout *template.Template
	style  *chroma.Style
	md     goldmark.Markdown
}

var layout = `{{define "link"}}<a href="{{.}}">{{.}}</a>{{end}}<title>{{.Title}}</title>{{range $i, $l := .Links}}{{template "link" $l}}{{end}}{{.Body}}`

func (s *site) add(path string, source []byte, n int) {
	p := &page{path: fmt.Sprintf("%s#%d", path, n), source: source, code: map[ast.Node][]chroma.Token{}, links: map[string]*page{}}
	front := fmt.Sprintf("title: %q\ntags: [a%d, b, &anchor c]\nnumber: %d\nparams: {deep: {list: [1, 2.5, true, null], again: *anchor}}\n", p.path, n%5, n)
	check(yaml.Unmarshal([]byte(front), &p.front))
	check(yaml.Unmarshal([]byte(front), &p.meta))
	p.context = parser.NewContext()
	p.tree = s.md.Parser().Parse(text.NewReader(source), parser.WithContext(p.context))
	var rendered bytes.Buffer
	check(s.md.Renderer().Render(&rendered, source, p.tree))
	links := []string{}
	check(ast.Walk(p.tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch v := node.(type) {
		case *ast.Link:
			links = append(links, string(v.Destination))
			p.links[string(v.Destination)] = s.byPath[string(v.Destination)]
		case *ast.FencedCodeBlock:
			lexer := lexers.Get(string(v.Language(source)))
			if lexer == nil {
				lexer = lexers.Fallback
			}
			var code strings.Builder
			for i := 0; i < v.Lines().Len(); i++ {
				line := v.Lines().At(i)
				code.Write(line.Value(source))
			}
			tokens, err := lexer.Tokenise(nil, code.String())
			check(err)
			p.code[node] = tokens.Tokens()
		}
		return ast.WalkContinue, nil
	}))
	var html bytes.Buffer
	check(s.layout.Execute(&html, map[string]interface{}{"Title": p.path, "Links": links, "Body": template.HTML(rendered.String())}))
	p.html = template.HTML(html.String())
	for _, tag := range p.meta["tags"].([]interface{}) {
		s.byTag[tag.(string)] = append(s.byTag[tag.(string)], p)
		p.related = s.byTag[tag.(string)]
	}
	s.pages = append(s.pages, p)
	s.byPath[p.path] = p
}

func main() {
	share, _ := strconv.ParseFloat(os.Args[2], 64)
	s := &site{byPath: map[string]*page{}, byTag: map[string][]*page{}, style: styles.Get("monokai")}
	s.layout = template.Must(template.New("page").Parse(layout))
	s.md = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList, extension.Typographer),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithAttribute()))
	files, err := filepath.Glob(filepath.Join(os.Args[3], "*.md"))
	check(err)
	docs, err := filepath.Glob(filepath.Join(os.Args[3], "docs/*.md"))
	check(err)
	files = append(files, docs...)
	sort.Strings(files)
	for n := 0; n < int(100*share)+1; n++ {
		for _, file := range files {
			source, err := os.ReadFile(file)
			check(err)
			s.add(file, source, n)
		}
	}
	done := make(chan bool)
	go func() {
		record.Dump(os.Args[1])
		close(done)
	}()
	<-done
	fmt.Println(len(s.pages))
}
