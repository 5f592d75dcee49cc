package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// bannerRule is the height from which the banner has a rule below it.
const bannerRule = 10

// banner shows, above the conversation, that it is a fork: its topic, its age, and the keys to leave it.
func (p *Pane) banner(c pane.Context, w, h int, focused bool) []widget.Row {
	f := c.Snap.Fork
	if f == nil || h < 3 {
		return nil
	}
	b := widget.Brush{Theme: c.Theme}
	left := subject(c, f, w)
	var keys []widget.Span
	if focused && !c.ReadOnly { // in other panes its keys have other meanings
		keys = p.offers(c, focused, "", action.ForkSave, action.ForkReport, action.ForkExit)
	}
	mark, question := " "+c.Theme.Glyph(theme.Bang)+" ", textAsks(c.Names(action.Chat))
	if widget.Cells(mark+textAsksLead+question) < w {
		question = textAsksLead + question
	}
	asks := widget.Span{Role: theme.Warn, Text: mark + question}
	if h < 6 && f.Asks { // the question is more important than the subject
		return widget.Rows(widget.Nowhere, b.Line(w, asks))
	}
	out := []string{b.Spread(w, left, keys)}
	if n := widget.Width(keys); n > w/2 || widget.Width(left)+n >= w { // below, where there is room
		out[0] = b.Line(w, left...)
		if h >= 8 {
			out = append(out, b.Line(w, append([]widget.Span{{Text: "  "}}, keys...)...))
		}
	}
	if f.Asks {
		out = append(out, b.Line(w, asks))
	}
	rows := widget.Rows(widget.Nowhere, out...)
	if h >= bannerRule {
		rows = append(rows, widget.Row{Text: b.Rule(w, nil, nil), Place: widget.Ruled})
	}
	return rows
}

// subject returns a fork's topic and age, in w cells. A long topic is cut first.
func subject(c pane.Context, f *chat.Banner, w int) []widget.Span {
	mark := widget.Span{Role: theme.Report, Text: " " + c.Theme.Glyph(theme.HalfDot) + " " + textFork + "  "}
	words := " · " + since(f, c.Snap.At) + " "
	if f.Resumed {
		words = " · resumed" + words
	}
	about := widget.Cut(cmp.Or(f.Topic, "you lead"), max(minTopic, w-widget.Cells(mark.Text+words)))
	return []widget.Span{mark, {Role: theme.Strong, Text: about}, {Role: theme.Dim, Text: words}}
}

// minTopic is the minimum visible width of a topic.
const minTopic = 8

// named returns a fork's name in a sentence.
func named(f *chat.Banner) string {
	if f.Topic == "" {
		return "this fork"
	}
	return fmt.Sprintf("the fork %q", f.Topic)
}

// since returns a fork's age in minutes, so that the banner does not change every second.
func since(f *chat.Banner, now time.Time) string {
	if d := now.Sub(f.Since); d >= time.Minute {
		return words.Age(d)
	}
	return "just started"
}

// exit leaves the fork. If nothing would be kept, it asks first.
func (p *Pane) exit(c pane.Context, id action.ID) pane.Answer {
	if id == action.ForkExit {
		return pane.Answer{Ask: ExitQuestion(c.Snap)}
	}
	how, toast := command.ExitSave, textSaving
	if id == action.ForkReport {
		how, toast = command.ExitReport, textReporting
	}
	if c.Snap.Busy {
		toast += textAfterAnswer
	}
	return pane.Answer{Do: command.ExitFork{How: how}, Toast: toast}
}

// ExitQuestion asks before the fork of a snapshot, which must have one, is left
// without keeping anything.
func ExitQuestion(s *core.Snapshot) *pane.Question {
	return &pane.Question{
		Text: fmt.Sprintf(textExitQuestion, named(s.Fork), since(s.Fork, s.At)),
		Yes:  textExitYes, No: "stay in the fork", Do: command.ExitFork{How: command.ExitDiscard},
	}
}

// entry returns a message by its ID, or nil.
func entry(chat []transcript.Entry, id post.MessageID) *transcript.Entry {
	for i := range chat {
		if chat[i].ID == id && id != "" {
			return &chat[i]
		}
	}
	return nil
}

// forkAction is the prefix of actions that end an interactive fork.
const forkAction = "fork_"

// exitCard returns the card whose buttons end the current fork; empty without a fork. The cards of ended forks are
// still in the conversation.
func exitCard(s *core.Snapshot) post.MessageID {
	if s.Fork == nil {
		return ""
	}
	for i := len(s.Chat) - 1; i >= 0; i-- {
		if e := s.Chat[i].Embed; e != nil && slices.ContainsFunc(e.Buttons, exits) {
			return s.Chat[i].ID
		}
	}
	return ""
}

// exits reports whether a button ends a fork. A sent button has its ID as its action.
func exits(b post.Button) bool {
	name, _, sent := post.ParseCustomID(b.Action)
	if !sent {
		name = b.Action
	}
	return strings.HasPrefix(name, forkAction)
}

// live returns the active buttons of a message.
func live(e *transcript.Entry, exit post.MessageID) []post.Button {
	if e == nil || e.Embed == nil {
		return nil
	}
	if e.ID == exit || !slices.ContainsFunc(e.Embed.Buttons, exits) {
		return e.Embed.Buttons
	}
	return slices.DeleteFunc(slices.Clone(e.Embed.Buttons), exits)
}

// buttons returns the active buttons of the message with an ID.
func buttons(s *core.Snapshot, id post.MessageID) []post.Button {
	return live(entry(s.Chat, id), exitCard(s))
}

// Off returns why an action is disabled, or empty if it is not.
func (p *Pane) Off(c pane.Context, id action.ID) string {
	if id == action.ChatButtons && newestCard(c.Snap) == nil {
		return textNoButtons
	}
	return ""
}

// newestCard returns the newest message with an active button, or nil.
func newestCard(s *core.Snapshot) *transcript.Entry {
	exit := exitCard(s)
	for i := range slices.Backward(s.Chat) {
		if e := &s.Chat[i]; len(live(e, exit)) > 0 {
			return e
		}
	}
	return nil
}

// choose opens a choice of the buttons of the marked card, else of the newest one.
func (p *Pane) choose(c pane.Context) pane.Answer {
	click := p.clicked
	p.clicked = nil
	if click != nil {
		if d := asksTime(c, *click); d != nil {
			return pane.Answer{Open: d}
		}
		return pane.Answer{Do: *click}
	}
	card := newestCard(c.Snap)
	if e := p.marked(c); e != nil && len(buttons(c.Snap, e.ID)) > 0 {
		card = e
	}
	list := buttons(c.Snap, card.ID)
	labels := make([]string, len(list))
	for i, b := range list {
		labels[i] = b.Label
	}
	clickOf := func(i int) command.Click { return command.Click{Message: card.ID, ID: list[i].Action} }
	form := dialog.Pick(cmp.Or(card.Embed.Title, "Press a button"), labels, 0, func(i int) command.Value { return clickOf(i) })
	form.Then = func(c pane.Context, i int) pane.Dialog { return asksTime(c, clickOf(i)) }
	return pane.Answer{Open: form}
}

// asksTime returns the form for the time that a button needs, as Discord opens one; nil if
// the button can be pressed as it is. Later below a reminder means in an hour.
func asksTime(c pane.Context, click command.Click) pane.Dialog {
	name, data, sent := post.ParseCustomID(click.ID)
	form, asks := post.FormOf(name, data)
	if !sent || !asks || name == post.RemindLater || len(form.Fields) != 1 || form.Fields[0].Name != post.FieldWhen {
		return nil
	}
	return dialog.NewUntil(c, form.Title, time.Time{}, func(at time.Time) command.Value {
		click.Value = c.Snap.Local(at).Format("2006-01-02 15:04")
		return click
	})
}

// marked returns the marked message; nil while the pane follows.
func (p *Pane) marked(c pane.Context) *transcript.Entry {
	if i := p.view.Mark(); !p.view.Following() && i < uint64(len(p.view.entries)) {
		return entry(c.Snap.Chat, p.view.entries[i].ID)
	}
	return nil
}
