package session

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store/storetest"
)

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

func TestAClockThatWasSetBackEndsALabelWhereItBegan(t *testing.T) {
	p := newPlace(t)
	l := p.again().Labels()
	testkit.Must(t, l.Read(morning(), "main-1", "mail"))
	testkit.Must(t, l.Clear(morning().Add(-time.Hour), "main-1"))
	if l.Of("main-1") != "" {
		t.Error("answered, and still labeled")
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
