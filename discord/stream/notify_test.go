package stream

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// rings are the texts with which messages notified, as they stand now.
func (r *room) rings() (out []string) {
	r.do(func() {
		for _, m := range r.list {
			if m.rang {
				out = append(out, m.text)
			}
		}
	})
	return out
}

// P2
func TestThePhoneRingsOnceAndShowsTheFirstSentence(t *testing.T) {
	quietly(t, func(t *testing.T, r *room, a *Answer) {
		time.Sleep(20 * time.Second)
		screen(t, r)
		r.do(func() {
			if len(r.typed) != 3 || time.Since(r.typed[0]) < 20*time.Second-time.Second/5 {
				t.Errorf("typing was shown at %v", r.typed)
			}
		})
		a.Append("The train leaves at ")
		time.Sleep(1500 * time.Millisecond)
		screen(t, r)
		a.Append("nine from platform four. It is")
		time.Sleep(400 * time.Millisecond)
		if got := r.notified(); len(got) != 1 || got[0] != "The train leaves at nine from platform four." {
			t.Errorf("the phone shows %q", got)
		}
		screen(t, r, "The train leaves at nine from platform four. It is")
		a.Append(" late. " + words(4500))
		end(t, a)
		if got := r.rings(); len(got) != 1 || len(r.texts()) != 3 {
			t.Errorf("%d messages, and %d rang: %.80q", len(r.texts()), len(got), got)
		}
	})
}

// notified are the texts with which messages notified, as they were then.
func (r *room) notified() (out []string) {
	r.do(func() {
		for _, m := range r.list {
			if m.rang {
				out = append(out, m.first)
			}
		}
	})
	return out
}

// D3: the lock screen had "Sure. Your dentist appointment is on Tue".
func TestTheFirstMessageEndsAtASentenceHoweverTheWordsArrive(t *testing.T) {
	const said = "Sure. Your dentist, Dr. Lee, expects you on Tuesday at 3. She asks you to come ten minutes early! Bring the card."
	for size := 1; size < len(said); size += 3 {
		quietly(t, func(t *testing.T, r *room, a *Answer) {
			for text := said; text != ""; {
				n := min(size, len(text))
				a.Append(text[:n])
				text = text[n:]
				time.Sleep(time.Second * time.Duration(size) / 100)
			}
			end(t, a)
			got := r.notified()
			if len(got) != 1 || !slices.Contains([]string{said, said[:len(said)-len(" Bring the card.")]}, got[0]) {
				t.Errorf("in pieces of %d, the phone shows %q", size, got)
			}
			screen(t, r, said)
		})
	}
}

// D3
func TestOpeningsEndAtSentencesOrWords(t *testing.T) {
	const chinese = "明日の午前九時に歯医者の予約がありますので、診察券と保険証を忘れずに持ってきてください。"
	for words, want := range map[string][2]int{ // while they wait, and when they have waited
		"":      {0, 0},
		"Sure.": {0, 5},
		"Sure. Your dentist appointment is on Tue":                 {0, 36},
		"Sure, I have it. Your dentist appointment is on":          {0, 44},
		"Sure. Your dentist appointment is on Tuesday. The":        {45, 45},
		"Sure. Your dentist appointment is on Tuesday.":            {0, 45},
		"Your appointment with Dr. Lee is at 3. It costs 4.50 and": {0, 52},
		"**Your appointment is on Tuesday at three.** It":          {44, 44},
		"# The plan of today, Tuesday the fourth of May\n- get up": {47, 47},
		"It is at 10:30, not 11:30, e.g. because of the train to":  {0, 52},
		chinese + "次":            {len(chinese), len(chinese)},
		strings.Repeat("x", 300): {0, 300},
	} {
		if got := [2]int{opening(words, false), opening(words, true)}; got != want {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
}

// D6: a card before the words is the one that rings; one behind them does not.
func TestACardAndItsAnswerRingOnce(t *testing.T) {
	quietly(t, func(t *testing.T, r *room, a *Answer) {
		if !a.Rings() {
			t.Error("a card before the words is silent")
		}
		a.Rang()
		if a.Rings() {
			t.Error("a second card rings, too")
		}
		a.Append("Here is your plan for today, as you asked for it. ")
		end(t, a)
		if got := r.rings(); len(got) != 0 {
			t.Errorf("rang %q", got)
		}
	})
	quietly(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("Here is your plan.")
		if a.Rings() {
			t.Error("a card after the words rings")
		}
		end(t, a)
		if got := r.rings(); len(got) != 1 {
			t.Errorf("rang %q", got)
		}
	})
	toldWith(t, Options{Silent: true}, func(t *testing.T, r *room, a *Answer) {
		a.Append("Shall I leave?")
		end(t, a)
		if got := r.rings(); len(got) != 0 || a.Rings() {
			t.Errorf("a silent answer rang %q", got)
		}
	})
}

// D4: without a network, the answers keep their order.
func TestALaterAnswerWaitsForTheMessagesOfTheEarlierOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		r.faults(func(string) trouble { return lost })
		line := NewLine(SendEvery, EditEvery)
		first := New(t.Context(), Options{Channel: r, Line: line})
		first.Append("The first answer.")
		time.Sleep(time.Minute) // its pauses are long now
		var group sync.WaitGroup
		group.Go(func() { first.End(t.Context(), false) })
		second := New(t.Context(), Options{Channel: r, Line: line, After: first.Sent()})
		second.Append("The second answer.")
		group.Go(func() { second.End(t.Context(), false) })
		time.Sleep(time.Minute)
		r.faults(nil)
		group.Wait()
		screen(t, r, "The first answer.", "The second answer.")
	})
}

// P2
func TestFirstWordsWithoutAnEndWaitTwoSeconds(t *testing.T) {
	quietly(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("Well")
		time.Sleep(1900 * time.Millisecond)
		screen(t, r)
		time.Sleep(400 * time.Millisecond)
		screen(t, r, "Well")
	})
}

// P2
func TestLongWorkHasASilentMessageThatGoesWhenTheAnswerComes(t *testing.T) {
	quietly(t, func(t *testing.T, r *room, a *Answer) {
		for i := range 5 {
			a.Tool(fmt.Sprintf("Read(%d)", i), false)
		}
		time.Sleep(2900 * time.Millisecond)
		screen(t, r)
		time.Sleep(400 * time.Millisecond)
		screen(t, r, "-# *Read(0)*\n\n-# *Read(1)*\n\n-# *Read(2)*\n\n-# *+2 more*\n-# *Working...*")
		r.mu.Lock()
		stop, rang := r.list[0].page.Stop, r.list[0].rang
		r.mu.Unlock()
		if !stop || rang {
			t.Errorf("the status: stop %v, rang %v", stop, rang)
		}
		time.Sleep(time.Minute)
		if n := r.count().edits; n > 13 {
			t.Errorf("%d edits in a minute", n)
		}
		a.Append("Found it.")
		time.Sleep(3 * time.Second)
		screen(t, r, "Found it.")
		ids := end(t, a)
		screen(t, r, "Found it.\n-# *Read(0)*\n\n-# *Read(1)*\n\n-# *Read(2)*\n\n-# *+2 more*")
		if got := r.rings(); len(got) != 1 || !strings.HasPrefix(got[0], "Found it.") || len(ids) != 1 || ids[0] != "2" {
			t.Errorf("rang %q, %v", got, ids)
		}
	})
}

// P2
func TestADelayIsToldSilentlyAndSoIsWhatComesAfterTheFirstWords(t *testing.T) {
	quietly(t, func(t *testing.T, r *room, a *Answer) {
		a.Status("the account's limit is reached")
		time.Sleep(3500 * time.Millisecond)
		screen(t, r, "-# *the account's limit is reached...*")
		a.Append("Here I am.")
		time.Sleep(3 * time.Second)
		a.Tool("Bash", false)
		a.Status("retrying")
		time.Sleep(4 * time.Second)
		screen(t, r, "Here I am.\n-# *Bash*", "-# *retrying...*")
		a.Append("And on.")
		end(t, a)
		screen(t, r, "Here I am.\n-# *Bash*\nAnd on.")
		if got := r.rings(); len(got) != 1 {
			t.Errorf("rang %q", got)
		}
	})
}

// P2
func TestWordsThatAreTakenBackDoNotRingAgain(t *testing.T) {
	quietly(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("Wrong words.")
		time.Sleep(3 * time.Second)
		a.Rewind(len("Wrong words."))
		time.Sleep(2 * time.Second)
		screen(t, r, "-# *Working...*")
		a.Append("Right words.")
		if ids := end(t, a); len(ids) != 1 || r.count().sends != 1 {
			t.Errorf("%v, %+v", ids, r.count())
		}
		screen(t, r, "Right words.")
	})
}

// P2
func TestATurnOfToolsOnlyLeavesNothingButAnExcuse(t *testing.T) {
	for _, tt := range []struct {
		fine bool
		want []string
	}{{true, nil}, {false, []string{textNoAnswer}}} {
		quietly(t, func(t *testing.T, r *room, a *Answer) {
			a.Tool("Read", false)
			time.Sleep(5 * time.Second)
			a.End(t.Context(), tt.fine)
			screen(t, r, tt.want...)
			if got := r.rings(); len(got) != len(tt.want) {
				t.Errorf("rang %q", got)
			}
		})
	}
}

// P13
func TestAGrowingAnswerOffersToStopAndAFinishedOneDoesNot(t *testing.T) {
	quietly(t, func(t *testing.T, r *room, a *Answer) {
		stream(a, words(3000), 10*time.Second, 20)
		r.do(func() {
			if len(r.list) != 2 || r.list[0].page.Stop || !r.list[1].page.Stop {
				t.Errorf("%+v %+v", r.list[0].page.Stop, r.list[len(r.list)-1].page.Stop)
			}
		})
		end(t, a)
		r.do(func() {
			for _, m := range r.list {
				if m.page.Stop {
					t.Error("a finished answer offers to stop it")
				}
			}
		})
	})
	quietly(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("Short.")
		time.Sleep(5 * time.Second)
		end(t, a)
		if c := r.count(); c.sends != 1 || c.edits != 0 {
			t.Errorf("a short answer cost %+v", c)
		}
	})
}

// P2
func TestWhateverHappensAnAnswerRingsAtMostOnce(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		list := moves(rt)
		var rang []string
		var left string
		var limited int
		synctest.Test(t, func(t *testing.T) {
			r := newRoom()
			a := New(t.Context(), Options{Channel: r})
			for _, v := range list {
				if v.kind != "delete" && v.kind != "old" { // what the user deletes may ring again
					perform(a, r, v)
				}
			}
			a.End(t.Context(), true)
			rang, left, limited = r.rings(), strings.Join(r.texts(), "\n"), r.called.limited
			if said := a.draft.words(); said != "" && len(rang) == 0 {
				rt.Errorf("nothing rang for %q", said)
			}
		})
		if len(rang) > 1 || strings.Contains(left, textWorking) || strings.Contains(left, "retry") || limited > 0 {
			rt.Errorf("rang %q, %d times over the limit, left:\n%s", rang, limited, left)
		}
	})
}
