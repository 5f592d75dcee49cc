package budget

import (
	"slices"
	"time"
)

// How is in what way the user has answered a ping.
type How string

// The ways to answer.
const (
	Replied How = "reply"   // to the message itself
	Pressed How = "button"  // one of the message's own
	Spoke   How = "message" // the next words or press elsewhere, within AnswerWindow
)

// AnswerWindow is how long words that answer nothing in particular count as the
// answer to a ping.
const AnswerWindow = 2 * time.Hour

// Move is something that the user has done: they wrote, or pressed a button.
type Move struct {
	At time.Time
	// To is the message that they replied to or whose button they pressed; empty
	// where they just wrote.
	To      string
	Pressed bool
}

// answeredBy are the pings that a move answers, with the way in which it does. A reply
// to a ping, or a press of its own button, answers that ping, however old. Anything else
// answers the newest ping of each task, where it was sent within AnswerWindow before.
func answeredBy(pings []Ping, m Move) []Ping {
	open := func(p Ping) bool {
		return p.Refused == "" && p.ID != "" && p.Answered.IsZero() && !p.At.After(m.At)
	}
	if m.To != "" {
		if i := slices.IndexFunc(pings, func(p Ping) bool { return p.Message == m.To }); i >= 0 {
			if !open(pings[i]) {
				return nil
			}
			p := pings[i]
			if p.How = Replied; m.Pressed {
				p.How = Pressed
			}
			return []Ping{p}
		}
	}
	var list []Ping
	seen := map[string]bool{}
	for _, p := range slices.Backward(pings) {
		if p.Refused != "" || p.At.After(m.At) {
			continue
		}
		if m.At.Sub(p.At) > AnswerWindow {
			break
		}
		if !seen[p.Task] && open(p) {
			p.How = Spoke
			list = append(list, p)
		}
		seen[p.Task] = true
	}
	return list
}

// Answers is how soon the pings of a task are answered.
type Answers struct {
	Pings    int // that were sent
	Answered int
	// Median is the middle of the times to the answer, of those that were answered;
	// zero where none was.
	Median time.Duration
}

// Rate is the part of the pings that was answered, from 0 to 1; zero without pings.
func (a Answers) Rate() float64 {
	if a.Pings == 0 {
		return 0
	}
	return float64(a.Answered) / float64(a.Pings)
}

// AnswersTo sums up the pings of a task; those that were refused do not count.
func AnswersTo(pings []Ping, task string) Answers {
	var a Answers
	var took []time.Duration
	for _, p := range pings {
		if p.Task != task || p.Refused != "" {
			continue
		}
		a.Pings++
		if !p.Answered.IsZero() {
			took = append(took, p.Answered.Sub(p.At))
		}
	}
	if a.Answered = len(took); a.Answered > 0 {
		slices.Sort(took)
		middle := len(took) / 2
		if a.Median = took[middle]; len(took)%2 == 0 {
			a.Median = (took[middle-1] + took[middle]) / 2
		}
	}
	return a
}

// Came is how often a task has reached the user: runs of it that pinged.
type Came struct {
	Times   int
	Since   time.Time // when it did first; zero when it never has
	Message string    // the newest ping's id on its surface; empty where it is not known
}

// CameOf counts the pings of a task.
func CameOf(pings []Ping, task string) Came {
	var c Came
	seen := map[string]bool{}
	for _, p := range pings {
		if p.Task != task || p.Refused != "" {
			continue
		}
		if c.Message = p.Message; c.Since.IsZero() {
			c.Since = p.At
		}
		if !seen[p.Run] {
			seen[p.Run] = true
			c.Times++
		}
	}
	return c
}
