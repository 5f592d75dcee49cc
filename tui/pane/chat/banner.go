package chat

import (
	"fmt"
	"time"

	"ollimbot/core/chat"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// bannerRule is from how many lines on a rule stands below the banner.
const bannerRule = 10

// banner says above the conversation that it is a fork's: what it is about,
// since when, and the ways out of it.
func (p *Pane) banner(c pane.Context, w, h int, focused bool) []widget.Row {
	f := c.Snap.Fork
	if f == nil || h < 3 {
		return nil
	}
	b := widget.Brush{Theme: c.Theme}
	left := subject(c, f, w)
	var keys []widget.Span
	if focused && !c.ReadOnly { // elsewhere its keys mean something else
		keys = p.offers(c, focused, offered{id: action.ForkSave}, offered{id: action.ForkReport}, offered{id: action.ForkExit})
	}
	if h < 6 && f.Asks { // the question matters more than the subject
		asks := " " + c.Theme.Glyph(theme.Bang) + " " + textAsksShort(c.Names(action.Chat))
		return widget.Rows(widget.Nowhere, b.Line(w, widget.Span{Role: theme.Warn, Text: asks}))
	}
	var out []string
	if widget.Width(left)+widget.Width(keys) < w {
		right := keys
		free := max(0, w-widget.Width(left)-widget.Width(right))
		out = append(out, b.Line(w, append(append(left, widget.Span{Text: widget.Blank(free)}), right...)...))
	} else {
		out = append(out, b.Line(w, left...))
		if len(keys) > 0 && h >= 8 {
			out = append(out, b.Line(w, append([]widget.Span{{Text: "  "}}, keys...)...))
		}
	}
	if f.Asks {
		mark := widget.Span{Role: theme.Warn, Text: " " + c.Theme.Glyph(theme.Bang) + " "}
		asks := widget.Wrap(textAsks(c.Names(action.Chat)), max(1, w-4))
		if len(asks) > 2 { // the keys matter more than the sentence
			asks = widget.WrapN(textAsksShort(c.Names(action.Chat)), max(1, w-4), 2, c.Theme.Glyph(theme.Ellipsis))
		}
		for _, l := range asks {
			out = append(out, b.Line(w, mark, widget.Span{Role: theme.Warn, Text: l}))
			mark = widget.Span{Text: "   "}
		}
	}
	rows := widget.Rows(widget.Nowhere, out...)
	if h >= bannerRule {
		rows = append(rows, widget.Row{Text: b.Rule(w, nil, nil), Place: widget.Ruled})
	}
	return rows
}

// subject is what a fork is about and how long it has stood, in w cells: of a long
// topic the end goes first, then the less telling words about its time.
func subject(c pane.Context, f *chat.Banner, w int) []widget.Span {
	mark := widget.Span{Role: theme.Report, Text: " " + c.Theme.Glyph(theme.HalfDot) + " " + textFork}
	room := w - widget.Cells(mark.Text) - 2
	about, words := topic(f), since(f, c.Snap.At)
	for len(words) > 0 && widget.Cells(about)+widget.Cells(sentence(words)) > room {
		if least := min(widget.Cells(about), minTopic); len(words) == 1 && room-widget.Cells(sentence(words)) >= least {
			about = widget.Cut(about, room-widget.Cells(sentence(words)))
			break
		}
		words = words[1:]
	}
	return []widget.Span{mark, {Text: "  "}, {Role: theme.Strong, Text: about}, {Role: theme.Dim, Text: sentence(words)}}
}

// minTopic is how many cells of a topic have to be seen.
const minTopic = 8

// sentence puts words behind a topic.
func sentence(words []string) string {
	out := ""
	for _, word := range words {
		out += " · " + word
	}
	return out + " "
}

// topic is what a fork is about.
func topic(f *chat.Banner) string {
	if f.Topic == "" {
		return textLead
	}
	return f.Topic
}

// named is a fork in a sentence.
func named(f *chat.Banner) string {
	if f.Topic == "" {
		return "this fork"
	}
	return fmt.Sprintf("the fork %q", f.Topic)
}

// since is how long a fork has stood, in minutes: nothing counts its seconds. What
// matters most stands last.
func since(f *chat.Banner, now time.Time) []string {
	out := []string{textBegun}
	if d := now.Sub(f.Since); d >= time.Minute {
		out[0] = words.Age(d)
	}
	if f.Resumed {
		out = append(out, textResumed)
	}
	return out
}

// stood is the same in a sentence.
func stood(f *chat.Banner, now time.Time) string {
	if d := now.Sub(f.Since); d >= time.Minute {
		return "has stood for " + words.Age(d)
	}
	return "has " + textBegun
}

// ways are the commands of the action table that end a fork.
var ways = map[action.ID]struct {
	how   command.Exit
	toast string
}{
	action.ForkSave:   {command.ExitSave, textSaving},
	action.ForkReport: {command.ExitReport, textReporting},
	action.ForkExit:   {command.ExitDiscard, ""}, // asks first
}

// exit leaves the fork. Where nothing is kept, it asks first.
func (p *Pane) exit(c pane.Context, id action.ID) pane.Answer {
	f := c.Snap.Fork
	switch {
	case c.ReadOnly:
		return pane.Answer{Toast: textReadOnlyExit}
	case f == nil:
		return pane.Answer{Toast: textNoFork}
	case id == action.ForkSave && f.Resumed:
		return pane.Answer{Toast: textNoSave(c.Names(action.Chat))}
	case id == action.ForkExit:
		return pane.Answer{Ask: &pane.Question{
			Text: fmt.Sprintf(textExitQuestion, named(f), stood(f, c.Snap.At)),
			Yes:  textExitYes, No: textExitNo, Do: command.ExitFork{How: command.ExitDiscard},
		}}
	}
	x := ways[id]
	toast := x.toast
	if c.Snap.Busy {
		toast += textAfterAnswer
	}
	return pane.Answer{Do: command.ExitFork{How: x.how}, Toast: toast}
}
