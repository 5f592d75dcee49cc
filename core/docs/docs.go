// Package docs serves the program's own documentation to the agent: which pages
// there are, where words stand in them, and the pages themselves. It owns the
// search and its tools; it must not know what the pages are about, and it
// reaches nothing but the files that it is given.
package docs

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"ollimbot/core/clean"
)

// Limits of what is read and shown, in characters.
const (
	maxTitle   = 120
	maxAbout   = 200
	maxExcerpt = 320
)

// Page is one page of the documentation.
type Page struct {
	Name  string // the file's name without ".md"
	Title string // its first heading, else its name
	About string // the beginning of its first paragraph, one line
}

// Library is the pages, read when they are first asked for: most starts of the
// program never are. Its methods may be called concurrently.
type Library struct {
	files fs.FS
	load  func() (index, error)
}

// index is the pages made ready.
type index struct {
	pages    []Page
	texts    map[string]string // whole pages by name
	sections []section
}

// New is a library of the *.md files at the top of files.
func New(files fs.FS) *Library {
	l := &Library{files: files}
	l.load = sync.OnceValues(l.read)
	return l
}

// List is all pages, sorted by name. Files that cannot be read give none; the
// tools say why.
func (l *Library) List() []Page {
	x, err := l.load()
	if err != nil {
		return nil
	}
	return slices.Clone(x.pages)
}

// Read is the whole text of a page; its name may end in ".md". False means that
// there is no such page.
func (l *Library) Read(name string) (string, bool) {
	x, err := l.load()
	if err != nil {
		return "", false
	}
	text, ok := x.texts[strings.TrimSuffix(strings.TrimSpace(name), ".md")]
	return text, ok
}

// read takes all pages in. An error names the page that could not be read.
func (l *Library) read() (index, error) {
	names, err := fs.Glob(l.files, "*.md")
	if err != nil {
		return index{}, fmt.Errorf("list the documentation: %w", err)
	}
	x := index{texts: make(map[string]string, len(names))}
	for _, file := range names {
		data, err := fs.ReadFile(l.files, file)
		if err != nil {
			return index{}, fmt.Errorf("read the documentation: %w", err)
		}
		x.add(strings.TrimSuffix(path.Base(file), ".md"), clean.Text(string(data)))
	}
	return x, nil
}

func (x *index) add(name, text string) {
	sections := split(name, text)
	p := Page{Name: name, Title: name}
	if len(sections) > 0 {
		p.Title = cmp.Or(clean.Cut(clean.Line(sections[0].heading), maxTitle), name)
		p.About = clean.Cut(firstParagraph(sections[0].body), maxAbout)
	}
	x.pages = append(x.pages, p)
	x.texts[name] = text
	x.sections = append(x.sections, sections...)
}

// section is what stands under one heading.
type section struct {
	page    string
	heading string // without its # signs; empty before the first heading
	body    string
}

// split takes a page apart at its headings. A # inside of a code block is none.
func split(page, text string) []section {
	var list []section
	var body strings.Builder
	heading, fenced := "", false
	flush := func() {
		if heading != "" || strings.TrimSpace(body.String()) != "" {
			list = append(list, section{page, heading, strings.TrimSpace(body.String())})
		}
		body.Reset()
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if title := strings.TrimLeft(line, "#"); !fenced && title != line && strings.HasPrefix(title, " ") {
			flush()
			heading = strings.TrimSpace(title)
			continue
		}
		body.WriteString(line)
	}
	flush()
	return list
}

// firstParagraph is the first lines of plain text, as one line.
func firstParagraph(body string) string {
	for part := range strings.SplitSeq(body, "\n\n") {
		part = strings.TrimSpace(part)
		if part != "" && !strings.HasPrefix(part, "```") && !strings.HasPrefix(part, "|") {
			return clean.Line(part)
		}
	}
	return ""
}
