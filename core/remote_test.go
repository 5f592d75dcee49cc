package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
)

// phone is an in-memory remote surface that records what the user would see.
type phone struct {
	mu      sync.Mutex
	posts   []post.Post
	smalls  []string
	answers []*phoneAnswer
	deleted []post.MessageID
	asked   []policy.Approval
	broken  error // the result of sending
	stopped error // the result of Run, at once
	bye     bool
}

type phoneAnswer struct {
	p     *phone
	id    post.MessageID
	text  string
	tools []string
	ended bool
}

func (p *phone) Post(_ context.Context, m post.Post) (post.MessageID, error) {
	if err := m.Begin(); err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return "", p.broken
	}
	p.posts = append(p.posts, m)
	return post.MessageID(fmt.Sprintf("9%03d", len(p.posts))), nil
}
func (p *phone) Edit(context.Context, post.MessageID, post.Post) error { return nil }
func (p *phone) Delete(_ context.Context, id post.MessageID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deleted = append(p.deleted, id)
	return nil
}
func (p *phone) Typing(context.Context) error { return nil }
func (p *phone) Run(ctx context.Context, _ Intake) error {
	if p.stopped != nil {
		return p.stopped
	}
	<-ctx.Done()
	return nil
}

func (p *phone) Answer(chat.AnswerOptions) chat.RemoteAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &phoneAnswer{p: p, id: post.MessageID(fmt.Sprintf("8%03d", len(p.answers)+1))}
	p.answers = append(p.answers, a)
	return a
}

func (p *phone) Small(text string, _ bool, _ ...post.Button) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.smalls = append(p.smalls, text)
}

func (p *phone) Approval(a policy.Approval) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, a)
}

func (p *phone) Farewell(context.Context) { p.bye = true }
func (p *phone) Status() SurfaceStatus    { return SurfaceStatus{Name: "Phone", State: "up", OK: true} }
func (p *phone) OnChange(func())          {}

func (a *phoneAnswer) change(do func()) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	do()
}

func (a *phoneAnswer) Append(d string) { a.change(func() { a.text += d }) }
func (a *phoneAnswer) Rewind(n int)    { a.change(func() { a.text = a.text[:len(a.text)-n] }) }
func (a *phoneAnswer) Tool(l string, denied bool) {
	a.change(func() { a.tools = append(a.tools, fmt.Sprint(l, " ", denied)) })
}
func (a *phoneAnswer) Rings() bool                 { return true }
func (a *phoneAnswer) Rang()                       {}
func (a *phoneAnswer) Status(string)               {}
func (a *phoneAnswer) Compacting(agent.Compacting) {}
func (a *phoneAnswer) End(_ bool, shown func([]post.MessageID)) {
	a.change(func() { a.ended = true })
	if a.text == "" {
		shown(nil)
		return
	}
	shown([]post.MessageID{a.id})
}

// shows returns the current screen: the answers' texts, the small notices, the approvals.
func (p *phone) shows() (texts, smalls []string, asked []policy.Approval) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.answers {
		texts = append(texts, a.text)
	}
	return texts, append(smalls, p.smalls...), append(asked, p.asked...)
}

// remotely runs a story with a bot whose user has a phone.
func remotely(t *testing.T, p *phone, prepare func(home), story func(h home, b *Bot)) {
	t.Helper()
	livesWith(t, func(o *Options) { o.Remote = p }, 0, prepare, story)
}

func hear(t *testing.T, b *Bot, c command.Receive) command.Outcome {
	t.Helper()
	c.From = "Phone"
	out, err := b.Do(context.Background(), c)
	testkit.Must(t, err)
	time.Sleep(time.Minute)
	return out
}

func TestWordsFromElsewhereAreHeardOnce(t *testing.T) {
	p := &phone{}
	remotely(t, p, func(home) {}, func(_ home, b *Bot) {
		out := hear(t, b, command.Receive{Key: "101", Text: script_(`say hello there`)})
		select {
		case err := <-out.Done:
			testkit.Must(t, err)
		default:
			t.Error("the answer is there and nobody was told")
		}
		for _, again := range []string{"101", "99"} {
			if out := hear(t, b, command.Receive{Key: again, Text: script_(`say twice`)}); out.Done != nil {
				t.Errorf("%s was heard again", again)
			}
		}
		if texts, _, _ := p.shows(); len(texts) != 1 || texts[0] != "hello there" {
			t.Fatalf("%q", texts)
		}
		if got := b.LastReceived("Phone"); got != "101" {
			t.Errorf("last heard %q", got)
		}
	})
	if !p.bye {
		t.Error("nobody said goodbye")
	}
}

func TestWordsThatLookLikeACommandAreWords(t *testing.T) {
	p := &phone{}
	remotely(t, p, func(home) {}, func(_ home, b *Bot) {
		hear(t, b, command.Receive{Key: "1", Text: "/clear"})
		if texts, _, _ := p.shows(); len(texts) != 1 {
			t.Errorf("%q", texts)
		}
	})
}

func TestAPingThatIsNotDeliveredCostsNothingAndIsShownNowhere(t *testing.T) {
	p := &phone{broken: errors.New("no network")}
	remotely(t, p, func(h home) {
		h.reminder("dddd0009", time.Second, "", `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	}, func(_ home, b *Bot) {
		before := b.Snapshot().Budget.State.Available
		time.Sleep(time.Minute)
		s := b.Snapshot()
		for _, e := range s.Chat {
			if strings.Contains(e.Text, "plants") {
				t.Errorf("shown: %+v", e)
			}
		}
		if s.Budget.State.Available < before {
			t.Errorf("a token was spent: %v, then %v", before, s.Budget.State.Available)
		}
	})
}

func TestTheBotOutlivesItsRemoteSurface(t *testing.T) {
	p := &phone{stopped: errors.New("the token is wrong")}
	remotely(t, p, func(home) {}, func(_ home, b *Bot) {
		tell(t, b, script_(`say still here`))
		if !spoken(b.Snapshot(), "still here") || !noticed(b.Snapshot(), "the token is wrong") {
			t.Errorf("%+v", b.Snapshot().Notices)
		}
		if _, smalls, _ := p.shows(); len(smalls) == 0 || !strings.Contains(smalls[0], "in the dashboard") {
			t.Errorf("the other surface does not know what was asked: %q", smalls)
		}
	})
}

func TestAnApprovalIsShownElsewhereWithItsOutcome(t *testing.T) {
	p := &phone{}
	remotely(t, p, func(home) {}, func(_ home, b *Bot) {
		type_(t, b, "/permissions default")
		do(t, b, command.Receive{From: "Phone", Key: "1", Text: script_(`ask Bash {"command":"rm x"}`, `say after it`)})
		time.Sleep(5 * time.Second)
		_, _, asked := p.shows()
		if len(asked) != 1 || asked[0].Verdict != "" {
			t.Fatalf("%+v", asked)
		}
		do(t, b, command.Answer{ID: asked[0].ID, Verdict: policy.Deny})
		time.Sleep(time.Minute)
		if _, _, asked = p.shows(); len(asked) != 2 || asked[1].Verdict != policy.Deny {
			t.Errorf("%+v", asked)
		}
	})
}
