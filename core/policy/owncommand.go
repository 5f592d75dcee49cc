package policy

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// Runner runs the bot's own command line on the bot's directory, by order of a
// session whose rules have let it pass.
type Runner func(ctx context.Context, by *Session, args []string) agent.CommandResult

const (
	// ownProgram is the command as rules name it.
	ownProgram = "ollim-bot"
	// grantFor is how long a command may wait between the user's yes to its shell
	// call and its own call: a shell command has ten minutes.
	grantFor = 10 * time.Minute
	// maxGrants bounds those that never came.
	maxGrants = 64
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
		log := s.g.log.With("session", s.scope.Session, "command", clean.Cut(clean.Line(strings.Join(args, " ")), loggedCommand))
		if d := s.mayRun(ctx, args); !d.Allow {
			log.Warn("command of the agent was refused")
			return agent.CommandResult{Stderr: ownProgram + ": " + d.Reason + "\n", Exit: 1}
		}
		s.readsCommand(args)
		r := run(ctx, s, args)
		log.Info("command of the agent", "exit", r.Exit)
		return r
	}
}

// readsCommand marks a run whose command reads mail, however its shell has spelled it.
func (s *Session) readsCommand(args []string) {
	if set, taint := s.alone(); set != nil && len(args) > 0 && args[0] == "gmail" {
		taint.read(taintMail)
	}
}

// ReadsInvitation marks a run that is about to read what somebody else has put into
// the user's calendar.
func (s *Session) ReadsInvitation() {
	if set, taint := s.alone(); set != nil {
		taint.read(taintInvitation)
	}
}

// mayRun decides about a command line, word by word.
func (s *Session) mayRun(ctx context.Context, args []string) agent.Decision {
	line := quoted(append([]string{ownProgram}, args...))
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		return agent.Decision{Reason: answerFault}
	}
	u := agent.ToolUse{Name: "Bash", Input: input}
	if s.takeGrant(line) && !s.set().Forbids(u) {
		return agent.Decision{Allow: true}
	}
	return s.permission(ctx, u)
}

// grants are the commands of ours whose shell call was permitted, each once.
type grants map[string]time.Time

// grant remembers a permitted shell call that is one command of ours and
// nothing else.
func (s *Session) grant(u agent.ToolUse) {
	x := s.g.tree.use(u)
	if x.tool != "Bash" {
		return
	}
	list, ok := words(x.arg)
	if !ok || list[0] != ownProgram {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grants == nil || len(s.grants) >= maxGrants {
		s.grants = grants{}
	}
	s.grants[quoted(list)] = time.Now()
}

func (s *Session) takeGrant(line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.grants[line]
	delete(s.grants, line)
	return ok && time.Since(at) < grantFor
}

// quoted is a command line that a shell reads as just these words. Words that
// need no quotes have none, so that rules match them as they are written.
func quoted(list []string) string {
	out := make([]string, len(list))
	for i, w := range list {
		if w == "" || strings.ContainsFunc(w, special) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out[i] = w
	}
	return strings.Join(out, " ")
}

// special reports a character that a shell may take for more than itself.
func special(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_./:=@%+,", c)
}

// words are the words of a command line, where it is a plain one: no variable,
// wildcard or operator, nothing that a shell would make something else of.
func words(line string) (list []string, ok bool) {
	if !simple(line) {
		return nil, false
	}
	var word strings.Builder
	begun := false
	end := func() {
		if begun {
			list = append(list, word.String())
		}
		word.Reset()
		begun = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			end()
			continue
		case c == '\'', c == '"':
			n := strings.IndexByte(line[i+1:], c)
			inside := line[i+1 : i+1+max(n, 0)]
			if n < 0 || c == '"' && strings.ContainsAny(inside, "\\$`!") {
				return nil, false
			}
			word.WriteString(inside)
			i += n + 1
		case c == '\\' && i+1 < len(line) && line[i+1] < 0x80 && line[i+1] >= ' ':
			i++
			word.WriteByte(line[i])
		case c < 0x80 && special(rune(c)):
			return nil, false
		default:
			word.WriteByte(c)
		}
		begun = true
	}
	end()
	return list, len(list) > 0
}

// MayRun reports whether the patterns let the bot's own command of this name
// pass, with words behind it or without.
func (s *Set) MayRun(name []string) bool {
	for _, line := range [][]string{name, append(slices.Clone(name), "x")} {
		input, err := json.Marshal(map[string]string{"command": quoted(append([]string{ownProgram}, line...))})
		if err == nil && s.Allows(agent.ToolUse{Name: "Bash", Input: input}) {
			return true
		}
	}
	return false
}
