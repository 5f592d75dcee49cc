// Package dialog is what lies over the panes of the dashboard and takes the keys:
// questions, the form, the choice of a moment, pages to read, the palette, the first
// welcome. Each is a pane.Dialog: it gets what there is to show and what the user does,
// and returns lines and what should happen. It must not know the frame below it.
package dialog

import (
	tea "charm.land/bubbletea/v2"

	"charm.land/bubbles/v2/key"

	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// Air is how many cells of the panes stay visible next to a dialog.
const Air = 4

func brush(c pane.Context) widget.Brush { return widget.Brush{Theme: c.Theme} }

// closes reports a key that closes a dialog. These two keys are fixed.
func closes(msg tea.Msg) bool {
	k, ok := msg.(tea.KeyPressMsg)
	return ok && (k.String() == "esc" || k.String() == "ctrl+c")
}

// binding is keys, and how the help line names them; without a word they are
// not in it.
func binding(shown, word string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, word))
}

// named is a binding under another word.
func named(b key.Binding, word string) key.Binding {
	b.SetHelp(b.Help().Key, word)
	return b
}
