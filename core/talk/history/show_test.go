package history

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func mkfifo(t *testing.T, name string) {
	t.Helper()
	testkit.Must(t, syscall.Mkfifo(name, 0o600))
}

func TestASessionIsShownAsItWent(t *testing.T) {
	h := family(t).history()
	c, err := h.Show(mainID, Brief())
	testkit.Must(t, err)
	want := []string{
		"user Where is the red key?", "call Bash(find key)", "result under the mat\nreally", "bot Under the mat.", "user Thanks!", "bot Any time.",
	}
	if diff := cmp.Diff(want, talked(c.Entries)); diff != "" || c.Messages != 4 || c.Copied != 0 || c.Kind != Main {
		t.Errorf("%+v\n%s", c.Session, diff)
	}
}

func TestAForkShowsItsOwnPartUnlessAllIsWanted(t *testing.T) {
	h := family(t).history()
	brief, err := h.Show(runID[:8], Brief())
	testkit.Must(t, err)
	own := []string{
		"program [routine-bg:9a8b7c6d] You run in the background.\n\nMedication time.",
		"call ping_user: Take the blue pill.", "result sent", "bot Done.",
	}
	if diff := cmp.Diff(own, talked(brief.Entries)); diff != "" || brief.Copied != 6 || brief.ID != runID || brief.Title != "Medication" {
		t.Errorf("%+v, %d copied\n%s", brief.Session, brief.Copied, diff)
	}
	full, err := h.Show(runID, Full())
	testkit.Must(t, err)
	if len(full.Entries) != 10 || !full.Entries[5].Copied || full.Entries[6].Copied || full.Messages != 2 {
		t.Errorf("%+v\n%q", full.Session, talked(full.Entries))
	}
}

func TestAShortIDMustFitOneSession(t *testing.T) {
	w := family(t)
	w.session("77777777-other", at(0), talk()...)
	h := w.history()
	if _, err := h.Show("7777", Brief()); err == nil || !strings.Contains(err.Error(), "2 sessions") || errors.Is(err, ErrNoSession) {
		t.Errorf("the error is %v", err)
	}
	if _, err := h.Show("9999", Brief()); !errors.Is(err, ErrNoSession) {
		t.Errorf("the error is %v", err)
	}
}

func TestLongTextsAreCutWhereTheyMatterLeast(t *testing.T) {
	w := newWorld(t)
	w.session("aaaaaaaa-1", at(9),
		headed(at(0), "[routine:a1b2c3d4] "+strings.Repeat("preamble ", 500)+"\nThe task itself."),
		gives(at(1), strings.Repeat("result\n", 500), true), headed(at(2), strings.Repeat("long ", 1000)))
	c, err := w.history().Show("aaaaaaaa", Brief())
	if err != nil || len(c.Entries) != 3 {
		t.Fatal(err, len(c.Entries))
	}
	if got := c.Entries[0].Text; got != "…The task itself." {
		t.Errorf("the task is %q", got)
	}
	if got := c.Entries[1]; len(got.Text) > 210 || strings.Contains(got.Text, "\n") || !got.Failed {
		t.Errorf("the result is %q", got.Text)
	}
	if got := c.Entries[2].Text; !strings.HasPrefix(got, "long long") || len([]rune(got)) != 2000 {
		t.Errorf("the message has %d characters", len([]rune(got)))
	}
}

// However long the session, the result is its end within the limits.
func TestWhatIsShownIsTheEndWithinTheLimits(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		n := rapid.IntRange(1, 60).Draw(rt, "messages")
		var lines []string
		for i := range n {
			lines = append(lines, headed(at(i), strings.Repeat("x", rapid.IntRange(1, 50).Draw(rt, "length"))))
		}
		w.session("aaaaaaaa-1", at(9), lines...)
		limits := Limits{
			Entries: rapid.IntRange(1, 20).Draw(rt, "entries"), Bytes: rapid.IntRange(1, 400).Draw(rt, "bytes"),
			Text: 100, Result: 100,
		}
		c, err := w.history().Show("aaaaaaaa", limits)
		if err != nil {
			rt.Fatal(err)
		}
		bytes := 0
		for _, e := range c.Entries {
			bytes += len(e.Text)
		}
		if len(c.Entries) == 0 || len(c.Entries) > limits.Entries || bytes > limits.Bytes && len(c.Entries) > 1 {
			rt.Fatalf("%d entries of %d bytes", len(c.Entries), bytes)
		}
		if c.Earlier+len(c.Entries) != n || !c.Entries[len(c.Entries)-1].At.Equal(at(n-1)) || c.Messages != n {
			rt.Fatalf("%d of %d shown, %d not, %d counted", len(c.Entries), n, c.Earlier, c.Messages)
		}
	})
}

func TestASearchFindsWhatWasSaidOnce(t *testing.T) {
	h := family(t).history()
	for _, tt := range []struct {
		words []string
		want  []Hit
	}{
		{[]string{"RED", "where"}, []Hit{{mainID, at(0), User, "Where is the red key?"}}}, // without its two copies in forks
		{[]string{"red key"}, []Hit{{mainID, at(0), User, "Where is the red key?"}}},
		{[]string{"the"}, []Hit{
			{runID, at(181), Call, "ping_user: Take the blue pill."},
			{forkID, at(94), User, "The ficus."},
			{mainID, at(1), Bot, "Under the mat."},
			{mainID, at(0), User, "Where is the red key?"},
		}},
		{[]string{"red", "ficus"}, nil},      // not in one message
		{[]string{"background"}, nil},        // the program's words
		{[]string{"really"}, nil},            // a tool's result
		{[]string{"end of message"}, nil},    // the end of every message
		{[]string{" ", ""}, nil},             // no words
		{[]string{`"role"`, "content"}, nil}, // from the file format
	} {
		hits, more, err := h.Search(tt.words, time.Time{})
		if diff := cmp.Diff(tt.want, hits); diff != "" || more != 0 || err != nil {
			t.Errorf("%q: %d more, %v\n%s", tt.words, more, err, diff)
		}
	}
	if hits, _, _ := h.Search([]string{"the"}, at(90)); len(hits) != 2 {
		t.Errorf("since then there are %v", hits)
	}
}

func TestASearchGivesTheNewestAndSaysHowManyThereAre(t *testing.T) {
	w := newWorld(t)
	w.session("aaaaaaaa-1", at(600), large(500)...)
	hits, more, err := w.history().Search([]string{"question"}, time.Time{})
	if err != nil || len(hits) != maxHits || more != 450 || !hits[0].At.Equal(at(499)) || !hits[49].At.Equal(at(450)) {
		t.Errorf("%d hits and %d more: %v", len(hits), more, err)
	}
}

func TestAnExcerptShowsThePlace(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		filler := rapid.StringMatching(`([a-yäİßK日] ?){0,300}`)
		text := filler.Draw(t, "before") + "zZ" + filler.Draw(t, "after")
		excerpt, ok := match(text, []string{"zz"})
		if !ok || !strings.Contains(excerpt, "zZ") || len([]rune(excerpt)) > excerptRunes+2 {
			t.Fatalf("%v, %q", ok, excerpt)
		}
	})
}
