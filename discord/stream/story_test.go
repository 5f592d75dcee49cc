package stream

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
)

func screen(t *testing.T, r *room, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.texts()); diff != "" {
		t.Errorf("the screen (-want +got):\n%s", diff)
	}
}

func TestAnAnswerThatComesAtOnceIsOneMessageWithoutAStatus(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		time.Sleep(100 * time.Millisecond)
		a.Append("Hello ")
		a.Append("there.")
		ids := end(t, a)
		screen(t, r, "Hello there.")
		if r.count().sends != 1 || r.count().edits != 0 || len(ids) != 1 || ids[0] != "1" {
			t.Errorf("%+v, %q", r.count(), ids)
		}
	})
}

func TestSilenceIsFilledWithAStatusThatBecomesTheText(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		time.Sleep(250 * time.Millisecond)
		screen(t, r)
		time.Sleep(200 * time.Millisecond)
		screen(t, r, "-# *Thinking...*")
		time.Sleep(3*time.Second + 100*time.Millisecond)
		screen(t, r, "-# *Thinking... (3s)*")
		a.Append("There it is.")
		time.Sleep(1500 * time.Millisecond)
		screen(t, r, "There it is.")
		if ids := end(t, a); len(ids) != 1 || r.count().sends != 1 || r.count().deletes != 0 {
			t.Errorf("%+v, %q", r.count(), ids)
		}
	})
}

func TestAStatusTicksNoFasterThanTheChannelAllows(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		time.Sleep(time.Minute)
		if n := r.count().edits; n < 40 || n > 50 {
			t.Errorf("%d edits in a minute", n)
		}
		r.do(func() {
			if len(r.typed) > 0 {
				t.Errorf("typing was shown %d times beside a status that moves", len(r.typed))
			}
		})
	})
}

func TestANewLabelBeginsItsOwnTime(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		time.Sleep(5 * time.Second)
		a.Status("retry 2 of 10 *now*")
		time.Sleep(2500 * time.Millisecond)
		if got := r.texts(); len(got) != 1 || !strings.HasPrefix(got[0], `-# *retry 2 of 10 \*now\*... (`) || strings.Contains(got[0], "(5s)") {
			t.Errorf("%q", got)
		}
		time.Sleep(2 * time.Second)
		a.Status("retry 2 of 10 *now*")
		time.Sleep(1500 * time.Millisecond)
		if got := r.texts(); len(got) != 1 || !strings.Contains(got[0], "(5s)") && !strings.Contains(got[0], "(6s)") {
			t.Errorf("the same label began anew: %q", got)
		}
		a.Status("")
		time.Sleep(2500 * time.Millisecond)
		if got := r.texts(); len(got) != 1 || !strings.HasPrefix(got[0], "-# *Thinking... (") || len(r.texts()[0]) > 24 {
			t.Errorf("%q", got)
		}
	})
}

func TestALabelInMidAnswerStandsBehindTheTextUntilItGoesOn(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("So far. ")
		time.Sleep(2 * time.Second)
		a.Status("retry 1 of 3")
		time.Sleep(500 * time.Millisecond)
		screen(t, r, "So far.", "-# *retry 1 of 3...*")
		a.Append("And on.")
		ids := end(t, a)
		screen(t, r, "So far. And on.")
		if len(ids) != 1 {
			t.Errorf("%q", ids)
		}
	})
}

func TestToolsStandInTheTextAndRefusalsAreStruckOut(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("Looking.")
		a.Tool("Grep(a_b*, notes)", false)
		a.Tool("Bash", true)
		a.Append("Found.")
		end(t, a)
		screen(t, r, "Looking.\n-# *Grep(a\\_b\\*, notes)*\n\n-# *~~Bash~~ — denied*\nFound.")
	})
}

func TestABusyTurnShowsThreeToolsAndCountsTheOthers(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		for i := range 40 {
			a.Tool(fmt.Sprintf("Read(%d)", i), i == 30)
			time.Sleep(time.Second)
		}
		a.Append("Read all.")
		end(t, a)
		var want strings.Builder
		for i := range 3 { // P4
			fmt.Fprintf(&want, "-# *Read(%d)*\n\n", i)
		}
		screen(t, r, want.String()+"-# *+37 more · 1 denied*\nRead all.")
	})
}

func TestACompactionHasAMessageOfItsOwnAndTheTextGoesOnBehindIt(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("Before.")
		time.Sleep(2 * time.Second)
		a.Compacting(agent.Compacting{Auto: true, PreTokens: 119_600})
		time.Sleep(500 * time.Millisecond)
		screen(t, r, "Before.", "-# *Auto-compacting 120k tokens...*")
		time.Sleep(7*time.Second + 600*time.Millisecond)
		a.Compacting(agent.Compacting{Done: true, Auto: true, PreTokens: 120_100})
		time.Sleep(3 * time.Second)
		screen(t, r, "Before.", "-# *auto-compacted · 120k tokens · 8s*", "-# *Thinking... (2s)*")
		a.Append("After.")
		if ids := end(t, a); len(ids) != 3 {
			t.Errorf("%q", ids)
		}
		screen(t, r, "Before.", "-# *auto-compacted · 120k tokens · 8s*", "After.")
	})
}

func TestACompactionIsOverWhenTheAnswerGoesOn(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(a *Answer)
		want []string
	}{
		"text":       {func(a *Answer) { a.Append("On.") }, []string{"-# *auto-compacted · 2s*", "On."}},
		"the end":    {func(*Answer) {}, []string{"-# *auto-compacted · 2s*"}},
		"a late end": {func(a *Answer) { a.Append("On."); a.Compacting(agent.Compacting{Done: true, PreTokens: 5000}) }, []string{"-# *auto-compacted · 5k tokens · 2s*", "On."}},
		"a label": {func(a *Answer) {
			a.Status("retry")
			time.Sleep(time.Second)
			a.Compacting(agent.Compacting{Done: true})
		}, []string{"-# *auto-compacted · 3s*"}},
		"a second one": {func(a *Answer) {
			a.Compacting(agent.Compacting{Done: true})
			a.Compacting(agent.Compacting{Done: true, PreTokens: 9000})
		}, []string{"-# *auto-compacted · 2s*", "-# *compacted · 9k tokens*"}},
	} {
		t.Run(name, func(t *testing.T) {
			told(t, func(t *testing.T, r *room, a *Answer) {
				a.Compacting(agent.Compacting{Auto: true})
				time.Sleep(2 * time.Second)
				tt.do(a)
				end(t, a)
				screen(t, r, tt.want...)
			})
		})
	}
}

func TestAnAnswerWithoutAWordSaysSoOrLeavesNothing(t *testing.T) {
	for _, tt := range []struct {
		wait time.Duration
		fine bool
		want []string
	}{
		{2 * time.Second, false, []string{"no answer arrived; try again."}},
		{0, false, []string{"no answer arrived; try again."}},
		{2 * time.Second, true, nil},
		{0, true, nil},
	} {
		told(t, func(t *testing.T, r *room, a *Answer) {
			time.Sleep(tt.wait)
			a.Append(" \n")
			if ids := a.End(t.Context(), tt.fine); len(ids) != len(tt.want) {
				t.Errorf("%q", ids)
			}
			screen(t, r, tt.want...)
		})
	}
}

func TestTypingIsShownWhileNothingElseMoves(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("One moment.")
		time.Sleep(30 * time.Second)
		r.do(func() {
			for i := 1; i < len(r.typed); i++ {
				if pause := r.typed[i].Sub(r.typed[i-1]); pause > 8200*time.Millisecond {
					t.Errorf("renewed after %v", pause)
				}
			}
			if len(r.typed) != 4 {
				t.Errorf("%d times in 30 s", len(r.typed))
			}
		})
	})
}

func TestWhatIsCutInTwoIsShownWhole(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		for _, piece := range []string{"a \xf0\x9f", "\x91\x8d b\x1b[3", "1mc\x1b", "[0m d\u202e \xe2", "\x82\xac e\r", "\nf\xc3"} {
			a.Append(piece)
			time.Sleep(2 * time.Second)
			if strings.ContainsAny(strings.Join(r.texts(), ""), "\ufffd\x1b\u202e") {
				t.Errorf("after %q: %q", piece, r.texts())
			}
		}
		end(t, a)
		screen(t, r, "a 👍 bc d € e\nf\ufffd")
	})
}

func TestAnAnswerTakesWordsBack(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		text := words(5000)
		a.Append(text)
		time.Sleep(10 * time.Second)
		if n := len(r.texts()); n != 3 {
			t.Fatalf("%d messages", n)
		}
		a.Tool("Read(x)", false)
		a.Rewind(3900)
		time.Sleep(10 * time.Second)
		screen(t, r, strings.TrimSpace(text[:1100]+"\n-# *Read(x)*"))
		a.Append(words(4000))
		end(t, a)
		if err := r.says(text[:1100] + "\n-# *Read(x)*\n" + words(4000)); err != nil {
			t.Error(err)
		}
		a.Rewind(1)
		a.Append("too late")
	})
}

func TestTextThatBreaksOffAndComesAgainDoesNotFlicker(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		r.keepStill()
		text := words(5000)
		a.Append(text)
		time.Sleep(10 * time.Second)
		before := r.count()
		a.Rewind(5000)
		a.Append(text)
		time.Sleep(10 * time.Second)
		if r.count() != before {
			t.Errorf("%+v, then %+v", before, r.count())
		}
	})
}

func TestAnAnswerThatBeginsAnewKeepsItsMessage(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("A word")
		time.Sleep(3 * time.Second)
		a.Rewind(6)
		time.Sleep(2500 * time.Millisecond)
		if got := r.texts(); len(got) != 1 || !strings.HasPrefix(got[0], "-# *Thinking...") {
			t.Errorf("%q", got)
		}
		a.Append("Another word")
		end(t, a)
		screen(t, r, "Another word")
		if r.count().sends != 1 || r.count().deletes != 0 {
			t.Errorf("%+v", r.count())
		}
	})
}

func TestNoChangeIsMissedBetweenLookingAndWaiting(t *testing.T) {
	a := &Answer{wake: make(chan struct{}, 1)}
	a.Append("a")
	a.Append("b")
	if a.sketch(false); len(a.wake) != 0 {
		t.Error("what was seen wakes the editor once more")
	}
	a.Append("c")
	if len(a.wake) != 1 {
		t.Error("the editor would sleep over a change")
	}
}
