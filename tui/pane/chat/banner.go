package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/chat"
	"ollimbot/core/command"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
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
	out := []string{b.Spread(w, left, keys)}
	if n := widget.Width(keys); n > w/2 || widget.Width(left)+n >= w { // below, where there is room
		out[0] = b.Line(w, left...)
		if h >= 8 {
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
// topic the end goes first.
func subject(c pane.Context, f *chat.Banner, w int) []widget.Span {
	mark := widget.Span{Role: theme.Report, Text: " " + c.Theme.Glyph(theme.HalfDot) + " " + textFork + "  "}
	words := " · " + since(f, c.Snap.At) + " "
	if f.Resumed {
		words = " · " + textResumed + words
	}
	about := widget.Cut(cmp.Or(f.Topic, textLead), max(minTopic, w-widget.Cells(mark.Text+words)))
	return []widget.Span{mark, {Role: theme.Strong, Text: about}, {Role: theme.Dim, Text: words}}
}

// minTopic is how many cells of a topic have to be seen.
const minTopic = 8

// named is a fork in a sentence.
func named(f *chat.Banner) string {
	if f.Topic == "" {
		return "this fork"
	}
	return fmt.Sprintf("the fork %q", f.Topic)
}

// since is how long a fork has stood, in minutes: nothing counts its seconds.
func since(f *chat.Banner, now time.Time) string {
	if d := now.Sub(f.Since); d >= time.Minute {
		return words.Age(d)
	}
	return textBegun
}

// stood is the same in a sentence.
func stood(f *chat.Banner, now time.Time) string {
	if now.Sub(f.Since) < time.Minute {
		return "has " + textBegun
	}
	return "has stood for " + since(f, now)
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
		return pane.Answer{Ask: ExitQuestion(c.Snap)}
	}
	x := ways[id]
	toast := x.toast
	if c.Snap.Busy {
		toast += textAfterAnswer
	}
	return pane.Answer{Do: command.ExitFork{How: x.how}, Toast: toast}
}

// ExitQuestion asks before the fork of a snapshot, which must stand in one, is left
// and nothing of it kept.
func ExitQuestion(s *core.Snapshot) *pane.Question {
	return &pane.Question{
		Text: fmt.Sprintf(textExitQuestion, named(s.Fork), stood(s.Fork, s.At)),
		Yes:  textExitYes, No: textExitNo, Do: command.ExitFork{How: command.ExitDiscard},
	}
}

// choice is a card whose buttons are being chosen among.
type choice struct {
	on   bool
	card post.MessageID
	at   int
}

var buttonKeys = []key.Binding{
	key.NewBinding(key.WithHelp("←/→", "choose")),
	key.NewBinding(key.WithHelp("enter", "press")),
	key.NewBinding(key.WithHelp("esc", "leave")),
}

// entry is a message of the conversation by its id, or nil.
func entry(chat []transcript.Entry, id post.MessageID) *transcript.Entry {
	for i := range chat {
		if chat[i].ID == id && id != "" {
			return &chat[i]
		}
	}
	return nil
}

// forkAction begins the actions that end an interactive fork.
const forkAction = "fork_"

// exitCard is the card whose buttons end the fork that the chat stands in; empty
// where it stands in none. A fork that has ended has left its own card behind.
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

// exits reports whether a button ends a fork. What was sent has the id of its
// button as its action.
func exits(b post.Button) bool {
	name, _, sent := post.ParseCustomID(b.Action)
	if !sent {
		name = b.Action
	}
	return strings.HasPrefix(name, forkAction)
}

// live are the buttons of a message that do something now.
func live(e *transcript.Entry, exit post.MessageID) []post.Button {
	if e == nil || e.Embed == nil {
		return nil
	}
	if e.ID == exit || !slices.ContainsFunc(e.Embed.Buttons, exits) {
		return e.Embed.Buttons
	}
	return slices.DeleteFunc(slices.Clone(e.Embed.Buttons), exits)
}

// buttons are those that can be pressed of the message with an id.
func buttons(s *core.Snapshot, id post.MessageID) []post.Button {
	return live(entry(s.Chat, id), exitCard(s))
}

// Off says why an action cannot be used now; empty means that it can.
func (p *Pane) Off(c pane.Context, id action.ID) string {
	if id == action.ChatButtons && newestCard(c.Snap) == nil {
		return textNoButtons
	}
	return ""
}

// newestCard is the newest message with a button that does something now, or nil.
func newestCard(s *core.Snapshot) *transcript.Entry {
	exit := exitCard(s)
	for i := range slices.Backward(s.Chat) {
		if e := &s.Chat[i]; len(live(e, exit)) > 0 {
			return e
		}
	}
	return nil
}

// choose begins to choose among the buttons of the marked card, else of the
// newest one.
func (p *Pane) choose(c pane.Context) pane.Answer {
	click := p.clicked
	p.clicked = nil
	switch {
	case c.ReadOnly:
		return pane.Answer{Toast: textReadOnlyPress}
	case click != nil:
		return pane.Answer{Do: *click}
	}
	card := newestCard(c.Snap)
	if e := p.marked(c); e != nil && len(buttons(c.Snap, e.ID)) > 0 {
		card = e
	}
	if card == nil {
		return pane.Answer{Toast: textNoButtons}
	}
	p.pick = choice{on: true, card: card.ID}
	return pane.Answer{Focus: action.Chat}
}

// marked is the message that the reader stands at; nil while the pane follows.
func (p *Pane) marked(c pane.Context) *transcript.Entry {
	if i := p.view.Mark(); !p.view.Following() && i < uint64(len(p.view.entries)) {
		return entry(c.Snap.Chat, p.view.entries[i].ID)
	}
	return nil
}

// typeChoice takes the keys while a button is being chosen.
func (p *Pane) typeChoice(c pane.Context, msg tea.Msg) pane.Answer {
	press, ok := msg.(tea.KeyPressMsg)
	list := buttons(c.Snap, p.pick.card)
	n := len(list)
	if !ok || n == 0 {
		return pane.Answer{}
	}
	k := press.Keystroke()
	switch k {
	case "esc":
		p.pick = choice{}
	case "left", "shift+tab", "up":
		p.pick.at = (p.pick.at + n - 1) % n
	case "right", "tab", "down":
		p.pick.at = (p.pick.at + 1) % n
	case "enter":
		click := command.Click{Message: p.pick.card, ID: list[min(p.pick.at, n-1)].Action}
		p.pick = choice{}
		return pane.Answer{Do: click}
	default:
		if len(k) == 1 && k[0] >= '1' && int(k[0]-'1') < n {
			p.pick.at = int(k[0] - '1')
		}
	}
	return pane.Answer{}
}

// choosing draws the card's title and its buttons, the chosen one in reverse and
// behind a pointer. Where not all fit, the chosen one is shown and counted.
func (p *Pane) choosing(c pane.Context, w, h int) []widget.Row {
	e, list := entry(c.Snap.Chat, p.pick.card), buttons(c.Snap, p.pick.card)
	if len(list) == 0 || h < 1 {
		return nil
	}
	b := widget.Brush{Theme: c.Theme}
	p.pick.at = min(p.pick.at, len(list)-1)
	var row []widget.Span
	for i := range list {
		row = append(row, p.button(c, list, i)...)
	}
	if widget.Width(row) > w {
		row = append(p.button(c, list, p.pick.at), widget.Span{Role: theme.Dim, Text: turn(p.pick.at+1, len(list))})
	}
	out := widget.Rows(widget.Inner, b.Line(w, row...))
	if h < 4 {
		return out
	}
	title := []widget.Span{{Role: theme.Accent, Text: textPress}, {Text: widget.Cut(e.Embed.Title, max(8, w-len(textPress)-4))}}
	return append([]widget.Row{{Text: b.Rule(w, title, nil), Place: widget.Ruled}}, out...)
}

func (p *Pane) button(c pane.Context, list []post.Button, i int) []widget.Span {
	pointer, role := " ", theme.Key
	if i == p.pick.at {
		pointer, role = c.Theme.Glyph(theme.Pointer), theme.Caret
	}
	return []widget.Span{{Role: theme.Accent, Text: pointer}, {Role: role, Text: "[" + list[i].Label + "]"}, {Text: " "}}
}
