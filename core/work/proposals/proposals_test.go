package proposals

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
)

var (
	berlin = time.FixedZone("here", 60*60)
	yes    = Button{ID: "yes", Label: "Remind me"}
	when   = Button{ID: "when", Label: "Other time…", Asks: true}
	no     = Button{ID: "no", Label: "No", Never: true}
)

func promise(words string) Proposal {
	return Proposal{Kind: "promise", Words: words, Title: "Remind you?", Text: "You wrote " + words, Buttons: []Button{yes, when, no}}
}

func nothing(Proposal, Button) (string, error) { return "made", nil }

func TestTwoProposalsAreTheSameWhateverTheirOrderAndPunctuation(t *testing.T) {
	const words = "I'll call the dentist tomorrow"
	for other, want := range map[string]bool{
		words: true, "Tomorrow, I’LL call the dentist!": true, "call the dentist tomorrow": true, "call the dentist": true,
		"I'll call the dentist tomorrow, I promise": true, "tomorrow": false, "I'll call Ada tomorrow": false,
		"I'll write to the bank on Monday": false, "the dentist": false, "I'll call the dentist tomorrow and then I shall write to Ada about it": false,
	} {
		if got := same(folded(words), folded(other)); got != want || same(folded(other), folded(words)) != want {
			t.Errorf("%q: %v, want %v", other, got, want)
		}
	}
}

func TestAProposalIsAnsweredOnceAndWhatWasRefusedIsNeverProposedAgain(t *testing.T) {
	d, now := storetest.Prepared(t), time.Date(2026, 11, 27, 9, 0, 0, 0, berlin)
	fresh := func() *Store { return NewStore(d, berlin, nil) } // a restart of the program
	p, err := fresh().Add(now, promise("I'll call the dentist"), 3)
	testkit.Must(t, err)
	if _, err := fresh().Add(now, promise("call the dentist, I'll"), 3); !errors.Is(err, ErrOpen) {
		t.Errorf("an open one again: %v", err)
	}
	if _, err := fresh().Answer(now, p.ID, "maybe", nothing); !errors.Is(err, ErrGone) {
		t.Errorf("an unknown button: %v", err)
	}
	broken := errors.New("that time has passed")
	if _, err := fresh().Answer(now, p.ID, "yes", func(Proposal, Button) (string, error) { return "x", broken }); !errors.Is(err, broken) {
		t.Errorf("a refused answer: %v", err)
	}
	if open := fresh().Open(now); len(open) != 1 || open[0].ID != p.ID {
		t.Fatalf("open: %+v", open)
	}
	_, err = fresh().Answer(now, p.ID, "no", func(Proposal, Button) (string, error) { return "", nil })
	testkit.Must(t, err)
	var before *AnsweredError
	if _, err := fresh().Answer(now, p.ID, "yes", nothing); !errors.As(err, &before) || before.Proposal.Answer != "no" || !strings.Contains(err.Error(), "No, at 09:00") {
		t.Errorf("a second answer: %v", err)
	}
	for _, later := range []time.Duration{0, -48 * time.Hour, 300 * 24 * time.Hour} {
		if _, err := fresh().Add(now.Add(later), promise("The dentist: I'll call!"), 3); !errors.Is(err, ErrRefused) {
			t.Errorf("after No, %v later: %v", later, err)
		}
	}
	other := promise("I'll call the dentist")
	other.Kind = "habit"
	if _, err := fresh().Add(now, other, 3); err != nil {
		t.Errorf("of another kind: %v", err)
	}
	_, err = fresh().Reopen(p.ID, nil)
	testkit.Must(t, err)
	if open := fresh().Open(now); len(open) != 2 {
		t.Errorf("after undo: %+v", open)
	}
}

func TestAnAcceptedOneMayComeAgainOnAnotherDayAndAnUnansweredOneCloses(t *testing.T) {
	d, now := storetest.Prepared(t), time.Date(2026, 11, 27, 9, 0, 0, 0, berlin)
	s := NewStore(d, berlin, nil)
	p, err := s.Add(now, promise("I'll take out the trash"), 3)
	testkit.Must(t, err)
	_, err = s.Answer(now, p.ID, "yes", nothing)
	testkit.Must(t, err)
	if _, err = s.Add(now.Add(time.Hour), promise("I'll take out the trash"), 3); !errors.Is(err, ErrTaken) {
		t.Errorf("within the day: %v", err)
	}
	q, err := s.Add(now.Add(7*24*time.Hour), promise("I'll take out the trash"), 3)
	testkit.Must(t, err)
	if _, err = s.Answer(now.Add(15*24*time.Hour), q.ID, "yes", nothing); !errors.Is(err, ErrGone) {
		t.Errorf("after a week: %v", err)
	}
	if open := s.Open(now.Add(15 * 24 * time.Hour)); len(open) != 0 {
		t.Errorf("open: %+v", open)
	}
	testkit.Must(t, s.Keep(now.Add(time.Hour), "made"))
	testkit.Must(t, s.Keep(now.Add(time.Hour), "another"))
	testkit.Must(t, s.Keep(time.Time{}, "made")) // an undo
	if n := s.Counts("promise", now, now.Add(24*time.Hour)); n != (Counts{1, 1, 0}) {
		t.Errorf("counts after undo: %+v", n)
	}
	testkit.Must(t, s.Keep(now.Add(time.Hour), "made"))
	testkit.Must(t, s.Keep(now.Add(2*time.Hour), "made"))
	if n := s.Counts("promise", now, now.Add(24*time.Hour)); n != (Counts{1, 1, 1}) {
		t.Errorf("counts of the day: %+v", n)
	}
	if n := s.Counts("promise", now.Add(24*time.Hour), now.Add(9*24*time.Hour)); n != (Counts{1, 0, 0}) {
		t.Errorf("counts of the week: %+v", n)
	}
}

// Whatever is proposed and answered, with any restarts and clock changes: at most three a
// day, and nothing that was refused.
func TestPropertyThreeADayAndNeverAgainAfterNo(t *testing.T) {
	nouns := []string{"the dentist", "my mother", "the bank", "Ada", "the plumber", "the school", "the garage", "the doctor", "the library"}
	testkit.Check(t, func(r *rapid.T) {
		d := storetest.Prepared(t)
		testkit.Must(t, d.Remove(File))
		s, now := NewStore(d, berlin, nil), time.Date(2026, 3, 28, 12, 0, 0, 0, berlin)
		perDay, refused := map[string]int{}, map[string]bool{}
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"propose", "propose", "no", "yes", "restart", "clock"}).Draw(r, "step") {
			case "propose":
				noun := rapid.SampledFrom(nouns).Draw(r, "noun")
				words := rapid.SampledFrom([]string{"I'll call %s tomorrow", "Tomorrow I'll call %s!", "call %s tomorrow, I'll"}).Draw(r, "words")
				_, err := s.Add(now, promise(fmt.Sprintf(words, noun)), 3)
				if err != nil {
					continue
				}
				if refused[noun] {
					r.Fatalf("%s was refused and is proposed again", noun)
				}
				if perDay[now.Format(time.DateOnly)]++; perDay[now.Format(time.DateOnly)] > 3 {
					r.Fatalf("%d on %s", perDay[now.Format(time.DateOnly)], now)
				}
			case "no", "yes":
				if open := s.Open(now); len(open) > 0 {
					p := open[rapid.IntRange(0, len(open)-1).Draw(r, "which")]
					button := rapid.SampledFrom([]string{"yes", "no"}).Draw(r, "button")
					_, err := s.Answer(now, p.ID, button, func(Proposal, Button) (string, error) { return "", nil })
					testkit.Must(t, err)
					for _, noun := range nouns {
						refused[noun] = refused[noun] || button == "no" && strings.Contains(p.Words, noun)
					}
				}
			case "restart":
				s = NewStore(d, berlin, nil)
			case "clock":
				now = now.Add(time.Duration(rapid.IntRange(-30, 60).Draw(r, "hours")) * time.Hour)
			}
		}
	})
}

func TestTheFileIsBounded(t *testing.T) {
	c := content{}
	for i := range 2 * most {
		c.Proposals = append(c.Proposals, Proposal{ID: fmt.Sprint(i)})
	}
	for i := range 2 * mostRefused {
		c.Refused = append(c.Refused, refusal{ID: fmt.Sprint(i), Kind: "a"})
	}
	c.Refused = append(c.Refused, refusal{Kind: "b"})
	c.bound()
	if len(c.Proposals) != most || c.Proposals[0].ID != fmt.Sprint(most) || len(c.Refused) != mostRefused+1 || c.Refused[0].ID != fmt.Sprint(mostRefused) {
		t.Errorf("%d proposals from %s, %d refusals from %s", len(c.Proposals), c.Proposals[0].ID, len(c.Refused), c.Refused[0].ID)
	}
}

func TestAFileThatIsNoneIsSetAside(t *testing.T) {
	d := storetest.Prepared(t)
	storetest.Put(t, d, File, "{")
	s := NewStore(d, berlin, nil)
	if len(s.Open(time.Now())) != 0 {
		t.Error("something is open")
	}
	_, err := s.Add(time.Now(), promise("I'll call Ada"), 3)
	testkit.Must(t, err)
	if len(s.Open(time.Now())) != 1 {
		t.Error("it is not kept")
	}
}

// office is a desk that implements its own surface.
type office struct {
	*Desk
	dir *store.Dir

	mu      sync.Mutex
	sent    []post.Post
	retired []post.MessageID
	offline bool
	did     []string // answers that were carried out
	err     error    // of the next answer
}

func open(t *testing.T, d *store.Dir) *office {
	o := &office{dir: d}
	kind := Kind{
		PerDay: 3,
		Do: func(_ context.Context, p Proposal, b Button, value string) (Done, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.did = append(o.did, b.ID+" "+value)
			if b.Never {
				return Done{Message: "noted"}, o.err
			}
			return Done{Message: "reminds", Result: p.ID}, o.err
		},
		Undo: func(_ context.Context, p Proposal) error {
			o.did = append(o.did, "undo "+p.Result)
			return nil
		},
	}
	o.Desk = New(Options{
		Store: NewStore(d, berlin, nil), Zone: berlin, Log: slog.New(slog.DiscardHandler), Kinds: map[string]Kind{"promise": kind}, Changed: func() {},
		Post: func(_ context.Context, p post.Post) (post.MessageID, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.offline {
				return "", post.ErrNoChannel
			}
			o.sent = append(o.sent, p)
			return post.MessageID(fmt.Sprintf("m%d", len(o.sent))), nil
		},
		Retire: func(_ context.Context, m post.MessageID, _ string) { o.retired = append(o.retired, m) },
	})
	return o
}

// runs runs the desk during a story.
func (o *office) runs(t *testing.T, story func()) {
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()
	synctest.Wait()
	story()
	stop()
	testkit.Must(t, <-done)
}

func (o *office) click(t *testing.T, message post.MessageID, button int, value string) (command.Outcome, error) {
	t.Helper()
	id, err := o.sent[0].Embed.Buttons[button].CustomID(nil)
	testkit.Must(t, err)
	if o.sent[0].Embed.Buttons[button].CheckAgent() == nil {
		t.Error("an agent may send that button")
	}
	out, ok, err := o.Before(nil)(t.Context(), command.Click{Message: message, ID: id, Value: value})
	if !ok {
		t.Error("the button has no owner")
	}
	return out, err
}

func TestACardIsShownOnceThereIsANetworkAndItsButtonsAnswerOnce(t *testing.T) {
	d := storetest.Prepared(t)
	synctest.Test(t, func(t *testing.T) {
		o := open(t, d)
		o.offline = true
		_, err := o.Propose(promise("I'll call Ada"))
		testkit.Must(t, err)
		o.runs(t, func() { time.Sleep(5 * time.Minute) })

		o = open(t, d) // a restart
		o.runs(t, func() {
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			if len(o.sent) != 1 || o.sent[0].Text != "You wrote I'll call Ada" || len(o.sent[0].Embed.Buttons) != 3 {
				t.Fatalf("sent %+v", o.sent)
			}
			if form, ok := post.FormOf(post.ProposeWhen, "x"); !ok || form.Fields[0].Name != post.FieldWhen {
				t.Errorf("the form is %+v", form)
			}
			o.err = errors.New("that is in the past")
			if _, err := o.click(t, "m1", 1, "yesterday"); !errors.Is(err, o.err) {
				t.Errorf("a bad time: %v", err)
			}
			o.err = nil
			out, err := o.click(t, "m1", 1, "18:00")
			if err != nil || out.Message != "reminds" || fmt.Sprint(o.retired) != "[m1]" {
				t.Errorf("%+v, %v, retired %v", out, err, o.retired)
			}
			if again, err := o.click(t, "m1", 1, "18:00"); err != nil || !strings.Contains(again.Message, "answered that already") {
				t.Errorf("the same button again: %+v, %v", again, err)
			}
			if _, err := o.click(t, "m1", 2, ""); err == nil || !strings.Contains(err.Error(), "Other time…") {
				t.Errorf("another button: %v", err)
			}
			back, err := o.reopen(t.Context(), out.Undo.(command.ReopenProposal))
			testkit.Must(t, err)
			synctest.Wait()
			if len(o.sent) != 2 || o.sent[1].Nonce == o.sent[0].Nonce {
				t.Errorf("after undo: %+v", o.sent)
			}
			if redo, err := o.answer(t.Context(), back.Undo.(command.AnswerProposal)); err != nil || redo.Message != "reminds" {
				t.Errorf("redo: %+v, %v", redo, err)
			}
		})
		if got := strings.Join(o.did, ", "); !strings.HasPrefix(got, "when yesterday, when 18:00, undo ") || !strings.HasSuffix(got, ", when 18:00") {
			t.Errorf("carried out: %s", got)
		}
	})
}

func TestTwoPlacesAtOnceAreOneAnswer(t *testing.T) {
	o := open(t, storetest.Prepared(t))
	p, err := o.Propose(promise("I'll call Ada"))
	testkit.Must(t, err)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, _ = o.answer(context.Background(), command.AnswerProposal{ID: p.ID, Button: []string{"yes", "no"}[i%2]})
		})
	}
	wg.Wait()
	if len(o.did) != 1 {
		t.Errorf("carried out: %v", o.did)
	}
}

func TestWhatCannotBeAnsweredIsNotProposed(t *testing.T) {
	o := open(t, storetest.Prepared(t))
	p := promise("I'll call Ada")
	p.Kind = "habit"
	if _, err := o.Propose(p); err == nil {
		t.Error("a kind without answers is proposed")
	}
	if _, err := o.Propose(Proposal{Kind: "promise", Words: "?!"}); err == nil {
		t.Error("a proposal without words")
	}
}
