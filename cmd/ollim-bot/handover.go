package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/cmd/internal/google"
	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/safety/control"
	"ollimbot/core/safety/policy"
)

// maxOutput limits what a served command prints, in bytes. A whole session is smaller.
const maxOutput = 16 << 20

// doorPatience is how long a new bot may take until it accepts commands.
const doorPatience = 2 * time.Second

// ask sends the command to the bot at a socket and prints its answer.
func (p *process) ask(socket, token string, args []string) int {
	r, err := control.Call(socket, token, args)
	if err != nil {
		return p.fail(err)
	}
	_, _ = io.WriteString(p.Err, r.Stderr) // no one is left to report an error to
	p.Print("%s", r.Stdout)
	if err := p.Unwritten(); err != nil && r.Exit == exitDone {
		return p.fail(err)
	}
	return r.Exit
}

// commands runs this command line for sessions of the bot.
func (p *process) commands(at console.DataDir) policy.Runner {
	return func(ctx context.Context, by *policy.Session, args []string) agent.CommandResult {
		served := &process{Process: console.Process{
			Executable: p.Executable, Getenv: p.Getenv, Environ: p.Environ, Now: p.Now, Served: &console.Served{By: by, At: at},
		}}
		r := inside(ctx, args, served)
		if r.Stdout != "" && !served.helped { // a command that failed has read nothing
			reads(by, served.asked)
		}
		r.Stdout, r.Stderr = clean.Text(r.Stdout), clean.Text(r.Stderr)
		return r
	}
}

// reads records what a session reads in the output of one of the agent's commands.
func reads(by *policy.Session, asked string) {
	c, _ := command.Find(command.InAgent, asked)
	switch c.Prints {
	case command.PrintsOwn, command.PrintsLabeled:
	case command.PrintsTasks:
		by.ReadsTasks()
	case command.PrintsMail:
		by.ReadsMail()
	default:
		by.ReadsUnknown()
	}
}

// carryOut runs the user's command line in the running bot.
func (p *process) carryOut(ctx context.Context, at console.DataDir, bot *core.Bot, args []string) (agent.CommandResult, command.Value) {
	getenv := func(string) string { return "" }
	live := &console.Live{Bot: bot, At: at, Context: ctx}
	r := inside(ctx, args, &process{Process: console.Process{Executable: p.Executable, Getenv: getenv, Environ: p.Environ, Now: p.Now, Live: live}})
	return r, live.Undo
}

// inside runs a command line in this process.
func inside(ctx context.Context, args []string, p *process) agent.CommandResult {
	if ctx.Err() != nil {
		return agent.CommandResult{Exit: exitFailed}
	}
	var out, err printed
	p.In, p.Out, p.Err = strings.NewReader(""), &out, &err
	status := run(args, p)
	return agent.CommandResult{Stdout: out.text.String(), Stderr: err.text.String(), Exit: status}
}

// handOver lets the running bot execute the command, if there is one and the command is
// meant for it. Otherwise this process executes it.
func (p *process) handOver(args []string) (exit int, handed bool) {
	c, ok := command.Find(command.InShell, p.asked)
	if !ok || c.In&command.InBot == 0 || p.Served != nil || p.Live != nil {
		return 0, false
	}
	agents := c.In&command.InAgent != 0
	if agents && p.Flags.Timezone != "" { // the command only reads, and the bot would use its own zone
		return 0, false
	}
	if err := p.UsersOnly(); err != nil && agents {
		return 0, false
	} else if err != nil {
		return p.fail(err), true
	}
	at, err := p.Open()
	if err != nil {
		return p.fail(err), true
	}
	patience := doorPatience
	if agents {
		patience = 0
	}
	door, open := openDoor(at, patience)
	if !open {
		return 0, false
	}
	return p.ask(door.Socket, door.Token, args), true
}

// openDoor returns where the running bot accepts the user's commands, or false. A killed
// bot leaves a stale door; a bot that has just started gets a moment to open its own.
func openDoor(at console.DataDir, patience time.Duration) (door core.Door, open bool) {
	for end := time.Now().Add(patience); ; time.Sleep(doorPatience / 40) {
		found, err := at.Dir.PeekJSON(core.DoorFile, &door)
		_, running := at.Dir.Running()
		if open = found && err == nil && running; open || !running || !time.Now().Before(end) {
			return door, open
		}
	}
}

// mayServe refuses commands that are not for the agent. Whether this session may run the
// others has been decided by its rules.
func (p *process) mayServe(tree *cli) error {
	if p.Served == nil {
		return nil
	}
	_, served := command.Find(command.InAgent, p.asked)
	switch {
	case !served:
		return fmt.Errorf(textNotServed, p.asked)
	case tree.Globals != console.Globals{}:
		return console.Usagef(textServedFlags)
	case len(tree.Check.Files) > 0:
		return console.Usagef(textServedFiles)
	}
	return nil
}

// servedHelp lists the commands, grouped by what the session's rules say about them.
func (p *process) servedHelp() error {
	by := p.Served.By.Scope()
	rules := policy.Compile(p.Served.At.Dir.Root(), by.Rules)
	rest := textServedNone
	if by.Kind != policy.Background && by.Mode != nil && by.Mode() != policy.DontAsk {
		rest = textServedAsk
	}
	may, others := []string{textServedHelp}, []string{rest}
	g, err := google.Client(p.Served.At)
	connected := err == nil && g.State().On()
	for _, c := range command.List(command.InAgent) {
		if group, _, _ := strings.Cut(c.Name, " "); !connected && slices.Contains([]string{"tasks", "cal", "gmail"}, group) {
			continue
		}
		line := "  ollim-bot " + c.Name
		if rules.MayRun(strings.Fields(c.Name)) {
			may = append(may, line)
		} else {
			others = append(others, line)
		}
	}
	if len(others) > 1 {
		may = append(may, others...)
	}
	return p.Lines(may...)
}

// printed collects what a command prints, up to a limit.
type printed struct{ text strings.Builder }

func (w *printed) Write(b []byte) (int, error) {
	if w.text.Len()+len(b) > maxOutput {
		return 0, fmt.Errorf(textTooLong, maxOutput>>20)
	}
	return w.text.Write(b)
}
