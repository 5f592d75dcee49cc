package policy

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

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
)

// asked is an Ask in progress.
type asked struct {
	group   errgroup.Group
	verdict Verdict
	err     error
}

func ask(ctx context.Context, d *ApprovalQueue, r Request) *asked {
	a := &asked{}
	a.group.Go(func() error {
		a.verdict, a.err = d.Ask(ctx, r)
		return nil
	})
	synctest.Wait()
	return a
}

func (a *asked) wait(t *testing.T) Verdict {
	t.Helper()
	if err := errors.Join(a.group.Wait(), a.err); err != nil {
		t.Error(err)
	}
	return a.verdict
}

func TestAnApprovalIsShownAndAnswered(t *testing.T) {
	for _, v := range []Verdict{Allow, Always, Deny} {
		synctest.Test(t, func(t *testing.T) {
			var always []string
			d := &ApprovalQueue{always: func(a Approval) { always = append(always, a.Tool) }}
			begin := time.Now()
			a := ask(t.Context(), d, Request{ID: "one", Question: "Bash(rm\x1b[2J x)", Tool: "Bash", Session: "main"})
			want := []Approval{{ID: "one", Question: "Bash(rm x)", Label: "Bash(rm x)", Tool: "Bash", Session: "main", Asked: begin, Until: begin.Add(time.Minute)}}
			if diff := cmp.Diff(want, d.Pending()); diff != "" {
				t.Error(diff)
			}
			time.Sleep(59 * time.Second)
			if err := d.Answer(t.Context(), "one", v); err != nil {
				t.Error(err)
			}
			if got := a.wait(t); got != v || got.Allows() != (v != Deny) {
				t.Errorf("verdict %s, want %s", got, v)
			}
			if len(d.Pending()) > 0 {
				t.Errorf("still pending: %v", d.Pending())
			}
			if want := v == Always; want != slices.Equal(always, []string{"Bash"}) || !want && len(always) > 0 {
				t.Errorf("%s: always allowed %v", v, always)
			}
			if got, ok := d.Outcome("one"); !ok || got.Verdict != v {
				t.Errorf("outcome %+v, %v", got, ok)
			}
		})
	}
}

func TestTheFirstAnswerWinsAndTheLateOneIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &ApprovalQueue{always: func(Approval) {}}
		a := ask(t.Context(), d, Request{ID: "one", Question: "Bash(ls)"})
		if err := d.Answer(t.Context(), "one", Deny); err != nil {
			t.Error(err)
		}
		err := d.Answer(t.Context(), "one", Always)
		var late *AnsweredError
		if !errors.As(err, &late) || late.Approval.Verdict != Deny ||
			err.Error() != "“Bash(ls)” was already answered: denied" {
			t.Errorf("late answer: %v", err)
		}
		if got := a.wait(t); got != Deny {
			t.Errorf("verdict %s", got)
		}
		if err := d.Answer(t.Context(), "two", Allow); err == nil || isLate(err) {
			t.Errorf("unknown id: %v", err)
		}
		for _, v := range []Verdict{Expired, Cancelled, "", "maybe"} {
			if err := d.Answer(t.Context(), "one", v); err == nil || isLate(err) {
				t.Errorf("%q is taken for an answer: %v", v, err)
			}
		}
	})
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

func TestNoAnswerIsADenialAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &ApprovalQueue{always: func(Approval) {}}
		begin := time.Now()
		v, err := d.Ask(t.Context(), Request{ID: "one", Question: "x"})
		if err != nil || v != Expired || v.Allows() || time.Since(begin) != 60*time.Second {
			t.Errorf("%s, %v after %s", v, err, time.Since(begin))
		}
		if err := d.Answer(t.Context(), "one", Allow); !isLate(err) || !strings.Contains(err.Error(), "expired") {
			t.Errorf("late answer: %v", err)
		}
	})
}

func TestCancelAllWakesEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &ApprovalQueue{always: func(Approval) {}}
		var all []*asked
		for i := range 5 {
			all = append(all, ask(t.Context(), d, Request{Question: fmt.Sprint(i)}))
		}
		var order []string
		for _, p := range d.Pending() {
			order = append(order, p.Label)
		}
		if !slices.Equal(order, []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("order %v", order)
		}
		d.CancelAll()
		for _, a := range all {
			if v := a.wait(t); v != Cancelled || v.Allows() {
				t.Errorf("verdict %s", v)
			}
		}
		d.CancelAll()
		if len(d.Pending()) > 0 {
			t.Errorf("pending %v", d.Pending())
		}
	})
}

func TestTheEndOfTheTurnCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &ApprovalQueue{always: func(Approval) {}}
		ctx, cancel := context.WithCancel(t.Context())
		a := ask(ctx, d, Request{ID: "one", Question: "x"})
		cancel()
		if v := a.wait(t); v != Cancelled {
			t.Errorf("verdict %s", v)
		}
		shown := 0
		d.OnChange(func(Approval) { shown++ })
		if v, err := d.Ask(ctx, Request{Question: "x"}); v != Cancelled || err != nil || shown > 0 {
			t.Errorf("after the end: %s, %v, shown %d times", v, err, shown)
		}
		// The ID is free again, and the old request does not end the new one.
		b := ask(t.Context(), d, Request{ID: "one", Question: "y"})
		if err := d.Answer(t.Context(), "one", Allow); err != nil {
			t.Error(err)
		}
		if v := b.wait(t); v != Allow {
			t.Errorf("the second of that id: %s", v)
		}
	})
}

func TestListenersHearOfTheQuestionAndThenOfItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &ApprovalQueue{always: func(Approval) {}}
		var heard []string
		d.OnChange(func(a Approval) {
			heard = append(heard, "first "+string(a.Verdict))
			if a.Verdict == "" { // an answer from inside a listener is harmless
				if err := d.Answer(t.Context(), a.ID, Allow); err != nil {
					t.Error(err)
				}
			}
		})
		d.OnChange(func(a Approval) { heard = append(heard, "second "+string(a.Verdict)) })
		if v, err := d.Ask(t.Context(), Request{Question: "x"}); v != Allow || err != nil {
			t.Errorf("%s, %v", v, err)
		}
		if diff := cmp.Diff([]string{"first ", "second ", "first allowed", "second allowed"}, heard); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTheQueueHasBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &ApprovalQueue{always: func(Approval) {}}
		var all []*asked
		for i := range maxPending {
			all = append(all, ask(t.Context(), d, Request{ID: fmt.Sprint(i), Question: "x"}))
		}
		if v, err := d.Ask(t.Context(), Request{Question: "x"}); v != Cancelled || err == nil {
			t.Errorf("beyond the bound: %s, %v", v, err)
		}
		d.CancelAll()
		for _, a := range all {
			a.wait(t)
		}
		one := ask(t.Context(), d, Request{ID: "same", Question: "x"})
		if _, err := d.Ask(t.Context(), Request{ID: "same"}); err == nil {
			t.Error("two approvals of one id")
		}
		d.CancelAll()
		one.wait(t)
		if len(d.settled) != keptSettled {
			t.Errorf("%d settled approvals are kept", len(d.settled))
		}
		if err := d.Answer(t.Context(), "0", Allow); err == nil || isLate(err) {
			t.Errorf("a forgotten one: %v", err)
		}
	})
}

func isLate(err error) bool {
	var late *AnsweredError
	return errors.As(err, &late)
}
