package updates

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// claim starts a delivery, which must contain these messages.
func claim(t testing.TB, q *Queue, want ...string) Delivery {
	t.Helper()
	var got []Update
	d, err := q.Claim(func(list []Update) Delivery {
		got = list
		return NewDelivery("session", strings.Join(messages(list), "\n"), nil)
	})
	testkit.Must(t, err)
	if diff := cmp.Diff(want, messages(got)); diff != "" {
		t.Errorf("claimed (-want +got)\n%s", diff)
	}
	return d
}

func TestAUsersMessageAloneIsADelivery(t *testing.T) {
	p := newPlace(t, "")
	d, err := p.queue.Claim(func([]Update) Delivery { return NewDelivery("session", "hello", []string{"a1b2c3d4"}) })
	testkit.Must(t, err)
	if got, _, found, err := p.queue.Unsettled(); err != nil || !found || !cmp.Equal(got, d) {
		t.Errorf("%+v, found %v, %v", got, found, err)
	}
	testkit.Must(t, p.queue.Settle(d, true))
	if _, _, found, err := p.queue.Unsettled(); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

// A message being delivered cannot be taken back: undoing that would deliver it again.
func TestWhatIsBeingDeliveredCannotBeDiscarded(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, "one", "two")
	d := claim(t, p.queue, "one", "two")
	if _, err := p.queue.Discard(d.Keys[0]); !errors.Is(err, ErrGone) {
		t.Errorf("discarded: %v", err)
	}
	testkit.Must(t, p.dir.Remove(file))
	testkit.Must(t, p.queue.Append(morning().Add(time.Hour), "three"))
	testkit.Must(t, p.queue.Settle(d, true))
	p.pending(t, "three")
}

func TestEqualUpdatesOfTheOriginalLeaveTogether(t *testing.T) {
	one := `{"ts": "2026-11-23T08:45:40-08:00", "message": "same"}`
	p := newPlace(t, "["+one+", "+one+", "+one+"]")
	if p.discard(t, 1); len(p.queue.Peek()) != 2 {
		t.Errorf("discarding one leaves %+v", p.queue.Peek())
	}
	p = newPlace(t, "["+one+", "+one+", "+one+"]")
	testkit.Must(t, p.queue.Settle(claim(t, p.queue, "same", "same", "same"), true))
	p.pending(t)
}

func TestAnUnreadableRecordIsKeptAsideAndItsUpdatesStay(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, "one")
	testkit.Must(t, p.dir.Write(deliveryFile, []byte("{")))
	if _, _, found, err := p.queue.Unsettled(); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if !strings.Contains(p.logged.String(), "state file was set aside") {
		t.Errorf("the log says %q", p.logged)
	}
	testkit.Must(t, p.queue.Settle(claim(t, p.queue, "one"), true))
}

func TestADeliveryThatCannotBeSettledIsNotRepeated(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	p := newPlace(t, "")
	p.add(t, "one")
	d := claim(t, p.queue, "one")
	testkit.Must(t, p.queue.Append(morning().Add(time.Minute), "two"))
	if err := storetest.FullDisk(t, func() error { return p.queue.Settle(d, true) }); err == nil {
		t.Error("it could not be written, and says nothing")
	}
	p.pending(t, "two")
	if _, arrived, found, err := p.queue.Unsettled(); !arrived || !found || err != nil {
		t.Errorf("arrived %v, found %v, %v", arrived, found, err)
	}
	testkit.Must(t, p.queue.Append(morning().Add(time.Hour), "three"))
	p.pending(t, "two", "three")
	testkit.Must(t, p.queue.Settle(d, true))
	claim(t, NewQueue(p.dir, pacific, nil), "two", "three")
}

// The queue compared with a model: every update is delivered once, counted by a sentinel,
// discarded, or still pending, and never two of these.
func TestUpdatesAreNeverLostAndNeverDeliveredTwice(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		p := newPlace(t, "")
		now, appended := morning(), 0
		fate := map[string]int{}
		counted := 0
		var open Delivery
		var carried []Update
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
			"discard and undo": func(t *rapid.T) {
				list := p.queue.Peek()
				if len(list) == 0 {
					return
				}
				u := rapid.SampledFrom(list).Draw(t, "which")
				gone, err := p.queue.Discard(u.Key)
				if slices.Contains(open.Keys, u.Key) != errors.Is(err, ErrGone) {
					t.Fatalf("discarded %+v: %v", u, err)
				}
				if err == nil {
					err = p.queue.Restore(gone)
					if err != nil || !cmp.Equal(list, p.queue.Peek()) {
						t.Fatalf("restored %+v: %v", u, err)
					}
				}
			},
			"claim": func(t *rapid.T) {
				d, err := p.queue.Claim(func(list []Update) Delivery {
					carried = list
					return NewDelivery("session", fmt.Sprint(list), nil)
				})
				if errors.Is(err, ErrUnsettled) != !open.empty() && len(p.queue.Peek()) > 0 {
					t.Fatal(err)
				}
				if err == nil && !d.empty() {
					open = d
				}
			},
			"settle": func(t *rapid.T) {
				arrived := rapid.Bool().Draw(t, "arrived")
				if err := p.queue.Settle(open, arrived); err != nil {
					t.Fatal(err)
				}
				if arrived && !open.empty() {
					take(carried)
				}
				open = Delivery{}
			},
			"restart": func(t *rapid.T) {
				p.queue = NewQueue(p.dir, pacific, nil)
				d, _, _, err := p.queue.Unsettled()
				if err != nil || !cmp.Equal(d, open) {
					t.Fatalf("found %+v, want %+v: %v", d, open, err)
				}
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
		testkit.Must(t, p.queue.Settle(claim(t, p.queue, "one", "two"), true))
	}
	p.pending(t)
}
