package discord

import (
	"sync"

	"ollimbot/core/command"
	"ollimbot/core/talk/post"
)

// keptForms is how many opened forms, and how many decisions that can be undone, are remembered. After a restart a
// refused form has to be filled in again.
const keptForms = 64

// ways are the ways back that the phone offers: the forms that were opened, with what was typed into them, and the
// inverses of what was done. Their keys are parts of button IDs.
type ways struct {
	mu    sync.Mutex
	forms kept[post.Form]     // by custom ID
	undos kept[command.Value] // by interaction
}

// opened remembers a form by its custom ID.
func (w *ways) opened(id string, f post.Form) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forms.put(id, f)
}

// again remembers a refused form with the values that were typed, and returns the button that opens it once more.
func (w *ways) again(id, key string, typed map[string]string) (buttons []post.Button) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.forms.find(id)
	if !ok {
		return nil
	}
	fields := make([]post.Input, len(f.Fields))
	for i, in := range f.Fields {
		in.Value = typed[in.Name]
		fields[i] = in
	}
	f.Fields = fields
	w.forms.put(key, f)
	return []post.Button{{Label: textCorrect, Style: "primary", Action: post.FormAgain + ":" + key}}
}

// form returns the form that a button of again opens.
func (w *ways) form(key string) (post.Form, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.forms.find(key)
}

// undo remembers the inverse of what was done, and returns the button that carries it out.
func (w *ways) undo(key string, c command.Value) []post.Button {
	if c == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.undos.put(key, c)
	return []post.Button{{Label: textUndo, Style: "secondary", Action: post.Undo + ":" + key}}
}

// undone returns the inverse that a button of undo carries out.
func (w *ways) undone(key string) (command.Value, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.undos.find(key)
}

// kept are the newest values by their keys.
type kept[T any] struct {
	keys   []string
	values map[string]T
}

func (k *kept[T]) put(key string, v T) {
	if k.values == nil {
		k.values = map[string]T{}
	}
	if _, known := k.values[key]; !known {
		if k.keys = append(k.keys, key); len(k.keys) > keptForms {
			delete(k.values, k.keys[0])
			k.keys = k.keys[1:]
		}
	}
	k.values[key] = v
}

func (k *kept[T]) find(key string) (v T, ok bool) {
	v, ok = k.values[key]
	return v, ok
}
