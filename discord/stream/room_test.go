package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	file  string
	id    post.MessageID
	text  string
	first string // the text with which it was sent
	nonce string
	page  Page // as it was last sent or edited
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
	typed  []time.Time
	called counts
	// delay is how long each call takes; fault decides what becomes of it.
	delay time.Duration
	fault func(call string) trouble
	// still is whether messages that another follows must not change.
	still bool
	// unique is whether no line of words may ever stand on the screen twice.
	unique bool
}

type counts struct{ sends, edits, deletes, limited int }

// trouble is what goes wrong with a call: the request or only its answer is lost.
type trouble int

const (
	fine trouble = iota
	lost
	unanswered
	refused
	shutOut
	fatal
)

// window allows five calls in five seconds.
type window struct {
	from time.Time
	n    int
}

func (w *window) take() time.Duration {
	now := time.Now()
	if now.Sub(w.from) >= 5*time.Second {
		*w = window{from: now}
	}
	if w.n == 5 {
		return w.from.Add(5 * time.Second).Sub(now)
	}
	w.n++
	return 0
}

func newRoom() *room { return &room{delay: 100 * time.Millisecond} }

// call makes a call as the network carries it: half of the delay each way.
func (r *room) call(ctx context.Context, name string, do func() error) error {
	f, delay := fine, time.Duration(0)
	r.do(func() {
		if r.fault != nil {
			f = r.fault(name)
		}
		delay = r.delay
	})
	switch f {
	case fatal:
		panic("wire crossed")
	case refused:
		return ErrRefused
	case shutOut:
		return rest.ErrCannotDM
	case lost:
		if err := sleep(ctx, delay, nil); err != nil {
			return err
		}
		return errNetwork
	}
	if err := sleep(ctx, delay/2, nil); err != nil {
		return err
	}
	var err error
	r.do(func() { err = do() })
	if late := sleep(ctx, delay/2, nil); late != nil {
		return late
	}
	if f == unanswered {
		return errNetwork
	}
	return err
}

func (r *room) accuse(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *room) check(text string) {
	if n := render.Length(text); n > 2000 {
		r.accuse("a message of %d units", n)
	}
	if strings.TrimSpace(text) == "" {
		r.accuse("an empty message")
	}
}

var line = regexp.MustCompile(`Line [0-9.]+ tells`)

// changed looks at the screen whenever it changes.
func (r *room) changed() {
	r.change = append(r.change, time.Now())
	if !r.unique {
		return
	}
	seen := map[string]bool{}
	for _, m := range r.list {
		if m.gone {
			continue
		}
		for _, l := range line.FindAllString(m.text, -1) {
			if seen[l] {
				r.accuse("%s is there twice", l)
			}
			seen[l] = true
		}
	}
}

func (r *room) Send(ctx context.Context, m Page, nonce string) (id post.MessageID, err error) {
	text := m.Text
	err = r.call(ctx, "send", func() error {
		if wait := r.sends.take(); wait > 0 {
			r.called.limited++
			return &rest.LimitedError{After: wait}
		}
		r.called.sends++
		r.check(text)
		if len(nonce) > 25 {
			r.accuse("nonce %q", nonce)
		}
		for _, m := range r.list {
			switch {
			case nonce == "" || m.nonce != nonce:
			case m.gone:
				return rest.ErrGone
			default:
				id = m.id
				return nil
			}
		}
		id = post.MessageID(fmt.Sprint(len(r.list) + 1))
		r.list = append(r.list, &message{id: id, text: text, first: text, nonce: nonce, file: m.File, page: m, rang: !m.Silent})
		r.changed()
		return nil
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
		if !later.gone && !strings.HasPrefix(later.text, "-# *retry") && !strings.HasPrefix(later.text, "-# *Thinking") {
			return true
		}
	}
	return false
}

func (r *room) Edit(ctx context.Context, id post.MessageID, p Page) error {
	text := p.Text
	return r.call(ctx, "edit", func() error {
		if wait := r.edits.take(); wait > 0 {
			r.called.limited++
			return &rest.LimitedError{After: wait}
		}
		r.called.edits++
		r.check(text)
		m, err := r.find(id)
		if err != nil {
			return err
		}
		if m.old {
			return rest.ErrOldEdit
		}
		if m.text == text && m.page.Stop == p.Stop && r.fault == nil {
			r.accuse("an edit that changes nothing: %.40q", text)
		}
		if r.still && r.followed(m) && m.text != text {
			r.accuse("message %s of %d changed from\n%q to\n%q", id, len(r.list), m.text, text)
		}
		m.text, m.page = text, p
		r.changed()
		return nil
	})
}

func (r *room) Delete(ctx context.Context, id post.MessageID) error {
	return r.call(ctx, "delete", func() error {
		r.called.deletes++
		m, err := r.find(id)
		if err == nil {
			m.gone = true
			r.changed()
		}
		return err
	})
}

func (r *room) Typing(ctx context.Context) error {
	return r.call(ctx, "typing", func() error {
		r.typed = append(r.typed, time.Now())
		return nil
	})
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
				out = append(out, m.text)
			}
		}
	})
	return out
}

// count is how often something was done.
func (r *room) count() (c counts) {
	r.do(func() { c = r.called })
	return c
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

// keepStill forbids that a message changes which another follows.
func (r *room) keepStill() { r.do(func() { r.still = true }) }

// longestGap is the longest time between two changes on the screen from a
// moment on.
func (r *room) longestGap(from time.Time) (gap time.Duration) {
	r.do(func() {
		for _, at := range r.change {
			gap, from = max(gap, at.Sub(from)), at
		}
	})
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

// told runs a story in a bubble, with the status line.
func told(t *testing.T, story func(t *testing.T, r *room, a *Answer)) {
	t.Helper()
	toldWith(t, Options{StatusLine: true}, story)
}

// quietly runs a story in a bubble, without the status line.
func quietly(t *testing.T, story func(t *testing.T, r *room, a *Answer)) {
	t.Helper()
	toldWith(t, Options{}, story)
}

func toldWith(t *testing.T, o Options, story func(t *testing.T, r *room, a *Answer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		o.Channel = r
		a := New(t.Context(), o)
		story(t, r, a)
		a.cancel() // for stories without an end
		a.group.Wait()
		for _, w := range r.wrong { // the editor has ended
			t.Error(w)
		}
		if r.called.limited > 0 {
			t.Errorf("the channel had to say %d times that it is enough", r.called.limited)
		}
	})
}

// end ends an answer that has time.
func end(t *testing.T, a *Answer) []post.MessageID {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ids := a.End(ctx, false)
	if ctx.Err() != nil {
		t.Error("the answer did not come to its end")
	}
	return ids
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
	}
}

// journal is a log that is read back.
type journal struct {
	mu sync.Mutex
	b  strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func (j *journal) log() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }
