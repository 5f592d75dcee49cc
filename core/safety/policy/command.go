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

// Runner runs the bot's own command line on the bot's directory, by order of a
// session whose rules have let it pass.
type Runner func(ctx context.Context, by *Session, args []string) agent.CommandResult

const (
	// ownProgram is the command as rules name it.
	ownProgram = "ollim-bot"
	// ownMail is its command that shows mail.
	ownMail = "gmail"
	// grantFor is how long a command may wait between the user's yes to its shell
	// call and its own call: a shell command has ten minutes.
	grantFor = 10 * time.Minute
	// maxGrants bounds those that never came.
	maxGrants = 64
	// maxJudged bounds the calls that wait for their permission.
	maxJudged = 256
	// loggedCommand is how much of a command line the log holds.
	loggedCommand = 120
)

// Command answers the bot's own commands of this session, as SessionOptions takes
// it. A shell can call them with any words, from a script too, so the exact
// words are judged as a Bash call of their own; what the shell call itself was
// permitted for is not asked again. Who has run what is logged. It is nil where
// there is no runner.
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
		s.Reads(s.g.reach.ownLabel(args))
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
		return agent.Decision{Allow: true}
	}
	return s.permission(ctx, x)
}

// permits are the commands of ours whose shell call was permitted, each once. The zero value
// is empty.
type permits struct {
	mu sync.Mutex
	by map[string]time.Time
}

// grant remembers a permitted shell call that is one command of ours and
// nothing else.
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

// ownLists are the commands that show what tasks and webhooks say.
var ownLists = []string{"routine", "reminder", "webhook"}
