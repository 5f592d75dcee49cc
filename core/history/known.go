package history

import (
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/fork"
	"ollimbot/core/original"
	"ollimbot/core/session"
	"ollimbot/core/store"
)

// Kind is what a session was to the bot.
type Kind string

// The kinds of sessions.
const (
	Main       Kind = "main"
	Fork       Kind = "fork"       // an interactive one
	Background Kind = "background" // a run of a task
	Other      Kind = "other"      // none of the bot's, or none that it remembers
)

// runsRead is how many background runs are asked for titles and fires; the
// ledger holds fewer.
const runsRead = 10_000

// knowledge is what our own files tell about sessions.
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

// kindAfter is what a session is after an event of its history; the
// last one counts, because a fork can become the main session.
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

// runs are the background runs that the ledger remembers, newest first.
func (h *History) runs() []fork.View {
	list, err := fork.Ledger(h.o.Dir, runsRead)
	if err != nil {
		h.o.Log.Warn("the ledger of runs was not read", "error", err)
	}
	return list
}

// stateLines calls f with each line of a file of the data directory. A missing
// one has none.
func (h *History) stateLines(rel string, f func(data []byte)) {
	err := lines(h.o.Dir, rel, f)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.o.Log.Warn("a file was not read to its end", "file", rel, "error", err)
	}
}

func lines(d *store.Dir, rel string, f func(data []byte)) error {
	file, err := d.Open(rel)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	return eachLine(file, func(data []byte) bool {
		f(data)
		return true
	})
}

// moment reads a time of our own files; zero for what is none.
func (h *History) moment(s string) time.Time {
	at, err := original.ParseTime(s, h.o.Zone)
	if err != nil {
		return time.Time{}
	}
	return at
}
