package core

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

// last returns the end of the chat.
func (w *world) last() transcript.Entry {
	w.Helper()
	chat := w.Snapshot().Chat
	w.needs(len(chat) > 0, "the chat is empty")
	return chat[len(chat)-1]
}

// tokens returns how many pings are left.
func (w *world) tokens() float64 { return w.Snapshot().Budget.State.Available }

func TestAReminderPingsReportsAndIsRemoved(t *testing.T) {
	story(t, []file{
		remind("aaaa0001", 10*time.Second, "", `call ping_user {"message":"Stand up, please."}`, `call report_updates {"message":"Pinged about standing up."}`),
	}, func(w *world) {
		before := w.tokens()
		w.sleep(time.Minute)
		w.is("pings, updates, runs", []string{w.pings(), w.pending(), w.runs()},
			[]string{"Stand up, please.", "Pinged about standing up.", "aaaa0001 done pinged reported"})
		spent := before - w.tokens()
		w.holds(before == 5 && spent >= 0.9 && spent <= 1, "tokens", before, spent)
		w.holds(!w.has("reminders/aaaa0001.md"), "the reminder's file is still there")
		page := w.Tail(w.Snapshot().Forks[0].ID, 0)
		w.holds(len(page.Lines) >= 4, "the tail", page)
	})
}

// What a reminder says before it is due is a ping that asks no model, and refused as any other.
func TestAReminderPingsBeforeItIsDue(t *testing.T) {
	story(t, []file{
		remind("aaaa0001", 3*time.Hour, "ahead: [\"2 hours: Pack the card\", \"1 hour\", \"10 minutes\"]\n", `call ping_user {"message":"Now."}`),
	}, func(w *world) {
		before := w.tokens()
		w.sleep(time.Hour + time.Minute)
		w.is("two hours ahead", w.pings()+", "+w.runs(), "Pack the card, aaaa0001 done pinged")
		w.holds(before-w.tokens() >= 0.5 && w.Snapshot().Forks[0].Session == "", "tokens, session", before, w.Snapshot().Forks[0])
		w.sleep(time.Hour)
		w.shows("an hour ahead", w.pings(), "Pack the card / Task aaaa0001: 0")
		w.do(command.SetBudget{Capacity: new(0)})
		w.sleep(50 * time.Minute)
		w.is("ten minutes ahead, without a budget", w.runs(), "aaaa0001 done refused, aaaa0001 done pinged, aaaa0001 done pinged")
		w.holds(w.has("reminders/aaaa0001.md"), "its file is gone before it is due")
		w.sleep(20 * time.Minute)
		w.holds(!w.has("reminders/aaaa0001.md"), "the reminder did not fire at its own time")
	})
}

func TestAChainReminderSchedulesItsNextCheck(t *testing.T) {
	story(t, []file{remind("aaaa0003", time.Second, "max-chain: 2\n", `call follow_up_chain {"minutes_from_now": 5}`)}, func(w *world) {
		w.sleep(time.Minute)
		list := w.index.Set().Reminders
		w.needs(len(list) == 1, "reminders but the next check", list)
		w.is("the next check", fmt.Sprint(list[0].ChainDepth, " of ", list[0].MaxChain, ", parent ", list[0].ChainParent), "1 of 2, parent aaaa0003")
		e := w.Snapshot().Schedule.Entries
		w.holds(len(e) == 1 && e[0].Label == "Chain reminder (2/3)", "the schedule", e)
	})
}

func TestAnOverdueReminderFiresAfterFiveSecondsAndSaysItIsLate(t *testing.T) {
	story(t, []file{remind("aaaa0004", -2*time.Hour, "", `say done`)}, func(w *world) {
		prompt := w.preview("aaaa0004")
		w.shows("the preview", prompt, "[reminder-bg:aaaa0004]")
		w.sleep(4 * time.Second)
		w.is("before the five seconds are over", w.runs(), "")
		w.sleep(30 * time.Second)
		w.is("then", w.runs(), "aaaa0004 done late")
	})
}

func TestAForegroundReminderSpeaksInTheMainSession(t *testing.T) {
	front := fmt.Sprintf("id: \"aaaa0005\"\nrun-at: %q\nbackground: false\n", dayOne.Add(2*time.Second).Format(time.RFC3339Nano))
	story(t, []file{task("reminders/fg.md", front, "Stand-up.\n\n"+plays("say Good morning, stand-up in ten."))}, func(w *world) {
		testkit.Must(w, w.updates.Append(w.now(), "The build is green."))
		w.sleep(time.Minute)
		w.is("the chat ends with", w.last().Role, transcript.Bot)
		w.shows("the chat's end", w.last().Text, "stand-up in ten")
		w.is("updates after their delivery", w.pending(), "")
		w.holds(w.sessions.Main() != "", "the main session's id was not saved")
		w.holds(!w.has("reminders/fg.md"), "the reminder's file is still there")
	})
}

func TestAnUnfinishedReminderSurvivesTheEndOfTheProgram(t *testing.T) {
	var ends time.Time
	story(t, []file{remind("aaaa0006", time.Second, "", `wait 10m`)}, func(w *world) {
		w.sleep(time.Minute)
		w.is("runs", w.runs(), "aaaa0006 running")
		ends = time.Now()
	}, func(w *world) {
		w.holds(time.Since(ends) <= 15*time.Second, "stopping took", time.Since(ends))
		w.holds(w.has("reminders/aaaa0006.md"), "its file is gone although it had not finished")
	})
}

func TestABudgetChangeCanBeUndone(t *testing.T) {
	story(t, nil, func(w *world) {
		budget := func() string {
			s := w.Snapshot().Budget.State
			return fmt.Sprint(s.Available, " of ", s.Capacity)
		}
		out := w.do(command.SetBudget{Capacity: new(2)})
		w.is("after the change", budget(), "2 of 2")
		w.do(out.Undo)
		w.is("after undo", budget(), "5 of 5")
		same := w.do(command.SetBudget{Capacity: new(5)})
		w.holds(same.Undo == nil && strings.Contains(same.Message, "unchanged"), "without a change it says", same)
		said := w.do(command.Slash{Line: "/ping-budget 5"})
		w.holds(strings.HasPrefix(said.Message, "the ping budget is unchanged: "), "without a change the command says", said)
		w.refuses("", command.SetBudget{Capacity: new(-1)}, command.SetBudget{RefillMinutes: new(0)})
	})
}

func TestADiscardedUpdateReturnsToItsPlace(t *testing.T) {
	story(t, nil, func(w *world) {
		for _, m := range []string{"first", "second", "third"} {
			testkit.Must(t, w.updates.Append(w.now(), m))
			w.sleep(time.Second)
		}
		out := w.do(command.DiscardUpdate{Key: w.Snapshot().Updates[1].Key})
		w.is("discarded", w.pending(), "first / third")
		w.do(out.Undo)
		w.is("undone", w.pending(), "first / second / third")
	})
}

func TestAMessageIsAnsweredAndMakesTheBotBusy(t *testing.T) {
	story(t, []file{remind("aaaa0007", 3*time.Second, "", `call ping_user {"message":"Now?"}`, `call report_updates {"message":"r"}`)}, func(w *world) {
		w.do(command.Say{Text: "hello\n\n" + plays("wait 20s", "say hi there")})
		w.sleep(2 * time.Second)
		w.is("busy while it answers", w.Snapshot().Busy, true)
		w.sleep(time.Minute)
		w.is("busy when it has answered", w.Snapshot().Busy, false)
		w.is("a ping in mid-conversation", []any{w.pings(), w.runs(), w.Snapshot().Budget.State.DailyUsed}, []any{"", "aaaa0007 done refused reported", 0})
		w.is("the chat ends with", w.last().Role, transcript.Bot)
		w.shows("the chat's end", w.last().Text, "hi there")
	})
}

func TestASecondBotOnTheSameDirectoryIsRefused(t *testing.T) {
	story(t, nil, func(w *world) {
		var running *store.RunningError
		err := w.bot(script.New(script.Options{})).Run(w.Context())
		w.holds(errors.As(err, &running), "the second bot ended with", err)
	})
}

func TestARoutineRunsAtItsMinutes(t *testing.T) {
	story(t, []file{routine("aaaa0009", "*/5 * * * *", "update-main-session: \"freely\"\n", "say looked")}, func(w *world) {
		w.sleep(16 * time.Minute)
		before := len(w.Snapshot().Forks)
		w.holds(before == 3 || before == 4, "runs in sixteen minutes of every five", before)
		w.do(command.FireNow{ID: "aaaa0009"})
		w.sleep(time.Second)
		list := w.Snapshot().Forks
		w.holds(len(list) == before+1 && list[0].Kind == routines.KindRoutine && list[0].State == fork.Done, "fire now started", list)
	})
}

func TestAFileThatIsMendedBeforeItsReportIsNotReported(t *testing.T) {
	story(t, []file{task("routines/a.md", "id: a\ncron: never\n", "Do it.")}, func(w *world) {
		edit := func(f file) {
			w.put(f)
			w.directory.Apply(watch.Batch{Names: []string{f.rel}})
			w.sleep(time.Second)
		}
		pending := func(what string, n int, with, without []string) {
			w.Helper()
			list := w.Snapshot().Updates
			w.needs(len(list) == n, what, list)
			if n > 0 {
				w.shows(what, list[n-1].Message, with...)
				w.lacks(what, list[n-1].Message, without...)
			}
		}
		const a, c = "routines/a.md", "routines/c.md"
		pending("at the start", 1, []string{a}, nil)
		edit(task("reminders/b.md", "id: b\nrun-at: soon\n", "Do it."))
		edit(file{c, "no front matter"})
		pending("with two more", 2, []string{a, c}, nil)
		edit(task(a, "id: a\ncron: 0 9 * * *\n", "Do it."))
		pending("with the first mended", 2, []string{c}, []string{a})
		edit(task("reminders/b.md", "id: b\nrun-at: \"2030-01-01T00:00:00Z\"\n", "Do it."))
		edit(task(c, "id: c\ncron: 0 9 * * *\n", "Do it."))
		pending("with all mended", 0, nil, nil)
	})
}
