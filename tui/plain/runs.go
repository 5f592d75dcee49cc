package plain

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/core/tail"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/pane/forks"
)

// oneRun finds the run that the words name.
func (m *session) oneRun(query string, good func(f fork.View) bool) (found fork.View, ok bool) {
	byID := map[string]fork.View{}
	for _, f := range m.s.Forks {
		byID[f.ID] = f
	}
	t, ok := m.pick(allRuns, query, func(id string) bool { return good(byID[id]) })
	return byID[t.id], ok
}

// onRun does what a key of the runs' pane does, to the run that the words name.
func (m *session) onRun(rest string) {
	id := map[string]action.ID{"stop": action.ForksStop, "again": action.ForksAgain, "continue": action.ForksResume}[m.named.Name]
	f, ok := m.oneRun(rest, func(f fork.View) bool { return forks.Off(f, id) == "" })
	switch why := forks.Off(f, id); {
	case !ok:
	case why != "":
		m.answer(kindError, f.Title+": "+why)
	case id == action.ForksStop:
		m.ask(forks.StopQuestion(f, m.s.At))
	case id == action.ForksAgain:
		m.do(command.FireNow{ID: f.TaskID})
	default:
		m.do(command.ResumeFork{Run: f.ID})
	}
}

// following is a tail whose lines are said as they come.
type following struct {
	id, title, kind string
	cursor          tail.Cursor
}

// follow reads "RUN", "log" and "off".
func (m *session) follow(rest string) {
	f := following{core.LogTail, textTheLog, kindLog, 0}
	switch strings.ToLower(rest) {
	case "off":
		m.followed = nil
		m.answer(kindOK, textNotFollowed)
		return
	case "log":
	default:
		run, ok := m.oneRun(rest, fork.View.Live)
		if ok && !run.Live() {
			m.answer(kindError, fmt.Sprintf(textFollowEnded, run.Title))
		}
		if !ok || !run.Live() {
			return
		}
		f = following{run.ID, run.Title, kindOutput, 0}
	}
	f.cursor = m.core.Tail(f.id, 0).Next
	m.followed = &f
	m.answer(kindOK, fmt.Sprintf(textFollowed, f.title))
}

// lookAtTail says the lines that have come since. Where they come faster than
// anybody can listen, it says how many it left out.
func (m *session) lookAtTail() {
	f := m.followed
	if f == nil {
		return
	}
	p := m.core.Tail(f.id, f.cursor)
	f.cursor = p.Next
	left := max(0, len(p.Lines)-most)
	if n := uint64(left) + p.Lost; n > 0 {
		m.say(m.s.At, kindOutput, fmt.Sprintf(textLinesLost, words.Grouped(n, "line")))
	}
	for _, l := range p.Lines[left:] {
		m.say(l.At, f.kind, tailText(l))
	}
	live := func(v fork.View) bool { return v.ID == f.id && v.Live() }
	if f.id != core.LogTail && !slices.ContainsFunc(m.s.Forks, live) {
		m.followed = nil
		m.say(m.s.At, kindOutput, fmt.Sprintf(textFollowOver, f.title))
	}
}

// excerpt is which lines of a tail are asked for.
type excerpt struct {
	most int // the newest so many of those that fit
	find string
	// kinds are those that count; nil takes all.
	kinds []tail.Kind
}

// lastLines is how many lines of a tail are read unless told.
const lastLines = 15

// output reads the last lines of a run: "RUN last 40 find WORDS".
func (m *session) output(rest string) {
	rest, find := cutAt(rest, "find")
	query, n := cutAt(rest, "last")
	most, ok := howMany(n, lastLines)
	if !ok {
		m.wrong()
		return
	}
	if f, ok := m.oneRun(query, func(fork.View) bool { return true }); ok {
		m.answer(kindOutput, fmt.Sprintf(textOutputOf, flat(runText(f))))
		m.tell(excerpt{most: most, find: find}, kindOutput, f.ID)
	}
}

// log reads "20", "errors", "warnings", "find WORDS" in this order.
func (m *session) log(rest string) {
	rest, find := cutAt(strings.ToLower(rest), "find")
	e := excerpt{most: lastLines, find: find}
	for w := range strings.FieldsSeq(rest) {
		n, ok := howMany(w, 0)
		switch {
		case strings.HasPrefix(w, "error"):
			e.kinds = []tail.Kind{tail.Error}
		case strings.HasPrefix(w, "warn"):
			e.kinds = []tail.Kind{tail.Warn, tail.Error}
		case ok:
			e.most = n
		case w != "lines" && w != "last":
			m.wrong()
			return
		}
	}
	m.tell(e, kindLog, core.LogTail)
}

// cutAt takes a word and what is behind it from a line.
func cutAt(line, word string) (before, behind string) {
	before, behind, _ = strings.Cut(" "+line+" ", " "+word+" ")
	return strings.TrimSpace(before), strings.TrimSpace(behind)
}

// tell reads the newest lines of a tail that are asked for, oldest first.
func (m *session) tell(e excerpt, kind, id string) {
	lines := slices.DeleteFunc(slices.Clone(m.core.Tail(id, 0).Lines), func(l tail.Line) bool {
		return e.kinds != nil && !slices.Contains(e.kinds, l.Kind) || !holdsAll(l.Text, e.find)
	})
	if len(lines) == 0 {
		m.answer(kind, textNoLines)
	}
	for _, l := range lines[max(0, len(lines)-e.most):] {
		m.say(l.At, kind, tailText(l))
	}
}
