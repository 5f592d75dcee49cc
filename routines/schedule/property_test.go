package schedule

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/account"
)

// However a routine is held, resumed, restarted and suspended, it fires at exactly the
// times of its schedule that no hold covers, and nothing is missed.
func TestARoutineFiresWhereverNoHoldIs(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 8).Draw(rt, "steps")
		waits := rapid.SliceOfN(rapid.IntRange(1, 50), len(steps), len(steps)).Draw(rt, "minutes")
		inBubble(t, func(n *night) {
			n.play("a */10 * * * *; missed: run", "start, sleep 30s")
			want := []string{"00:00 a"}
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
					testkit.Must(t, n.hold(idA, hold))
				}
				from := n.clock()
				n.sleep(time.Duration(waits[i]) * time.Minute)
				for at := from.Truncate(10 * time.Minute).Add(10 * time.Minute); !at.After(n.clock()); at = at.Add(10 * time.Minute) {
					if hold.Ended(at) {
						want = append(want, hour(at)+" a")
					}
				}
			}
			if n.want(strings.Join(want, ", ")); len(n.notes) > 0 {
				t.Errorf("notes %q", n.notes)
			}
		})
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
	c.loop = made(c.dir, func(o *Options) {
		o.Fire = func(context.Context, Due) error {
			if c.fail {
				return errors.New("no route")
			}
			return nil
		}
	})
	c.loop.now = func() time.Time { return c.now }
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
		c.task("a */20 * * * *" + []string{"; missed: run", ""}[rapid.IntRange(0, 1).Draw(rt, "missed: skip")])
		c.task("b 5 * * * *")
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
