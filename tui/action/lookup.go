package action

import (
	"slices"
	"strings"

	"ollimbot/core"
)

// All is every row in the table's order. The slice is the caller's.
func All() []Action { return slices.Clone(table) }

// Of lists the rows of a pane with the table's own keys; Of(Everywhere) lists
// the global ones.
func Of(p Pane) []Action { return Keys{}.Of(p) }

// Get finds the row of an id in a pane, with the table's own keys.
func Get(p Pane, id ID) (Action, bool) { return Keys{}.Get(p, id) }

// ByKey is Keys.ByKey with the table's own keys.
func ByKey(p Pane, key string, s core.Snapshot) (Action, bool) { return Keys{}.ByKey(p, key, s) }

// Name is the pane as people call it.
func (p Pane) Name() string { return paneNames[p] }

// Number is the pane's number key, or 0 for Everywhere.
func (p Pane) Number() int { return slices.Index(Panes, p) + 1 }

// KeyName is a key as people read it: "PgDn", "↑".
func KeyName(key string, ascii bool) string {
	if ascii && asciiKeys[key] != "" {
		return asciiKeys[key]
	}
	if n, ok := keyNames[key]; ok {
		return n
	}
	return key
}

// KeyNames lists the keys of a row as people read them, separated by spaces.
func (a Action) KeyNames(ascii bool) string {
	names := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		names[i] = KeyName(k, ascii)
	}
	return strings.Join(names, " ")
}
