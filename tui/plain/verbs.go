package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
)

// question is asked before what cannot be undone. Only "yes", as the very next
// line, does it: all else leaves things as they are.
type question struct {
	again string // the word that may be said instead of yes; empty for none
	do    func()
}

// verbs are the commands that are more than a value for the bot.
func (m *session) verbs() map[string]func(rest string) {
	tell := func(none string, lines func() []string) func(string) {
		return func(string) { m.read(lines(), none) }
	}
	number := func(l list, things func() []thing) func(string) {
		return func(string) { m.list(m.named.Name, l, things()) }
	}
	noQuestion := func(string) { m.answer(kindError, textNoQuestion) }
	return map[string]func(rest string){
		"status": tell("", func() []string { return statusText(&m.s) }), "engine": tell("", func() []string { return rowsText(dialog.EngineRows(&m.s)) }),
		"problems": tell(textNoProblems, m.problems), "webhooks": tell("", func() []string { return rowsText(dialog.DeliveryRows(&m.s)) }),
		"tasks":   number(allTasks, func() []thing { return each(m.s.Schedule.Tasks, m.taskThing) }),
		"runs":    number(allRuns, func() []thing { return each(m.s.Forks, runThing) }),
		"updates": number(allUpdates, func() []thing { return each(m.newestUpdates(), m.updateThing) }),
		"notices": m.notices, "costs": m.costs, "log": m.log, "schedule": m.schedule, "day": m.day, "details": m.details,
		"file": m.details, "grant": m.grant, "new": m.create, "output": m.output, "follow": m.follow, "stop": m.onRun,
		"again": m.onRun, "continue": m.onRun, "update": m.readUpdate, "say": func(rest string) { m.send(command.Say{Text: rest}) },
		"reply": m.reply, "read": m.whole, "chat": m.chat, "buttons": m.buttons, "press": m.press, "interrupt": m.interrupt, "exit": m.exit,
		"waits": m.waits, "allow": m.settle, "always": m.settle, "deny": m.settle, "budget": m.budget, "undo": m.undoLast,
		"yes": noQuestion, "no": noQuestion, "help": m.help, "quit": m.quit,
	}
}

// obey carries out a line of input.
func (m *session) obey(line string) {
	word, rest := command.CutWord(line)
	word = strings.ToLower(word)
	if q := m.asked; q != nil {
		m.asked = nil
		switch word {
		case "yes", "y", q.again:
			q.do()
			return
		case "no", "n":
			m.answer(kindOK, textLeftAsIs)
			return
		}
		m.answer(kindQuestion, textDropped)
	}
	if word == "/interrupt" { // the same, which says more
		word = "interrupt"
	}
	if strings.HasPrefix(word, "/") {
		m.do(command.Slash{Line: line})
		return
	}
	c, ok := command.Find(command.InPlain, word)
	m.named = c
	switch {
	case !ok:
		m.answer(kindError, fmt.Sprintf(textUnknown, word))
	case c.Writes && m.o.ReadOnly:
		m.answer(kindError, c.Name+" is refused, "+m.o.readOnly())
	case c.Make != nil:
		if s, ok := m.subject(rest); ok {
			m.do(c.Make(s))
		}
	default:
		m.verbs()[c.Name](rest)
	}
}

// wrong says how the command is given that could not be read.
func (m *session) wrong() {
	c := m.named
	m.answer(kindError, fmt.Sprintf(textWrong, c.Name, c.Usage, cmp.Or(c.Example, c.Name), c.Name))
}

// subject reads what a command takes. False means that it has said what is wrong.
func (m *session) subject(rest string) (s command.Subject, ok bool) {
	switch m.named.Takes {
	case command.TaskMoment: // the moment stands at the end of the line
		before, off := strings.CutSuffix(rest, " off")
		if rest = before; !off {
			if rest, s.At, ok = command.LastMoment(rest, m.now()); !ok {
				m.wrong()
				return s, false
			}
		}
		fallthrough
	case command.Task:
		t, ok := m.task(strings.TrimSpace(rest))
		s.ID = t.ID
		return s, ok
	case command.Update:
		u, ok := m.update(rest)
		return command.Subject{ID: u.Key}, ok
	case command.Moment:
		if s.At, ok = command.ReadMoment(rest, m.now()); !ok && rest != "off" {
			m.wrong()
			return s, false
		}
	}
	s.Words = rest
	return s, true
}

// now is the moment in the bot's zone.
func (m *session) now() time.Time { return m.s.Local(m.s.At) }

// ask says a question as the panes ask it, and waits for the next line.
func (m *session) ask(q *pane.Question) {
	m.asked = &question{do: func() { m.do(q.Do) }}
	m.answer(kindQuestion, fmt.Sprintf(textAsk, q.Text, q.Yes, q.No))
}

func (m *session) undoLast(string) {
	n := len(m.undo)
	if n == 0 {
		m.answer(kindError, textNoUndo)
		return
	}
	if o, ok := m.carryOut(m.undo[n-1]); ok {
		m.undo = m.undo[:n-1]
		m.answer(kindOK, textUndone+spoken(cmp.Or(o.Message, textDone)))
	}
}

// quit ends plain mode; while runs go on, after a question.
func (m *session) quit(string) {
	end := func() {
		m.answer(kindQuit, textBye)
		m.done = true
	}
	running, waiting := fork.Count(m.s.Forks)
	if running+waiting == 0 {
		end()
		return
	}
	m.asked = &question{again: "quit", do: end}
	m.answer(kindQuestion, fmt.Sprintf(textQuit, words.Some(running+waiting, "run", "")))
}

// help tells all commands in groups, those of one group, or one of them.
func (m *session) help(rest string) {
	rest = strings.ToLower(rest)
	c, ok := command.Find(command.InPlain, rest)
	switch g := command.Group(rest); {
	case rest == "":
		m.answer(kindHelp, helpText())
	case slices.Contains(command.Groups, g): // with the command that is called so
		m.answer(kindHelp, groupText(g))
	case !ok:
		names := each(command.Groups, func(g command.Group) string { return string(g) })
		m.answer(kindError, fmt.Sprintf(textUnknown, rest)+textGroups+words.Joined(names...))
	default:
		text := shortText(c) + "\n" + c.More
		if len(c.Aliases) > 0 {
			text += "\n" + strings.Join(c.Aliases, " or ") + " means the same"
		}
		m.answer(kindHelp, text)
	}
}

// helpText is every command in its group, each in one line.
func helpText() string {
	text := textHelpHead
	for _, g := range command.Groups {
		text += "\n" + groupText(g)
	}
	return text + "\n" + textHelpTail
}

func groupText(g command.Group) string {
	text := g.Title() + ", group " + string(g) + ":"
	for _, c := range command.List(command.InPlain) {
		if c.Group == g {
			text += "\n" + shortText(c)
		}
	}
	return text
}

// shortText is a command in one line with its example.
func shortText(c command.Command) string {
	text := c.Line() + ": " + c.About
	if c.Example != "" {
		text += "; for example " + c.Example
	}
	return text
}

// notices reads what the program has said; the newest ten unless told.
func (m *session) notices(rest string) {
	if n, ok := m.many(rest, 10); ok {
		lines := each(m.told[max(0, len(m.told)-n):], func(e event) string { return words.Joined(m.s.Moment(e.at), e.kind, flat(e.words)) })
		slices.Reverse(lines)
		m.read(lines, textNoNotices)
	}
}

// many is howMany that says how the command is given where that is wrong.
func (m *session) many(text string, n int) (int, bool) {
	n, ok := howMany(text, n)
	if !ok {
		m.wrong()
	}
	return n, ok
}

// howMany reads a number of lines or days, at least 1; n where none is given.
func howMany(text string, n int) (int, bool) {
	if text == "" {
		return n, true
	}
	n, err := strconv.Atoi(text)
	return min(n, 10_000), err == nil && n > 0
}

func (m *session) problems() []string {
	return each(m.s.Schedule.Problems, func(p routines.Problem) string { return problemText(p) })
}

// costs tells what the runs of each task have cost.
func (m *session) costs(rest string) {
	days, ok := m.many(rest, 7)
	if !ok {
		return
	}
	if o, ok := m.carryOut(command.Costs{Days: days}); ok {
		m.read(costsText(o), "")
	}
}
