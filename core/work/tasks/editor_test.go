package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/routines/when"
)

// desk is an Editor over a real schedule that is not running. It implements Rights. In a
// bubble it is one in the morning of 1 January 2000, in a zone one hour ahead of UTC.
type desk struct {
	kept []string // reminders marked as done or not done
	*Editor
	t       *testing.T
	dir     *store.Dir
	rights  []string // the rights given
	left    string   // why a task runs without its skill
	retired []string
	changed int
	err     error // of the rights
}

func (d *desk) Written(by policy.Writer, rel string, _ []byte) error {
	d.rights = append(d.rights, "written by "+by.Kind)
	return d.err
}

func (d *desk) Inherit(from, _ string, _ []byte) error {
	d.rights = append(d.rights, "inherited from "+from)
	return d.err
}

func (d *desk) SkillLeft(routines.Task, skill.Skill) string { return d.left }

func open(t *testing.T) *desk {
	d := &desk{t: t, dir: storetest.Prepared(t)}
	zone, log := time.FixedZone("here", 60*60), slog.New(slog.DiscardHandler)
	index := routines.NewIndex(d.dir, zone)
	index.Scan()
	d.Editor = New(Options{
		Dir: d.dir, Zone: zone, Log: log, Index: index, Mute: schedule.NewMute(d.dir, log), Journal: budget.NewJournal(d.dir, zone, nil),
		Day: func() when.Day { return when.UsualDay }, Updates: updates.NewQueue(d.dir, zone, nil), Audit: audit.New(audit.Options{Dir: d.dir}), Rights: d,
		Retire: func(_ context.Context, m post.MessageID, why string) {
			if m != "" {
				d.retired = append(d.retired, string(m)+": "+why)
			}
		},
		Kept: func(at time.Time, id string) { d.kept = append(d.kept, fmt.Sprint(id, " ", !at.IsZero())) },
		PutOff: func(_ context.Context, m post.MessageID, why string, back time.Time) {
			if m != "" {
				d.retired = append(d.retired, string(m)+": "+why+" <"+back.Format("15:04")+">")
			}
		},
		Changed: func() { d.changed++ }, Lacking: func() []routines.Problem { return nil },
		Schedule: schedule.New(schedule.Options{
			Dir: d.dir, Zone: zone, Index: index, Log: log, Note: func(string) {}, Changed: func() {}, Inherit: d.Inherit,
			Troubles: func(routines.Kind, func(bool) string) {}, Fire: func(context.Context, schedule.Due) error { return nil },
		}),
	})
	return d
}

// inBubble runs a story in a bubble.
func inBubble(t *testing.T, story func(t *testing.T, d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { story(t, open(t)) })
}

func (d *desk) try(c command.Value) (command.Outcome, error) {
	d.t.Helper()
	all := command.Handlers{}
	all.Add(d.Handlers()...)
	h, ok := all.Of(c)
	if !ok {
		d.t.Fatalf("no handler for %T", c)
	}
	return h.Do(d.t.Context(), c)
}

func (d *desk) do(c command.Value) command.Outcome {
	d.t.Helper()
	out, err := d.try(c)
	if err != nil {
		d.t.Fatalf("%+v: %v", c, err)
	}
	return out
}

func (d *desk) describe(id string) string {
	d.t.Helper()
	text, err := d.Describe(id)
	testkit.Must(d.t, err)
	return text
}

// refuse expects a command to fail with an error that contains says, and to change no
// task.
func (d *desk) refuse(c command.Value, says string) {
	d.t.Helper()
	before := d.ids()
	if _, err := d.try(c); err == nil || !strings.Contains(err.Error(), says) {
		d.t.Errorf("%+v: error %v, want %q", c, err, says)
	}
	if !slices.Equal(d.ids(), before) {
		d.t.Errorf("%+v: there are %q, not %q", c, d.ids(), before)
	}
}

func (d *desk) ids() (list []string) {
	for _, t := range d.o.Index.Set().Tasks() {
		list = append(list, t.ID)
	}
	return list
}

// add adds a task and returns its id.
func (d *desk) add(c command.AddTask) string {
	d.t.Helper()
	return d.do(c).Decision.Subject
}

func (d *desk) routine() string {
	d.t.Helper()
	return d.add(command.AddTask{Cron: "0 9 * * *", Message: "Water the plants"})
}

func (d *desk) reminder(in time.Duration) string {
	d.t.Helper()
	return d.add(command.AddTask{At: d.now().Add(in), Message: "Call Ada", UntilDone: true})
}

func (d *desk) pending() (list []string) {
	for _, u := range d.o.Updates.Peek() {
		list = append(list, u.Message)
	}
	return list
}

func TestATaskIsAddedAndRemovedAsLongAsItsFileIsUnchanged(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		for _, c := range []struct {
			add  command.AddTask
			next string
		}{
			{command.AddTask{Cron: "0 9 * * *", Message: " Water the plants ", Foreground: true, Silent: true}, "09:00"},
			{command.AddTask{At: d.now().Add(time.Hour + time.Millisecond), Message: "Call Ada", Description: "Ada"}, "02:00"},
			{command.AddTask{At: d.now().Add(farthest), Message: "Call Ada", UntilDone: true}, "1 Jan 2001 01:00"},
		} {
			out := d.do(c.add)
			undo, ok := out.Undo.(command.RemoveTask)
			task, found := d.o.Index.Set().Find(undo.ID)
			if !ok || !found || out.Message != fmt.Sprintf(textAdded, task.Title(), c.next) ||
				out.Decision != (audit.Entry{Action: audit.TaskAdded, Subject: undo.ID}) {
				t.Fatalf("%+v", out)
			}
			if task.Background == c.add.Foreground || task.AllowPing == c.add.Silent || task.Body != strings.TrimSpace(c.add.Message) || !task.Thinking ||
				task.Mode != routines.OnPing {
				t.Errorf("%+v", task)
			}
			gone := d.do(undo)
			if redo := gone.Undo; redo != c.add || gone.Message != fmt.Sprintf(textRemoved, task.Title()) ||
				gone.Decision.Action != audit.TaskRemoved || len(d.ids()) != 0 {
				t.Errorf("undone: %+v, there are %q", gone, d.ids())
			}
			d.refuse(undo, fmt.Sprintf(textAddedGone, task.Title()))
		}
		undo := d.do(command.AddTask{Cron: "0 9 * * *", Message: "Water the plants"}).Undo.(command.RemoveTask)
		task, _ := d.o.Index.Set().Find(undo.ID)
		data, err := d.dir.Read(task.Path)
		testkit.Must(t, err)
		storetest.Put(t, d.dir, task.Path, string(data)+"\nAnd the garden\n")
		d.o.Schedule.Refresh(task.Path)
		edited, _ := d.o.Index.Set().Find(undo.ID)
		d.refuse(undo, fmt.Sprintf(textAddedEdited, edited.Title()))
		d.refuse(command.RemoveTask{ID: undo.ID}, fmt.Sprintf(textNotAdded, undo.ID))
	})
}

func TestAnImpossibleTaskIsNotAdded(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		soon := d.now().Add(time.Hour)
		for _, c := range []struct {
			add  command.AddTask
			says string
		}{
			{command.AddTask{Message: "x"}, textAddOneTime},
			{command.AddTask{Message: "x", Cron: "0 9 * * *", At: soon}, textAddOneTime},
			{command.AddTask{Message: " ", Cron: "0 9 * * *"}, textAddNoMessage},
			{command.AddTask{Message: "x", Cron: "0 25 * * *"}, "column 3"},
			{command.AddTask{Message: "x", Cron: "0 0 30 2 *"}, fmt.Sprintf(textAddNever, "0 0 30 2 *")},
			{command.AddTask{Message: "x", At: d.now()}, fmt.Sprintf(textAddPassed, "01:00")},
			{command.AddTask{Message: "x", At: d.now().Add(farthest + time.Second)}, "more than a year away"},
			{command.AddTask{Message: "x", At: soon, UntilDone: true, Foreground: true}, textAddUntilDone},
			{command.AddTask{Message: "x", At: soon, UntilDone: true, Silent: true}, textAddUntilDone},
		} {
			d.refuse(c.add, c.says)
		}
	})
}

func TestARemovedTaskIsRestored(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		d.refuse(command.RestoreTask{}, textNoneRemoved)
		d.refuse(command.DeleteTask{ID: "nothing"}, "nothing")
		first, second := d.routine(), d.reminder(48*time.Hour)
		for _, id := range []string{first, second} {
			out := d.do(command.DeleteTask{ID: id})
			if out.Undo != (command.RestoreTask{ID: id}) || out.Decision.Action != audit.TaskRemoved || slices.Contains(d.ids(), id) {
				t.Errorf("%+v, there are %q", out, d.ids())
			}
			time.Sleep(time.Minute)
		}
		// Without an id it is the task removed last.
		out := d.do(command.RestoreTask{})
		if out.Undo != (command.DeleteTask{ID: second}) || out.Decision != (audit.Entry{Action: audit.TaskAdded, Subject: second}) ||
			!slices.Equal(d.ids(), []string{second}) {
			t.Errorf("%+v, there are %q", out, d.ids())
		}
		if list := d.pending(); len(list) != 1 || !strings.Contains(list[0], second) {
			t.Errorf("pending %q", list)
		}
		d.do(command.RestoreTask{ID: first})
		if len(d.ids()) != 2 || len(d.pending()) != 1 {
			t.Errorf("there are %q, pending %q", d.ids(), d.pending())
		}
		d.refuse(command.RestoreTask{ID: "nothing"}, "")
	})
}

func TestATaskIsHeldAndReleased(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.routine()
		until := d.now().Add(2 * time.Hour)
		const title = "Water the plants"
		for _, c := range []struct {
			do      command.Value
			message string
			undo    command.Value
			action  string
		}{
			{command.Pause{ID: id}, fmt.Sprintf(textNotHeld, title), nil, ""}, // S7: and is not recorded
			{command.Pause{ID: id, Paused: true}, fmt.Sprintf(textPaused, title), command.Snooze{ID: id}, audit.TaskHeld},
			{command.Snooze{ID: id, Until: until}, fmt.Sprintf(textSnoozed, title, "03:00"), command.Pause{ID: id, Paused: true}, audit.TaskHeld},
			{command.Snooze{ID: id}, fmt.Sprintf(textGoesOn, title), command.Snooze{ID: id, Until: until}, audit.TaskReleased},
		} {
			out := d.do(c.do)
			if s, ok := out.Undo.(command.Snooze); ok && !s.Until.IsZero() {
				out.Undo = command.Snooze{ID: s.ID, Until: s.Until.In(until.Location())}
			}
			if out.Message != c.message || out.Undo != c.undo || c.action != "" && out.Decision != (audit.Entry{Action: c.action, Subject: id}) || c.action == "" && out.Decision != (audit.Entry{}) {
				t.Errorf("%+v: %+v", c.do, out)
			}
		}
		d.refuse(command.Pause{ID: "nothing", Paused: true}, "nothing")
		d.refuse(command.Snooze{ID: id, Until: d.now().Add(-time.Hour)}, "")
		d.refuse(command.Snooze{ID: id, Until: d.now().Add(farthest + time.Second)}, "within a year")
		d.do(command.Snooze{ID: id, Until: d.now().Add(farthest)})
	})
}

func TestUndoOfAHoldGivesBackTheOneBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.routine()
		paused, snoozed := command.Pause{ID: id, Paused: true}, command.Snooze{ID: id, Until: d.now().Add(2 * time.Hour)}
		for _, c := range []struct {
			what       string
			before, do command.Value
		}{
			{"a pause of a paused task", paused, paused},
			{"a snooze of a paused task", paused, snoozed},
			{"the end of a pause", paused, command.Pause{ID: id}},
			{"a pause of a snoozed task", snoozed, paused},
			{"a snooze of a snoozed task", snoozed, command.Snooze{ID: id, Until: d.now().Add(time.Hour)}},
			{"the end of a snooze", snoozed, command.Snooze{ID: id}},
		} {
			d.do(command.Pause{ID: id})
			d.do(c.before)
			task, _ := d.o.Index.Set().RoutineByID(id)
			before := d.o.Schedule.Holds().Of(&task.Task)
			d.do(d.do(c.do).Undo)
			if now := d.o.Schedule.Holds().Of(&task.Task); now.Paused != before.Paused || !now.Until.Equal(before.Until) {
				t.Errorf("%s, undone: %+v, before %+v", c.what, now, before)
			}
		}
	})
}

func TestPingsAreMutedUntilATime(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		if out := d.do(command.MuteUntil{}); out.Message != textNotMuted || out.Undo != nil {
			t.Errorf("unmuted twice: %+v", out)
		}
		until := d.now().Add(time.Hour)
		out := d.do(command.MuteUntil{Until: until.Add(time.Millisecond)})
		if undo := out.Undo.(command.MuteUntil); out.Message != fmt.Sprintf(textMuted, "02:00") || !undo.Until.IsZero() || out.Decision.Action != audit.MuteChanged {
			t.Errorf("%+v", out)
		}
		out = d.do(command.MuteUntil{})
		if undo := out.Undo.(command.MuteUntil); out.Message != textUnmuted || !undo.Until.Equal(until) {
			t.Errorf("%+v", out)
		}
		d.refuse(command.MuteUntil{Until: d.now()}, fmt.Sprintf(textMutePassed, "01:00"))
		d.refuse(command.MuteUntil{Until: d.now().Add(farthest + time.Second)}, textMuteTooLong)
		d.do(command.MuteUntil{Until: d.now().Add(farthest)})
		testkit.Must(t, os.RemoveAll(d.dir.Path(store.StateDir)))
		testkit.Must(t, os.WriteFile(d.dir.Path(store.StateDir), nil, 0o600))
		d.refuse(command.MuteUntil{Until: until}, "mute pings")
	})
}

func set(key string, value any) routines.Edit {
	return routines.Edit{Set: []command.Field{{Key: key, Value: value}}}
}

// An undo is a change like any other: it is reported and can be undone too.
func TestAnEditIsUndoneByTheOldFileAndRedone(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.routine()
		before := d.File(id)
		var change command.Value = command.EditTask{ID: id, Version: before.Digest, Edit: set("cron", "30 7 * * *")}
		for _, cron := range []string{"30 7 * * *", before.Cron, "30 7 * * *"} {
			out := d.do(change)
			if out.Message != fmt.Sprintf(textEdited, before.Title()) || out.Decision != (audit.Entry{Action: audit.TaskChanged, Subject: id}) || d.File(id).Cron != cron {
				t.Errorf("to %s: %+v", cron, out)
			}
			var changed *command.ChangedError // the version that it is of is not the newest any more
			if _, err := d.try(change); !errors.As(err, &changed) || changed.Now.Cron != cron {
				t.Errorf("to %s twice: %v", cron, err)
			}
			change = out.Undo
		}
		if d.do(change); d.File(id).Digest != before.Digest {
			t.Errorf("undone: %+v", d.File(id))
		}
	})
}

func TestAnEditThatCannotBeIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id, late := d.routine(), d.reminder(time.Hour)
		if f := d.File(late); !f.RunAt.Equal(d.now().Add(time.Hour)) || !f.UntilDone || d.File("nothing").ID != "" {
			t.Errorf("%+v", f)
		}
		d.refuse(command.RevertTask{ID: "nothing"}, "nothing")
		d.refuse(command.EditTask{ID: "nothing"}, "nothing")
		for value, says := range map[string]string{
			"tomorrow": "read the time", "2000-01-01T00:00:00Z": fmt.Sprintf(textAddPassed, "01:00"), "2002-01-01T00:00:00Z": "more than a year",
		} {
			d.refuse(command.EditTask{ID: late, Version: d.File(late).Digest, Edit: set("run-at", value)}, says)
		}
		d.refuse(command.EditTask{ID: id, Version: d.File(id).Digest, Edit: set("cron", "0 0 30 2 *")}, "never fires")
	})
}

// came records that a reminder has pinged the user.
func (d *desk) came(id, message string, ago time.Duration) {
	d.t.Helper()
	testkit.Must(d.t, d.o.Journal.Append(budget.Ping{At: d.now().Add(-ago), ID: message, Task: id, Run: message, Message: message, Kind: "ping"}))
}

func TestAnswersToAReminder(t *testing.T) {
	for _, c := range []struct {
		answer  command.Remind
		message string
		at      string // when it is due next, or ""
		update  string
		action  string
	}{
		{command.Remind{Word: command.Done}, fmt.Sprintf(textDone, "Call Ada"), "", "as done at 1:00 AM", audit.TaskRemoved},
		{command.Remind{Word: command.Later}, fmt.Sprintf(textComesBack, "Call Ada", "02:00"), "2000-01-01 02:00", "back at 02:00", audit.TaskMoved},
		{
			command.Remind{Word: command.Later, Until: time.Date(2000, 1, 1, 5, 0, 0, 9, time.UTC)},
			fmt.Sprintf(textComesBack, "Call Ada", "06:00"), "2000-01-01 06:00", "back at 06:00", audit.TaskMoved,
		},
		{
			command.Remind{Word: command.NotToday},
			fmt.Sprintf(textComesBack, "Call Ada", "Sun 2 Jan 01:30"), "2000-01-02 01:30",
			"back at Sun 2 Jan 01:30", audit.TaskMoved,
		},
	} {
		inBubble(t, func(t *testing.T, d *desk) {
			c.answer.ID = d.reminder(30 * time.Minute)
			due := d.File(c.answer.ID).RunAt
			d.came(c.answer.ID, "m1", 20*time.Minute)
			d.came(c.answer.ID, "m2", 10*time.Minute)
			out, err := d.Answer(t.Context(), c.answer, "m0")
			if err != nil || out.Message != c.message {
				t.Fatalf("%+v: %+v, %v", c.answer, out, err)
			}
			file := d.File(c.answer.ID)
			if at := file.RunAt.Format("2006-01-02 15:04"); c.at != "" && at != c.at || (file.ID == "") != (c.at == "") {
				t.Errorf("%+v: due at %s, want %s", c.answer, at, c.at)
			}
			list := d.pending()
			if len(list) != 1 || !strings.Contains(list[0], c.update) || !strings.Contains(list[0], textTheUser) || !strings.Contains(list[0], "2 times since") {
				t.Errorf("%+v: pending %q", c.answer, list)
			}
			why := fmt.Sprintf(textAnswered, c.message, "01:00")
			if c.at != "" { // P8
				why = fmt.Sprintf("%s <%s>", c.message, file.RunAt.Format("15:04"))
			}
			if want := []string{"m0: " + why, "m2: " + why}; !slices.Equal(d.retired, want) {
				t.Errorf("%+v: retired %q, want %q", c.answer, d.retired, want)
			}
			if how := d.o.Journal.Recent()[1].How; how != budget.Pressed {
				t.Errorf("%+v: the ping is answered by %q", c.answer, how)
			}
			entries, _, err := d.o.Audit.Read(9)
			if testkit.Must(t, err); len(entries) != 1 || entries[0].Action != c.action || entries[0].Subject != c.answer.ID || entries[0].Detail != c.message {
				t.Errorf("%+v: recorded %+v", c.answer, entries)
			}
			d.do(out.Undo)
			if now := d.File(c.answer.ID); !now.RunAt.Equal(due) {
				t.Errorf("%+v, undone: due at %v, want %v", c.answer, now.RunAt, due)
			}
		})
	}
}

func TestAnswersThatCannotBe(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.reminder(time.Hour)
		d.refuse(command.Remind{ID: id, Word: "perhaps"}, fmt.Sprintf(textNoWord, "perhaps"))
		d.refuse(command.Remind{ID: id, Word: command.Later, Until: d.now()}, fmt.Sprintf(textLaterPassed, "01:00"))
		d.refuse(command.Remind{ID: id, Word: command.Later, Until: d.now().Add(farthest + time.Second)}, "more than a year away")
		if d.retired != nil || d.pending() != nil {
			t.Errorf("retired %q, pending %q", d.retired, d.pending())
		}
		_, err := d.Answer(t.Context(), command.Remind{ID: "nothing", Word: command.Done}, "m1")
		if err == nil || !slices.Equal(d.retired, []string{"m1: " + textNoLonger}) {
			t.Errorf("what is not pending: %v, retired %q", err, d.retired)
		}
		if out := d.do(command.Remind{ID: id, Word: command.Later, Until: d.now().Add(farthest)}); out.Undo == nil {
			t.Errorf("%+v", out)
		}
		d.do(command.Remind{ID: id, Word: command.Later})
		time.Sleep(2 * time.Hour) // it was due an hour ago, so there is no time to restore
		if out := d.do(command.Remind{ID: id, Word: command.Later}); out.Undo != nil {
			t.Errorf("%+v", out)
		}
	})
}

func TestAnAgentsRemindersHaveItsRights(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		book := d.Book(policy.Writer{Kind: "main session"})
		if !book.Times().Now.Equal(time.Now()) {
			t.Errorf("now is %v", book.Times().Now)
		}
		at := func(h int) time.Time { return d.now().Add(time.Duration(h) * time.Hour) }
		plain := routines.Reminder{Task: routines.Task{Body: "Call Ada", Background: true}, RunAt: at(2), MaxChain: 3}
		first, err := book.Add(t.Context(), plain)
		testkit.Must(t, err)
		plain.RunAt, plain.ChainDepth = at(1), 1
		second, err := book.Continue(t.Context(), first, plain)
		testkit.Must(t, err)
		if want := []string{"written by main session", "inherited from " + first.Digest}; !slices.Equal(d.rights, want) || d.changed != 2 {
			t.Errorf("rights %q, want %q; changed %d times", d.rights, want, d.changed)
		}
		var ids []string
		for _, r := range book.List() {
			ids = append(ids, r.ID)
		}
		if want := []string{second.ID, first.ID}; !slices.Equal(ids, want) {
			t.Errorf("listed %q, want %q", ids, want)
		}
		again := d.reminder(time.Hour)
		from, _ := d.o.Index.Set().ReminderByID(again)
		next := *from
		next.RunAt, next.ChainDepth = at(5), 1
		_, err = book.Continue(t.Context(), *from, next)
		if testkit.Must(t, err); len(book.List()) != 3 || !d.File(again).RunAt.Equal(at(5)) {
			t.Errorf("one until it is done: %+v", book.List())
		}
		if found, err := book.Cancel("nothing"); found || err != nil {
			t.Errorf("cancelled nothing: %v, %v", found, err)
		}
		if found, err := book.Cancel(first.ID); !found || err != nil || slices.Contains(d.ids(), first.ID) || d.changed != 3 {
			t.Errorf("cancelled: %v, %v, changed %d times", found, err, d.changed)
		}
		entries, _, err := d.o.Audit.Read(9)
		testkit.Must(t, err)
		var actions []string
		for _, e := range entries {
			if e.Actor != audit.Agent || e.From != "main session" {
				t.Errorf("recorded %+v", e)
			}
			actions = append(actions, e.Action+" "+e.Subject)
		}
		if want := []string{audit.TaskAdded + " " + first.ID, audit.TaskAdded + " " + second.ID, audit.TaskRemoved + " " + first.ID}; !slices.Equal(actions, want) {
			t.Errorf("recorded %q, want %q", actions, want)
		}
		d.err = errors.New("no right")
		if _, err := book.Add(t.Context(), plain); !errors.Is(err, d.err) || d.changed != 3 {
			t.Errorf("without the right: %v, changed %d times", err, d.changed)
		}
	})
}

func TestADescriptionSaysWhatATaskMayAndWhenItFires(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.routine()
		storetest.Put(t, d.dir, "skills/cook/SKILL.md", "---\nname: cook\ndescription: Cooks\n---\nCook\n")
		rel := d.File(id).Path
		storetest.Put(t, d.dir, rel, fmt.Sprintf("---\nid: %q\ncron: \"0 9 * * *\"\nbackground: true\nskills: [cook]\nallow-ping: false\nmodel: haiku\n"+
			"thinking: false\nisolated: true\ncritical: true\nmissed: run\n---\nWater the plants\n%s", id, strings.Repeat("x", describedText)))
		d.o.Schedule.Refresh(rel)
		d.left = "it may write files"
		body := d.describe(id)
		for _, want := range []string{
			"without the conversation's history, with haiku, without thinking", "may not ping", "skills    cook", "cook: " + fmt.Sprintf(textWaits, "it may write files"),
			"runs above the caps too", "made up for", "next      Sat 2000-01-01 09:00", "Mon 2000-01-10 09:00", textCutHere,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%q is missing in\n%.1500s", want, body)
			}
		}
		if strings.Contains(body, "2000-01-11") || strings.Contains(body, "held") {
			t.Errorf("more than it should:\n%.1500s", body)
		}
		d.do(command.Snooze{ID: id, Until: d.now().Add(24 * time.Hour)})
		body = d.describe(id)
		if !strings.Contains(body, "snoozed until Sun 2 Jan 01:00") || !strings.Contains(body, "next      Sun 2000-01-02 09:00") {
			t.Errorf("snoozed:\n%.1200s", body)
		}
		d.do(command.Pause{ID: id, Paused: true})
		if body = d.describe(id); !strings.Contains(body, "held      paused") || !strings.Contains(body, "would     Sat 2000-01-01 09:00") {
			t.Errorf("paused:\n%.1200s", body)
		}
		body = d.describe(d.reminder(time.Hour))
		for _, want := range []string{"Sat 2000-01-01 02:00, in 1 h", "until     done", "check 1 of", "may ping", "Call Ada"} {
			if !strings.Contains(body, want) {
				t.Errorf("%q is missing in\n%s", want, body)
			}
		}
		if strings.Contains(body, textCutHere) {
			t.Errorf("more than it should:\n%s", body)
		}
		if _, err := d.Describe("nothing"); err == nil || !strings.Contains(err.Error(), "nothing") {
			t.Errorf("a task that is not there: %v", err)
		}
	})
}

func TestStartersAreInstalledOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		out := d.do(command.AddStarters{})
		n := len(d.ids())
		if n == 0 || !strings.Contains(out.Message, "starter routine") || out.Decision.Action != audit.TaskAdded {
			t.Errorf("%+v, %d tasks", out, n)
		}
		if out := d.do(command.AddStarters{}); out.Message != textStartersThere || len(d.ids()) != n || out.Decision.Action != "" {
			t.Errorf("again: %+v", out)
		}
	})
}
