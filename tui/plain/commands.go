package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/core/policy"
	"ollimbot/core/transcript"
	"ollimbot/core/words"
)

// question is asked before what cannot be undone. Only "yes", as the very next
// line, does it: all else leaves things as they are.
type question struct {
	again string // the word that may be said instead of yes; empty for none
	do    func()
}

// verbs are the commands that are more than a value for the bot.
func (m *session) verbs() map[string]func(rest string) {
	settle := func(v policy.Verdict) func(string) { return func(which string) { m.settle(which, v) } }
	return map[string]func(string){
		"status": m.status, "notices": m.notices, "problems": m.problems, "engine": m.engine, "costs": m.costs, "log": m.log,
		"webhooks": m.webhooks, "schedule": m.schedule, "day": m.day, "tasks": m.tasks, "details": m.details,
		"preview": m.preview, "file": m.file, "fire": m.fire, "grant": m.grant, "new": m.create, "runs": m.runs,
		"output": m.output, "follow": m.follow, "stop": m.stop, "again": m.again, "continue": m.goOn, "updates": m.updates,
		"update": m.update, "say": m.speak, "reply": m.reply, "read": m.read, "chat": m.chat, "buttons": m.buttons,
		"press": m.press, "interrupt": m.interrupt, "exit": m.exit, "waits": m.waits, "allow": settle(policy.Allow),
		"always": settle(policy.Always), "deny": settle(policy.Deny), "budget": m.budget, "undo": m.undoLast,
		"yes": m.noQuestion, "no": m.noQuestion, "help": m.help, "quit": m.quit,
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
	switch {
	case !ok:
		m.answer(kindError, fmt.Sprintf(textUnknown, word))
	case c.Writes && m.o.ReadOnly:
		m.answer(kindError, c.Name+" is refused, "+textReadOnly)
	case c.Make != nil:
		if s, ok := m.subject(c, rest); ok {
			m.do(c.Make(s))
		}
	default:
		m.verbs()[c.Name](rest)
	}
}

// subject reads what a command takes. False means that it has said what is wrong.
func (m *session) subject(c command.Command, rest string) (s command.Subject, ok bool) {
	snap := m.core.Snapshot()
	switch c.Takes {
	case command.Task:
		s.ID, ok = m.task(rest, c.Name)
		return s, ok
	case command.TaskMoment: // the moment stands at the end of the line
		words, off := strings.CutSuffix(rest, " off")
		if !off {
			if words, s.At, ok = command.LastMoment(rest, m.now()); !ok {
				m.answer(kindError, fmt.Sprintf(textTaskWhen, c.Example, c.Name))
				return s, false
			}
		}
		s.ID, ok = m.task(strings.TrimSpace(words), c.Name)
		return s, ok
	case command.Update:
		u, ok := m.namedUpdate(&snap, rest, c.Name)
		return command.Subject{ID: u.Key}, ok
	case command.Moment:
		if s.At, ok = command.ReadMoment(rest, m.now()); !ok && rest != "off" {
			m.answer(kindError, textMuteWhat)
			return s, false
		}
	}
	s.Words = rest
	return s, true
}

// now is the moment in the bot's zone.
func (m *session) now() time.Time { return m.core.Snapshot().At.In(m.diff.zone) }

// ask says a question and waits for the next line.
func (m *session) ask(text string, q question) {
	m.asked = &q
	m.answer(kindQuestion, text)
}

func (m *session) noQuestion(string) { m.answer(kindError, textNoQuestion) }

func (m *session) undoLast(string) {
	n := len(m.undo)
	if n == 0 {
		m.answer(kindError, textNoUndo)
		return
	}
	if o, ok := m.carryOut(m.undo[n-1]); ok {
		m.undo = m.undo[:n-1]
		text := o.Message
		if text == "" {
			text = textDone
		}
		m.answer(kindOK, textUndone+spoken(text))
	}
}

// quit ends plain mode; while runs go on, after a question.
func (m *session) quit(string) {
	end := func() {
		m.answer(kindQuit, textBye)
		m.done = true
	}
	running, waiting := fork.Count(m.core.Snapshot().Forks)
	switch live := running + waiting; live {
	case 0:
		end()
	default:
		m.ask(quitText(live), question{again: "quit", do: end})
	}
}

// help tells all commands in groups, those of one group, or one of them.
func (m *session) help(rest string) {
	rest = strings.ToLower(rest)
	if rest == "" {
		m.answer(kindHelp, helpText())
		return
	}
	if g := command.Group(rest); slices.Contains(command.Groups, g) { // with the command that is called so
		m.answer(kindHelp, groupText(g))
		return
	}
	c, ok := command.Find(command.InPlain, rest)
	if !ok {
		m.answer(kindError, unknownHelp(rest))
		return
	}
	m.answer(kindHelp, commandText(c))
}

// helpText is every command in its group, each in one line.
func helpText() string {
	parts := []string{textHelpHead}
	for _, g := range command.Groups {
		parts = append(parts, groupText(g))
	}
	return strings.Join(append(parts, textHelpTail), "\n")
}

func groupText(g command.Group) string {
	lines := []string{g.Title() + ", group " + string(g) + ":"}
	for _, c := range command.List(command.InPlain) {
		if c.Group == g {
			lines = append(lines, shortText(c))
		}
	}
	return strings.Join(lines, "\n")
}

// shortText is a command in one line with its example.
func shortText(c command.Command) string {
	text := c.Line() + ": " + c.About
	if c.Example != "" {
		text += "; for example " + c.Example
	}
	return text
}

// commandText is everything about a command.
func commandText(c command.Command) string {
	lines := []string{shortText(c)}
	if c.More != "" {
		lines = append(lines, c.More)
	}
	if len(c.Aliases) > 0 {
		lines = append(lines, strings.Join(c.Aliases, " or ")+" means the same")
	}
	return strings.Join(lines, "\n")
}

func unknownHelp(word string) string {
	names := make([]string, len(command.Groups))
	for i, g := range command.Groups {
		names[i] = string(g)
	}
	return fmt.Sprintf(textUnknownHelp, word, strings.Join(names, ", "))
}

func (m *session) status(string) {
	s := m.core.Snapshot()
	m.answer(kindStatus, statusText(&s, m.diff.zone))
}

// notices reads what the program has said; the newest ten unless told.
func (m *session) notices(rest string) {
	n, ok := howMany(rest, 10)
	if !ok {
		m.answer(kindError, textNoticesWhat)
		return
	}
	s := m.core.Snapshot()
	list := m.told(&s)
	if len(list) == 0 {
		m.answer(kindNotice, textNoNotices)
	}
	for _, one := range list[:min(n, len(list))] {
		m.answer(kindNotice, fmt.Sprintf("%s, %s, %s", clockText(one.at, s.At, m.diff.zone), one.kind, one.words))
	}
}

// told is everything that was heard as a word of the program, newest first: its
// notices, those in the conversation, and the one that it began with. What stands
// in two of these is there once.
func (m *session) told(s *core.Snapshot) []event {
	var list []event
	seen := map[string]bool{}
	add := func(at time.Time, kind, text string) {
		if words := flat(spoken(text)); words != "" && !seen[words] {
			seen[words] = true
			list = append(list, event{at, kind, words})
		}
	}
	// The same words may come again, so that only one source is told apart by them.
	for _, n := range s.Notices {
		list = append(list, event{n.At, string(n.Level), flat(spoken(n.Text))})
		seen[flat(spoken(n.Text))] = true
	}
	for _, e := range s.Chat {
		if e.Role == transcript.Notice && !e.Streaming {
			add(e.At, kindNotice, messageText(e))
		}
	}
	add(m.ready, kindNotice, m.o.Notice)
	slices.SortStableFunc(list, func(a, b event) int { return a.at.Compare(b.at) })
	slices.Reverse(list)
	return list
}

// howMany reads a number of lines or days, at least 1; n where none is given.
func howMany(text string, n int) (int, bool) {
	if text == "" {
		return n, true
	}
	n, err := strconv.Atoi(text)
	return min(n, 10_000), err == nil && n > 0
}

func (m *session) problems(string) {
	s := m.core.Snapshot()
	if len(s.Schedule.Problems) == 0 {
		m.answer(kindProblem, textNoProblems)
	}
	for _, p := range s.Schedule.Problems {
		m.answer(kindProblem, flat(problemText(p)))
	}
}

func (m *session) engine(string) {
	s := m.core.Snapshot()
	m.answer(kindEngine, engineText(&s))
}

// costs tells what the runs of each task have cost.
func (m *session) costs(rest string) {
	days, ok := howMany(rest, 7)
	if !ok {
		m.answer(kindError, textCostsWhat)
		return
	}
	if o, ok := m.carryOut(command.Costs{Days: days}); ok {
		m.answer(kindCosts, costsText(o))
	}
}

func (m *session) webhooks(string) {
	s := m.core.Snapshot()
	if len(s.Deliveries) == 0 {
		m.answer(kindWebhook, textNoDeliveries)
	}
	for i, d := range s.Deliveries {
		if i == most {
			m.answer(kindWebhook, fmt.Sprintf(textMore, words.Thousands(uint64(len(s.Deliveries)-most))))
			break
		}
		m.answer(kindWebhook, deliveryText(d, s.At, m.diff.zone))
	}
}
