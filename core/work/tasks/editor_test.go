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

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/skill"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/leeway"
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
		Day: func() when.Day { return when.Day{Morning: 7*60 + 15, Night: 22 * 60} }, Updates: updates.NewQueue(d.dir, zone, nil), Audit: audit.New(audit.Options{Dir: d.dir}), Rights: d,
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

// refuse expects a command to fail with that error, and to change no task.
func (d *desk) refuse(c command.Value, says string) {
	d.t.Helper()
	before := d.ids()
	if _, err := d.try(c); err == nil || err.Error() != says {
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

const noTask = `no routine or reminder has the ID "nothing": the schedule shows the IDs`

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
			{command.AddTask{Message: "x", Cron: "0 25 * * *"}, "cron line, column 3: hour 25 does not exist; write 0 to 23"},
			{command.AddTask{Message: "x", Cron: "0 0 30 2 *"}, fmt.Sprintf(textAddNever, "0 0 30 2 *")},
			{command.AddTask{Message: "x", At: d.now()}, fmt.Sprintf(textAddPassed, "01:00")},
			{command.AddTask{Message: "x", At: d.now().Add(farthest + time.Second)}, fmt.Sprintf(textAddTooFar, "1 Jan 2001 01:00")},
			{command.AddTask{Message: "x", At: soon, Ahead: "10 minutes", Silent: true}, textAddAhead},
			{command.AddTask{Message: "x", At: soon, Ahead: "soon"}, `I do not understand "soon"; say a day, an hour or 10 minutes before, or 1 hour: Leave now`},
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
		d.refuse(command.DeleteTask{ID: "nothing"}, noTask)
		first, second, kept := d.routine(), d.reminder(48*time.Hour), d.routine()
		for _, id := range []string{first, kept, second} {
			out := d.do(command.DeleteTask{ID: id})
			if out.Message != fmt.Sprintf(textRemoved, map[bool]string{true: "Call Ada", false: "Water the plants"}[id == second]) || out.Undo != (command.RestoreTask{ID: id}) || out.Decision.Action != audit.TaskRemoved || slices.Contains(d.ids(), id) {
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
		if out.Message != fmt.Sprintf(textRestored, "Call Ada") || !slices.Equal(d.kept, []string{second + " false"}) {
			t.Errorf("%+v, kept %q", out, d.kept)
		}
		if out := d.do(command.RestoreTask{}); out.Undo != (command.DeleteTask{ID: kept}) { // the last one of those that are left
			t.Errorf("%+v", out)
		}
		d.do(command.RestoreTask{ID: first})
		if want := []string{fmt.Sprintf(textOpenAgain, "Call Ada", second)}; len(d.ids()) != 3 || !slices.Equal(d.pending(), want) {
			t.Errorf("there are %q, pending %q", d.ids(), d.pending())
		}
		d.refuse(command.RestoreTask{ID: "nothing"}, "nothing with this id was removed within the last day")
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
		d.refuse(command.Pause{ID: "nothing", Paused: true}, noTask)
		d.refuse(command.Snooze{ID: id, Until: d.now().Add(-time.Hour)}, "00:00 is in the past; choose a later time")
		d.refuse(command.Snooze{ID: id, Until: d.now().Add(farthest + time.Second)}, fmt.Sprintf(textSnoozeTooLong, "1 Jan 2001 01:00"))
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
		if _, err := d.try(command.MuteUntil{Until: until}); err == nil || !strings.HasPrefix(err.Error(), "mute pings: ") {
			t.Errorf("what cannot be written: %v", err)
		}
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
		d.refuse(command.RevertTask{ID: "nothing"}, noTask)
		d.refuse(command.EditTask{ID: "nothing"}, noTask)
		for value, says := range map[string]string{
			"tomorrow":             `read the time of the reminder: parsing time "tomorrow" as "2006-01-02T15:04:05Z07:00": cannot parse "tomorrow" as "2006"`,
			"2000-01-01T00:00:00Z": fmt.Sprintf(textAddPassed, "01:00"), "2002-01-01T00:00:00Z": fmt.Sprintf(textAddTooFar, "1 Jan 2002 01:00"),
		} {
			d.refuse(command.EditTask{ID: late, Version: d.File(late).Digest, Edit: set("run-at", value)}, says)
		}
		d.refuse(command.EditTask{ID: id, Version: d.File(id).Digest, Edit: set("cron", "0 0 30 2 *")}, fmt.Sprintf(textAddNever, "0 0 30 2 *"))
	})
}

// came records that a reminder has pinged the user.
func (d *desk) came(id, message string, ago time.Duration) {
	d.t.Helper()
	testkit.Must(d.t, d.o.Journal.Append(budget.Ping{At: d.now().Add(-ago), ID: message, Task: id, Run: message, Message: message, Kind: "ping"}))
}

func TestAnAnswerMovesOrEndsItsReminderAndIsReported(t *testing.T) {
	const putOff = "put the reminder \"Call Ada\" (ID) off at 1:00 AM: it comes back at %s. If another time would suit better, propose it."
	for _, c := range []struct {
		answer  command.Remind
		message string
		at      string // when it is due next, or ""
		update  string
		action  string
	}{
		{command.Remind{Word: command.Done}, fmt.Sprintf(textDone, "Call Ada"), "", "marked the reminder \"Call Ada\" (ID) as done at 1:00 AM.", audit.TaskRemoved},
		{command.Remind{Word: command.Later}, fmt.Sprintf(textComesBack, "Call Ada", "02:00"), "2000-01-01 02:00", fmt.Sprintf(putOff, "02:00"), audit.TaskMoved},
		{
			command.Remind{Word: command.Later, Until: time.Date(2000, 1, 1, 5, 0, 0, 9, time.UTC)},
			fmt.Sprintf(textComesBack, "Call Ada", "06:00"), "2000-01-01 06:00", fmt.Sprintf(putOff, "06:00"), audit.TaskMoved,
		},
		{
			command.Remind{Word: command.NotToday},
			fmt.Sprintf(textComesBack, "Call Ada", "Sun 2 Jan 01:30"), "2000-01-02 01:30",
			fmt.Sprintf(putOff, "Sun 2 Jan 01:30"), audit.TaskMoved,
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
			update := "The user " + strings.Replace(c.update, "ID", c.answer.ID, 1) + " It had reached the user 2 times since 00:40."
			if list := d.pending(); !slices.Equal(list, []string{update}) {
				t.Errorf("%+v: pending %q, not %q", c.answer, list, update)
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
		d.refuse(command.Remind{ID: id, Word: command.Later, Until: d.now().Add(farthest + time.Second)}, fmt.Sprintf(textLaterFar, "1 Jan 2001 01:00"))
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
			actions = append(actions, e.Action+" "+e.Subject+" "+e.Detail)
		}
		if want := []string{
			audit.TaskAdded + " " + first.ID + " Call Ada, at 2000-01-01T03:00:00+01:00", audit.TaskAdded + " " + second.ID + " Call Ada, at 2000-01-01T02:00:00+01:00",
			audit.TaskRemoved + " " + first.ID + " " + first.Path,
		}; !slices.Equal(actions, want) {
			t.Errorf("recorded %q, want %q", actions, want)
		}
		d.err = errors.New("no right")
		if _, err := book.Add(t.Context(), plain); !errors.Is(err, d.err) || d.changed != 3 {
			t.Errorf("without the right: %v, changed %d times", err, d.changed)
		}
	})
}

// daily are the fires of a routine at nine each day, from a day of January 2000.
func (d *desk) daily(name string, first int) (rows string) {
	for i := range describedFires {
		at := time.Date(2000, 1, first+i, 9, 0, 0, 0, d.o.Zone)
		rows += fmt.Sprintf("%-9s %s, %s\n", name, at.Format("Mon 2006-01-02 15:04"), words.In(at, d.now()))
		name = ""
	}
	return rows
}

func TestADescriptionSaysWhatATaskMayAndWhenItFires(t *testing.T) {
	const all = "id: r1\ncron: \"0 9 * * *\"\nbackground: true\nskills: [cook]\nallow-ping: false\nmodel: haiku\nthinking: false\nisolated: true\n" +
		"critical: true\nmissed: run\nallowed-tools: [\"Read(./**.md)\", Write]\n"
	const rights = `routine   r1 · routines/x.md
runs      in the background, without the conversation's history, with haiku, without thinking
tells     may not ping; reports: on ping
may use   Read(./**.md), Write
skills    cook
without   cook: needs your approval: it may write files
money     runs above the caps too
`
	const made = "when      at 9:00, every day (0 9 * * *)\nmissed    made up for, at most 12 hours late\n"
	for name, c := range map[string]struct {
		kind, keys string
		prepare    func(*desk)
		want       string // NEXT, THEN and WOULD are the fires of each day from the first or second
	}{
		"all rights": {"routines", all, nil, rights + made + "NEXT"},
		"snoozed": {
			"routines", all, func(d *desk) { d.do(command.Snooze{ID: "r1", Until: d.now().Add(24 * time.Hour)}) },
			rights + "held      snoozed until Sun 2 Jan 01:00\n" + made + "THEN",
		},
		"paused": {
			"routines", all, func(d *desk) { d.do(command.Pause{ID: "r1", Paused: true}) }, rights + "held      paused, until you let it go on\n" + made + "WOULD",
		},
		"other rights": {
			"routines", "id: r1\ncron: \"0 9 * * *\"\nbackground: true\nessential: true\ncheck: sh c.sh\ntrust-input: true\ndisallowed-tools: [\"Bash(rm *)\"]\n" +
				"subagent: cook\nwindow: 9:00-10:00\njitter: 5 min\nupdate-main-session: always\n", nil, `routine   r1 · routines/x.md
runs      in the background
tells     may ping; reports: always
never     Bash(rm *)
check     sh c.sh
trusts    keeps its tools when it has read what strangers write
essential its first ping is beside the budget, and needs no model
as        cook
when      at 9:00, every day (0 9 * * *)
window    9:00-10:00: the bot chooses the minute
jitter    up to 5m later
NEXT`,
		},
		"held by its own run": {
			"routines", "id: r1\ncron: \"0 9 * * *\"\nbackground: true\ncheck: sh c.sh\nsay: check\n",
			func(d *desk) { _, _ = d.Stop(policy.Writer{}, "r1", toolset.Stop{Reason: "all done."}) }, `routine   r1 · routines/x.md
runs      in the background, without a model
tells     may ping; reports: on ping
check     sh c.sh
says      what the check prints, as it is; it costs nothing
held      paused, until you let it go on, by its own run: all done.
when      at 9:00, every day (0 9 * * *)
          the original program ignores say and runs the prompt with a model
WOULD`,
		},
		"in the conversation": {"routines", "id: r1\ncron: \"0 9 13 * 5\"\nuntil: 2000-01-13\n", nil, `routine   r1 · routines/x.md
runs      in the main session
when      at 9:00, on the 13th of every month, and also every Friday, until 13 January 2000 (0 9 13 * 5)
          With both day fields set, it fires on days that match either one.
next      Fri 2000-01-07 09:00, in 6 days
          Thu 2000-01-13 09:00, in 12 days
`},
		"skipped times": {"routines", "id: r1\ncron: \"0 9 * * 2\"\nevery: 2 weeks\nfrom: 2000-01-04\nuntil: 2000-04-30\n", nil, `routine   r1 · routines/x.md
runs      in the main session
when      at 9:00, every 2 weeks on Tuesday, from 4 January 2000 until 30 April 2000 (0 9 * * 2)
next      Tue 2000-01-04 09:00, in 3 days
          Tue 2000-01-18 09:00, in 17 days
          Tue 2000-02-01 09:00, in 31 days
          Tue 2000-02-15 09:00, in 45 days
          Tue 2000-02-29 09:00, in 59 days
          Tue 2000-03-14 09:00, in 73 days
          Tue 2000-03-28 09:00, in 87 days
          Tue 2000-04-11 09:00, in 101 days
          Tue 2000-04-25 09:00, in 115 days
skipped   Tue 2000-01-11 09:00, it is every 2 weeks, counted from 4 January 2000
          Tue 2000-01-25 09:00, it is every 2 weeks, counted from 4 January 2000
          Tue 2000-02-08 09:00, it is every 2 weeks, counted from 4 January 2000
          Tue 2000-02-22 09:00, it is every 2 weeks, counted from 4 January 2000
          Tue 2000-03-07 09:00, it is every 2 weeks, counted from 4 January 2000
`},
		"a reminder with problems": {
			"reminders", "id: k1\nrun-at: \"2000-01-01T02:00:00+01:00\"\nuntil: done\nbackground: true\nmax-chain: 3\nahead: [2 hours, \"30 min: leave now\"]\n", func(d *desk) {
				d.o.Lacking = func() []routines.Problem {
					return []routines.Problem{
						{File: "reminders/x.md", Severity: routines.Warning, Message: "no skill"},
						{File: "reminders/y.md", Severity: routines.Error, Message: "other"},
						{File: "reminders/x.md", Line: 3, Severity: routines.Error, Message: "odd"},
					}
				}
			}, `reminder  k1 · reminders/x.md
runs      in the background
tells     may ping; reports: on ping
when      Sat 2000-01-01 02:00, in 1 h
before    Sat 2000-01-01 00:00, 2 hours, has passed
          Sat 2000-01-01 01:30, 30 minutes: leave now
          the original program ignores ahead and fires only at the time itself
until     done; comes back after 30 min
chain     check 1 of 4
warning   no skill
error     line 3: odd
`,
		},
	} {
		inBubble(t, func(t *testing.T, d *desk) {
			storetest.Put(t, d.dir, "skills/cook/SKILL.md", "---\nname: cook\ndescription: Cooks\n---\nCook\n")
			rel, file, id := c.kind+"/x.md", "---\n"+c.keys+"---\nWater the plants", c.keys[len("id: "):][:2]
			storetest.Put(t, d.dir, rel, file+"\n")
			d.o.Schedule.Refresh(rel)
			d.left, d.o.Notice = "it may write files", func(string) {}
			if c.prepare != nil {
				c.prepare(d)
			}
			fires := strings.NewReplacer("NEXT", d.daily("next", 1), "THEN", d.daily("next", 2), "WOULD", d.daily("would", 1))
			if diff := cmp.Diff("Water the plants\n"+fires.Replace(c.want)+"\n"+file+"\n", d.describe(id)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
			storetest.Put(t, d.dir, rel, file+strings.Repeat("x", describedText))
			d.o.Schedule.Refresh(rel)
			if body := d.describe(id); !strings.HasSuffix(body, "xx…\n(the rest of the file is not shown)\n") {
				t.Errorf("%s: a long file ends %q", name, body[len(body)-60:])
			}
		})
	}
	inBubble(t, func(t *testing.T, d *desk) {
		for id, shown := range map[string]string{"nothing": "nothing", strings.Repeat("x", 61): strings.Repeat("x", 59) + "…"} {
			if _, err := d.Describe(id); err == nil || err.Error() != fmt.Sprintf(command.TextNoTask, shown) {
				t.Errorf("a task that is not there: %v", err)
			}
		}
	})
}

func TestARunStopsItsOwnRoutineAsItsUserCould(t *testing.T) {
	stop := func(id, reason string, until time.Duration, end bool) func(*desk) (toolset.Stopped, error) {
		return func(d *desk) (toolset.Stopped, error) {
			s := toolset.Stop{Reason: reason, End: end}
			if until != 0 {
				s.Until = d.now().Add(until)
			}
			return d.Stop(policy.Writer{Kind: "run 1"}, id, s)
		}
	}
	paused := fmt.Sprintf(textStopped, "Water the plants", textPausedItself, "done", "resumed")
	for name, c := range map[string]struct {
		key     string // one more line of its file
		before  func(*desk)
		stop    func(*desk) (toolset.Stopped, error)
		done    toolset.Stopped
		action  string
		refused string
	}{
		"it pauses itself": {stop: stop("r1", "done.", 0, false), done: toolset.Stopped{Answer: toolset.TextPaused, Said: paused, Briefly: "paused itself"}, action: audit.TaskHeld},
		"until a time": {
			stop: stop("r1", "done", 26*time.Hour, false), action: audit.TaskHeld,
			done: toolset.Stopped{
				Answer: fmt.Sprintf(toolset.TextSnoozed, "Sun 2 Jan 03:00"), Said: "Water the plants paused itself until Sun 2 Jan 03:00: done. It can be resumed.",
				Briefly: "paused itself until Sun 2 Jan 03:00",
			},
		},
		"it ends itself": {
			stop: stop("r1", "done", 0, true), action: audit.TaskRemoved,
			done: toolset.Stopped{Answer: toolset.TextEnded, Said: "Water the plants ended itself: done. It can be restored within a day.", Briefly: "ended itself"},
		},
		"after a pause of its own": {
			before: func(d *desk) { _, _ = stop("r1", "wait", time.Hour, false)(d) }, stop: stop("r1", "done", 0, false), action: audit.TaskHeld,
			done: toolset.Stopped{Answer: toolset.TextPaused, Said: paused, Briefly: "paused itself"},
		},
		"after a pause of its user": {before: func(d *desk) { d.do(command.Pause{ID: "r1", Paused: true}) }, stop: stop("r1", "done", 0, false), refused: textStopHeld},
		"an essential one":          {key: "essential: true\n", stop: stop("r1", "done", 0, false), refused: textStopEssential},
		"a critical one":            {key: "critical: true\n", stop: stop("r1", "done", 0, true), refused: textStopCritical},
		"for more than a year":      {stop: stop("r1", "done", farthest+time.Second, false), refused: fmt.Sprintf(textSnoozeTooLong, "1 Jan 2001 01:00")},
		"one that is not there":     {stop: stop("nothing", "done", 0, false), refused: noTask},
	} {
		inBubble(t, func(t *testing.T, d *desk) {
			var notices, want []string
			d.o.Notice = func(text string) { notices = append(notices, text) }
			storetest.Put(t, d.dir, "routines/x.md", "---\nid: r1\ncron: \"0 9 * * *\"\nbackground: true\n"+c.key+"---\nWater the plants\n")
			d.o.Schedule.Refresh("routines/x.md")
			if c.before != nil {
				c.before(d)
			}
			notices, d.changed = nil, 0
			recorded, _, _ := d.o.Audit.Read(9)
			done, err := c.stop(d)
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || err.Error() != c.refused) || done != c.done {
				t.Errorf("%s: %+v, %v", name, done, err)
			}
			entries, _, _ := d.o.Audit.Read(9)
			if entries = entries[len(recorded):]; c.refused == "" {
				want = []string{c.done.Said}
				entry := audit.Entry{At: d.now(), Actor: audit.Agent, From: "run 1", Action: c.action, Subject: "r1", Detail: c.done.Briefly + ": done" + map[bool]string{true: "."}[name == "it pauses itself"]}
				if diff := cmp.Diff([]audit.Entry{entry}, entries); diff != "" {
					t.Errorf("%s: recorded (-want +got)\n%s", name, diff)
				}
			}
			if !slices.Equal(notices, want) || d.changed != len(want) || c.refused != "" && len(entries) > 0 || slices.Contains(d.ids(), "r1") == (c.action == audit.TaskRemoved) {
				t.Errorf("%s: noticed %q, changed %d times, there are %q", name, notices, d.changed, d.ids())
			}
		})
	}
}

func TestANewTaskHasItsWindowAndWhatItSaysBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		window, err := leeway.ParseWindow("9:30-10:00")
		testkit.Must(t, err)
		for _, c := range []struct {
			add  command.AddTask
			says string
			file command.TaskFile
		}{
			{
				command.AddTask{At: d.now().Add(3 * time.Hour), Message: "Call Ada", Ahead: "4 hours, 1 hour: go", Critical: true, Isolated: true, Model: "haiku"},
				"Call Ada added, next 04:00; before that at (4 hours before has passed), 03:00",
				command.TaskFile{Task: routines.Task{Critical: true, Isolated: true, Model: "haiku"}, RunAt: d.now().Add(3 * time.Hour)},
			},
			{
				command.AddTask{At: d.now().Add(3 * time.Hour), Message: "Call Ada", Window: window},
				"Call Ada added, next 09:30",
				command.TaskFile{Task: routines.Task{Leeway: leeway.Rule{Window: window}}, RunAt: time.Date(2000, 1, 1, 9, 30, 0, 0, d.o.Zone)},
			},
			{
				command.AddTask{Cron: "0 7 * * 1", Message: "Call Ada", Window: window, Ahead: "1 hour"},
				"Call Ada added, next Mon 3 Jan 09:30",
				command.TaskFile{Task: routines.Task{Leeway: leeway.Rule{Window: window}}, Cron: "30 9 * * 1"},
			},
		} {
			out := d.do(c.add)
			f := d.File(out.Decision.Subject)
			got := command.TaskFile{
				Task: routines.Task{Critical: f.Critical, Isolated: f.Isolated, Model: f.Model, Leeway: f.Leeway}, Cron: f.Cron, RunAt: f.RunAt,
			}
			if diff := cmp.Diff(c.file, got); diff != "" || out.Message != c.says || (len(f.Ahead) == 2) != c.add.Critical {
				t.Errorf("%q, want %q; ahead %v; (-want +got)\n%s", out.Message, c.says, f.Ahead, diff)
			}
		}
	})
}

func TestStartersAreInstalledOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		out := d.do(command.AddStarters{})
		n := len(d.ids())
		said := strings.TrimPrefix(out.Message, fmt.Sprintf("%d starter routines installed: ", n))
		if n < 2 || out.Decision != (audit.Entry{Action: audit.TaskAdded, Subject: "starter routines", Detail: said}) || strings.Count(said, ",") != n-1 {
			t.Errorf("%+v, %d tasks", out, n)
		}
		if out := d.do(command.AddStarters{}); out.Message != textStartersThere || len(d.ids()) != n || out.Decision.Action != "" {
			t.Errorf("again: %+v", out)
		}
	})
}
