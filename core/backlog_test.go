package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/policy"
)

// told is what the model has heard of the user, without timestamps.
func told(heard []string) []string {
	var out []string
	for _, h := range heard {
		_, words, _ := strings.Cut(h, "] ")
		out = append(out, strings.TrimSpace(words))
	}
	return out
}

// backlog runs a story with a bot of which is known what its model hears.
func backlog(t *testing.T, story func(p *phone, b *Bot, heard *[]string)) {
	t.Helper()
	var heard []string
	p := &phone{}
	engine := func() agent.Engine { return listening{script.New(script.Options{Seed: 1, Pace: 1}), &heard} }
	remotely(t, p, engine, func(home) {}, func(_ home, b *Bot) { story(p, b, &heard) })
}

// pass lets time go by, and all that happens at its end.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestABacklogIsOneTurnWithAllMessagesInOrder(t *testing.T) {
	backlog(t, func(_ *phone, b *Bot, heard *[]string) {
		var done []<-chan struct{}
		var want []string
		for i := range 100 {
			text := fmt.Sprint("message ", i)
			want = append(want, text)
			out := do(t, b, command.Receive{From: "Phone", Key: fmt.Sprint(100 + i), Text: text, More: i < 99})
			done = append(done, out.Done)
			pass(time.Second) // as long as its files take
		}
		for _, d := range done {
			<-d
		}
		synctest.Wait()
		if got := told(*heard); !slices.Equal(got, []string{strings.Join(want, "\n\n")}) {
			t.Errorf("%d turns: %.300q", len(got), got)
		}
		if n := len(b.waitingRoom().Messages); n != 0 {
			t.Errorf("%d messages still wait", n)
		}
	})
}

func TestMessagesWhileAnotherWaitsJoinItsTurn(t *testing.T) {
	backlog(t, func(_ *phone, b *Bot, heard *[]string) {
		b.main.turn <- struct{}{} // something else has the conversation
		for i := range 3 {
			do(t, b, command.Receive{From: "Phone", Key: fmt.Sprint(100 + i), Text: fmt.Sprint("part ", i)})
			pass(time.Second)
		}
		<-b.main.turn
		pass(time.Minute)
		if got := told(*heard); !slices.Equal(got, []string{"part 0\n\npart 1\n\npart 2"}) {
			t.Errorf("%q", got)
		}
	})
}

func TestWhatTheEndOfTheProgramLeftUnansweredIsOneTurn(t *testing.T) {
	var heard []string
	engine := func() agent.Engine { return listening{script.New(script.Options{Seed: 1, Pace: 1}), &heard} }
	remotely(t, &phone{}, engine, func(h home) {
		h.write(waitingFile, `{"messages":[{"id":"a1","at":"2026-01-01T00:00:00Z","text":"one"},{"id":"a2","at":"2026-01-01T00:00:01Z","text":"two"}]}`)
	}, func(_ home, b *Bot) {
		pass(time.Minute)
		if got := told(heard); !slices.Equal(got, []string{"one\n\ntwo"}) {
			t.Errorf("%q", got)
		}
		if n := len(b.waitingRoom().Messages); n != 0 {
			t.Errorf("%d messages still wait", n)
		}
	})
}

func TestAMessageThatWaitsCanBeChangedAndTakenBack(t *testing.T) {
	backlog(t, func(_ *phone, b *Bot, heard *[]string) {
		b.main.turn <- struct{}{}
		do(t, b, command.Receive{From: "Phone", Key: "101", Text: "milc"})
		gone := do(t, b, command.Receive{From: "Phone", Key: "102", Text: "my password"})
		do(t, b, command.Reword{From: "Phone", Key: "101", Text: "milk"})
		do(t, b, command.Reword{From: "Phone", Key: "102", Gone: true})
		do(t, b, command.Reword{From: "Phone", Key: "999", Text: "nobody has said this"})
		<-gone.Done
		if w := b.waitingRoom().Messages; len(w) != 1 || w[0].Text != "milk" {
			t.Errorf("on disk waits %+v", w)
		}
		<-b.main.turn
		pass(time.Minute)
		do(t, b, command.Reword{From: "Phone", Key: "101", Text: "too late"})
		pass(time.Minute)
		if got := told(*heard); !slices.Equal(got, []string{"milk"}) {
			t.Errorf("%q", got)
		}
		for _, e := range b.Snapshot().Chat {
			if e.Role == "you" && e.Text != "milk" {
				t.Errorf("the chat shows %q", e.Text)
			}
		}
	})
}

func TestTakingBackAllThatWaitsLeavesNoTurn(t *testing.T) {
	backlog(t, func(_ *phone, b *Bot, heard *[]string) {
		b.main.turn <- struct{}{}
		do(t, b, command.Receive{From: "Phone", Key: "101", Text: "never mind"})
		do(t, b, command.Reword{From: "Phone", Key: "101", Gone: true})
		<-b.main.turn
		pass(time.Minute)
		if len(*heard) != 0 {
			t.Errorf("%q", *heard)
		}
	})
}

func TestYesAndNoAnswerTheQuestionThatWaitsAndEverythingElseTakesItBack(t *testing.T) {
	for words, want := range map[string]policy.Verdict{
		"yes": policy.Allow, "Yes!": policy.Allow, "ok": policy.Allow, "👍": policy.Allow, "always": policy.Always,
		"no": policy.Deny, "No.": policy.Deny, "deny": policy.Deny, "what does it do?": policy.Cancelled,
	} {
		t.Run(words, func(t *testing.T) {
			backlog(t, func(p *phone, b *Bot, heard *[]string) {
				type_(t, b, "/permissions default")
				do(t, b, command.Receive{From: "Phone", Key: "101", Text: script_(`ask Bash {"command":"rm x"}`, `say after it`)})
				pass(5 * time.Second)
				do(t, b, command.Receive{From: "Phone", Key: "102", Text: words})
				pass(time.Second)
				if _, _, asked := p.shows(); len(asked) != 2 || asked[1].Verdict != want {
					t.Fatalf("%+v, want %s", asked, want)
				}
				turns := 1
				if want == policy.Cancelled {
					turns = 2
				}
				if len(*heard) != turns || b.LastHeard("Phone") != "102" {
					t.Errorf("%d turns, last heard %s", len(*heard), b.LastHeard("Phone"))
				}
			})
		})
	}
}

func TestAYesFromBeforeTheQuestionAnswersNothing(t *testing.T) {
	backlog(t, func(p *phone, b *Bot, _ *[]string) {
		type_(t, b, "/permissions default")
		before := time.Now()
		pass(time.Minute)
		do(t, b, command.Receive{From: "Phone", Key: "101", Text: script_(`ask Bash {"command":"rm x"}`, `say after it`)})
		pass(5 * time.Second)
		do(t, b, command.Receive{From: "Phone", Key: "102", Text: "yes", At: before})
		pass(time.Second)
		if _, _, asked := p.shows(); len(asked) != 2 || asked[1].Verdict != policy.Cancelled {
			t.Errorf("%+v", asked)
		}
	})
}

func TestAnImageThatIsTooLargeForTheModelIsSavedAndNamedWithTheReason(t *testing.T) {
	backlog(t, func(_ *phone, b *Bot, heard *[]string) {
		large := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, maxImage)...)
		do(t, b, command.Receive{From: "Phone", Key: "101", Text: "look", Files: []command.File{{Name: "cat.png", Data: large}}})
		pass(time.Minute)
		if len(*heard) != 1 || !strings.Contains((*heard)[0], "cat.png has 5.0 MB and was not shown to you") || !strings.Contains((*heard)[0], "downloads/cat.png") {
			t.Errorf("%q", *heard)
		}
	})
}
