package chat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/markdown"
)

// talk is the conversation as a scroll shows it: an item is a message. Messages
// are kept drawn, because only the last one ever changes.
type talk struct {
	widget.Scroll
	entries []transcript.Entry
	snap    *core.Snapshot // for its clock
	kept    map[post.MessageID]*kept
	theme   *theme.Theme   // of the plain texts: one of colours, where marks disappear
	spaced  bool           // an empty line between messages
	exit    post.MessageID // the card whose buttons end the fork of now
}

// kept is what was made of a message.
type kept struct {
	doc   markdown.Doc
	of    look // what rows were drawn of
	rows  [][]widget.Span
	spots []spot // where the buttons of the last drawing stand
	plain string // without the marks of markdown: what a search looks at, once there is one
	read  int    // the version that plain was made of, and one
}

// look is what the drawing of a message depends on.
type look struct {
	widget.Look
	version                        int
	spaced, streaming, today, exit bool
	asks                           bool // its last tool waits for the user
	where                          string
}

// sync takes the conversation of a snapshot over. The reader's place moves with
// the message that it is at.
func (t *talk) sync(s *core.Snapshot) {
	old := t.entries
	if t.snap.TwelveHours != s.TwelveHours || t.snap.Zone != s.Zone {
		clear(t.kept)
	}
	t.entries, t.snap, t.exit = s.Chat, s, exitCard(s)
	if s.ChatMore && len(s.Chat) > 0 {
		first := transcript.Entry{ID: "earlier", At: s.Chat[0].At, Role: transcript.Notice, Text: textEarlier}
		t.entries = append([]transcript.Entry{first}, s.Chat...)
	}
	if len(old) > 0 {
		t.Rebase(func(i uint64) uint64 { return place(t.entries, old, i) })
	}
	if len(t.kept) > len(t.entries) { // of messages that have gone
		maps.DeleteFunc(t.kept, func(id post.MessageID, _ *kept) bool { return entry(t.entries, id) == nil })
	}
	t.Refind()
}

// place is the index of the ith old message now; if it was removed, that of the next one that
// is left, else the last.
func place(now, old []transcript.Entry, i uint64) uint64 {
	for _, was := range old[min(i, uint64(len(old))):] {
		if j := slices.IndexFunc(now, func(e transcript.Entry) bool { return e.ID == was.ID }); j >= 0 {
			return uint64(j)
		}
	}
	return uint64(max(len(now), 1) - 1)
}

// of is what was made of a message so far.
func (t *talk) of(id post.MessageID) *kept {
	k := t.kept[id]
	if k == nil {
		k = &kept{}
		t.kept[id] = k
	}
	return k
}

// Bounds are the places of the messages: with Text and Rows they make the
// conversation a widget.Source.
func (t *talk) Bounds() (first, end uint64) { return 0, uint64(len(t.entries)) }

// Text is everything of a message that can be read, as it is drawn.
func (t *talk) Text(i uint64) string {
	e := t.entries[i]
	if e.Role != transcript.Bot && e.Role != transcript.Ping {
		return MessageText(e)
	}
	k := t.of(e.ID)
	if k.read != e.Version+1 {
		k.plain, k.read = markdown.Plain(MessageText(e), t.theme), e.Version+1
	}
	return k.plain
}

// Rows draws a message.
func (t *talk) Rows(i uint64, l widget.Look) [][]widget.Span {
	e := t.entries[i]
	spaced := t.spaced && i+1 < uint64(len(t.entries))
	k := t.of(e.ID)
	if now := (look{l, e.Version, spaced, e.Streaming, t.snap.IsToday(e.At), e.ID == t.exit, t.asks(e), e.Where}); k.of != now {
		k.of = now
		k.rows, k.spots = message(t, e, l, spaced)
	}
	return k.rows
}

// asks reports whether the last tool of a message waits for the user, so that it is not used
// yet.
func (t *talk) asks(e transcript.Entry) bool {
	if !e.Streaming || len(e.Tools) == 0 {
		return false
	}
	last := e.Tools[len(e.Tools)-1]
	return slices.ContainsFunc(t.snap.Approvals, func(a policy.Approval) bool { return a.Call == last })
}

// copyOne is the marked message, or the newest one.
func (t *talk) copyOne() pane.Answer {
	if len(t.entries) == 0 {
		return pane.Answer{Toast: textSilence}
	}
	i := uint64(len(t.entries) - 1)
	if !t.Following() {
		i = min(i, t.Mark())
	}
	return pane.Answer{Copy: MessageText(t.entries[i]), Toast: "copied the message"}
}

// copyAll is the newest messages, as many as a clipboard takes.
func (t *talk) copyAll() pane.Answer {
	if len(t.entries) == 0 {
		return pane.Answer{Toast: textSilence}
	}
	var parts []string
	size := 0
	for _, e := range slices.Backward(t.entries) {
		who := string(e.Role)
		if e.Source != "" {
			who += " (" + e.Source + ")"
		}
		part := fmt.Sprintf("%s %s: %s\n", t.snap.Clock(e.At, "15:04"), who, MessageText(e))
		if size += len(part); size > widget.MaxCopy {
			break
		}
		parts = slices.Insert(parts, 0, part)
	}
	return pane.Answer{Copy: strings.Join(parts, ""), Toast: "copied " + words.Grouped(uint64(len(parts)), "message")}
}

// MessageText is the text of a message and of its card.
func MessageText(e transcript.Entry) string {
	parts := []string{e.Text}
	if card := e.Embed; card != nil {
		parts = append(parts, card.Title, card.Description)
		for _, f := range card.Fields {
			parts = append(parts, f.Name+": "+f.Value)
		}
		parts = append(parts, card.Footer)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// airy is from how many lines on messages are separated by an empty line.
const airy = 10

// Draw implements pane.Pane: the fork's banner, the conversation, the tool call that
// waits, and the line to write on. Where there is little room, what waits for an
// answer comes first, and what is being written.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	card := p.card(c, w, h, focused)
	input := p.input(c, w, h-len(card), focused)
	foot := append(card, input...)
	lines := p.banner(c, w, h-len(foot), focused)
	b := widget.Brush{Theme: c.Theme}
	room := h - len(foot) - len(lines)
	if len(c.Snap.Chat) == 0 {
		lines = append(lines, widget.Rows(widget.Nowhere, b.Empty(w, room, "No messages yet.", textTeach(c.Names(action.Chat)))...)...)
	} else {
		p.view.spaced = h >= airy
		p.view.Names = c.Names(action.Chat)
		lines = append(lines, p.pressable(c, widget.Rows(widget.Nowhere, p.view.Lines(c.Theme, w, room, focused && !p.writing)...))...)
	}
	return append(lines, foot...)
}

// pressable gives the buttons in rows of the conversation places of their own.
func (p *Pane) pressable(c pane.Context, rows []widget.Row) []widget.Row {
	p.clicks = p.clicks[:0]
	for y := range rows {
		item, row, ok := p.view.At(y)
		if !ok || item >= uint64(len(p.view.entries)) {
			continue
		}
		id := p.view.entries[item].ID
		for _, s := range p.view.of(id).spots {
			if list := buttons(c.Snap, id); s.row == row && s.button < len(list) {
				rows[y].Spots = append(rows[y].Spots, widget.Spot{From: s.from, To: s.to, Place: widget.Place(len(p.clicks))})
				p.clicks = append(p.clicks, command.Click{Message: id, ID: list[s.button].Action})
			}
		}
	}
	return rows
}

// input is the part below the conversation: what is being written, a draft, or
// how to begin. A pane of a few lines has it only while there are words.
func (p *Pane) input(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	draft, files := p.field.Text() != "", len(c.Snap.Attached) > 0
	switch {
	case h < 1, h < 2 && !p.writing:
		return nil
	case !p.writing && !draft && (h < 5 || !focused && !files || p.view.Finding()):
		return nil
	}
	if !p.writing && !draft {
		hint := []widget.Span{{Role: theme.Key, Text: " " + c.Names(action.Chat).Name(action.ChatWrite) + " "}, {Role: theme.Dim, Text: "writes a message"}}
		if more := (widget.Span{Role: theme.Dim, Text: " or a /command"}); widget.Width(hint)+widget.Cells(more.Text) < w {
			hint = append(hint, more)
		}
		if c.ReadOnly {
			hint = []widget.Span{{Role: theme.Dim, Text: " " + c.Theme.Glyph(theme.Lock) + " " + textLocked}}
		}
		if !focused {
			return []widget.Row{rule(c, w)}
		}
		return []widget.Row{rule(c, w), {Text: b.Line(w, hint...), Place: widget.Inner}}
	}
	var out []widget.Row
	if h >= 5 {
		out = append(out, rule(c, w))
		out = append(out, widget.Rows(widget.Inner, p.suggestions(b, w, min(6, h/2-len(out)-1))...)...)
	}
	if h >= 3 {
		out = append(out, widget.Rows(widget.Inner, p.quote(c, w)...)...)
	}
	out = append(out, widget.Rows(widget.Inner, p.written(c, w, max(1, min(6, h/2-len(out))))...)...)
	return out[:min(len(out), h)]
}

// written is the input line, after the prompt.
func (p *Pane) written(c pane.Context, w, most int) []string {
	b := widget.Brush{Theme: c.Theme}
	prompt, room := b.Line(min(w, 3), widget.Span{Role: theme.You, Text: " " + c.Theme.Glyph(theme.Pointer) + " "}), w-min(w, 3)
	if w <= 6 {
		prompt, room = "", w
	}
	var out []string
	for i, line := range p.field.Lines(b, room, most, p.writing) {
		if i > 0 && prompt != "" {
			prompt = widget.Blank(3)
		}
		out = append(out, prompt+line)
	}
	return out
}

// rule separates what was said from what is being written. The files that go
// with the next message are in it.
func rule(c pane.Context, w int) widget.Row {
	var title []widget.Span
	if n := len(c.Snap.Attached); n > 0 {
		title = []widget.Span{
			{Role: theme.Accent, Text: textAttached}, {Text: widget.Cut(strings.Join(c.Snap.Attached, ", "), max(8, w-len(textAttached)-4))},
		}
	}
	return widget.Row{Text: widget.Brush{Theme: c.Theme}.Rule(w, title, nil), Place: widget.Ruled}
}
