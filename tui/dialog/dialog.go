// Package dialog has the dialogs of the dashboard, which cover the panes and take the keys:
// questions, forms, the choice of a time, pages to read, the palette, the welcome. Each is a
// pane.Dialog: it draws a snapshot, handles the user's input, and returns an answer. It must
// not know the frame below it.
package dialog

import (
	tea "charm.land/bubbletea/v2"

	"charm.land/bubbles/v2/key"

	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// Air is how many cells of the panes stay visible at the sides of a dialog.
const Air = 4

func brush(c pane.Context) widget.Brush { return widget.Brush{Theme: c.Theme} }

// closes reports a key that closes a dialog. These two keys are fixed.
func closes(msg tea.Msg) bool {
	k, ok := msg.(tea.KeyPressMsg)
	return ok && (k.String() == "esc" || k.String() == "ctrl+c")
}

// binding is a binding of keys with its name and description in the help line, which omits
// a binding without them.
func binding(shown, word string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, word))
}

// named is a binding with another description.
func named(b key.Binding, word string) key.Binding {
	b.SetHelp(b.Help().Key, word)
	return b
}
