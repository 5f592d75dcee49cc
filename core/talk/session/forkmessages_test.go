package session

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
)

const messagesPath = "state/fork_messages.json"

func (p place) messages() *ForkMessages {
	return NewForkMessages(p.dir, slog.New(slog.NewTextHandler(p.logged, nil)))
}

func TestARecordedMessageLeadsToItsFork(t *testing.T) {
	p := newPlace(t)
	m := p.messages()
	at := morning().Add(250 * time.Millisecond)
	testkit.Must(t, m.Record(at, []post.MessageID{"1310000000000000001", "t12ab34cd"}, "fork-1", "main-1"))
	testkit.Must(t, m.Record(at, []post.MessageID{"1310000000000000002"}, "fork-2", ""))
	want := `[{"message_id": 1310000000000000001, "fork_session_id": "fork-1", "parent_session_id": "main-1", "ts": 1795453200.25}, ` +
		`{"message_id": 0, "fork_session_id": "fork-1", "parent_session_id": "main-1", "ts": 1795453200.25, "id": "t12ab34cd"}, ` +
		`{"message_id": 1310000000000000002, "fork_session_id": "fork-2", "parent_session_id": null, "ts": 1795453200.25}]` + "\n"
	if diff := cmp.Diff(want, storetest.Text(t, p.dir, messagesPath)); diff != "" {
		t.Error(diff)
	}
	for id, want := range map[post.MessageID]ForkMessage{
		"1310000000000000001": {Session: "fork-1", Parent: "main-1"},
		"t12ab34cd":           {Session: "fork-1", Parent: "main-1"},
		"1310000000000000002": {Session: "fork-2"},
	} {
		want.ID, want.At = id, at.UTC()
		got, standing := p.messages().Lookup(at.Add(day), id)
		if diff := cmp.Diff(want, got); diff != "" || standing != Live {
			t.Errorf("%s: %v\n%s", id, standing, diff)
		}
	}
}

func TestOtherMessagesAreUnknown(t *testing.T) {
	p := newPlace(t)
	m := p.messages()
	if got, standing := m.Lookup(morning(), "1"); standing != Unknown || got != (ForkMessage{}) {
		t.Errorf("without a file: %v, %v", got, standing)
	}
	testkit.Must(t, m.Record(morning(), []post.MessageID{"t12ab34cd"}, "fork-1", ""))
	for _, id := range []post.MessageID{"", "0", "00", "12", "t12ab34c", "T12AB34CD", " t12ab34cd"} {
		if got, standing := m.Lookup(morning(), id); standing != Unknown || got != (ForkMessage{}) {
			t.Errorf("%q: %v, %v", id, got, standing)
		}
	}
}

func TestAMessageIsLiveForLessThanSevenDaysAndThenExpired(t *testing.T) {
	for _, tt := range []struct {
		age  time.Duration
		want Standing
	}{
		{0, Live},
		{-30 * day, Live}, // the clock went back
		{7*day - time.Microsecond, Live},
		{7 * day, Expired},
		{8 * day, Expired},
	} {
		p := newPlace(t)
		m := p.messages()
		testkit.Must(t, m.Record(morning(), []post.MessageID{"7"}, "fork-1", "main-1"))
		got, standing := m.Lookup(morning().Add(tt.age), "7")
		if standing != tt.want || got.Session != "fork-1" {
			t.Errorf("after %s: %v, %v", tt.age, got, standing)
		}
	}
}

func TestRecordingKeepsAnExpiredMessageForSevenDaysMoreAndThenDropsIt(t *testing.T) {
	p := newPlace(t)
	m := p.messages()
	testkit.Must(t, m.Record(morning(), []post.MessageID{"1"}, "fork-1", ""))
	testkit.Must(t, m.Record(morning().Add(6*day), []post.MessageID{"2"}, "fork-2", ""))
	standings := func(days time.Duration, want map[post.MessageID]Standing) {
		t.Helper()
		at := morning().Add(days * day)
		testkit.Must(t, m.Record(at, []post.MessageID{"3"}, "fork-3", ""))
		for id, want := range want {
			if _, standing := m.Lookup(at, id); standing != want {
				t.Errorf("after %d days %s: %v, want %v", days, id, standing, want)
			}
		}
	}
	standings(8, map[post.MessageID]Standing{"1": Expired, "2": Live, "3": Live}) // S23: another record took the reason away
	standings(15, map[post.MessageID]Standing{"1": Unknown, "2": Expired})
}

func TestTheOriginalsRecordsAreReadAndKeptInTheirBytes(t *testing.T) {
	fixture, err := os.ReadFile("testdata/fork_messages.json")
	testkit.Must(t, err)
	p := newPlace(t)
	storetest.Put(t, p.dir, messagesPath, string(fixture))
	m := p.messages()
	now := time.Unix(1795449600, 0).Add(day)
	got, standing := m.Lookup(now, "1310000000000000001")
	want := ForkMessage{
		ID: "1310000000000000001", Session: "3d0b9a52-51f0-4df4-8a6e-8a3c2c5bb002",
		Parent: "0f6a2f0e-7a67-4a1e-9f55-0c5be1b3a001", At: time.Unix(1795449600, 0).UTC(),
	}
	if diff := cmp.Diff(want, got); diff != "" || standing != Live {
		t.Error(standing, diff)
	}
	testkit.Must(t, m.Record(now, nil, "fork-1", ""))
	testkit.Must(t, m.Record(now, []post.MessageID{""}, "fork-1", ""))
	if diff := cmp.Diff(string(fixture), storetest.Text(t, p.dir, messagesPath)); diff != "" {
		t.Errorf("no messages have changed the file:\n%s", diff)
	}
	testkit.Must(t, m.Record(now, []post.MessageID{"5"}, "fork-1", ""))
	if text := storetest.Text(t, p.dir, messagesPath); !strings.HasPrefix(text, strings.TrimSuffix(string(fixture), "]\n")+`, {"message_id": 5,`) {
		t.Error(text)
	}
}

func TestTheFirstRecordOfAMessageWinsAndOddOnesArePassedOver(t *testing.T) {
	p := newPlace(t)
	odd := `7, null, {"message_id": 9, "ts": 1795449600.0}, {"message_id": 9, "fork_session_id": "--x", "parent_session_id": null, "ts": 1795449600.0}, ` +
		`{"message_id": 9, "fork_session_id": "no-time"}, {"message_id": "9", "fork_session_id": "text-id", "ts": 1795449600.0}, ` +
		`{"message_id": 9e0, "fork_session_id": "float", "ts": 1795449600.0}, ` +
		`{"message_id": 9, "fork_session_id": "huge", "ts": 1e300}`
	storetest.Put(t, p.dir, messagesPath, "["+odd+`, {"message_id": 9, "fork_session_id": "first", "ts": 1795449600, "more": {"a": 1}}, `+
		`{"message_id": 9, "fork_session_id": "second", "ts": 1795449600}]`)
	m := p.messages()
	got, standing := m.Lookup(morning(), "9")
	if got.Session != "first" || got.Parent != "" || standing != Live {
		t.Errorf("%v, %v", got, standing)
	}
	testkit.Must(t, m.Record(morning(), []post.MessageID{"10"}, "fork-1", ""))
	if text := storetest.Text(t, p.dir, messagesPath); !strings.HasPrefix(text, "["+odd+", ") || !strings.Contains(text, `"more": {"a": 1}`) {
		t.Errorf("what nobody understands was not kept: %s", text)
	}
}

func TestARecordWithoutASessionIsRefused(t *testing.T) {
	p := newPlace(t)
	for _, tt := range [][2]string{{"", ""}, {"--resume", ""}, {"two words", ""}, {"fork-1", "a\nb"}} {
		if err := p.messages().Record(morning(), []post.MessageID{"1"}, tt[0], tt[1]); err == nil || !strings.Contains(err.Error(), "session id") {
			t.Errorf("%q: %v", tt, err)
		}
	}
	if storetest.Text(t, p.dir, messagesPath) != "" {
		t.Error("a file was written")
	}
}

func TestACorruptMapIsKeptAsideBeforeItIsReplaced(t *testing.T) {
	for _, broken := range []string{`[{"message_id": `, `{}`, ""} {
		p := newPlace(t)
		storetest.Put(t, p.dir, messagesPath, broken)
		m := p.messages()
		if _, standing := m.Lookup(morning(), "1"); standing != Unknown || storetest.Text(t, p.dir, messagesPath) != broken {
			t.Errorf("%q: %v, and the file holds %q", broken, standing, storetest.Text(t, p.dir, messagesPath))
		}
		testkit.Must(t, m.Record(morning(), []post.MessageID{"1"}, "fork-1", ""))
		if _, standing := m.Lookup(morning(), "1"); standing != Live {
			t.Errorf("%q: nothing was kept after it", broken)
		}
		checkAside(t, p, messagesPath, broken)
	}
}

func TestTwoForksThatEndAtOnceLoseNoMessage(t *testing.T) {
	p := newPlace(t)
	var g errgroup.Group
	for i := range 12 {
		d, err := store.At(p.dir.Root()) // as another process would see it
		testkit.Must(t, err)
		g.Go(func() error {
			ids := []post.MessageID{post.MessageID(fmt.Sprint(100 + i)), post.MessageID(fmt.Sprint("t", i))}
			return NewForkMessages(d, nil).Record(morning(), ids, fmt.Sprint("fork-", i), "")
		})
	}
	testkit.Must(t, g.Wait())
	for i := range 12 {
		for _, id := range []string{fmt.Sprint(100 + i), fmt.Sprint("t", i)} {
			if got, standing := p.messages().Lookup(morning(), post.MessageID(id)); standing != Live || got.Session != fmt.Sprint("fork-", i) {
				t.Errorf("%s: %v, %v", id, got, standing)
			}
		}
	}
}

func TestTheMapStaysReadableHoweverManyMessages(t *testing.T) {
	p := newPlace(t)
	m := p.messages()
	ids := make([]post.MessageID, 20_000)
	for i := range ids {
		ids[i] = post.MessageID(fmt.Sprint(1_000_000 + i))
	}
	testkit.Must(t, m.Record(morning(), ids, "fork-1", "main-1"))
	if n := len(storetest.Text(t, p.dir, messagesPath)); n > maxKept+10 || n < maxKept-1000 {
		t.Errorf("the file has %d bytes", n)
	}
	_, first := m.Lookup(morning(), ids[0])
	_, last := m.Lookup(morning(), ids[len(ids)-1])
	if first != Unknown || last != Live {
		t.Errorf("the oldest is %v, the newest %v", first, last)
	}
}

func TestAFullDiskLeavesTheMapAsItWas(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	p := newPlace(t)
	m := p.messages()
	testkit.Must(t, m.Record(morning(), []post.MessageID{"1"}, "fork-1", ""))
	before := storetest.Text(t, p.dir, messagesPath)
	err := storetest.FullDisk(t, func() error { return m.Record(morning(), []post.MessageID{"2"}, "fork-2", "") })
	if err == nil || !strings.Contains(err.Error(), "free some space") || storetest.Text(t, p.dir, messagesPath) != before {
		t.Errorf("%v, and the file holds %q", err, storetest.Text(t, p.dir, messagesPath))
	}
}

func TestPropertyAnyMessageIDIsFoundAgain(t *testing.T) {
	root := t.TempDir()
	testkit.Check(t, func(t *rapid.T) {
		d := storetest.At(t, root)
		testkit.Must(t, d.Remove(messagesPath))
		m := NewForkMessages(d, nil)
		id := rapid.OneOf(
			rapid.String(), rapid.StringMatching(`[0-9]{1,25}`), rapid.StringMatching(`t[0-9a-f]{8}`),
		).Filter(func(s string) bool { return s != "" }).Draw(t, "id")
		at := morning().Add(time.Duration(rapid.Int64Range(0, int64(1000*day)).Draw(t, "at")))
		testkit.Must(t, m.Record(at, []post.MessageID{"other", post.MessageID(id), "1"}, "fork-1", "main-1"))
		got, standing := m.Lookup(at.Add(rapid.SampledFrom([]time.Duration{0, day, 6 * day}).Draw(t, "age")), post.MessageID(id))
		if standing != Live || got.ID != post.MessageID(id) || !got.At.Equal(at.Truncate(time.Microsecond)) {
			t.Fatalf("%q recorded at %s: %+v, %v", id, at, got, standing)
		}
	})
}
