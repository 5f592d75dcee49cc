package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/store"
	"ollimbot/tui/action"
)

// reader collects what is wrong with a file.
type reader struct {
	file     string
	problems []Problem
}

// maxFile is how much of a file is read, in bytes: the YAML reader's time grows
// faster than the text.
const maxFile = 16 << 10

// fields reads the file of a directory: names with one value or a list of them each. One
// that does not exist is empty.
func (r *reader) fields(dir string) []store.Field {
	if dir == "" {
		return nil
	}
	path := filepath.Join(dir, r.file)
	info, err := os.Stat(path)
	var data []byte
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
	case !info.Mode().IsRegular():
		err = errNoFile
	case info.Size() > maxFile:
		err = errTooLarge
	default:
		data, err = os.ReadFile(path)
	}
	if err != nil {
		r.add(0, 0, textUnreadable, err)
		return nil
	}
	fields, err := store.ParseYAML(data[:min(len(data), maxFile)]) // it may have grown meanwhile
	if wrong, ok := errors.AsType[*store.SyntaxError](err); ok {
		r.add(wrong.Line, wrong.Column, "%s", wrong.Message)
		return nil
	}
	return fields
}

func (r *reader) add(line, column int, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.file, line, column, fmt.Sprintf(format, args...)})
}

// key and value report something wrong with a name or with what stands behind it.
func (r *reader) key(f store.Field, format string) { r.add(f.Line, f.Column, format, f.Key) }

func (r *reader) value(v store.Value, format string, args ...any) {
	r.add(v.Line, v.Column, format, append([]any{v.Text}, args...)...)
}

// choice is one of some words, or empty.
func (r *reader) choice(v store.Value, from []string) string {
	// What switches is read as true or false where it stands without quotes.
	word := cmp.Or(map[string]string{"true": "on", "false": "off"}[v.Text], v.Text)
	if slices.Contains(from, word) {
		return word
	}
	r.value(v, textChoice, strings.Join(from, ", "))
	return ""
}

// number is a whole number up to mostMoved, or empty.
func (r *reader) number(v store.Value) string {
	if n, err := strconv.Atoi(v.Text); err == nil && n >= -mostMoved && n <= mostMoved {
		return number(n)
	}
	r.value(v, textNumber, -mostMoved, mostMoved)
	return ""
}

// Keys reads keys.yaml: names of actions with a key or a list of keys each.
// "forks/tail.wrap" means the action of one pane, "tail.wrap" those of all panes.
// What is wrong keeps the keys of the table.
func Keys(dir string) (action.Keys, []Problem) {
	r := reader{file: KeysFile}
	var changes []action.Change
	var places []store.Field
	for _, f := range r.fields(dir) {
		if c, ok := r.change(f); ok {
			changes, places = append(changes, c), append(places, f)
		}
	}
	keys, refused := action.Keys{}.Change(changes)
	for _, why := range refused {
		f := places[why.Index]
		line, column := f.Line, f.Column
		if i := slices.Index(changes[why.Index].Keys, why.Key); i >= 0 {
			v := valuesOf(f)[i]
			line, column = v.Line, v.Column
		}
		r.add(line, column, "%s", why.Text)
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return keys, r.problems
}

// valuesOf are the words of a field, of which there may be one without a list.
func valuesOf(f store.Field) []store.Value {
	if f.Value.Kind == store.Scalar {
		return []store.Value{f.Value}
	}
	return f.Value.Items
}

// change reads one field.
func (r *reader) change(f store.Field) (action.Change, bool) {
	c := action.Change{ID: action.ID(f.Key)}
	if pane, id, ok := strings.Cut(f.Key, "/"); ok {
		c.Pane, c.ID = action.Pane(pane), action.ID(id)
	}
	if f.Value.Kind == store.Null || f.Value.Kind == store.Map {
		r.key(f, textNoKeys)
		return c, false
	}
	for _, v := range valuesOf(f) {
		key, ok := action.Spell(v.Text)
		if !ok {
			r.value(v, textNoKey)
			return c, false
		}
		c.Keys = append(c.Keys, key)
	}
	return c, true
}
