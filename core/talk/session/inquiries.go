package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/pycompat"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
)

// maxInquiry is the maximum length of a prompt in runes; longer ones end in an ellipsis.
const maxInquiry = 4000

var errNoPrompt = errors.New("the prompt is empty: write what the agent is asked")

// Inquiries stores the prompts of the buttons on the agent's cards, so that a button
// works after a restart: state/inquiries.json. Its methods are safe for concurrent use,
// also by several processes of the bot. Use NewInquiries.
type Inquiries struct{ keeper }

// NewInquiries returns the inquiries of a data directory without reading or writing
// anything. A nil log discards.
func NewInquiries(d *store.Dir, log *slog.Logger) *Inquiries {
	return &Inquiries{newKeeper(d, log, "inquiries")}
}

// Register stores a prompt for seven days, cleaned and cut to 4,000 runes, and returns
// its id: eight hex characters. An empty prompt is an error. from is the label of the
// session that wrote it.
func (q *Inquiries) Register(now time.Time, prompt string, from label.Label) (id string, err error) {
	prompt = clean.Cut(strings.TrimSpace(clean.Text(prompt)), maxInquiry)
	if prompt == "" {
		return "", fmt.Errorf("keep an inquiry: %w", errNoPrompt)
	}
	err = q.change(now, func(list map[string]json.RawMessage) bool {
		for id = store.NewID(); list[id] != nil; {
			id = store.NewID()
		}
		o := object{"prompt": rawText(prompt), "ts": rawTime(stamp(now))}
		if from != "" {
			o["label"] = rawText(string(from))
		}
		list[id] = json.RawMessage(o.spell("prompt", "ts"))
		return true
	})
	if err != nil {
		return "", fmt.Errorf("keep an inquiry: %w", err)
	}
	return id, nil
}

// Pop returns a prompt with its label and removes it, so only the first click on a button
// gets it. It returns false for an id that is unknown, used or older than seven days. If
// it fails, the prompt is kept.
func (q *Inquiries) Pop(now time.Time, id string) (prompt string, from label.Label, ok bool, err error) {
	err = q.change(now, func(list map[string]json.RawMessage) bool {
		o := asObject(list[id])
		if prompt, ok = o.text("prompt"); ok {
			text, _ := o.text("label")
			_ = from.UnmarshalText([]byte(text)) // accepts any text
			delete(list, id)
		}
		return ok
	})
	if err != nil {
		return "", "", false, fmt.Errorf("take an inquiry: %w", err)
	}
	return prompt, from, ok, nil
}

// change lets f alter the inquiries that have not expired, by id, and writes them if f
// returns true.
func (q *Inquiries) change(now time.Time, f func(map[string]json.RawMessage) bool) error {
	return q.dir.WithLock(q.turn, func() error {
		list := map[string]json.RawMessage{}
		if err := q.load(&list); err != nil {
			return err
		}
		if list == nil { // the file contained "null"
			list = map[string]json.RawMessage{}
		}
		maps.DeleteFunc(list, func(_ string, raw json.RawMessage) bool { return stale(raw, now) })
		if !f(list) {
			return nil
		}
		return q.dir.Write(q.file, encodeMembers(list))
	})
}

// encodeMembers encodes an object on one line, oldest member first, with a line break.
func encodeMembers(list map[string]json.RawMessage) []byte {
	ids := slices.SortedFunc(maps.Keys(list), func(a, b string) int {
		return cmp.Or(cmp.Compare(since(list[a]), since(list[b])), cmp.Compare(a, b))
	})
	members := make([]string, len(ids))
	for i, id := range ids {
		members[i] = pycompat.Quote(id) + ": " + string(list[id])
	}
	return []byte("{" + strings.Join(newest(members), ", ") + "}\n")
}
