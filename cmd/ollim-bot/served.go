package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	claudeproc "ollimbot/core/agent/claude/process"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/control"
	"ollimbot/core/policy"
)

// maxOutput is how much a served command may print: a whole session is less.
const maxOutput = 16 << 20

// doorPatience is how long a bot may take from its start until it takes commands.
const doorPatience = 2 * time.Second

// inSession reports whether a model's shell has called this program: then the bot
// that runs is asked, and nothing is read here.
func (p *process) inSession() bool {
	return p.getenv(control.SocketVar) != "" && p.getenv(control.SessionVar) != ""
}

// ask has the running bot do it, and gives its answer out as our own.
func (p *process) ask(args []string) int {
	r, err := control.Call(p.getenv(control.SocketVar), p.getenv(control.SessionVar), args)
	if err != nil {
		return p.fail(err)
	}
	_, err = io.WriteString(p.out, r.Stdout)
	_, _ = io.WriteString(p.err, r.Stderr) // where even that fails, nobody is left to be told
	if err != nil && r.Exit == exitDone {
		return p.fail(fmt.Errorf("write the answer: %w", err))
	}
	return r.Exit
}

// commands runs the command line for sessions of the bot that runs at a place.
func (p *process) commands(at dataDir) policy.Runner {
	return func(ctx context.Context, by *policy.Session, args []string) agent.CommandResult {
		if err := ctx.Err(); err != nil {
			return agent.CommandResult{Exit: exitFailed}
		}
		var out, err printed
		status := run(args, &process{
			in: strings.NewReader(""), out: &out, err: &err,
			getenv: p.getenv, environ: p.environ, now: p.now, served: &served{by: by, at: at},
		})
		return agent.CommandResult{Stdout: clean.Text(out.text.String()), Stderr: clean.Text(err.text.String()), Exit: status}
	}
}

// carryOut runs a command line of the user's in the bot that runs.
func (p *process) carryOut(ctx context.Context, at dataDir, bot *core.Bot, args []string) agent.CommandResult {
	if err := ctx.Err(); err != nil {
		return agent.CommandResult{Exit: exitFailed}
	}
	var out, err printed
	status := run(args, &process{
		in: strings.NewReader(""), out: &out, err: &err, getenv: func(string) string { return "" }, environ: p.environ, now: p.now,
		live: &live{bot: bot, at: at},
	})
	return agent.CommandResult{Stdout: out.text.String(), Stderr: err.text.String(), Exit: status}
}

// handOver lets the running bot carry a command out, where it is one of those and a
// bot runs. What is not handed over is carried out here.
func (p *process) handOver(asked string, args []string) (exit int, handed bool) {
	name, _, _ := strings.Cut(asked, " <")
	c, ok := command.Find(command.InShell, name)
	if !ok || c.In&command.InBot == 0 || p.served != nil || p.live != nil {
		return 0, false
	}
	if p.getenv(claudeproc.MarkName) != "" {
		if c.In&command.InAgent != 0 {
			return 0, false
		}
		return p.fail(errors.New(textUsersOnly)), true
	}
	at, err := p.open()
	if err != nil {
		return p.fail(err), true
	}
	door, open := openDoor(at)
	for end := time.Now().Add(doorPatience); !open && c.In&command.InAgent == 0 && time.Now().Before(end); door, open = openDoor(at) {
		if _, running := at.dir.Running(); !running {
			break
		}
		time.Sleep(doorPatience / 40) // it has just been started
	}
	if !open {
		return 0, false
	}
	r, err := control.Call(door.Socket, door.Token, args)
	if err != nil {
		return p.fail(err), true
	}
	_, _ = io.WriteString(p.err, r.Stderr)
	if _, err := io.WriteString(p.out, r.Stdout); err != nil && r.Exit == exitDone {
		return p.fail(fmt.Errorf("write the answer: %w", err)), true
	}
	return r.Exit, true
}

// openDoor is where the running bot takes commands of the user's; false where none does.
// A bot that was killed has left its door behind.
func openDoor(at dataDir) (door core.Door, open bool) {
	if found, err := at.dir.PeekJSON(core.DoorFile, &door); err != nil || !found {
		return door, false
	}
	_, running := at.dir.Running()
	return door, running
}

// mayServe refuses what the agent has no business with; whether this session may
// run the rest has been decided by its rules.
func (p *process) mayServe(asked string, tree *cli) error {
	if p.served == nil {
		return nil
	}
	name, _, _ := strings.Cut(asked, " <") // "cron <expr>"
	_, served := command.Find(command.InAgent, name)
	served = served || strings.HasSuffix(name, " help") // what a group does by itself
	switch {
	case !served:
		return fmt.Errorf(textNotServed, name)
	case tree.globals != globals{}:
		return usagef(textServedFlags)
	case len(tree.Check.Files) > 0:
		return usagef(textServedFiles)
	}
	return nil
}

// servedHelp names the commands by what the session's rules say about each.
func (p *process) servedHelp() error {
	by := p.served.by.Scope()
	rules := policy.Compile(p.served.at.dir.Root(), by.Rules)
	rest := textServedNone
	if by.Kind != policy.Background && by.Mode != nil && by.Mode() != policy.DontAsk {
		rest = textServedAsk
	}
	may, others := []string{textServedHelp}, []string{rest}
	g, err := p.served.at.google()
	connected := err == nil && g.State().On()
	for _, c := range command.List(command.InAgent) {
		if group, _, _ := strings.Cut(c.Name, " "); !connected && slices.Contains([]string{"tasks", "cal", "gmail"}, group) {
			continue
		}
		line := "  " + c.Line()
		if rules.MayRun(strings.Fields(c.Name)) {
			may = append(may, line)
		} else {
			others = append(others, line)
		}
	}
	if len(others) > 1 {
		may = append(may, others...)
	}
	return p.lines(may...)
}

// printed holds what a command prints, up to a limit.
type printed struct{ text strings.Builder }

func (w *printed) Write(b []byte) (int, error) {
	if w.text.Len()+len(b) > maxOutput {
		return 0, fmt.Errorf(textTooLong, maxOutput>>20)
	}
	return w.text.Write(b)
}
