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
	// journalTail is the size of the part at the journal's end that is read often: about 600
	// pings, weeks of them.
	journalTail = 256 << 10
	// journalLimit is the size at which the journal is trimmed to its tail.
	journalLimit = 1 << 20
	// maxPingText is how much of a message is stored, in characters.
	maxPingText = 120
)

// Ping is a message of a background run to the user, sent or refused.
type Ping struct {
	At time.Time
	// ID identifies the message; empty in lines of earlier versions.
	ID       string
	Begun    bool   // it was about to leave, and its outcome is not known: it counts as sent
	Task     string // the task's id
	Title    string // the task's display name
	Kind     string // "ping", "embed" or "file"
	Critical bool
	Quiet    bool // it made no sound
	// Essential means that the budget could not refuse it.
	Essential bool
	Run       string      // the run's id
	Text      string      // the beginning of the message, one line
	Label     label.Label // the label of the run that wrote it
	Message   string      // the message id on its surface; empty if unknown
	Refused   string      // why it was not sent, in a few words; empty if it was
	Left      *float64    // tokens left in the bucket after it; nil if unknown
	// Capacity and Refill are the bucket's settings then; 0 minutes means unknown.
	Capacity, Refill int
	Answered         time.Time // when the user answered; zero if they have not
	How              How       // how they answered
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
	Begun     bool        `json:"begun,omitempty"` // another line of the same id has the outcome
	Run       string      `json:"run,omitempty"`
	Text      string      `json:"text,omitempty"`
	Label     label.Label `json:"label,omitempty"`
	Message   string      `json:"message,omitempty"`
	Refused   string      `json:"refused,omitempty"`
	Left      *float64    `json:"left,omitempty"`
	Before    *float64    `json:"before,omitempty"` // only of a change of the settings, which is no ping
	Capacity  int         `json:"capacity,omitempty"`
	Refill    int         `json:"refill,omitempty"`
	Answers   string      `json:"answers,omitempty"` // the id of a ping
	How       How         `json:"how,omitempty"`
}

// Journal records sent and refused pings in state/pings.jsonl: one line right before a ping is
// sent, one for its outcome, and one per answer. The Bucket adds one per
// change of its settings. Use NewJournal. Its methods are safe for concurrent use, also by several
// processes of the program.
type Journal struct {
	lines jsonl.Log[line]
	zone  *time.Location
	log   *slog.Logger
	tail  *store.Cached[journaled]

	learned learned
}

// NewJournal returns the journal of a data directory without reading or writing anything.
// Times are written in zone; a nil log discards.
func NewJournal(d *store.Dir, zone *time.Location, log *slog.Logger) *Journal {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Journal{
		lines: journalLines(d),
		zone:  zone, log: log, tail: store.NewCached[journaled](d, journalFile),
	}
}

func journalLines(d *store.Dir) jsonl.Log[line] {
	return jsonl.Log[line]{Dir: d, Rel: journalFile, Limit: journalLimit, Keep: journalTail}
}

// journaled is what the journal has: pings, and changes of the bucket's settings, oldest first.
type journaled struct {
	pings []Ping
	set   []Mark
}

// Append adds a ping, without its answer. A journal of 1 MiB is first trimmed to its
// newest quarter.
func (j *Journal) Append(p Ping) error {
	l := line{
		At: pycompat.Time(p.At.In(j.zone)), ID: clean.Line(p.ID), Task: clean.Line(p.Task), Title: clean.Cut(clean.Line(p.Title), 200),
		Kind: clean.Line(p.Kind), Critical: p.Critical, Quiet: p.Quiet, Essential: p.Essential, Begun: p.Begun, Run: clean.Line(p.Run),
		Text: clean.Cut(clean.Line(p.Text), maxPingText), Message: clean.Line(p.Message), Refused: clean.Line(p.Refused),
		Left: p.Left, Capacity: p.Capacity, Refill: p.Refill, Label: p.Label,
	}
	if err := j.lines.Append(l); err != nil {
		return fmt.Errorf("keep a ping: %w", err)
	}
	return nil
}

// Answer records which pings a user's action answers. An answered ping keeps its first
// answer, so the same action may be recorded again, for example after a crash.
func (j *Journal) Answer(m Move) error {
	for _, p := range AnsweredBy(j.Recent(), m) {
		l := line{At: pycompat.Time(m.At.In(j.zone)), Answers: p.ID, How: p.How}
		if err := j.lines.Append(l); err != nil {
			return fmt.Errorf("keep the answer to a ping: %w", err)
		}
	}
	return nil
}

// Useless records that a ping was not worth the interruption, and returns the ping. ok is
// false if it is no longer in the journal.
func (j *Journal) Useless(id string, now time.Time) (p Ping, ok bool, err error) {
	if p, ok = j.Ping(id); !ok || p.How == Useless {
		return p, ok, nil
	}
	if err := j.lines.Append(line{At: pycompat.Time(now.In(j.zone)), Answers: id, How: Useless}); err != nil {
		return p, ok, fmt.Errorf("keep the answer to a ping: %w", err)
	}
	return p, ok, nil
}

// Ping finds a recent sent ping.
func (j *Journal) Ping(id string) (Ping, bool) {
	list := j.Recent()
	i := slices.IndexFunc(list, func(p Ping) bool { return p.ID == id && p.Refused == "" })
	if i < 0 || id == "" {
		return Ping{}, false
	}
	return list[i], true
}

// Recent returns the newest pings and refusals, oldest first: about 600, in a slice
// shared by callers. The file is read only after it changed; damaged lines are skipped.
func (j *Journal) Recent() []Ping { return j.recent().pings }

// Set returns the recent changes of the bucket's settings, oldest first, in a slice shared by callers.
func (j *Journal) Set() []Mark { return j.recent().set }

func (j *Journal) recent() journaled {
	r, err := j.tail.Load(func() (journaled, error) { return j.read(journalTail) })
	if err != nil {
		j.log.Warn("ping journal was not read", "error", err)
	}
	return r
}

// All returns all pings and refusals in the file, oldest first.
func (j *Journal) All() ([]Ping, error) {
	r, err := j.read(journalLimit)
	return r.pings, err
}

// Hours counts the audible pings of the 24 hours before now, one element per hour, oldest
// first.
func (j *Journal) Hours(now time.Time) [24]int {
	var hours [24]int
	for _, p := range j.Recent() {
		if age := now.Sub(p.At); p.Refused == "" && !p.Quiet && age >= 0 && age < 24*time.Hour {
			hours[23-int(age/time.Hour)]++
		}
	}
	return hours
}

// read returns the end of the file, the pings with their first answers.
func (j *Journal) read(limit int64) (journaled, error) {
	lines, _, err := j.lines.Newest(limit)
	list := make([]Ping, 0, len(lines))
	place, set := map[string]int{}, []Mark(nil)
	for _, l := range lines {
		at, perr := pycompat.ParseTime(l.At, j.zone)
		if perr != nil {
			continue
		}
		at = at.In(j.zone)
		if l.Answers != "" {
			if i, known := place[l.Answers]; known && list[i].Answered.IsZero() {
				list[i].Answered, list[i].How = at, cmp.Or(l.How, Spoke)
			} else if known && l.How == Useless { // "useless" overrides an earlier answer
				list[i].How = Useless
			}
			continue
		}
		if l.Before != nil && l.Left != nil {
			set = append(set, Mark{At: at, Before: *l.Before, Left: *l.Left, Capacity: l.Capacity, Refill: l.Refill})
			continue
		}
		p := l.ping(at)
		if i, known := place[l.ID]; known && list[i].Begun {
			p.Answered, p.How = list[i].Answered, list[i].How
			list[i] = p
			continue
		}
		if l.ID != "" {
			place[l.ID] = len(list)
		}
		list = append(list, p)
	}
	return journaled{list, set}, err
}

// ping converts a line, cleaning its texts.
func (l line) ping(at time.Time) Ping {
	p := Ping{
		At: at, ID: l.ID, Begun: l.Begun, Critical: l.Critical, Quiet: l.Quiet, Essential: l.Essential,
		Message: l.Message, Left: l.Left, Label: l.Label,
		Capacity: l.Capacity, Refill: l.Refill,
	}
	for _, text := range []struct {
		to   *string
		from string
	}{{&p.Task, l.Task}, {&p.Title, l.Title}, {&p.Kind, l.Kind}, {&p.Run, l.Run}, {&p.Text, l.Text}, {&p.Refused, l.Refused}} {
		*text.to = clean.Line(text.from)
	}
	return p
}

// How is the way in which the user answered a ping.
type How string

// The ways to answer.
const (
	Replied How = "reply"   // a reply to the message itself
	Pressed How = "button"  // one of the message's own buttons
	Useless How = "useless" // the user said that it was not worth the interruption
	Spoke   How = "message" // the next message or button press elsewhere, within AnswerWindow
)

// AnswerWindow is how long unspecific messages count as the answer to a ping.
const AnswerWindow = 2 * time.Hour

// Move is a user's action: a message or a button press.
type Move struct {
	At time.Time
	// To is the message they replied to or whose button they pressed; empty for a plain
	// message.
	To      string
	Pressed bool
}

// AnsweredBy returns the pings that an action answers, with the way it does. A reply to a
// ping, or a press of its own button, answers that ping, however old. Anything else
// answers the newest ping of each task sent within AnswerWindow before, but not silent
// ones, which the user may not have seen.
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

// Answers sums up how soon the pings of a task are answered.
type Answers struct {
	Pings    int // sent pings
	Answered int // and not useless
	Useless  int // pings the user marked as not useful
	// Median is the median time to an answer, over the answered pings; zero if there are
	// none.
	Median time.Duration
}

// Rate returns the answered fraction of the pings, from 0 to 1; zero without pings.
func (a Answers) Rate() float64 {
	if a.Pings == 0 {
		return 0
	}
	return float64(a.Answered) / float64(a.Pings)
}

// TextUseless describes pings that the user did not find useful.
const TextUseless = "not useful"

// AnswersTo sums up the pings of a task. Refused ones do not count, nor do quiet
// messages, which need no answer.
func AnswersTo(pings []Ping, task string) Answers {
	return SumAnswers(slices.DeleteFunc(slices.Clone(pings), func(p Ping) bool { return p.Task != task }))
}

// SumAnswers sums up pings by the rules of AnswersTo.
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

// LastOf returns the newest sent pings of a task, at most n, oldest first. The task may
// have had several ids, as in a chain.
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

// Came counts the runs of a task that pinged the user.
type Came struct {
	Times   int
	Since   time.Time // the first time; zero if never
	Message string    // the newest ping's id on its surface; empty if unknown
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
