package policy

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
)

// Runner runs the bot's own command line on the bot's directory, for a session whose rules have
// allowed it. It records the labels of what it printed (Session.Reads and its kin) before it returns.
type Runner func(ctx context.Context, by *Session, args []string) agent.CommandResult

const (
	// ownProgram is the command's name in rules.
	ownProgram = "ollim-bot"
	// grantFor is how long a command may take between the user's approval of its shell call and its
	// own call: a shell command may run for ten minutes.
	grantFor = 10 * time.Minute
	// maxGrants limits the grants that are never used.
	maxGrants = 64
	// maxJudged limits the calls that are waiting for permission.
	maxJudged = 256
	// loggedCommand is how many characters of a command line are logged.
	loggedCommand = 120
)

// Command returns the handler for the bot's own commands of this session, for SessionOptions. A
// shell can call them with any arguments, even from a script, so the exact words are judged as a
// Bash call of their own, without asking again about what the shell call was permitted to do. Each
// command is logged with its session. Without a runner it returns nil.
func (s *Session) Command(run Runner) func(ctx context.Context, args []string) agent.CommandResult {
	if run == nil {
		return nil
	}
	return func(ctx context.Context, args []string) agent.CommandResult {
		log := s.g.o.Log.With("session", s.scope.Session, "command", clean.Cut(clean.Line(strings.Join(args, " ")), loggedCommand))
		if d := s.mayRun(ctx, args); !d.Allow {
			log.Warn("command of the agent was refused")
			return agent.CommandResult{Stderr: ownProgram + ": " + d.Reason + "\n", Exit: 1}
		}
		r := run(ctx, s, args)
		log.Info("command of the agent", "exit", r.Exit)
		return r
	}
}

// mayRun decides about a command line, word by word.
func (s *Session) mayRun(ctx context.Context, args []string) agent.Decision {
	line := quoted(append([]string{ownProgram}, args...))
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		return agent.Decision{Reason: answerFault}
	}
	x := s.g.tree.call(agent.ToolUse{Name: "Bash", Input: input})
	if s.permits.take(line) && !s.set().forbids(x) {
		return x.allow()
	}
	return s.permission(ctx, x)
}

// permits contains the bot's own commands whose shell call was permitted, each for one use. The
// zero value is empty.
type permits struct {
	mu sync.Mutex
	by map[string]time.Time
}

// grant remembers a permitted shell call that consists of a single ollim-bot command.
func (p *permits) grant(x call) {
	if x.tool != "Bash" {
		return
	}
	list, ok := words(x.arg)
	if !ok || list[0] != ownProgram {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil || len(p.by) >= maxGrants {
		p.by = map[string]time.Time{}
	}
	p.by[quoted(list)] = time.Now()
}

func (p *permits) take(line string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.by[line]
	delete(p.by, line)
	return ok && time.Since(at) < grantFor
}
