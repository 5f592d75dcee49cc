package chat

import (
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// fact is a line of a reply: a name and what is said of it, or words alone.
type fact struct{ name, text string }

// facts reads the reply of a command. Its lines are "**Name**: text", or a name
// and a text with a gap between them.
func facts(reply string) (list []fact, named int) {
	for line := range strings.SplitSeq(reply, "\n") {
		line = strings.TrimRight(line, " ")
		f := fact{text: line}
		if name, text, ok := strings.Cut(strings.TrimPrefix(line, "**"), "**:"); ok && strings.HasPrefix(line, "**") {
			f = fact{name, strings.TrimSpace(text)}
		} else if name, text, ok := strings.Cut(line, "  "); ok && name != "" && strings.TrimSpace(text) != "" {
			f = fact{name, strings.TrimSpace(text)}
		}
		if f.name != "" {
			named++
		}
		list = append(list, fact{f.name, unquoted(f.text)})
	}
	return list, named
}

// answers reports whether a notice is the reply of a command that has facts.
func answers(text string) bool {
	return strings.Contains(text, "\n") || strings.HasPrefix(text, "**")
}

// unquoted shows the values that a setting takes, which are markdown's code, as
// words behind a dot.
func unquoted(s string) string {
	if strings.Count(s, "`") < 2 {
		return s
	}
	return strings.NewReplacer("` `", ", ", " `", " · takes ", "`", "").Replace(s)
}

// reply adds the words of a command's answer. Where it is a list of facts, their
// names are a column, and what does not fit goes on below itself; in a narrow
// pane it stands below its name.
func reply(w *writer, text string) {
	list, named := facts(text)
	column := 0
	for _, f := range list {
		if f.name != "" {
			column = max(column, widget.Cells(f.name)+2)
		}
	}
	below := column > w.room()/2
	for _, f := range list {
		switch {
		case f.name == "" || named == 0:
			w.text(theme.Text, f.text)
		case below:
			w.text(theme.Key, f.name)
			w.text(theme.Text, f.text, widget.Span{Text: "  "})
		default:
			w.row(f, column)
		}
	}
}

// row adds a fact with its name in a column of so many cells.
func (w *writer) row(f fact, column int) {
	head := append(w.look.Matcher.Mark(theme.Key, f.name), widget.Span{Text: widget.Blank(column - widget.Cells(f.name))})
	for _, l := range widget.Wrap(f.text, max(1, w.room()-column)) {
		w.line(append(head, w.look.Matcher.Mark(theme.Text, l)...)...)
		head = []widget.Span{{Text: widget.Blank(column)}}
	}
}
