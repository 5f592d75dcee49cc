package script

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// A story is a session with what it may use, and messages to it. "> " begins a line of a message and "| " one of a script at its end,
// where "; " begins another step. What comes of a message is indented below it, or behind "=>" if it is one line. 3×(a#) is a1a2a3. player.prepare has the other lines.
func TestTheOfflineEngineDoesAsItsStoriesSay(t *testing.T) {
	for _, name := range []string{"scripts", "tools", "unscripted", "time"} {
		t.Run(name, func(t *testing.T) {
			goldentest.Stories(t, "stories/"+name+".txt", func(t *testing.T, story string) (got string) {
				synctest.Test(t, func(t *testing.T) { got = play(t, story) })
				return got
			})
		})
	}
}

// player plays a story.
type player struct {
	t             *testing.T
	o             Options
	so            agent.SessionOptions
	s             agent.Session
	stop          string // what the Stop hook says, once or always
	always        bool
	prompt        string // before the message
	words, script []string
	during        map[string]time.Duration // what happens during the next turn, and when
	shows         bool                     // usage
	ids           []string                 // of calls
	out           []string
}

func play(t *testing.T, story string) string {
	p := &player{t: t, during: map[string]time.Duration{}}
	for line := range strings.Lines(story + "\n") {
		line, _, ended := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		text, said := strings.CutPrefix(line, ">")
		steps, scripted := strings.CutPrefix(line, "| ")
		if len(p.script) > 0 || !said && !scripted {
			p.send()
		}
		switch {
		case said:
			p.words = append(p.words, goldentest.Repeated(strings.TrimPrefix(text, " ")))
		case scripted:
			p.script = append(p.script, strings.Split(goldentest.Repeated(steps), "; ")...)
		}
		if !strings.HasPrefix(line, "  ") {
			p.out = append(p.out, line)
		}
		if verb, rest, _ := strings.Cut(line, " "); !said && !scripted && verb != "" {
			p.prepare(verb, rest)
		}
		if ended {
			p.send()
		}
	}
	p.send()
	return strings.Join(p.out, "\n")
}

func (p *player) note(format string, args ...any) {
	text := strings.NewReplacer("\n", "⏎", sayNoModel, "NO MODEL").Replace(fmt.Sprintf(format, args...))
	p.out = append(p.out, "  "+strings.TrimRight(text, " "))
}

// prepare changes what the session may do, or what happens during the next turn.
func (p *player) prepare(verb, rest string) {
	switch verb {
	case "tools": // -name fails
		for name := range strings.FieldsSeq(rest) {
			p.so.Tools = append(p.so.Tools, tool(name))
		}
	case "hook": // refuses what has a word
		p.so.Hooks.PreTool = func(_ context.Context, u agent.ToolUse) agent.Decision {
			return agent.Decision{Digest: u.Digest(), Allow: !strings.Contains(string(u.Input), rest), Reason: rest + " is protected"}
		}
	case "user": // allows what is asked, or says something else
		p.so.Permission = func(_ context.Context, u agent.ToolUse) agent.Decision {
			p.note("asks the user for %s %s", u.Name, u.Input)
			return agent.Decision{Digest: u.Digest(), Allow: rest == "allows", Reason: rest}
		}
	case "stop": // what its hook says
		p.stop, p.always = strings.CutPrefix(goldentest.Repeated(rest), "always ")
		p.so.Hooks.Stop = func(_ context.Context, again bool) string {
			if p.always {
				p.note("may it stop? again: %v", again)
			}
			if again && !p.always {
				return ""
			}
			return p.stop
		}
	case "talk": // a script for what was said
		p.o.Talk = func(said string) string {
			p.note("talk to %q", said)
			return strings.ReplaceAll(rest, "; ", "\n")
		}
	case "posts": // shows what is known afterwards
		p.so.Hooks.PostTool = func(_ context.Context, u agent.ToolUse) { p.note("afterwards %s", u.Name) }
	case "priced":
		p.o.Priced, p.shows = true, true
		p.so.Hooks.Charge = func(c agent.Charge) {
			p.note("charged %s %s: %s", c.Model, cmp.Or(string(c.Part), "main"), usage(c.Used))
		}
	case "offline":
		p.o.Offline = rest
	case "bare":
		p.so.Bare = true
	case "pace":
		p.o.Pace, _ = strconv.ParseFloat(rest, 64)
	case "settings":
		model, thinking, _ := strings.Cut(rest, " ")
		p.open()
		testkit.Must(p.t, p.s.Configure(p.t.Context(), agent.Settings{Model: model, Thinking: thinking}))
	case "prompt", "fork": // the bot's own, to the place of a task's text
		data, err := os.ReadFile("testdata/" + verb + "s/" + rest + ".txt")
		testkit.Must(p.t, err)
		p.prompt = "[2026-11-23 Mon 09:02 AM PT] " + string(data)
		if verb == "prompt" {
			p.prompt, _, _ = strings.Cut(string(data), "Look at my tasks.")
		}
	case "interrupt", "close", "cancel":
		d, err := time.ParseDuration(rest)
		testkit.Must(p.t, err)
		p.during[verb] = d
	case "compact":
		p.turn(agent.Message{Command: agent.Compact, Text: rest})
	default:
		p.t.Fatalf("no line begins with %s", verb)
	}
}

// tool answers, fails if its name begins with "-", or is slow.
func tool(name string) agent.Tool {
	name, fails := strings.CutPrefix(name, "-")
	return agent.Tool{Name: name, Call: func(ctx context.Context, a agent.Approved) agent.ToolResult {
		if name == "slow" {
			<-ctx.Done()
		}
		return agent.ToolResult{Text: "did " + name, IsError: fails, EndTurn: name == "leave"}
	}}
}

func (p *player) open() {
	if p.s == nil {
		var err error
		p.s, err = New(p.o).Open(p.t.Context(), p.so)
		testkit.Must(p.t, err)
	}
}

// send sends the message that the last lines are.
func (p *player) send() {
	if len(p.words)+len(p.script) == 0 && p.prompt == "" {
		return
	}
	text := p.prompt + strings.Join(p.words, "\n")
	if len(p.script) > 0 {
		text += "\n```script\n" + strings.Join(p.script, "\n") + "\n```\n"
	}
	p.prompt, p.words, p.script = "", nil, nil
	begun := len(p.out)
	p.turn(agent.Message{Text: strings.TrimPrefix(text, "\n")})
	if len(p.out) == begun+1 { // a single note is in the line itself
		p.out = append(p.out[:begun-1], p.out[begun-1]+" => "+strings.TrimSpace(p.out[begun]))
	}
}

// turn notes what comes of a message.
func (p *player) turn(m agent.Message) {
	p.open()
	begun := time.Now()
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	for what, after := range p.during {
		time.AfterFunc(after, map[string]func(){
			"interrupt": func() { testkit.Must(p.t, p.s.Interrupt(ctx)) }, "close": func() { testkit.Must(p.t, p.s.Close()) }, "cancel": cancel,
		}[what])
	}
	clear(p.during)
	kind, said, call, results := "", "", "", 0
	flush := func() {
		if said != "" {
			p.note("%s %s", kind, said)
		}
		said = ""
	}
	for ev, err := range p.s.Send(ctx, m) {
		now, delta := "", ""
		switch ev := ev.(type) {
		case agent.Text:
			now, delta = "says", ev.Delta
		case agent.Thinking:
			now, delta = "thinks", ev.Delta
		}
		last := strings.TrimSpace(said)
		if now != kind || now == "" {
			flush()
		}
		kind, said = now, said+delta
		switch ev := ev.(type) {
		case agent.ToolStart:
			call = fmt.Sprintf("%s %s %s", ev.ID[len(ev.ID)-2:], ev.Name, ev.Input)
			if p.ids = append(p.ids, ev.ID); slices.Index(p.ids, ev.ID) < len(p.ids)-1 {
				p.note("a call has the ID of another")
			}
		case agent.ToolEnd:
			fate := map[[2]bool]string{{true}: "error ", {true, true}: "denied "}[[2]bool{ev.IsError, ev.Denied}]
			p.note("calls %s -> %s%s", strings.TrimPrefix(call, ev.ID[len(ev.ID)-2:]+" "), fate, ev.Text)
			call = ""
		case agent.Compacting:
			p.note("compacting %d tokens, done %v, auto %v", ev.PreTokens, ev.Done, ev.Auto)
		case agent.Result:
			results++
			if how := map[[2]bool]string{{}: "ends with", {true}: "error:", {false, true}: "interrupted"}[[2]bool{ev.IsError, ev.Interrupted}]; how != "ends with" || ev.Text != last || ev.SessionID != p.s.ID() {
				p.note("%s %s", how, ev.Text)
			}
			if p.shows {
				p.note("%d rounds, %s", ev.Turns, usage(ev.Usage))
			}
		}
		if err != nil {
			p.note("fails: %v", err)
			results++
		}
	}
	if call != "" {
		p.note("calls %s", call[3:])
	}
	if took := time.Since(begun); took > 0 {
		p.note("after %s", took)
	}
	if results != 1 {
		p.note("%d results", results)
	}
}

func usage(u agent.Usage) string {
	return fmt.Sprintf("%d in, %d out, %d read, %d written, free %v", u.InputTokens, u.OutputTokens, u.CacheRead, u.CacheWrite, u.Free)
}

// botTools are those of a run.
func botTools() (list []agent.Tool) {
	for name := range strings.FieldsSeq("ping_user discord_embed report_updates follow_up_chain add_reminder") {
		list = append(list, tool(name))
	}
	return slices.Clip(list)
}
