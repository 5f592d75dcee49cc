package stream

import (
	"strings"

	"ollimbot/discord/render"
)

// maxUnits is the longest message, in UTF-16 units.
const maxUnits = 2000

// layout is the distribution of a text over messages. A visible part that is followed by another one is fixed as long
// as the text starts with it.
type layout struct {
	text  string
	parts []render.Part
	fixed int // number of fixed parts
}

// set lays out the text again after the fixed parts.
func (l *layout) set(text string) {
	if text == l.text {
		return
	}
	l.text = text
	at, n := 0, 0
	for n < l.fixed && strings.HasPrefix(text[at:], l.parts[n].Text) {
		at += len(l.parts[n].Text)
		n++
	}
	open := ""
	if n < len(l.parts) {
		open = l.parts[n].Open
	}
	l.fixed = n
	l.parts = append(l.parts[:n:n], partsFrom(open, text[at:])...)
}

// show records that a part is visible, which fixes those before it.
func (l *layout) show(part int) { l.fixed = max(l.fixed, part) }

// partsFrom splits a text that starts inside a code block opened by open.
func partsFrom(open, text string) []render.Part {
	parts := render.Parts(open+text, maxUnits)
	if open != "" && len(parts) > 0 {
		parts[0].Open, parts[0].Text = open, strings.TrimPrefix(parts[0].Text, open)
	}
	return parts
}

// page is the intended content of one message.
type page struct {
	text string
	file string // attached file, or empty
	// section and part are its position; the section of a status is -1.
	section, part int
	note          bool // a compaction
}

// status reports whether a page is a status.
func (p page) status() bool { return p.section < 0 && p.file == "" && p.text != textNoAnswer }

// pagesOf renders a sketch as messages. layouts are the sections' layouts; it returns them, with new ones added.
func pagesOf(s sketch, layouts []*layout) ([]page, []*layout) {
	var out []page
	for i, section := range s.sections {
		if i == len(layouts) {
			layouts = append(layouts, new(layout))
		}
		if section.note {
			out = append(out, page{text: section.text, section: i, note: true})
			continue
		}
		layouts[i].set(render.Markdown(section.text, !s.ended && i == len(s.sections)-1))
		for k, p := range layouts[i].parts {
			if !blank(p.Text) { // Discord refuses empty messages and trims others
				out = append(out, page{text: strings.TrimSpace(p.String()), section: i, part: k})
			}
		}
	}
	return out, layouts
}
