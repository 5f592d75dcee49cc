package settings

import (
	"strings"

	"ollimbot/tui/action"
)

// Keys reads keys.yaml: names of actions with a key or a list of keys each.
// "forks/tail.wrap" means the action of one pane, "tail.wrap" those of all panes.
// What is wrong keeps the keys of the table.
func Keys(dir string) (action.Keys, []Problem) {
	source, problems := read(dir, KeysFile)
	r := reader{file: KeysFile, problems: problems}
	var changes []action.Change
	var places []field
	for _, f := range r.fields(source) {
		c, ok := r.change(f)
		if ok {
			changes, places = append(changes, c), append(places, f)
		}
	}
	keys, refused := action.Keys{}.Change(changes)
	for _, why := range refused {
		f := places[why.Index]
		switch {
		case why.Unknown:
			r.add(f.name, textNoAction, shown(f.name))
		case why.Fixed:
			r.add(f.name, textFixed, shown(f.name))
		default:
			r.add(at(f, changes[why.Index].Keys, why.Key), textTaken, why.Key, f.name.word, why.Other.ID, where(why.Other.Pane))
		}
	}
	return keys, inOrder(r.problems)
}

// change reads one field.
func (r *reader) change(f field) (action.Change, bool) {
	c := action.Change{ID: action.ID(f.name.word)}
	if pane, id, ok := strings.Cut(f.name.word, "/"); ok {
		c.Pane, c.ID = action.Pane(pane), action.ID(id)
	}
	if len(f.values) == 0 && !f.list {
		r.add(f.name, textNoKeys, shown(f.name))
		return c, false
	}
	for _, v := range f.values {
		key, better, ok := action.Spell(v.word)
		switch {
		case !ok && better != "":
			r.add(v, textWrite, shown(v), better)
		case !ok:
			r.add(v, textNoKey, shown(v))
		}
		if !ok {
			return c, false
		}
		c.Keys = append(c.Keys, key)
	}
	return c, true
}

// at is where in a field a key stands.
func at(f field, keys []string, key string) text {
	for i, k := range keys {
		if k == key && i < len(f.values) {
			return f.values[i]
		}
	}
	return f.name
}

func where(p action.Pane) string {
	if p == action.Everywhere {
		return "everywhere"
	}
	return "in the pane " + string(p)
}
