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
)

func runThings(list []fork.View) []thing {
	things := make([]thing, len(list))
	for i, f := range list {
		things[i] = thing{id: f.ID, title: f.Title, line: runText(f)}
	}
	return things
}

func (m *session) runs(string) {
	s := m.core.Snapshot()
	m.list(shelfRun, kindRun, runThings(s.Forks), textNoRuns)
}

// namedRun finds the run that the words name. Of several with such a title it takes
// those that the command is good for; newest takes the first of them.
func (m *session) namedRun(words, verb string, newest bool, prefer func(f fork.View) bool) (fork.View, bool) {
	s := m.core.Snapshot()
	byID := make(map[string]fork.View, len(s.Forks))
	for _, f := range s.Forks {
		byID[f.ID] = f
	}
	t, ok := m.pick(choose{
		shelf: shelfRun, things: runThings(s.Forks), what: fmt.Sprintf(textRunWhat, verb, verb), none: textNoRuns, newest: newest,
		prefer: func(id string) bool { return prefer(byID[id]) },
	}, words)
	return byID[t.id], ok
}

func anyRun(fork.View) bool { return true }

// output reads the last lines of a run: "RUN last 40 find WORDS".
func (m *session) output(rest string) {
	rest, e := cutFind(rest)
	e.most = lastLines
	if words, n, ok := strings.Cut(rest, " last "); ok {
		if e.most, ok = howMany(strings.TrimSpace(n), 0); !ok {
			m.answer(kindError, textOutputWhat)
			return
		}
		rest = strings.TrimSpace(words)
	}
	f, ok := m.namedRun(rest, "output", true, anyRun)
	if !ok {
		return
	}
	m.answer(kindOutput, fmt.Sprintf(textOutputOf, flat(runText(f))))
	m.tell(e, kindOutput, m.core.Tail(f.ID, 0))
}

// following is a tail whose lines are said as they come.
type following struct {
	id, title string
	cursor    tail.Cursor
}

// follow reads "RUN", "log" and "off".
func (m *session) follow(rest string) {
	switch strings.ToLower(rest) {
	case "off":
		text := textNotFollowed
		if m.followed != nil {
			text = fmt.Sprintf(textUnfollowed, m.followed.title)
		}
		m.followed = nil
		m.answer(kindOK, text)
		return
	case "log":
		m.followed = &following{id: core.LogTail, title: textTheLog, cursor: m.core.Tail(core.LogTail, 0).Next}
		m.answer(kindOK, fmt.Sprintf(textFollowed, textTheLog))
		return
	}
	f, ok := m.namedRun(rest, "follow", true, fork.View.Live)
	switch {
	case !ok:
	case !f.Live():
		m.answer(kindError, fmt.Sprintf(textFollowEnded, f.Title))
	default:
		m.followed = &following{id: f.ID, title: f.Title, cursor: m.core.Tail(f.ID, 0).Next}
		m.answer(kindOK, fmt.Sprintf(textFollowed, f.Title))
	}
}

// lookAtTail says the lines that have come since. Where they come faster than
// anybody can listen, it says how many it left out.
func (m *session) lookAtTail(s *core.Snapshot) {
	f := m.followed
	if f == nil {
		return
	}
	live := f.id == core.LogTail
	for _, v := range s.Forks {
		live = live || v.ID == f.id && v.Live()
	}
	p := m.core.Tail(f.id, f.cursor)
	f.cursor = p.Next
	left := max(0, len(p.Lines)-most)
	if n := uint64(left) + p.Lost; n > 0 {
		m.say(s.At, kindOutput, fmt.Sprintf(textLinesLost, words.Grouped(n, "line")))
	}
	kind := kindOutput
	if f.id == core.LogTail {
		kind = kindLog
	}
	for _, l := range p.Lines[left:] {
		m.say(l.At, kind, tailText(l))
	}
	if !live {
		m.followed = nil
		m.say(s.At, kindOutput, fmt.Sprintf(textFollowOver, f.title))
	}
}

// stop asks before a run is ended: that cannot be undone.
func (m *session) stop(rest string) {
	f, ok := m.namedRun(rest, "stop", false, fork.View.Live)
	switch {
	case !ok:
	case !f.Live():
		m.answer(kindError, fmt.Sprintf(textStopEnded, f.Title))
	default:
		m.ask(stopText(f, m.now()), question{do: func() { m.do(command.StopFork{Run: f.ID}) }})
	}
}

func (m *session) again(rest string) {
	f, ok := m.namedRun(rest, "again", true, func(f fork.View) bool { return !f.Live() })
	switch {
	case !ok:
	case f.Live():
		m.answer(kindError, fmt.Sprintf(textAgainLives, f.Title))
	case f.TaskID == "":
		m.answer(kindError, fmt.Sprintf(textAgainNoTask, f.Title))
	default:
		m.do(command.FireNow{ID: f.TaskID})
	}
}

// goOn goes on in a run that has ended, as an interactive fork.
func (m *session) goOn(rest string) {
	f, ok := m.namedRun(rest, "continue", true, func(f fork.View) bool { return !f.Live() && f.Session != "" })
	switch {
	case !ok:
	case f.Live():
		m.answer(kindError, fmt.Sprintf(textGoOnLives, f.Title))
	case f.Session == "":
		m.answer(kindError, fmt.Sprintf(textGoOnNever, f.Title))
	default:
		m.do(command.ResumeFork{Run: f.ID})
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

// log reads "20", "errors", "warnings", "find WORDS" in this order.
func (m *session) log(rest string) {
	rest, e := cutFind(strings.ToLower(rest))
	e.most = lastLines
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
			m.answer(kindError, textLogWhat)
			return
		}
	}
	m.tell(e, kindLog, m.core.Tail(core.LogTail, 0))
}

// cutFind takes "find WORDS" from the end of a line.
func cutFind(rest string) (string, excerpt) {
	if head, words, ok := strings.Cut(" "+rest, " find "); ok {
		return strings.TrimSpace(head), excerpt{find: strings.ToLower(strings.TrimSpace(words))}
	}
	return rest, excerpt{}
}

// takes reports whether a line is asked for.
func (e excerpt) takes(l tail.Line) bool {
	return (e.kinds == nil || slices.Contains(e.kinds, l.Kind)) && holdsAll(strings.ToLower(l.Text), e.find)
}

// tell reads the newest lines of a tail that are asked for, oldest first.
func (m *session) tell(e excerpt, kind string, p tail.Page) {
	var lines []tail.Line
	for _, l := range p.Lines {
		if e.takes(l) {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		m.answer(kind, textNoLines)
		return
	}
	for _, l := range lines[max(0, len(lines)-e.most):] {
		m.say(l.At, kind, tailText(l))
	}
}
