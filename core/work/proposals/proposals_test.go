package proposals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
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
		"call dentist": false, "I`ll call the dentist tomorro\u0301w": true, "I'll call the dentist tomorrow 2": true,
		words: true, "Tomorrow, I’LL call the dentist!": true, "call the dentist tomorrow": true, "call the dentist": true,
		"I'll call the dentist tomorrow, I promise": true, "tomorrow": false, "I'll call Ada tomorrow": false,
		"I'll write to the bank on Monday": false, "the dentist": false, "I'll call the dentist tomorrow and then I shall write to Ada about it": false,
	} {
		if got := same(folded(words), folded(other)); got != want || same(folded(other), folded(words)) != want {
			t.Errorf("%q: %v, want %v", other, got, want)
		}
	}
	if same(folded("bus 12"), folded("bus 13")) || same(folded("a b"), folded("a b c d")) || !same(folded("a b"), folded("a b c")) {
		t.Error("numbers, half of the words or more of them are not told apart")
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
	if _, err := fresh().Answer(now, "none", "yes", nothing); !errors.Is(err, ErrGone) {
		t.Errorf("an unknown proposal: %v", err)
	}
	for _, button := range []string{"maybe", ""} {
		if _, err := fresh().Answer(now, p.ID, button, nothing); !errors.Is(err, ErrGone) {
			t.Errorf("an unknown button: %v", err)
		}
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
	if _, err := fresh().Answer(now, p.ID, "yes", nothing); !errors.As(err, &before) || before.Proposal.Answer != "no" || err.Error() != "you have answered that already: No, at 09:00" {
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
	if _, err := fresh().Add(now, promise("water the plants"), 3); err != nil {
		t.Errorf("of other words: %v", err)
	}
	_, err = fresh().Reopen(p.ID, nil)
	testkit.Must(t, err)
	if open := fresh().Open(now); len(open) != 3 {
		t.Errorf("after undo: %+v", open)
	}
	for _, id := range []string{p.ID, "none"} {
		if _, err := fresh().Reopen(id, nil); !errors.Is(err, ErrGone) {
			t.Errorf("undone twice, or of nothing: %v", err)
		}
	}
	if _, err := fresh().Add(now.Add(lasts), promise("I'll call the dentist"), 3); err != nil { // the undone refusal forbids nothing
		t.Errorf("once the reopened question is closed, the same words are not proposed: %v", err)
	}
}

func TestAProposalIsKeptCleanWithWhatIsNeededToAnswerIt(t *testing.T) {
	d, now := storetest.Prepared(t), time.Date(2026, 11, 27, 9, 0, 0, 0, berlin)
	s := NewStore(d, berlin, nil)
	p := promise("call\nAda " + strings.Repeat("w", maxWords))
	p.Title, p.Text, p.Change = "Remind\x1b[31m\nyou?", " You wrote\n"+strings.Repeat("t", maxText), json.RawMessage(`{"at":1}`)
	p, err := s.Add(now.UTC(), p, 3)
	testkit.Must(t, err)
	_, err = s.Answer(now.Add(time.Hour).UTC(), p.ID, "no", func(Proposal, Button) (string, error) { return "", nil })
	testkit.Must(t, err)
	testkit.Must(t, s.shown(p.ID, "m1"))
	want := `{"proposals":[{"id":"` + p.ID + `","kind":"promise","words":"call Ada ` + strings.Repeat("w", maxWords-10) + `…","title":"Remind you?",` +
		`"text":"You wrote\n` + strings.Repeat("t", maxText-11) + `…","change":{"at":1},"buttons":[{"id":"yes","label":"Remind me"},` +
		`{"id":"when","label":"Other time…","asks":true},{"id":"no","label":"No","never":true}],"made":"2026-11-27T09:00:00+01:00","answer":"no",` +
		`"answered":"2026-11-27T10:00:00+01:00","message":"m1"}],"refused":[{"id":"` + p.ID + `","kind":"promise","words":"ada call ` +
		strings.Repeat("w", maxWords-10) + `","at":"2026-11-27T10:00:00+01:00"}]}` + "\n"
	if diff := cmp.Diff(want, storetest.Text(t, d, File)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if change, err := ChangeOf[map[string]int](p); err != nil || change["at"] != 1 {
		t.Errorf("its change is %v, %v", change, err)
	}
	if _, err := ChangeOf[[]string](p); err == nil {
		t.Error("a change of another form is read")
	}
	if q, ok := s.Find(p.ID); !ok || q.Message != "m1" || len(s.Of("promise")) != 1 || len(s.Of("habit")) != 0 {
		t.Errorf("%+v, %v", q, ok)
	}
	if _, ok := s.Find("none"); ok {
		t.Error("an unknown one is found")
	}
	for name, p := range map[string]Proposal{
		"words": {Kind: "promise", Words: "?!", Buttons: []Button{yes}}, "buttons": {Kind: "promise", Words: "call Ada"}, "a kind": {Words: "call Ada", Buttons: []Button{yes}},
	} {
		if _, err := s.Add(now, p, 3); err == nil || err.Error() != "a proposal needs a kind, words and buttons" {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestNoMoreThanItsKindMayAreProposedOnADay(t *testing.T) {
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, berlin)
	for name, c := range map[string]struct {
		later time.Duration
		most  int
		err   error
	}{
		"one more":                   {time.Hour, 3, nil},
		"enough":                     {time.Hour, 2, ErrEnough},
		"at the end of the day":      {15*time.Hour - 1, 2, ErrEnough},
		"on the next day":            {15 * time.Hour, 2, nil},
		"after the clock went back":  {-24*time.Hour + 1, 2, ErrEnough},
		"after it went back further": {-24 * time.Hour, 2, nil},
		"a year later":               {365 * 24 * time.Hour, 2, nil},
	} {
		s := NewStore(storetest.Prepared(t), berlin, nil)
		for _, words := range []string{"call Ada", "water the plants"} {
			_, err := s.Add(now.UTC(), promise(words), 2)
			testkit.Must(t, err)
		}
		if _, err := s.Add(now.Add(c.later).UTC(), promise("go to the bank"), c.most); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnAcceptedOneMayComeAgainOnAnotherDayAndAnUnansweredOneCloses(t *testing.T) {
	d, now := storetest.Prepared(t), time.Date(2026, 11, 27, 9, 0, 0, 0, berlin)
	s := NewStore(d, berlin, nil)
	p, err := s.Add(now, promise("I'll take out the trash"), 3)
	testkit.Must(t, err)
	_, err = s.Answer(now, p.ID, "yes", nothing)
	testkit.Must(t, err)
	for range 2 { // an answer without an effect takes nothing
		p, err := s.Add(now.Add(-2*ahead), promise("water the plants"), 3)
		testkit.Must(t, err)
		_, err = s.Answer(now.Add(-2*ahead), p.ID, "yes", func(Proposal, Button) (string, error) { return "", nil })
		testkit.Must(t, err)
	}
	if _, err = s.Add(now.Add(ahead-1), promise("I'll take out the trash"), 3); !errors.Is(err, ErrTaken) {
		t.Errorf("within the day: %v", err)
	}
	q, err := s.Add(now.Add(ahead), promise("I'll take out the trash"), 3)
	testkit.Must(t, err)
	if open := s.Open(now.Add(ahead + lasts - 1)); len(open) != 1 || open[0].ID != q.ID {
		t.Errorf("within a week: %+v", open)
	}
	if _, err = s.Answer(now.Add(ahead+lasts), q.ID, "yes", nothing); !errors.Is(err, ErrGone) || err.Error() != textGone {
		t.Errorf("after a week: %v", err)
	}
	if open := s.Open(now.Add(ahead + lasts)); len(open) != 0 {
		t.Errorf("open: %+v", open)
	}
	testkit.Must(t, s.Keep(now.Add(time.Hour), "made"))
	testkit.Must(t, s.Keep(now.Add(time.Hour), "another"))
	testkit.Must(t, s.Keep(time.Time{}, "made")) // an undo
	if n := s.Counts("promise", now, now.Add(24*time.Hour)); n != (Counts{1, 1, 0}) || s.Counts("habit", now, now.Add(24*time.Hour)) != (Counts{}) {
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
	retired []string
	changes int
	fails   error // of posting a card
	tries   int
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
	final := kind
	final.Undo, final.Ring = nil, post.KindNews
	o.Desk = New(Options{
		Changed: func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.changes++
		},
		Store: NewStore(d, berlin, nil), Zone: berlin, Log: slog.New(slog.DiscardHandler), Kinds: map[string]Kind{"promise": kind, "final": final},
		Post: func(_ context.Context, p post.Post) (post.MessageID, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.tries++; o.fails != nil {
				return "", o.fails
			}
			o.sent = append(o.sent, p)
			return post.MessageID(fmt.Sprintf("m%d", len(o.sent))), nil
		},
		Retire: func(_ context.Context, m post.MessageID, why string) {
			o.retired = append(o.retired, string(m)+": "+why)
		},
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

func TestACardIsShownOnceThereIsANetworkAndAnsweredOnceAndAgainAfterAnUndo(t *testing.T) {
	d := storetest.Prepared(t)
	synctest.Test(t, func(t *testing.T) {
		o := open(t, d)
		o.fails = post.ErrNoChannel
		_, err := o.Propose(promise("I'll call Ada"))
		testkit.Must(t, err)
		o.runs(t, func() { time.Sleep(4*again + again/2) })
		if o.tries != 6 || o.changes != 1 { // at once, as it is proposed, and each minute
			t.Errorf("%d tries, %d changes", o.tries, o.changes)
		}

		o = open(t, d) // a restart
		o.runs(t, func() {
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			id := o.o.Store.Open(o.now())[0].ID
			button := func(label, action string) post.Button { return post.Button{Label: label, Action: action} }
			want := post.Post{Nonce: "offer" + id + "0", Text: "You wrote I'll call Ada", Cause: id, Embed: &post.Embed{
				Title: "Remind you?", Color: "blue", Buttons: []post.Button{
					button("Remind me", post.Propose+":"+id+" yes"), button("Other time…", post.ProposeWhen+":"+id+" when"), button("No", post.Propose+":"+id+" no"),
				},
			}}
			if diff := cmp.Diff([]post.Post{want}, o.sent); diff != "" {
				t.Fatalf("sent (-want +got)\n%s", diff)
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
			answered := command.Outcome{
				Message: "reminds", Undo: command.ReopenProposal{ID: id, Button: "when", Value: "18:00"},
				Decision: audit.Entry{Action: audit.ProposalAnswered, Subject: id, Detail: "Other time…: I'll call Ada"},
			}
			now := o.now().Format("15:04")
			if diff := cmp.Diff(answered, out); diff != "" || err != nil || !slices.Equal(o.retired, []string{"m1: Other time…, at " + now}) || o.changes != 1 {
				t.Errorf("%v, retired %q, %d changes %s", err, o.retired, o.changes, diff)
			}
			already := "you have answered that already: Other time…, at " + now
			if again, err := o.click(t, "m0", 1, "18:00"); err != nil || again.Message != already || o.retired[len(o.retired)-1] != "m0: "+already {
				t.Errorf("the same button again, of an older card: %+v, %v, retired %q", again, err, o.retired)
			}
			if _, err := o.click(t, "m1", 2, ""); err == nil || err.Error() != already {
				t.Errorf("another button: %v", err)
			}
			back, err := o.reopen(t.Context(), out.Undo.(command.ReopenProposal))
			reopened := command.Outcome{
				Message: "the question is open again", Undo: command.AnswerProposal{ID: id, Button: "when", Value: "18:00"},
				Decision: audit.Entry{Action: audit.ProposalReopened, Subject: id, Detail: "I'll call Ada"},
			}
			if diff := cmp.Diff(reopened, back); diff != "" || err != nil || o.changes != 2 {
				t.Errorf("undone: %v, %d changes %s", err, o.changes, diff)
			}
			synctest.Wait()
			if len(o.sent) != 2 || o.sent[1].Nonce != "offer"+id+"1" {
				t.Errorf("an undo shows the question on a new card; sent: %+v", o.sent)
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

func TestACardThatMayHaveArrivedIsNotSentAgain(t *testing.T) {
	d := storetest.Prepared(t)
	synctest.Test(t, func(t *testing.T) {
		o := open(t, d)
		o.fails = fmt.Errorf("post: %w", post.ErrUnknown)
		_, err := o.Propose(promise("I'll call Ada"))
		testkit.Must(t, err)
		o.runs(t, func() { time.Sleep(4 * again) })
		if p := o.o.Store.Open(o.now()); o.tries != 1 || len(p) != 1 || p[0].Message != "unknown" {
			t.Errorf("%d tries: %+v", o.tries, p)
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
	if _, err := o.Propose(p); err == nil || err.Error() != `nobody answers a proposal of the kind "habit"` {
		t.Errorf("a kind without answers is proposed: %v", err)
	}
	if _, err := o.Propose(Proposal{Kind: "promise", Words: "?!"}); err == nil || o.changes != 0 {
		t.Error("a proposal without words")
	}
	p, err := o.o.Store.Add(o.now(), p, 3) // of a version that had the kind
	testkit.Must(t, err)
	if _, err := o.answer(t.Context(), command.AnswerProposal{ID: p.ID, Button: "yes"}); !errors.Is(err, ErrGone) {
		t.Errorf("it is answered: %v", err)
	}
	next := errors.New("the next handler")
	_, ok, err := o.Before(func(context.Context, command.Click) (command.Outcome, bool, error) {
		return command.Outcome{}, true, next
	})(t.Context(), command.Click{ID: "other:x"})
	if !ok || !errors.Is(err, next) {
		t.Errorf("a button of another: %v, %v", ok, err)
	}
}

func TestAnEffectWithoutAnUndoStaysAndAWithdrawnQuestionGoes(t *testing.T) {
	o := open(t, storetest.Prepared(t))
	p := promise("I'll call Ada")
	p.Kind, p.Message = "final", "m1"
	p, err := o.Propose(p)
	testkit.Must(t, err)
	out, err := o.answer(t.Context(), command.AnswerProposal{ID: p.ID, Button: "yes"})
	if err != nil || out.Undo != nil {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := o.reopen(t.Context(), command.ReopenProposal{ID: p.ID}); !errors.Is(err, ErrGone) {
		t.Errorf("it is undone: %v", err)
	}
	q, err := o.Propose(Proposal{Kind: "final", Words: "water the plants", Buttons: []Button{yes, no}, Message: "m2"})
	testkit.Must(t, err)
	out, err = o.answer(t.Context(), command.AnswerProposal{ID: q.ID, Button: "no"})
	if err != nil || out.Undo == nil || out.Message != "noted" {
		t.Errorf("what has no effect: %+v, %v", out, err)
	}
	_, err = o.reopen(t.Context(), out.Undo.(command.ReopenProposal))
	testkit.Must(t, err)
	o.retired, o.changes = nil, 0
	testkit.Must(t, o.Withdraw(t.Context(), p.ID))
	testkit.Must(t, o.Withdraw(t.Context(), q.ID))
	if !slices.Equal(o.retired, []string{": no longer applies"}) || o.changes != 2 || len(o.o.Store.Of("final")) != 0 {
		t.Errorf("retired %q, %d changes, left %+v", o.retired, o.changes, o.o.Store.Of("final"))
	}
	if err := o.Withdraw(t.Context(), q.ID); !errors.Is(err, ErrGone) {
		t.Errorf("withdrawn twice: %v", err)
	}
}
