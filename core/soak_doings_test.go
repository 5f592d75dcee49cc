package core

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/storage/store"
)

// doing is one action of a user, an editor or the agent.
type doing struct {
	name string
	do   func(s *soak)
}

// doings are drawn with equal probability; frequent ones are listed several times.
var doings = []doing{
	{"messages", (*soak).talk},
	{"messages", (*soak).talk},
	{"messages", (*soak).talk},
	{"messages, two at once", func(s *soak) { s.talk(); s.talk() }},
	{"messages that set a reminder", (*soak).askForReminder},
	{"messages that set a reminder", (*soak).askForReminder},
	{"reminder files", (*soak).remind},
	{"reminder files", (*soak).remind},
	{"reminder files", (*soak).remind},
	{"edits of a routine", (*soak).edit},
	{"broken routines", (*soak).breakRoutine},
	{"changes of the budget", (*soak).setBudget},
	{"changes of the settings", (*soak).configure},
	{"updates discarded", (*soak).discard},
	{"deliveries asked for", func(s *soak) { s.do(command.DeliverNow{}) }},
	{"interruptions", func(s *soak) { s.do(command.Interrupt{}) }},
	{"fires by hand", func(s *soak) { s.do(command.FireNow{ID: edited}) }},
	{"snoozes", func(s *soak) { s.do(command.Snooze{ID: edited, Until: time.Now().Add(20 * time.Minute)}) }},
	{"pauses", (*soak).pause},
	{"mutes", func(s *soak) { s.do(command.MuteUntil{Until: time.Now().Add(10 * time.Minute)}) }},
	{"previews", func(s *soak) { _, _ = s.bot.Reads().Preview(s.t.Context(), pinging) }},
}

func (s *soak) talk() {
	mark := s.mark("msg")
	s.sent = append(s.sent, mark)
	s.do(command.Say{Text: mark + " How is it going?"})
}

// askForReminder makes the agent set a reminder, which gets its mark once it is saved.
func (s *soak) askForReminder() {
	mark, where := s.mark("msg"), s.rng.IntN(2) == 0
	s.sent = append(s.sent, mark)
	s.do(command.Say{Text: fmt.Sprintf("%s Remind me.\n\n```script\ncall add_reminder {\"prompt\":\"%s Do it.\",\"delay_minutes\":%d,\"foreground\":%v}\nsay Done.\n```",
		mark, s.mark("added"), 1+s.rng.IntN(40), where)})
}

// remind writes a reminder file: one that reports, one that pings, or one that speaks.
func (s *soak) remind() {
	mark, id := s.mark("file"), store.NewID()
	lines, extra := "call report_updates {\"message\":\""+mark+"\"}", "background: true\n"
	switch s.rng.IntN(3) {
	case 0:
		lines, extra = "call ping_user {\"message\":\""+mark+"\"}", "background: true\nupdate-main-session: \"freely\"\n"
	case 1:
		lines, extra = "say "+mark, ""
	}
	at := time.Now().In(s.h.zone).Add(time.Duration(20+s.rng.IntN(1200)) * time.Second)
	rel := "reminders/" + strings.TrimSuffix(mark, ".") + ".md"
	s.h.write(rel, fmt.Sprintf("---\nid: %q\nrun-at: %q\ndescription: %q\n%s---\n%s Do it.\n\n```script\n%s\n```\n",
		id, at.Format(time.RFC3339), mark, extra, mark, lines))
	s.set = append(s.set, mark)
	s.saved(rel)
}

func (s *soak) edit() {
	crons := []string{"*/30 * * * *", "*/20 * * * *", "10,50 * * * *", "0 9-17 * * *"}
	s.routine(edited, crons[s.rng.IntN(len(crons))], "background: true\n", `call report_updates {"message":"from-`+edited+`."}`)
	s.saved("routines/" + edited + ".md")
}

// breakRoutine saves half of a file, and a little later all of it.
func (s *soak) breakRoutine() {
	s.h.write("routines/"+edited+".md", "---\nid: \""+edited+"\"\ncron: \"61 * *")
	s.saved("routines/" + edited + ".md")
	time.Sleep(time.Minute)
	s.edit()
}

func (s *soak) setBudget() {
	capacity, refill := 2+s.rng.IntN(8), 10+s.rng.IntN(80)
	s.do(command.SetBudget{Capacity: &capacity, RefillMinutes: &refill})
	s.ear.mu.Lock()
	defer s.ear.mu.Unlock()
	s.spend()
	s.model.set(time.Now(), capacity, refill)
}

func (s *soak) configure() {
	lines := []string{
		"/config bg_fork_timeout 600", "/config bg_fork_timeout 900", "/config max_background_forks 2",
		"/config max_background_forks 4", "/config quiet_hours 23:00-06:00", "/config quiet_hours off",
	}
	s.do(command.Slash{Line: lines[s.rng.IntN(len(lines))]})
}

// discard discards an update, and usually restores it.
func (s *soak) discard() {
	list := s.bot.updates.Peek()
	if len(list) == 0 || list[0].Dropped > 0 {
		return
	}
	out := s.do(command.DiscardUpdate{Key: list[0].Key})
	if out.Undo == nil {
		return
	}
	if s.rng.IntN(3) > 0 {
		s.do(out.Undo)
		return
	}
	s.dropped[list[0].Message]++
}

func (s *soak) pause() {
	s.do(command.Pause{ID: edited, Paused: true})
	time.Sleep(5 * time.Minute)
	s.do(command.Pause{ID: edited})
}
