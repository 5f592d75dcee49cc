package stream

import (
	"strings"

	"ollimbot/discord/render"
)

// maxUnits is the longest message, in UTF-16 units.
const maxUnits = 2000

// layout is how one text stands in messages. A part that another follows on the
// screen is fixed: it stays as it is as long as the text begins like that.
type layout struct {
	text  string
	parts []render.Part
	fixed int // of the parts
}

// set lays the text out anew, behind the parts that are fixed.
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

// show notes that a part is being shown: those before it are fixed.
func (l *layout) show(part int) { l.fixed = max(l.fixed, part) }

// partsFrom splits a text that begins inside of the code block that open opens.
func partsFrom(open, text string) []render.Part {
	parts := render.Parts(open+text, maxUnits)
	if open != "" && len(parts) > 0 {
		parts[0].Open, parts[0].Text = open, strings.TrimPrefix(parts[0].Text, open)
	}
	return parts
}

// page is one message as it should be.
type page struct {
	text string
	file string // that comes with it, or empty
	// section and part say where it stands; the section of a status is -1.
	section, part int
}

// status reports whether a page says what the bot does, and nothing of the answer.
func (p page) status() bool { return p.section < 0 && p.file == "" && p.text != textNoAnswer }

// pagesOf are the messages of a sketch. layouts has the texts' layouts by
// section, and is answered with those that are new.
func pagesOf(s sketch, layouts []*layout) ([]page, []*layout) {
	var out []page
	for i, section := range s.sections {
		if i == len(layouts) {
			layouts = append(layouts, new(layout))
		}
		if section.note {
			out = append(out, page{text: section.text, section: i})
			continue
		}
		layouts[i].set(section.text)
		for k, p := range layouts[i].parts {
			if !blank(p.Text) { // Discord takes no empty message, and trims others
				out = append(out, page{text: strings.TrimSpace(p.String()), section: i, part: k})
			}
		}
	}
	return out, layouts
}
