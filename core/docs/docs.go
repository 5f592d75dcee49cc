// Package docs serves the program's own documentation to the agent: which pages
// there are, where words stand in them, and the pages themselves. It owns the
// search and its tools; it must not know what the pages are about, and it
// reaches nothing but the files that it is given.
package docs

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

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

// Library is the pages, read once. Its methods may be called concurrently.
type Library struct {
	pages    []Page
	texts    map[string]string // whole pages by name
	sections []section
}

// New reads the pages: the *.md files at the top of files, in the order of
// their names. An error names the page that could not be read.
func New(files fs.FS) (*Library, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, fmt.Errorf("list the documentation: %w", err)
	}
	l := &Library{texts: make(map[string]string, len(names))}
	for _, file := range names {
		data, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, fmt.Errorf("read the documentation: %w", err)
		}
		l.add(strings.TrimSuffix(path.Base(file), ".md"), clean.Text(string(data)))
	}
	return l, nil
}

func (l *Library) add(name, text string) {
	sections := split(name, text)
	p := Page{Name: name, Title: name}
	if len(sections) > 0 && sections[0].heading != "" {
		p.Title = clean.Cut(clean.Line(sections[0].heading), maxTitle)
	}
	if len(sections) > 0 {
		p.About = clean.Cut(firstParagraph(sections[0].body), maxAbout)
	}
	l.pages = append(l.pages, p)
	l.texts[name] = text
	l.sections = append(l.sections, sections...)
}

// List is all pages, sorted by name.
func (l *Library) List() []Page { return append([]Page(nil), l.pages...) }

// Read is the whole text of a page; its name may end in ".md". False means that
// there is no such page.
func (l *Library) Read(name string) (string, bool) {
	text, ok := l.texts[strings.TrimSuffix(strings.TrimSpace(name), ".md")]
	return text, ok
}

// section is what stands under one heading.
type section struct {
	page    string
	heading string // without its # signs; empty before the first heading
	body    string
	words   map[string]int // how often each word occurs in the body
	titled  map[string]int // the same for the heading and the page's name
	length  int            // words in the body
}

// split takes a page apart at its headings. A # inside of a code block is none.
func split(page, text string) []section {
	var list []section
	var body strings.Builder
	heading, fenced := "", false
	flush := func() {
		if heading != "" || strings.TrimSpace(body.String()) != "" {
			list = append(list, newSection(page, heading, strings.TrimSpace(body.String())))
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

func newSection(page, heading, body string) section {
	s := section{page: page, heading: heading, body: body, words: map[string]int{}, titled: map[string]int{}}
	for word := range words(body) {
		s.words[word]++
		s.length++
	}
	for word := range words(heading + " " + page) {
		s.titled[word]++
	}
	return s
}

// firstParagraph is the first lines of plain text, as one line.
func firstParagraph(body string) string {
	for part := range strings.SplitSeq(body, "\n\n") {
		part = strings.TrimSpace(part)
		if part != "" && !strings.HasPrefix(part, "```") && !strings.HasPrefix(part, "|") && utf8.ValidString(part) {
			return clean.Line(part)
		}
	}
	return ""
}
