package chat

import (
	"strings"

	"ollimbot/core/policy"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// lineBreak stands for one in a label.
const lineBreak = " ⏎ "

// writers are the tools whose labels name a file first and then what would be
// written there. Of any other tool the whole label is what it would do.
var writers = map[string]bool{"Write": true, "Edit": true}

// parts are the tool with its file, or the whole call, and what would be written.
func parts(a policy.Approval) (call, content string) {
	call, content, ok := strings.Cut(a.Label, lineBreak)
	if !ok || !writers[a.Tool] {
		return a.Label, ""
	}
	return call + ")", strings.TrimSuffix(content, ")")
}

// callRows are a tool call in at most so many rows of w cells: the tool and its
// file first, then dim what would be written, line by line where there is room.
// cut says that there is more to read.
func callRows(c pane.Context, a policy.Approval, w, most int) (rows [][]widget.Span, cut bool) {
	call, content := parts(a)
	head := []widget.Span{{Role: theme.Strong, Text: asks(a, call)}}
	if widget.Width(head) > w { // what it is stands first where it takes a line
		head = []widget.Span{{Role: theme.Strong, Text: call}, {Role: theme.Dim, Text: " · " + asker(a)}}
	}
	if rows = widget.WrapSpans(head, w); content != "" && len(rows) > 1 { // what is written matters more than who asks
		rows = widget.WrapSpans(head[:1], w)
	}
	mark := c.Theme.Glyph(theme.Ellipsis)
	if len(rows) > most {
		return plainRows(theme.Strong, widget.WrapN(call, w, most, mark)), content != "" || len(widget.Wrap(call, w)) > most
	}
	if content == "" {
		return rows, false
	}
	left := most - len(rows)
	lines := widget.Wrap(strings.ReplaceAll(content, lineBreak, "\n"), w)
	if cut = len(lines) > left; cut {
		lines = widget.WrapN(content, w, left, mark)
		cut = len(widget.Wrap(content, w)) > left
	}
	return append(rows, plainRows(theme.Dim, lines)...), cut
}

// more reports that a call would do more than its label says.
func more(a policy.Approval) bool {
	label := squeeze(a.Label, len(a.Label))
	return !strings.Contains(label, squeeze(a.Text, len(label)+1))
}

// squeeze is a text with single spaces for line breaks and other white space, as
// labels have it. It ends with the word with which it gets longer than most
// bytes: a text may be long, and the card is drawn often.
func squeeze(s string, most int) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(s) {
		if word == strings.TrimSpace(lineBreak) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		if b.Len() > most {
			break
		}
	}
	return b.String()
}

func plainRows(role theme.Role, lines []string) [][]widget.Span {
	out := make([][]widget.Span, len(lines))
	for i, l := range lines {
		out[i] = []widget.Span{{Role: role, Text: l}}
	}
	return out
}

// spelled is the whole call for a page: of a tool that writes the file by itself,
// and below it what would be written.
func spelled(a policy.Approval) string {
	text := strings.TrimRight(a.Text, "\n")
	call, content, ok := strings.Cut(text, "\n")
	if !ok || !writers[a.Tool] || !strings.HasPrefix(call, a.Tool+"(") {
		return text
	}
	return call + ")\n\n" + strings.TrimSuffix(content, ")")
}

// readCall shows the tool call that has waited longest in full. It answers
// nothing, and what is asked when the page is left has to be read as before.
func (p *Pane) readCall(c pane.Context) pane.Answer {
	if len(c.Snap.Approvals) == 0 {
		return pane.Answer{Toast: textNoApproval}
	}
	a := c.Snap.Approvals[0]
	p.reading = a.ID
	call, _ := parts(a)
	return pane.Answer{Show: &pane.Page{Title: widget.Cut(call, maxCallTitle), Body: textCall(a, c.Names(action.Chat), c.ReadOnly)}}
}

// maxCallTitle is how many cells of a call stand above its page.
const maxCallTitle = 60
