package core

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/routines/cron"
)

// soakEar is the offline engine with a listener: it records, outside of the bot, the
// messages and the successful tool calls.
type soakEar struct {
	*recorder

	mu sync.Mutex // guards the fields below
	// heard counts messages by mark, fires by the id or mark of a task, delivered updates by
	// text; omitted are those a sentinel stood for.
	heard, fires, delivered map[string]int
	omitted                 int
	reported                map[string]int // accepted reports, by text
	added                   []string       // marks of accepted reminders
	pings                   []time.Time    // sent pings, oldest first
}

func (l *soakEar) HasMessage(ctx context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	return l.Engine.(agent.HistoryChecker).HasMessage(ctx, session, digest)
}

func newSoakEar(e agent.Engine) *soakEar {
	l := &soakEar{heard: map[string]int{}, fires: map[string]int{}, delivered: map[string]int{}, reported: map[string]int{}}
	l.recorder = &recorder{Engine: e, hears: l.hear, opens: func(o *agent.SessionOptions) {
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
			l.heard[mark]++
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
	now := time.Now().Format("Mon 15:04")
	for _, mark := range s.sent {
		s.is(now+": "+mark+" was heard so often", l.heard[mark], 1)
	}
	waiting := map[string]bool{}
	for _, r := range s.bot.Index().Set().Reminders {
		waiting[soakMark.FindString(r.Body)] = true
	}
	set := append(s.set, l.added...)
	s.sent, s.set, l.added = nil, nil, nil
	for _, mark := range set {
		n := l.fires[mark]
		if waiting[mark] && n == 0 {
			s.set = append(s.set, mark)
			continue
		}
		s.is(now+": reminder "+mark+" fired so often", n, 1)
		s.sums["reminders fired"] += min(n, 1)
	}
	s.updates(now)
	// The budget follows from the sent pings and the elapsed time.
	s.spend()
	want := s.model.at(time.Now())
	state, reserved := s.bot.budget.State(time.Now())
	s.holds(math.Abs(state.Available-want) <= 0.02 && reserved == 0 && state.Available >= 0 && state.Available <= float64(state.Capacity),
		now+": tokens, reserved ones, and what there should be", state.Available, reserved, want)
}

// updates checks that each report was delivered, is pending, was discarded, or was
// dropped by the cap.
func (s *soak) updates(now string) {
	l := s.ear
	pending, omitted := map[string]int{}, l.omitted
	for _, u := range s.bot.updates.Peek() {
		omitted += u.Dropped
		if u.Dropped == 0 {
			pending[u.Message]++
		}
	}
	missing, sum := 0, 0
	for text, n := range l.reported {
		rest := n - l.delivered[text] - pending[text] - s.dropped[text]
		s.holds(rest >= 0, fmt.Sprintf("%s: %q was reported, delivered, discarded and is pending so often", now, text),
			n, l.delivered[text], s.dropped[text], pending[text])
		missing += max(0, rest)
		sum += n
	}
	// The bot's own notices count towards the cap too, so there may be fewer.
	s.holds(missing <= omitted, now+": reports, those that are nowhere, and those that made room", sum, missing, omitted)
	s.sums["reports"], s.sums["updates that made room"] = sum, omitted
}

// spend adds the pings sent since the last call to the model. The caller holds the ear's
// lock.
func (s *soak) spend() {
	for _, at := range s.ear.pings {
		s.model.at(at)
		s.model.tokens--
	}
	s.sums["pings"] += len(s.ear.pings)
	s.ear.pings = nil
}

// fired compares the fires of the untouched routines with their schedules.
func (s *soak) fired(from, to time.Time) {
	for id, expr := range soakCrons {
		schedule := must(cron.Parse(expr))(s)
		want := 0
		for at := schedule.Next(from.In(s.zone)); at.Before(to); at = schedule.Next(at.Add(time.Second)) {
			want++
		}
		s.is("fires of "+id, s.ear.fires[id], want)
		s.sums["fires of routines"] += want
	}
	for _, seen := range []map[string]int{s.ear.heard, s.ear.fires} {
		for mark, n := range seen {
			s.holds(n <= 1 || !soakMark.MatchString(mark), "in the end it was heard more than once", mark, n)
		}
	}
	s.sums["fires of the edited routine"] = s.ear.fires[edited]
}

// soakModel is an independent implementation of the budget's arithmetic.
type soakModel struct {
	tokens   float64
	capacity int
	refill   int // minutes for one token
	seen     time.Time
}

func (m *soakModel) at(now time.Time) float64 {
	if !m.seen.IsZero() && now.After(m.seen) {
		m.tokens = min(float64(m.capacity), m.tokens+now.Sub(m.seen).Minutes()/float64(m.refill))
	}
	m.seen = now
	return m.tokens
}
