package chat

import (
	"fmt"
	"strings"

	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/routines/cron"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/markdown"
)

// roles are the styles of speakers.
var roles = map[transcript.Role]theme.Role{
	transcript.User:   theme.You,
	transcript.Bot:    theme.Accent,
	transcript.Ping:   theme.Ping,
	transcript.Notice: theme.Dim,
}

// edges are the colours of cards. They carry no meaning.
var edges = map[post.Color]theme.Role{
	"blue": theme.Accent, "green": theme.Good, "red": theme.Bad, "yellow": theme.Warn, "purple": theme.Report,
}

// wide is the width from which the speaker has a separate column.
const wide = 40

// column is the width of the speaker's column, with the gutter.
const column = 8

// clockColumn is the width of the time in the first line.
const clockColumn = 8

// speaker names the speaker: "you", "ping · Medication", and whether it was critical.
func speaker(t *theme.Theme, e transcript.Entry) []widget.Span {
	out := []widget.Span{{Role: roles[e.Role], Text: string(e.Role)}}
	if e.Source != "" {
		out = append(out, widget.Span{Role: theme.Dim, Text: " · "}, widget.Span{Role: theme.Strong, Text: e.Source})
	}
	if e.Critical {
		out = append(out, widget.Span{Role: theme.Bad, Text: " " + t.Glyph(theme.Bell) + " critical"})
	}
	if e.Quiet {
		out = append(out, widget.Span{Role: theme.Dim, Text: " · " + textQuiet})
	}
	if e.Label != "" {
		out = append(out, widget.Span{Role: theme.Dim, Text: " · "}, widget.Span{Role: theme.Warn, Text: fmt.Sprintf(textUntrusted, e.Label.Origin())})
	}
	return out
}

// writer puts the lines of one message together.
type writer struct {
	look   widget.Look
	indent int
	rows   [][]widget.Span
	first  []widget.Span // precedes the first line of text
	spots  []spot
}

// spot is the position of an active button: cells of a row of its message.
type spot struct{ row, from, to, button int }

// line adds an indented line.
func (w *writer) line(spans ...widget.Span) {
	head := []widget.Span{{Text: widget.Blank(w.indent)}}
	if w.first != nil {
		head, w.first = w.first, nil
	}
	w.rows = append(w.rows, append(head, spans...))
}

// room returns the width for text.
func (w *writer) room() int { return max(1, w.look.W-w.indent-1) }

// text adds wrapped text.
func (w *writer) text(role theme.Role, s string, before ...widget.Span) {
	for _, l := range widget.Wrap(s, max(1, w.room()-widget.Width(before))) {
		w.line(append(append([]widget.Span{}, before...), w.look.Matcher.Mark(role, l)...)...)
	}
}

// message draws one message: who and when, the text, the card, the tools.
func message(t *talk, e transcript.Entry, look widget.Look, spaced bool) (rows [][]widget.Span, spots []spot) {
	w := &writer{look: look}
	who := speaker(look.Theme, e)
	gutter := widget.Span{Role: theme.Accent, Text: " "}
	if look.Marked {
		gutter.Text = look.Theme.Glyph(theme.Pointer)
	}
	clock := t.snap.When(e.At, cron.Layouts{Today: "15:04", Else: "Mon 15:04"})
	head := append([]widget.Span{gutter}, who...)
	inline := look.W >= wide && widget.Width(head) < column
	if inline {
		w.indent = column
		w.first = append(head, widget.Span{Text: widget.Blank(column - widget.Width(head))})
	} else {
		w.rows = append(w.rows, head)
		if w.indent = 1; look.W >= wide {
			w.indent = column
		}
	}
	body(w, e, &t.of(e.ID).doc, t.exit, t.asks(e))
	if w.first != nil {
		w.line()
	}
	w.clock(clock)
	if spaced {
		w.rows = append(w.rows, []widget.Span{{Text: " "}})
	}
	return w.rows, w.spots
}

// clock adds the time at the end of the first line with room for it.
func (w *writer) clock(at string) {
	for i, row := range w.rows {
		if fill := w.look.W - widget.Width(row) - len(at) - 1; fill > 0 {
			w.rows[i] = append(row[:len(row):len(row)], widget.Span{Text: widget.Blank(fill)}, widget.Span{Role: theme.Dim, Text: at})
			return
		}
	}
}

// body adds the text of a message. The model's text is Markdown; the user's is shown unchanged. asks means that the
// last tool needs the user's approval.
func body(w *writer, e transcript.Entry, doc *markdown.Doc, exit post.MessageID, asks bool) {
	role := theme.Text
	if e.Role == transcript.Notice || e.Quiet {
		role = theme.Dim
	}
	text := strings.TrimRight(e.Text, "\n ")
	switch {
	case text == "":
	case e.Quiet:
		w.text(role, text)
	case e.Role == transcript.Bot || e.Role == transcript.Ping:
		w.markdown(doc, text, e.Streaming)
	case e.Role == transcript.Notice && (strings.Contains(text, "\n") || strings.HasPrefix(text, "**")): // the reply of a command with facts
		reply(w, text)
	default:
		w.text(role, text)
	}
	if e.Streaming {
		w.behind(widget.Span{Text: cursor(w.look.Theme)})
	}
	words := text != "" && e.Embed == nil && len(e.Tools) == 0
	if e.Embed != nil {
		embed(w, e, live(&e, exit))
	}
	if len(e.Tools) > 0 {
		w.text(theme.Tool, toolsText(e.Tools, asks))
	}
	if where := elsewhere(e); where != "" {
		if words && !figure(text) || len(e.Tools) > 0 {
			w.behind(widget.Span{Role: theme.Dim, Text: " · " + where})
		} else {
			w.text(theme.Dim, where)
		}
	}
}

// elsewhere names another place to read the complete message.
func elsewhere(e transcript.Entry) string {
	switch {
	case e.Where == "" || e.Streaming:
		return ""
	case e.Role == transcript.User:
		return "from " + e.Where
	}
	return "also in " + e.Where
}

// figure reports whether a text ends with code or a table, after which nothing may follow on the line.
func figure(text string) bool {
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.HasPrefix(last, "|") || strings.HasSuffix(last, "```")
}

// cursor marks the end of a growing answer.
func cursor(t *theme.Theme) string {
	if t.ASCII() {
		return "_"
	}
	return "▌"
}

// markdown adds text with rendered Markdown. The doc caches the drawing of a growing answer.
func (w *writer) markdown(doc *markdown.Doc, s string, open bool, before ...widget.Span) {
	look := markdown.Look{Theme: w.look.Theme, W: max(1, w.room()-widget.Width(before)), Open: open}
	for _, row := range doc.Rows(s, look) {
		w.line(append(before[:len(before):len(before)], w.look.Matcher.MarkSpans(row)...)...)
	}
}

// behind appends a span to the last line if there is room, else adds a new line.
func (w *writer) behind(s widget.Span) {
	last, room := len(w.rows)-1, w.indent+w.room()
	if last == 0 {
		room = min(room, w.look.W-clockColumn)
	}
	if w.first != nil || last < 0 || widget.Width(w.rows[last])+widget.Cells(s.Text) > room {
		s.Text = strings.TrimPrefix(s.Text, " · ")
		w.line(s)
		return
	}
	w.rows[last] = append(w.rows[last][:len(w.rows[last]):len(w.rows[last])], s)
}

// embed draws a card with a coloured edge. Inactive buttons are listed as used.
func embed(w *writer, message transcript.Entry, live []post.Button) {
	e := *message.Embed
	role, ok := edges[e.Color]
	if !ok {
		role = theme.Accent
	}
	edge := widget.Span{Role: role, Text: "▌ "}
	if w.look.Theme.ASCII() {
		edge.Text = "| "
	}
	if e.Title != "" {
		w.text(theme.Strong, e.Title, edge)
	}
	if e.Description != "" {
		w.markdown(&markdown.Doc{}, e.Description, false, edge)
	}
	for _, f := range e.Fields {
		w.text(theme.Text, f.Name+": "+f.Value, edge)
	}
	if len(live) > 0 {
		w.buttons(live, edge)
	} else if len(e.Buttons) > 0 {
		w.text(theme.Dim, labels(e.Buttons)+" ended", edge)
	}
	if e.Footer != "" {
		w.text(theme.Dim, e.Footer, edge)
	}
}

// buttons adds the active buttons, without wrapping within one, and records their positions.
func (w *writer) buttons(list []post.Button, edge widget.Span) {
	row, x := []widget.Span{edge}, widget.Cells(edge.Text)
	for i, b := range list {
		label := "[" + b.Label + "]"
		n := widget.Cells(label)
		if len(row) > 1 && x+n > w.room() {
			w.line(row...)
			row, x = []widget.Span{edge}, widget.Cells(edge.Text)
		}
		w.spots = append(w.spots, spot{len(w.rows), w.indent + x, w.indent + x + n, i})
		row = append(append(row, w.look.Matcher.Mark(theme.Key, label)...), widget.Span{Text: " "})
		x += n + 1
	}
	w.line(row...)
}

// labels returns the labels of buttons.
func labels(list []post.Button) string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = "[" + b.Label + "]"
	}
	return strings.Join(out, " ")
}

// fact is a line of a reply: a name and a text, or only a text.
type fact struct{ name, text string }

// facts parses the reply of a command. Its lines are "**Name**: text", or a name and a text with a gap between them.
func facts(reply string) (list []fact) {
	for line := range strings.SplitSeq(reply, "\n") {
		line = strings.TrimRight(line, " ")
		f := fact{text: line}
		if name, text, ok := strings.Cut(strings.TrimPrefix(line, "**"), "**:"); ok && strings.HasPrefix(line, "**") {
			f = fact{name, strings.TrimSpace(text)}
		} else if name, text, ok := strings.Cut(line, "  "); ok && name != "" && strings.TrimSpace(text) != "" {
			f = fact{name, strings.TrimSpace(text)}
		}
		list = append(list, fact{f.name, unquoted(f.text)})
	}
	return list
}

// unquoted shows a setting's allowed values, which are Markdown code, as plain words after a dot.
func unquoted(s string) string {
	if strings.Count(s, "`") < 2 {
		return s
	}
	return strings.NewReplacer("` `", ", ", " `", " · takes ", "`", "").Replace(s)
}

// reply adds a command's answer. If it is a list of facts, the names are in a column, and long texts wrap below
// themselves; in a narrow pane a text is below its name.
func reply(w *writer, text string) {
	list := facts(text)
	column := 0
	for _, f := range list {
		if f.name != "" {
			column = max(column, widget.Cells(f.name)+2)
		}
	}
	below := column > w.room()/2
	for _, f := range list {
		switch {
		case f.name == "":
			w.text(theme.Text, f.text)
		case below:
			w.text(theme.Key, f.name)
			w.text(theme.Text, f.text, widget.Span{Text: "  "})
		default:
			w.row(f, column)
		}
	}
}

// row adds a fact with its name in a column of the given width.
func (w *writer) row(f fact, column int) {
	head := append(w.look.Matcher.Mark(theme.Key, f.name), widget.Span{Text: widget.Blank(column - widget.Cells(f.name))})
	for _, l := range widget.Wrap(f.text, max(1, w.room()-column)) {
		w.line(append(head, w.look.Matcher.Mark(theme.Text, l)...)...)
		head = []widget.Span{{Text: widget.Blank(column)}}
	}
}

// replyTo starts a reply to the marked message, else to the bot's newest message.
func (p *Pane) replyTo(c pane.Context) pane.Answer {
	e := p.marked(c)
	for i := range c.Snap.Chat {
		if m := &c.Snap.Chat[i]; p.view.Following() && (m.Role == transcript.Bot || m.Role == transcript.Ping) {
			e = m
		}
	}
	switch {
	case e == nil:
		return pane.Answer{Toast: textNoReply}
	case e.Role == transcript.Notice:
		return pane.Answer{Toast: textReplyNotice}
	}
	p.reply, p.writing = e.ID, true
	return pane.Answer{Focus: action.Chat}
}

// quote returns the line above the input line that names the message being answered.
func (p *Pane) quote(c pane.Context, w int) []string {
	e := entry(c.Snap.Chat, p.reply)
	if e == nil {
		return nil
	}
	b := widget.Brush{Theme: c.Theme}
	out := append([]widget.Span{{Role: theme.Report, Text: " reply to "}}, speaker(c.Theme, *e)...)
	said := strings.Join(strings.Fields(MessageText(*e)), " ")
	return []string{b.Line(w, append(out, widget.Span{Role: theme.Dim, Text: ": " + widget.Cut(said, max(1, w))})...)}
}
