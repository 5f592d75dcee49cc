package schedule

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/account"
)

// killed runs reminder a at 00:10 until do returns, and then restores the directory to
// its state after a kill at the end of the run: the file, and the record and the account of a run in
// progress.
func (n *night) killed(text string, do func()) {
	n.t.Helper()
	n.put("reminders/a.md", text)
	var record, rows []byte
	n.does(func(context.Context, Due) (err error) {
		var failed error
		record, err = n.dir.Read(recordFile)
		rows, failed = n.dir.Read(account.File)
		do()
		return errors.Join(err, failed)
	})
	n.start()
	n.sleep(15 * time.Minute)
	n.stop()
	n.does(func(context.Context, Due) error { return nil })
	n.put("reminders/a.md", text)
	testkit.Must(n.t, errors.Join(n.dir.Write(recordFile, record), n.dir.Write(account.File, rows)))
}

const firstFire = "01 00:10:00 aaaaaaaa 01 00:10:00"

func at(clock string) time.Time {
	t, err := time.Parse(time.TimeOnly, clock)
	if err != nil {
		panic(err)
	}
	return time.Date(2000, 1, 1, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// book is a record of runs with one ended run, of a reminder due at a time.
func book(id, runAt, begun string) func(string, time.Time, time.Time) bool {
	return func(of string, due, since time.Time) bool {
		return of == id && due.Equal(at(runAt)) && !at(begun).Before(since)
	}
}

func TestAReminderWhoseRunHasEndedIsUsedUpAtTheNextStart(t *testing.T) {
	for name, test := range map[string]struct {
		ended func(string, time.Time, time.Time) bool
		fate  string
		fires []string
	}{
		"its run":                  {book(idA, "00:10:00", "00:10:00"), "done", []string{firstFire}},
		"a run that was cut off":   {nil, "interrupted", []string{firstFire, "01 00:15:05 aaaaaaaa 01 00:10:00 late"}},
		"a run for another time":   {book(idA, "00:09:00", "00:10:00"), "interrupted", []string{firstFire, "01 00:15:05 aaaaaaaa 01 00:10:00 late"}},
		"another reminder's run":   {book(idB, "00:10:00", "00:10:00"), "interrupted", []string{firstFire, "01 00:15:05 aaaaaaaa 01 00:10:00 late"}},
		"a run of before, by hand": {book(idA, "00:10:00", "00:09:59"), "interrupted", []string{firstFire, "01 00:15:05 aaaaaaaa 01 00:10:00 late"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.killed(reminderText(idA, "2000-01-01T00:10:00Z", "call"), func() {})
				n.ended = test.ended
				n.start()
				n.wantFates(idA, "00:10 "+test.fate)
				n.sleep(time.Minute)
				n.want(test.fires...)
				n.wantFile("reminders/a.md", false)
				n.stop()
				n.start() // nothing of it is left
				n.sleep(time.Minute)
				n.want(test.fires...)
			})
		})
	}
}

func TestAReminderThatWasMovedAfterItsRunHadEndedFiresAtItsNewTime(t *testing.T) {
	inBubble(t, func(n *night) {
		n.killed(reminderText(idA, "2000-01-01T00:10:00Z", "call"), func() {})
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:20:00Z", "call"))
		n.ended = book(idA, "00:10:00", "00:10:00")
		n.start()
		n.sleep(10 * time.Minute)
		n.want(firstFire, "01 00:20:00 aaaaaaaa 01 00:20:00")
	})
}

func TestAChainGoesOnWithItsNextCheckAfterARunThatHadEnded(t *testing.T) {
	inBubble(t, func(n *night) {
		n.killed(reminderText(idA, "2000-01-01T00:10:00Z", "call", "until: done", "again: 30", "max-chain: 2", "allow-ping: true"), func() {})
		n.ended = book(idA, "00:10:00", "00:10:00")
		n.start()
		n.wantFile("reminders/a.md", true)
		data, err := os.ReadFile(n.dir.Path("reminders/a.md"))
		testkit.Must(t, err)
		if !strings.Contains(string(data), "chain-depth: 1") {
			t.Errorf("the next check is missing:\n%s", data)
		}
		n.sleep(31 * time.Minute)
		n.want(firstFire, "01 00:45:00 aaaaaaaa 01 00:45:00")
	})
}

func TestAReminderThatStaysAfterAFireByHandKeepsItsTimeAfterAKill(t *testing.T) {
	text := reminderText(idA, "2000-01-01T00:10:00Z", "call")
	for name, by := range map[string]func(n *night){
		"beside its schedule": func(n *night) { testkit.Must(n.t, n.loop.FireBeside(idA)) },
		"undone during the run": func(n *night) {
			testkit.Must(n.t, n.loop.FireNow(idA))
			n.sleep(time.Second)
			n.loop.Keep(idA)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.put("reminders/a.md", text)
				n.does(func(context.Context, Due) error { time.Sleep(time.Minute); return nil })
				n.start()
				by(n)
				n.sleep(30 * time.Second)
				record, err := n.dir.Read(recordFile)
				testkit.Must(t, err)
				n.sleep(time.Minute)
				n.stop()
				testkit.Must(t, n.dir.Write(recordFile, record))
				n.ended = book(idA, "00:10:00", "00:00:00")
				n.start()
				n.wantFile("reminders/a.md", true)
				n.sleep(10 * time.Minute)
				if last := n.fired[len(n.fired)-1]; last != firstFire {
					t.Errorf("fires: %q", n.fired)
				}
			})
		})
	}
}

func TestAReminderWhoseRunEndsDuringAShutdownIsUsedUp(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.does(func(ctx context.Context, _ Due) error { <-ctx.Done(); return nil })
		n.start()
		n.sleep(11 * time.Minute)
		n.stop()
		n.wantFile("reminders/a.md", false)
		n.start()
		n.sleep(time.Minute)
		n.want(firstFire)
	})
}

func TestAfterAFailureDuringAShutdownTheRecordOfRunsDecides(t *testing.T) {
	for name, ended := range map[string]func(string, time.Time, time.Time) bool{
		"it has failed": book(idA, "00:10:00", "00:10:00"), "it was interrupted": nil,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
				n.does(func(ctx context.Context, _ Due) error { <-ctx.Done(); return errors.New("no") })
				n.start()
				n.sleep(11 * time.Minute)
				n.stop()
				n.wantFile("reminders/a.md", true)
				n.ended = ended
				n.does(func(context.Context, Due) error { return nil })
				n.start()
				n.sleep(time.Minute)
				if again := len(n.fired) == 2; again != (ended == nil) {
					t.Errorf("fires: %q", n.fired)
				}
			})
		})
	}
}

func TestAReminderInTheConversationIsUsedUpBeforeItsRunIsRecorded(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.does(func(_ context.Context, d Due) error {
			n.wantFile("reminders/a.md", true)
			d.Finish()
			n.wantFile("reminders/a.md", false)
			return nil
		})
		n.start()
		n.sleep(time.Hour)
		n.want(firstFire)
		if len(n.gone) != 1 {
			t.Errorf("removed: %v", n.gone)
		}
	})
}

// The ledger has background runs only. A failed removal is recorded.
func TestAReminderWhoseFileCannotBeRemovedDoesNotFireAgain(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.start()
		n.put("state/trash", "in the way of the folder")
		n.sleep(15 * time.Minute)
		n.stop()
		n.start() // and is retried
		n.sleep(time.Minute)
		n.want(firstFire)
		n.wantFile("reminders/a.md", true)
		n.stop()
		n.remove("state/trash")
		n.start()
		n.sleep(time.Minute)
		n.want(firstFire)
		n.wantFile("reminders/a.md", false)
		n.stop()
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:20:00Z", "call"))
		n.start()
		n.sleep(10 * time.Minute)
		n.want(firstFire, "01 00:20:00 aaaaaaaa 01 00:20:00")
	})
}
