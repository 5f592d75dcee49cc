package policy

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

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
	list, ok := plainWords(x.arg)
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

// blanks separate the words of a command. Other characters that look like blanks belong to a word.
const blanks = " \t"

// Limits for parsing a command line: the system runs no longer one, and the parser's time grows
// with the square of its parentheses.
const (
	maxCommand = 128 << 10
	maxOpen    = 500
)

// parseShell parses a command line as bash does. It returns nil if the meaning cannot be
// determined.
func parseShell(line string) *syntax.File {
	if len(line) > maxCommand || strings.Count(line, "(")+strings.Count(line, "{") > maxOpen || strings.IndexByte(line, 0) >= 0 {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	return file
}

// oneCommand returns a command line that is a single command, whatever a prefix allows: no list, no
// redirection, no substitution, no variable that may hold a secret, and no comment, in which quotes
// do not count. It returns nil for all others.
func oneCommand(line string) *syntax.CallExpr {
	file := parseShell(line)
	if file == nil || len(file.Stmts) != 1 || strings.Contains(line, "\r") { // the parser drops carriage returns
		return nil
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	// The line is compared as it is written: only blanks may be before, between and behind its words, so there is no sign of a
	// list, a redirection, a negation or a comment, and every word must mean what it shows.
	at := uint(0)
	gap := func(to uint) bool { return strings.Trim(line[at:to], blanks) == "" }
	for _, a := range call.Assigns {
		if a.Append || a.Index != nil || a.Array != nil || !gap(a.Pos().Offset()) || a.Value != nil && !plainWord(line, a.Value) {
			return nil
		}
		at = a.End().Offset()
	}
	for _, w := range call.Args {
		if !gap(w.Pos().Offset()) || !plainWord(line, w) {
			return nil
		}
		at = w.End().Offset()
	}
	if !gap(uint(len(line))) {
		return nil
	}
	return call
}

func simple(line string) bool { return oneCommand(line) != nil }

// plainWord reports whether a word contains only text, quotes, and variables without secrets.
func plainWord(line string, w *syntax.Word) bool {
	plain := true
	syntax.Walk(w, func(n syntax.Node) bool {
		if !plain {
			return false
		}
		switch n := n.(type) {
		case nil, *syntax.Word:
		case *syntax.Lit: // a line break removed by the parser shows in the length
			plain = n.Value == line[n.Pos().Offset():n.End().Offset()]
		case *syntax.SglQuoted:
			plain = !n.Dollar
		case *syntax.DblQuoted:
			plain = !n.Dollar
		case *syntax.ParamExp:
			plain = n.Short && !namesSecret(n.Param.Value)
		default: // substitutions, arithmetic, patterns in parentheses
			plain = false
		}
		return plain
	})
	return plain
}

// plainVariables are environment variables without secrets. Some of the others contain secrets, and
// a command that prints its arguments would print them.
var plainVariables = []string{"HOME", "PWD", "USER", "LANG", "TZ", "TMPDIR", "PATH", "OLLIM_DATA_DIR"}

// namesSecret reports whether a variable's name suggests a secret. The shell's own special
// variables do not count.
func namesSecret(name string) bool {
	letter := name[0] == '_' || name[0] >= 'a' && name[0] <= 'z' || name[0] >= 'A' && name[0] <= 'Z'
	return letter && !slices.Contains(plainVariables, name)
}

// plainWords returns the words of a plain command line: one without variables, wildcards, operators or
// anything else that a shell would expand.
func plainWords(line string) (list []string, ok bool) {
	call := oneCommand(line)
	if call == nil || len(call.Assigns) > 0 {
		return nil, false
	}
	for _, w := range call.Args {
		word, ok := fixedWord(w.Parts)
		if !ok {
			return nil, false
		}
		list = append(list, word)
	}
	return list, true
}

// fixedWord returns a word that is the same for every shell.
func fixedWord(parts []syntax.WordPart) (string, bool) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.ContainsAny(lit.Value, "\\$`!") {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		case *syntax.Lit:
			for i := 0; i < len(p.Value); i++ {
				c := p.Value[i]
				switch {
				case c == '\\' && i+1 < len(p.Value) && p.Value[i+1] < 0x80 && p.Value[i+1] >= ' ':
					i++
				case c < 0x80 && special(rune(c)):
					return "", false
				}
				b.WriteByte(p.Value[i])
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// commandsIn returns the commands in a line, for rules that forbid: each part between signs that
// may end a command, and each command that the parser finds, without its quotes.
func commandsIn(line string) []string {
	list := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(";&|\n\r`(){}", c) })
	if file := parseShell(line); file != nil {
		syntax.Walk(file, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				list = append(list, bare(line, call.Args))
			}
			return true
		})
	}
	return list
}

// bare returns the words of a command without quotes, as far as they are fixed.
func bare(line string, args []*syntax.Word) string {
	out := make([]string, 0, len(args))
	for _, w := range args {
		word, ok := fixedWord(w.Parts)
		if !ok {
			word = line[w.Pos().Offset():w.End().Offset()]
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// quoted returns a command line that a shell parses into exactly these words. Words that need no
// quotes have none, so that rules match them as written.
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

// special reports whether a shell may interpret a character.
func special(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_./:=@%+,", c)
}

// shellMeans is special except for the space between words.
func shellMeans(c rune) bool { return c != ' ' && c < 0x80 && special(c) }

// commandMatches compares word by word: "a b *" is the command "a b" with any further words, "a:*"
// is an older spelling of the same, anything else is exact.
func commandMatches(pattern, command string) bool {
	prefix, open := openCommand(pattern)
	switch {
	case !strings.Contains(prefix, "*") && open:
		return command == prefix || strings.HasPrefix(command, prefix+" ")
	case !strings.Contains(pattern, "*"):
		return command == pattern
	}
	return wildcard(pattern).MatchString(command)
}

// openCommand returns a pattern without the star for further words.
func openCommand(pattern string) (words string, open bool) {
	if words, open = strings.CutSuffix(pattern, ":*"); open {
		return words, true
	}
	return strings.CutSuffix(pattern, " *")
}

// wildcard returns an expression for a pattern whose stars match anything.
func wildcard(pattern string) *regexp.Regexp {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`\A(?s:` + strings.Join(parts, ".*") + `)\z`)
}
