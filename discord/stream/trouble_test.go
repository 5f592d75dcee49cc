package stream

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
)

func TestTwentyThousandCharactersStreamWithinTheLimitsAndWithoutAGap(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		r.keepStill()
		text, begin := words(20_000), time.Now()
		stream(a, text, 40*time.Second, 800)
		ids := end(t, a)
		took := time.Since(begin)
		if err := r.says(text); err != nil {
			t.Error(err)
		}
		gap := r.longestGap(begin)
		t.Logf("%d edits, %d messages, longest gap %v, %v in all", r.count().edits, len(ids), gap, took)
		if gap > 2*time.Second {
			t.Errorf("nothing moved for %v", gap)
		}
		if most := int(took/EditEvery) + 1; r.count().edits > most {
			t.Errorf("%d edits in %v", r.count().edits, took)
		}
		if took > 42*time.Second {
			t.Errorf("ended after %v", took)
		}
	})
}

func TestTwentyThousandCharactersAtOnceArriveWithoutAGap(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		begin := time.Now()
		a.Append(words(20_000))
		end(t, a)
		gap := r.longestGap(begin)
		t.Logf("longest gap %v, %v in all", gap, time.Since(begin))
		if err := r.says(words(20_000)); err != nil || gap > 2*time.Second || r.count().edits > 0 {
			t.Errorf("%v, gap %v, %+v", err, gap, r.count())
		}
	})
}

func TestASlowNetworkBringsTheNewestText(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		r.do(func() { r.delay, r.still = 3*time.Second, true })
		text, begin := words(8000), time.Now()
		stream(a, text, 40*time.Second, 400)
		end(t, a)
		gap := r.longestGap(begin)
		t.Logf("%+v, longest gap %v, %v in all", r.count(), gap, time.Since(begin))
		if err := r.says(text); err != nil {
			t.Error(err)
		}
		if gap > 5*time.Second {
			t.Errorf("nothing moved for %v", gap)
		}
	})
}

func TestAMinuteWithoutNetworkLosesNothingAndDoublesNothing(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		text := words(9000)
		begin := time.Now()
		r.faults(func(string) trouble {
			switch at := time.Since(begin); {
			case at > 10*time.Second && at < 12*time.Second:
				return unanswered // the last requests still arrive
			case at >= 12*time.Second && at < 70*time.Second:
				return lost
			}
			return fine
		})
		stream(a, text, 60*time.Second, 600)
		time.Sleep(22 * time.Second)
		if err := r.says(text); err != nil {
			t.Errorf("12 s after the network came back: %v", err)
		}
		end(t, a)
		if err := r.says(text); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatAnUnansweredEditDidIsNotTakenForGranted(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		a.Append("Yes.")
		time.Sleep(2 * time.Second)
		r.faults(func(string) trouble { return unanswered })
		a.Append(" No.")
		time.Sleep(500 * time.Millisecond)
		screen(t, r, "Yes. No.")
		a.Rewind(4)
		r.faults(nil)
		end(t, a)
		screen(t, r, "Yes.")
	})
}

func TestTheEndDoesNotWaitForTheNextTry(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		tries := 0
		r.faults(func(string) trouble { tries++; return lost })
		a.Append("Yes.")
		time.Sleep(10 * time.Minute)
		r.faults(nil)
		if tries < 60 || tries > 130 {
			t.Errorf("%d tries in ten minutes", tries)
		}
		begin := time.Now()
		end(t, a)
		if took := time.Since(begin); took > 2*time.Second {
			t.Error(took)
		}
	})
}

func TestAnAnswerThatCouldNotBeShownIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRoom(), &journal{}
		r.fault = func(string) trouble { return lost }
		a := New(t.Context(), Options{StatusLine: true, Channel: r, Log: j.log()})
		a.Append("Is anybody there?")
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		begin := time.Now()
		if ids := a.End(ctx, false); len(ids) > 0 || time.Since(begin) != 20*time.Second {
			t.Errorf("%q after %v", ids, time.Since(begin))
		}
		if log := j.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, errNetwork.Error()) || strings.Contains(log, "anybody") {
			t.Errorf("%s", log)
		}
	})
}

func TestEndDuringASlowCallReturnsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		r.delay = time.Hour
		a := New(t.Context(), Options{StatusLine: true, Channel: r})
		a.Append("x")
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		a.End(ctx, false)
		if took := time.Since(begin); took != time.Second {
			t.Error(took)
		}
		if again := a.End(ctx, false); len(again) != 0 || time.Since(begin) != time.Second {
			t.Errorf("the second end: %q", again)
		}
	})
}

func TestTheContextOfAnAnswerEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r := newRoom()
		a := New(ctx, Options{StatusLine: true, Channel: r})
		a.Append("Half of")
		time.Sleep(time.Second)
		stop()
		a.Append(" it")
		begin := time.Now()
		if ids := a.End(context.Background(), false); len(ids) != 1 || time.Since(begin) > 0 {
			t.Errorf("%q after %v", ids, time.Since(begin))
		}
	})
}

func TestAMessageThatWasDeletedIsReplaced(t *testing.T) {
	for name, harm := range map[string]func(r *room){
		"deleted": func(r *room) { r.kill(-1) },
		"too old": func(r *room) {
			r.do(func() { r.list[len(r.list)-1].old = true })
		},
		"an earlier one, unnoticed": func(r *room) { r.kill(0) },
	} {
		t.Run(name, func(t *testing.T) {
			told(t, func(t *testing.T, r *room, a *Answer) {
				text := words(7000)
				stream(a, text[:3000], 6*time.Second, 60)
				time.Sleep(2 * time.Second)
				harm(r)
				stream(a, text[3000:], 8*time.Second, 60)
				ids := end(t, a)
				want := text
				if strings.Contains(name, "unnoticed") {
					want = strings.TrimPrefix(text, render.Split(text, 2000)[0])
				}
				if err := r.says(want); err != nil {
					t.Error(err)
				}
				if len(ids) != 4 {
					t.Errorf("%q", ids)
				}
			})
		})
	}
}

func TestAMessageInTheMiddleThatWasDeletedIsReplacedInOrder(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		a.Append(words(7000))
		time.Sleep(10 * time.Second)
		r.kill(1)
		a.Rewind(4000) // reaches into the second message
		a.Append(strings.Repeat("new ", 1000))
		end(t, a)
		if err := r.says(words(7000)[:3000] + strings.Repeat("new ", 1000)); err != nil {
			t.Error(err)
		}
	})
}

func TestAnAnswerThatItsUserDeletesTwiceIsNotPostedAgain(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		for i := range 600 {
			a.Append(fmt.Sprint(i, " "))
			time.Sleep(100 * time.Millisecond)
			r.kill(-1)
		}
		if n := r.count().sends; n > 2 {
			t.Errorf("%d messages in a minute", n)
		}
	})
}

// What the bot was doing stands in a message of its own, which nothing would ever change again.
func TestAnAnswerThatIsGivenUpLeavesNoStatus(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		for i := range 2 {
			a.Append("so far ")
			a.Status("retry")
			time.Sleep(10 * time.Second)
			if n := len(r.texts()); n != 2 {
				t.Fatalf("%d: %q", i, r.texts())
			}
			r.kill(-2) // the words; the status follows them
		}
		a.Append("and more")
		time.Sleep(10 * time.Second)
		a.End(t.Context(), true)
		if texts := r.texts(); len(texts) != 0 {
			t.Errorf("left: %q", texts)
		}
	})
}

func TestAUserWhoShutsTheBotOutForAMomentLosesNothing(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		shut := true
		r.do(func() {
			r.fault = func(string) trouble {
				if shut {
					return shutOut
				}
				return fine
			}
		})
		a.Append("all of it")
		time.Sleep(5 * time.Minute)
		if n := r.count().sends; n != 0 {
			t.Errorf("%d messages arrived", n)
		}
		r.do(func() { shut = false })
		end(t, a)
		if got := r.texts(); len(got) != 1 || got[0] != "all of it" {
			t.Errorf("%q", got)
		}
	})
}

func TestAVeryLongAnswerEndsAsAFileWithAllOfIt(t *testing.T) {
	r := newRoom()
	synctest.Test(t, func(t *testing.T) {
		growing := map[post.MessageID]bool{}
		a := New(t.Context(), Options{StatusLine: true, Channel: r, Messages: 5, Growing: func(id post.MessageID, there bool) {
			r.do(func() {
				if growing[id] = there; !there {
					delete(growing, id)
				}
			})
		}})
		var all strings.Builder
		for i := range 1500 {
			l := fmt.Sprintf("Line %d tells something.\n", i)
			all.WriteString(l)
			a.Append(l)
			time.Sleep(20 * time.Millisecond)
		}
		r.do(func() {
			if len(growing) != 1 {
				t.Errorf("it grows in %v", growing)
			}
		})
		if got := r.texts(); len(got) != 6 || got[5] != "-# *still writing: the full answer will be a file*" {
			t.Errorf("%d messages, the last is %.100q", len(got), got[len(got)-1])
		}
		ids := a.End(t.Context(), false)
		if len(ids) != 6 || len(r.texts()) != 6 || len(growing) != 0 {
			t.Errorf("%d ids, %d messages, %d growing", len(ids), len(r.texts()), len(growing))
		}
		last := r.list[len(r.list)-1]
		if last.file != all.String() || last.text != textInFile {
			t.Errorf("%q with a file of %d bytes, want %d", last.text, len(last.file), all.Len())
		}
	})
}

func TestFourThousandEmojiFitIntoMessages(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		text := strings.Repeat("🦊", 2000) + strings.Repeat("👩‍👩‍👧", 400)
		for i := 0; i < len(text); i += 7 { // in the middle of characters
			a.Append(text[i:min(i+7, len(text))])
			if i%70 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		end(t, a)
		if got := strings.Join(r.texts(), ""); got != text {
			t.Errorf("%d bytes, want %d", len(got), len(text))
		}
		for _, m := range r.texts() {
			if !strings.HasSuffix(m, "🦊") && !strings.HasSuffix(m, "👩‍👩‍👧") {
				t.Errorf("cut through a character: %q", m[len(m)-20:])
			}
		}
	})
}

func TestCodeBlocksAreClosedAndOpenedAgainAtASplit(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		r.keepStill()
		text := "Look:\n```go\n" + strings.ReplaceAll(words(6000), "\n", "\n\t") + "\n```\nThat is " + words(2500)
		stream(a, text, 20*time.Second, 900)
		end(t, a)
		list := r.texts()
		for i, m := range list {
			if strings.Count(m, "```")%2 != 0 {
				t.Errorf("message %d has a block that is open: %.20q … %q", i, m, m[len(m)-20:])
			}
			if i > 0 && i < 4 && !strings.HasPrefix(m, "```go\n") {
				t.Errorf("message %d goes on with %.20q", i, m)
			}
		}
		joined := strings.ReplaceAll(strings.ReplaceAll(strings.Join(list, ""), "```go", ""), "```", "")
		if want := bare(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(text, "\t", "    "), "```go", ""), "```", "")); bare(joined) != want {
			t.Errorf("%d bytes, want %d", len(bare(joined)), len(want))
		}
	})
}

func TestAPanicOfTheChannelEndsTheAnswerAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRoom(), &journal{}
		a := New(t.Context(), Options{StatusLine: true, Channel: r, Log: j.log(), Line: NewLine(SendEvery, EditEvery)})
		a.Append("One. ")
		time.Sleep(time.Second)
		r.faults(func(string) trouble { return fatal })
		a.Append("Two.")
		time.Sleep(5 * time.Second)
		a.Append("Three.")
		if ids := a.End(t.Context(), false); len(ids) != 1 || !strings.Contains(j.String(), "wire crossed") {
			t.Errorf("%q, %s", ids, j)
		}
		if err := a.o.Line.Send(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}

func TestAChannelThatRefusesForGoodIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRoom(), &journal{}
		calls := 0
		r.fault = func(string) trouble { calls++; return refused }
		a := New(t.Context(), Options{StatusLine: true, Channel: r, Log: j.log()})
		a.Append("x")
		time.Sleep(time.Minute)
		begin := time.Now()
		a.End(t.Context(), false)
		if calls != 1 || time.Since(begin) > 0 || strings.Count(j.String(), "\n") != 1 {
			t.Errorf("%d calls, %v, %s", calls, time.Since(begin), j)
		}
	})
}

func TestALimitedChannelIsLeftAloneAsLongAsItWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		r.sends = window{from: time.Now().Add(3 * time.Second), n: 5} // full for eight seconds
		a := New(t.Context(), Options{StatusLine: true, Channel: r})
		a.Append("Patience.")
		time.Sleep(7 * time.Second)
		if r.count().limited != 1 {
			t.Errorf("asked %d times", r.count().limited)
		}
		ids := a.End(t.Context(), false)
		if len(ids) != 1 || r.count().limited != 1 {
			t.Errorf("%q, %+v", ids, r.count())
		}
		screen(t, r, "Patience.")
	})
}
