package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
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
			atFire, _ = n.dir.Read(recordFile)
			return nil
		})
		n.sleep(5 * time.Minute)
		n.stop()
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
		// A kill -9 leaves only the state on disk during the run.
		if !strings.Contains(string(atFire), `"last_fire":"2000-01-01T00:05:00Z","outcome":"running"`) {
			t.Fatalf("the fire was not written before it started:\n%s", atFire)
		}
		n.put(recordFile, string(atFire))
		n.start()
		n.sleep(30 * time.Second)
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
		n.wantNotes()
		if b := readRecord(n.dir, slog.New(slog.DiscardHandler)); b.Routines[idA].Outcome != outcomeCutOff {
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
		"interrupted": {func(ctx context.Context, _ Due) error { <-ctx.Done(); return ctx.Err() }, outcomeCutOff},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
				n.does(c.work)
				n.start()
				n.sleep(6 * time.Minute)
				if c.want != outcomeCutOff { // within the second, without a stop
					if b := readRecord(n.dir, slog.New(slog.DiscardHandler)); b.Routines[idA].Outcome != c.want {
						t.Errorf("outcome before the stop is %s", b.Routines[idA].Outcome)
					}
				}
				n.stop()
				if b := readRecord(n.dir, slog.New(slog.DiscardHandler)); b.Routines[idA].Outcome != c.want {
					t.Errorf("outcome is %s", b.Routines[idA].Outcome)
				}
			})
		})
	}
}

func TestACorruptBookStartsAfresh(t *testing.T) {
	for _, text := range []string{`{"routines": {"aaaaaaaa": {"after": 12`, `{"routines": {"aaaaaaaa": null}}`, `{"routines": null}`, `null`} {
		inBubble(t, func(n *night) {
			time.Sleep(12 * time.Hour)
			n.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
			n.put(recordFile, text)
			n.start()
			n.sleep(6 * time.Minute)
			n.want("01 12:05:00 aaaaaaaa 01 12:05:00")
			n.wantNotes()
		})
	}
}

func TestARunningRoutineIsSkippedAndThatIsSaidOncePerRun(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "*/5 * * * *", "water"))
		n.does(func(context.Context, Due) error {
			time.Sleep(12 * time.Minute)
			return nil
		})
		n.start()
		if !n.loop.orders.runs(routineKey(idA)) {
			t.Error("it should run")
		}
		n.sleep(20 * time.Minute)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 00:15:00 aaaaaaaa 01 00:15:00")
		n.wantNotes(`Skipped routine "water" (was due 00:05): its previous run has not ended`,
			`Skipped routine "water" (was due 00:20): its previous run has not ended`)
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
		testkit.Must(t, n.loop.FireNow(idA))
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
		testkit.Must(t, n.loop.FireNow(idA))
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

func TestAfterARestartTheFileInForceIsStillTheOneThatWas(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/water.md", routineText(idA, "5 * * * *", "water"))
		n.start()
		n.put("routines/a copy.md", routineText(idA, "7 * * * *", "copied"))
		n.look()
		n.sleep(2 * time.Second)
		n.start()
		n.sleep(10 * time.Minute)
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
		if r, ok := Files(n.dir, time.UTC).RoutineByID(idA); !ok || r.Path != "routines/water.md" {
			t.Errorf("for a command it is %+v", r)
		}
	})
}
