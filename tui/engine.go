package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// enginePage is everything about the model and what stands behind it.
func enginePage(s *core.Snapshot) *page {
	e := s.Engine
	var rows []pageRow
	row := func(name, format string, args ...any) {
		rows = append(rows, pageRow{name, clean.Line(fmt.Sprintf(format, args...))})
	}
	row(textEngineName, "%s %s", e.Name, e.Version)
	row(textEngineModel, "%s", e.Model)
	row(textEngineState, "%s", e.State)
	row(textSurfaceName, "%s %s", s.Surface.Name, s.Surface.State)
	if e.Warning != "" {
		row(textEngineWarning, "%s", e.Warning)
	}
	row(textEngineToday, "%s", spentText(e.Today))
	if len(e.Processes) > 0 {
		rows = append(rows, pageRow{}, pageRow{text: textEngineProcesses})
	}
	for _, p := range e.Processes {
		rows = append(rows, pageRow{fmt.Sprintf("  %7d", p.PID), fmt.Sprintf("session  %7s  %6s  %s", megabytes(p.Memory),
			since(s.At.Sub(p.Started)), clean.Cut(clean.Line(p.Session), 40))})
	}
	return newTable(textEngineTitle, engineColumn, rows)
}

// engineColumn is where values begin, behind their names and process ids.
const engineColumn = 11

func spentText(u agent.Usage) string {
	if u.Tokens() == 0 {
		return textNothingSpent
	}
	return fmt.Sprintf("%d tokens (%d in, %d out, %d cache read, %d cache write), $%.2f",
		u.Tokens(), u.InputTokens, u.OutputTokens, u.CacheRead, u.CacheWrite, u.CostUSD)
}

func megabytes(n int64) string {
	if n <= 0 {
		return "?"
	}
	return fmt.Sprintf("%d MB", n>>20)
}

func since(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh%02d", int(d.Hours()), int(d.Minutes())%60)
}

// loginBox shows the address of a login that has begun and takes the code that
// its page gives. The code is shown as dots: it is a key to the account while
// the login lasts.
type loginBox struct {
	code widget.Input
	url  string // as it was drawn last
}

// maxCode is far beyond any code, in characters.
const maxCode = 4096

func (*loginBox) title() string { return textLoginTitle }

func (b *loginBox) draw(l look, w, h int) []string {
	w = min(w, pageWidth)
	b.url = clean.Line(l.snap.Engine.LoginURL)
	line := func(role theme.Role, text string) string {
		return l.brush.Line(w, widget.Span{Text: " "}, widget.Span{Role: role, Text: text})
	}
	lines := []string{widget.Blank(w)}
	say := func(role theme.Role, text string) {
		for _, s := range widget.Wrap(text, w-2) {
			lines = append(lines, line(role, s))
		}
	}
	if b.url == "" {
		say(theme.Dim, textLoginWait)
	} else {
		say(theme.Text, textLoginOpen)
		lines = append(lines, widget.Blank(w))
		for rest := b.url; rest != ""; {
			n := min(len(rest), w-2)
			lines = append(lines, line(theme.Accent, rest[:n]))
			rest = rest[n:]
		}
	}
	lines = append(lines, widget.Blank(w))
	say(theme.Text, textLoginCode)
	dots := strings.Repeat("•", min(len([]rune(b.code.Text())), max(0, w-6)))
	if l.theme.ASCII() {
		dots = strings.ReplaceAll(dots, "•", "*")
	}
	lines = append(lines, l.brush.Line(w, widget.Span{Text: " "},
		widget.Span{Role: theme.Focus, Text: l.theme.Glyph(theme.Pointer) + " "}, widget.Span{Text: dots}))
	if len(lines) > h {
		lines = lines[len(lines)-h:]
	}
	return lines
}

func (b *loginBox) key(msg tea.KeyPressMsg) verdict {
	switch {
	case key.Matches(msg, loginKeys.send):
		code := strings.TrimSpace(b.code.Text())
		if code == "" {
			return verdict{toast: textLoginNoCode}
		}
		return verdict{shut: true, answer: pane.Answer{Do: command.Login{Code: code}}}
	case key.Matches(msg, loginKeys.copy):
		if b.url == "" {
			return verdict{}
		}
		return verdict{answer: pane.Answer{Copy: b.url, Toast: textCopied}}
	case len(b.code.Text()) < maxCode:
		b.code.Take(msg)
	}
	return verdict{}
}

func (b *loginBox) paste(msg tea.PasteMsg) {
	b.code.Insert(clean.Cut(strings.TrimSpace(msg.Content), maxCode-len(b.code.Text())))
}

func (*loginBox) wheel(bool) {}

func (*loginBox) hint() []key.Binding {
	return []key.Binding{loginKeys.copy, loginKeys.send, loginKeys.leave}
}

// login opens the box, and begins a login unless one has begun.
func (r *root) login() tea.Cmd {
	r.open(&loginBox{})
	if r.snap.Engine.LoginURL != "" {
		return nil
	}
	return r.do(command.Login{})
}
