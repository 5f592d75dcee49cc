package chat

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// compose handles keys and pastes while a message is being written.
func (p *Pane) compose(msg tea.Msg) pane.Answer {
	press, _ := msg.(tea.KeyPressMsg)
	if press.Keystroke() == "tab" {
		p.complete()
		return pane.Answer{}
	}
	p.tab = completion{}
	if paste, ok := msg.(tea.PasteMsg); ok {
		text, cut := p.folds.fold(paste.Content, p.field.Text())
		p.field.Insert(text)
		if cut {
			return pane.Answer{Toast: textPasteCut}
		}
		return pane.Answer{}
	}
	a, done := p.composeKey(press.Keystroke())
	if !done {
		p.field.Update(msg)
	}
	return a
}

// composeKey handles the chat's own keys, and reports whether it did; other keys go to the editor.
func (p *Pane) composeKey(k string) (a pane.Answer, done bool) {
	switch k {
	case "esc":
		p.writing = false
		if p.field.Text() == "" {
			p.reply = ""
		}
	case "enter":
		return p.send(), true
	case "alt+enter", "shift+enter", "ctrl+j":
		p.field.Insert("\n")
	case unfoldKey:
		return p.unfold(), true
	case "pgup":
		p.view.Do("pgup")
	case "pgdown":
		p.view.Do("pgdn")
	case "up", "down":
		return pane.Answer{}, p.leaf(k)
	case "backspace":
		if p.field.Text() == "" {
			p.reply = ""
			return pane.Answer{}, true
		}
		before, _ := p.field.Around()
		n := p.folds.last(before)
		for range n {
			p.field.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
		}
		return pane.Answer{}, n > 0
	default:
		return pane.Answer{}, false
	}
	return pane.Answer{}, true
}

// leaf goes through the history if the caret is on the first or last line; elsewhere the caret moves.
func (p *Pane) leaf(k string) bool {
	top, bottom := p.field.Edges()
	if k == "up" && !top || k == "down" && !bottom {
		return false
	}
	text, ok := p.past.step(map[string]int{"up": -1, "down": +1}[k], p.folds.unfold(p.field.Text()))
	if ok {
		p.recall(text)
	}
	return ok
}

// recall replaces the text; a long one is folded.
func (p *Pane) recall(text string) {
	p.field.Clear()
	p.folds = folds{}
	text, _ = p.folds.fold(text, "")
	p.field.Insert(text)
}

// Draft returns the unsent text, or empty.
func (p *Pane) Draft() string { return strings.TrimSpace(p.folds.unfold(p.field.Text())) }

// The number of lines or bytes from which pasted text is folded to a token, so that the text around it stays visible.
const (
	foldLines = 8
	foldBytes = 1500
)

// maxPaste is the maximum size of one paste, in bytes.
const maxPaste = 256 << 10

// folds are pasted texts that a token replaces in the line: "[pasted 1,204 lines]". The
// message contains the texts.
type folds struct{ parts []folded }

type folded struct{ token, text string }

// fold returns a paste as it is shown in the line: unchanged if it is short and contains nothing that looks like a
// token. It never turns existing text of the line into a token.
func (f *folds) fold(text, line string) (shown string, cut bool) {
	// Write U+FFFD as the input line does, so that a text is sent the same way with and without folding.
	text = strings.ReplaceAll(strings.TrimRight(clean.Text(text), "\n"), "\ufffd", "?")
	if cut = len(text) > maxPaste; cut {
		text = strings.ToValidUTF8(text[:maxPaste], "")
	}
	lines := strings.Count(text, "\n") + 1
	if lines <= foldLines && len(text) <= foldBytes && f.unfold(text) == text {
		return text, cut
	}
	taken := line
	for _, p := range f.parts {
		if p.text == text {
			return p.token, cut
		}
		taken += p.token
	}
	words := pastedWords(lines, utf8.RuneCountInString(text))
	token := words
	for same := 2; strings.Contains(taken, token); same++ {
		token = words[:len(words)-1] + fmt.Sprintf(", %d]", same)
	}
	f.parts = append(f.parts, folded{token, text})
	return token, cut
}

// unfold returns the line as it is sent. A token within a pasted text is not replaced.
func (f *folds) unfold(line string) string {
	var pairs []string
	for _, p := range f.parts {
		pairs = append(pairs, p.token, p.text)
	}
	return strings.NewReplacer(pairs...).Replace(line)
}

// last returns the length of the token before the caret, in characters, or 0: a token is deleted as a whole.
func (f *folds) last(before string) int {
	for _, p := range f.parts {
		if strings.HasSuffix(before, p.token) {
			return utf8.RuneCountInString(p.token)
		}
	}
	return 0
}

// pastedWords returns the token of a text with its number of lines, or of characters if it has only one line.
func pastedWords(lines, characters int) string {
	if lines > 1 {
		return "[pasted " + words.Grouped(uint64(lines), "line") + "]"
	}
	return "[pasted " + words.Grouped(uint64(characters), "character") + "]"
}

// unfoldKey shows the pasted text. Like the other keys of the input line, it is not in the action table.
const unfoldKey = "ctrl+o"

// unfoldLines is the maximum number of lines unfolded in place. Longer texts are shown on a page.
const unfoldLines = 400

// unfold replaces tokens by their pasted texts, without changing the message. A text that is too long for the line,
// or that would change its meaning there, is shown on a page.
func (p *Pane) unfold() pane.Answer {
	open := p.folds.unfold(p.field.Text())
	switch {
	case !p.folded():
	case strings.Count(open, "\n") >= unfoldLines, !p.field.Fits(open), p.folds.unfold(open) != open:
		return pane.Answer{Open: dialog.NewPage("pasted text", open)}
	default:
		p.field.Clear()
		p.folds = folds{}
		p.field.Insert(open)
	}
	return pane.Answer{}
}

// folded reports whether the line contains a token.
func (p *Pane) folded() bool { return p.folds.unfold(p.field.Text()) != p.field.Text() }

// maxHistory is the number of stored lines.
const maxHistory = 200

// history is the user's sent messages: "up" on the first line goes to older ones, "down" on the last line returns to
// the draft.
type history struct {
	lines []string // oldest first
	at    int      // index of the shown line; len(lines) is the draft
	draft string
}

// seed adds the user's messages from before the dashboard opened.
func (h *history) seed(chat []transcript.Entry) {
	if len(h.lines) > 0 {
		return
	}
	for _, e := range chat {
		if e.Role == transcript.User {
			h.add(e.Text)
		}
	}
}

// add stores a sent line; a repeated one is stored once.
func (h *history) add(text string) {
	text = strings.TrimSpace(text)
	if n := len(h.lines); text != "" && (n == 0 || h.lines[n-1] != text) {
		h.lines = append(h.lines, text)
	}
	h.lines = h.lines[max(0, len(h.lines)-maxHistory):]
	h.at, h.draft = len(h.lines), ""
}

// step goes to an older line (-1) or a newer one (1). now is the current text. ok is false at either end.
func (h *history) step(by int, now string) (text string, ok bool) {
	to := h.at + by
	if to < 0 || to > len(h.lines) {
		return "", false
	}
	if h.at == len(h.lines) {
		h.draft = now
	}
	if h.at = to; to == len(h.lines) {
		return h.draft, true
	}
	return h.lines[to], true
}

// completion is the state of completing a command with "tab".
type completion struct {
	stem string // the text before the first tab
	on   bool
	at   int
}

// command returns the name of the command in the input line, and whether text follows it; ok is false if the line is
// not a command.
func (p *Pane) command() (name string, whole, ok bool) {
	line, ok := strings.CutPrefix(strings.TrimLeft(p.field.Text(), " \n"), "/")
	if !ok {
		return "", false, false
	}
	if i := strings.IndexAny(line, " \n"); i >= 0 {
		return strings.ToLower(line[:i]), true, true
	}
	return strings.ToLower(line), false, true
}

// matching returns the commands that start with the line, or equal it.
func (p *Pane) matching() []command.Command {
	name, whole, ok := p.command()
	if !ok {
		return nil
	}
	if p.tab.on {
		name = p.tab.stem
	}
	var out []command.Command
	for _, c := range p.commands {
		if c.Name == name && whole || !whole && strings.HasPrefix(c.Name, name) {
			out = append(out, c)
		}
	}
	return out
}

// complete writes the next matching command. If there is only one, a space for its arguments follows.
func (p *Pane) complete() {
	name, whole, ok := p.command()
	found := p.matching()
	if !ok || whole || len(found) == 0 {
		return
	}
	if len(found) == 1 {
		p.recall(strings.TrimSuffix(usage(found[0]), found[0].Usage))
		p.tab = completion{}
		return
	}
	if p.tab.on {
		p.tab.at = (p.tab.at + 1) % len(found)
	} else {
		p.tab = completion{stem: name, on: true}
	}
	p.recall("/" + found[p.tab.at].Name)
}

// suggestions draws the matching commands with their arguments and effects, in at most most lines around the current
// one.
func (p *Pane) suggestions(b widget.Brush, w, most int) []string {
	name, _, ok := p.command()
	if !ok || !p.writing || most < 1 {
		return nil
	}
	found := p.matching()
	if len(found) == 0 {
		return []string{b.Line(w, widget.Span{Role: theme.Warn, Text: " there is no command /" + widget.Cut(name, 20) + ": /help lists them"})}
	}
	shown, wide := min(len(found), most), 0
	if shown < len(found) && shown > 1 {
		shown-- // the last line counts the others
	}
	top := max(0, p.tab.at-shown+1)
	for _, c := range found[top : top+shown] {
		wide = max(wide, widget.Cells(usage(c)))
	}
	var out []string
	for i, c := range found[top : top+shown] {
		gutter := " "
		if p.tab.on && top+i == p.tab.at {
			gutter = b.Theme.Glyph(theme.Pointer)
		}
		out = append(out, b.Line(w, widget.Span{Role: theme.Accent, Text: gutter}, widget.Span{Role: theme.Key, Text: widget.Fit(usage(c), wide+2)},
			widget.Span{Role: theme.Dim, Text: c.About}))
	}
	if rest := len(found) - shown; rest > 0 && most > 1 {
		out = append(out, b.Line(w, widget.Span{Role: theme.Dim, Text: fmt.Sprintf(" and %d more: tab cycles through them", rest)}))
	}
	return out
}

// usage returns a command with its arguments.
func usage(c command.Command) string { return strings.TrimSpace("/" + c.Name + " " + c.Usage) }
