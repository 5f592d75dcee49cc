package policy

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

// chain is an attack over several sessions. The same table is played with the built program in
// cmd/ollim-bot.
type chain struct {
	Line  string            `json:"line"`
	Only  string            `json:"only"` // "guard" or "program"; "" for both
	Files map[string]string `json:"files"`
	Steps []chainStep       `json:"steps"`
}

// chainStep is one call of a session, a change of a file by the user ("hand"), or an event of the
// conversation ("life"). Consecutive steps with the same In belong to one session; a number
// distinguishes two of a kind.
type chainStep struct {
	// In is a kind of session:
	//   webhook   the run of a webhook
	//   trusted   a background run whose file says trust-input
	//   isolated  a background run separate from the conversation
	//   routine   a background run that branches from the conversation
	//   reminder  the run of the reminder that the chain has set with "set"
	//   task      a task in the conversation, unattended
	//   user      a turn that the user starts with a message
	//   fork      an interactive fork that the user has entered
	In   string         `json:"in"`
	Do   string         `json:"do"`
	With map[string]any `json:"with"`
	// Want is "refused", "allowed", "asked" (and denied) or "approved" (asked, and allowed).
	Want string `json:"want"`
}

// links plays a chain against the guard. Rules for what passes between sessions through the
// conversation are tested in core/talk/chat and core/work/fork.
type links struct {
	t       *testing.T
	guard   *Guard
	root    string
	network bool // commands reach the network, as without a sandbox
	main    *Taint
	fork    *Taint
	updates []label.Label
	last    string
	session *Session
	answer  Verdict
}

func TestEveryChainOfSessionsEndsAsItShould(t *testing.T) {
	testkit.Alone(t)
	var all struct{ Chains []chain }
	table(t, "chains.json", &all)
	for _, c := range all.Chains {
		if c.Only == "program" {
			continue
		}
		for name, network := range map[string]bool{"": false, ", with a network": true} {
			t.Run(c.Line+name, func(t *testing.T) {
				t.Parallel()
				newLinks(t, c.Files, network).play(c.Steps)
			})
		}
	}
}

func newLinks(t *testing.T, files map[string]string, network bool) *links {
	g, root := newGuard(t)
	l := &links{t: t, guard: g, root: root, network: network, main: &Taint{}}
	l.file(".env", "X=marigold\n")
	l.file("USER.md", "Ada.\n")
	for name, text := range files {
		l.file(name, text)
	}
	l.restart()
	for written := time.Now(); time.Since(written) < 2*stampSlack; { // the clock of the file system cannot be faked
	}
	return l
}

func (l *links) file(name, text string) {
	l.t.Helper()
	write(l.t, filepath.Join(l.root, name), text)
}

// restart starts the program again on the same directory.
func (l *links) restart() {
	l.guard = New(Options{Dir: l.guard.o.Dir, Zone: time.UTC, Log: slog.New(slog.DiscardHandler), Network: func() bool { return l.network }})
	_, err := l.guard.Provenance().Load()
	testkit.Must(l.t, err)
	answering(l.t, l.guard, func(Approval) Verdict { return l.answer })
	l.main = NewTaint(l.main.Label())
	l.last = ""
}

func (l *links) play(steps []chainStep) {
	for i, s := range steps {
		switch s.In {
		case "hand":
			l.hand(s)
			continue
		case "life":
			l.life(s.Do)
			continue
		}
		if s.In != l.last {
			l.begin(s.In)
		}
		if got := l.call(s); got != s.Want {
			l.t.Errorf("step %d: %s %v in %s is %s, want %s (label %q)", i+1, s.Do, s.With, s.In, got, s.Want, l.session.Label())
		}
	}
}

// begin starts the session of a step.
func (l *links) begin(in string) {
	if l.session != nil {
		l.session.End()
		l.guard.Rest()
	}
	l.last = in
	kind, _, _ := strings.Cut(in, " ")
	scope := Scope{Kind: Background, Session: in, Rules: Rules{Allowed: Merge(everything.Allowed, BackgroundTools())}, Taint: &Taint{}}
	switch kind {
	case "webhook":
		scope.Taint = NewTaint("webhook ci")
	case "trusted":
		scope.Taint = &Taint{Trusted: true}
	case "isolated":
	case "routine":
		scope.Taint = NewTaint(l.main.Label())
	case "reminder":
		data, err := os.ReadFile(filepath.Join(l.root, "reminders", "set.md"))
		testkit.Must(l.t, err)
		scope.Taint = NewTaint(l.guard.TaskLabel(routines.Task{Kind: routines.KindReminder, Path: "reminders/set.md", Digest: routines.Digest(data)}))
	default:
		turn := Turn{Attended: kind != "task"}
		scope.Kind, scope.Turn, scope.Rules = Main, func() Turn { return turn }, Rules{Allowed: Merge(everything.Allowed, MainTools())}
		switch kind {
		case "fork":
			l.fork = NewTaint(label.Join(append([]label.Label{l.main.Label()}, l.updates...)...))
			scope.Kind, scope.Taint = Interactive, l.fork
		case "user":
			l.main.Clear()
			fallthrough
		default:
			l.main.Read(label.Join(l.updates...))
			l.updates, scope.Taint = nil, l.main
		}
	}
	l.session = l.guard.Session(scope)
}

// call makes a call as an engine would, and performs it.
func (l *links) call(s chainStep) string {
	u, with := toolUse(s.Do, s.With), func(key string) string { v, _ := s.With[key].(string); return v }
	u.ID = s.In
	if s.Do == "set" { // a reminder that will fire
		u = toolUse(toolset.Prefix+toolset.AddReminder, nil)
	}
	if l.answer = Deny; s.Want == "approved" {
		l.answer = Allow
	}
	hook := l.session.PreTool(l.t.Context(), u)
	if !hook.Allow {
		return "refused"
	}
	if d := l.session.Permission(l.t.Context(), u); !d.Allow {
		return map[bool]string{true: "asked", false: "refused"}[hook.Ask]
	}
	switch s.Do {
	case "Write":
		l.file(with("file_path"), with("content"))
	case "Edit":
		old, err := os.ReadFile(filepath.Join(l.root, with("file_path")))
		testkit.Must(l.t, err)
		l.file(with("file_path"), strings.Replace(string(old), with("old_string"), with("new_string"), 1))
	case "Bash":
		l.command(with("command"))
	case "set", toolset.Prefix + toolset.AddReminder:
		w, name := l.session.Writer(), "reminders/"+strings.TrimPrefix(s.Do, toolset.Prefix)+".md"
		w.Label = l.session.taint.LabelOf(toolset.AddReminder)
		data := "---\nid: \"abcd1234\"\nrun-at: \"2036-01-01T10:00:00Z\"\ndescription: " + s.In + "\n---\nTea.\n"
		testkit.Must(l.t, l.session.g.Written(w, name, []byte(data)))
		l.file(name, data)
	case toolset.Prefix + toolset.ReportUpdates:
		l.updates = append(l.updates, l.session.Label().Via("update"))
	}
	l.session.Hooks(nil).PostTool(l.t.Context(), u)
	if hook.Ask {
		return "approved"
	}
	return "allowed"
}

// command runs a shell command; the bot's own commands go to its door, and label what they print as the program does.
func (l *links) command(line string) {
	if args := strings.Fields(line); args[0] == ownProgram {
		l.session.Command(func(_ context.Context, by *Session, args []string) agent.CommandResult {
			if args[0] == "gmail" {
				by.ReadsMail()
			} else {
				by.ReadsTasks()
			}
			return agent.CommandResult{}
		})(l.t.Context(), args[1:])
		return
	}
	cmd := exec.CommandContext(l.t.Context(), "/bin/sh", "-c", line)
	cmd.Dir = l.root
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("%s: %v, %s", line, err, out)
	}
}

// hand changes a file as the user does, outside of the bot.
func (l *links) hand(s chainStep) {
	from, to := filepath.Join(l.root, s.With["from"].(string)), filepath.Join(l.root, s.With["to"].(string))
	testkit.Must(l.t, os.MkdirAll(filepath.Dir(to), 0o700))
	testkit.Must(l.t, map[string]func(string, string) error{"rename": os.Rename, "link": os.Link}[s.Do](from, to))
}

// life plays an event of the conversation.
func (l *links) life(what string) {
	switch what {
	case "restart":
		l.restart()
	case "compact": // the summary keeps the label
		l.main = NewTaint(l.main.Label())
	case "save":
		l.main = NewTaint(l.fork.Label())
	}
	l.last = ""
}
