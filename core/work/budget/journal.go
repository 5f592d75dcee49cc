package budget

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/pycompat"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

const (
	journalFile = "state/pings.jsonl"
	// journalTail is how much of the journal's end is looked at again and again:
	// some 600 pings, weeks of them.
	journalTail = 256 << 10
	// journalLimit is the size at which the journal is cut to its tail.
	journalLimit = 1 << 20
	// maxPingText is how much of a message is kept, in characters.
	maxPingText = 120
)

// Ping is one message of a background run to the user, or one that was refused.
type Ping struct {
	At       time.Time
	ID       string // of this attempt, "1a2b3c4d-1"; empty in lines of earlier versions
	Task     string // the task's id
	Title    string // what people call the task
	Kind     string // "ping", "embed" or "file"
	Critical bool
	Quiet    bool // it made no sound
	// Essential says that the budget could not refuse it.
	Essential bool
	Run       string      // the run's id
	Text      string      // its beginning, one line
	Label     label.Label // that of the run that wrote it
	Message   string      // the surface's id of it; empty where that is not known
	Refused   string      // why it was not sent, in a few words; empty where it was
	Left      *float64    // tokens that it left in the bucket; nil where that is not known
	Answered  time.Time   // when the user answered it; zero when they have not
	How       How         // in what way
}

// free reports whether the ping cost no token.
func (p Ping) free() bool { return p.Critical || p.Quiet || p.Essential }

// line is one line of the file: a ping, or with Answers the answer to one.
type line struct {
	At        string      `json:"at"`
	ID        string      `json:"id,omitempty"`
	Task      string      `json:"task,omitempty"`
	Title     string      `json:"title,omitempty"`
	Kind      string      `json:"kind,omitempty"`
	Critical  bool        `json:"critical,omitempty"`
	Quiet     bool        `json:"quiet,omitempty"`
	Essential bool        `json:"essential,omitempty"`
	Run       string      `json:"run,omitempty"`
	Text      string      `json:"text,omitempty"`
	Label     label.Label `json:"label,omitempty"`
	Message   string      `json:"message,omitempty"`
	Refused   string      `json:"refused,omitempty"`
	Left      *float64    `json:"left,omitempty"`
	Answers   string      `json:"answers,omitempty"` // the id of a ping
	How       How         `json:"how,omitempty"`
}

// Journal keeps what was sent and what was refused in state/pings.jsonl, a line for
// each ping and one for each answer. Use NewJournal; all methods are safe for several
// goroutines, and beside other processes of ours.
type Journal struct {
	lines jsonl.Log[line]
	zone  *time.Location
	log   *slog.Logger
	pings *store.Cached[[]Ping]

	learned learned
}

// NewJournal is the journal of a data directory. Nothing is read or written
// yet. Times are written in zone; a nil log is silent.
func NewJournal(d *store.Dir, zone *time.Location, log *slog.Logger) *Journal {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Journal{
		lines: jsonl.Log[line]{Dir: d, Rel: journalFile, Limit: journalLimit, Keep: journalTail},
		zone:  zone, log: log, pings: store.NewCached[[]Ping](d, journalFile),
	}
}

// Append adds a ping, without its answer. A journal of 1 MiB is first cut to its
// newest quarter.
func (j *Journal) Append(p Ping) error {
	l := line{
		At: pycompat.Time(p.At.In(j.zone)), ID: clean.Line(p.ID), Task: clean.Line(p.Task), Title: clean.Cut(clean.Line(p.Title), 200),
		Kind: clean.Line(p.Kind), Critical: p.Critical, Quiet: p.Quiet, Essential: p.Essential, Run: clean.Line(p.Run),
		Text: clean.Cut(clean.Line(p.Text), maxPingText), Message: clean.Line(p.Message), Refused: clean.Line(p.Refused),
		Left: p.Left, Label: p.Label,
	}
	if err := j.lines.Append(l); err != nil {
		return fmt.Errorf("keep a ping: %w", err)
	}
	return nil
}

// Answer writes down which pings a move of the user answers. One that has its
// answer keeps it, so the same move may come again, as after a crash.
func (j *Journal) Answer(m Move) error {
	for _, p := range AnsweredBy(j.Recent(), m) {
		l := line{At: pycompat.Time(m.At.In(j.zone)), Answers: p.ID, How: p.How}
		if err := j.lines.Append(l); err != nil {
			return fmt.Errorf("keep the answer to a ping: %w", err)
		}
	}
	return nil
}

// Useless writes down that a ping was not worth the interruption, and returns the ping. ok
// is false if the journal no longer has it.
func (j *Journal) Useless(id string, now time.Time) (p Ping, ok bool, err error) {
	if p, ok = j.Ping(id); !ok || p.How == Useless {
		return p, ok, nil
	}
	if err := j.lines.Append(line{At: pycompat.Time(now.In(j.zone)), Answers: id, How: Useless}); err != nil {
		return p, ok, fmt.Errorf("keep the answer to a ping: %w", err)
	}
	return p, ok, nil
}

// Ping finds a recent ping that was sent.
func (j *Journal) Ping(id string) (Ping, bool) {
	list := j.Recent()
	i := slices.IndexFunc(list, func(p Ping) bool { return p.ID == id && p.Refused == "" })
	if i < 0 || id == "" {
		return Ping{}, false
	}
	return list[i], true
}

// Recent are the newest pings and refusals, the oldest first: some 600, which callers
// share. The file is read only when it has changed; damaged lines are passed over.
func (j *Journal) Recent() []Ping {
	list, err := j.pings.Load(func() ([]Ping, error) { return j.read(journalTail) })
	if err != nil {
		j.log.Warn("ping journal was not read", "error", err)
	}
	return list
}

// All are the pings and refusals that the file still has, the oldest first.
func (j *Journal) All() ([]Ping, error) { return j.read(journalLimit) }

// Hours counts the pings with a sound of the 24 hours before now, an element for each hour,
// the oldest first.
func (j *Journal) Hours(now time.Time) [24]int {
	var hours [24]int
	for _, p := range j.Recent() {
		if age := now.Sub(p.At); p.Refused == "" && !p.Quiet && age >= 0 && age < 24*time.Hour {
			hours[23-int(age/time.Hour)]++
		}
	}
	return hours
}

// read is what the lines at the file's end say: pings with their first answers.
func (j *Journal) read(limit int64) ([]Ping, error) {
	lines, _, err := j.lines.Newest(limit)
	list := make([]Ping, 0, len(lines))
	place := map[string]int{}
	for _, l := range lines {
		at, perr := pycompat.ParseTime(l.At, j.zone)
		if perr != nil {
			continue
		}
		at = at.In(j.zone)
		if l.Answers != "" {
			if i, known := place[l.Answers]; known && list[i].Answered.IsZero() {
				list[i].Answered, list[i].How = at, cmp.Or(l.How, Spoke)
			} else if known && l.How == Useless { // the user's last word
				list[i].How = Useless
			}
			continue
		}
		if l.ID != "" {
			place[l.ID] = len(list)
		}
		list = append(list, l.ping(at))
	}
	return list, err
}

// ping cleans what a line says.
func (l line) ping(at time.Time) Ping {
	p := Ping{At: at, ID: l.ID, Critical: l.Critical, Quiet: l.Quiet, Essential: l.Essential, Message: l.Message, Left: l.Left, Label: l.Label}
	for _, text := range []struct {
		to   *string
		from string
	}{{&p.Task, l.Task}, {&p.Title, l.Title}, {&p.Kind, l.Kind}, {&p.Run, l.Run}, {&p.Text, l.Text}, {&p.Refused, l.Refused}} {
		*text.to = clean.Line(text.from)
	}
	return p
}

// How is in what way the user has answered a ping.
type How string

// The ways to answer.
const (
	Replied How = "reply"   // to the message itself
	Pressed How = "button"  // one of the message's own
	Useless How = "useless" // by saying that it was not worth the interruption
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

// AnsweredBy are the pings that a move answers, with the way in which it does. A reply
// to a ping, or a press of its own button, answers that ping, however old. Anything else
// answers the newest ping of each task, where it was sent within AnswerWindow before; not one
// that made no sound, which the user may not have seen.
func AnsweredBy(pings []Ping, m Move) []Ping {
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
		if p.Refused != "" || p.Quiet || p.At.After(m.At) {
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
	Answered int // and not useless
	Useless  int // those of which the user said so
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

// TextUseless says of pings that the user did not find them useful.
const TextUseless = "not useful"

// AnswersTo sums up the pings of a task; those that were refused do not count, nor
// do quiet messages, which ask for no answer.
func AnswersTo(pings []Ping, task string) Answers {
	return SumAnswers(slices.DeleteFunc(slices.Clone(pings), func(p Ping) bool { return p.Task != task }))
}

// SumAnswers sums up pings, as AnswersTo does.
func SumAnswers(pings []Ping) Answers {
	var a Answers
	var took []time.Duration
	for _, p := range pings {
		if p.Refused != "" || p.Quiet {
			continue
		}
		a.Pings++
		switch {
		case p.How == Useless:
			a.Useless++
		case !p.Answered.IsZero():
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

// LastOf are the newest pings of a task that were sent, at most n, the oldest first. The task
// may have had several ids, as a chain has.
func LastOf(pings []Ping, n int, ids ...string) []Ping {
	var list []Ping
	for _, p := range slices.Backward(pings) {
		if len(list) < n && p.Refused == "" && p.Text != "" && slices.Contains(ids, p.Task) {
			list = append(list, p)
		}
	}
	slices.Reverse(list)
	return list
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
