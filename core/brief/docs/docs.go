// Package docs serves the program's documentation to the agent: the list of pages, a
// search, and the pages themselves. It owns the search and its tools. It must not know
// what the pages are about, and reads only the files it is given.
package docs

import (
	"cmp"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"ollimbot/core/base/clean"
)

// Limits of excerpts, in characters.
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

// Library is the set of pages, which are read on first use: most processes never use
// them. Its methods are safe for concurrent use.
type Library struct {
	files fs.FS
	load  func() (index, error)
}

// index is the parsed pages.
type index struct {
	pages    []Page
	texts    map[string]string // whole pages by name
	sections []section
}

// New returns a library of the *.md files at the top of files.
func New(files fs.FS) *Library {
	l := &Library{files: files}
	l.load = sync.OnceValues(l.read)
	return l
}

// List returns all pages, sorted by name; none if they cannot be read, which the tools report.
func (l *Library) List() []Page {
	x, err := l.load()
	if err != nil {
		return nil
	}
	return slices.Clone(x.pages)
}

// Read returns the text of a page, whose name may end in ".md", or false if there is none.
func (l *Library) Read(name string) (string, bool) {
	x, err := l.load()
	if err != nil {
		return "", false
	}
	text, ok := x.texts[strings.TrimSuffix(strings.TrimSpace(name), ".md")]
	return text, ok
}

// read reads all pages.
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

// section is the text under one heading.
type section struct {
	page    string
	heading string // without its # signs; empty before the first heading
	body    string
}

// split splits a page at its headings; a # in a code block is not one.
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

// firstParagraph returns the first paragraph of plain text, as one line.
func firstParagraph(body string) string {
	for part := range strings.SplitSeq(body, "\n\n") {
		part = strings.TrimSpace(part)
		if part != "" && !strings.HasPrefix(part, "```") && !strings.HasPrefix(part, "|") {
			return clean.Line(part)
		}
	}
	return ""
}

// Hit is a section that matches a search.
type Hit struct {
	Page    string // its name
	Heading string // the section's heading; empty before the first one
	Excerpt string // the lines around the words, at most 320 characters
}

// maxQuery is the maximum number of search words used.
const maxQuery = 16

// Search returns the n best sections, best first. It is deterministic.
func (l *Library) Search(query string, n int) []Hit {
	x, err := l.load()
	if err != nil {
		return nil
	}
	var wanted []string
	for word := range words(query) {
		if !slices.Contains(wanted, word) && len(wanted) < maxQuery {
			wanted = append(wanted, word)
		}
	}
	scores := x.score(wanted)
	var found []int
	for i := range x.sections {
		if scores[i] > 0 {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	hits := make([]Hit, 0, max(0, min(n, len(found))))
	for _, i := range found[:max(0, min(n, len(found)))] {
		s := &x.sections[i]
		hits = append(hits, Hit{Page: s.page, Heading: s.heading, Excerpt: excerpt(s.body, wanted)})
	}
	return hits
}

// score rates each section: a word counts three times in a heading, and more if fewer sections
// contain it.
func (x *index) score(wanted []string) []float64 {
	scores := make([]float64, len(x.sections))
	for _, word := range wanted {
		holds := func(text string) bool {
			for w := range words(text) {
				if strings.HasPrefix(w, word) {
					return true
				}
			}
			return false
		}
		points, n := make([]float64, len(x.sections)), 0.0
		for i, s := range x.sections {
			if holds(s.body) {
				points[i]++
			}
			if holds(s.heading + " " + s.page) {
				points[i] += 3
			}
			if points[i] > 0 {
				n++
			}
		}
		for i := range points {
			scores[i] += points[i] / max(1, n)
		}
	}
	return scores
}

// excerpt returns the part of a body with the most words.
func excerpt(body string, wanted []string) string {
	lines := strings.Split(body, "\n")
	best, at := -1, 0
	for i, line := range lines {
		n := 0
		for word := range words(line) {
			if slices.Contains(wanted, word) {
				n++
			}
		}
		if n > best {
			best, at = n, i
		}
	}
	var b strings.Builder
	for _, line := range lines[at:] {
		if b.Len() >= maxExcerpt {
			break
		}
		b.WriteString(line + " ")
	}
	return clean.Cut(clean.Line(b.String()), maxExcerpt)
}

// words returns the words of a text in lower case, without a plural s and without common
// words. Hyphens and underscores separate words, so that keys are found by their parts.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if !slices.Contains(tooCommon, word) && !yield(strings.TrimSuffix(word, "s")) {
				return
			}
		}
	}
}

// tooCommon are words that do not characterise a page.
var tooCommon = strings.Fields("a an and are as at be by can do does for from how i in is it its my of on or that the this to what when which with you your")
