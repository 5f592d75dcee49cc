package action

import (
	"fmt"
	"slices"
	"strings"
)

// Names names keys in sentences and badges, as one pane has them: its own rows,
// then those of everywhere. The zero Names has the table's keys and no pane.
type Names struct {
	Keys  Keys
	Pane  Pane
	ASCII bool // the terminal draws no arrows
}

// Key is the first key of a row as people read it; empty where it has none.
func (n Names) Key(id ID) string {
	rows := n.Keys.all()
	for i := range rows {
		a := &rows[i]
		if a.ID == id && (a.Pane == n.Pane || a.Pane == Everywhere) && len(a.Keys) > 0 {
			return KeyName(a.Keys[0], n.ASCII)
		}
	}
	return ""
}

// Name is what a sentence says that does something: "S" in "S saves it". A row
// without a key is in the palette still, so it is "the palette (ctrl+p)" then,
// and without that a key that the user may give it.
func (n Names) Name(id ID) string {
	if key := n.Key(id); key != "" {
		return key
	}
	if key := n.Key(Palette); key != "" {
		return fmt.Sprintf(nameInPalette, key)
	}
	return nameInFile
}

// Opening is Name at the beginning of a sentence. A key stays as it is typed.
func (n Names) Opening(id ID) string {
	name := n.Name(id)
	if name == n.Key(id) {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// Badge is Name where there is room for a key alone: that of the palette for a
// row without one. It is empty where there is none at all.
func (n Names) Badge(id ID) string {
	if key := n.Key(id); key != "" {
		return key
	}
	return n.Key(Palette)
}

// Badges are the badges of several rows, each of them once and none of them
// empty.
func (n Names) Badges(ids ...ID) []string {
	var out []string
	for _, id := range ids {
		if b := n.Badge(id); b != "" && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}
