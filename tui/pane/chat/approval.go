package chat

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// seen is the tool call in the pane's question, and when the question appeared.
type seen struct {
	id    string
	since time.Time
}

// readable is how long a question must be visible, without a key that answers it, before it can be answered. A key
// that was on its way when it appeared, or was meant for the previous question, is ignored.
const readable = 500 * time.Millisecond

// show records that a question is visible.
func (s *seen) show(id string) {
	if s.id != id {
		s.id, s.since = id, time.Now()
	}
}

// verdicts are the answers of the action table.
var verdicts = map[action.ID]policy.Verdict{
	action.ApprovalAllow: policy.Allow, action.ApprovalDeny: policy.Deny, action.ApprovalAlways: policy.Always,
}

// answer answers the oldest pending tool call.
func (p *Pane) answer(c pane.Context, v policy.Verdict) pane.Answer {
	a := c.Snap.Approvals[0]
	if p.reading != "" && p.reading != a.ID { // another call was read: this one appeared below its page
		p.asked = seen{a.ID, time.Now()}
	}
	p.reading = ""
	if p.asked.id != a.ID || time.Since(p.asked.since) < readable {
		p.asked = seen{a.ID, time.Now()} // a key that repeats does not answer either
		return pane.Answer{Toast: textReadFirst}
	}
	return pane.Answer{Do: command.Answer{ID: a.ID, Verdict: v}}
}

// card draws the pending tool call above the input line; in a pane with few lines it takes one.
func (p *Pane) card(c pane.Context, w, h int, focused bool) []widget.Row {
	n := len(c.Snap.Approvals)
	if n == 0 || h < 1 || h == 1 && p.writing {
		return nil
	}
	a := c.Snap.Approvals[0]
	p.asked.show(a.ID)
	b := widget.Brush{Theme: c.Theme}
	if h < 6 {
		return widget.Rows(widget.Nowhere, p.askLine(c, w))
	}
	left := []widget.Span{{Role: theme.Warn, Text: TimeLeft(a, c.Snap.At)}}
	mark := widget.Span{Role: theme.Warn, Text: " " + c.Theme.Glyph(theme.Bang) + " "}
	title := []widget.Span{{Role: theme.Warn, Text: "permission"}}
	if n > 1 {
		title = append(title, widget.Span{Role: theme.Dim, Text: fmt.Sprintf(" 1 of %d", n)})
	}
	if w < widget.Width(title)+widget.Width(left)+10 { // the time matters more
		title[0], left = left[0], nil
	}
	rows, cut := callRows(c, a, max(1, w-4), max(1, min(4, h/3)))
	out := []widget.Row{{Text: b.Rule(w, title, left), Place: widget.Ruled}}
	for _, row := range rows {
		out = append(out, widget.Row{Text: b.Line(w, mark, widget.Span{Role: theme.Strong, Text: row}), Place: widget.Nowhere})
		mark = widget.Span{Text: "   "}
	}
	return append(out, widget.Row{Text: b.Line(w, p.answers(c, a.Scope(), w, focused, cut)...), Place: widget.Nowhere})
}

// answers returns the answer keys, in w cells, after a hint to read the part of the call that the card does not show.
func (p *Pane) answers(c pane.Context, scope string, w int, focused, cut bool) []widget.Span {
	ids := []action.ID{action.ApprovalRead, action.ApprovalAllow, action.ApprovalDeny, action.ApprovalAlways}
	if !cut {
		ids = ids[1:]
	}
	if scope == "" {
		return p.offers(c, focused, "", ids[:len(ids)-1]...)
	}
	for _, more := range []string{"always allow " + scope, ""} {
		if keys := p.offers(c, focused, more, ids...); widget.Width(keys) <= w {
			return keys
		}
	}
	return p.offers(c, focused, "", ids[:len(ids)-1]...)
}

// askLine returns the pending tool call in one line. A long label is cut in its middle, before the keys and the time.
func (p *Pane) askLine(c pane.Context, w int) string {
	a := c.Snap.Approvals[0]
	p.asked.show(a.ID)
	w = max(0, w)
	mark := " " + c.Theme.Glyph(theme.Bang) + " "
	right := []widget.Span{{Role: theme.Key, Text: " " + textAnswers(a, c.Names(action.Chat))}, {Role: theme.Warn, Text: " " + TimeLeft(a, c.Snap.At) + " "}}
	b := widget.Brush{Theme: c.Theme}
	if w-widget.Width(right) < minLabel { // the keys matter more than the time
		right = right[:1]
	}
	n, label := widget.Width(right), a.Label
	if a.Command != "" && widget.Width([]widget.Span{{Text: mark + label}}) > w-n { // the question is clear from the command
		label = strings.ReplaceAll(a.Text, "\n", lineBreak)
	}
	left := []widget.Span{{Role: theme.Warn, Text: mark}, {Role: theme.Strong, Text: label}}
	if w-n < minLabel {
		return b.Line(w, left...)
	}
	left[1].Text = widget.CutMiddle(label, w-n-widget.Cells(mark), c.Theme.Glyph(theme.Ellipsis))
	return b.Line(w-n, left...) + b.Line(n, right...)
}

// minLabel is the minimum visible width of a label.
const minLabel = 12

// TimeLeft returns the time until the tool call expires, rounded up to seconds.
func TimeLeft(a policy.Approval, now time.Time) string {
	return words.Elapsed(a.Until.Sub(now)+time.Second-1) + " left"
}

// lineBreak replaces a line break in a label.
const lineBreak = " ⏎ "

// callRows returns a tool call in at most most rows of w cells, and whether there is more to read. If the sentence
// takes more than a row, the call is first. Of a call that does not fit, the beginning and the end are shown.
func callRows(c pane.Context, a policy.Approval, w, most int) (rows []string, cut bool) {
	sentence, brief := "The "+core.Asker(a)+" asks: "+a.Label, a.Label+" · "+core.Asker(a)
	for i, text := range []string{sentence, brief, a.Label} {
		if rows = widget.Wrap(text, w); len(rows) == 1 || i > 0 && len(rows) <= most {
			return rows, More(a)
		}
	}
	mark := c.Theme.Glyph(theme.Ellipsis)
	if most == 1 {
		return []string{widget.CutMiddle(a.Label, w, mark)}, true
	}
	rows = widget.Wrap(sentence, w)
	return append(widget.WrapN(sentence, w, most-most/2, mark), rows[len(rows)-most/2:]...), true
}

// More reports whether a call has more content than its label. It does not compare much longer texts, because the
// card is drawn often.
func More(a policy.Approval) bool {
	flat := func(s string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(s, strings.TrimSpace(lineBreak), " ")), " ")
	}
	return len(a.Text) > 4*len(a.Label) || !strings.Contains(flat(a.Label), flat(a.Text))
}

// readCall shows the oldest pending tool call in full. It does not answer it: the question after the page must be
// visible long enough again.
func (p *Pane) readCall(c pane.Context) pane.Answer {
	a := c.Snap.Approvals[0]
	p.reading = a.ID
	return pane.Answer{Open: dialog.NewPage(widget.Cut(a.Label, maxCallTitle), textCall(a, c.Names(action.Chat), c.ReadOnly))}
}

// maxCallTitle is the width of the call in the title of its page.
const maxCallTitle = 60
