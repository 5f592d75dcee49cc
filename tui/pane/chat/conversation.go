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

// talk is the conversation as the source of a scroll view, one item per message. It caches drawings, because only the
// last message ever changes.
type talk struct {
	widget.Scroll
	entries []transcript.Entry
	snap    *core.Snapshot // for its clock
	kept    map[post.MessageID]*kept
	theme   *theme.Theme   // for plain texts: one with colours, which hides marks
	spaced  bool           // an empty line between messages
	exit    post.MessageID // the card whose buttons end the current fork
}

// kept is the cached data of a message.
type kept struct {
	doc   markdown.Doc
	of    look // the input of rows
	rows  [][]widget.Span
	spots []spot // positions of the buttons in the last drawing
	plain string // without Markdown marks, for searching; created on demand
	read  int    // the version of plain, plus one
}

// look is the input of a message's drawing.
type look struct {
	widget.Look
	version                        int
	spaced, streaming, today, exit bool
	asks                           bool // its last tool waits for the user
	where                          string
}

// sync takes the conversation from a snapshot. The scroll position stays at the same message.
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
	if len(t.kept) > len(t.entries) { // includes removed messages
		maps.DeleteFunc(t.kept, func(id post.MessageID, _ *kept) bool { return entry(t.entries, id) == nil })
	}
	t.Refind()
}

// place returns the new index of the ith old message; if it was removed, that of the next remaining one, else the
// last.
func place(now, old []transcript.Entry, i uint64) uint64 {
	for _, was := range old[min(i, uint64(len(old))):] {
		if j := slices.IndexFunc(now, func(e transcript.Entry) bool { return e.ID == was.ID }); j >= 0 {
			return uint64(j)
		}
	}
	return uint64(max(len(now), 1) - 1)
}

// of returns the cached data of a message.
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

// Text returns all visible text of a message.
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

// asks reports whether the last tool of a message still needs the user's approval.
func (t *talk) asks(e transcript.Entry) bool {
	if !e.Streaming || len(e.Tools) == 0 {
		return false
	}
	last := e.Tools[len(e.Tools)-1]
	return slices.ContainsFunc(t.snap.Approvals, func(a policy.Approval) bool { return a.Call == last })
}

// copyOne copies the marked message, or the newest one.
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

// copyAll copies the newest messages, as many as a clipboard takes.
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

// airy is the height from which messages are separated by an empty line.
const airy = 64

// Draw implements pane.Pane: the fork's banner, the conversation, the pending tool call, and the input line. If there
// is little room, pending questions and the input line have priority.
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

// pressable adds Places for the buttons in rows of the conversation.
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

// input draws the part below the conversation: the text being written, a draft, or a hint. A pane with few lines has
// it only while there is text.
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

// written draws the input line, after the prompt.
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

// rule separates the conversation from the input line. It lists the files of the next message.
func rule(c pane.Context, w int) widget.Row {
	var title []widget.Span
	if n := len(c.Snap.Attached); n > 0 {
		title = []widget.Span{
			{Role: theme.Accent, Text: textAttached}, {Text: widget.Cut(strings.Join(c.Snap.Attached, ", "), max(8, w-len(textAttached)-4))},
		}
	}
	return widget.Row{Text: widget.Brush{Theme: c.Theme}.Rule(w, title, nil), Place: widget.Ruled}
}
