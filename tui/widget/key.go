package widget

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// namedKeys are the keys that have a name in the help line.
var namedKeys = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "PgUp": tea.KeyPgUp,
	"PgDn": tea.KeyPgDown, "↑": tea.KeyUp, "↓": tea.KeyDown, "←": tea.KeyLeft, "→": tea.KeyRight,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
}

// Key returns the key with a name of the help line. ok is false for names of several
// keys, such as "0-9".
func Key(name string) (msg tea.KeyPressMsg, ok bool) {
	for mark, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt} {
		if rest, found := strings.CutPrefix(name, mark); found {
			name, msg.Mod = rest, mod
		}
	}
	if msg.Code, ok = namedKeys[name]; ok {
		if msg.Code == tea.KeySpace {
			msg.Text = " "
		}
		return msg, true
	}
	letters := []rune(name)
	if len(letters) != 1 {
		return tea.KeyPressMsg{}, false
	}
	msg.Code = letters[0]
	if msg.Mod == 0 {
		msg.Text = name
	}
	return msg, true
}
