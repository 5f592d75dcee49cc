package dialog

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Login shows the address of a login in progress and takes the code that its page
// shows. The code is drawn as dots: it gives access to the account while it is valid.
type Login struct{ code widget.Input }

// Title implements pane.Dialog.
func (*Login) Title() string { return "Log in to Claude" }

// Draw implements pane.Dialog.
func (d *Login) Draw(c pane.Context, w, h int) []string {
	w = min(w-Air, pageWidth)
	var lines []string
	say := func(role theme.Role, texts ...string) {
		for _, t := range texts {
			lines = append(lines, brush(c).Line(w, widget.Span{Text: " "}, widget.Span{Role: role, Text: t}))
		}
	}
	say(theme.Text, "")
	if url := address(c); url == "" {
		say(theme.Dim, widget.Wrap(textLoginWait, w-2)...)
	} else {
		say(theme.Text, append(widget.Wrap(textLoginOpen, w-2), "")...)
		say(theme.Accent, widget.HardWrap(url, w-2)...)
	}
	say(theme.Text, "")
	say(theme.Text, widget.Wrap(textLoginCode, w-2)...)
	dots := strings.Repeat("•", min(len([]rune(d.code.Text())), max(0, w-6)))
	lines = append(lines, brush(c).Line(w, widget.Span{Role: theme.Focus, Text: " " + c.Theme.Glyph(theme.Pointer) + " "}, widget.Span{Text: dots}))
	return lines[max(0, len(lines)-h):]
}

func address(c pane.Context) string { return clean.Line(c.Snap.Engine.LoginURL) }

// Update implements pane.Dialog.
func (d *Login) Update(c pane.Context, msg tea.Msg) pane.Answer {
	k, _ := msg.(tea.KeyPressMsg)
	code, url := strings.TrimSpace(d.code.Text()), address(c)
	switch {
	case closes(msg):
		return pane.Answer{Close: true}
	case key.Matches(k, loginKeys.send) && code == "":
		return pane.Answer{Toast: textLoginNoCode}
	case key.Matches(k, loginKeys.send):
		return pane.Answer{Close: true, Do: command.Login{Code: code}}
	case key.Matches(k, loginKeys.copy) && url != "":
		return pane.Answer{Copy: url, Toast: textCopied}
	}
	d.code.Update(msg)
	return pane.Answer{}
}

// Hint implements pane.Dialog.
func (*Login) Hint() []key.Binding {
	return []key.Binding{loginKeys.copy, loginKeys.send, loginKeys.leave}
}
