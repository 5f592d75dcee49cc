package routines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// night is a loop in a bubble over a real directory. The bubble's clock begins
// at midnight of 1 January 2000, a Saturday, in UTC.
type night struct {
	*room
	loop *Loop
	stop func() // ends the loop and waits for it

	mu     sync.Mutex
	shift  time.Duration // of the wall clock
	form   string        // how the time of a fire is written down
	fired  []string
	notes  []string
	gone   []string
	starts []time.Time // bubble time of each fire
	work   func(ctx context.Context, d Due) error
}

func newNight(t *testing.T) *night {
	n := &night{room: newRoom(t), form: "02 15:04:05", work: func(context.Context, Due) error { return nil }}
	n.stop = func() {}
	t.Cleanup(func() { n.stop() })
	return n
}

func (n *night) clock() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Add(n.shift)
}

// jump sets the wall clock, as a suspension or somebody at the keyboard does.
func (n *night) jump(by time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shift += by
}

// start runs a loop over the directory as it is now.
func (n *night) start() {
	n.stop()
	n.x = NewIndex(n.dir, time.UTC)
	n.x.Scan()
	n.loop = NewLoop(LoopOptions{Dir: n.dir, Index: n.x, Zone: time.UTC, Fire: n.fire, Note: n.note, Removed: n.removed})
	n.loop.now = n.clock
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	loop := n.loop
	go func() { done <- loop.Run(ctx) }()
	n.stop = func() {
		cancel()
		if err := <-done; err != nil {
			n.t.Errorf("run: %v", err)
		}
		n.stop = func() {}
	}
	synctest.Wait()
}

func (n *night) fire(ctx context.Context, d Due) error {
	words := fmt.Sprintf("%s %s %s", n.clock().Format(n.form), d.Task().ID, d.At.Format("02 15:04:05"))
	if d.Late {
		words += " late"
	}
	if d.Missed > 0 {
		words += fmt.Sprintf(" +%d", d.Missed)
	}
	n.mu.Lock()
	n.fired = append(n.fired, words)
	n.starts = append(n.starts, time.Now())
	work := n.work
	n.mu.Unlock()
	return work(ctx, d)
}

func (n *night) note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notes = append(n.notes, text)
}

func (n *night) removed(rel, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = append(n.gone, rel+" "+id)
}

// does says what the fires from now on do.
func (n *night) does(work func(ctx context.Context, d Due) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.work = work
}

// look has the loop see what is on disk.
func (n *night) look() {
	n.loop.Kick(n.x.Scan())
	synctest.Wait()
}

func (n *night) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// want compares what fired, "day h:m:s id day h:m:s [late] [+missed]": when it
// was, what, and when it was due.
func (n *night) want(fires ...string) {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if diff := cmp.Diff(fires, n.fired); diff != "" {
		n.t.Errorf("fires (-want +got):\n%s", diff)
	}
}

func (n *night) wantNotes(notes ...string) {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if diff := cmp.Diff(notes, n.notes); diff != "" {
		n.t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// inBubble runs a test of the loop in a synctest bubble.
func inBubble(t *testing.T, test func(n *night)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newNight(t)) })
}

const (
	idA = "aaaaaaaa"
	idB = "bbbbbbbb"
)

func TestARoutineFiresOnTheMinuteAgainAndAgain(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5,10 * * * *", "water"))
		n.start()
		n.sleep(70 * time.Minute)
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00", "01 00:10:00 aaaaaaaa 01 00:10:00",
			"01 01:05:00 aaaaaaaa 01 01:05:00", "01 01:10:00 aaaaaaaa 01 01:10:00")
		n.wantNotes()
	})
}

func TestARoutineNeverSeenBeforeIsNotMissed(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(9*time.Hour + 30*time.Minute)
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", "missed: run"))
		n.start()
		n.sleep(time.Hour)
		n.want()
		n.wantNotes()
	})
}

func TestAFireWhileTheBotWasDownIsNotedOnce(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", `description: "Water the plants"`))
		n.start()
		n.stop()
		time.Sleep(10 * time.Hour)
		n.start()
		n.stop()
		n.start()
		n.sleep(time.Hour)
		n.want()
		n.wantNotes(`Missed routine "Water the plants" (was due 9:00 AM)`)
	})
}

func TestAMissedFireOfAnotherDayIsNotedWithTheDay(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 9 1 * *", "water"))
		n.start()
		n.stop()
		time.Sleep(33 * time.Hour)
		n.start()
		n.stop()
		time.Sleep(32*24*time.Hour + 20*time.Hour)
		n.start()
		n.wantNotes(`Missed routine "water" (was due Saturday 9:00 AM)`, `Missed routine "water" (was due Tuesday 9:00 AM)`)
	})
}

func TestRunMissedRunsOnceLateAndCountsAllAsOne(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water", "missed: run"))
		n.start()
		n.stop()
		time.Sleep(3*time.Hour + 30*time.Minute)
		n.start()
		n.sleep(20 * time.Minute)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 03:30:05 aaaaaaaa 01 03:00:00 late +2")
		n.wantNotes(`Missed routine "water" (was due 3:00 AM); it runs now, late`)
		n.start()
		n.sleep(10 * time.Minute)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 03:30:05 aaaaaaaa 01 03:00:00 late +2", "01 04:00:00 aaaaaaaa 01 04:00:00")
	})
}

func TestRunMissedForgetsWhatIsOlderThanTwelveHours(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 1 * * *", "water", "missed: run"))
		n.start()
		n.stop()
		time.Sleep(13*time.Hour + time.Minute)
		n.start()
		n.sleep(time.Hour)
		n.want()
		n.wantNotes(`Missed routine "water" (was due 1:00 AM)`)
	})
}

func TestALateRunThatHadNotStartedSurvivesARestart(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 1 * * *", "water", "missed: run"))
		n.start()
		n.stop()
		time.Sleep(2 * time.Hour)
		n.start() // notes it, and stops before the five seconds are over
		n.stop()
		n.start()
		n.sleep(time.Minute)
		n.want("01 02:00:05 aaaaaaaa 01 01:00:00 late")
		n.wantNotes(`Missed routine "water" (was due 1:00 AM); it runs now, late`)
	})
}

func TestABacklogStartsStaggered(t *testing.T) {
	inBubble(t, func(n *night) {
		for i := range 3 {
			n.put(fmt.Sprintf("routines/%d.md", i), routineText(fmt.Sprintf("0000000%d", i), "0 1 * * *", "water", "missed: run"))
			n.put(fmt.Sprintf("reminders/%d.md", i), reminderText(fmt.Sprintf("1000000%d", i), "2000-01-01T01:00:00Z", "call"))
		}
		n.start()
		n.stop()
		time.Sleep(2 * time.Hour)
		n.start()
		n.sleep(time.Minute)
		if len(n.starts) != 6 {
			t.Fatalf("%d started: %v", len(n.starts), n.fired)
		}
		for i, at := range n.starts {
			if want := 2*time.Hour + 5*time.Second + time.Duration(i)*2*time.Second; at.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) != want {
				t.Errorf("start %d is at %v", i, at)
			}
		}
	})
}

func TestManyMissedRoutinesMakeOneNote(t *testing.T) {
	inBubble(t, func(n *night) {
		for i := range 30 {
			n.put(fmt.Sprintf("routines/%02d.md", i), routineText(fmt.Sprintf("%08x", i), "0 1 * * *", fmt.Sprintf("task %d", i)))
		}
		n.start()
		n.stop()
		time.Sleep(2 * time.Hour)
		n.start()
		if len(n.notes) != 1 || !strings.HasPrefix(n.notes[0], "Missed 30 routines: ") || !strings.HasSuffix(n.notes[0], "and 25 more") {
			t.Errorf("notes are %q", n.notes)
		}
	})
}

func TestARestartWithinAMinuteOfAFireStillFiresIt(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5 0 * * *", "water"))
		n.start()
		n.sleep(4*time.Minute + 50*time.Second)
		n.stop()
		time.Sleep(20 * time.Second)
		n.start()
		n.sleep(time.Minute)
		n.start() // and not a second time
		n.sleep(time.Minute)
		n.want("01 00:05:10 aaaaaaaa 01 00:05:00")
		n.wantNotes()
	})
}

func TestACrashDuringARunDoesNotDoubleIt(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
		n.start()
		var atFire []byte
		n.does(func(context.Context, Due) error {
			atFire, _ = n.dir.Read(scheduleFile)
			return nil
		})
		n.sleep(5 * time.Minute)
		n.stop()
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
		// What was on disk while it ran is all that a kill -9 leaves.
		if !strings.Contains(string(atFire), `"last_fire": "2000-01-01T00:05:00Z", "outcome": "running"`) {
			t.Fatalf("the fire was not written before it started:\n%s", atFire)
		}
		n.put(scheduleFile, string(atFire))
		n.start()
		n.sleep(30 * time.Second)
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
		n.wantNotes()
		if b := readBook(n.dir, n.loop.o.Log); b.Routines[idA].Outcome != outcomeInterrupted {
			t.Errorf("outcome is %s", b.Routines[idA].Outcome)
		}
	})
}

func TestTheOutcomeIsWrittenAfterTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		work func(context.Context, Due) error
		want outcome
	}{
		"done":        {func(context.Context, Due) error { return nil }, outcomeDone},
		"failed":      {func(context.Context, Due) error { return errors.New("no") }, outcomeFailed},
		"panicked":    {func(context.Context, Due) error { panic("no") }, outcomeFailed},
		"interrupted": {func(ctx context.Context, _ Due) error { <-ctx.Done(); return ctx.Err() }, outcomeInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
				n.does(c.work)
				n.start()
				n.sleep(6 * time.Minute)
				if c.want != outcomeInterrupted { // within the second, without a stop
					if b := readBook(n.dir, n.loop.o.Log); b.Routines[idA].Outcome != c.want {
						t.Errorf("outcome before the stop is %s", b.Routines[idA].Outcome)
					}
				}
				n.stop()
				if b := readBook(n.dir, n.loop.o.Log); b.Routines[idA].Outcome != c.want {
					t.Errorf("outcome is %s", b.Routines[idA].Outcome)
				}
			})
		})
	}
}

func TestACorruptBookStartsAfresh(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(12 * time.Hour)
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
		n.put(scheduleFile, `{"routines": {"aaaaaaaa": {"after": 12`)
		n.start()
		n.sleep(6 * time.Minute)
		n.want("01 12:05:00 aaaaaaaa 01 12:05:00")
		n.wantNotes()
	})
}

func TestARunningRoutineIsSkippedAndThatIsSaidOncePerRun(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "*/5 * * * *", "water"))
		n.does(func(context.Context, Due) error {
			time.Sleep(12 * time.Minute)
			return nil
		})
		n.start()
		if !n.loop.Running(idA) {
			t.Error("it should run")
		}
		n.sleep(20 * time.Minute)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 00:15:00 aaaaaaaa 01 00:15:00")
		n.wantNotes(`Skipped routine "water" (was due 12:05 AM): its run before that has not ended`,
			`Skipped routine "water" (was due 12:20 AM): its run before that has not ended`)
	})
}

func TestRunWaitsForEveryFire(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
		ended := false
		n.does(func(ctx context.Context, _ Due) error {
			<-ctx.Done()
			time.Sleep(10 * time.Second)
			ended = true
			return nil
		})
		n.start()
		n.sleep(6 * time.Minute)
		n.stop()
		if !ended {
			t.Error("Run returned before its fire")
		}
		if err := n.loop.FireNow(idA); err == nil {
			t.Error("a loop that has ended fired")
		}
	})
}

func TestThousandRoutinesOfOneMinuteAllStartAtOnce(t *testing.T) {
	inBubble(t, func(n *night) {
		for i := range 1000 {
			n.put(fmt.Sprintf("routines/%03d.md", i), routineText(fmt.Sprintf("%08x", i), "5 * * * *", "water"))
		}
		n.start()
		n.sleep(5 * time.Minute)
		if len(n.starts) != 1000 {
			t.Fatalf("%d started", len(n.starts))
		}
		for _, at := range n.starts {
			if !at.Equal(n.starts[0]) {
				t.Fatalf("one started at %v, another at %v", n.starts[0], at)
			}
		}
	})
}

func TestAnEditedScheduleIsInForceAtOnce(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water"))
		n.start()
		n.sleep(10 * time.Minute)
		n.put("routines/a.md", routineText(idA, "5,20 * * * *", "water"))
		n.put("routines/b.md", routineText(idB, "15 * * * *", "new"))
		n.look()
		n.sleep(15 * time.Minute)
		n.want("01 00:15:00 bbbbbbbb 01 00:15:00", "01 00:20:00 aaaaaaaa 01 00:20:00")
		n.remove("routines/a.md")
		n.look()
		n.sleep(40 * time.Minute)
		n.want("01 00:15:00 bbbbbbbb 01 00:15:00", "01 00:20:00 aaaaaaaa 01 00:20:00")
		n.wantNotes()
	})
}

func TestAnEditOfTheTextAloneLosesNoFire(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
		n.start()
		n.sleep(4*time.Minute + 59*time.Second)
		n.jump(1500 * time.Millisecond) // the fire is due when the edit is seen
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water more"))
		n.look()
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
	})
}

func TestARoutineThatWasAwayOwesNothing(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water", "missed: run"))
		n.start()
		n.sleep(10 * time.Minute)
		n.remove("routines/a.md")
		n.look()
		n.sleep(time.Hour)
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water", "missed: run"))
		n.look()
		n.sleep(25 * time.Minute)
		n.want("01 01:30:00 aaaaaaaa 01 01:30:00")
		n.wantNotes()
	})
}

func TestFireNowRunsBesideTheSchedule(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
		n.start()
		n.sleep(2 * time.Minute)
		if err := n.loop.FireNow(idA); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		n.sleep(4 * time.Minute)
		n.want("01 00:02:00 aaaaaaaa 01 00:02:00", "01 00:05:00 aaaaaaaa 01 00:05:00")
		if err := n.loop.FireNow("nosuch"); err == nil || !strings.Contains(err.Error(), "nosuch") {
			t.Errorf("error is %v", err)
		}
	})
}

func TestFireNowRefusesWhatIsRunning(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
		n.does(func(ctx context.Context, _ Due) error {
			<-ctx.Done()
			return nil
		})
		n.start()
		if err := n.loop.FireNow(idA); err != nil {
			t.Fatal(err)
		}
		if err := n.loop.FireNow(idA); err == nil {
			t.Error("it fired twice at once")
		}
		n.sleep(6 * time.Minute)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00")
	})
}

func TestInvalidFilesAreNotedOnceUntilTheyAreWell(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", "nothing")
		n.put("reminders/a.md", "nothing")
		n.start()
		n.put("routines/b.md", routineText(idB, "0 9 * * *", "fine"))
		n.look()
		if len(n.notes) != 2 || !strings.Contains(n.notes[0], "routine file has an error:\nroutines/a.md:1:1") || !strings.Contains(n.notes[1], "reminders/a.md:1:1") {
			t.Fatalf("notes are %q", n.notes)
		}
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "well"))
		n.look()
		n.put("routines/a.md", "nothing again")
		n.look()
		if len(n.notes) != 3 || !strings.Contains(n.notes[2], "routines/a.md") {
			t.Errorf("notes are %q", n.notes)
		}
	})
}

func TestADiskThatRefusesStopsNoFire(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
		n.put("state", "a file where the folder should be")
		n.start()
		n.sleep(6 * time.Minute)
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
		if _, err := os.Stat(n.dir.Path("state")); err != nil {
			t.Error(err)
		}
	})
}
