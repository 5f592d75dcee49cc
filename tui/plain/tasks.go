package plain

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/routines/schedule"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	panes "ollimbot/tui/pane/schedule"
)

// oftenFires is how many fires of one task a list of a day has one by one.
const oftenFires = 4

func (m *session) schedule(string) {
	m.list(m.named.Name, allTasks.or(textNothingNext), each(m.s.Schedule.Entries, func(e schedule.Entry) thing {
		return thing{id: e.ID, line: entryText(&m.s, e, "")}
	}))
	if m.s.Schedule.Refills != "" {
		m.answer(m.named.Name, strings.Replace(m.s.Schedule.Refills, "~", textRefillsAbout, 1))
	}
}

// day reads the fires of 24 hours, and what the user's own calendar and tasks hold
// then. A task that fires often has one line, at its first fire.
func (m *session) day(string) {
	ctx, cancel := context.WithTimeout(m.ctx, commandTime)
	defer cancel()
	m.core.Look(ctx)
	m.look()
	fires := map[string]int{}
	for _, e := range m.s.Schedule.Day {
		fires[e.ID]++
	}
	var list []thing
	for _, e := range m.s.Schedule.Day {
		more := ""
		if n := fires[e.ID]; n > oftenFires {
			fires[e.ID] = -1
			more = "and " + words.Some(n-1, "more time", "")
		} else if n < 0 {
			continue
		}
		list = append(list, thing{id: e.ID, line: entryText(&m.s, e, more)})
	}
	m.list(m.named.Name, allTasks.or(textNothingToday), list)
	for _, d := range m.s.Day {
		if d.Start.Before(m.s.At.Add(24 * time.Hour)) {
			m.say(m.s.At, kindDate, dateText(&m.s, d))
		}
	}
}

func (m *session) taskThing(t schedule.TaskView) thing {
	return thing{id: t.ID, title: t.Title, line: taskText(&m.s, t)}
}

// task is the task that the words name.
func (m *session) task(query string) (schedule.TaskView, bool) {
	return pick(m, allTasks, m.s.Schedule.Tasks, m.taskThing, query)
}

// details reads everything about a task; file where its file is, for an editor
// beside plain mode, and what it says.
func (m *session) details(rest string) {
	t, ok := m.task(rest)
	if !ok {
		return
	}
	o, ok := m.carryOut(command.Describe{ID: t.ID})
	about, file, _ := strings.Cut(o.Body, "\n\n")
	if m.named.Name == "file" {
		about = fmt.Sprintf(textFileIs, filepath.Join(m.s.Root, t.Path)) + "\n" + file
	} else {
		about = spoken(about)
	}
	if ok {
		m.answer(m.named.Name, about)
	}
}

// grant lets a task, a skill or a webhook that waits for the user do what its file
// says, after a question that says what that is.
func (m *session) grant(rest string) {
	var all []thing
	questions := map[string]*pane.Question{}
	add := func(t thing, why, version string) {
		all = append(all, t)
		questions[t.id] = panes.AllowQuestion(t.title, schedule.TagWaits+": "+why, command.AllowTask{ID: t.id, Version: version})
	}
	for _, t := range m.s.Schedule.Tasks {
		if t.Waits != "" {
			add(m.taskThing(t), t.Waits, t.Version)
		}
	}
	for _, p := range m.s.Schedule.Problems {
		if p.Waits {
			add(thing{id: p.File, title: p.File, line: problemText(p)}, p.Message, p.Version)
		}
	}
	if t, ok := m.find(allTasks.or(textNothingWaits), all, rest); ok {
		m.ask(questions[t.id])
	}
}

// create writes a new task: "routine CRON MESSAGE" or "reminder WHEN MESSAGE".
func (m *session) create(rest string) {
	kind, rest := command.CutWord(rest)
	c, more, ok := command.AddTask{}, "", true
	switch fields := strings.Fields(rest); {
	case strings.EqualFold(kind, "routine") && len(fields) >= 5:
		expr := strings.Join(fields[:5], " ")
		note, ok := dialog.CheckCron(pane.Context{Snap: &m.s}, expr)
		if !ok {
			m.answer(kindError, fmt.Sprintf(textBadCron, expr, note))
			return
		}
		c, more = newTask(command.Behind(rest, 5)), "; "+note
		c.Cron = expr
	case strings.EqualFold(kind, "reminder"):
		var at time.Time
		at, rest, ok = command.FirstMoment(rest, m.now())
		c = newTask(rest)
		c.At = at
	default:
		ok = false
	}
	switch {
	case !ok:
		m.wrong()
	case c.Message == "":
		m.answer(kindError, textNoMessage)
	default:
		m.doThen(c, more)
	}
}

// taskWords are what may stand before a message: "silent foreground called TITLE:".
var taskWords = lazyregexp.Lazily(`(?is)^((?:\b(?:silent|foreground)\b,?\s*)*)(?:called\s+(.+?))?:\s(.+)$`)

// newTask reads a message, and what may stand before it.
func newTask(text string) command.AddTask {
	parts := taskWords().FindStringSubmatch(text)
	if parts == nil || parts[1]+parts[2] == "" {
		return command.AddTask{Message: strings.TrimSpace(text)}
	}
	how := strings.ToLower(parts[1])
	return command.AddTask{
		Description: strings.Join(strings.Fields(parts[2]), " "), Message: strings.TrimSpace(parts[3]),
		Silent: strings.Contains(how, "silent"), Foreground: strings.Contains(how, "foreground"),
	}
}

// budget reads "+1", "-1", "6", "refill 60", "refill +5"; nothing tells it.
func (m *session) budget(rest string) {
	state, given := m.s.Budget.State, strings.Fields(rest)
	var set command.SetBudget
	switch {
	case len(given) == 0:
		m.answer(kindBudget, m.s.BudgetText())
		if !m.s.Budget.Muted.IsZero() {
			m.answer(kindBudget, m.s.MutedText())
		}
		return
	case len(given) == 1:
		set.Capacity = number(given[0], state.Capacity)
	case len(given) == 2 && given[0] == "refill":
		set.RefillMinutes = number(given[1], state.RefillRateMinutes)
	}
	if set.Capacity == nil && set.RefillMinutes == nil {
		m.wrong()
		return
	}
	m.do(set)
}

// number is a number, or one that a step leads to: "+1". Nil is none.
func number(word string, now int) *int {
	n, err := strconv.Atoi(word)
	if err != nil {
		return nil
	}
	if word[0] == '+' || word[0] == '-' {
		n += now
	}
	return &n
}
