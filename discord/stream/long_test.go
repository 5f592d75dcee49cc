package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestALongAnswerKeepsThePaceOfTheChannelAndMovesAllTheTime(t *testing.T) {
	code := "Look:\n```go\n" + strings.ReplaceAll(words(6000), "\n", "\n\t") + "\n```\nThat is " + words(2500)
	for name, tt := range map[string]struct {
		text      string
		over      time.Duration
		pieces    int
		delay     time.Duration
		gap, took time.Duration // the most
	}{
		"streamed":                  {words(20_000), 40 * time.Second, 800, 100 * time.Millisecond, 2 * time.Second, 42 * time.Second},
		"all at once":               {words(20_000), 0, 1, 100 * time.Millisecond, 2 * time.Second, 12 * time.Second},
		"over a slow network":       {words(8000), 40 * time.Second, 400, 3 * time.Second, 5 * time.Second, 50 * time.Second},
		"code":                      {code, 20 * time.Second, 900, 100 * time.Millisecond, 2 * time.Second, 23 * time.Second},
		"emoji, cut at seven bytes": {strings.Repeat("🦊", 2000) + strings.Repeat("👩‍👩‍👧", 400), 20 * time.Second, 2172, 100 * time.Millisecond, 3 * time.Second, 25 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inRoom(t, Options{StatusLine: true}, func(t *testing.T, r *room, a *Answer) {
				r.do(func() { r.delay, r.still = tt.delay, true })
				begin := time.Now()
				stream(a, tt.text, tt.over, tt.pieces)
				a.End(t.Context(), false)
				took, gap := time.Since(begin), r.longestGap(begin)
				if most := int(took/EditEvery) + 1; gap > tt.gap || took > tt.took || r.called.edits > most || tt.pieces == 1 && r.called.edits > 0 {
					t.Errorf("%+v in %v, and nothing moved for %v", r.called, took, gap)
				}
				for i, m := range r.texts() {
					if strings.Count(m, "```")%2 != 0 || name == "code" && i > 0 && i < 4 && !strings.HasPrefix(m, "```go\n") {
						t.Errorf("message %d has a block that is open: %.20q … %q", i, m, m[len(m)-20:])
					}
					if strings.HasPrefix(name, "emoji") && !strings.HasSuffix(m, "🦊") && !strings.HasSuffix(m, "👩‍👩‍👧") {
						t.Errorf("cut through a character: %q", m[len(m)-20:])
					}
				}
				fences := strings.NewReplacer("```go", "", "```", "", "\t", "    ")
				if got, want := bare(fences.Replace(strings.Join(r.texts(), "\n"))), bare(fences.Replace(tt.text)); got != want {
					t.Errorf("%d bytes, want %d", len(got), len(want))
				}
			})
		})
	}
}

// D3: the lock screen had "Sure. Your dentist appointment is on Tue".
func TestTheFirstMessageEndsAtASentenceHoweverTheWordsArrive(t *testing.T) {
	const said = "Sure. Your dentist, Dr. Lee, expects you on Tuesday at 3. She asks you to come ten minutes early! Bring the card."
	for size := 1; size < len(said); size += 3 {
		inRoom(t, Options{}, func(t *testing.T, r *room, a *Answer) {
			pieces := (len(said) + size - 1) / size
			stream(a, said, time.Duration(pieces*size)*10*time.Millisecond, pieces)
			a.End(t.Context(), false)
			if got := r.rings(); len(got) != 1 || !slices.Contains([]string{said, said[:len(said)-len(" Bring the card.")]}, got[0]) {
				t.Errorf("in pieces of %d, the phone shows %q", size, got)
			}
			if err := r.says(said); err != nil {
				t.Error(err)
			}
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
		"Your appointment is on Tuesday at three. It":              {40, 40},
		"Your appointment is on Monday at seven! It's":             {0, 39},
		"It takes two hours or so, I would say, about ~3 in":       {0, 47},
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

func TestAWriterThatGivesUpHoldsNoOtherUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := NewLine(SendEvery, EditEvery)
		var group sync.WaitGroup
		group.Go(func() {
			_ = line.Send(t.Context(), func(ctx context.Context) error { return sleep(ctx, 30*time.Second, nil) })
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // ends as the turn comes
		defer cancel()
		errs := make(chan error, 50)
		for range cap(errs) {
			group.Go(func() { errs <- line.Send(ctx, func(context.Context) error { return nil }) })
			synctest.Wait()
		}
		begin := time.Now()
		err := line.Send(t.Context(), func(context.Context) error { return nil })
		took, left := time.Since(begin), 0
		group.Wait()
		for range cap(errs) {
			if errors.Is(<-errs, context.DeadlineExceeded) {
				left++
			}
		}
		if err != nil || left < 49 || took > 33*time.Second {
			t.Errorf("%d left, %v, %v", left, took, err)
		}
	})
}

func TestEditsOfAllWritersKeepThePace(t *testing.T) {
	inRoom(t, Options{StatusLine: true}, func(t *testing.T, r *room, a *Answer) {
		b := New(t.Context(), Options{StatusLine: true, Channel: r, Line: a.o.Line})
		for range 400 {
			a.Append("one and ")
			b.Append("two and ")
			time.Sleep(50 * time.Millisecond)
		}
		a.End(t.Context(), false)
		b.End(t.Context(), false)
		if got := strings.Join(r.texts(), " "); strings.Count(got, "one") != 400 || strings.Count(got, "two") != 400 {
			t.Errorf("%d, %d", strings.Count(got, "one"), strings.Count(got, "two"))
		}
		var group sync.WaitGroup
		begin, edits := time.Now(), r.called.edits
		for i := range 10 {
			group.Go(func() {
				for k := range 3 {
					err := a.o.Line.Edit(t.Context(), func(ctx context.Context) error { return r.Edit(ctx, "1", Page{Text: fmt.Sprint("edit ", i, k)}) })
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if took := time.Since(begin); r.called.edits != edits+30 || took < 29*EditEvery || took > 31*EditEvery {
			t.Errorf("%+v in %v", r.called, took)
		}
	})
}
