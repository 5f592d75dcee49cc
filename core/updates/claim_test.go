package updates

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/store/fulldisk"
)

func claim(t testing.TB, q *Queue, want ...string) *Claim {
	t.Helper()
	c, err := q.Claim()
	must(t, err)
	if diff := cmp.Diff(want, messages(c.Updates())); diff != "" {
		t.Errorf("claimed (-want +got)\n%s", diff)
	}
	return c
}

func TestClaimedUpdatesStayUntilTheCommit(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, "one", "two")
	c := claim(t, p.queue, "one", "two")
	p.pending(t, "one", "two")
	claim(t, p.queue).Release()
	must(t, c.Commit())
	p.pending(t)
	if got := p.content(t); got != "" {
		t.Errorf("the file says %q", got)
	}
	must(t, c.Commit())
	c.Release()
	claim(t, p.queue).Release()
}

func TestAReleasedClaimGivesItsUpdatesBack(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, "one")
	c := claim(t, p.queue, "one")
	c.Release()
	must(t, c.Commit()) // too late: nothing happens
	p.pending(t, "one")
	claim(t, p.queue, "one").Release()
}

func TestWhatIsAppendedDuringAClaimSurvivesItsCommit(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, "one")
	c := claim(t, p.queue, "one")
	must(t, p.queue.Append(morning().Add(time.Minute), "two"))
	second := claim(t, p.queue, "two")
	must(t, c.Commit())
	p.pending(t, "two")
	second.Release()
	claim(t, p.queue, "two").Release()
}

func TestTheCapDoesNotTouchWhatIsBeingDelivered(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, numbered(1, 8)...)
	c := claim(t, p.queue, numbered(1, 8)...)
	p.add(t, numbered(9, 20)...)
	must(t, c.Commit())
	p.pending(t, append([]string{"(3 earlier update(s) omitted — cap reached)"}, numbered(12, 20)...)...)
}

func TestTheNextProcessFindsWhatADeadOneHadClaimed(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, "one")
	claim(t, p.queue, "one")
	claim(t, NewQueue(p.dir, pacific, nil), "one").Release()
}

func TestADiscardDuringAClaimIsNoObstacle(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, "one", "two")
	c := claim(t, p.queue, "one", "two")
	_, err := p.queue.Discard(c.Updates()[0].Key)
	must(t, err)
	must(t, p.queue.Clear())
	must(t, p.queue.Append(morning().Add(time.Hour), "three"))
	must(t, c.Commit())
	p.pending(t, "three")
}

func TestACommitOnAFullDiskDoesNotDeliverTwice(t *testing.T) {
	if !fulldisk.Alone(t) {
		return
	}
	p := newPlace(t, "")
	p.add(t, "one")
	c := claim(t, p.queue, "one")
	must(t, p.queue.Append(morning().Add(time.Minute), "two"))
	if err := fulldisk.During(t, c.Commit); err == nil {
		t.Error("the commit could not be written, and says nothing")
	}
	c.Release()
	p.pending(t, "two")
	claim(t, p.queue, "two").Release()
	must(t, p.queue.Append(morning().Add(time.Hour), "three"))
	claim(t, NewQueue(p.dir, pacific, nil), "two", "three").Release()
}

// The queue against a model: every update is delivered once, or counted by a
// sentinel, or discarded, or still there; never two of these.
func TestUpdatesAreNeverLostAndNeverDeliveredTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlace(t, "")
		now, appended := morning(), 0
		fate := map[string]int{}
		counted := 0
		var open []*Claim
		take := func(list []Update) {
			for _, u := range list {
				if u.Dropped > 0 {
					counted += u.Dropped
				} else {
					fate[u.Message]++
				}
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "minutes")) * time.Minute)
				appended++
				if err := p.queue.Append(now, fmt.Sprintf("update %d", appended)); err != nil {
					t.Fatal(err)
				}
			},
			"claim": func(t *rapid.T) {
				c, err := p.queue.Claim()
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, c)
			},
			"end a claim": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				c := open[i]
				open = slices.Delete(open, i, i+1)
				if rapid.Bool().Draw(t, "release") {
					c.Release()
					return
				}
				if err := c.Commit(); err != nil {
					t.Fatal(err)
				}
				take(c.Updates())
			},
			"restart": func(*rapid.T) {
				p.queue = NewQueue(p.dir, pacific, nil)
				open = nil
			},
		})
		take(p.queue.Peek())
		total := counted
		for message, n := range fate {
			if n != 1 {
				rt.Fatalf("%q came %d times", message, n)
			}
			total++
		}
		if total != appended {
			rt.Fatalf("%d updates, %d accounted for (%d by sentinels)", appended, total, counted)
		}
	})
}

func TestAnUpdateLikeOneThatWasDeliveredIsNew(t *testing.T) {
	p := newPlace(t, "")
	for range 2 {
		p.add(t, "one", "two")
		must(t, claim(t, p.queue, "one", "two").Commit())
	}
	p.pending(t)
}
