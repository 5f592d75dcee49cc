package session

import (
	"bytes"
	"errors"
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
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
)

var pacific = time.FixedZone("PST", -8*3600)

func morning() time.Time { return time.Date(2026, 11, 23, 9, 0, 0, 0, pacific) }

type place struct {
	dir    *store.Dir
	store  *Store
	logged *bytes.Buffer
}

func newPlace(t *testing.T) place {
	t.Helper()
	d := storetest.Dir(t)
	logged := &bytes.Buffer{}
	return place{d, NewStore(d, pacific, slog.New(slog.NewTextHandler(logged, nil))), logged}
}

func line(id, event, parent string) string {
	return fmt.Sprintf(`{"session_id": %q, "event": %q, "timestamp": "2026-11-23T09:00:00-08:00", "parent_session_id": %s}`+"\n", id, event, parent)
}

func TestTheMainSessionIsThePlainTextOfItsFile(t *testing.T) {
	fixture, err := os.ReadFile("testdata/sessions.json")
	testkit.Must(t, err)
	for content, want := range map[string]string{
		string(fixture):              "0f6a2f0e-7a67-4a1e-9f55-0c5be1b3a001",
		"abc":                        "abc",
		"\ufeff  abc \n":             "abc",
		" \n":                        "",
		`{"old": "format"}`:          "",
		"two words":                  "",
		"--dangerously-skip":         "",
		"a\x1b[31mb":                 "",
		"a\nb":                       "",
		"é":                          "",
		strings.Repeat("a", 201):     "",
		strings.Repeat("a", 5000000): "",
	} {
		p := newPlace(t)
		storetest.Put(t, p.dir, mainFile, content)
		if got := p.store.Main(); got != want {
			t.Errorf("%.40q: %q, want %q", content, got, want)
		}
	}
	if got := newPlace(t).store.Main(); got != "" {
		t.Errorf("without a file: %q", got)
	}
}

func TestAnUnusableIDIsReportedOnce(t *testing.T) {
	p := newPlace(t)
	storetest.Put(t, p.dir, mainFile, "two words")
	for range 3 {
		p.store.Main()
	}
	if n := strings.Count(p.logged.String(), "level=WARN"); n != 1 {
		t.Errorf("reported %d times:\n%s", n, p.logged)
	}
}

func TestTheMainSessionsLifeIsWrittenDown(t *testing.T) {
	p := newPlace(t)
	testkit.Must(t, p.store.SaveMain(morning(), "aaaaaaaa-1"))
	testkit.Must(t, p.store.SaveMain(morning(), "aaaaaaaa-1"))
	testkit.Must(t, p.store.SaveMain(morning(), "bbbbbbbb-2"))
	testkit.Must(t, p.store.SwapMain(morning(), "cccccccc-3"))
	if got := storetest.Text(t, p.dir, mainFile); got != "cccccccc-3" {
		t.Errorf("the file says %q", got)
	}
	testkit.Must(t, p.store.ClearMain(morning()))
	testkit.Must(t, p.store.ClearMain(morning()))
	if got := p.store.Main(); got != "" {
		t.Errorf("after clearing: %q", got)
	}
	testkit.Must(t, p.store.SaveMain(morning(), "short"))
	want := line("aaaaaaaa-1", "created", "null") + line("bbbbbbbb-2", "compacted", `"aaaaaaaa-1"`) +
		line("cccccccc-3", "swapped", `"bbbbbbbb-2"`) + line("cccccccc-3", "cleared", "null") + line("short", "created", "null")
	if diff := cmp.Diff(want, storetest.Text(t, p.dir, historyFile)); diff != "" {
		t.Errorf("history (-want +got)\n%s", diff)
	}
}

func TestALineIsSpelledAsTheOriginalSpellsIt(t *testing.T) {
	fixture, err := os.ReadFile("testdata/session_history.jsonl")
	testkit.Must(t, err)
	p := newPlace(t)
	main, fork := "0f6a2f0e-7a67-4a1e-9f55-0c5be1b3a001", "3d0b9a52-51f0-4df4-8a6e-8a3c2c5bb002"
	testkit.Must(t, p.store.SaveMain(time.Date(2026, 11, 20, 9, 12, 0, 0, pacific), main))
	testkit.Must(t, p.store.Log(time.Date(2026, 11, 23, 16, 0, 31, 0, time.UTC), Event{SessionID: fork, Event: BgFork, Parent: main}))
	if diff := cmp.Diff(string(fixture), storetest.Text(t, p.dir, historyFile)); diff != "" {
		t.Errorf("(-fixture +written)\n%s", diff)
	}
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	p := newPlace(t)
	for _, e := range []Event{
		{SessionID: "", Event: BgFork},
		{SessionID: "a", Event: "exploded"},
		{SessionID: "a\nb", Event: BgFork},
		{SessionID: "a", Event: BgFork, Parent: "two words"},
	} {
		if err := p.store.Log(morning(), e); err == nil {
			t.Errorf("%+v was written", e)
		}
	}
	if err := p.store.SaveMain(morning(), "-x"); err == nil {
		t.Error("an id that looks like a flag was saved")
	}
	if got := storetest.Text(t, p.dir, historyFile) + storetest.Text(t, p.dir, mainFile); got != "" {
		t.Errorf("files say %q", got)
	}
}

func TestCreatedIsTheLastCreationOfTheHistory(t *testing.T) {
	p := newPlace(t)
	if at, ok := p.store.Created(); ok {
		t.Errorf("without a history: %v", at)
	}
	storetest.Put(t, p.dir, historyFile, "\nnot json\n{broken\n"+strings.Repeat("x", 200_000)+"\n"+
		`{"session_id": "a", "event": "created", "timestamp": "2026-11-20T09:12:00-08:00", "parent_session_id": null}`+"\n"+
		`{"session_id": "b", "event": "created", "timestamp": "2026-11-21T10:00:00-08:00", "x": 1}`+"\n"+
		`{"session_id": "c", "event": "created", "timestamp": "some day"}`+"\n"+
		`{"session_id": "d", "event": "bg_fork", "timestamp": "2026-11-23T09:12:00-08:00"}`+"\n"+
		`{"session_id": "e", "event": "created", "timest`)
	at, ok := p.store.Created()
	if want := time.Date(2026, 11, 21, 10, 0, 0, 0, pacific); !ok || !at.Equal(want) {
		t.Errorf("%v, %v, want %v", at, ok, want)
	}
}

func TestManyForksWriteWholeLines(t *testing.T) {
	p, events := newPlace(t), []string{"isolated_bg", "bg_fork", "restarting", "interactive_fork", "created", "compacted", "swapped", "cleared"}
	var g errgroup.Group
	for i := range 12 {
		g.Go(func() error {
			return p.store.Log(morning(), Event{SessionID: fmt.Sprintf("fork-%d", i), Event: events[i%len(events)]})
		})
	}
	testkit.Must(t, g.Wait())
	got := storetest.Text(t, p.dir, historyFile)
	for i := range 12 {
		if want := line(fmt.Sprintf("fork-%d", i), events[i%len(events)], "null"); strings.Count(got, want) != 1 {
			t.Errorf("fork %d is not there once:\n%s", i, got)
		}
	}
}

func TestAFileThatCannotBeReadOrWrittenIsAnErrorAndTheSessionIsKept(t *testing.T) {
	p := newPlace(t)
	for _, path := range []string{historyFile, openForkFile, "state/.fork_messages.lock", "state/.inquiries.lock", "state/.session_labels.lock"} {
		testkit.Must(t, os.MkdirAll(p.dir.Path(path)+"/in-the-way", 0o700))
	}
	recorded := errors.Join(p.store.SetOpenFork(&OpenFork{}), p.store.SetOpenFork(nil))
	_, registered := p.inquiries().Register(morning(), "x", "")
	_, _, _, taken := p.inquiries().Pop(morning(), "x")
	_, left := p.store.LeftOpen()
	for want, err := range map[string]error{
		"log a session event: ":            p.store.Log(morning(), Event{SessionID: "a", Event: Created}),
		"remember a fork's messages: ":     p.messages().Record(morning(), []post.MessageID{"1"}, "fork-1", ""),
		"keep an inquiry: ":                registered,
		"take an inquiry: ":                taken,
		"record what a session has read: ": p.store.Labels().Read(morning(), "a", "mail"),
		"record the open fork: ":           recorded,
		"read the fork that was open: ":    left,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s…", err, want)
		}
	}
	if saved, cleared := p.store.SaveMain(morning(), "a"), p.store.Labels().Clear(morning(), "a"); saved == nil || cleared == nil || p.store.Main() != "" {
		t.Errorf("without its label: %v, %v, main %q", saved, cleared, p.store.Main())
	}
	testkit.Must(t, os.RemoveAll(p.dir.Path("state/.session_labels.lock")))
	if saved, cleared := p.store.SaveMain(morning(), "a"), p.store.ClearMain(morning()); saved == nil || cleared == nil {
		t.Errorf("without a history: %v, %v", saved, cleared)
	}
	if err := p.store.SaveMain(morning(), "a"); err == nil || p.store.Main() != "a" {
		t.Errorf("the main session is %q, want it saved before the history: %v", p.store.Main(), err)
	}
}

func TestAMainSessionThatCannotBeSavedIsAnError(t *testing.T) {
	p := newPlace(t)
	testkit.Must(t, os.MkdirAll(p.dir.Path(mainFile+"/in-the-way"), 0o700))
	if err := p.store.SaveMain(morning(), "a"); err == nil || !strings.HasPrefix(err.Error(), "save the main session: ") {
		t.Errorf("over a folder: %v", err)
	}
	p = newPlace(t)
	storetest.Put(t, p.dir, mainFile, "two words")
	testkit.Must(t, os.MkdirAll(p.dir.Path("state/."+turnName+".lock/in-the-way"), 0o700))
	if kept, err := p.store.Recover(morning()); kept != "" || err == nil || !strings.HasPrefix(err.Error(), "set "+mainFile+" aside: ") {
		t.Errorf("without the lock: %q, %v", kept, err)
	}
}

// A fork that was open when the program ended is found once, unless it had become the main session.
func TestAnOpenForkIsFoundByTheNextProgram(t *testing.T) {
	fork := OpenFork{Session: "fork-1", Title: "taxes", Since: morning().UTC()}
	unnamed := OpenFork{Title: "taxes"}
	for _, tt := range []struct {
		name, main string
		set        []*OpenFork
		want       *OpenFork
	}{
		{"none was open", "", nil, nil},
		{"one was open", "main-1", []*OpenFork{{}, &fork}, &fork},
		{"the engine had not named it", "", []*OpenFork{&unnamed}, &unnamed},
		{"it was left", "", []*OpenFork{&fork, nil, nil}, nil},
		{"it became the main session", "fork-1", []*OpenFork{&fork}, nil},
		{"its id is none", "", []*OpenFork{{Session: "; rm"}}, nil},
	} {
		p := newPlace(t)
		if tt.main != "" {
			testkit.Must(t, p.store.SaveMain(morning(), tt.main))
		}
		for _, f := range tt.set {
			testkit.Must(t, p.store.SetOpenFork(f))
		}
		got, err := p.again().LeftOpen()
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, diff)
		}
	}
}

// M13: a file with garbage silently started a new conversation, and was then overwritten.
func TestAFileWithoutAnIDIsKeptAside(t *testing.T) {
	for content, aside := range map[string]bool{
		"two words\n": true, "a\x1b[31mb": true, "--flag": true,
		"": false, "abc": false, `{"old": "format"}`: false, " \n": false,
	} {
		p := newPlace(t)
		testkit.Must(t, p.dir.Write(mainFile, []byte(content)))
		kept, err := p.store.Recover(morning())
		if err != nil || (kept != "") != aside {
			t.Errorf("%q is kept as %q, %v", content, kept, err)
		}
		if !aside {
			kept = mainFile
		}
		if got := storetest.Text(t, p.dir, kept); got != content {
			t.Errorf("%q has become %q", content, got)
		}
	}
	if kept, err := newPlace(t).store.Recover(morning()); kept != "" || err != nil {
		t.Errorf("without a file: %q, %v", kept, err)
	}
}

const labelsPath = "state/session_labels.json"

// again returns the store of another process.
func (p place) again() *Store { return NewStore(p.dir, pacific, nil) }

func TestASessionHasItsLabelUntilTheUserAnswers(t *testing.T) {
	p := newPlace(t)
	l := p.again().Labels()
	at := morning()
	testkit.Must(t, l.Read(at, "main-1", "mail"))
	testkit.Must(t, l.Read(at.Add(time.Minute), "main-1", "web page")) // the first one counts
	if got := p.again().Labels().Of("main-1"); got != "mail" || l.Of("main-2") != "" || !l.Since("main-1").Equal(at) {
		t.Errorf("%q, since %v", got, l.Since("main-1"))
	}
	testkit.Must(t, l.Clear(at.Add(time.Hour), "main-1"))
	testkit.Must(t, l.Clear(at.Add(2*time.Hour), "main-1"))
	if l.Of("main-1") != "" || !l.Since("main-1").IsZero() {
		t.Error("answered, and still labeled")
	}
	testkit.Must(t, l.Read(at.Add(3*time.Hour), "main-1", "web page"))
	for after, want := range map[time.Duration]label.Label{
		-time.Second: "", 0: "mail", 30 * time.Minute: "mail", time.Hour: "", 150 * time.Minute: "", 3 * time.Hour: "web page", 99 * time.Hour: "web page",
	} {
		if got := l.At("main-1", at.Add(after)); got != want {
			t.Errorf("%v later: %q, want %q", after, got, want)
		}
	}
	if got := l.At("main-1", time.Time{}); got != "web page" {
		t.Errorf("at an unknown time: %q", got)
	}
	testkit.Must(t, l.Clear(at, "main-1")) // by a clock that was set back
	if l.Of("main-1") != "" {
		t.Error("answered before it was read, and still labeled")
	}
}

// A conversation continues under another id after a compaction, and a new one starts
// afresh.
func TestALabelFollowsTheMainSession(t *testing.T) {
	p := newPlace(t)
	s := p.again()
	now := morning()
	testkit.Must(t, s.Labels().Read(now, "", "mail")) // its first turn has no id yet
	testkit.Must(t, s.SaveMain(now, "main-1"))
	if s.Labels().Of("main-1") != "mail" || s.Labels().Of("") != "" {
		t.Error("the first id has no label")
	}
	testkit.Must(t, s.SaveMain(now, "main-2"))
	if s.Labels().Of("main-2") != "mail" {
		t.Error("the compacted session has no label")
	}
	testkit.Must(t, s.Labels().Read(now, "fork-1", "web page"))
	testkit.Must(t, s.SwapMain(now, "fork-1"))
	if got := s.Labels().Of("fork-1"); got != "web page" {
		t.Errorf("a saved fork has %q", got)
	}
	testkit.Must(t, s.ClearMain(now))
	if s.Labels().Of(s.Main()) != "" {
		t.Error("a new conversation has a label")
	}
}

func TestLabelsOfOthersAreReadAndTheFileStaysSmall(t *testing.T) {
	p := newPlace(t)
	hops := "mail" + strings.Repeat(" → hop → hip", 500)
	testkit.Must(t, p.dir.Write(labelsPath, []byte(`{"main-1": [{"label": "`+hops+`", "from": "2026-11-01T00:00:00Z"}], "main-2": []}`)))
	l := p.again().Labels()
	if got := l.Of("main-1"); got.Origin() != "mail" || len(got.Steps()) > 10 || l.Of("main-2") != "" {
		t.Errorf("%q", got)
	}
	for i := range 3 * maxSpans {
		testkit.Must(t, l.Read(morning().Add(time.Duration(2*i)*time.Minute), "main-3", "mail"))
		testkit.Must(t, l.Clear(morning().Add(time.Duration(2*i+1)*time.Minute), "main-3"))
	}
	if n := strings.Count(storetest.Text(t, p.dir, labelsPath), `"from"`); n != maxSpans+1 {
		t.Errorf("%d spans", n)
	}
	var many []string
	for i := range maxLabeledSessions { // by name, the first is the newest
		many = append(many, fmt.Sprintf(`"s%d": [{"label": "mail", "from": "19%02d-01-01T00:00:%02dZ"}]`, i, 99-i/60, 59-i%60))
	}
	testkit.Must(t, p.dir.Write(labelsPath, []byte("{"+strings.Join(many, ", ")+"}")))
	testkit.Must(t, l.Read(morning(), "one more", "mail"))
	if n := strings.Count(storetest.Text(t, p.dir, labelsPath), `"from"`); n != maxLabeledSessions || l.Of("s1998") != "mail" || l.Of("s1999") != "" {
		t.Errorf("of %d sessions the oldest has %q", n, l.Of("s1999"))
	}
	testkit.Must(t, p.dir.Write(labelsPath, []byte("nonsense")))
	if l.Of("main-1") != "" {
		t.Error("nonsense is a label")
	}
	testkit.Must(t, l.Read(morning(), "main-1", "mail"))
	if l.Of("main-1") != "mail" {
		t.Error("a file that was set aside stays in the way")
	}
}

// Compared with a model: the label of each session after reading, answering, compacting
// and restarting.
func TestLabelsOfSessionsMatchAModel(tt *testing.T) {
	testkit.Check(tt, func(rt *rapid.T) {
		p := newPlace(tt)
		s := p.again()
		now := morning()
		model := map[string]label.Label{}
		ids := rapid.SampledFrom([]string{"a", "b", "c"})
		rt.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				now = now.Add(time.Minute)
				for _, id := range []string{"a", "b", "c"} {
					if got := s.Labels().Of(id); got != model[id] {
						t.Fatalf("%s has %q, want %q", id, got, model[id])
					}
				}
			},
			"read": func(t *rapid.T) {
				id, l := ids.Draw(t, "id"), label.From(rapid.SampledFrom([]string{"mail", "web page"}).Draw(t, "source"))
				testkit.Must(tt, s.Labels().Read(now, id, l))
				model[id] = label.Join(model[id], l)
			},
			"answer": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				testkit.Must(tt, s.Labels().Clear(now, id))
				model[id] = ""
			},
			"compact": func(t *rapid.T) {
				from, to := ids.Draw(t, "from"), ids.Draw(t, "to")
				testkit.Must(tt, s.Labels().Follow(now, from, to))
				if from != to {
					model[to], model[from] = label.Join(model[to], model[from]), ""
				}
			},
			"restart": func(*rapid.T) { s = p.again() },
		})
	})
}
