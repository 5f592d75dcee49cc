package action

import (
	"slices"
	"strings"

	"ollimbot/core"
)

// All is every row in the table's order. The slice is the caller's.
func All() []Action { return slices.Clone(table) }

// Of lists the rows of a pane; Of(Everywhere) lists the global ones.
func Of(p Pane) []Action {
	var rows []Action
	for _, a := range table {
		if a.Pane == p {
			rows = append(rows, a)
		}
	}
	return rows
}

// Get finds the row of an id in a pane. Ids are unique within a pane.
func Get(p Pane, id ID) (Action, bool) {
	for _, a := range table {
		if a.Pane == p && a.ID == id {
			return a, true
		}
	}
	return Action{}, false
}

// ByKey finds what a key does while a pane has the focus: the global rows
// first, then the pane's own. A row that stands over another one counts only
// while it is not off.
func ByKey(p Pane, key string, s core.Snapshot) (Action, bool) {
	for _, pane := range []Pane{Everywhere, p} {
		for _, a := range table {
			if a.Pane != pane || !slices.Contains(a.Keys, key) {
				continue
			}
			if !a.Over || a.Off(s) == "" {
				return a, true
			}
		}
	}
	return Action{}, false
}

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
