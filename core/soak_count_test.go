package core

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/routines/cron"
)

// soakEar is the offline engine with a listener: it records, outside of the bot, the
// messages and the successful tool calls.
type soakEar struct {
	listening

	mu sync.Mutex // guards the fields below
	// told counts messages by mark, fires by the id or mark of a task, delivered updates by
	// text; omitted are those a sentinel stood for.
	told, fires, delivered map[string]int
	omitted                int
	reported               map[string]int // accepted reports, by text
	added                  []string       // marks of accepted reminders
	pings                  []time.Time    // sent pings, oldest first
}

func (l *soakEar) HasMessage(ctx context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	return l.Engine.(agent.HistoryChecker).HasMessage(ctx, session, digest)
}

func newSoakEar(e agent.Engine) *soakEar {
	l := &soakEar{told: map[string]int{}, fires: map[string]int{}, delivered: map[string]int{}, reported: map[string]int{}}
	l.listening = listening{Engine: e, hears: l.hear, opens: func(o *agent.SessionOptions) {
		o.Tools = slices.Clone(o.Tools)
		for i := range o.Tools {
			name, call := o.Tools[i].Name, o.Tools[i].Call
			o.Tools[i].Call = func(ctx context.Context, a agent.Approved) agent.ToolResult {
				r := call(ctx, a)
				if !r.IsError {
					l.called(name, a.Input())
				}
				return r
			}
		}
	}}
	return l
}

var (
	soakMark = regexp.MustCompile(`\b(msg|added|file)-\d+\.`)
	soakTask = regexp.MustCompile(`(?m)^((?:added|file)-\d+\.) Do it\.`) // on a line of its own: the schedule names others
	soakTag  = regexp.MustCompile(`\[(?:routine|reminder)(?:-bg)?:([0-9a-f]{8})\]`)
	soakGone = regexp.MustCompile(`\((\d+) earlier update`)
)

// hear counts a message sent to the engine.
func (l *soakEar) hear(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	body := text
	if _, listed, found := strings.Cut(text, "(mention key findings in your response):\n"); found {
		head, rest, _ := strings.Cut(listed, "\n\n")
		body = rest
		for line := range strings.SplitSeq(head, "\n") {
			if n := soakGone.FindStringSubmatch(line); n != nil {
				dropped, _ := strconv.Atoi(n[1]) // only digits
				l.omitted += dropped
			} else if _, update, ok := strings.Cut(line, ") "); ok {
				l.delivered[update]++
			}
		}
	}
	if tag := soakTag.FindStringSubmatch(body); tag != nil {
		l.fires[tag[1]]++
		if task := soakTask.FindStringSubmatch(body[strings.Index(body, tag[0]):]); task != nil {
			l.fires[task[1]]++
		}
		return
	}
	for i, mark := range soakMark.FindAllString(body, -1) {
		if i == 0 || strings.HasPrefix(mark, "msg-") { // queued messages are sent in one turn
			l.told[mark]++
		}
	}
}

// called counts a successful tool call.
func (l *soakEar) called(tool string, args json.RawMessage) {
	var a struct{ Message, Prompt string }
	_ = json.Unmarshal(args, &a) // the tool has parsed it
	l.mu.Lock()
	defer l.mu.Unlock()
	switch tool {
	case "report_updates":
		l.reported[a.Message]++
	case "add_reminder":
		l.added = append(l.added, soakMark.FindString(a.Prompt))
	case "ping_user":
		l.pings = append(l.pings, time.Now())
	}
}

// compare compares sent and received messages.
func (s *soak) compare() {
	l := s.ear
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, mark := range s.sent {
		if l.told[mark] != 1 {
			s.t.Errorf("%s: %s was told %d times", s.now(), mark, l.told[mark])
		}
	}
	s.sent = nil
	set := append(s.set, l.added...)
	s.set, l.added = nil, nil
	waiting := s.waiting()
	for _, mark := range set {
		n := l.fires[mark]
		switch {
		case waiting[mark] && n == 0:
			s.set = append(s.set, mark) // it is still pending
		case n != 1:
			s.t.Errorf("%s: reminder %s fired %d times", s.now(), mark, n)
		}
		s.sums["reminders fired"] += min(n, 1)
	}
	s.updates()
	s.bucket()
}

func (s *soak) now() string { return time.Now().Format("Mon 15:04") }

// waiting returns the marks of the pending reminders.
func (s *soak) waiting() map[string]bool {
	found := map[string]bool{}
	for _, r := range s.bot.Index().Set().Reminders {
		found[soakMark.FindString(r.Body)] = true
	}
	return found
}

// updates checks that each report was delivered, is pending, was discarded, or was
// dropped by the cap.
func (s *soak) updates() {
	l := s.ear
	pending, omitted := map[string]int{}, l.omitted
	for _, u := range s.bot.updates.Peek() {
		if u.Dropped > 0 {
			omitted += u.Dropped
			continue
		}
		pending[u.Message]++
	}
	missing, sum := 0, 0
	for text, n := range l.reported {
		rest := n - l.delivered[text] - pending[text] - s.dropped[text]
		if rest < 0 {
			s.t.Errorf("%s: %q was reported %d times, delivered %d, discarded %d and is pending %d times", s.now(), text, n, l.delivered[text], s.dropped[text], pending[text])
		}
		missing += max(0, rest)
		sum += n
	}
	// The bot's own notices count towards the cap too, so there may be fewer.
	if missing > omitted {
		s.t.Errorf("%s: of %d reports %d are nowhere, and %d made room", s.now(), sum, missing, omitted)
	}
	s.sums["reports"], s.sums["updates that made room"] = sum, omitted
}

// bucket checks that the budget follows from the sent pings and the elapsed time.
func (s *soak) bucket() {
	s.spend()
	want := s.model.at(time.Now())
	state, reserved := s.bot.budget.State(time.Now())
	if math.Abs(state.Available-want) > 0.02 || reserved != 0 || state.Available < 0 || state.Available > float64(state.Capacity) {
		s.t.Errorf("%s: %v tokens are left and %d reserved, want %v", s.now(), state.Available, reserved, want)
	}
}

// spend adds the pings sent since the last call to the model. The caller holds the ear's
// lock.
func (s *soak) spend() {
	for _, at := range s.ear.pings {
		s.model.spend(at)
	}
	s.sums["pings"] += len(s.ear.pings)
	s.ear.pings = nil
}

// fired compares the fires of the untouched routines with their schedules.
func (s *soak) fired(from, to time.Time) {
	for id, expr := range map[string]string{everyFive: "*/5 * * * *", pinging: "5,35 * * * *", hourly: "0 * * * *"} {
		schedule, err := cron.Parse(expr)
		testkit.Must(s.t, err)
		want := 0
		for at := schedule.Next(from.In(s.h.zone)); at.Before(to); at = schedule.Next(at.Add(time.Second)) {
			want++
		}
		if got := s.ear.fires[id]; got != want {
			s.t.Errorf("routine %s fired %d times, want %d", id, got, want)
		}
		s.sums["fires of routines"] += want
	}
	for _, seen := range []map[string]int{s.ear.told, s.ear.fires} {
		for mark, n := range seen {
			if n > 1 && soakMark.MatchString(mark) {
				s.t.Errorf("in the end %s was told %d times", mark, n)
			}
		}
	}
	s.sums["fires of the edited routine"] = s.ear.fires[edited]
}

// String returns the summary.
func (s *soak) String() string {
	var b bytes.Buffer
	for _, k := range slices.Sorted(maps.Keys(s.sums)) {
		fmt.Fprintf(&b, "%8d %s\n", s.sums[k], k)
	}
	return b.String()
}

// soakModel is an independent implementation of the budget's arithmetic.
type soakModel struct {
	tokens   float64
	capacity int
	refill   int // minutes for one token
	seen     time.Time
}

func newSoakModel() soakModel { return soakModel{tokens: 5, capacity: 5, refill: 90} }

func (m *soakModel) at(now time.Time) float64 {
	if !m.seen.IsZero() && now.After(m.seen) {
		m.tokens = min(float64(m.capacity), m.tokens+now.Sub(m.seen).Minutes()/float64(m.refill))
	}
	m.seen = now
	return m.tokens
}

func (m *soakModel) spend(now time.Time) {
	m.at(now)
	m.tokens--
}

func (m *soakModel) set(now time.Time, capacity, refill int) {
	m.at(now)
	m.capacity, m.refill = capacity, refill
	m.tokens = min(m.tokens, float64(capacity))
}
