package plain

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane/forks"
)

// oneRun is the run that the words name. off says why the command can do nothing with
// one; among several, those count that are good for it.
func (m *session) oneRun(rest string, off func(f fork.View) string) (fork.View, bool) {
	f, ok := pick(m, allRuns, m.s.Forks, func(f fork.View) thing {
		t := runThing(f)
		t.off = off(f) != ""
		return t
	}, rest)
	if why := off(f); ok && why != "" {
		m.answer(kindError, f.Title+": "+why)
		return f, false
	}
	return f, ok
}

func runThing(f fork.View) thing { return thing{id: f.ID, title: f.Title, line: runText(f)} }

// onRun does what a key of the runs' pane does, to the run that the words name.
func (m *session) onRun(rest string) {
	id := map[string]action.ID{"stop": action.ForksStop, "again": action.ForksAgain, "continue": action.ForksResume}[m.named.Name]
	f, ok := m.oneRun(rest, func(f fork.View) string { return forks.Off(f, id) })
	switch {
	case !ok:
	case id == action.ForksStop:
		m.ask(forks.StopQuestion(f, m.s.At))
	case id == action.ForksAgain:
		m.do(command.FireNow{ID: f.TaskID, Stays: true})
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
		run, ok := m.oneRun(rest, func(f fork.View) string {
			if f.Live() {
				return ""
			}
			return textFollowEnded
		})
		if !ok {
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

// lastLines is how many lines of a tail are read unless told.
const lastLines = 15

// output reads the last lines of a run: "RUN last 40 find WORDS".
func (m *session) output(rest string) {
	rest, find := cutAt(rest, "find")
	query, n := cutAt(rest, "last")
	most, ok := m.many(n, lastLines)
	if !ok {
		return
	}
	if f, ok := m.oneRun(query, func(fork.View) string { return "" }); ok {
		m.answer(kindOutput, fmt.Sprintf(textOutputOf, flat(runText(f))))
		m.tail(f.ID, kindOutput, most, func(l tail.Line) bool { return words.HoldsAll(l.Text, find) })
	}
}

// log reads "20", "errors", "warnings", "find WORDS" in this order.
func (m *session) log(rest string) {
	rest, find := cutAt(strings.ToLower(rest), "find")
	most, kinds := lastLines, []tail.Kind(nil)
	for w := range strings.FieldsSeq(rest) {
		n, ok := howMany(w, 0)
		switch {
		case strings.HasPrefix(w, "error"):
			kinds = []tail.Kind{tail.Error}
		case strings.HasPrefix(w, "warn"):
			kinds = []tail.Kind{tail.Warn, tail.Error}
		case ok:
			most = n
		case w != "lines" && w != "last":
			m.wrong()
			return
		}
	}
	m.tail(core.LogTail, kindLog, most, func(l tail.Line) bool {
		return (kinds == nil || slices.Contains(kinds, l.Kind)) && words.HoldsAll(l.Text, find)
	})
}

// cutAt takes a word and what is behind it from a line.
func cutAt(line, word string) (before, behind string) {
	before, behind, _ = strings.Cut(" "+line+" ", " "+word+" ")
	return strings.TrimSpace(before), strings.TrimSpace(behind)
}

// tail reads the newest lines of a tail that are asked for, oldest first.
func (m *session) tail(id, kind string, most int, asked func(l tail.Line) bool) {
	lines := slices.DeleteFunc(slices.Clone(m.core.Tail(id, 0).Lines), func(l tail.Line) bool { return !asked(l) })
	if len(lines) == 0 {
		m.answer(kind, textNoLines)
	}
	for _, l := range lines[max(0, len(lines)-most):] {
		m.say(l.At, kind, tailText(l))
	}
}
