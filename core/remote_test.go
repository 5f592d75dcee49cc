package core

import (
	"context"
	"errors"
	"fmt"
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

// remotely tells a story of a bot whose user has a phone.
func remotely(t *testing.T, p *phone, files []file, tale func(w *world)) {
	t.Helper()
	setting{files: files, change: func(o *Options) { o.Remote = p }}.tell(t, tale)
}

// hear is a message from the phone.
func (w *world) hear(key, text string) command.Outcome {
	w.Helper()
	out := w.do(command.Receive{From: "Phone", Key: key, Text: text})
	w.sleep(time.Minute)
	return out
}

func TestWordsFromElsewhereAreHeardOnce(t *testing.T) {
	p := &phone{}
	remotely(t, p, nil, func(w *world) {
		out := w.hear("101", please(`say hello there`))
		select {
		case err := <-out.Done:
			testkit.Must(t, err)
		default:
			t.Error("the answer is there and its sender does not know")
		}
		for _, again := range []string{"101", "99"} {
			w.holds(w.hear(again, please(`say twice`)).Done == nil, "heard again", again)
		}
		texts, _, _ := p.shows()
		w.is("the phone shows", texts, []string{"hello there"})
		w.is("last heard", w.LastReceived("Phone"), "101")
		w.hear("102", "/clear") // words that look like a command are words
		texts, _, _ = p.shows()
		w.is("answers", len(texts), 2)
	})
	holds(t, p.bye, "there was no goodbye")
}

func TestAPingThatIsNotDeliveredCostsNothingAndIsShownNowhere(t *testing.T) {
	p := &phone{broken: errors.New("no network")}
	plants := remind("dddd0009", time.Second, "", `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	remotely(t, p, []file{plants}, func(w *world) {
		before := w.tokens()
		w.sleep(time.Minute)
		w.lacks("the chat", fmt.Sprint(w.Snapshot().Chat), "plants")
		w.holds(w.tokens() >= before, "a token was spent", before, w.tokens())
	})
}

func TestTheBotOutlivesItsRemoteSurface(t *testing.T) {
	p := &phone{stopped: errors.New("the token is wrong")}
	remotely(t, p, nil, func(w *world) {
		w.asks(`say still here`)
		w.holds(w.spoke("still here") && w.noted("the token is wrong") > 0, "notices", w.Snapshot().Notices)
		_, smalls, _ := p.shows()
		w.needs(len(smalls) > 0, "the other surface does not know what was asked")
		w.shows("the other surface", smalls[0], "in the dashboard")
	})
}

func TestAnApprovalIsShownElsewhereWithItsOutcome(t *testing.T) {
	p := &phone{}
	remotely(t, p, nil, func(w *world) {
		w.say("/permissions default")
		w.do(command.Receive{From: "Phone", Key: "1", Text: please(`ask Bash {"command":"rm x"}`, `say after it`)})
		w.sleep(5 * time.Second)
		_, _, asked := p.shows()
		w.needs(len(asked) == 1 && asked[0].Verdict == "", "asked", asked)
		w.do(command.Answer{ID: asked[0].ID, Verdict: policy.Deny})
		w.sleep(time.Minute)
		_, _, asked = p.shows()
		w.holds(len(asked) == 2 && asked[1].Verdict == policy.Deny, "with its outcome", asked)
	})
}
