package stream

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

var errNetwork = errors.New("the network is gone")

// message is one message of the room.
type message struct {
	id    post.MessageID
	page  Page   // as it was last sent or edited
	first string // the text with which it was sent
	nonce string
	rang  bool
	gone  bool
	old   bool // rest.ErrOldEdit
}

// room is a channel in memory with Discord's limits. What it sees that must
// never be is kept in wrong.
type room struct {
	mu     sync.Mutex
	list   []*message
	sends  window
	edits  window
	wrong  []string
	change []time.Time // when something on the screen changed
	called counts
	// delay is how long each call takes; fault decides what becomes of it.
	delay time.Duration
	fault func(call string) trouble
	// still is whether messages that another follows must not change.
	still bool
	// unique is whether no line of words may ever stand on the screen twice.
	unique bool
	// heard, if set, gets what each call comes to.
	heard func(what string)
}

type counts struct{ sends, edits, limited int }

// trouble is what goes wrong with a call: the request or only its answer is lost.
type trouble int

const (
	fine trouble = iota
	lost
	unanswered
	refused
	shutOut
	full
	fatal
)

// window allows five calls in five seconds.
type window struct {
	from time.Time
	n    int
}

func (w *window) take() error {
	now := time.Now()
	if now.Sub(w.from) >= 5*time.Second {
		*w = window{from: now}
	}
	if w.n == 5 {
		return &rest.LimitedError{After: w.from.Add(5 * time.Second).Sub(now)}
	}
	w.n++
	return nil
}

func newRoom() *room { return &room{delay: 100 * time.Millisecond} }

// call makes a call as the network carries it: half of the delay each way.
func (r *room) call(ctx context.Context, name string, do func() (what string, err error)) (err error) {
	f, delay, what := fine, time.Duration(0), name
	r.do(func() {
		if r.fault != nil {
			f = r.fault(name)
		}
		delay = r.delay
	})
	defer func() {
		if err != nil {
			what += ": " + named(err)
		}
		if r.heard != nil {
			r.heard(what)
		}
	}()
	switch f {
	case fatal:
		panic("wire crossed")
	case refused:
		return ErrRefused
	case shutOut:
		return rest.ErrCannotDM
	case full:
		return &rest.LimitedError{After: 7 * time.Second}
	case lost:
		if err := sleep(ctx, delay, nil); err != nil {
			return err
		}
		return errNetwork
	}
	if err := sleep(ctx, delay/2, nil); err != nil {
		return err
	}
	r.do(func() { what, err = do() })
	if errors.Is(err, rest.ErrLimited) {
		r.do(func() { r.called.limited++ })
	}
	if late := sleep(ctx, delay/2, nil); late != nil {
		return late
	}
	if f == unanswered {
		return errNetwork
	}
	return err
}

// named is an error in a story.
func named(err error) string {
	if limited, ok := errors.AsType[*rest.LimitedError](err); ok {
		return "LIMITED for " + limited.After.String()
	}
	for known, name := range map[error]string{
		rest.ErrGone: "GONE", rest.ErrOldEdit: "TOO OLD", rest.ErrCannotDM: "SHUT OUT", ErrRefused: "REFUSED", errNetwork: "NO NETWORK",
	} {
		if errors.Is(err, known) {
			return name
		}
	}
	return err.Error()
}

func (r *room) accuse(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *room) check(text string) {
	if n := render.Length(text); n > 2000 || strings.TrimSpace(text) == "" {
		r.accuse("a message of %d units", n)
	}
}

var line = regexp.MustCompile(`Line [0-9.]+ tells`)

// changed looks at the screen whenever it changes.
func (r *room) changed() {
	r.change = append(r.change, time.Now())
	seen := map[string]bool{}
	for _, m := range r.list {
		for _, l := range line.FindAllString(m.page.Text, -1) {
			if r.unique && !m.gone && seen[l] {
				r.accuse("%s is there twice", l)
			}
			seen[l] = seen[l] || !m.gone
		}
	}
}

// described is a message in a story.
func described(verb string, id post.MessageID, p Page) string {
	verb += " " + string(id)
	if p.File != "" {
		verb += fmt.Sprintf(" with %d bytes as a file", len(p.File))
	}
	if p.Stop {
		verb += " (stop " + p.ID + ")"
	}
	return verb + ": " + brief(p.Text)
}

func (r *room) Send(ctx context.Context, p Page, nonce string) (id post.MessageID, err error) {
	err = r.call(ctx, "send", func() (string, error) {
		if err := r.sends.take(); err != nil {
			return "send", err
		}
		r.called.sends++
		r.check(p.Text)
		if len(nonce) > 25 {
			r.accuse("nonce %q", nonce)
		}
		for _, m := range r.list {
			switch {
			case m.nonce != nonce:
			case m.gone:
				return "send " + string(m.id), rest.ErrGone
			default:
				id = m.id
				return "send " + string(id) + " once more", nil
			}
		}
		id = post.MessageID(fmt.Sprint(len(r.list) + 1))
		r.list = append(r.list, &message{id: id, page: p, first: p.Text, nonce: nonce, rang: !p.Silent})
		r.changed()
		if p.Silent {
			return described("send silently", id, p), nil
		}
		return described("send", id, p), nil
	})
	return id, err
}

func (r *room) find(id post.MessageID) (*message, error) {
	for i, m := range r.list {
		if m.id == id && !m.gone {
			return r.list[i], nil
		}
	}
	return nil, rest.ErrGone
}

// followed reports whether a message stands behind that is no status.
func (r *room) followed(m *message) bool {
	for _, later := range slices.Backward(r.list) {
		if later == m {
			break
		}
		if !later.gone && !strings.HasPrefix(later.page.Text, "-# *retry") && !strings.HasPrefix(later.page.Text, "-# *Thinking") {
			return true
		}
	}
	return false
}

func (r *room) Edit(ctx context.Context, id post.MessageID, p Page) error {
	return r.call(ctx, "edit", func() (string, error) {
		if err := r.edits.take(); err != nil {
			return "edit", err
		}
		r.called.edits++
		r.check(p.Text)
		m, err := r.find(id)
		if err == nil && m.old {
			err = rest.ErrOldEdit
		}
		if err != nil {
			return "edit " + string(id), err
		}
		if m.page.Text == p.Text && m.page.Stop == p.Stop && r.fault == nil {
			r.accuse("an edit that changes nothing: %.40q", p.Text)
		}
		if r.still && r.followed(m) && m.page.Text != p.Text {
			r.accuse("message %s of %d changed from\n%q to\n%q", id, len(r.list), m.page.Text, p.Text)
		}
		m.page = p
		r.changed()
		return described("edit", id, p), nil
	})
}

func (r *room) Delete(ctx context.Context, id post.MessageID) error {
	return r.call(ctx, "delete", func() (string, error) {
		m, err := r.find(id)
		if err == nil {
			m.gone = true
			r.changed()
		}
		return "delete " + string(id), err
	})
}

func (r *room) Typing(ctx context.Context) error {
	return r.call(ctx, "typing", func() (string, error) { return "typing", nil })
}

// do does something to the room while nobody else does.
func (r *room) do(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// texts are the messages on the screen.
func (r *room) texts() (out []string) {
	r.do(func() {
		for _, m := range r.list {
			if !m.gone {
				out = append(out, m.page.Text)
			}
		}
	})
	return out
}

// rings are the texts with which messages notified.
func (r *room) rings() (out []string) {
	r.do(func() {
		for _, m := range r.list {
			if m.rang {
				out = append(out, m.first)
			}
		}
	})
	return out
}

// kill deletes the n-th message, as the user does; -1 is the last.
func (r *room) kill(n int) {
	r.do(func() {
		if n < 0 {
			n += len(r.list)
		}
		if n >= 0 && n < len(r.list) {
			r.list[n].gone = true
		}
	})
}

func (r *room) faults(f func(call string) trouble) { r.do(func() { r.fault = f }) }

// longestGap is the longest time between two changes on the screen from a
// moment on.
func (r *room) longestGap(from time.Time) (gap time.Duration) {
	for _, at := range r.change {
		gap, from = max(gap, at.Sub(from)), at
	}
	return gap
}

// bare is a text without white space, which Discord trims at the ends.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// says compares what is on the screen with the text that should be.
func (r *room) says(want string) error {
	if got := bare(strings.Join(r.texts(), "")); got != bare(want) {
		i := 0
		for want := bare(want); i < min(len(got), len(want)) && got[i] == want[i]; {
			i++
		}
		return fmt.Errorf("%d bytes instead of %d, other from byte %d on: %.60q", len(got), len(bare(want)), i, got[i:])
	}
	return nil
}

// inRoom plays an answer in a bubble, which ends it.
func inRoom(t *testing.T, o Options, play func(t *testing.T, r *room, a *Answer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		o.Channel = r
		a := New(t.Context(), o)
		play(t, r, a)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if a.End(ctx, false); ctx.Err() != nil {
			t.Error("the answer did not come to its end")
		}
		for _, w := range r.wrong {
			t.Error(w)
		}
		if r.called.limited > 0 {
			t.Errorf("the channel had to say %d times that it is enough", r.called.limited)
		}
	})
}

// words are n characters in words and lines, no two lines alike.
func words(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "Line %d tells of ships and shoes and sealing wax.", i)
		b.WriteString([]string{" ", " ", "\n"}[i%3])
	}
	return b.String()[:n]
}

// stream appends a text in pieces, evenly over some time.
func stream(a *Answer, text string, over time.Duration, pieces int) {
	size := (len(text) + pieces - 1) / pieces
	for text != "" {
		n := min(size, len(text))
		a.Append(text[:n])
		text = text[n:]
		time.Sleep(over / time.Duration(pieces))
		synctest.Wait() // what is due now comes before the next piece
	}
}
