package session

import (
	"bytes"
	"encoding/json"
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
)

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
	o, _ := asObject(list[id])
	if stale(list[id], now) {
		return "", false
	}
	return o.text("prompt")
}

func TestAnInquiryIsTakenOnceAlsoAfterARestart(t *testing.T) {
	p := newPlace(t)
	id, err := p.inquiries().Register(morning(), "  Draft the\treply\x1b[31m \n", "")
	testkit.Must(t, err)
	if len(id) != 8 || strings.Trim(id, "0123456789abcdef") != "" {
		t.Errorf("the id is %q", id)
	}
	want := fmt.Sprintf(`{"%s": {"prompt": "Draft the    reply", "ts": 1795453200.0}}`+"\n", id)
	if diff := cmp.Diff(want, storetest.Text(t, p.dir, inquiriesPath)); diff != "" {
		t.Error(diff)
	}
	after := p.inquiries() // as the next process sees it
	if prompt, ok := after.Peek(morning(), id); !ok || prompt != "Draft the    reply" {
		t.Errorf("%q, %v", prompt, ok)
	}
	prompt, _, ok, err := after.Pop(morning(), id)
	if err != nil || !ok || prompt != "Draft the    reply" {
		t.Errorf("%q, %v, %v", prompt, ok, err)
	}
	if prompt, _, ok, err := after.Pop(morning(), id); err != nil || ok || prompt != "" {
		t.Errorf("a second time: %q, %v, %v", prompt, ok, err)
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

func TestAWriteDropsWhatExpiredAndKeepsWhatNobodyUnderstands(t *testing.T) {
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

func TestAnEmptyInquiryIsRefused(t *testing.T) {
	p := newPlace(t)
	for _, prompt := range []string{"", " \n\t", "\x1b[2J\u202e"} {
		if id, err := p.inquiries().Register(morning(), prompt, ""); err == nil || id != "" {
			t.Errorf("%q: %q, %v", prompt, id, err)
		}
	}
	if storetest.Text(t, p.dir, inquiriesPath) != "" {
		t.Error("a file was written")
	}
}

func TestACorruptFileIsKeptAsideBeforeItIsReplaced(t *testing.T) {
	for _, broken := range []string{`{"a": `, `[]`, `"x"`, ""} {
		p := newPlace(t)
		storetest.Put(t, p.dir, inquiriesPath, broken)
		q := p.inquiries()
		for range 3 {
			if _, ok := q.Peek(morning(), "a"); ok {
				t.Error("something was found in it")
			}
		}
		if n := strings.Count(p.logged.String(), "state file was not read"); n != 1 || storetest.Text(t, p.dir, inquiriesPath) != broken {
			t.Errorf("%q: logged %d times, and the file holds %q", broken, n, storetest.Text(t, p.dir, inquiriesPath))
		}
		id, err := q.Register(morning(), "x", "")
		testkit.Must(t, err)
		if _, ok := q.Peek(morning(), id); !ok {
			t.Errorf("%q: nothing was kept after it", broken)
		}
		checkAside(t, p, inquiriesPath, broken)
	}
}

// checkAside checks that a broken file's bytes were kept.
func checkAside(t *testing.T, p place, rel, broken string) {
	t.Helper()
	entries, err := os.ReadDir(p.dir.Path("state"))
	testkit.Must(t, err)
	for _, e := range entries {
		if strings.HasPrefix("state/"+e.Name(), rel+".corrupt-") && storetest.Text(t, p.dir, "state/"+e.Name()) == broken {
			if !strings.Contains(p.logged.String(), e.Name()) {
				t.Errorf("%s was not logged:\n%s", e.Name(), p.logged)
			}
			return
		}
	}
	t.Errorf("%q is gone: %v", broken, entries)
}

func TestOfManyWhoTakeAnInquiryOneGetsItAndNoneOfManyIsLost(t *testing.T) {
	p := newPlace(t)
	const clicks, others = 8, 8
	id, err := p.inquiries().Register(morning(), "once", "")
	testkit.Must(t, err)
	got, kept := make([]bool, clicks), make([]string, others)
	var g errgroup.Group
	for i := range max(clicks, others) {
		d, err := store.At(p.dir.Root()) // as another process would see it
		testkit.Must(t, err)
		q := NewInquiries(d, nil)
		g.Go(func() (err error) { _, _, got[i], err = q.Pop(morning(), id); return err })
		g.Go(func() (err error) { kept[i], err = q.Register(morning(), fmt.Sprint(i), ""); return err })
	}
	testkit.Must(t, g.Wait())
	won := 0
	for i := range got {
		if got[i] {
			won++
		}
		if prompt, ok := p.inquiries().Peek(morning(), kept[i]); !ok || prompt != fmt.Sprint(i) {
			t.Errorf("%d: %q, %v", i, prompt, ok)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d got it", won, clicks)
	}
}

func TestTheFileStaysReadableHoweverMuchIsAsked(t *testing.T) {
	p := newPlace(t)
	q := p.inquiries()
	members := map[string]any{}
	for i := range 40 { // by name, the first is the oldest
		members[fmt.Sprintf("%08d", i)] = map[string]any{"prompt": strings.Repeat("x", 40_000), "ts": 1795449600 + i}
	}
	data, err := json.Marshal(members)
	testkit.Must(t, err)
	storetest.Put(t, p.dir, inquiriesPath, string(data))
	id, err := q.Register(morning(), strings.Repeat("𝔘", 9000), "")
	testkit.Must(t, err)
	if n := len(storetest.Text(t, p.dir, inquiriesPath)); n > maxKept+10 || n < maxKept-100_000 {
		t.Errorf("the file has %d bytes", n)
	}
	if prompt, ok := q.Peek(morning(), id); !ok || len([]rune(prompt)) != 4000 || !strings.HasSuffix(prompt, "…") {
		t.Errorf("the newest is cut to %d runes, %v", len([]rune(prompt)), ok)
	}
	if _, ok := q.Peek(morning(), "00000039"); !ok {
		t.Error("a new one made room")
	}
	if _, ok := q.Peek(morning(), "00000000"); ok {
		t.Error("the oldest did not make room")
	}
}

func TestAFullDiskLosesNoInquiry(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	p := newPlace(t)
	q := p.inquiries()
	id, err := q.Register(morning(), "x", "")
	testkit.Must(t, err)
	if err := storetest.FullDisk(t, func() error {
		id, err := q.Register(morning(), "y", "")
		if id != "" {
			t.Errorf("an id was given: %q", id)
		}
		return err
	}); err == nil || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("register: %v", err)
	}
	if err := storetest.FullDisk(t, func() error {
		prompt, _, ok, err := q.Pop(morning(), id)
		if ok || prompt != "" {
			t.Errorf("%q was given out, and could be again", prompt)
		}
		return err
	}); err == nil {
		t.Error("pop: no error")
	}
	if prompt, _, ok, err := q.Pop(morning(), id); !ok || prompt != "x" || err != nil {
		t.Errorf("afterwards: %q, %v, %v", prompt, ok, err)
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
