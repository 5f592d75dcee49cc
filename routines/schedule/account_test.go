package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/routines/account"
)

// fateWords returns the final rows of a task as "15:04 fate why".
func (r *room) fateWords(id string, now time.Time) (list []string) {
	r.t.Helper()
	past, err := account.New(r.dir).Read(now)
	testkit.Must(r.t, err)
	for _, row := range past.Rows {
		if row.ID == id {
			words := strings.TrimSpace(fmt.Sprintf("%s %s %s", row.Due.UTC().Format("15:04"), row.Fate, row.Why))
			if row.Late {
				words += " late"
			}
			list = append(list, words)
		}
	}
	return list
}

func (n *night) wantFates(id string, fates ...string) {
	n.t.Helper()
	if got := n.fateWords(id, n.clock()); strings.Join(got, "\n") != strings.Join(fates, "\n") {
		n.t.Errorf("the account is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(fates, "\n"))
	}
}

func TestEveryDueTimeHasARow(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water"))
		n.start()
		n.sleep(90 * time.Minute) // 0:00 and 1:00 run
		n.does(func(context.Context, Due) error { return errors.New("no route") })
		n.sleep(time.Hour) // 2:00 fails
		n.does(func(context.Context, Due) error { time.Sleep(75 * time.Minute); return nil })
		n.sleep(90 * time.Minute) // 3:00 runs until 4:15, 4:00 is skipped
		n.sleep(30 * time.Minute)
		n.does(func(context.Context, Due) error { return nil })
		_, err := n.loop.Hold(idA, Hold{Paused: true})
		testkit.Must(t, err)
		n.sleep(time.Hour) // 5:00 is held
		n.wantFates(idA, "00:00 done", "01:00 done", "02:00 failed no route", "03:00 done", "04:00 skipped", "05:00 held paused")
		_, err = n.loop.Hold(idA, Hold{})
		testkit.Must(t, err)
		n.sleep(5 * time.Minute)
		n.jump(3 * time.Hour) // 6:00, 7:00 and 8:00 pass while the machine sleeps
		n.sleep(time.Minute)
		n.stop()
		n.sleep(2 * time.Hour) // 9:00 and 10:00 pass while the bot is off
		n.start()
		n.sleep(time.Minute)
		n.wantFates(idA, "00:00 done", "01:00 done", "02:00 failed no route", "03:00 done", "04:00 skipped", "05:00 held paused",
			"06:00 missed the machine slept", "07:00 missed the machine slept", "08:00 missed the machine slept",
			"09:00 missed the bot was off", "10:00 missed the bot was off")
	})
}

// A hold explains only what was due after it began.
func TestWhatWasDueBeforeAHoldWasMissed(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water"))
		n.start()
		n.sleep(time.Minute)
		n.jump(2 * time.Hour) // the user pauses it as soon as the machine wakes
		_, err := n.loop.Hold(idA, Hold{Paused: true})
		testkit.Must(t, err)
		n.sleep(time.Hour)
		n.wantFates(idA, "00:00 done", "01:00 missed the machine slept", "02:00 missed the machine slept", "03:00 held paused")
	})
}

func TestAReminderThatRunsLateAndOneThatIsPutOffHaveRows(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T01:00:00Z", "call"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T04:00:00Z", "call"))
		n.sleep(3 * time.Hour)
		n.start()
		n.sleep(time.Minute)
		n.does(func(context.Context, Due) error { return &PutOffError{Why: "quiet", Until: n.clock().Add(time.Hour)} })
		n.sleep(2 * time.Hour)
		n.wantFates(idA, "01:00 done late")
		n.wantFates(idB, "04:00 held quiet")
		if strings.Contains(n.log.String(), "task failed") {
			t.Errorf("a reminder that is put off is logged as failed: %s", n.log.String())
		}
	})
}

// A due time whose check found nothing ran, which is not the same as a row that is lost.
func TestADueTimeWithoutAModelSaysSo(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water", "check: ./look.sh", "say: check"))
		n.start()
		n.sleep(30 * time.Minute)
		for _, err := range []error{routines.ErrNothingNew, routines.ErrNothingSaid, errors.New("exit 2")} {
			n.does(func(context.Context, Due) error { return err })
			n.sleep(time.Hour)
		}
		n.wantFates(idA, "00:00 done no model", "01:00 done the check found nothing new",
			"02:00 done the check printed nothing, so nothing was sent", "03:00 failed exit 2")
		past, err := account.New(n.dir).Read(n.clock())
		if testkit.Must(t, err); past.Damaged != 0 {
			t.Errorf("%d rows count as damaged", past.Damaged)
		}
	})
}

func TestATaskFiredByHandHasNoRow(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water"))
		n.start()
		n.sleep(time.Minute)
		testkit.Must(t, n.loop.FireNow(idA))
		n.sleep(time.Minute)
		n.wantFates(idA)
	})
}

// A gap in the account is filled at the next start, as far as the record allows.
func TestAHoleInTheAccountIsSaidToBeOne(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water"))
		n.start()
		n.sleep(3*time.Hour + time.Minute)
		n.stop()
		data, err := n.dir.Read(account.File)
		testkit.Must(t, err)
		var left []string
		for line := range strings.Lines(string(data)) {
			if !strings.Contains(line, "T01:00") && !strings.Contains(line, "T03:00:00Z\",\"at") {
				left = append(left, line)
			}
		}
		testkit.Must(t, n.dir.Write(account.File, []byte(strings.Join(left, ""))))
		n.start()
		n.wantFates(idA, "00:00 done", "01:00 unrecorded", "02:00 done", "03:00 done")
	})
}

// crashing is a schedule that a test steps by hand, with its own clock.
type crashing struct {
	*room
	t    *rapid.T
	now  time.Time
	seen time.Time // the latest moment of a step
	loop *Schedule
	l    *loop
	fail bool
}

func (c *crashing) begin() {
	index := routines.NewIndex(c.dir, time.UTC)
	c.loop = made(Options{Dir: c.dir, Index: index, Fire: func(context.Context, Due) error {
		if c.fail {
			return errors.New("no route")
		}
		return nil
	}})
	c.loop.now = func() time.Time { return c.now }
	index.Scan()
	c.loop.orders.setOpen(true)
	c.l = c.loop.newLoop()
	c.l.begin(c.now)
}

// step runs a step of the loop and ends all runs it started.
func (c *crashing) step() {
	c.l.step(context.Background(), c.now)
	if c.now.After(c.seen) {
		c.seen = c.now
	}
	_ = c.l.fires.Wait()
}

// crash runs a step that ends at any point after its record was written: a part of its
// new account rows remains.
func (c *crashing) crash() {
	before, _ := os.Stat(c.dir.Path(account.File))
	c.step()
	after, _ := os.Stat(c.dir.Path(account.File))
	if after == nil {
		return
	}
	from := int64(0)
	if before != nil {
		from = before.Size()
	}
	if from < after.Size() {
		left := rapid.Int64Range(from, after.Size()).Draw(c.t, "left")
		testkit.Must(c.room.t, os.Truncate(c.dir.Path(account.File), left))
	}
}

// Whatever happens, each due time of the cron expression has one row that counts, and no
// other moment has one.
func TestEveryDueTimeHasOneRowWhateverHappens(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		c := &crashing{room: newRoom(t), t: rt, now: time.Date(2026, 3, 28, 6, 0, 30, 0, time.UTC)}
		catchUp := []string{"missed: run"}
		c.put("routines/a.md", routineText(idA, "*/20 * * * *", "water", catchUp[:rapid.IntRange(0, 1).Draw(rt, "missed: run")]...))
		c.put("routines/b.md", routineText(idB, "5 * * * *", "look"))
		c.begin()
		began, on := c.now, true
		walk := func(d time.Duration) {
			for end := c.now.Add(d); c.now.Before(end); {
				c.now = c.now.Add(40 * time.Second)
				if on {
					c.step()
				}
			}
		}
		walk(21 * time.Minute) // the account is open
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 7).Draw(rt, "what") {
			case 0, 1:
				walk(time.Duration(rapid.IntRange(1, 25).Draw(rt, "awake")) * time.Minute)
			case 2: // the machine sleeps
				c.now = c.now.Add(time.Duration(rapid.IntRange(1, 3000).Draw(rt, "asleep")) * time.Minute)
			case 3: // the clock is set back
				c.now = c.now.Add(-time.Duration(rapid.IntRange(1, 600).Draw(rt, "back")) * time.Minute)
				if on {
					c.step()
				}
			case 4: // a crash, and a while without the bot
				if on {
					c.crash()
				}
				c.now = c.now.Add(time.Duration(rapid.IntRange(0, 300).Draw(rt, "off")) * time.Minute)
				c.begin()
				c.step()
				on = true
			case 5:
				c.fail = !c.fail
			case 6, 7:
				if !on {
					continue
				}
				id := rapid.SampledFrom([]string{idA, idB}).Draw(rt, "id")
				h := rapid.SampledFrom([]Hold{{}, {Paused: true}, {Until: c.now.Add(100 * time.Minute)}}).Draw(rt, "hold")
				_, err := c.loop.Hold(id, h)
				testkit.Must(t, err)
				c.step()
			}
		}
		c.begin()
		walk(2 * time.Minute)
		c.check(rt, began)
	})
}

// check compares the account with the due times of the cron expressions.
func (c *crashing) check(rt *rapid.T, began time.Time) {
	past, err := account.New(c.dir).Read(c.seen)
	testkit.Must(c.room.t, err)
	rows := map[string]map[int64]int{}
	for _, row := range past.Rows {
		if rows[row.ID] == nil {
			rows[row.ID] = map[int64]int{}
		}
		rows[row.ID][row.Due.Unix()]++
	}
	for _, r := range c.loop.Set().Routines {
		for at := r.Schedule.Next(began); !at.After(c.seen.Add(-2 * time.Minute)); at = r.Schedule.Next(at.Add(time.Second)) {
			if rows[r.ID][at.Unix()] != 1 {
				rt.Errorf("%s has %d rows at %s", r.ID, rows[r.ID][at.Unix()], at)
			}
			delete(rows[r.ID], at.Unix())
		}
		for at := range rows[r.ID] {
			if due := time.Unix(at, 0).UTC(); !r.Schedule.Next(due).Equal(due) {
				rt.Errorf("%s has a row at %s, when it was not due", r.ID, due)
			}
		}
	}
}
