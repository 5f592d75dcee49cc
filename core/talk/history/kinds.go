package history

import (
	"encoding/json"
	"errors"
	"io/fs"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/fork"
)

// Kind is the kind of a session.
type Kind string

// The kinds of sessions.
const (
	Main       Kind = "main"
	Fork       Kind = "fork"       // interactive
	Background Kind = "background" // a run of a task
	Other      Kind = "other"      // not the bot's, or no longer recorded
)

// runsRead is the maximum number of background runs read for titles and fires; the ledger
// has fewer.
const runsRead = 10_000

// knowledge is the bot's own records about sessions.
type knowledge struct {
	kind   map[string]Kind
	parent map[string]string
	runs   map[string]fork.View // by session
}

func (h *History) knowledge() knowledge {
	k := knowledge{kind: map[string]Kind{}, parent: map[string]string{}, runs: map[string]fork.View{}}
	for _, v := range h.runs() {
		if v.Session != "" {
			k.runs[v.Session], k.kind[v.Session], k.parent[v.Session] = v, Background, v.Parent
		}
	}
	h.stateLines("state/session_history.jsonl", func(data []byte) {
		var e struct {
			ID     string  `json:"session_id"`
			Event  string  `json:"event"`
			Parent *string `json:"parent_session_id"`
		}
		if json.Unmarshal(data, &e) != nil || e.ID == "" {
			return
		}
		if kind := kindAfter(e.Event); kind != "" {
			k.kind[e.ID] = kind
		}
		if e.Parent != nil {
			k.parent[e.ID] = clean.Line(*e.Parent)
		}
	})
	return k
}

// kindAfter returns the kind of a session after an event of its history. The last event
// counts, because a fork can become the main session.
func kindAfter(event string) Kind {
	switch event {
	case session.Created, session.Compacted, session.Swapped:
		return Main
	case session.InteractiveFork:
		return Fork
	case session.BgFork, session.IsolatedBg:
		return Background
	}
	return ""
}

// runs returns the background runs in the ledger, newest first.
func (h *History) runs() []fork.View {
	list, err := fork.Ledger(h.o.Dir, runsRead)
	if err != nil {
		h.o.Log.Warn("the ledger of runs was not read", "error", err)
	}
	return list
}

// stateLines calls f with each line of a file of the data directory, if it exists.
func (h *History) stateLines(rel string, f func(data []byte)) {
	file, err := h.o.Dir.Open(rel)
	if err == nil {
		defer func() { _ = file.Close() }() // opened for reading only
		err = jsonl.EachLine(file, func(data []byte) bool { f(data); return true })
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.o.Log.Warn("a file was only partly read", "file", rel, "error", err)
	}
}
