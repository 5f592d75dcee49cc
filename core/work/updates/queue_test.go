package updates

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

var pacific = time.FixedZone("PST", -8*3600)

func morning() time.Time { return time.Date(2026, 11, 23, 9, 0, 0, 0, pacific) }

type place struct {
	dir    *store.Dir
	queue  *Queue
	logged *bytes.Buffer
}

func newPlace(t testing.TB, content string) *place {
	t.Helper()
	d := storetest.Dir(t)
	if content != "" {
		testkit.Must(t, d.Write(file, []byte(content)))
	}
	logged := &bytes.Buffer{}
	return &place{d, NewQueue(d, pacific, slog.New(slog.NewTextHandler(logged, nil))), logged}
}

func (p *place) content(t testing.TB) string {
	t.Helper()
	return storetest.Text(t, p.dir, file)
}

// add appends one message per minute, starting in the morning.
func (p *place) add(t testing.TB, messages ...string) {
	t.Helper()
	for i, m := range messages {
		testkit.Must(t, p.queue.Append(morning().Add(time.Duration(i)*time.Minute), m))
	}
}

func messages(list []Update) []string {
	var out []string
	for _, u := range list {
		out = append(out, u.Message)
	}
	return out
}

func (p *place) pending(t testing.TB, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, messages(p.queue.Peek())); diff != "" {
		t.Errorf("pending (-want +got)\n%s", diff)
	}
}

func numbered(from, to int) []string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("update %d", i))
	}
	return out
}

// plays runs the steps of a story on the queue and returns what is pending at its end: update 7 is 7, and (3) the
// sentinel for three.
func (p *place) plays(t *testing.T, steps string) string {
	t.Helper()
	var d Delivery
	var gone []*Discarded
	at := morning()
	for step := range strings.SplitSeq(steps, ", ") {
		words := strings.Fields(step)
		switch words[0] {
		case "add": // 1 to 3, or words
			list := words[1:]
			if from, to := 0, 0; len(list) == 3 && list[1] == "to" {
				_, err := fmt.Sscan(list[0]+" "+list[2], &from, &to)
				testkit.Must(t, err)
				list = numbered(from, to)
			}
			for _, m := range list {
				at = at.Add(time.Minute)
				testkit.Must(t, p.queue.Append(at, m))
			}
		case "claim":
			all := messages(p.queue.Peek())
			d = claim(t, p.queue, all...)
		case "unsettled": // it cannot be claimed
			if _, err := p.queue.Claim(func([]Update) Delivery { return Delivery{} }); !errors.Is(err, ErrUnsettled) {
				t.Errorf("a second delivery beside the first: %v", err)
			}
			found, arrived, there, err := p.queue.Unsettled()
			if err != nil || !there || arrived || !cmp.Equal(found, d) {
				t.Errorf("%+v, arrived %v, found %v, %v", found, arrived, there, err)
			}
		case "arrived", "lost":
			testkit.Must(t, p.queue.Settle(d, words[0] == "arrived"))
		case "restart":
			p.queue = NewQueue(p.dir, pacific, nil)
		case "discard":
			n, err := strconv.Atoi(words[1])
			testkit.Must(t, err)
			gone = append(gone, p.discard(t, n))
			if _, err := p.queue.Discard(gone[len(gone)-1].Key); !errors.Is(err, ErrGone) {
				t.Errorf("discarded twice: %v", err)
			}
		case "undo":
			for range 2 { // the second has no effect
				testkit.Must(t, p.queue.Restore(gone[len(gone)-1]))
			}
			gone = gone[:len(gone)-1]
		default:
			t.Fatalf("no step %q", step)
		}
	}
	text := strings.Join(messages(p.queue.Peek()), " ")
	return strings.NewReplacer("update ", "", " earlier update(s) omitted — cap reached", "").Replace(text)
}

func TestEachUpdateIsDeliveredOnceAndNoneIsLost(t *testing.T) {
	for _, c := range []struct{ name, steps, pending string }{
		{"they gather in order", "add one two, add three", "one two three"},
		{"what is claimed stays pending", "add one two, claim", "one two"},
		{"for a single delivery", "add one, claim, unsettled", "one"},
		{"until it has arrived", "add one two, claim, arrived, arrived", ""},
		{"what was lost stays", "add one, claim, lost", "one"},
		{"and leaves with the next delivery", "add one, claim, lost, claim, arrived", ""},
		{"what came since stays", "add one, claim, add two, arrived", "two"},
		{"and leaves with the next delivery, too", "add one, claim, add two, arrived, claim, arrived", ""},
		{"the next process knows what is claimed", "add one, claim, restart, unsettled, lost, claim, arrived", ""},
		{"the cap does not touch what is claimed", "add 1 to 8, claim, restart, add 9 to 20, arrived", "(3) 12 13 14 15 16 17 18 19 20"},
		{"even if it is lost", "add 1 to 3, claim, add 4 to 16, lost", "1 2 3 (4) 8 9 10 11 12 13 14 15 16"},
		{"what is discarded comes to its place again", "add 1 to 3, discard 1, discard 0, undo, undo", "1 2 3"},
		{"a sentinel to the front", "add 1 to 12, discard 0, undo", "(3) 4 5 6 7 8 9 10 11 12"},
		{"like the one before is new", "add one two, claim, arrived, add one two, claim, arrived", ""},
		{"undo drops nothing", "add 1 to 10, discard 4, add new, undo", "1 2 3 4 5 6 7 8 9 10 new"},
		{"the next update does", "add 1 to 10, discard 4, add new, undo, add next", "(3) 4 5 6 7 8 9 10 new next"},
		{"what is restored among others is behind the sentinel", "add old, discard 0, add 1 to 11, undo", "(2) old 3 4 5 6 7 8 9 10 11"},
	} {
		p := newPlace(t, "")
		if got := p.plays(t, c.steps); got != c.pending {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.pending)
		}
		if c.pending == "" && p.content(t) != "" {
			t.Errorf("%s: the file says %s", c.name, p.content(t))
		}
	}
}

func TestWhatCannotBeReadIsNeitherDeliveredNorWrittenOver(t *testing.T) {
	for _, name := range []string{file, deliveryFile} {
		p := newPlace(t, "")
		d := NewDelivery("session", "hello", []string{"a1b2c3d4"})
		d.Keys = []string{"a"}
		loop := filepath.Join(t.TempDir(), "loop")
		testkit.Must(t, errors.Join(os.Symlink(loop, loop), os.MkdirAll(p.dir.Path("state"), 0o700), os.Symlink(loop, p.dir.Path(name)))) // also for root
		for _, c := range []struct {
			what string // the beginning of the error
			at   string // the only file that has to be read; empty means both
			do   func() error
		}{
			{"keep an update: ", "", func() error { return p.queue.Append(morning(), "one") }},
			{"keep an update: ", "", func() error {
				return p.queue.AppendOnce(morning(), "one", Source{}, "", func() { t.Errorf("%s is unreadable, and the update is said to be kept", name) })
			}},
			{"replace an update: ", "", func() error { return p.queue.Replace(morning(), "x", func(bool) string { return "one" }) }},
			{"discard an update: ", "", func() error { _, err := p.queue.Discard("a"); return err }},
			{"restore an update: ", "", func() error { return p.queue.Restore(&Discarded{}) }},
			{"claim the pending updates: ", "", func() error { _, err := p.queue.Claim(func([]Update) Delivery { return d }); return err }},
			{"settle a delivery: ", file, func() error { return p.queue.Settle(d, true) }},
			{"", deliveryFile, func() error { _, _, _, err := p.queue.Unsettled(); return err }},
		} {
			if c.at != "" && c.at != name {
				continue
			}
			if err := c.do(); err == nil || !strings.HasPrefix(err.Error(), c.what) || errors.Is(err, ErrUnsettled) && name == file {
				t.Errorf("%swith an unreadable %s: %v", c.what, name, err)
			}
		}
	}
}

func TestTheOriginalsFileKeepsItsBytes(t *testing.T) {
	data, err := os.ReadFile("testdata/pending_updates.json")
	testkit.Must(t, err)
	p := newPlace(t, string(data))
	list := p.queue.Peek()
	want := []Update{ // a delivery under way when the program is replaced has these keys
		{At: time.Date(2026, 11, 23, 8, 2, 11, 120_000_000, pacific), Message: "Medication: pinged at 8:00, no answer yet.", Key: "fca5bd0815c86a8e"},
		{At: time.Date(2026, 11, 23, 8, 45, 40, 0, pacific), Message: "Email triage: 2 items need an answer today (landlord, Dana).", Key: "b04710691f14e8f7"},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	testkit.Must(t, p.queue.Append(morning(), "third"))
	_, err = p.queue.Discard(p.queue.Peek()[2].Key)
	testkit.Must(t, err)
	if diff := cmp.Diff(string(data), p.content(t)); diff != "" {
		t.Errorf("rewritten (-file +written)\n%s", diff)
	}
}

func TestKeysOfOthersAreKept(t *testing.T) {
	p := newPlace(t, `[{"ts": "2026-11-23T08:45:40-08:00", "message": "caf\u00e9 \ud83c\udf75", "source": {"run": 7}, "a": null}]`)
	p.add(t, "mine")
	want := `[{"ts": "2026-11-23T08:45:40-08:00", "message": "caf\u00e9 \ud83c\udf75", "a": null, "source": {"run": 7}}, ` +
		`{"ts": "2026-11-23T09:00:00-08:00", "message": "mine"}]` + "\n"
	if diff := cmp.Diff(want, p.content(t)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	p.pending(t, "café 🍵", "mine")
}

func TestOddElementsAreShownRatherThanLost(t *testing.T) {
	p := newPlace(t, `["just text", {"message": 5, "ts": 7}, {"ts": "2026-11-23T08:00:00-08:00", "message": ""}, 3, null]`)
	p.pending(t, "just text", "5", "3")
	timed := newPlace(t, `[{"ts": "2026-11-23T08:00:00-08:00", "message": "one"}, "two"]`)
	if list := timed.queue.Peek(); !list[1].At.Equal(list[0].At) {
		t.Errorf("what has no time is of %v, after %v", list[1].At, list[0].At)
	}
	p.add(t, "mine")
	p.pending(t, "just text", "5", "3", "mine")
}

func TestMessagesAreCleanedAndCut(t *testing.T) {
	p := newPlace(t, "")
	p.add(t, "\n  red \x1b[31malert\x1b[0m\u202e\r\nsecond line\n\n", strings.Repeat("é", maxMessage+1))
	list := p.queue.Peek()
	if got, want := list[0].Message, "red alert\nsecond line"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := list[1].Message, strings.Repeat("é", maxMessage-1)+"…"; got != want {
		t.Errorf("a long message has %d runes and ends %q", len([]rune(got)), got[len(got)-8:])
	}
	for _, nothing := range []string{"", " \n ", "\x1b[31m\u200b"} {
		if err := p.queue.Append(morning(), nothing); err == nil {
			t.Errorf("%q was taken", nothing)
		}
	}
}

func TestASentinelOfTheOriginalIsCountedOn(t *testing.T) {
	p := newPlace(t, `[{"ts": "2026-11-23T08:00:00-08:00", "message": "(4 earlier update(s) omitted — cap reached)"}]`)
	if got := p.queue.Peek()[0].Dropped; got != 4 {
		t.Fatalf("it counts %d, want 4", got)
	}
	sentinel := func(n string) string { return `"message": "(` + n + ` earlier update(s) omitted — cap reached)"` }
	for text, want := range map[string]int{
		`"message": "one", "dropped": 1`: 1, `"message": "one", "dropped": 0`: 0, `"message": "one", "dropped": -2`: 0, `"message": "one", "dropped": "3"`: 0,
		`"message": "one", "dropped": 99999999999999999999`: 0, `"message": "one", "a": 1`: 0, sentinel("1"): 1, sentinel("0"): 0, sentinel("x"): 0,
		`"message": "(4 earlier updates"`: 0, `"message": "4 earlier update(s) omitted — cap reached)"`: 0, sentinel("2") + `, "dropped": 3`: 3,
	} {
		own := newPlace(t, `[{"ts": "2026-11-23T08:00:00-08:00", `+text+`}]`)
		if got := own.queue.Peek()[0].Dropped; got != want {
			t.Errorf("%s: it counts %d", text, got)
		}
	}
	p.add(t, numbered(1, 10)...)
	p.pending(t, append([]string{"(5 earlier update(s) omitted — cap reached)"}, numbered(2, 10)...)...)
	if !strings.HasPrefix(p.content(t), `[{"ts": "2026-11-23T09:09:00-08:00", "message": "(5 earlier update(s) omitted \u2014 cap reached)", "dropped": 5}, `) {
		t.Errorf("the file begins %.160s", p.content(t))
	}
}

func (p *place) discard(t testing.TB, i int) *Discarded {
	t.Helper()
	gone, err := p.queue.Discard(p.queue.Peek()[i].Key)
	testkit.Must(t, err)
	return gone
}

// Undo restores the file's original bytes: its time format, unknown keys, equal entries,
// an order other than by time, and more entries than the limit.
func TestUndoPutsBackTheBytesThatWereThere(t *testing.T) {
	same := `{"ts": "2026-11-23T08:45:40+00:00", "message": "same"}`
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprintf(`{"ts": "2026-11-23T08:%02d:00-08:00", "message": "update %d", "a": %d}`, 59-i%60, i, i))
	}
	for _, list := range [][]string{
		{same},
		{same, same, same},
		{same, `{"ts": "2026-11-23T08:02:11-08:00", "message": "(4 earlier update(s) omitted \u2014 cap reached)", "dropped": 4}`},
		{`{"ts": "2026-11-24T08:45:40-08:00", "message": "later", "source": {"run": 7}}`, same, `{"ts": "2026-11-23T08:02:11.120000-08:00", "message": "(4 earlier update(s) omitted \u2014 cap reached)", "dropped": 4}`},
		many,
	} {
		content := "[" + strings.Join(list, ", ") + "]\n"
		p := newPlace(t, content)
		for i := 0; i < len(list); i += 1 + len(list)/10 {
			testkit.Must(t, p.queue.Restore(p.discard(t, i)))
			if diff := cmp.Diff(content, p.content(t)); diff != "" {
				t.Fatalf("after number %d of %d (-before +after)\n%s", i, len(list), diff)
			}
		}
		var gone []*Discarded
		for range min(len(list), 20) {
			gone = append(gone, p.discard(t, len(gone)%2*(len(p.queue.Peek())-1)))
		}
		for _, d := range slices.Backward(gone) {
			testkit.Must(t, p.queue.Restore(d))
		}
		if diff := cmp.Diff(content, p.content(t)); diff != "" {
			t.Fatalf("after undoing one after the other (-before +after)\n%s", diff)
		}
	}
}

func TestEqualUpdatesHaveKeysOfTheirOwn(t *testing.T) {
	p := newPlace(t, "")
	for range 2 {
		testkit.Must(t, p.queue.Append(morning(), "same"))
	}
	list := p.queue.Peek()
	if list[0].Key == list[1].Key || list[1].At.Sub(list[0].At) != time.Microsecond {
		t.Fatalf("they are %+v", list)
	}
	_, err := p.queue.Discard(list[1].Key)
	testkit.Must(t, err)
	p.pending(t, "same")
}

func TestACorruptFileIsKeptAsideAndReported(t *testing.T) {
	p := newPlace(t, `{"not": "a list"}`)
	for range 3 {
		p.pending(t)
	}
	NewQueue(p.dir, pacific, nil).Peek() // without a log
	if n := strings.Count(p.logged.String(), "level=WARN"); n != 1 {
		t.Errorf("reading reported it %d times:\n%s", n, p.logged)
	}
	p.add(t, "one")
	p.pending(t, "one")
	kept, err := filepath.Glob(p.dir.Path(file) + ".corrupt-*")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept aside: %q, %v", kept, err)
	}
	if data, err := os.ReadFile(kept[0]); err != nil || string(data) != `{"not": "a list"}` {
		t.Errorf("kept aside: %q, %v", data, err)
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	p := newPlace(t, "")
	other := NewQueue(p.dir, pacific, nil)
	var g errgroup.Group
	for i := range 10 {
		q := p.queue
		if i%2 == 1 {
			q = other
		}
		g.Go(func() error { return q.Append(morning(), fmt.Sprintf("from %d", i)) })
	}
	testkit.Must(t, g.Wait())
	seen := map[string]bool{}
	for _, m := range messages(p.queue.Peek()) {
		seen[m] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d of 10 updates are there: %v", len(seen), seen)
	}
}

func TestWhatARunReportsAgainAfterACrashIsKeptOnceAndNotClaimedBeforeItKnows(t *testing.T) {
	p := newPlace(t, "")
	for range 2 {
		known := false
		err := p.queue.AppendOnce(morning(), " the webhook\twas held ", Source{Run: "4f2a91c0"}, "webhook build", func() {
			free, err := flock.New(p.dir.Path("state/." + turnName + ".lock")).TryLock()
			known = len(p.queue.Peek()) == 1 && !free && err == nil
		})
		if err != nil || !known {
			t.Errorf("known in time: %v, %v", known, err)
		}
	}
	if list := p.queue.Peek(); len(list) != 1 || list[0].Label != "webhook build → update" || list[0].Source != (Source{Run: "4f2a91c0"}) {
		t.Errorf("%+v", list)
	}
}

func TestAnUpdateAboutAMatterIsReplacedUntilItIsRead(t *testing.T) {
	for _, before := range [][]string{nil, {"before"}} {
		p := newPlace(t, "")
		p.add(t, before...)
		now := morning()
		for n, step := range []struct {
			fresh, all string // what is said if the last one was read, and if it was not
			want       []string
			since      int // the step from which the last one is
		}{
			{"", "", nil, 0},
			{"a is broken", "no", []string{"a is broken"}, 1},
			{"no", "a is broken", []string{"a is broken"}, 1},
			{"no", "a and b are broken", []string{"a and b are broken"}, 3},
			{"no", "b is broken", []string{"b is broken"}, 4},
			{"no", "", nil, 0},
			{"a is broken", "no", []string{"a is broken"}, 6},
			// An update being delivered counts as read.
			{"", "no", []string{"a is broken"}, 6},
			{"c is broken", "no", []string{"a is broken", "c is broken"}, 8},
		} {
			if n == 7 {
				claim(t, p.queue, append(slices.Clone(before), "a is broken")...)
			}
			now = now.Add(time.Hour)
			testkit.Must(t, p.queue.Replace(now, "routine files", func(unread bool) string {
				return map[bool]string{false: step.fresh, true: step.all}[unread]
			}))
			p.pending(t, append(slices.Clone(before), step.want...)...)
			if len(step.want) == 0 {
				continue
			}
			list := p.queue.Peek()
			if last := list[len(list)-1]; !last.At.Equal(morning().Add(time.Duration(step.since+1)*time.Hour)) || last.Label != "" || last.Source != (Source{}) {
				t.Errorf("step %d: %+v", n, last)
			}
		}
	}
}

// Nothing is lost where the disk is full, and nothing comes twice once there is room.
func TestAFullDiskHarmsNothing(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	p := newPlace(t, "")
	p.add(t, "one", "two", "three")
	full := func(what string, do func() error) {
		t.Helper()
		err := storetest.FullDisk(t, do)
		if err == nil || !strings.HasPrefix(err.Error(), what) || !strings.Contains(err.Error(), "free some space") {
			t.Errorf("error %v does not say what failed and what to do", err)
		}
	}
	before := p.content(t)
	full("keep an update: ", func() error { return p.queue.Append(morning(), "four") })
	if got := p.content(t); got != before {
		t.Errorf("the file was changed to %q", got)
	}
	gone := p.discard(t, 0)
	full("restore an update: ", func() error { return p.queue.Restore(gone) })
	testkit.Must(t, p.queue.Restore(gone))
	d := claim(t, p.queue, "one", "two", "three")
	testkit.Must(t, p.queue.Append(morning().Add(time.Hour), "since"))
	full("settle a delivery: ", func() error { return p.queue.Settle(d, true) })
	p.pending(t, "since") // it has arrived, and is not repeated
	if _, arrived, found, err := p.queue.Unsettled(); !arrived || !found || err != nil {
		t.Errorf("arrived %v, found %v, %v", arrived, found, err)
	}
	testkit.Must(t, p.queue.Append(morning().Add(2*time.Hour), "later"))
	testkit.Must(t, p.queue.Settle(d, true))
	claim(t, NewQueue(p.dir, pacific, nil), "since", "later")
}
