package action

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ollimbot/core"
)

// Keys is the table with the user's keys. The zero value has the default keys. It is immutable and comparable, so
// that a pane can detect an outdated drawing.
type Keys struct{ changed *[]Action }

// Change replaces the keys of an ID's rows; no keys removes them. An empty Pane means every row of the ID.
type Change struct {
	Pane Pane
	ID   ID
	Keys []string // as in Action.Keys
}

// Refusal is the reason why a change was ignored: the default keys stay.
type Refusal struct {
	Index int    // of the change
	Key   string // already used by another row; may be empty
	Text  string // a sentence
}

// fixed are rows whose keys the terminal or every dialog relies on.
var fixed = []ID{Interrupt, Back, Redraw}

// renamed maps old action names, which keys.yaml may contain, to new ones.
var renamed = map[ID]ID{"forks.costs": Costs.Go()}

// Change returns the keys with all valid changes, and the reasons for refusing the others. If two changes want the
// same key, the first one gets it.
func (Keys) Change(changes []Change) (Keys, []Refusal) {
	refused := map[int]Refusal{}
	changes = slices.Clone(changes)
	for i, c := range changes {
		if now := renamed[c.ID]; now != "" {
			c = Change{ID: now, Keys: c.Keys}
			changes[i] = c
		}
		switch {
		case slices.Contains(fixed, c.ID):
			refused[i] = Refusal{i, "", fmt.Sprintf(textFixed, c.name())}
		case !slices.ContainsFunc(table(), c.means):
			refused[i] = Refusal{i, "", fmt.Sprintf(textNoAction, c.name())}
		}
	}
	// Refusing a change restores its default keys, which may conflict with another change. Each round refuses one more,
	// so the loop ends.
	rows, by := applied(changes, refused)
	for n, key, other := clash(rows, by); n >= 0; n, key, other = clash(rows, by) {
		refused[n] = Refusal{n, key, fmt.Sprintf(textTaken, key, changes[n].name(), Change{Pane: other.Pane, ID: other.ID}.name())}
		rows, by = applied(changes, refused)
	}
	out := slices.SortedFunc(maps.Values(refused), func(a, b Refusal) int { return a.Index - b.Index })
	if len(out) == len(changes) {
		return Keys{}, out
	}
	return Keys{&rows}, out
}

// name returns the change's row as written in keys.yaml: "forks/tail.wrap".
func (c Change) name() string { return strings.TrimPrefix(string(c.Pane)+"/"+string(c.ID), "/") }

func (c Change) means(a Action) bool { return a.ID == c.ID && (c.Pane == "" || c.Pane == a.Pane) }

// applied returns the table after all changes that were not refused, and for each row the index of its change, or -1.
func applied(changes []Change, refused map[int]Refusal) (rows []Action, by []int) {
	rows, by = slices.Clone(table()), make([]int, len(table()))
	for i := range rows {
		by[i] = -1
		for n, c := range changes {
			// A change with a pane takes precedence.
			if _, out := refused[n]; !out && c.means(rows[i]) && (by[i] < 0 || c.Pane != "") {
				rows[i].Keys, by[i] = c.Keys, n
			}
		}
	}
	return rows, by
}

// clash finds a change that uses a key of another row; of two changes, the later one. It returns -1 if there is none.
func clash(rows []Action, by []int) (change int, key string, other Action) {
	for i, a := range rows {
		for j, b := range rows[:i] {
			apart := a.Pane != b.Pane && a.Pane != Everywhere && b.Pane != Everywhere
			over := b.Over && a.Pane == b.Pane && !a.Over // it takes precedence while it is enabled
			if by[i] < 0 && by[j] < 0 || apart || over {
				continue
			}
			for _, k := range a.Keys {
				switch {
				case !slices.Contains(b.Keys, k):
				case by[i] > by[j]:
					return by[i], k, b
				default:
					return by[j], k, a
				}
			}
		}
	}
	return -1, "", Action{}
}

// All lists every row. The slice must not be changed.
func (k Keys) All() []Action {
	if k.changed == nil {
		return table()
	}
	return *k.changed
}

// Of lists the rows of a pane; Of(Everywhere) lists the global ones. The rows of a pane are adjacent in the table, so
// the result is a slice of it, which saves copying in every frame. It must not be changed.
func (k Keys) Of(p Pane) []Action {
	rows := k.All()
	from := 0
	for from < len(rows) && rows[from].Pane != p {
		from++
	}
	to := from
	for to < len(rows) && rows[to].Pane == p {
		to++
	}
	return rows[from:to:to]
}

// Get finds the row of an id in a pane. Ids are unique within a pane.
func (k Keys) Get(p Pane, id ID) (Action, bool) {
	rows := k.All()
	for i := range rows { // avoid copying: a row is large, and this runs often
		if a := &rows[i]; a.Pane == p && a.ID == id {
			return *a, true
		}
	}
	return Action{}, false
}

// ByKey finds the action of a key while a pane has the focus: first the global rows, then the pane's own, then those
// of other panes that work anywhere. A row that takes precedence over another one counts only while it is enabled.
func (k Keys) ByKey(p Pane, key string, s core.Snapshot) (Action, bool) {
	for _, a := range slices.Concat(k.Of(Everywhere), k.Of(p)) {
		if slices.Contains(a.Keys, key) && (!a.Over || a.Off(s) == "") {
			return a, true
		}
	}
	for _, a := range k.All() {
		if a.Anywhere && slices.Contains(a.Keys, key) {
			return a, true
		}
	}
	return Action{}, false
}

// modifiers, in the order used by key presses.
var modifiers = []string{"ctrl", "alt", "shift", "meta", "hyper", "super"}

// bases are the keys with names longer than one letter, including the function keys that terminals can distinguish.
var bases = []string{
	"up", "down", "left", "right", "enter", "tab", "esc", "space", "backspace",
	"delete", "insert", "home", "end", "pgup", "pgdown",
	"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10",
	"f11", "f12", "f13", "f14", "f15", "f16", "f17", "f18", "f19", "f20",
}

// otherNames are alternative key names.
var otherNames = map[string]string{
	"escape": "esc", "return": "enter", "del": "delete", "ins": "insert", "pageup": "pgup", "pagedown": "pgdown", "pgdn": "pgdown",
	"control": "ctrl", "option": "alt", "cmd": "super",
	"↑": "up", "↓": "down", "←": "left", "→": "right",
}

// Spell returns the canonical name of a key: "Ctrl+PgDn" becomes "ctrl+pgdown". ok is false if there is no such key.
func Spell(name string) (key string, ok bool) {
	mods := map[string]bool{}
	for {
		word, rest, more := strings.Cut(name, "+")
		if word = plainName(word); !more || rest == "" || !slices.Contains(modifiers, word) {
			break
		}
		mods[word], name = true, rest
	}
	key = plainName(name)
	letter := utf8.RuneCountInString(name) == 1 && otherNames[name] == ""
	if letter {
		key = name
	}
	r, _ := utf8.DecodeRuneInString(key)
	switch {
	case letter && (!unicode.IsPrint(r) || r == ' '), !letter && !slices.Contains(bases, key):
		return "", false
	case letter && len(mods) == 1 && mods["shift"]: // it arrives as the letter
		return strings.ToUpper(key), true
	case key == "esc" && len(mods) == 1 && mods["alt"]: // two quick escapes arrive as this, and count as one
		return key, true
	case letter && len(mods) > 0:
		key = strings.ToLower(key)
	}
	for _, m := range slices.Backward(modifiers) {
		if mods[m] {
			key = m + "+" + key
		}
	}
	return key, true
}

func plainName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	return cmp.Or(otherNames[s], s)
}

// Names names keys in sentences and badges for one pane: its own rows, then the global ones. The zero Names has the
// default keys and no pane.
type Names struct {
	Keys  Keys
	Pane  Pane
	ASCII bool // the terminal cannot show arrows
}

// Key returns the name of a row's first key, or empty if it has none.
func (n Names) Key(id ID) string {
	rows := n.Keys.All()
	for i := range rows {
		a := &rows[i]
		if a.ID == id && (a.Pane == n.Pane || a.Pane == Everywhere) && len(a.Keys) > 0 {
			return KeyName(a.Keys[0], n.ASCII)
		}
	}
	return ""
}

// Name returns the subject of a sentence such as "S saves it". For a row without a key it is "the palette (ctrl+p)",
// or, if the palette has no key either, a hint that the user can assign one.
func (n Names) Name(id ID) string {
	if key := n.Key(id); key != "" {
		return key
	}
	if key := n.Key(Palette); key != "" {
		return fmt.Sprintf(nameInPalette, key)
	}
	return nameInFile
}

// Say returns a sentence with the key's name, or none if the row has no key.
func (n Names) Say(id ID, format string) []string {
	if key := n.Key(id); key != "" {
		return []string{fmt.Sprintf(format, key)}
	}
	return nil
}

// Opening is Name at the beginning of a sentence. A key is not capitalized.
func (n Names) Opening(id ID) string {
	name := n.Name(id)
	if name == n.Key(id) {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// Badge is Name if there is room only for a key: the palette's key for a row without one, or empty if there is none.
func (n Names) Badge(id ID) string {
	if key := n.Key(id); key != "" {
		return key
	}
	return n.Key(Palette)
}

// Badges returns the badges of several rows, without duplicates or empty ones.
func (n Names) Badges(ids ...ID) []string {
	var out []string
	for _, id := range ids {
		if b := n.Badge(id); b != "" && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}
