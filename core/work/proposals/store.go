package proposals

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
)

// File is the proposals' file in the data directory.
const File = store.StateDir + "/proposals.json"

const (
	lockName = "proposals"
	// lasts is how long a proposal stays open.
	lasts = 7 * 24 * time.Hour
	// most is the maximum number of proposals kept, mostRefused that of refusals per kind;
	// the newest are kept.
	most        = 300
	mostRefused = 500
	// ahead is how far in the future a proposal may be dated and still count as today's: the
	// clock may have gone back.
	ahead = 24 * time.Hour
	// maxWords and maxText limit the texts of a proposal, in characters.
	maxWords = 300
	maxText  = 1000
)

// Reasons for not creating a proposal.
var (
	ErrRefused = errors.New("the user has refused it before")
	ErrOpen    = errors.New("it is proposed already")
	ErrTaken   = errors.New("the user has accepted it within a day")
	ErrEnough  = errors.New("no more can be proposed today")
	// ErrGone means that the proposal does not exist, or was closed unanswered.
	ErrGone = errors.New(textGone)
)

// AnsweredError means that a proposal was already answered.
type AnsweredError struct{ Proposal Proposal }

// Error describes the answer.
func (e *AnsweredError) Error() string {
	return fmt.Sprintf(textAnswered, e.Proposal.Chosen().Label, e.Proposal.Answered.Format("15:04"))
}

// Proposal is one question to the user.
type Proposal struct {
	ID   string `json:"id"` // eight hexadecimal digits
	Kind string `json:"kind"`
	// Words are the subject: two proposals with the same words are the same.
	Words string `json:"words"`
	Title string `json:"title"` // of its card, one line
	Text  string `json:"text"`  // the question
	// Change is the kind's data for carrying out an answer.
	Change  json.RawMessage `json:"change,omitempty"`
	Buttons []Button        `json:"buttons"` // the most likely answer first, the refusal last
	Made    time.Time       `json:"made"`

	Answer   string    `json:"answer,omitempty"` // the ID of a button; empty while it is open
	Answered time.Time `json:"answered,omitzero"`
	// Result is the effect of the answer, such as the ID of a reminder; empty if nothing was
	// accepted. Kept is when the user did it.
	Result string    `json:"result,omitempty"`
	Kept   time.Time `json:"kept,omitzero"`

	Message post.MessageID `json:"message,omitempty"` // of its card
	Rounds  int            `json:"rounds,omitempty"`  // how often its answer was undone
}

// Button is an answer.
type Button struct {
	ID    string `json:"id"` // one word, unique in the proposal
	Label string `json:"label"`
	Style string `json:"style,omitempty"` // as in post.Button
	Asks  bool   `json:"asks,omitempty"`  // asks for a time, in the user's words
	Never bool   `json:"never,omitempty"` // not to be proposed again
}

// Chosen returns the button that answered it, or the zero Button if it is open.
func (p Proposal) Chosen() Button {
	b, _ := p.button(p.Answer)
	return b
}

func (p Proposal) button(id string) (Button, bool) {
	i := slices.IndexFunc(p.Buttons, func(b Button) bool { return b.ID == id })
	if i < 0 || id == "" {
		return Button{}, false
	}
	return p.Buttons[i], true
}

// ChangeOf decodes the change of a proposal.
func ChangeOf[T any](p Proposal) (change T, err error) {
	if err := json.Unmarshal(p.Change, &change); err != nil {
		return change, fmt.Errorf("read the change of a proposal: %w", err)
	}
	return change, nil
}

// open reports whether it awaits an answer.
func (p Proposal) open(now time.Time) bool { return p.Answer == "" && now.Sub(p.Made) < lasts }

// refusal marks words that must not be proposed again.
type refusal struct {
	ID    string    `json:"id"` // of the proposal
	Kind  string    `json:"kind"`
	Words string    `json:"words"` // folded
	At    time.Time `json:"at"`
}

// content is the content of the file, oldest first.
type content struct {
	Proposals []Proposal `json:"proposals"`
	Refused   []refusal  `json:"refused"`
}

// Store stores the proposals. Its methods are safe for concurrent use, also by several
// processes of the program. Use NewStore.
type Store struct {
	dir    *store.Dir
	zone   *time.Location
	log    *slog.Logger
	cached *store.Cached[content]
}

// NewStore returns the store of a data directory without reading or writing anything. A
// nil log discards.
func NewStore(d *store.Dir, zone *time.Location, log *slog.Logger) *Store {
	return &Store{dir: d, zone: zone, log: cmp.Or(log, slog.New(slog.DiscardHandler)), cached: store.NewCached[content](d, File)}
}

// Add creates a proposal and gives it an ID, unless the user has refused or accepted it,
// it is already open, or perDay of its kind were created today.
func (s *Store) Add(now time.Time, p Proposal, perDay int) (Proposal, error) {
	now = now.Round(0).In(s.zone)
	p.Words, p.Title = clean.Cut(clean.Line(p.Words), maxWords), clean.Line(p.Title)
	p.Text = clean.Cut(strings.TrimSpace(clean.Text(p.Text)), maxText)
	p.ID, p.Made = store.NewID(), now
	words := folded(p.Words)
	if len(words) == 0 || len(p.Buttons) == 0 || p.Kind == "" {
		return p, errors.New("a proposal needs a kind, words and buttons")
	}
	err := s.change(func(c *content) error {
		for _, r := range c.Refused {
			if r.Kind == p.Kind && same(strings.Fields(r.Words), words) {
				return ErrRefused
			}
		}
		today := 0
		for _, q := range c.Proposals {
			switch {
			case q.Kind != p.Kind:
				continue
			case !same(folded(q.Words), words):
			case q.open(now):
				return ErrOpen
			case q.Result != "" && now.Sub(q.Answered) < ahead:
				return ErrTaken
			}
			if sameDay(q.Made.In(s.zone), now) || q.Made.After(now) && q.Made.Sub(now) < ahead {
				today++
			}
		}
		if today >= perDay {
			return ErrEnough
		}
		c.Proposals = append(c.Proposals, p)
		return nil
	})
	return p, err
}

func sameDay(a, b time.Time) bool {
	return a.Year() == b.Year() && a.YearDay() == b.YearDay()
}

// Answer answers a proposal with a button, once. do carries the answer out and returns
// its result; if it fails, the proposal stays open. do runs under the lock of the file
// and must not use the store. If the program is killed after do, the proposal is still
// open, so do must not repeat its effect for the same ID. The error is ErrGone or an
// *AnsweredError if there is nothing to answer.
func (s *Store) Answer(now time.Time, id, button string, do func(Proposal, Button) (result string, err error)) (p Proposal, err error) {
	now = now.Round(0).In(s.zone)
	err = s.change(func(c *content) error {
		q := c.find(id)
		if q == nil || q.Answer == "" && !q.open(now) {
			return ErrGone
		}
		p = *q
		b, ok := q.button(button)
		switch {
		case q.Answer != "":
			return &AnsweredError{*q}
		case !ok:
			return ErrGone
		}
		result, err := do(*q, b)
		if err != nil {
			return err
		}
		q.Answer, q.Answered, q.Result = b.ID, now, result
		if p = *q; b.Never {
			c.Refused = append(c.Refused, refusal{ID: q.ID, Kind: q.Kind, Words: strings.Join(folded(q.Words), " "), At: now})
		}
		return nil
	})
	return p, err
}

// Reopen undoes an answer: do reverts its effect, under the rules of Answer.
func (s *Store) Reopen(id string, do func(Proposal) error) (p Proposal, err error) {
	err = s.change(func(c *content) error {
		q := c.find(id)
		if q == nil || q.Answer == "" {
			return ErrGone
		}
		if p = *q; do != nil {
			if err := do(*q); err != nil {
				return err
			}
		}
		q.Answer, q.Answered, q.Result, q.Kept, q.Message = "", time.Time{}, "", time.Time{}, ""
		q.Rounds++
		c.Refused = slices.DeleteFunc(c.Refused, func(r refusal) bool { return r.ID == id })
		return nil
	})
	return p, err
}

// withdraw removes a proposal that no longer applies.
func (s *Store) withdraw(id string) (p Proposal, err error) {
	err = s.change(func(c *content) error {
		q := c.find(id)
		if q == nil {
			return ErrGone
		}
		p = *q
		c.Proposals = slices.DeleteFunc(c.Proposals, func(p Proposal) bool { return p.ID == id })
		return nil
	})
	return p, err
}

// Keep records when the user did what an accepted answer was about; the zero time undoes
// that.
func (s *Store) Keep(at time.Time, result string) error {
	changes := func(p Proposal) bool { return result != "" && p.Result == result && p.Kept.IsZero() != at.IsZero() }
	if !slices.ContainsFunc(s.look().Proposals, changes) {
		return nil
	}
	if !at.IsZero() {
		at = at.Round(0).In(s.zone)
	}
	return s.change(func(c *content) error {
		for i, p := range c.Proposals {
			if changes(p) {
				c.Proposals[i].Kept = at
			}
		}
		return nil
	})
}

// shown records the card of a proposal.
func (s *Store) shown(id string, message post.MessageID) error {
	return s.change(func(c *content) error {
		if q := c.find(id); q != nil {
			q.Message = message
		}
		return nil
	})
}

// Open returns the open proposals, oldest first. It never writes.
func (s *Store) Open(now time.Time) (list []Proposal) {
	for _, p := range s.look().Proposals {
		if p.open(now) {
			list = append(list, p)
		}
	}
	return list
}

// Of returns the stored proposals of a kind, oldest first. It never writes.
func (s *Store) Of(kind string) (list []Proposal) {
	for _, p := range s.look().Proposals {
		if p.Kind == kind {
			list = append(list, p)
		}
	}
	return list
}

// Find returns a proposal, open or not.
func (s *Store) Find(id string) (Proposal, bool) {
	c := s.look()
	if q := c.find(id); q != nil {
		return *q, true
	}
	return Proposal{}, false
}

// Counts are numbers over a period.
type Counts struct {
	Proposed, Accepted int
	Kept               int // accepted ones that the user did
}

// Counts counts the proposals of a kind that were made, accepted and kept from one moment
// until before another.
func (s *Store) Counts(kind string, from, until time.Time) (n Counts) {
	within := func(t time.Time) int {
		if t.IsZero() || t.Before(from) || !t.Before(until) {
			return 0
		}
		return 1
	}
	for _, p := range s.look().Proposals {
		if p.Kind != kind {
			continue
		}
		n.Proposed += within(p.Made)
		n.Kept += within(p.Kept)
		if p.Result != "" {
			n.Accepted += within(p.Answered)
		}
	}
	return n
}

func (c *content) find(id string) *Proposal {
	i := slices.IndexFunc(c.Proposals, func(p Proposal) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Proposals[i]
}

// bound drops the oldest proposals.
func (c *content) bound() {
	c.Proposals = c.Proposals[max(0, len(c.Proposals)-most):]
	kept := map[string]int{}
	for i, r := range slices.Backward(c.Refused) {
		if kept[r.Kind]++; kept[r.Kind] > mostRefused {
			c.Refused = slices.Delete(c.Refused, i, i+1)
		}
	}
}

// change reads the file, applies do and writes it, under one lock.
func (s *Store) change(do func(*content) error) error {
	return s.dir.WithLock(lockName, func() error {
		var c content
		if _, err := s.dir.LoadJSON(File, &c, s.log); err != nil {
			return err
		}
		if err := do(&c); err != nil {
			return err
		}
		c.bound()
		return s.dir.WriteJSON(File, c)
	})
}

// look reads the file without a lock.
func (s *Store) look() content {
	c, err := s.cached.Load(func() (c content, err error) {
		_, err = s.dir.PeekJSON(File, &c)
		return c, err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("proposals were not read", "file", File, "error", err)
	}
	return c
}
