package claude

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// stories plays a file of testdata/stories. A line with ">" is what the bot does or what a played command prints; the
// lines below it are all that comes of it: for the readers of turns, the command, the bot's callbacks, its books, its
// log and its status.
func stories(t *testing.T, file string, tell func(*testing.T, []string) string) {
	t.Helper()
	goldentest.Stories(t, filepath.Join("stories", file+".txt"), func(t *testing.T, story string) string {
		var steps []string
		for line := range strings.Lines(story) {
			if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "#") {
				steps = append(steps, strings.TrimSpace(line))
			}
		}
		return tell(t, steps)
	})
}

func TestWhoseATurnIs(t *testing.T)                               { stories(t, "turns", tell) }
func TestHowTurnsAndProcessesEnd(t *testing.T)                    { stories(t, "ends", tell) }
func TestSilenceAndHungerAreNoticed(t *testing.T)                 { stories(t, "silence", tell) }
func TestHowSessionsAreOpened(t *testing.T)                       { stories(t, "opened", tell) }
func TestWhatTheCommandSaysIsPassedOn(t *testing.T)               { stories(t, "said", tell) }
func TestWhatATurnCosts(t *testing.T)                             { stories(t, "costs", tell) }
func TestARequestThatASubscriptionPaysForIsMarked(t *testing.T)   { stories(t, "plan", tell) }
func TestTheQuestionOfATurnsCostComesBeforeEachCall(t *testing.T) { stories(t, "afford", tell) }
func TestHooksAndPermissions(t *testing.T)                        { stories(t, "hooks", tell) }
func TestTheBotsToolsAreServed(t *testing.T)                      { stories(t, "tools", tell) }

func TestCapturedTurnsArePassedOn(t *testing.T) { stories(t, "captured", tell) }

func TestCapturedRequestsAreAnsweredAsClaudeUnderstoodThem(t *testing.T) {
	stories(t, "understood", tell)
}

// A0: the bot's tools run with what was approved, and with nothing else.
func TestAToolRunsOnlyAsItWasApproved(t *testing.T) { stories(t, "approved", tell) }

// teller plays a story and writes down what comes of its steps.
type teller struct {
	*stage
	t    *testing.T
	out  strings.Builder
	g    sync.WaitGroup
	opts agent.SessionOptions
	env  []string

	mu         sync.Mutex
	notes      map[string][]string // by source, since the step
	step       time.Time
	over       bool
	sessions   []agent.Session
	played     []*player
	known      []string // ids
	p          *player  // the one that prints
	message    sent     // the last one that it got
	turns      int
	own        int
	requests   int                           // of the command
	leaving    map[string]bool               // readers who leave at the next event
	cancel     map[string]context.CancelFunc // of turns
	free       chan struct{}                 // readers of turns of their own wait for it, if not nil
	objects    string
	allowed    float64
	stop       string
	limit      int64
	changes    int
	status     map[string]string
	greets     string
	totals     string
	mute       bool
	refuses    string
	refusal    string
	understood map[string]json.RawMessage // the answers of a captured host, by request
	whole      bool                       // all flags and all of the handshake are written down
}

func tell(t *testing.T, steps []string) (story string) {
	synctest.Test(t, func(t *testing.T) {
		n := &teller{t: t, notes: map[string][]string{}, leaving: map[string]bool{}, cancel: map[string]context.CancelFunc{}}
		n.opts = agent.SessionOptions{Dir: "/", OnEngineTurn: n.ownTurn, Permission: n.as("ask"), Tools: n.tools(), Hooks: agent.Hooks{
			Stop: n.objection, PreTool: n.as("hook"), PostTool: func(ctx context.Context, u agent.ToolUse) { n.decide(ctx, "done", u) },
			Charge: func(c agent.Charge) { n.note("charge", "%s", brief(c)) },
		}}
		o := Options{Log: slog.New(storyLog{n}), MemoryLimit: n.memoryLimit}
		for len(steps) > 0 && strings.HasPrefix(steps[0], "> given ") {
			fmt.Fprintln(&n.out, steps[0])
			what, rest, _ := strings.Cut(strings.TrimPrefix(steps[0], "> given "), " ")
			n.given(&o, what, rest)
			steps = steps[1:]
		}
		home := t.TempDir()
		o.Env = append([]string{"HOME=" + home}, n.env...)
		n.stage = newStage(t, o, n.prepare)
		n.engine.OnChange(func() { n.mu.Lock(); n.changes++; n.mu.Unlock() })
		given := n.out.String()
		n.look()
		if !strings.HasPrefix(steps[0], "> open") {
			n.open("")
			n.look()
		}
		n.out.Reset()
		n.out.WriteString(given)
		for _, line := range steps {
			fmt.Fprintln(&n.out, line)
			if strings.HasPrefix(line, "#") {
				continue
			}
			n.set(func() { n.step = time.Now() })
			for one := range strings.SplitSeq(strings.TrimPrefix(n.unmasked(line), "> "), " | ") {
				verb, rest, _ := strings.Cut(one, " ")
				n.do(verb, rest)
			}
			n.look()
		}
		n.set(func() { n.over = true })
		if n.free != nil {
			close(n.free)
		}
		for _, s := range n.sessions {
			testkit.Must(t, s.Close())
		}
		n.g.Wait()
		story = strings.TrimSpace(strings.ReplaceAll(n.out.String(), home, "$HOME"))
	})
	return story
}

var (
	uuids   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	numbers = regexp.MustCompile(`#[1-9]`)
)

// masked replaces random ids by their number, and sets up those that a step names. The lock is held.
func (n *teller) masked(s string) string {
	return uuids.ReplaceAllStringFunc(s, func(id string) string {
		if !slices.Contains(n.known, id) {
			n.known = append(n.known, id)
		}
		return fmt.Sprint("#", slices.Index(n.known, id)+1)
	})
}

// unmasked replaces numbers by ids.
func (n *teller) unmasked(s string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return numbers.ReplaceAllStringFunc(s, func(number string) string {
		i, err := strconv.Atoi(number[1:])
		testkit.Must(n.t, err)
		for len(n.known) < i {
			n.known = append(n.known, fmt.Sprintf("%08d-0000-4000-8000-000000000000", len(n.known)+1))
		}
		return n.known[i-1]
	})
}

// set reads or writes what goroutines share.
func (n *teller) set(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

// note writes something down that comes of the step.
func (n *teller) note(source, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if d := time.Since(n.step); d > 0 {
		text += fmt.Sprint(" after ", d)
	}
	if !n.over {
		n.notes[source] = append(n.notes[source], text)
	}
}

// look writes down what has happened, by source.
func (n *teller) look() {
	synctest.Wait()
	now := statusOf(n.engine.Status())
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if now[name] != n.status[name] {
			announced := ""
			if n.changes == 0 {
				announced = ", without a word"
			}
			n.notes["status"] = append(n.notes["status"], fmt.Sprintf("%s %s%s", name, cmp.Or(now[name], "none"), announced))
		}
	}
	n.status, n.changes = now, 0
	for _, source := range slices.Sorted(maps.Keys(n.notes)) {
		for _, text := range n.notes[source] {
			fmt.Fprintf(&n.out, "%s: %s\n", source, n.masked(text))
		}
	}
	clear(n.notes)
}

func statusOf(st agent.Status) map[string]string {
	processes := ""
	for _, p := range st.Processes {
		processes += fmt.Sprintf("%d MB ", p.Memory>>20)
	}
	models := ""
	if st.Models != nil {
		models = fmt.Sprintf("%+v", st.Models())
	}
	return map[string]string{
		"problem": st.Problem, "warning": st.Warning, "login needed": fmt.Sprint(st.LoginNeeded), "login": st.LoginURL, "version": st.Version,
		"processes": strings.TrimSpace(processes), "models": models,
	}
}

func (n *teller) given(o *Options, what, rest string) {
	switch what {
	case "greeting":
		n.greets = rest
	case "prices": // a dollar for a token read or written, ten for one of opus
		o.Price = func(model string, u agent.Usage) float64 {
			if strings.Contains(model, "opus") {
				return 10 * float64(u.Tokens())
			}
			return float64(u.Tokens())
		}
	case "variable":
		n.env = append(n.env, rest)
	case "totals":
		n.totals = rest
	case "mute":
		n.mute = true
	case "details":
		n.whole = true
	case "readers": // of turns of their own, who wait
		n.free = make(chan struct{})
	case "none": // of the callbacks
		n.opts = agent.SessionOptions{Dir: "/"}
	case "cap":
		n.opts.Hooks.Afford = n.afford
	case "tool": // with its only answer, which is an error after "!"
		name, text, _ := strings.Cut(rest, " ")
		n.opts.Tools = append(n.opts.Tools, says(name, agent.ToolResult{Text: strings.TrimPrefix(text, "!"), IsError: strings.HasPrefix(text, "!")}))
	case "slow": // the name of a tool
		n.opts.Tools = append(n.opts.Tools, tool(rest, n.waits))
	case "refusal": // of what contains a word
		n.refuses, n.refusal, _ = strings.Cut(rest, " ")
	default:
		n.t.Fatalf("nothing is given by %q", what)
	}
}

// prepare watches a process that starts.
func (n *teller) prepare(p *player) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.played = append(n.played, p)
	n.p, p.greets = p, n.greets
	p.mute.Store(n.mute)
	p.totals.Store(n.totals)
	source := "claude"
	if len(n.played) > 1 {
		source = fmt.Sprint("claude ", len(n.played))
	}
	args := p.spec.Args
	if !n.whole {
		args = args[slices.Index(args, "--model"):]
	}
	n.notes[source] = append(n.notes[source], fmt.Sprintf("starts in %s: %q", p.spec.Dir, args))
	go func() {
		for s := range p.signals {
			n.note(source, "gets the signal %v", s)
		}
	}()
	n.t.Cleanup(func() { close(p.signals) })
	p.hear = func(kind string, line []byte) { n.heard(source, kind, line) }
}

// heard writes down what a process is asked.
func (n *teller) heard(source, kind string, line []byte) {
	var l struct {
		sent
		Request map[string]any
		Message struct {
			Content []struct{ Type, Text string }
		}
		Response struct {
			ID       string `json:"request_id"`
			Response json.RawMessage
			Error    string
		}
	}
	if err := json.Unmarshal(line, &l); err != nil {
		n.note(source, "cannot read %s", line)
		return
	}
	switch kind {
	case "user":
		n.set(func() { n.message = l.sent })
		var blocks []string
		for _, b := range l.Message.Content {
			blocks = append(blocks, strings.ReplaceAll(cmp.Or(b.Text, b.Type), sessionfile.LastBlock, "(end)"))
		}
		n.note(source, "reads %q", strings.Join(blocks, " / "))
	case "control_response":
		n.note("answer "+l.Response.ID, "%s%s", l.Response.Response, l.Response.Error)
	case "control_request":
		if l.Request["subtype"] == "get_usage" && !n.whole { // which is asked again and again
			return
		}
		if _, greets := l.Request["hooks"]; greets && !n.whole {
			delete(l.Request, "hooks")
			delete(l.Request, "sdkMcpServers")
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		testkit.Must(n.t, enc.Encode(l.Request))
		n.note(source, "is asked %s", bytes.TrimSpace(b.Bytes()))
	}
}

// read writes a turn down. Its reader waits for free, if it is not nil.
func (n *teller) read(name string, free chan struct{}, turn iter.Seq2[agent.Event, error]) {
	ended := false
	for ev, err := range turn {
		if free != nil {
			<-free
		}
		if err != nil {
			ended = true
			n.note(name, "fails: %v", err)
			continue
		}
		_, ended = ev.(agent.Result)
		n.note(name, "%s", brief(ev))
		leaves := false
		n.set(func() { leaves = n.leaving[name] })
		if leaves {
			n.note(name, "its reader leaves")
			return
		}
	}
	if !ended {
		n.note(name, "has no end")
	}
}

func (n *teller) ownTurn(turn iter.Seq2[agent.Event, error]) {
	name := ""
	n.set(func() { n.own++; name = fmt.Sprint("own turn ", n.own) })
	n.read(name, n.free, turn)
}

func (n *teller) send(m agent.Message) {
	ctx, cancel := context.WithCancel(context.Background())
	n.turns++
	name, s := fmt.Sprint("turn ", n.turns), n.sessions[len(n.sessions)-1]
	n.cancel[name] = cancel
	n.g.Go(func() { defer cancel(); n.read(name, nil, s.Send(ctx, m)) })
	synctest.Wait()
}

// as returns a callback about a call, whose input says what comes of it, as in {"hook":"panic"}.
func (n *teller) as(who string) func(context.Context, agent.ToolUse) agent.Decision {
	return func(ctx context.Context, u agent.ToolUse) agent.Decision { return n.decide(ctx, who, u) }
}

func (n *teller) decide(ctx context.Context, who string, u agent.ToolUse) agent.Decision {
	of := "bot " + u.ID
	n.note(of, "%s about %s %s", who, u.Name, u.Input)
	if n.refuses != "" && strings.Contains(string(u.Input), n.refuses) {
		return agent.Decision{Reason: n.refusal}
	}
	var in map[string]string
	_ = json.Unmarshal(u.Input, &in) // others have no say
	switch in[who] {
	case "panic":
		panic("bug")
	case "deny":
		return agent.Decision{Reason: "the rules say no"}
	case "mute":
		return agent.Decision{}
	case "ask":
		return agent.Decision{Digest: u.Digest(), Allow: true, Ask: true}
	case "other": // approves another call
		return agent.Decision{Digest: agent.ToolUse{Name: "Other"}.Digest(), Allow: true}
	case "wait": // allows what was interrupted
		<-ctx.Done()
		time.Sleep(time.Second)
		n.note(of, "%s was cancelled", who)
	case "day":
		time.Sleep(24 * time.Hour)
		n.note(of, "%s allows it, %v", who, ctx.Err())
	}
	return u.Allowed()
}

func (n *teller) objection(ctx context.Context, again bool) string {
	n.note("bot", "may it end? again %t", again)
	objects := ""
	n.set(func() { objects = n.objects })
	switch objects {
	case "panic":
		panic("bug")
	case "wait":
		<-ctx.Done()
		time.Sleep(time.Second)
	}
	return objects
}

func (n *teller) afford(_ context.Context, s agent.Spending) (float64, string) {
	n.note("bot", "afford %s", brief(s))
	allowed, stop := 0.0, ""
	n.set(func() { allowed, stop = n.allowed, n.stop })
	switch {
	case allowed < 0:
		panic("bug")
	case stop == "wait": // for the user
		time.Sleep(time.Minute)
		return allowed, ""
	}
	return allowed, stop
}

func (n *teller) memoryLimit() (limit int64) {
	n.set(func() { limit = n.limit })
	return limit
}

// tools returns one for each way to behave. "mail" is on another server.
func (n *teller) tools() []agent.Tool {
	mail := says("mail", agent.ToolResult{Text: "a letter"})
	mail.Server = "post"
	return []agent.Tool{
		mail, says("silent", agent.ToolResult{}), says("fails", agent.ToolResult{Text: "no", IsError: true}),
		says("leave", agent.ToolResult{Text: "so be it", EndTurn: true}), echoTool("echo"), tool("wait", n.waits),
		tool("broken", func(context.Context, agent.Approved) agent.ToolResult { panic("bug") }),
		tool("long", func(ctx context.Context, _ agent.Approved) agent.ToolResult {
			time.Sleep(10 * time.Hour)
			return agent.ToolResult{Text: fmt.Sprint("well, ", ctx.Err())}
		}),
	}
}

func says(name string, r agent.ToolResult) agent.Tool {
	return tool(name, func(context.Context, agent.Approved) agent.ToolResult { return r })
}

func tool(name string, call func(context.Context, agent.Approved) agent.ToolResult) agent.Tool {
	return agent.Tool{Name: name, Description: "is " + name, Schema: json.RawMessage(`{"type":"object"}`), Call: call}
}

func (n *teller) waits(ctx context.Context, _ agent.Approved) agent.ToolResult {
	n.note("bot", "a tool waits")
	<-ctx.Done()
	time.Sleep(time.Second)
	n.note("bot", "the tool was cancelled")
	return agent.ToolResult{Text: "cancelled", IsError: true}
}

// replay lets the command print what the real one printed: its requests, or its turns.
func (n *teller) replay(file string, requests bool) {
	data, err := os.ReadFile(filepath.FromSlash(file))
	testkit.Must(n.t, err)
	ours := map[string]string{"Stop": hookStop, "PreToolUse": hookPreTool, "PostToolUse": hookPostTool}
	n.understood = map[string]json.RawMessage{}
	for text := range bytes.Lines(data) {
		var l struct {
			Dir  string
			Line json.RawMessage
		}
		var of struct {
			Type    string
			ID      string `json:"request_id"`
			Request struct {
				Server  string `json:"server_name"`
				Message struct {
					Params struct {
						Name string
						Args json.RawMessage `json:"arguments"`
					}
				}
				Input struct {
					Event string `json:"hook_event_name"`
				}
			}
			Response struct {
				ID       string `json:"request_id"`
				Response json.RawMessage
			}
		}
		testkit.Must(n.t, json.Unmarshal(text, &l))
		if l.Line == nil || json.Unmarshal(l.Line, &of) != nil {
			continue // how the process ended
		}
		q := of.Request
		event := q.Input.Event
		switch {
		case of.Type == "control_response":
			n.understood[of.Response.ID] = of.Response.Response
			continue
		case l.Dir == "host->cli" && of.Type == "user" && !requests:
			n.send(agent.Message{Text: filepath.Base(file)})
			continue
		case l.Dir == "host->cli", requests != strings.HasPrefix(of.Type, "control_"), event != "" && ours[event] == "":
			continue
		case q.Message.Params.Name != "": // the hook before it was not captured
			n.p.say(n.line("used", fmt.Sprintf("pre %s mcp__%s__%s %s", of.ID, q.Server, q.Message.Params.Name, q.Message.Params.Args)))
			synctest.Wait()
		}
		line := string(l.Line)
		if event != "" {
			line = regexp.MustCompile(`"callback_id": *"[^"]*"`).ReplaceAllString(line, fmt.Sprintf(`"callback_id":%q`, ours[event]))
		}
		n.p.say(strings.TrimSpace(line))
		synctest.Wait()
	}
	// The answers of the captured host are behind the requests.
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, want := range n.understood {
		var was, is any
		notes := n.notes["answer "+id]
		if len(notes) == 1 && json.Unmarshal(want, &was) == nil && json.Unmarshal([]byte(notes[0]), &is) == nil && reflect.DeepEqual(was, is) {
			notes[0] = "as claude understood it, " + notes[0]
		}
	}
}

// fill sets options by words.
func fill(o *agent.SessionOptions, text string) {
	fields := map[string]*string{
		"resume": &o.Resume, "id": &o.ID, "prompt": &o.SystemPrompt, "dir": &o.Dir,
		"model": &o.Settings.Model, "thinking": &o.Settings.Thinking, "mode": &o.Settings.Mode,
	}
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		if o.Fork, o.Bare = o.Fork || key == "fork", o.Bare || key == "bare"; fields[key] != nil {
			*fields[key] = value
		}
	}
}

// open opens a session. Without words, nothing of it is written down.
func (n *teller) open(text string) {
	o := n.opts
	fill(&o, text)
	ctx, cancel := context.WithCancel(context.Background())
	n.set(func() { n.cancel["open"] = cancel })
	n.g.Go(func() {
		s, err := n.engine.Open(ctx, o)
		if err != nil {
			n.note("open", "%v; no such session: %t, too slow: %t", err, errors.Is(err, agent.ErrNoSession), errors.Is(err, context.DeadlineExceeded))
			return
		}
		n.note("open", "%s", s.ID())
		n.set(func() {
			n.sessions = append(n.sessions, s)
			if text == "" {
				clear(n.notes)
			}
		})
	})
	synctest.Wait()
}

// do does something on the bot's side, or lets the command print a line.
func (n *teller) do(verb, rest string) {
	p, s := n.p, agent.Session(nil)
	n.set(func() {
		if len(n.sessions) > 0 {
			s = n.sessions[len(n.sessions)-1]
		}
	})
	meanwhile := func(what string, f func(context.Context) error) {
		n.g.Go(func() { n.note(what, "%v", cmp.Or(f(context.Background()), errors.New("ok"))) })
		synctest.Wait()
	}
	switch verb {
	case "open":
		n.open(rest)
	case "send":
		n.send(agent.Message{Text: rest})
	case "picture":
		n.send(agent.Message{Text: rest, Images: []agent.Image{{MediaType: "image/png", Data: []byte("x")}}})
	case "quoted", "compact": // with its escapes
		text, err := strconv.Unquote(rest)
		testkit.Must(n.t, err)
		n.send(agent.Message{Text: text, Command: map[string]agent.Command{"compact": agent.Compact}[verb]})
	case "interrupt":
		meanwhile("interrupt", s.Interrupt)
	case "close":
		meanwhile("close", func(context.Context) error { return s.Close() })
	case "configure":
		var o agent.SessionOptions
		fill(&o, rest)
		meanwhile("configure", func(ctx context.Context) error { return s.Configure(ctx, o.Settings) })
	case "leave":
		n.set(func() { n.leaving[rest] = true })
	case "cancel":
		n.cancel[rest]()
	case "wait":
		d, err := time.ParseDuration(rest)
		testkit.Must(n.t, err)
		time.Sleep(d)
	case "free": // the readers of turns of their own
		close(n.free)
		n.free = nil
	case "process":
		i, err := strconv.Atoi(rest)
		testkit.Must(n.t, err)
		n.p = n.played[i-1]
	case "uses", "limit": // megabytes
		size, err := strconv.ParseInt(rest, 10, 64)
		testkit.Must(n.t, err)
		if verb == "uses" {
			p.resident.Store(size << 20)
			return
		}
		n.set(func() { n.limit = size << 20 })
	case "objects":
		n.set(func() { n.objects = rest })
	case "affords":
		word, stop, _ := strings.Cut(rest, " ")
		allowed, err := strconv.ParseFloat(word, 64)
		testkit.Must(n.t, err)
		n.set(func() { n.allowed, n.stop = allowed, stop })
	case "requests", "turns": // of the real command
		n.replay(rest, verb == "requests")
	case "transcript": // of the session, with a message
		file := sessionfile.Path(sessionfile.ConfigDir(process.Environment(n.engine.o.Env, process.Env{})), "/", s.ID())
		testkit.Must(n.t, os.MkdirAll(filepath.Dir(file), 0o700))
		testkit.Must(n.t, os.WriteFile(file, fmt.Appendf(nil, `{"type":"user","message":{"content":%q}}`, rest), 0o600))
	case "totals":
		p.totals.Store(rest)
	case "mute":
		p.mute.Store(true)
	case "deaf":
		p.deaf.Store(true)
	case "stuck": // it no longer reads
		testkit.Must(n.t, p.in.Close())
	case "dies":
		p.stderr.Store(rest)
		p.end()
	case "shuts": // its output
		testkit.Must(n.t, p.out.Close())
	default:
		p.say(n.line(verb, rest))
		synctest.Wait()
	}
}

// object joins the fields of JSON objects.
func object(texts ...string) string {
	all := map[string]json.RawMessage{}
	for _, text := range texts {
		if err := json.Unmarshal([]byte(cmp.Or(text, "{}")), &all); err != nil {
			return text // it is to be what it is
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// line returns a line of the command.
func (n *teller) line(verb, rest string) string {
	rest = strings.ReplaceAll(rest, "$", "\n")
	word, more, _ := strings.Cut(rest, " ")
	id := ""
	n.set(func() {
		if len(n.sessions) > 0 {
			id = fmt.Sprintf(`{"session_id":%q}`, n.sessions[len(n.sessions)-1].ID())
		}
	})
	stream := func(event string) string { return `{"type":"stream_event","event":` + event + `}` }
	ask := func(subtype string, format string, args ...any) string {
		n.requests++
		return fmt.Sprintf(`{"type":"control_request","request_id":"r%d","request":%s}`, n.requests,
			object(fmt.Sprintf(`{"subtype":%q}`, subtype), fmt.Sprintf(format, args...)))
	}
	rpc := func(format string, args ...any) string {
		return ask("mcp_message", `{"server_name":"discord","message":%s}`, object(`{"jsonrpc":"2.0"}`, fmt.Sprintf(format, args...)))
	}
	switch verb {
	case "running", "idle":
		return object(`{"type":"system","subtype":"session_state_changed"}`, fmt.Sprintf(`{"state":%q}`, verb))
	case "init":
		return object(begin, id, rest)
	case "announce":
		return object(ended, rest)
	case "system":
		return object(fmt.Sprintf(`{"type":"system","subtype":%q}`, word), more)
	case "start":
		return stream(`{"type":"message_start","message":` + object(fmt.Sprintf(`{"id":%q}`, word), more) + `}`)
	case "block":
		return stream(`{"type":"content_block_start","index":0}`)
	case "delta":
		return delta(rest)
	case "thinks":
		return stream(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":%q}}`, rest))
	case "usage":
		return stream(`{"type":"message_delta","usage":` + rest + `}`)
	case "answer":
		return answerLine(word, more)
	case "assistant":
		return object(`{"type":"assistant"}`, rest)
	case "call": // by a message: an id, a name and the input
		id, tool, _ := strings.Cut(more, " ")
		name, input, _ := strings.Cut(tool, " ")
		return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, word, id, name, cmp.Or(input, "{}"))
	case "outcome", "failure":
		return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q,"is_error":%t}]}}`, word, more, verb == "failure")
	case "echo":
		n.mu.Lock()
		defer n.mu.Unlock()
		return echoLine(n.message)
	case "result":
		return object(resultLine(""), id, rest)
	case "aborted":
		return object(aborted, id, rest)
	case "hook": // pre, post or stop
		return ask("hook_callback", `{"callback_id":%q,"input":%s}`, map[string]string{"pre": hookPreTool, "post": hookPostTool, "stop": hookStop}[word], more)
	case "used": // as the hook before or after a call says it
		return ask("hook_callback", `{"callback_id":%q,"input":%s}`, map[string]string{"pre": hookPreTool, "post": hookPostTool}[word], usedInput(more))
	case "may":
		id, input, _ := strings.Cut(more, " ")
		return ask("can_use_tool", `{"tool_name":%q,"input":%s,"tool_use_id":%q}`, word, input, id)
	case "tool": // with an id: a name and the arguments
		name, args, _ := strings.Cut(more, " ")
		return rpc(`{"id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, word, name, args)
	case "rpc":
		return rpc(`%s`, rest)
	case "ask":
		return ask(word, "%s", more)
	case "withdraw":
		return fmt.Sprintf(`{"type":"control_cancel_request","request_id":%q}`, rest)
	case "raw":
		return rest
	}
	n.t.Fatalf("nothing is done by %q", verb)
	return ""
}

// usedInput is a hook's input for an id, a name and the tool's input.
func usedInput(call string) string {
	id, rest, _ := strings.Cut(call, " ")
	name, input, _ := strings.Cut(rest, " ")
	return fmt.Sprintf(`{"tool_name":%q,"tool_input":%s,"tool_use_id":%q}`, name, input, id)
}

// brief names a value's fields that are set.
func brief(v any) string {
	if text, ok := v.(agent.Text); ok {
		return fmt.Sprintf("says %q", text.Delta)
	}
	r := reflect.ValueOf(v)
	words := []string{r.Type().Name()}
	for i := range r.NumField() {
		f := r.Field(i)
		name := r.Type().Field(i).Name
		switch x := f.Interface().(type) {
		case bool:
			if x {
				words = append(words, name)
			}
		case agent.Usage:
			if x != (agent.Usage{}) {
				words = append(words, "("+brief(x)+")")
			}
		case json.RawMessage:
			words = append(words, string(x))
		case time.Time:
			words = append(words, x.UTC().Format(time.RFC3339))
		case float64:
			if x != 0 {
				words = append(words, fmt.Sprintf("%s %.4g", name, x))
			}
		case string:
			if x != "" {
				words = append(words, fmt.Sprintf("%s %q", name, x))
			}
		default:
			if !f.IsZero() {
				words = append(words, fmt.Sprintf("%s %v", name, x))
			}
		}
	}
	return strings.Join(words, " ")
}

// storyLog writes warnings and errors down.
type storyLog struct{ n *teller }

func (l storyLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (l storyLog) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l storyLog) WithGroup(string) slog.Handler                    { return l }

func (l storyLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if value := a.Value.String(); a.Key != "stack" && !strings.HasPrefix(value, "json: ") { // its words are Go's
			text += fmt.Sprintf(", %s %s", a.Key, value)
		}
		return true
	})
	l.n.note("log", "%s", text)
	return nil
}
