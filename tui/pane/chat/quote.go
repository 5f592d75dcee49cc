package chat

import (
	"strings"

	"ollimbot/core/transcript"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// replyTo begins a reply to the marked message, else to the newest that the bot
// has sent.
func (p *Pane) replyTo(c pane.Context) pane.Answer {
	if c.ReadOnly {
		return pane.Answer{Toast: textReadOnly}
	}
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

// quote is the line above what is being written that says what it answers.
func (p *Pane) quote(c pane.Context, w int) []string {
	e := entry(c.Snap.Chat, p.reply)
	if e == nil {
		return nil
	}
	b := widget.Brush{Theme: c.Theme}
	out := append([]widget.Span{{Role: theme.Report, Text: " " + textReply}}, speaker(c.Theme, *e)...)
	said := strings.Join(strings.Fields(messageText(*e)), " ")
	return []string{b.Line(w, append(out, widget.Span{Role: theme.Dim, Text: ": " + widget.Cut(said, max(1, w))})...)}
}
