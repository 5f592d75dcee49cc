package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/updates"
)

// Each file of testdata/stories has several stories. A line with ">" is what somebody does; the lines below it, or behind "=>", are all that this
// changes for the model, the chat, the phone, the purse and the disk. An answer has ended, and may not be empty, unless it is said. What the
// model hears as it is in the chat is in one line with it, and so is the answer "fine" in the chat and on the phone.
func TestTheConversationIsAsItsStoriesSay(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	testkit.Must(t, err)
	for _, name := range files {
		goldentest.Stories(t, strings.TrimPrefix(name, "testdata/"), tell)
	}
}

// teller plays a story and writes down what changes.
type teller struct {
	*stage
	a         *actor
	out       page
	seen      map[string]int    // how much of each list has been written down
	state     map[string]string // everything else
	news      []string          // what has changed of it
	modelFork string
	known     []string       // ids, which are random
	lift      []func()       // ends what holds the conversation, or breaks the disk
	done      []<-chan error // of the messages
}

// tell returns a story with what its steps come to.
func tell(t *testing.T, story string) string {
	root := filepath.Join(t.TempDir(), "data")
	var steps []string
	for line := range strings.Lines(story) {
		if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "#") {
			step, _, _ := strings.Cut(strings.TrimSpace(line), " => ")
			steps = append(steps, step)
		}
	}
	n := &teller{seen: map[string]int{}, state: map[string]string{ // as every story begins
		"answers that are open": "0", "the main session": `, label ""`, "the fork": "none", "messages that wait": "0", "the top line": "busy false,",
		"the settings": "{Model: Thinking:off Mode:default}, mode dontAsk",
	}}
	synctest.Test(t, func(t *testing.T) {
		for sessions, again := 0, true; again; sessions += len(n.a.cast) {
			again = false
			n.a = &actor{before: sessions, refuse: map[string]error{}}
			maps.DeleteFunc(n.seen, func(name string, _ int) bool { return name != "history" && name != "the audit log: " })
			maps.DeleteFunc(n.state, func(name, _ string) bool { return !onDisk.MatchString(name) })
			n.stage = stageAt(t, root, n.a, func(o *Options) {
				if len(steps) > 0 && steps[0] == "> given alone" { // there is only the dashboard
					o.Remote, o.RemoteName = nil, ""
				}
			})
			n.troubles, n.sent = []string{""}, 100*sessions // the log is written down, too
			for len(steps) > 0 && strings.HasPrefix(steps[0], "> given ") {
				n.given(steps[0])
				steps = steps[1:]
			}
			n.run(func(s *stage) {
				s.settle()
				n.look()
				if sessions == 0 { // what every first program does is not written down
					text := strings.Replace(n.out.String(), "opens a session of {Model: Thinking:off Mode:default} from \"\", fork false, named false\n", "", 1)
					n.out.set(text)
				}
				for len(steps) > 0 {
					step := steps[0]
					steps = steps[1:]
					n.out.add(step)
					if strings.HasPrefix(step, "#") {
						continue
					}
					if again = step == "> restart"; again {
						return
					}
					verb, rest, _ := strings.Cut(strings.TrimPrefix(step, "> "), " ")
					begun := len(n.out.String())
					n.do(verb, rest)
					s.settle()
					n.look()
					if out := n.out.String(); strings.Count(out[begun:], "\n") == 1 { // a single line is behind the step
						n.out.set(out[:begun-1] + " => " + out[begun:])
					}
				}
			})
			if n.Banner() != nil {
				t.Error("the program has ended, and a fork is still open")
			}
			for i, session := range n.a.cast {
				if !session.isClosed() {
					t.Errorf("the program has ended, and session %d is still open", i)
				}
			}
		}
	})
	return strings.TrimSpace(n.out.String())
}

// page is what is written down, by the story and by the engine in its turns.
type page struct {
	mu   sync.Mutex
	text string
}

func (p *page) add(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text += line + "\n"
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text
}

func (p *page) set(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
}

// given prepares the directory or the engine before the program starts.
func (n *teller) given(step string) {
	n.out.add(step)
	what, rest, _ := strings.Cut(strings.TrimPrefix(step, "> given "), " ")
	switch what {
	case "main":
		testkit.Must(n.t, n.o.Records.Sessions.SaveMain(n.now(), rest))
	case "file":
		name, text, _ := strings.Cut(rest, " ")
		storetest.Put(n.t, n.dir, name, text)
	case "forgotten":
		n.a.refuse[rest] = agent.ErrNoSession
	case "unopenable":
		n.a.refuse[rest] = errors.New("no memory")
	case "login":
		n.a.login = true
	case "cold": // no session is opened ahead
		n.adjust = func(r *config.Runtime) { r.ClaudeWarm = 0 }
	case "alone":
	case "settings":
		n.adjust = func(r *config.Runtime) {
			r.ModelMain, r.ThinkingMain, r.ModelFork, r.ThinkingFork, r.PermissionMode = "opus", "low", n.modelFork, "high", "default"
		}
	case "run": // a message of one, which may be this old
		id, age, _ := strings.Cut(rest, " ")
		old, _ := time.ParseDuration(age)
		testkit.Must(n.t, n.o.Records.Runs.Record(n.now().Add(-old), []post.MessageID{post.MessageID(id)}, "run-"+id, ""))
	default:
		n.t.Fatalf("nothing is given by %q", step)
	}
}

func (n *teller) do(verb, rest string) {
	t, ctx := n.t, n.t.Context()
	word, more, _ := strings.Cut(rest, " ")
	fails := func(err error) {
		if err != nil {
			n.write("it fails: %v", err)
		}
	}
	switch verb {
	case "say", "forward": // on the phone; what is forwarded is from mail
		n.sent++
		from := map[string]label.Label{"forward": fromMail}[verb]
		fails(n.send(command.Receive{From: "Phone", Key: fmt.Sprint(1000 + n.sent), Text: rest, Label: from}))
	case "type": // in the dashboard
		fails(n.send(command.Receive{Text: rest}))
	case "reply":
		n.sent++
		fails(n.send(command.Receive{From: "Phone", Key: fmt.Sprint(1000 + n.sent), Text: more, ReplyTo: post.MessageID(word), Quoted: "its own text"}))
	case "late": // words that were written this long ago, by their surface's clock
		d, err := time.ParseDuration(word)
		testkit.Must(t, err)
		n.sent++
		fails(n.send(command.Receive{From: "Phone", Key: fmt.Sprint(1000 + n.sent), Text: more, At: n.now().Add(-d)}))
	case "reword", "unsay":
		fails(n.Reword("Phone", fmt.Sprint(1000+n.sent), rest, verb == "unsay"))
	case "press": // the newest button with this label
		fails(n.press(rest))
	case "post": // a run's message with a button
		_, err := n.Post(ctx, post.Post{Embed: &post.Embed{Title: "Mail", Buttons: []post.Button{{Label: "Do it", Action: "agent:" + rest}}}, Context: "bg", Label: fromMail})
		fails(err)
	case "fork":
		fails(n.EnterFork(rest))
	case "resume":
		fails(n.Resume(word, more, n.now().Add(-time.Hour)))
	case "exit":
		fails(n.ExitFork(command.Exit(rest)))
	case "clear":
		inFork, err := n.Clear(ctx)
		if inFork {
			n.write("a fork is cleared, too")
		}
		fails(err)
	case "interrupt":
		fails(n.Interrupt(ctx))
	case "update", "mail":
		fails(n.o.Records.Updates.AppendFrom(n.now(), rest, updates.Source{}, map[string]label.Label{"mail": fromMail}[verb]))
	case "deliver":
		count, _, err := n.DeliverUpdates()
		n.write("of %d updates", count)
		fails(err)
	case "task":
		fails(n.RunTask(ctx, deliverAll, due(t, rest, false)))
	case "trusted":
		fails(n.RunTask(ctx, deliverAll, trusted(t, n.stage)))
	case "command":
		text, r, tokens, err := n.Command(ctx, agent.Message{Text: rest})
		n.write("it answers %q in %s after %d tokens", text, r.SessionID, tokens)
		fails(err)
	case "model":
		fails(n.SetModel(ctx, rest))
	case "thinking":
		fails(n.SetThinking(ctx, rest))
	case "mode":
		fails(n.SetMode(ctx, policy.Mode(rest)))
	case "configure": // a key, and for the model of forks its value
		n.modelFork = more
		fails(n.ConfigChanged(ctx, word))
	case "stiff": // no session reacts
		n.a.stiff = errors.New("it does not react")
	case "engine": // does this in its next turn
		n.a.next(n.play(rest)...)
	case "itself": // a session starts a turn
		i, err := strconv.Atoi(word)
		testkit.Must(t, err)
		n.a.opened[i].OnEngineTurn(func(yield func(agent.Event, error) bool) {
			if why, breaks := strings.CutPrefix(more, "breaks "); breaks {
				yield(nil, errors.New(why))
				return
			}
			_ = yield(agent.Text{Delta: more}, nil) && yield(agent.Result{SessionID: "other"}, nil)
		})
	case "pass":
		d, err := time.ParseDuration(rest)
		testkit.Must(t, err)
		pass(d)
	case "hold":
		n.lift = append(n.lift, n.occupy())
	case "jam":
		n.lift = append(n.lift, n.jam(rest))
	case "lift":
		n.lift[len(n.lift)-1]()
		n.lift = n.lift[:len(n.lift)-1]
	case "poor":
		n.purse.mu.Lock()
		n.purse.empty = errors.New("the cap is used up")
		n.purse.mu.Unlock()
	case "offline":
		n.phone.with(func() { n.phone.frozen, n.phone.broken = errors.New("no network"), errors.New("no network") })
	case "refuse":
		n.a.mu.Lock()
		n.a.refuse[rest] = errors.New("no memory")
		n.a.mu.Unlock()
	default:
		t.Fatalf("no step %q", verb)
	}
}

func (n *teller) send(m command.Receive) error {
	done, err := n.Receive(n.t.Context(), m)
	if err == nil {
		n.done = append(n.done, done)
	}
	return err
}

// press presses the newest button with a label, of a card or a note.
func (n *teller) press(name string) error {
	var id post.MessageID
	action := ""
	for _, e := range n.o.Records.Transcript.Entries() {
		if e.Embed != nil {
			for _, b := range e.Embed.Buttons {
				if b.Label == name {
					id, action = e.ID, b.Action
				}
			}
		}
	}
	n.phone.with(func() {
		for _, b := range n.phone.buttons {
			if b.Label == name {
				id, action = "m1", "act:"+b.Action
			}
		}
	})
	if action == "" {
		return fmt.Errorf("no button %q", name)
	}
	done, err := n.Click(n.t.Context(), id, action)
	if done != "" {
		n.write("it says %s", done)
	}
	return err
}

// play reads what an engine does in a turn: parts with bars in between.
func (n *teller) play(text string) (out []any) {
	for part := range strings.SplitSeq(text, " | ") {
		verb, rest, _ := strings.Cut(part, " ")
		word, more, _ := strings.Cut(rest, " ")
		number, _ := strconv.Atoi(word)
		span, _ := time.ParseDuration(word)
		var one any
		switch verb {
		case "says":
			one = agent.Text{Delta: rest}
		case "rewinds":
			one = agent.Rewind{Bytes: number}
		case "starts":
			id, call, _ := strings.Cut(more, " ")
			one = agent.ToolStart{Name: word, ID: id, Input: json.RawMessage(call)}
		case "helper":
			one = agent.ToolStart{Name: word, Input: json.RawMessage(more), Subagent: "helper"}
		case "ends":
			one = agent.ToolEnd{Name: word, ID: more}
		case "denied":
			one = agent.ToolEnd{Name: word, Denied: true}
		case "retries":
			one = agent.Retry{Wait: span, Reason: more}
		case "notes":
			one = agent.Notice{Text: rest}
		case "compacts":
			one = agent.Compacting{PreTokens: number}
		case "compacted":
			one = agent.Compacting{Done: true, PreTokens: number}
		case "limit":
			one = agent.RateLimit{Status: word, Resets: time.Date(2026, 5, 1, 17, 30, 0, 0, time.FixedZone("east", 2*3600))}
		case "breaks":
			one = errors.New(rest)
		case "panics":
			one = func() { panic(rest) }
		case "waits":
			one = untilStopped
		case "room": // a message arrives
			one = func() { n.running.makeRoom(n.t.Context()) }
		case "leaves": // the fork, as by a tool
			one = func() { n.forks.current().requestExit(command.Exit(word), more) }
		case "cut": // as by the next message
			one = func(ctx context.Context) { n.running.makeRoom(ctx); <-ctx.Done() }
		case "interrupts": // with the button of the answer
			one = func(ctx context.Context) {
				_, err := n.Click(n.t.Context(), "1", "act:"+post.StopAnswer+":"+n.phone.answers[len(n.phone.answers)-1].ID)
				testkit.Must(n.t, err)
				<-ctx.Done()
			}
		case "sleeps":
			one = func() { time.Sleep(span) }
		case "status":
			one = func() {
				busy, _ := n.Busy()
				n.write("the top line says %q, busy %v, mode %s", n.Status(), busy, n.Mode())
			}
		case "may": // an acting call
			one = func() { n.write("the turn is %s", n.may()) }
		case "forks":
			one = enterFork
		case "calls": // a tool of the bot, in the newest session
			one = func() {
				r := n.a.newest().call(n.t, word, more)
				n.write("%s answers %q, error %v, end %v", word, r.Text, r.IsError, r.EndTurn)
			}
		case "done":
			one = agent.Result{SessionID: word}
		case "answers":
			one = agent.Result{SessionID: word, Text: more}
		case "fails":
			one = agent.Result{SessionID: word, IsError: true, Text: more}
		case "interrupted":
			one = agent.Result{SessionID: word, Interrupted: true}
		case "stopped":
			one = agent.Result{SessionID: word, Stopped: more}
		default:
			n.t.Fatalf("no part %q", part)
		}
		out = append(out, one)
	}
	return out
}

var (
	onDisk = regexp.MustCompile(`^(chat |the main session|the fork|updates|messages that wait|the top line|the settings|answers that are open)`)
	uuids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	logged = regexp.MustCompile(`level=\w+ msg=("[^"]*"|\S+)`)
)

// plain is a text without what differs between runs.
func (n *teller) plain(format string, args ...any) string {
	text := strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf(format, args...)), "\n", " ⏎ ")
	text = strings.ReplaceAll(text, n.dir.Root(), "DATA")
	text = uuids.ReplaceAllStringFunc(text, func(id string) string {
		if !slices.Contains(n.known, id) {
			n.known = append(n.known, id)
		}
		return fmt.Sprintf("id-%d", slices.Index(n.known, id))
	})
	if cut := []rune(text); len(cut) > 1000 {
		text = string(cut[:1000]) + "…"
	}
	return text
}

func (n *teller) write(format string, args ...any) { n.out.add(n.plain(format, args...)) }

// list writes what a list has gained, in one line.
func list[T any](n *teller, name string, all []T, words func(T) string) {
	if gained := gain(n, name, all, words); len(gained) > 0 {
		n.out.add(name + strings.Join(gained, " | "))
	}
}

// gain returns what a list has gained.
func gain[T any](n *teller, name string, all []T, words func(T) string) (gained []string) {
	for _, one := range all[min(n.seen[name], len(all)):] {
		if text := words(one); text != "" {
			gained = append(gained, n.plain("%s", text))
		}
	}
	n.seen[name] = len(all)
	return gained
}

// changes reports whether a part of the state has changed.
func (n *teller) changes(name, text string) bool {
	was := n.state[name]
	n.state[name] = text
	return was != text
}

// is notes a part of the state if it has changed.
func (n *teller) is(name, format string, args ...any) {
	if text := n.plain(format, args...); n.changes(name, text) {
		n.news = append(n.news, name+": "+text)
	}
}

// look writes down what has changed.
func (n *teller) look() {
	asIs := func(text string) string { return text }
	s, a := n.stage, n.a
	n.news = nil
	for _, line := range gain(n, "opens", a.opened, func(o agent.SessionOptions) string {
		return fmt.Sprintf("opens a session of %+v from %q, fork %v, named %v", o.Settings, o.Resume, o.Fork, o.ID != "")
	}) {
		n.write("%s", line)
	}
	s.purse.mu.Lock()
	paid := gain(n, "paid", s.purse.spent, asIs)
	s.purse.mu.Unlock()
	heard := gain(n, "heard", a.inputs(), asIs)
	var shown []string
	s.phone.with(func() { shown = n.surfaces(s.phone) })
	for i := range heard {
		pays := ""
		if len(paid) == len(heard) {
			pays = " (" + paid[i] + " pays)"
		}
		at := slices.IndexFunc(shown, func(line string) bool { return strings.HasSuffix(line, ": you: "+heard[i]) })
		answer := slices.IndexFunc(shown, func(line string) bool { return strings.HasSuffix(line, ": bot: fine — on the phone") })
		fine := ""
		if answer >= 0 {
			fine = ", answered fine in " + strings.TrimSuffix(shown[answer], ": bot: fine — on the phone")
		}
		if heard[i] += pays; at >= 0 {
			shown[at] += " — heard" + pays + fine
		} else {
			n.out.add("the model hears " + heard[i] + fine)
		}
		if answer >= 0 {
			shown = slices.Delete(shown, answer, answer+1)
		}
	}
	if len(paid) > 0 && !strings.Contains(strings.Join(append(shown, heard...), "|"), " pays)") {
		n.write("paid: %s", strings.Join(paid, ", "))
	}
	list(n, "has it: ", a.hasDone, asIs)
	for _, line := range shown {
		n.out.add(line)
	}
	s.phone.with(func() { n.beside(s.phone) })
	list(n, "the log has ", logged.FindAllString(s.log.String(), -1), func(line string) string {
		return strings.TrimPrefix(line, "level=ERROR msg=\""+textTurnFailed+"\"") // the chat has it, too
	})
	for i, one := range s.o.Notices.All() {
		n.is(fmt.Sprintf("notice %d", i+1), "%v %s", one.Level, one.Text)
	}
	for i, session := range a.cast {
		session.mu.Lock()
		if session.closed || session.stops > 0 || len(session.settings) > 0 {
			n.is(fmt.Sprintf("session %d", i), "closed %v, interrupted %d times, %d times configured", session.closed, session.stops, len(session.settings))
		}
		session.mu.Unlock()
		if got := session.configured(); got != session.o.Settings {
			n.is(fmt.Sprintf("session %d has", i), "%+v", got)
		}
	}
	n.is("the main session", "%s, label %q", s.o.Records.Sessions.Main(), s.labelOfMain())
	banner := "none"
	if b := s.Banner(); b != nil {
		banner = fmt.Sprintf("%q, resumed %v, asks %v", b.Topic, b.Resumed, b.Asks)
	}
	n.is("the fork", "%s", banner)
	var pending []string
	for _, u := range s.o.Records.Updates.Peek() {
		pending = append(pending, u.Message+" ← "+string(u.Label))
	}
	n.is("updates", "%s", strings.Join(pending, ", "))
	n.is("messages that wait", "%d", len(s.inbox.load().Messages))
	busy, _ := s.Busy()
	n.is("the top line", "busy %v, %s", busy, s.Status())
	n.is("the settings", "%+v, mode %s", s.CurrentSettings(), s.Mode())
	n.news = append(n.news, gain(n, "history", slices.Collect(strings.Lines(storetest.Text(n.t, n.dir, "state/session_history.jsonl"))), func(line string) string {
		var e struct {
			ID     string `json:"session_id"`
			Event  string
			Parent string `json:"parent_session_id"`
		}
		testkit.Must(n.t, json.Unmarshal([]byte(line), &e))
		return fmt.Sprintf("history: %s %s from %q", e.ID, e.Event, e.Parent)
	})...)
	audited, _, err := s.o.Records.Audit.Read(1000)
	testkit.Must(n.t, err)
	if list(n, "the audit log: ", audited, func(e audit.Entry) string {
		return fmt.Sprintf("%s %s, %s %s: %s", e.Actor, e.Action, e.From, e.Subject, e.Detail)
	}); len(n.news) > 0 {
		n.out.add("now " + strings.Join(n.news, "; "))
	}
	for i, done := range n.done {
		select {
		case err := <-done:
			if n.done[i] = nil; err != nil {
				n.write("message %d fails: %v", i+1, err)
			}
		default:
		}
	}
}

// surfaces returns what has changed in the chat, and on the phone. What the model hears and the phone shows of an entry is in its line.
func (n *teller) surfaces(p *phone) (lines []string) {
	asIs := func(text string) string { return text }
	notes := gain(n, "notes", p.noted, asIs)
	cards := gain(n, "cards", p.posts, func(m post.Post) string {
		title := m.Text
		if m.Embed != nil {
			title = m.Embed.Title
		}
		if len(m.Files) > 0 {
			title += fmt.Sprintf(" %s, critical %v", m.Files, m.Critical)
		}
		return fmt.Sprintf("%s, quiet %v, from %q, label %q", title, m.Quiet, m.Context, m.Label)
	})
	var texts, edits []string
	for i, text := range p.texts {
		if n.changes(fmt.Sprint("phone ", i), text.String()) {
			texts = append(texts, n.plain("%s", text.String()))
		}
	}
	for id, m := range p.edits {
		if line := fmt.Sprintf("%s, %s, %d buttons", m.Embed.Title, m.Embed.Description, len(m.Embed.Buttons)); n.changes("message "+string(id), line) {
			edits = append(edits, n.plain("%s", line))
		}
	}
	slices.Sort(edits)
	// take removes the first line with these words.
	take := func(from *[]string, words string) (rest string, found bool) {
		i := slices.IndexFunc(*from, func(line string) bool { return words != "" && strings.HasPrefix(line, words) })
		if i < 0 {
			return "", false
		}
		rest = strings.TrimPrefix((*from)[i], words)
		*from = slices.Delete(*from, i, i+1)
		return rest, true
	}
	for i, e := range n.o.Records.Transcript.Entries() {
		text, title := e.Text, ""
		if e.Embed != nil {
			title = n.plain("%s,", e.Embed.Title)
			text += fmt.Sprintf(" [%s: %s %s %s]", e.Embed.Title, e.Embed.Description, e.Embed.Footer, e.Embed.Color)
			for _, b := range e.Embed.Buttons {
				text += fmt.Sprintf(" (%s %s)", b.Label, b.Style)
			}
		}
		if e.Label != "" {
			text += " ← " + string(e.Label)
		}
		line := n.plain("%s: %s %s", e.Role, strings.TrimSpace(text), strings.Join(e.Tools, ", "))
		if !n.changes(fmt.Sprint("chat ", i+1), line) {
			continue
		}
		for _, on := range []struct {
			from  *[]string
			words string
			says  string
		}{
			{&texts, n.plain("%s", e.Text), " — on the phone"},
			{&notes, n.plain("%s", e.Text), " — a note"},
			{&cards, title, " — a card"},
			{&edits, title, " — edited"},
		} {
			if rest, found := take(on.from, on.words); found {
				line += on.says + rest
			}
		}
		lines = append(lines, fmt.Sprintf("chat %d: %s", i+1, line))
	}
	for _, left := range []struct {
		name string
		list []string
	}{{"a card: ", cards}, {"edited: ", edits}, {"on the phone: ", texts}, {"a note: ", notes}} {
		for _, line := range left.list {
			lines = append(lines, left.name+line)
		}
	}
	return lines
}

// beside writes down what the phone shows beside messages.
func (n *teller) beside(p *phone) {
	asIs := func(text string) string { return text }
	list(n, "an answer", p.answers, func(o AnswerOptions) string { return map[bool]string{true: " is silent"}[o.Silent] })
	list(n, "beside the answer: ", p.aside, asIs)
	list(n, "asked ", p.asked, func(a policy.Approval) string { return a.Label + " " + string(a.Verdict) })
	list(n, "deleted ", p.deleted, func(id post.MessageID) string { return string(id) })
	n.is("answers that are open", "%d", p.open)
}
