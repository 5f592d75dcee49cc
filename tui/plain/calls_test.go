package plain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// long is a call that would write a file.
func long(lines int) policy.Approval {
	text := "# Plan"
	for i := range lines {
		text += fmt.Sprintf("\n    line %d of the plan", i+1)
	}
	return policy.Request{ID: "x", Tool: "Write", Question: "Write the file notes/plan.md?", Text: text}.Asked(time.Now())
}

func TestALongCallIsNamedAndReadWholeWhenAsked(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		a := long(30)
		s.bot.change(func(n *core.Snapshot) { n.Approvals = []policy.Approval{a} })
		const short = "Write the file notes/plan.md? # Plan ⏎     line 1 of the plan ⏎ "
		got := s.hears()
		s.one(got, "1, "+short)
		// N2: the tail is there, and how to read the rest comes before the answers.
		if !strings.Contains(got[0], " characters are not shown here⟧") || !strings.Contains(got[0], "line 30 of the plan, 31 lines, ") ||
			strings.Index(got[0], "approvals 1 reads all of it") > strings.Index(got[0], "allow 1") || !strings.Contains(got[0], "approvals 1 reads all of it") {
			t.Errorf("heard %q", got[0])
		}
		for _, line := range []string{"approvals 1", "waits"} { // the only one need not be named
			got := s.types(line)
			if len(got) != 33 || got[1] != "1: # Plan" ||
				got[31] != "31:     line 30 of the plan" || !strings.Contains(got[32], "allow 1, always 1 or deny 1") {
				t.Errorf("%s says\n%s", line, strings.Join(got, "\n"))
			}
		}
		s.one(s.change(func(n *core.Snapshot) { n.Approvals = nil }), "number 1 is no longer waiting: "+short)
		s.one(s.types("waits 1"), "no tool calls are waiting for you")
	})
}

func TestAShortCallIsSaidWhole(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.change(func(n *core.Snapshot) {
			n.Approvals = []policy.Approval{policy.Request{ID: "x", Tool: "Bash", Question: "Run this command?", Text: "ls -la"}.Asked(time.Now())}
		})
		got := s.hears()
		s.one(got, "approval: number 1, Run this command? ls -la, waits until")
		s.hasLines(s.types("waits 1"), "number 1", "1: ls -la", "allow 1")
		s.one(s.types("waits 7"), "there is no number 7 in the last list")
	})
}

// Whatever a call would do, the lines of waits N hold all of it, in order.
func TestNothingOfACallIsLeftOut(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text := clean.Text(rapid.StringOf(rapid.SampledFrom([]rune("ab ä\n(⏎)"))).Draw(t, "text"))
		text += strings.Repeat(rapid.SampledFrom([]string{"", "x", "wide ", "\n"}).Draw(t, "tail"), rapid.IntRange(0, 3*maxWidth).Draw(t, "times"))
		var whole strings.Builder
		for _, l := range callLines(text) {
			if n := len([]rune(l)); n > maxWidth {
				t.Fatalf("a line has %d characters", n)
			}
			if l == textBlank {
				l = ""
			}
			whole.WriteString(l)
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") } // spaces at ends are not heard
		if got, want := bare(whole.String()), bare(text); got != want {
			t.Fatalf("reads %q of %q", got, want)
		}
	})
}

func TestInterruptSaysThatNothingRuns(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.one(s.types("interrupt"), "error: there is nothing to interrupt")
		s.one(s.types("/interrupt"), "error: there is nothing to interrupt")
		s.did()
		s.change(func(n *core.Snapshot) { n.Busy = true })
		s.one(s.types("interrupt"), "so it is")
		s.one(s.types("/Interrupt"), "so it is")
		if want := []command.Value{command.Interrupt{}, command.Interrupt{}}; !slices.Equal(s.bot.done(), want) {
			t.Errorf("did %+v", s.bot.done())
		}
	})
	play(t, Options{ReadOnly: true}, func(s *stage) {
		s.one(s.types("/interrupt"), "this is read-only")
	})
}

// hasLines expects lines that hold these words, one each, in this order.
func (s *stage) hasLines(got []string, want ...string) {
	s.t.Helper()
	if len(got) != len(want) {
		s.t.Errorf("heard %d lines %q, want %d", len(got), got, len(want))
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			s.t.Errorf("line %d is %q, want %q", i+1, got[i], want[i])
		}
	}
}

func TestWhatIsUnknownReadsWhatThereIs(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.hasLines(s.types("task dentist"), `error: no task matches "dentist"`, "3 tasks:", "1, Email sweep", "2, Medication", "3, Medication refill", textToAgent)
		s.one(s.types("fire 4"), "there is no number 4 in the last list, which has 3")
		s.did()
	})
}

func TestANumberMeansNothingBeforeAListWasRead(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		if got := s.types("fire 1"); len(got) != 5 || !strings.Contains(got[0], "numbers refer to the last list") {
			t.Errorf("heard %q", got)
		}
		s.did()
	})
}

// The list may have changed since it was read: numbers keep what they meant.
func TestANumberMeansWhatWasReadAndNotWhatCameSince(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			n.Forks = []fork.View{{ID: "a", Title: "Email sweep", State: fork.Running}, {ID: "b", Title: "Tea", State: fork.Running}}
		})
		s.hasLines(s.types("runs"), "2 runs:", "1, Email sweep, running", "2, Tea, running")
		s.change(func(n *core.Snapshot) {
			n.Forks = []fork.View{{ID: "c", Title: "News", State: fork.Running}, {ID: "a", Title: "Email sweep", State: fork.Running}}
		})
		s.one(s.types("stop 1"), `Stop "Email sweep"?`)
		s.types("no")
		if got := s.types("stop 2"); !strings.Contains(got[0], "number 2 of the last list no longer exists") {
			t.Errorf("heard %q", got)
		}
		s.did()
	})
}

func TestAWordMeansTheRunThatTheCommandIsGoodFor(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			n.Forks = []fork.View{
				{ID: "live", Title: "Email sweep", State: fork.Running, TaskID: "aaaa1111"},
				{ID: "new", Title: "Email sweep", State: fork.Done, TaskID: "aaaa1111", Session: "s1"},
				{ID: "old", Title: "Email sweep", State: fork.Done, TaskID: "aaaa1111", Session: "s2"},
				{ID: "lost", Title: "Tea", State: fork.Failed},
			}
		})
		s.one(s.types("stop email"), `Stop "Email sweep"?`)
		s.types("no")
		s.one(s.types("stop tea"), "Tea: this run has already ended")
		s.one(s.types("continue email"), "so it is")
		s.one(s.types("continue tea"), "Tea: this run never reached the engine")
		s.one(s.types("again email"), "so it is")
		s.one(s.types("again tea"), "Tea: this run has no task to fire")
		s.one(s.types("again live"), "Email sweep: its task is already running")
		s.did(command.ResumeFork{Run: "new"}, command.FireNow{ID: "aaaa1111", Stays: true})
	})
}

func TestAFloodOfUpdatesIsToldOnce(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		flood := func(dropped int) []string {
			s.bot.change(func(n *core.Snapshot) {
				n.Updates = []updates.Update{
					{Key: fmt.Sprint("cap", dropped), At: time.Now(), Dropped: dropped, Message: "(6 earlier update(s) omitted — cap reached)"},
					{Key: fmt.Sprint("u", dropped), At: time.Now(), Message: fmt.Sprint("update ", dropped)},
				}
			})
			return s.hears()
		}
		s.hasLines(flood(6), "update: (6 earlier update(s) omitted", "update: update 6")
		s.hasLines(flood(7), "update: update 7")
		s.hasLines(flood(8), "update: update 8")
		s.hasLines(s.types("discard"), "here it is", "2 updates:", "1, 00:00, update 8", "2, 00:00, (6 earlier update(s) omitted")
		snap := s.bot.Snapshot()
		if got := strings.Join(snap.Status(), "\n"); !strings.Contains(got, "updates: 1 pending update") {
			t.Errorf("the status says\n%s", got)
		}
		s.change(func(n *core.Snapshot) { n.Updates = nil })
		s.hasLines(flood(2), "earlier update(s) omitted", "update 2")
	})
}

func TestAnUpdateIsDiscardedByWords(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			n.Updates = []updates.Update{{Key: "u1", At: time.Now(), Message: "Two letters.\nOne is urgent."}, {Key: "u2", Message: "Tea is drunk."}}
		})
		s.one(s.types("discard letters"), "so it is")
		s.did(command.DiscardUpdate{Key: "u1"})
	})
}

// Whatever is typed, what it finds is one of the things, and only what it names.
func TestAPickIsAlwaysWhatTheWordsName(t *testing.T) {
	word := rapid.SampledFrom([]string{"email", "sweep", "tea", "medication", "refill", "Tea"})
	title := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "words"), " ")
	})
	testkit.Check(t, func(t *rapid.T) {
		var things []thing
		for i, name := range rapid.SliceOfN(title, 0, 6).Draw(t, "titles") {
			things = append(things, thing{id: fmt.Sprintf("%08x", 0xa0000000+i), title: name})
		}
		typed := title.Draw(t, "typed")
		found := command.Pick(things, thing.named, typed)
		fits := 0
		for _, one := range things {
			if words.HoldsAll(one.title, typed) {
				fits++
			}
		}
		if (fits > 0) != (len(found) > 0) || len(found) > fits {
			t.Fatalf("%q finds %d of %d in %v", typed, len(found), fits, things)
		}
		for _, one := range found {
			if !words.HoldsAll(one.title, typed) {
				t.Fatalf("%q finds %q", typed, one.title)
			}
		}
	})
}

func TestAFireWhoseCheckFoundNothingIsToldInWords(t *testing.T) {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	s := &core.Snapshot{At: at.Add(time.Minute)}
	got := entryText(s, schedule.Entry{ID: "aaaa1111", Description: "Look for mail", FireTime: at, Kind: routines.KindRoutine, Tag: "nothing new"}, "")
	if !strings.HasPrefix(got, "09:00 Look for mail") || !strings.Contains(got, "nothing new") {
		t.Errorf("%q", got)
	}
}

func TestSignsAndColumnsBecomeWords(t *testing.T) {
	got := spoken("capacity 5 → 6 · full — soon\n/model [a|b]       show it\n**model**: a `a` `b`\nrun `init`")
	if want := "capacity 5 to 6, full, soon\n/model [a or b], show it\nmodel: a (a, b)\nrun init"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := spoken("Total cost:            $0.51\nUsage by model:"), "Total cost: $0.51\nUsage by model:"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := tailText(tail.Line{Kind: tail.Text, Text: "a → b"}); got != "a → b" {
		t.Errorf("the model's words became %q", got)
	}
}
