package schedule

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// hold gives the loop an order and waits until it is processed.
func (n *night) hold(id string, h Hold) Hold {
	n.t.Helper()
	before, err := n.loop.Hold(id, h)
	if err != nil {
		n.t.Fatalf("hold %s: %v", id, err)
	}
	synctest.Wait()
	return before
}

// at parses a moment of the bubble's first days: "01 15:04".
func (n *night) at(text string) time.Time {
	n.t.Helper()
	at, err := time.Parse("2006-01-02 15:04", "2000-01-"+text)
	testkit.Must(n.t, err)
	return at
}

func (n *night) wantHolds(want string) {
	n.t.Helper()
	data, err := n.dir.Read(holdsFile)
	if err != nil && want != "" || !strings.Contains(string(data), want) {
		n.t.Errorf("%s holds %q (%v), want %q in it", holdsFile, data, err, want)
	}
	if want == "" {
		n.wantFile(holdsFile, false)
	}
}

func TestASnoozedRoutineSkipsItsFiresWithoutAWordAndGoesOn(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "*/10 * * * *", "water", "missed: run"))
		n.start()
		n.sleep(time.Minute)
		n.hold(idA, Hold{Until: n.at("01 00:30")})
		n.sleep(45 * time.Minute)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 00:30:00 aaaaaaaa 01 00:30:00", "01 00:40:00 aaaaaaaa 01 00:40:00")
		n.wantNotes()
		n.wantHolds("")
		n.start()
		n.sleep(time.Minute)
		n.wantNotes()
	})
}

func TestAPausedRoutineStaysSoOverARestartAndOwesNothingAfterwards(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water", "missed: run"))
		n.start()
		n.hold(idA, Hold{Paused: true})
		n.sleep(3 * time.Hour)
		n.start()
		n.sleep(3 * time.Hour)
		n.want()
		if before := n.hold(idA, Hold{}); !before.Paused || !before.Since.Equal(n.at("01 00:00")) {
			t.Errorf("before it was let go on: %+v", before)
		}
		n.wantHolds("")
		n.start()
		n.sleep(35 * time.Minute)
		n.want("01 06:30:00 aaaaaaaa 01 06:30:00")
		n.wantNotes()
	})
}

func TestASnoozeThatEndsWhileTheBotIsDownHidesOnlyItsOwnFires(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water"))
		n.start()
		n.hold(idA, Hold{Until: n.at("01 02:00")})
		n.stop()
		time.Sleep(105 * time.Minute)
		n.start() // 1:45: nothing was missed
		n.stop()
		n.wantNotes()
		time.Sleep(time.Hour)
		n.start() // 2:45: the fire of 2:30 was
		n.sleep(time.Second)
		n.wantNotes(`Missed routine "water" (was due 02:30)`)
		n.wantHolds("")
	})
}

func TestAfterASuspensionOverTheEndOfASnoozeOnlyWhatCameLaterIsMissed(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water"))
		n.start()
		n.hold(idA, Hold{Until: n.at("01 02:00")})
		n.jump(2*time.Hour + 45*time.Minute)
		n.sleep(time.Minute)
		n.want()
		n.wantNotes(`Missed routine "water" (was due 02:30)`)
	})
}

func TestASnoozedReminderFiresAtTheEndOfItsSnooze(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T02:00:00Z", "write"))
		n.start()
		n.hold(idA, Hold{Until: n.at("01 01:00")})
		n.hold(idB, Hold{Until: n.at("01 01:00")})
		n.sleep(30 * time.Minute)
		n.start()
		n.sleep(3 * time.Hour)
		n.want("01 01:00:00 aaaaaaaa 01 01:00:00", "01 02:00:00 bbbbbbbb 01 02:00:00")
		n.wantFile("reminders/a.md", false)
		n.sleep(25 * time.Hour)
		n.wantHolds("")
	})
}

func TestASnoozedReminderThatComesDueDuringASuspensionIsLate(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.start()
		n.hold(idA, Hold{Until: n.at("01 01:00")})
		n.jump(3 * time.Hour)
		n.sleep(time.Minute)
		if len(n.fired) != 1 || !strings.HasSuffix(n.fired[0], "aaaaaaaa 01 01:00:00 late") {
			t.Errorf("fired: %q", n.fired)
		}
	})
}

func TestAPausedReminderThatIsLetGoOnFiresLate(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.start()
		n.hold(idA, Hold{Paused: true})
		n.sleep(time.Hour)
		n.start()
		n.sleep(time.Hour)
		n.want()
		n.hold(idA, Hold{})
		n.sleep(10 * time.Second)
		n.want("01 02:00:05 aaaaaaaa 01 00:10:00 late")
	})
}

func TestAHeldTaskFiresWhenItIsToldTo(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T00:10:00Z", "call"))
		n.start()
		n.hold(idA, Hold{Paused: true})
		n.hold(idB, Hold{Paused: true})
		for _, id := range []string{idA, idB} {
			testkit.Must(t, n.loop.FireNow(id))
			n.sleep(time.Second)
		}
		n.sleep(time.Hour)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 00:00:01 bbbbbbbb 01 00:00:01")
		n.wantFile("reminders/b.md", false)
		n.wantHolds(idA)
	})
}

func TestTheMakeUpOfAMissedFireIsHeldToo(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water", "missed: run"))
		n.start()
		n.stop()
		time.Sleep(45 * time.Minute)
		n.start()
		n.hold(idA, Hold{Paused: true}) // within the five seconds before it starts
		n.sleep(time.Minute)
		n.want()
		n.hold(idA, Hold{})
		n.sleep(10 * time.Minute)
		n.want()
	})
}

func TestTheHoldOfARemovedTaskIsForgottenAfterADayAndOutlivesAnEditorsSave(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water"))
		n.start()
		n.hold(idA, Hold{Paused: true})
		n.remove("routines/a.md")
		n.look()
		n.wantHolds(`"gone"`)
		n.sleep(20 * time.Hour)
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water"))
		n.look()
		n.sleep(2 * time.Hour)
		n.want()
		n.remove("routines/a.md")
		n.look()
		review := func() {
			n.loop.MoneyChanged()
			synctest.Wait()
		}
		n.sleep(keepGone) // from now on, not since the first time
		review()
		n.wantHolds(`"gone"`)
		n.sleep(time.Second)
		review()
		n.wantHolds("")
	})
}

func TestGarbageInTheHoldsHoldsNothing(t *testing.T) {
	for name, text := range map[string]string{
		"no json":     `{"holds": [`,
		"a number":    `7`,
		"other kinds": `{"holds": [{"kind": "webhook", "id": "aaaaaaaa", "paused": true}]}`,
		"a bad id":    `{"holds": [{"kind": "routine", "id": "../aaaa", "paused": true}]}`,
		"no end":      `{"holds": [{"kind": "routine", "id": "aaaaaaaa"}]}`,
		"null":        `null`,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
				n.put(holdsFile, text)
				n.start()
				n.sleep(6 * time.Minute)
				n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
				n.hold(idA, Hold{Paused: true})
				n.sleep(time.Hour)
				n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
			})
		})
	}
}

func TestAHoldThatCannotBeIsRefused(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
		n.start()
		n.sleep(time.Hour)
		if _, err := n.loop.Hold("nobody", Hold{Paused: true}); err == nil {
			t.Error("an unknown task was held")
		}
		if _, err := n.loop.Hold(idA, Hold{Until: n.at("01 01:00")}); err == nil || !strings.Contains(err.Error(), "in the past") {
			t.Errorf("a time that in the past: %v", err)
		}
		if before := n.hold(idA, Hold{}); before != (Hold{}) {
			t.Errorf("a task that was not held gave %+v", before)
		}
		n.wantFile(holdsFile, false)
		n.stop()
		if _, err := n.loop.Hold(idA, Hold{Paused: true}); err == nil {
			t.Error("a loop that has ended took an order")
		}
	})
}

func TestAHoldThatCannotBeWrittenIsNotInForce(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
		n.start()
		n.sleep(time.Second)
		testkit.Must(t, os.Mkdir(n.dir.Path(holdsFile), 0o700))
		if _, err := n.loop.Hold(idA, Hold{Paused: true}); err == nil {
			t.Fatal("it was taken")
		}
		n.sleep(6 * time.Minute)
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
	})
}

// However a routine is held, resumed, restarted and suspended, it fires at exactly the
// times of its schedule that no hold covers, and nothing is missed.
func TestARoutineFiresWhereverNoHoldIs(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 8).Draw(rt, "steps")
		waits := rapid.SliceOfN(rapid.IntRange(1, 50), len(steps), len(steps)).Draw(rt, "minutes")
		inBubble(t, func(n *night) {
			n.put("routines/a.md", routineText(idA, "*/10 * * * *", "water", "missed: run"))
			n.start()
			n.sleep(30 * time.Second)
			want := []string{"01 00:00:00 aaaaaaaa 01 00:00:00"}
			var hold Hold
			for i, step := range steps {
				switch step {
				case 0, 1:
					hold = Hold{Until: n.clock().Add(time.Duration(waits[i]) * time.Minute / 2)}
				case 2:
					hold = Hold{Paused: true}
				case 3:
					hold = Hold{}
				case 4:
					n.start()
				}
				if step != 4 {
					n.hold(idA, hold)
				}
				from := n.clock()
				n.sleep(time.Duration(waits[i]) * time.Minute)
				for at := from.Truncate(10 * time.Minute).Add(10 * time.Minute); !at.After(n.clock()); at = at.Add(10 * time.Minute) {
					if hold.Ended(at) {
						want = append(want, fmt.Sprintf("%[1]s aaaaaaaa %[1]s", at.Format(n.form)))
					}
				}
			}
			if diff := cmp.Diff(want, n.fired); diff != "" || len(n.notes) > 0 {
				rt.Fatalf("notes %q, fires (-want +got):\n%s", n.notes, diff)
			}
		})
	})
}

func TestAgentsDoNotSeeHeldFiresAndPeopleSeeThemMarked(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(12 * time.Hour)
		n.put("routines/a.md", routineText(idA, "*/30 * * * *", "water"))
		n.put("routines/b.md", routineText(idB, "15 * * * *", "paused"))
		n.put("routines/f.md", "---\nid: ffffffff\ncron: \"20 * * * *\"\n---\ntalk\n")
		n.put("reminders/c.md", reminderText("cccccccc", "2000-01-01T12:10:00Z", "call"))
		n.put("reminders/d.md", reminderText("dddddddd", "2000-01-01T12:12:00Z", "write"))
		n.start()
		n.sleep(time.Minute)
		for _, id := range []string{idA, "cccccccc"} {
			n.hold(id, Hold{Until: n.at("01 13:00")})
		}
		for _, id := range []string{idB, "dddddddd", "ffffffff"} {
			n.hold(id, Hold{Paused: true})
		}
		p := n.loop.Plan(n.clock())
		agents := []string{"12:00 aaaaaaaa just fired", "13:00 aaaaaaaa ", "13:00 cccccccc "}
		if diff := cmp.Diff(agents, brief(p.Forward("").Entries)); diff != "" {
			t.Errorf("agents (-want +got):\n%s", diff)
		}
		people := []string{
			"12:00 aaaaaaaa just fired", "12:12 dddddddd paused held", "12:15 bbbbbbbb paused held", "12:20 ffffffff paused held",
			"12:30 aaaaaaaa snoozed until 13:00 held", "13:00 aaaaaaaa ", "13:00 cccccccc snoozed until 13:00",
		}
		if diff := cmp.Diff(people, brief(p.View().Entries)); diff != "" {
			t.Errorf("people (-want +got):\n%s", diff)
		}
		day := []string{
			"12:12 dddddddd paused held", "12:15 bbbbbbbb paused held", "12:20 ffffffff paused held",
			"12:30 aaaaaaaa snoozed until 13:00 held", "13:00 aaaaaaaa ", "13:00 cccccccc snoozed until 13:00", "13:15 bbbbbbbb paused held",
		}
		if diff := cmp.Diff(day, brief(p.calendar(p.Now.Add(75*time.Minute), 100))); diff != "" {
			t.Errorf("day (-want +got):\n%s", diff)
		}
		next := map[string]time.Time{}
		for _, task := range p.View().Tasks {
			next[task.ID] = task.Next
		}
		if !next[idA].Equal(n.at("01 13:00")) || !next[idB].IsZero() || !next["dddddddd"].IsZero() {
			t.Errorf("next: %v", next)
		}
	})
}

func brief(list []Entry) []string {
	var out []string
	for _, e := range list {
		line := fmt.Sprintf("%s %s %s", e.FireTime.Format("15:04"), e.ID, e.Tag)
		if e.Held {
			line += " held"
		}
		out = append(out, line)
	}
	return out
}

func TestALoopThatOnlyLooksLeavesGarbageWhereItIs(t *testing.T) {
	r := newRoom(t)
	r.put(holdsFile, "garbage")
	r.schedule()
	if data, err := r.dir.Read(holdsFile); err != nil || string(data) != "garbage" {
		t.Errorf("the file is %q, %v", data, err)
	}
}
