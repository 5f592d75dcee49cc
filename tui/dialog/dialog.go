// Package dialog is what lies over the panes of the dashboard and takes the keys:
// questions, the form, the choice of a moment, pages to read, the palette, the first
// words. Each is a pane.Dialog: it is told what there is to show and what the user
// does, and answers with lines and with what should happen. It must not know the
// frame that it lies on.
package dialog

import (
	tea "charm.land/bubbletea/v2"

	"charm.land/bubbles/v2/key"

	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// Air is how many cells of the panes stay in sight beside a dialog.
const Air = 4

func brush(c pane.Context) widget.Brush { return widget.Brush{Theme: c.Theme} }

// closes reports a key that leaves a dialog: those two are nobody's to change.
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
