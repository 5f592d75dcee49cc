package plain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// tasksOf are all tasks, by their next fire.
func (m *session) tasksOf(s *core.Snapshot) []thing {
	list := make([]thing, 0, len(s.Schedule.Tasks))
	for _, t := range s.Schedule.Tasks {
		list = append(list, thing{id: t.ID, title: t.Title, line: taskText(t, s.At, m.diff.zone)})
	}
	return list
}

func (m *session) tasks(string) {
	s := m.core.Snapshot()
	m.list(shelfTask, kindSchedule, m.tasksOf(&s), textNoTasks)
}

func (m *session) schedule(string) {
	s := m.core.Snapshot()
	things := make([]thing, 0, len(s.Schedule.Entries))
	for _, e := range s.Schedule.Entries {
		things = append(things, thing{id: e.ID, line: entryText(e, e.FireTime, s.At, m.diff.zone)})
	}
	m.list(shelfTask, kindSchedule, things, textNothingNext)
	if s.Schedule.Refills != "" {
		m.answer(kindSchedule, strings.Replace(s.Schedule.Refills, "~", textRefillsAbout, 1))
	}
}

// day reads the fires of 24 hours, and what the user's own calendar and tasks hold then.
func (m *session) day(string) {
	ctx, cancel := context.WithTimeout(m.ctx, commandTime)
	defer cancel()
	m.core.Look(ctx)
	s := m.core.Snapshot()
	m.list(shelfTask, kindSchedule, dayThings(&s, m.diff.zone), textNothingToday)
	for _, d := range s.Day {
		if d.Start.Before(s.At.Add(24 * time.Hour)) {
			m.say(s.At, kindDate, dateText(d, s.At, m.diff.zone))
		}
	}
}

// task finds the task that the words name.
func (m *session) task(words, verb string) (id string, ok bool) {
	s := m.core.Snapshot()
	t, ok := m.pick(choose{shelf: shelfTask, things: m.tasksOf(&s), what: fmt.Sprintf(textTaskWhat, verb, verb), none: textNoTasks}, words)
	return t.id, ok
}

// view is a task as the snapshot has it; the zero value where it has gone.
func (m *session) view(id string) schedule.TaskView {
	for _, v := range m.core.Snapshot().Schedule.Tasks {
		if v.ID == id {
			return v
		}
	}
	return schedule.TaskView{}
}

// described asks for everything about the task that the words name.
func (m *session) described(words, verb string) (id, about, file string, ok bool) {
	if id, ok = m.task(words, verb); !ok {
		return "", "", "", false
	}
	o, ok := m.carryOut(command.Describe{ID: id})
	about, file = describedText(o.Body)
	return id, about, file, ok
}

func (m *session) details(rest string) {
	if _, about, _, ok := m.described(rest, "details"); ok {
		m.answer(kindDetails, about)
	}
}

// file says where a task's file is, for an editor beside plain mode, and reads it.
func (m *session) file(rest string) {
	id, _, text, ok := m.described(rest, "file")
	if !ok {
		return
	}
	if v := m.view(id); v.ID != "" {
		m.answer(kindFile, fmt.Sprintf(textFileIs, filepath.Join(m.core.Snapshot().Root, v.Path)))
	}
	m.answer(kindFile, text)
}

func (m *session) preview(rest string) {
	if id, ok := m.task(rest, "preview"); ok {
		if o, ok := m.carryOut(command.Preview{ID: id}); ok {
			m.answer(kindPrompt, o.Body)
		}
	}
}

func (m *session) fire(rest string) {
	id, ok := m.task(rest, "fire")
	if !ok {
		return
	}
	fire := func() { m.do(command.FireNow{ID: id}) }
	if v := m.view(id); v.Kind == routines.KindReminder {
		m.ask(fmt.Sprintf(textFireReminder, flat(v.Title)), question{do: fire})
		return
	}
	fire()
}

// grant lets a task, a skill or a webhook that waits for the user do what its file
// says, after a question that says what that is.
func (m *session) grant(rest string) {
	s := m.core.Snapshot()
	var things []thing
	why, do := map[string]string{}, map[string]command.AllowTask{}
	add := func(t thing, waits, version string) {
		things = append(things, t)
		why[t.id], do[t.id] = waits, command.AllowTask{ID: t.id, Version: version}
	}
	for _, t := range s.Schedule.Tasks {
		if t.Waits != "" {
			add(thing{id: t.ID, title: t.Title, line: taskText(t, s.At, m.diff.zone)}, t.Waits, t.Version)
		}
	}
	for _, p := range s.Schedule.Problems {
		if p.Waits {
			add(thing{id: p.File, title: p.File, line: flat(problemText(p))}, p.Message, p.Version)
		}
	}
	t, ok := m.pick(choose{shelf: shelfTask, things: things, what: fmt.Sprintf(textTaskWhat, "grant", "grant"), none: textNothingWaits}, rest)
	if ok {
		m.ask(fmt.Sprintf(textGrant, t.title, why[t.id]), question{do: func() { m.do(do[t.id]) }})
	}
}

// create writes a new task: "routine CRON MESSAGE" or "reminder WHEN MESSAGE".
func (m *session) create(rest string) {
	kind, rest := command.CutWord(rest)
	var c command.AddTask
	var when string
	var err error
	switch strings.ToLower(kind) {
	case "routine":
		c, when, err = newRoutine(rest)
	case "reminder":
		c, err = newReminder(rest, m.now())
	default:
		err = errors.New(textNewWhat)
	}
	if err != nil {
		m.answer(kindError, err.Error())
		return
	}
	if when != "" {
		when = "; " + when
	}
	m.doThen(c, when)
}

// newRoutine reads five fields of cron, then what newTask reads; when is the cron
// line in words.
func newRoutine(rest string) (c command.AddTask, when string, err error) {
	fields := strings.Fields(rest)
	if len(fields) < 5 {
		return c, "", errors.New(textCronWhat)
	}
	expr := strings.Join(fields[:5], " ")
	s, err := cron.Parse(expr)
	if wrong := (*cron.Error)(nil); errors.As(err, &wrong) {
		return c, "", fmt.Errorf(textBadCron, expr, wrong.Message)
	} else if err != nil {
		return c, "", err
	}
	c, err = newTask(command.Behind(rest, 5))
	c.Cron = expr
	return c, s.Words(), err
}

func newReminder(rest string, now time.Time) (command.AddTask, error) {
	at, rest, ok := command.FirstMoment(rest, now)
	if !ok {
		return command.AddTask{}, errors.New(textReminderWhat)
	}
	c, err := newTask(rest)
	c.At = at
	return c, err
}

// newTask reads the message, or "silent foreground called TITLE: MESSAGE", of which
// each may be missing.
func newTask(rest string) (command.AddTask, error) {
	c := command.AddTask{Message: strings.TrimSpace(rest)}
	if head, message, ok := cutColon(rest); ok {
		if o, ok := taskOptions(head); ok {
			c = o
			c.Message = strings.TrimSpace(message)
		}
	}
	if c.Message == "" {
		return c, errors.New(textNoMessage)
	}
	return c, nil
}

// cutColon splits a text at its first colon that ends a word.
func cutColon(text string) (head, rest string, ok bool) {
	for i, r := range text {
		if r == ':' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') {
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// taskOptions reads what may stand before the message. False for other words: then
// they belong to it.
func taskOptions(head string) (command.AddTask, bool) {
	var c command.AddTask
	words := strings.Fields(head)
	for i, w := range words {
		switch strings.ToLower(strings.TrimSuffix(w, ",")) {
		case "silent":
			c.Silent = true
		case "foreground":
			c.Foreground = true
		case "called":
			c.Description = strings.Join(words[i+1:], " ")
			return c, c.Description != ""
		default:
			return c, false
		}
	}
	return c, len(words) > 0
}

// oftenFires is how many fires of one task a list of a day has one by one.
const oftenFires = 4

// dayThings are the fires of the next 24 hours. A task that fires often has one
// line, at its first fire.
func dayThings(s *core.Snapshot, zone *time.Location) []thing {
	all := map[string][]schedule.Entry{}
	for _, e := range s.Schedule.Day {
		all[e.ID] = append(all[e.ID], e)
	}
	var list []thing
	told := map[string]bool{}
	for _, e := range s.Schedule.Day {
		t := thing{id: e.ID, line: entryText(e, e.FireTime, s.At, zone)}
		if fires := all[e.ID]; len(fires) > oftenFires {
			if told[e.ID] {
				continue
			}
			told[e.ID] = true
			t.line = oftenText(fires, s.At, zone)
		}
		list = append(list, t)
	}
	return list
}

// budget reads "+1", "-1", "6", "refill 60", "refill +5"; nothing tells it.
func (m *session) budget(rest string) {
	s := m.core.Snapshot()
	now := s.Budget.State
	words := strings.Fields(rest)
	var set command.SetBudget
	switch {
	case len(words) == 0:
		m.answer(kindBudget, budgetText(&s, m.diff.zone))
		if !s.Budget.Muted.IsZero() {
			m.answer(kindBudget, mutedText(s.Budget.Muted, s.At, m.diff.zone))
		}
		return
	case m.o.ReadOnly:
		m.answer(kindError, textReadOnly)
		return
	case len(words) == 1:
		set.Capacity = number(words[0], now.Capacity)
	case len(words) == 2 && words[0] == "refill":
		set.RefillMinutes = number(words[1], now.RefillRateMinutes)
	}
	if set.Capacity == nil && set.RefillMinutes == nil {
		m.answer(kindError, textBudgetWhat)
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
