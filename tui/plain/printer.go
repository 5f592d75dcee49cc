package plain

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

const (
	// maxWidth is the longest line of output, in characters: a screen reader reads a line without a pause. The command
	// "read" prints all of a message.
	maxWidth = 2000
	// maxLines is how many lines of an answer are printed at once: a listener cannot skip
	// them. "more" prints the next ones.
	maxLines = 15
)

// printer collects lines of output, which flush writes at once.
type printer struct {
	w       io.Writer
	snap    *core.Snapshot // for its clock
	buf     bytes.Buffer
	untimed bool     // without times
	piped   bool     // no person types the lines
	once    bool     // there is no other line (Line)
	failed  string   // why the only line was not executed
	missed  string   // why the line is no command as a whole; empty if it is one
	printed int      // lines of the current answer
	rest    []string // the lines that "more" prints next
}

// say prints an event in one line: time, kind, text.
func (p *printer) say(at time.Time, kind, words string) { p.timed(at, kind+": "+words) }

// timed prints a line after its time.
func (p *printer) timed(at time.Time, line string) {
	if !p.untimed {
		p.buf.WriteString(p.snap.Clock(cmp.Or(at, time.Now()), time.TimeOnly) + " ")
	}
	p.whole(clean.Cut(clean.Line(line), maxWidth))
}

// whole prints a clean line without cutting or delaying it.
func (p *printer) whole(line string) { p.buf.WriteString(line + "\n") }

// answer prints the non-empty lines of an answer, up to maxLines.
func (p *printer) answer(text string) {
	for line := range strings.Lines(clean.Text(text)) {
		line = clean.Cut(clean.Line(strings.TrimSpace(line)), maxWidth)
		switch {
		case line == "":
		case p.printed < maxLines:
			p.printed++
			p.whole(line)
		default:
			p.rest = append(p.rest, line)
		}
	}
}

// begin forgets the previous answer.
func (p *printer) begin() { p.printed, p.rest = 0, nil }

// more prints the next lines of the last answer, or all of them.
func (p *printer) more(all bool) {
	lines := p.rest
	switch p.begin(); {
	case len(lines) == 0:
		p.answer("there is no more")
	case all:
		p.printed = -len(lines)
	}
	p.answer(strings.Join(lines, "\n"))
}

// end prints how many lines of an answer are left.
func (p *printer) end() {
	if n := len(p.rest); n > 0 {
		p.whole(fmt.Sprintf(textMore, words.Grouped(uint64(n), "more line")))
	}
}

// fail prints why a command was not executed.
func (p *printer) fail(text string) {
	if p.once {
		p.failed = text
		return
	}
	p.answer(textError + text)
}

// misread notes why a line is no command as a whole. A person reads it before console.offer.
func (p *printer) misread(why string) {
	p.missed = why
	if !p.piped {
		p.fail(why)
	}
}

// usage notes the syntax of a command that the line does not have.
func (p *printer) usage(c command.Command) {
	p.misread(fmt.Sprintf(textUsage, c.Name, c.Usage, cmp.Or(c.Example, c.Name), c.Name))
}

// read prints lines below their title, if they have one, or none if there are no lines.
func (p *printer) read(title string, lines []string, none string) {
	switch {
	case len(lines) == 0 && p.missed == none && p.piped:
		return
	case len(lines) == 0:
		p.answer(none)
		return
	case title == "":
	case len(lines) == 1:
		title += ": "
	default:
		title += ":\n"
	}
	p.answer(title + strings.Join(lines, "\n"))
}

func (p *printer) flush() error {
	if p.buf.Len() == 0 {
		return nil
	}
	defer p.buf.Reset()
	if _, err := p.w.Write(p.buf.Bytes()); err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	return nil
}

// event is one event to print.
type event struct {
	at    time.Time
	kind  string
	words string
}

// notice reports whether the event is a notice of the program.
func (e event) notice() bool {
	switch e.kind {
	case string(notice.Info), string(notice.Warn), string(notice.Alert), kindNotice:
		return true
	}
	return false
}

// snapshotDiff compares snapshots and finds new events.
type snapshotDiff struct {
	last     core.Snapshot
	heard    map[string]bool // messages, and whether they are still growing
	notice   uint64
	runs     map[string]fork.State
	updates  map[string]bool
	problems map[string]bool
	asked    map[string]bool
	numbers  numbers // of tool calls and buttons
	events   []event
	recent   map[string]event // lines of the last seconds
}

// notAgain is how long a line from another source counts as a repetition: an error in the conversation is both a
// notice and a message.
const notAgain = 10 * time.Second

// news returns the events since the last snapshot, in a logical order.
func (e *snapshotDiff) news(s *core.Snapshot) []event {
	e.events = nil
	e.state(s)
	for _, p := range fresh(&e.problems, s.Schedule.Problems, func(p routines.Problem) (string, bool) { return problemText(p), true }) {
		e.add(s.At, kindProblem, problemText(p))
	}
	for _, f := range fresh(&e.runs, s.Forks, func(f fork.View) (string, fork.State) { return f.ID, f.State }) {
		e.add(cmp.Or(f.Ended, f.Started, f.Queued), kindRun, runText(s, f))
	}
	for _, u := range fresh(&e.updates, s.Updates, updateKey) {
		e.add(u.At, kindUpdate, s.UpdateText(u))
	}
	for _, n := range s.Notices {
		if n.Seq > e.notice {
			e.notice = n.Seq
			e.add(n.At, string(n.Level), spoken(n.Text))
		}
	}
	for _, m := range fresh(&e.heard, s.Chat, func(m transcript.Entry) (string, bool) { return string(m.ID), m.Streaming }) {
		if !m.Streaming {
			e.message(m)
		}
	}
	e.approvals(s)
	e.last = *s
	return e.events
}

// fresh returns the items of a list that are new or changed. key is an item's name and the
// part of it that can change. was becomes the state of this list.
func fresh[T any, V comparable](was *map[string]V, list []T, key func(T) (string, V)) []T {
	now := make(map[string]V, len(list))
	var out []T
	for _, item := range list {
		name, state := key(item)
		if old, known := (*was)[name]; !known || old != state {
			out = append(out, item)
		}
		now[name] = state
	}
	*was = now
	return out
}

// updateKey distinguishes updates. While the list is full, each new update changes the entry that counts dropped
// ones, which is printed only once.
func updateKey(u updates.Update) (string, bool) {
	if u.Dropped > 0 {
		return "", true
	}
	return u.Key, true
}

// add adds an event. It omits a notice that repeats another event, such as an error in a file that is also an update.
// A repeated message of the conversation is a new event, because a script may wait for it.
func (e *snapshotDiff) add(at time.Time, kind, words string) {
	one, line := event{at, kind, words}, flat(words)
	maps.DeleteFunc(e.recent, func(_ string, was event) bool { return at.Sub(was.at) > notAgain })
	if was, again := e.recent[line]; again && one.notice() && (kind != kindNotice || was.kind != kindNotice) {
		return
	}
	if e.recent == nil {
		e.recent = map[string]event{}
	}
	e.recent[line] = one
	e.events = append(e.events, one)
}

// state compares connections, the budget and the fork.
func (e *snapshotDiff) state(s *core.Snapshot) {
	was := &e.last
	if s.Engine.OK != was.Engine.OK || s.Engine.Model != was.Engine.Model {
		e.add(s.At, kindEngine, flat(s.Engine.Name+" "+s.Engine.Model)+", "+upDown(s.Engine.OK, s.Engine.State))
	}
	if s.Surface.OK != was.Surface.OK {
		e.add(s.At, kindSurface, s.Surface.Name+" "+upDown(s.Surface.OK, s.Surface.State))
	}
	a, b := was.Budget.State, s.Budget.State
	if a.Capacity != b.Capacity || a.RefillRateMinutes != b.RefillRateMinutes {
		e.add(s.At, kindBudget, s.BudgetText())
	}
	if !s.Budget.Muted.Equal(was.Budget.Muted) {
		e.add(s.At, kindBudget, s.MutedText())
	}
	switch {
	case s.Fork != nil && was.Fork == nil:
		e.add(s.At, kindFork, fmt.Sprintf(textEntered, cmp.Or(s.Fork.Topic, "no topic yet")))
	case s.Fork == nil && was.Fork != nil:
		e.add(s.At, kindFork, textLeftFork)
	case s.Fork != nil && s.Fork.Asks && !was.Fork.Asks:
		e.add(s.At, kindFork, textForkAsks)
	}
}

// message adds a complete message, the tools it was denied and its buttons.
func (e *snapshotDiff) message(m transcript.Entry) {
	for _, tool := range m.Tools {
		if label, denied := strings.CutSuffix(tool, transcript.DeniedMark); denied {
			e.add(m.At, kindDenied, label)
		}
	}
	kind, text := string(m.Role), messageText(m)
	switch {
	case m.Role == transcript.Ping && m.Critical:
		kind = kindCritical
	case m.Role == transcript.Ping && m.Quiet:
		kind = kindQuiet
	case m.Role == transcript.Notice: // the program's own words
		text = spoken(text)
	}
	if text != "" {
		e.add(m.At, kind, text)
	}
	press := each(buttonsOf(m), func(t thing) string { return fmt.Sprintf("press %d for %s", e.numbers.of(allButtons, t.id), t.title) })
	if len(press) > 0 {
		e.add(m.At, kindButton, words.Joined(press...))
	}
}

// approvals adds new pending tool calls, and those no longer pending.
func (e *snapshotDiff) approvals(s *core.Snapshot) {
	for _, a := range fresh(&e.asked, s.Approvals, func(a policy.Approval) (string, bool) { return a.ID, true }) {
		number := e.numbers.of(allCalls, a.ID)
		e.add(a.Asked, kindApproval, fmt.Sprintf("number %d, %s", number, callThing(s, a, number).line))
	}
	for _, a := range e.last.Approvals {
		words := textCallGone
		short, _ := shortCall(a)
		if !a.Until.IsZero() && !s.At.Before(a.Until) {
			words = textCallDenied
		}
		if !e.asked[a.ID] {
			e.add(s.At, kindApproval, fmt.Sprintf(words, e.numbers.of(allCalls, a.ID), short))
		}
	}
}
