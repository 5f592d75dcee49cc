package script

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// compactings returns a turn's compaction events.
func compactings(t *testing.T, s agent.Session, text string) (list []agent.Compacting, result agent.Result) {
	t.Helper()
	for ev, err := range s.Send(t.Context(), agent.Message{Command: agent.Compact, Text: text}) {
		testkit.Must(t, err)
		switch ev := ev.(type) {
		case agent.Compacting:
			list = append(list, ev)
		case agent.Result:
			result = ev
		default:
			t.Errorf("%T in a compaction", ev)
		}
	}
	return list, result
}

func talk(t *testing.T, s agent.Session, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if _, _, err := turnOf(t.Context(), s, l); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCompactSumsTheHistoryUp(t *testing.T) {
	for _, command := range []string{"", "keep the names", " keep\nthis\n"} {
		s := open(t, Options{}, agent.SessionOptions{}).(*session)
		talk(t, s, "hello", strings.Repeat("a long story ", 2000), "thanks")
		list, result := compactings(t, s, command)
		if len(list) != 2 || list[0].Done || !list[1].Done || list[0].Auto || list[1].Auto || list[0].PreTokens != list[1].PreTokens {
			t.Fatalf("%q: %+v", command, list)
		}
		if n := list[0].PreTokens; n < preset+6500 || n > preset+8000 { // 26,000 characters and a few answers
			t.Errorf("%d tokens before", n)
		}
		if result.IsError || result.SessionID != s.ID() || result.Turns != 3 || !strings.Contains(result.Text, "tokens became") {
			t.Errorf("%+v", result)
		}
		if len(s.history) != 1 || s.history[0].Asked != "thanks" {
			t.Errorf("history: %+v", s.history)
		}
		if again, _ := compactings(t, s, ""); again[0].PreTokens > preset+200 {
			t.Errorf("%d tokens after", again[0].PreTokens)
		}
	}
}

func TestACompactionThatIsInterruptedChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Pace: 1}, agent.SessionOptions{}).(*session)
		talk(t, s, "hello", "thanks")
		var result agent.Result
		for ev, err := range s.Send(t.Context(), agent.Message{Command: agent.Compact}) {
			testkit.Must(t, err)
			switch ev := ev.(type) {
			case agent.Compacting:
				if ev.Done {
					t.Error("it went on")
				}
				testkit.Must(t, s.Interrupt(t.Context()))
			case agent.Result:
				result = ev
			}
		}
		if !result.Interrupted || len(s.history) != 2 {
			t.Errorf("%+v, %d turns", result, len(s.history))
		}
	})
}

func TestACompactionTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Pace: 1}, agent.SessionOptions{})
		start := time.Now()
		compactings(t, s, "")
		if d := time.Since(start); d != 1500*time.Millisecond {
			t.Errorf("%v", d)
		}
	})
}

func TestATurnIsBookedOnce(t *testing.T) {
	var list []agent.Charge
	o := agent.SessionOptions{Hooks: agent.Hooks{Charge: func(c agent.Charge) { list = append(list, c) }}}
	s := open(t, Options{Priced: true}, o).(*session)
	_, result, err := turnOf(t.Context(), s, "hello")
	testkit.Must(t, err)
	_, _, err = turnWith(t.Context(), s, agent.Message{Command: agent.Compact})
	testkit.Must(t, err)
	if len(list) != 2 || list[0].Used != result.Usage || list[0].Part != agent.Main || list[1].Part != agent.Compaction {
		t.Errorf("%+v", list)
	}
}

func TestWordsOfAUserAreNoCommand(t *testing.T) {
	for _, text := range []string{"/cost", "/compact", "/compact now", "/cost of living", "what does /cost do", "/compacted", "please /compact", "[2026-11-23 Mon 09:02 AM PT] /cost", "/Cost"} {
		s := open(t, Options{}, agent.SessionOptions{}).(*session)
		got, _, err := turnOf(t.Context(), s, text)
		if err != nil || strings.Contains(strings.Join(got, "\n"), "offline engine is free") || strings.Contains(strings.Join(got, "\n"), "compacting") || len(s.history) != 1 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
