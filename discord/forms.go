package discord

import (
	"encoding/json"
	"log/slog"
	"sync"

	"ollimbot/core/command"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
)

const (
	// waysFile contains the ways back, because a person may take one after a restart.
	waysFile = "state/discord_back.json"
	// keptWays is how many forms, and how many decisions that can be undone, are remembered.
	keptWays = 32
)

// ways are the ways back that the phone offers: the forms that were opened, with what was typed into them, and the
// inverses of what was done. Their keys are parts of button IDs.
type ways struct {
	dir *store.Dir
	log *slog.Logger

	writing sync.Mutex // orders the writes of the file, before mu

	mu   sync.Mutex
	kept waysKept
}

// waysKept is the content of the file.
type waysKept struct {
	Forms kept[post.Form]     `json:"forms"` // by custom ID
	Undos kept[command.Saved] `json:"undos"` // by interaction
}

// loadWays returns the ways back of the last process. Those in an unreadable file are lost.
func loadWays(dir *store.Dir, log *slog.Logger) *ways {
	w := &ways{dir: dir, log: log}
	if _, err := dir.ReadJSON(waysFile, &w.kept); err != nil {
		log.Error("forms and undo buttons from before the restart are lost", "error", err)
	}
	return w
}

// keep changes what is remembered, and writes the file.
func (w *ways) keep(change func(*waysKept)) {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	change(&w.kept)
	data, err := json.Marshal(w.kept)
	w.mu.Unlock()
	if err == nil {
		err = w.dir.WriteJSON(waysFile, json.RawMessage(data))
	}
	if err != nil {
		w.log.Error("forms and undo buttons will be lost with the next restart", "error", err)
	}
}

// opened remembers a form by its custom ID.
func (w *ways) opened(id string, f post.Form) {
	w.keep(func(k *waysKept) { k.Forms.put(id, f) })
}

// again remembers a refused form with the values that were typed, and returns the button that opens it once more.
func (w *ways) again(id, key string, typed map[string]string) (buttons []post.Button) {
	f, ok := w.form(id)
	if !ok {
		return nil
	}
	fields := make([]post.Input, len(f.Fields))
	for i, in := range f.Fields {
		in.Value = typed[in.Name]
		fields[i] = in
	}
	f.Fields = fields
	w.opened(key, f)
	return []post.Button{{Label: textCorrect, Style: "primary", Action: post.FormAgain + ":" + key}}
}

// form returns the form with a custom ID, or the one that a button of again opens.
func (w *ways) form(key string) (post.Form, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.kept.Forms.Values[key]
	return f, ok
}

// undo remembers the inverse of what was done, and returns the button that carries it out.
func (w *ways) undo(key string, c command.Value) []post.Button {
	s, ok := command.Save(c)
	if !ok {
		return nil
	}
	w.keep(func(k *waysKept) { k.Undos.put(key, s) })
	return []post.Button{{Label: textUndo, Style: "secondary", Action: post.Undo + ":" + key}}
}

// undone returns the inverse that a button of undo carries out.
func (w *ways) undone(key string) (command.Value, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kept.Undos.Values[key].Load()
}

// kept are the newest values by their keys.
type kept[T any] struct {
	Keys   []string     `json:"keys"`
	Values map[string]T `json:"values"`
}

func (k *kept[T]) put(key string, v T) {
	if k.Values == nil {
		k.Values = map[string]T{}
	}
	if _, known := k.Values[key]; !known {
		if k.Keys = append(k.Keys, key); len(k.Keys) > keptWays {
			delete(k.Values, k.Keys[0])
			k.Keys = k.Keys[1:]
		}
	}
	k.Values[key] = v
}
