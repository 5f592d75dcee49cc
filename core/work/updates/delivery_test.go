package updates

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
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
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	if text := storetest.Text(t, p.dir, deliveryFile); text != `{"session":"session","sha256":"`+sum+`","updates":[],"waiting":["a1b2c3d4"]}`+"\n" {
		t.Errorf("the record is %s", text)
	}
	for range 2 { // in the form of now, and of an earlier version
		if got, _, found, err := p.queue.Unsettled(); err != nil || !found || !cmp.Equal(got, d) {
			t.Errorf("%+v, found %v, %v", got, found, err)
		}
		storetest.Put(t, p.dir, deliveryFile, `{"session":"session","sha256":"`+sum+`","updates":[],"waiting":"a1b2c3d4"}`)
	}
	testkit.Must(t, p.queue.Settle(d, true))
	if _, _, found, err := p.queue.Unsettled(); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestWhatHasArrivedIsNotShownWhileItCannotBeSettled(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, "one")
	d := claim(t, p.queue, "one")
	p.add(t, "since")
	lock := p.dir.Path("state/." + turnName + ".lock")
	testkit.Must(t, errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)))
	for _, arrived := range []bool{false, true} {
		if err := p.queue.Settle(d, arrived); err == nil || !strings.HasPrefix(err.Error(), "settle a delivery: ") {
			t.Error(err)
		}
		if got := len(p.queue.Peek()); arrived != (got == 1) {
			t.Errorf("arrived: %v, %d are shown", arrived, got)
		}
		for _, other := range []Delivery{d, {Session: "x", Digest: d.Digest, Keys: d.Keys}, {Session: d.Session, Digest: "x", Keys: d.Keys}} {
			testkit.Must(t, p.dir.WriteJSON(deliveryFile, other))
			if _, got, found, err := p.queue.Unsettled(); err != nil || !found || got != (arrived && cmp.Equal(other, d)) {
				t.Errorf("%+v has arrived: %v, found %v, %v", other, got, found, err)
			}
		}
	}
	testkit.Must(t, errors.Join(os.Remove(lock), p.queue.Settle(d, true)))
	p.pending(t, "since")
	if _, arrived, found, err := p.queue.Unsettled(); arrived || found || err != nil {
		t.Errorf("arrived %v, found %v, %v", arrived, found, err)
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

// An update committed while another is appended is gone for good: whether the append
// reads the file before or after, it must not write the update back.
func TestWhatIsCommittedWhileOthersAppendIsNotDeliveredAgain(t *testing.T) {
	p := newPlace(t, "")
	now, twice := morning(), 0
	for i := range 100 { // 723 of 2,000 rounds failed before one lock ordered everything
		now = now.Add(time.Second)
		delivered := fmt.Sprintf("delivered %d", i)
		testkit.Must(t, p.queue.Append(now, delivered))
		d := claim(t, p.queue, delivered)
		var g errgroup.Group
		g.Go(func() error { return p.queue.Settle(d, true) })
		g.Go(func() error { return p.queue.Append(now.Add(time.Millisecond), fmt.Sprintf("appended %d", i)) })
		testkit.Must(t, g.Wait())
		for _, m := range messages(p.queue.Peek()) {
			if m == delivered {
				twice++
			}
		}
		testkit.Must(t, p.dir.Remove(file))
	}
	if twice > 0 {
		t.Errorf("%d of 100 updates would be delivered twice", twice)
	}
}

func TestTheLabelOfAnUpdateIsStoredAndReadByAnybody(t *testing.T) {
	p := newPlace(t, "")
	testkit.Must(t, p.queue.AppendFrom(morning(), "The build is red.", Source{}, "webhook build → run 4f2a91c0"))
	testkit.Must(t, p.queue.AppendFrom(morning().Add(time.Minute), "Own words.", Source{}, ""))
	want := `[{"ts": "2026-11-23T09:00:00-08:00", "message": "The build is red.", "label": "webhook build \u2192 run 4f2a91c0 \u2192 update"}, ` +
		`{"ts": "2026-11-23T09:01:00-08:00", "message": "Own words."}]` + "\n"
	if diff := cmp.Diff(want, p.content(t)); diff != "" {
		t.Errorf("the file (-want +got)\n%s", diff)
	}
	list := NewQueue(p.dir, pacific, nil).Peek()
	if len(list) != 2 || list[0].Label != "webhook build → run 4f2a91c0 → update" || list[1].Label != "" || Labels(list) != list[0].Label || Labels(list[1:]) != "" {
		t.Errorf("%+v", list)
	}
	gone, err := p.queue.Discard(list[0].Key)
	testkit.Must(t, err)
	testkit.Must(t, p.queue.Restore(gone))
	if again := p.queue.Peek(); again[0].Label != list[0].Label {
		t.Errorf("after discarding and undoing: %+v", again)
	}
}

func TestWhoLeftAnUpdateIsStored(t *testing.T) {
	p := newPlace(t, "")
	by := Source{Run: "4f2a91c0", From: "Email sweep"}
	for range 2 { // the same text twice is two updates
		testkit.Must(t, p.queue.AppendFrom(morning(), "Two mails.", by, ""))
	}
	const said = `"message": "Two mails.", "run": "4f2a91c0", "from": "Email sweep"}`
	want := `[{"ts": "2026-11-23T09:00:00-08:00", ` + said + `, {"ts": "2026-11-23T09:00:00.000001-08:00", ` + said + "]\n"
	if diff := cmp.Diff(want, p.content(t)); diff != "" {
		t.Errorf("the file (-want +got)\n%s", diff)
	}
	list := NewQueue(p.dir, pacific, nil).Peek()
	if len(list) != 2 || list[0].Source != by || list[1].Source != by {
		t.Errorf("%+v", list)
	}
	if err := p.queue.AppendFrom(morning(), " ", by, ""); err == nil || err.Error() != "an update needs readable text" {
		t.Errorf("without text: %v", err)
	}
	others := newPlace(t, `[{"ts": "2026-11-23T08:45:40-08:00", "message": "a", "run": "\u001b[2Jone", "from": "two\nlines"}]`)
	if got := others.queue.Peek()[0].Source; got != (Source{Run: "one", From: "two lines"}) {
		t.Errorf("of others: %+v", got)
	}
}

// The original ignores labels but keeps the key; people may write anything there.
func TestALabelInAnUpdateOfOthersIsCleaned(t *testing.T) {
	p := newPlace(t, `[{"ts": "2026-11-23T08:45:40-08:00", "message": "a", "label": "\u001b[2Jmail"}, {"ts": "2026-11-23T08:45:41-08:00", "message": "b", "label": 7}, {"ts": "2026-11-23T08:45:42-08:00", "message": "c", "label": ""}]`)
	list := p.queue.Peek()
	if len(list) != 3 || list[0].Label != "mail" || list[1].Label != "7" || list[2].Label != "" {
		t.Errorf("%+v", list)
	}
}

// A file of an earlier version, which had no limit.
func TestTenThousandUpdatesAreReadInLittleMemoryAndOnesThatCameSinceStay(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		ts := morning().Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		fmt.Fprintf(&b, `, {"ts": %q, "message": "Inbox: %d new mails. %s"}`, ts, i, strings.Repeat("Nothing urgent. ", 6))
	}
	p := newPlace(t, "["+b.String()[2:]+"]\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list := p.queue.Peek()
	runtime.ReadMemStats(&after)
	if got, limit := after.TotalAlloc-before.TotalAlloc, 10*uint64(b.Len()); got > limit { // the race detector adds a little
		t.Errorf("reading %d bytes allocated %d, more than %d", b.Len(), got, limit)
	}
	if len(list) != 10_000 || list[9999].Message[:21] != "Inbox: 9999 new mails" {
		t.Fatalf("%d updates, the last one %v", len(list), list[len(list)-1:])
	}
	d, err := p.queue.Claim(func(list []Update) Delivery { return NewDelivery("s", fmt.Sprint(len(list)), nil) })
	testkit.Must(t, err)
	testkit.Must(t, p.queue.Append(morning(), "One more."))
	testkit.Must(t, p.queue.Settle(d, true))
	p.pending(t, "One more.")
}
