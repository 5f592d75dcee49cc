package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/pycompat"
	"ollimbot/core/store"
)

// maxInquiry is the length of a prompt in runes; longer ones end in an ellipsis.
const maxInquiry = 4000

var errNoPrompt = errors.New("the prompt is empty: say what the agent shall be asked")

// Inquiries keeps what the buttons of the agent's cards ask, so
// that a button still works after a restart: state/inquiries.json. All methods
// are safe for several goroutines, and beside other processes of ours. Use
// NewInquiries.
type Inquiries struct{ keeper }

// NewInquiries is the inquiries of a data directory. Nothing is read or written
// yet; a nil log is silent.
func NewInquiries(d *store.Dir, log *slog.Logger) *Inquiries {
	return &Inquiries{newKeeper(d, log, "inquiries")}
}

// Register keeps a prompt, cleaned and cut to 4,000 runes, and returns its id:
// eight hex characters. It is good for seven days. An empty prompt is an error.
func (q *Inquiries) Register(now time.Time, prompt string) (id string, err error) {
	prompt = clean.Cut(strings.TrimSpace(clean.Text(prompt)), maxInquiry)
	if prompt == "" {
		return "", fmt.Errorf("keep an inquiry: %w", errNoPrompt)
	}
	err = q.change(now, func(list inquiries) (inquiries, bool) {
		for id = store.NewID(); list.find(id) >= 0; {
			id = store.NewID()
		}
		o := object{"prompt": rawText(prompt), "ts": rawTime(stamp(now))}
		return append(list, inquiry{id, json.RawMessage(o.spell("prompt", "ts"))}), true
	})
	if err != nil {
		return "", fmt.Errorf("keep an inquiry: %w", err)
	}
	return id, nil
}

// Pop returns a prompt and removes it: of two clicks on a button one gets it.
// The answer is false for an id that is unknown, used or older than seven days.
// On an error the prompt is still kept.
func (q *Inquiries) Pop(now time.Time, id string) (prompt string, ok bool, err error) {
	err = q.change(now, func(list inquiries) (inquiries, bool) {
		i := list.find(id)
		if i < 0 {
			return nil, false
		}
		prompt, ok = list[i].prompt()
		return append(list[:i:i], list[i+1:]...), ok
	})
	if err != nil {
		return "", false, fmt.Errorf("take an inquiry: %w", err)
	}
	return prompt, ok, nil
}

// Peek is Pop that leaves the prompt where it is. It never writes.
func (q *Inquiries) Peek(now time.Time, id string) (prompt string, ok bool) {
	var list inquiries
	q.peek(&list)
	list = list.living(now)
	if i := list.find(id); i >= 0 {
		return list[i].prompt()
	}
	return "", false
}

// change writes what f makes of the living inquiries, unless f says no.
func (q *Inquiries) change(now time.Time, f func(inquiries) (inquiries, bool)) error {
	return q.dir.WithLock(q.turn, func() error {
		var list inquiries
		if err := q.take(&list); err != nil {
			return err
		}
		list, write := f(list.living(now))
		if !write {
			return nil
		}
		return q.dir.Write(q.file, list.encode())
	})
}

// inquiry is one member of the file, as it is spelled there.
type inquiry struct {
	id  string
	raw json.RawMessage
}

func (e inquiry) prompt() (string, bool) {
	o, _ := asObject(e.raw)
	return o.text("prompt")
}

// expired reports whether an inquiry's time is over. What has no time was
// written by somebody else and is kept.
func (e inquiry) expired(now time.Time) bool {
	o, _ := asObject(e.raw)
	ts, ok := o.time("ts")
	return ok && !fresh(ts, now)
}

// inquiries are the file's members in its order, the oldest first.
type inquiries []inquiry

// UnmarshalJSON reads an object and keeps the order of its members. A key that
// is there twice counts with its last value, as everywhere.
func (l *inquiries) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	first, err := dec.Token()
	if err != nil {
		return err
	}
	*l = nil
	if first == nil {
		return nil
	}
	if first != json.Delim('{') {
		return errors.New("not an object of inquiries")
	}
	at := map[string]int{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		e := inquiry{id: fmt.Sprint(name)}
		if err := dec.Decode(&e.raw); err != nil {
			return err
		}
		if i, again := at[e.id]; again {
			(*l)[i] = e
			continue
		}
		at[e.id] = len(*l)
		*l = append(*l, e)
	}
	return nil
}

func (l inquiries) find(id string) int {
	for i, e := range l {
		if e.id == id {
			return i
		}
	}
	return -1
}

// living is the list without what has expired.
func (l inquiries) living(now time.Time) inquiries {
	var out inquiries
	for _, e := range l {
		if !e.expired(now) {
			out = append(out, e)
		}
	}
	return out
}

// encode is the file's content: one object on one line, and a line break.
func (l inquiries) encode() []byte {
	members := make([]string, len(l))
	for i, e := range l {
		members[i] = pycompat.Quote(e.id) + ": " + string(e.raw)
	}
	return []byte("{" + strings.Join(newest(members), ", ") + "}\n")
}
