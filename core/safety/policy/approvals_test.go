package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// It plays testdata/approvals.txt in a bubble: below a line with ">" is what the listeners of the queue hear, what the
// waiting calls and the one who answers get, and what is allowed from then on.
func TestTheFirstAnswerDecidesAndNoAnswerIsADenial(t *testing.T) {
	goldentest.Stories(t, "approvals.txt", func(t *testing.T, story string) (out string) {
		synctest.Test(t, func(t *testing.T) { out = approving(t, story) })
		return out
	})
}

func approving(t *testing.T, story string) string {
	var heard [][2]string // an ID and what is heard of it, since the step
	var mu sync.Mutex
	say := func(id, format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, [2]string{id, fmt.Sprintf(format, args...)})
	}
	d := &ApprovalQueue{always: func(a Approval) { say(a.ID, "from now on always: %s", a.Tool) }}
	first := map[string]Verdict{} // what the first listener has heard
	d.OnChange(func(a Approval) {
		mu.Lock()
		first[a.ID] = a.Verdict
		mu.Unlock()
		if a.ID == "eager" && a.Verdict == "" { // an answer from inside a listener is harmless
			testkit.Must(t, d.Answer(t.Context(), a.ID, Allow))
		}
	})
	d.OnChange(func(a Approval) {
		mu.Lock()
		last, heard := first[a.ID]
		mu.Unlock()
		if !heard || last != a.Verdict {
			t.Errorf("%s %s: the first listener has heard %q", a.ID, a.Verdict, last)
		}
		say(a.ID, "%s %s by %s: %s", a.ID, cmp.Or(string(a.Verdict), "asked"), cmp.Or(a.By.Actor, a.Session), a.Label)
	})
	turns, ends := map[string]context.Context{}, map[string]context.CancelFunc{}
	var group errgroup.Group
	defer func() { testkit.Must(t, group.Wait()) }()
	defer d.CancelAll()
	var out []string
	for line := range strings.Lines(story) {
		step, is := strings.CutPrefix(strings.TrimSpace(line), "> ")
		if !is {
			continue
		}
		verb, rest, _ := strings.Cut(step, " ")
		id, spec, _ := strings.Cut(rest, " ")
		switch verb {
		case "asks":
			if turns[id] == nil {
				turns[id], ends[id] = context.WithCancel(t.Context())
			}
			tool, question, _ := strings.Cut(spec, " ")
			r := Request{ID: id, Question: strings.ReplaceAll(question, `\x1b`, "\x1b"), Tool: strings.Trim(tool, "-"), Session: "main"}
			group.Go(func() error {
				v, err := d.Ask(turns[id], r)
				say(id, "its call gets %q, which allows it: %t, %v", v, v.Allows(), err)
				return nil
			})
		case "answer":
			say("", "the one who answers gets %v", d.Answer(t.Context(), id, Verdict(spec)))
		case "wait":
			took, err := time.ParseDuration(id)
			testkit.Must(t, err)
			time.Sleep(took)
		case "end":
			ends[id]()
		case "cancel":
			d.CancelAll()
		case "pending":
			for _, a := range d.Pending() {
				say("", "%s, asked by %s %s ago, ends in %s, offers always for %q", a.Label, a.Session, time.Since(a.Asked), time.Until(a.Until), a.Scope())
			}
		default:
			t.Fatalf("no verb %q", verb)
		}
		synctest.Wait()
		out = append(out, "> "+step)
		mu.Lock()
		slices.SortStableFunc(heard, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		for _, one := range heard {
			out = append(out, one[1])
		}
		heard = nil
		mu.Unlock()
	}
	return strings.Join(out, "\n")
}

func TestManyAnswersAtOnceHaveOneWinner(t *testing.T) {
	for range 50 {
		d := &ApprovalQueue{always: func(Approval) {}}
		ready := make(chan string, 1)
		d.OnChange(func(a Approval) {
			if a.Verdict == "" {
				ready <- a.ID
			}
		})
		var group errgroup.Group
		var verdict Verdict
		group.Go(func() (err error) {
			verdict, err = d.Ask(t.Context(), Request{Question: "x", Tool: "Bash"})
			return err
		})
		id := <-ready
		if id == "" {
			t.Fatal("a request without an ID has been given none")
		}
		var mu sync.Mutex
		var won []Verdict
		for _, v := range []Verdict{Allow, Deny, Always, Allow, Deny} {
			group.Go(func() error {
				err := d.Answer(t.Context(), id, v)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, v)
				} else if !isLate(err) {
					return err
				}
				return nil
			})
		}
		testkit.Must(t, group.Wait())
		if len(won) != 1 || won[0] != verdict {
			t.Fatalf("winners %v, verdict %s", won, verdict)
		}
	}
}

func TestTheQueueHasBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &ApprovalQueue{always: func(Approval) {}}
		var group errgroup.Group
		for i := range maxPending {
			group.Go(func() error {
				_, err := d.Ask(t.Context(), Request{ID: fmt.Sprint(i), Question: "x"})
				return err
			})
		}
		synctest.Wait()
		if v, err := d.Ask(t.Context(), Request{Question: "x"}); v != Cancelled || err == nil {
			t.Errorf("beyond the bound: %s, %v", v, err)
		}
		testkit.Must(t, d.Answer(t.Context(), "0", Allow))
		synctest.Wait()
		d.CancelAll()
		testkit.Must(t, group.Wait())
		if err := d.Answer(t.Context(), "0", Allow); !isLate(err) || len(d.settled) != keptSettled {
			t.Errorf("the first of the %d that are kept: %v", len(d.settled), err)
		}
		go func() { _, _ = d.Ask(t.Context(), Request{ID: "one more", Question: "x"}) }() // cancelled
		synctest.Wait()
		d.CancelAll()
		if err := d.Answer(t.Context(), "0", Allow); err == nil || isLate(err) || len(d.settled) != keptSettled {
			t.Errorf("a forgotten one: %v", err)
		}
	})
}

func isLate(err error) bool {
	var late *AnsweredError
	return errors.As(err, &late)
}
