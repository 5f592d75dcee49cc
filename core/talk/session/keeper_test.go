package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
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

// shelves are the two files of a keeper, each with a way to add something with a number, and to find it again.
func shelves() map[string]func(p place) (add func(n int) error, has func(n int) bool) {
	var ids sync.Map // of the inquiries
	return map[string]func(p place) (func(int) error, func(int) bool){
		messagesPath: func(p place) (func(int) error, func(int) bool) {
			m := p.messages()
			return func(n int) error {
					return m.Record(morning(), []post.MessageID{post.MessageID(fmt.Sprint(n)), post.MessageID(fmt.Sprint("t", n))}, fmt.Sprint("fork-", n), "")
				}, func(n int) bool {
					one, standing := m.Lookup(morning(), post.MessageID(fmt.Sprint(n)))
					other, _ := m.Lookup(morning(), post.MessageID(fmt.Sprint("t", n)))
					return standing == Live && one.Session == fmt.Sprint("fork-", n) && other.Session == one.Session
				}
		},
		inquiriesPath: func(p place) (func(int) error, func(int) bool) {
			q := p.inquiries()
			return func(n int) error {
					id, err := q.Register(morning(), fmt.Sprint("question ", n), "")
					if ids.Store(n, id); err != nil && id != "" {
						err = nil // a caller must not get an id of nothing
					}
					return err
				}, func(n int) bool {
					id, _ := ids.LoadOrStore(n, "none")
					prompt, ok := q.Peek(morning(), id.(string))
					return ok && prompt == fmt.Sprint("question ", n)
				}
		},
	}
}

func TestAFileThatCannotBeUnderstoodIsKeptAsideBeforeItIsReplaced(t *testing.T) {
	for path, open := range shelves() {
		for _, broken := range []string{`[{"message_id": `, `{"a": `, `"x"`, ""} {
			p := newPlace(t)
			storetest.Put(t, p.dir, path, broken)
			add, has := open(p)
			first, again := has(1), has(1)
			if first || again || strings.Count(p.logged.String(), `level=WARN msg="state file was not read"`) != 1 || storetest.Text(t, p.dir, path) != broken {
				t.Errorf("%s: after reading %q it holds %q; logged %s", path, broken, storetest.Text(t, p.dir, path), p.logged)
			}
			if testkit.Must(t, add(1)); !has(1) {
				t.Errorf("%s: nothing was kept after %q", path, broken)
			}
			entries, err := os.ReadDir(p.dir.Path("state"))
			testkit.Must(t, err)
			aside := ""
			for _, e := range entries {
				if name := "state/" + e.Name(); strings.HasPrefix(name, path+".corrupt-") && strings.Contains(p.logged.String(), e.Name()) {
					aside += name
				}
			}
			if aside == "" || storetest.Text(t, p.dir, aside) != broken {
				t.Errorf("%s: %q is not kept aside, or not logged: %v, %s", path, broken, entries, p.logged)
			}
		}
	}
}

func TestManyProcessesThatWriteAtOnceLoseNothing(t *testing.T) {
	for path, open := range shelves() {
		p := newPlace(t)
		var g errgroup.Group
		for i := range 12 {
			d, err := store.At(p.dir.Root())
			testkit.Must(t, err)
			add, _ := open(place{dir: d, logged: p.logged})
			g.Go(func() error { return add(i) })
		}
		testkit.Must(t, g.Wait())
		for i := range 12 {
			if _, has := open(p); !has(i) {
				t.Errorf("%s: number %d is lost", path, i)
			}
		}
	}
}

func TestOfManyWhoTakeAnInquiryOneGetsIt(t *testing.T) {
	p := newPlace(t)
	id, err := p.inquiries().Register(morning(), "once", "")
	testkit.Must(t, err)
	var g errgroup.Group
	won := make(chan string, 8)
	for range cap(won) {
		d, err := store.At(p.dir.Root())
		testkit.Must(t, err)
		g.Go(func() error {
			prompt, _, ok, err := NewInquiries(d, nil).Pop(morning(), id)
			if ok {
				won <- prompt
			}
			return err
		})
	}
	if testkit.Must(t, g.Wait()); len(won) != 1 || <-won != "once" {
		t.Errorf("%d more got it", len(won))
	}
}

func TestAFileStaysReadableHoweverMuchIsKept(t *testing.T) {
	p := newPlace(t)
	ids := make([]post.MessageID, 20_000)
	for i := range ids {
		ids[i] = post.MessageID(fmt.Sprint(1_000_000 + i))
	}
	testkit.Must(t, p.messages().Record(morning(), ids, "fork-1", "main-1"))
	_, first := p.messages().Lookup(morning(), ids[0])
	_, last := p.messages().Lookup(morning(), ids[len(ids)-1])
	if n := len(storetest.Text(t, p.dir, messagesPath)); n > maxKept+10 || n < maxKept-1000 || first != Unknown || last != Live {
		t.Errorf("the file has %d bytes; the oldest is %v, the newest %v", n, first, last)
	}
	members := map[string]any{}
	for i := range 40 { // by name, the first is the oldest
		members[fmt.Sprintf("%08d", i)] = map[string]any{"prompt": strings.Repeat("x", 40_000), "ts": 1795449600 + i}
	}
	data, err := json.Marshal(members)
	testkit.Must(t, err)
	storetest.Put(t, p.dir, inquiriesPath, string(data))
	id, err := p.inquiries().Register(morning(), strings.Repeat("𝔘", 9000), "")
	testkit.Must(t, err)
	prompt, newest := p.inquiries().Peek(morning(), id)
	_, second := p.inquiries().Peek(morning(), "00000039")
	_, oldest := p.inquiries().Peek(morning(), "00000000")
	if n := len(storetest.Text(t, p.dir, inquiriesPath)); n > maxKept+10 || n < maxKept-100_000 || !newest || !second || oldest {
		t.Errorf("the file has %d bytes; the newest is there: %v, %v, and the oldest: %v", n, newest, second, oldest)
	}
	if len([]rune(prompt)) != 4000 || !strings.HasSuffix(prompt, "…") {
		t.Errorf("the newest is cut to %d runes", len([]rune(prompt)))
	}
}

func TestWhatIsNotOneIsRefusedAndWritesNothing(t *testing.T) {
	p := newPlace(t)
	for _, fork := range [][2]string{{"", ""}, {"--resume", ""}, {"two words", ""}, {"fork-1", "a\nb"}} {
		if err := p.messages().Record(morning(), []post.MessageID{"1"}, fork[0], fork[1]); err == nil || !strings.Contains(err.Error(), "session id") {
			t.Errorf("%q: %v", fork, err)
		}
	}
	for _, prompt := range []string{"", " \n\t", "\x1b[2J\u202e"} {
		if id, err := p.inquiries().Register(morning(), prompt, ""); err == nil || id != "" {
			t.Errorf("%q: %q, %v", prompt, id, err)
		}
	}
	if text := storetest.Text(t, p.dir, messagesPath) + storetest.Text(t, p.dir, inquiriesPath); text != "" {
		t.Errorf("written is %s", text)
	}
}

func TestAFullDiskLeavesTheFilesAsTheyWere(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	for path, open := range shelves() {
		p := newPlace(t)
		add, has := open(p)
		testkit.Must(t, add(1))
		before := storetest.Text(t, p.dir, path)
		err := storetest.FullDisk(t, func() error { return add(2) })
		if err == nil || !strings.Contains(err.Error(), "free some space") || storetest.Text(t, p.dir, path) != before || !has(1) || has(2) {
			t.Errorf("%s: %v, and the file holds %q", path, err, storetest.Text(t, p.dir, path))
		}
	}
	q := newPlace(t).inquiries()
	id, err := q.Register(morning(), "x", "")
	testkit.Must(t, err)
	err = storetest.FullDisk(t, func() error {
		prompt, _, ok, err := q.Pop(morning(), id)
		if ok || prompt != "" {
			t.Errorf("%q was given out, and could be again", prompt)
		}
		return err
	})
	if prompt, _, ok, later := q.Pop(morning(), id); err == nil || !ok || prompt != "x" || later != nil {
		t.Errorf("%v; afterwards %q, %v, %v", err, prompt, ok, later)
	}
}

const messagesPath = "state/fork_messages.json"

func (p place) messages() *ForkMessages {
	return NewForkMessages(p.dir, slog.New(slog.NewTextHandler(p.logged, nil)))
}

func TestARecordedMessageLeadsToItsFork(t *testing.T) {
	p := newPlace(t)
	m := p.messages()
	at := morning().Add(250 * time.Millisecond)
	testkit.Must(t, m.Record(at, []post.MessageID{"1310000000000000001", "t12ab34cd"}, "fork-1", "main-1"))
	testkit.Must(t, m.Record(at, []post.MessageID{"13100000000000000020", "131000000000000000200", "012"}, "fork-2", ""))
	want := `[{"message_id": 1310000000000000001, "fork_session_id": "fork-1", "parent_session_id": "main-1", "ts": 1795453200.25}, ` +
		`{"message_id": 0, "fork_session_id": "fork-1", "parent_session_id": "main-1", "ts": 1795453200.25, "id": "t12ab34cd"}, ` +
		`{"message_id": 13100000000000000020, "fork_session_id": "fork-2", "parent_session_id": null, "ts": 1795453200.25}, ` +
		`{"message_id": 0, "fork_session_id": "fork-2", "parent_session_id": null, "ts": 1795453200.25, "id": "131000000000000000200"}, ` +
		`{"message_id": 0, "fork_session_id": "fork-2", "parent_session_id": null, "ts": 1795453200.25, "id": "012"}]` + "\n"
	if diff := cmp.Diff(want, storetest.Text(t, p.dir, messagesPath)); diff != "" {
		t.Error(diff)
	}
	for id, want := range map[post.MessageID]ForkMessage{
		"1310000000000000001":  {Session: "fork-1", Parent: "main-1"},
		"t12ab34cd":            {Session: "fork-1", Parent: "main-1"},
		"13100000000000000020": {Session: "fork-2"},
	} {
		want.ID, want.At = id, at.UTC()
		got, standing := p.messages().Lookup(at.Add(day), id)
		if diff := cmp.Diff(want, got); diff != "" || standing != Live {
			t.Errorf("%s: %v\n%s", id, standing, diff)
		}
	}
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
		`{"message_id": 9, "fork_session_id": "huge", "ts": 1e300}, {"message_id": 9, "fork_session_id": "null", "ts": null}`
	storetest.Put(t, p.dir, messagesPath, "["+odd+`, {"message_id": 9, "fork_session_id": "first", "ts": 1795449600, "more": {"a": 1}}, `+
		`{"message_id": 9, "fork_session_id": "second", "ts": 1795449600}]`)
	m := p.messages()
	got, standing := m.Lookup(morning(), "9")
	if got.Session != "first" || got.Parent != "" || standing != Live {
		t.Errorf("%v, %v", got, standing)
	}
	testkit.Must(t, m.Record(morning(), []post.MessageID{"10"}, "fork-1", ""))
	if text := storetest.Text(t, p.dir, messagesPath); !strings.HasPrefix(text, "["+odd+", ") || !strings.Contains(text, `"more": {"a": 1}`) {
		t.Errorf("what is not understood was not kept: %s", text)
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

// S23: a record that dropped the expired ones took the reason away from a later reply.
func TestAMessageIsLiveForAWeekExpiredForAnotherAndThenUnknown(t *testing.T) {
	p := newPlace(t)
	m := p.messages()
	check := func(age time.Duration, id post.MessageID, want Standing) {
		t.Helper()
		if got, standing := m.Lookup(morning().Add(age), id); standing != want || (got.Session == "fork-"+string(id)) != (want != Unknown) {
			t.Errorf("%q after %s: %+v, %v, not %v", id, age, got, standing, want)
		}
	}
	check(0, "1", Unknown) // there is no file yet
	testkit.Must(t, m.Record(morning(), []post.MessageID{"1"}, "fork-1", ""))
	testkit.Must(t, m.Record(morning().Add(6*day), []post.MessageID{"t12ab34cd"}, "fork-t12ab34cd", ""))
	for age, want := range map[time.Duration]Standing{-30 * day: Live, 0: Live, 7*day - time.Microsecond: Live, 7 * day: Expired, 99 * day: Expired} {
		check(age, "1", want) // the clock may go back
	}
	for _, id := range []post.MessageID{"", "0", "00", "12", "t12ab34c", "T12AB34CD", " t12ab34cd"} {
		check(0, id, Unknown)
	}
	for days, standings := range map[time.Duration][2]Standing{8: {Expired, Live}, 15: {Unknown, Expired}} {
		p := place{storetest.Dir(t), nil, p.logged}
		storetest.Put(t, p.dir, messagesPath, storetest.Text(t, m.dir, messagesPath))
		testkit.Must(t, p.messages().Record(morning().Add(days*day), []post.MessageID{"3"}, "fork-3", ""))
		for i, id := range []post.MessageID{"1", "t12ab34cd"} {
			if _, got := p.messages().Lookup(morning().Add(days*day), id); got != standings[i] {
				t.Errorf("a record after %d days: %s is %v, not %v", days, id, got, standings[i])
			}
		}
	}
}

const (
	day           = 24 * time.Hour
	inquiriesPath = "state/inquiries.json"
)

func (p place) inquiries() *Inquiries {
	return NewInquiries(p.dir, slog.New(slog.NewTextHandler(p.logged, nil)))
}

// Peek is Pop without removing the prompt.
func (q *Inquiries) Peek(now time.Time, id string) (prompt string, ok bool) {
	var list map[string]json.RawMessage
	q.peek(&list)
	if stale(list[id], now) {
		return "", false
	}
	return asObject(list[id]).text("prompt")
}

func TestAnInquiryIsTakenOnceAlsoAfterARestart(t *testing.T) {
	p := newPlace(t)
	id, err := p.inquiries().Register(morning(), "  Draft the\treply\x1b[31m \n", "mail")
	testkit.Must(t, err)
	if len(id) != 8 || strings.Trim(id, "0123456789abcdef") != "" {
		t.Errorf("the id is %q", id)
	}
	want := fmt.Sprintf(`{"%s": {"prompt": "Draft the    reply", "ts": 1795453200.0, "label": "mail"}}`+"\n", id)
	if diff := cmp.Diff(want, storetest.Text(t, p.dir, inquiriesPath)); diff != "" {
		t.Error(diff)
	}
	after := p.inquiries() // as the next process sees it
	if prompt, ok := after.Peek(morning(), id); !ok || prompt != "Draft the    reply" {
		t.Errorf("%q, %v", prompt, ok)
	}
	for _, want := range []string{"true Draft the    reply from mail", "false  from "} {
		prompt, from, ok, err := after.Pop(morning(), id)
		if got := fmt.Sprint(ok, " ", prompt, " from ", from); err != nil || got != want {
			t.Errorf("%s (%v), want %s", got, err, want)
		}
	}
	if got := storetest.Text(t, p.dir, inquiriesPath); got != "{}\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestTheOriginalsInquiriesAreReadAndKeptInTheirBytes(t *testing.T) {
	fixture, err := os.ReadFile("testdata/inquiries.json")
	testkit.Must(t, err)
	p := newPlace(t)
	storetest.Put(t, p.dir, inquiriesPath, string(fixture))
	q := p.inquiries()
	now := time.Unix(1795449600, 0).Add(day)
	if prompt, ok := q.Peek(now, "ab12cd34"); !ok || prompt != "Draft the reply to the landlord" {
		t.Errorf("%q, %v", prompt, ok)
	}
	if _, _, ok, err := q.Pop(now, "00000000"); ok || err != nil || storetest.Text(t, p.dir, inquiriesPath) != string(fixture) {
		t.Errorf("an unknown id: %v, %v, and the file holds %q", ok, err, storetest.Text(t, p.dir, inquiriesPath))
	}
	id, err := q.Register(now, "x", "")
	testkit.Must(t, err)
	if _, _, _, err := q.Pop(now, id); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(fixture), storetest.Text(t, p.dir, inquiriesPath)); diff != "" {
		t.Error(diff)
	}
}

func TestAWriteDropsWhatExpiredAndKeepsWhatIsUnknown(t *testing.T) {
	p := newPlace(t)
	storetest.Put(t, p.dir, inquiriesPath, `{"old": {"prompt": "x", "ts": 1.5}, "odd": [1], "new": {"ts": 1795449600, "more": true, "prompt": "y"}, `+
		`"no time": {"prompt": "z"}, "no prompt": {"prompt": null, "ts": 1795449600}}`)
	q := p.inquiries()
	for _, id := range []string{"old", "odd", "no prompt", ""} {
		if prompt, _, ok, err := q.Pop(morning(), id); ok || err != nil {
			t.Errorf("%s: %q, %v", id, prompt, err)
		}
	}
	id, err := q.Register(morning(), "w", "")
	testkit.Must(t, err)
	want := `{"no time": {"prompt": "z"}, "odd": [1], "new": {"ts": 1795449600, "more": true, "prompt": "y"}, ` +
		`"no prompt": {"prompt": null, "ts": 1795449600}, "` + id + `": {"prompt": "w", "ts": 1795453200.0}}` + "\n"
	if diff := cmp.Diff(want, storetest.Text(t, p.dir, inquiriesPath)); diff != "" {
		t.Error(diff)
	}
}

// TestPropertyInquiriesAreAMap compares random sequences of calls with a plain map.
func TestPropertyInquiriesAreAMap(t *testing.T) {
	root := t.TempDir()
	testkit.Check(t, func(t *rapid.T) {
		d := storetest.At(t, root)
		testkit.Must(t, d.Remove(inquiriesPath))
		type entry struct {
			prompt string
			at     time.Time
		}
		model, ids := map[string]entry{}, []string{"unknown0"}
		now := morning()
		q := NewInquiries(d, slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)))
		for range rapid.IntRange(1, 12).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(3*day)).Draw(t, "wait")))
			id := rapid.SampledFrom(ids).Draw(t, "id")
			want, ok := model[id]
			ok = ok && now.Truncate(time.Microsecond).Sub(want.at.Truncate(time.Microsecond)) < 7*day
			switch rapid.SampledFrom([]string{"register", "pop", "peek"}).Draw(t, "call") {
			case "register":
				prompt := rapid.StringMatching(`[a-zé"\\<]{1,10}`).Draw(t, "prompt")
				id, err := q.Register(now, prompt, "")
				testkit.Must(t, err)
				if _, again := model[id]; again {
					t.Fatalf("%s was given twice", id)
				}
				model[id], ids = entry{prompt, now}, append(ids, id)
			case "pop":
				prompt, _, got, err := q.Pop(now, id)
				if err != nil || got != ok || got && prompt != want.prompt {
					t.Fatalf("pop %s: %q, %v, %v; want %q, %v", id, prompt, got, err, want.prompt, ok)
				}
				delete(model, id)
			case "peek":
				if prompt, got := q.Peek(now, id); got != ok || got && prompt != want.prompt {
					t.Fatalf("peek %s: %q, %v; want %q, %v", id, prompt, got, want.prompt, ok)
				}
			}
		}
	})
}
