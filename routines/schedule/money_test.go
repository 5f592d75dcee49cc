package schedule

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

// purse has money for runs from a moment on.
type purse struct {
	mu    sync.Mutex
	until time.Time
	firm  int
}

func (p *purse) fill(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = until
}

func (p *purse) At(now time.Time) func(*routines.Task) Price {
	p.mu.Lock()
	defer p.mu.Unlock()
	price := Price{Dollars: 0.25}
	if now.Before(p.until) {
		price.Until = p.until
	}
	return func(*routines.Task) Price { return price }
}

func (p *purse) Reserve(t routines.Task, now time.Time, firm bool) (string, time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if firm {
		p.firm++
	} else if now.Before(p.until) {
		return "", p.until
	}
	return "ticket of " + t.ID, time.Time{}
}

func TestWithoutMoneyARoutinePassesAndAReminderWaits(t *testing.T) {
	inBubble(t, func(n *night) {
		p := &purse{until: n.at("01 06:00")}
		n.purse = p
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T00:40:00Z", "call"))
		n.put("reminders/c.md", reminderText("cccccccc", "2000-01-01T00:50:00Z", "alarm", "critical: true"))
		n.start()
		n.sleep(time.Minute)
		changed := n.changes()
		n.sleep(30 * time.Minute)
		if n.changes() == changed {
			t.Error("nobody hears that a fire was held")
		}
		n.wantTold([]string{"00:30 aaaaaaaa held"}, nil)
		n.sleep(time.Hour)
		n.want("01 00:50:00 cccccccc 01 00:50:00")
		if p.firm != 1 {
			t.Errorf("%d runs were firm", p.firm)
		}
		people := []string{
			"00:40 bbbbbbbb held for money until 06:00 held", "01:30 aaaaaaaa held", "02:30 aaaaaaaa held for money until 06:00 held", "06:30 aaaaaaaa ",
		}
		if diff := cmp.Diff(people, brief(n.loop.View(n.clock()).Entries)); diff != "" {
			t.Errorf("people (-want +got):\n%s", diff)
		}
		if f := n.loop.Forward(n.clock(), ""); len(f.Entries) > 0 && f.Entries[0].ID == idB {
			t.Errorf("agents see %+v", f.Entries)
		}
		p.fill(time.Time{})
		n.loop.MoneyChanged()
		synctest.Wait()
		if v := n.loop.View(n.clock()); len(v.Entries) == 0 || v.Entries[0].Money {
			t.Errorf("with money people see %+v", v.Entries)
		}
		n.sleep(10 * time.Second)
		n.want("01 00:50:00 cccccccc 01 00:50:00", "01 01:31:05 bbbbbbbb 01 00:40:00 late")
		n.sleep(time.Hour)
		n.wantFile("reminders/b.md", false)
		if last := n.fired[len(n.fired)-1]; last != "01 02:30:00 aaaaaaaa 01 02:30:00" {
			t.Errorf("last fired: %s", last)
		}
		n.wantNotes()
	})
}

func TestALateRunWithoutMoneyIsNotMadeUpForAfterACrash(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "30 * * * *", "water", "missed: run"))
		n.start()
		n.stop()
		time.Sleep(45 * time.Minute)
		n.purse = &purse{until: n.at("01 06:00")}
		n.start()
		n.sleep(lateDelay + 2*saveDelay)
		atCrash, err := n.dir.Read(recordFile)
		testkit.Must(t, err)
		n.stop()
		n.put(recordFile, string(atCrash))
		n.purse = nil
		n.start()
		n.sleep(10 * time.Minute)
		n.want()
	})
}

func TestAReminderThatWaitsForMoneyFiresWhenItsTimeComes(t *testing.T) {
	inBubble(t, func(n *night) {
		n.purse = &purse{until: n.at("01 06:00")}
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T00:40:00Z", "call"))
		n.start()
		n.sleep(time.Hour)
		n.loop.MoneyChanged() // there is none
		n.sleep(4 * time.Hour)
		n.want()
		n.sleep(2 * time.Hour)
		n.want("01 06:00:00 bbbbbbbb 01 00:40:00 late")
	})
}

func TestTheUsersOwnFireIsPaidInAnyCase(t *testing.T) {
	inBubble(t, func(n *night) {
		p := &purse{until: n.at("03 00:00")}
		n.purse = p
		n.put("routines/a.md", routineText(idA, "30 5 * * *", "water"))
		n.start()
		testkit.Must(t, n.loop.FireNow(idA))
		synctest.Wait()
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00")
		if p.firm != 1 || !strings.HasSuffix(n.tickets[0], idA) {
			t.Errorf("%d were firm, tickets %q", p.firm, n.tickets)
		}
	})
}

// An essential task does not wait for money: it fires, and is told that no model can be
// paid.
func TestWithoutMoneyAnEssentialTaskFiresAndKnows(t *testing.T) {
	inBubble(t, func(n *night) {
		p := &purse{until: n.at("01 06:00")}
		n.purse = p
		var broke []time.Time
		n.does(func(_ context.Context, d Due) error {
			broke = append(broke, d.Broke)
			return nil
		})
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T00:40:00Z", "pills", "essential: true"))
		n.start()
		n.sleep(time.Hour)
		n.want("01 00:40:00 bbbbbbbb 01 00:40:00")
		if len(broke) != 1 || !broke[0].Equal(p.until) || p.firm != 0 {
			t.Errorf("%v, %d firm", broke, p.firm)
		}
	})
}
