package plain

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// tasksOf are all tasks, by their next fire.
func (m *machine) tasksOf(s *core.Snapshot) []thing {
	list := make([]thing, 0, len(s.Schedule.Tasks))
	for _, t := range s.Schedule.Tasks {
		list = append(list, thing{id: t.ID, title: t.Title, line: taskText(t, s.At, m.ear.zone)})
	}
	return list
}

func (m *machine) tasks(string) {
	s := m.core.Snapshot()
	m.readTasks(m.tasksOf(&s), textNoTasks)
}

func (m *machine) schedule(string) {
	s := m.core.Snapshot()
	things := make([]thing, 0, len(s.Schedule.Entries))
	for _, e := range s.Schedule.Entries {
		things = append(things, thing{id: e.ID, line: entryText(e, e.FireTime, s.At, m.ear.zone)})
	}
	m.readTasks(things, textNothingNext)
	if s.Schedule.Refills != "" {
		m.answer(kindSchedule, refillsText(s.Schedule.Refills))
	}
}

func (m *machine) day(string) {
	s := m.core.Snapshot()
	m.readTasks(dayThings(&s, m.ear.zone), textNothingToday)
}

func (m *machine) readTasks(things []thing, none string) {
	if len(things) == 0 {
		m.answer(kindSchedule, none)
		return
	}
	m.list(shelfTask, kindSchedule, things)
}

// task finds the task that the words name.
func (m *machine) task(words, verb string) (thing, bool) {
	s := m.core.Snapshot()
	return m.pick(choose{shelf: shelfTask, things: m.tasksOf(&s), what: fmt.Sprintf(textTaskWhat, verb, verb), none: textNoTasks}, words)
}

func (m *machine) details(rest string) {
	t, ok := m.task(rest, "details")
	if !ok {
		return
	}
	if o, ok := m.carryOut(command.Describe{ID: t.id}); ok {
		about, _ := describedText(o.Body)
		m.answer(kindDetails, about)
	}
}

// file says where a task's file is, for an editor beside plain mode, and reads it.
func (m *machine) file(rest string) {
	t, ok := m.task(rest, "file")
	if !ok {
		return
	}
	o, ok := m.carryOut(command.Describe{ID: t.id})
	if !ok {
		return
	}
	s := m.core.Snapshot()
	for _, v := range s.Schedule.Tasks {
		if v.ID == t.id {
			m.answer(kindFile, fmt.Sprintf(textFileIs, filepath.Join(s.Root, v.Path)))
		}
	}
	_, text := describedText(o.Body)
	m.answer(kindFile, text)
}

func (m *machine) preview(rest string) {
	if t, ok := m.task(rest, "preview"); ok {
		if o, ok := m.carryOut(command.Preview{ID: t.id}); ok {
			m.answer(kindPrompt, o.Body)
		}
	}
}

func (m *machine) fire(rest string) {
	t, ok := m.task(rest, "fire")
	if !ok {
		return
	}
	now := command.FireNow{ID: t.id}
	s := m.core.Snapshot()
	for _, v := range s.Schedule.Tasks {
		if v.ID == t.id && v.Kind == routines.KindReminder {
			m.ask(fmt.Sprintf(textFireReminder, flat(v.Title)), question{do: func() { m.do(now) }})
			return
		}
	}
	m.do(now)
}

func (m *machine) pause(rest string) {
	if t, ok := m.task(rest, "pause"); ok {
		m.do(command.Pause{ID: t.id, Paused: true})
	}
}

// grant lets a task, a skill or a webhook that waits for the user do what its file
// says, after a question that says what that is.
func (m *machine) grant(rest string) {
	s := m.core.Snapshot()
	var things []thing
	why, do := map[string]string{}, map[string]command.AllowTask{}
	for _, t := range s.Schedule.Tasks {
		if t.Waits != "" {
			things = append(things, thing{id: t.ID, title: t.Title, line: taskText(t, s.At, m.ear.zone)})
			why[t.ID], do[t.ID] = t.Waits, command.AllowTask{ID: t.ID, Version: t.Version}
		}
	}
	for _, p := range s.Schedule.Problems {
		if p.Waits {
			things = append(things, thing{id: p.File, title: p.File, line: flat(problemText(p))})
			why[p.File], do[p.File] = p.Message, command.AllowTask{ID: p.File, Version: p.Version}
		}
	}
	t, ok := m.pick(choose{shelf: shelfTask, things: things, what: fmt.Sprintf(textTaskWhat, "grant", "grant"), none: textNothingWaits}, rest)
	if ok {
		m.ask(fmt.Sprintf(textGrant, t.title, why[t.id]), question{do: func() { m.do(do[t.id]) }})
	}
}

func (m *machine) resume(rest string) {
	if t, ok := m.task(rest, "resume"); ok {
		m.do(command.Snooze{ID: t.id})
	}
}

// snooze reads the moment from the end of the line; what stands before it names
// the task.
func (m *machine) snooze(rest string) {
	if words, off := strings.CutSuffix(rest, " off"); off {
		m.resume(strings.TrimSpace(words))
		return
	}
	words, at, ok := lastMoment(rest, m.now())
	if !ok {
		m.answer(kindError, textSnoozeWhen)
		return
	}
	if t, ok := m.task(words, "snooze"); ok {
		m.do(command.Snooze{ID: t.id, Until: at})
	}
}

// now is the moment in the bot's zone.
func (m *machine) now() time.Time { return m.core.Snapshot().At.In(m.ear.zone) }

// create writes a new task: "routine CRON MESSAGE" or "reminder WHEN MESSAGE".
func (m *machine) create(rest string) {
	kind, rest := cutWord(rest)
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
	c, err = newTask(behind(rest, 5))
	c.Cron = expr
	return c, s.Words(), err
}

func newReminder(rest string, now time.Time) (command.AddTask, error) {
	at, rest, ok := firstMoment(rest, now)
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
