package main

import (
	"context"
	"fmt"
	"strings"

	"ollimbot/core/audit"
	"ollimbot/core/words"
)

type auditCmd struct {
	N    int  `name:"number" short:"n" default:"50" placeholder:"N" help:"How many to show at most, 1 to 100000 (${default})."`
	JSON bool `name:"json" help:"Answer as JSON."`
}

// Run shows the newest decisions, the newest last.
func (c *auditCmd) Run(p *process) error {
	if c.N < 1 || c.N > 100_000 {
		return usagef("-n %d is not possible: give 1 to 100000", c.N)
	}
	at, err := p.open()
	if err != nil {
		return err
	}
	list, damaged, err := audit.New(audit.Options{Dir: at.dir}).Read(c.N)
	if err != nil {
		return err
	}
	if damaged > 0 {
		tell(p.err, "warning: %s of %s cannot be read", words.Count(damaged, "line"), audit.File)
	}
	if c.JSON {
		return p.json(append([]audit.Entry{}, list...))
	}
	if len(list) == 0 {
		return p.lines("no decisions yet")
	}
	lines := make([]string, 0, len(list))
	for _, e := range list {
		lines = append(lines, decisionLine(at, e))
	}
	return p.lines(lines...)
}

// decisionLine is one decision on a line of its own; what it says in more lines
// stands indented below.
func decisionLine(at place, e audit.Entry) string {
	who := e.Actor
	if e.From != "" {
		who += " (" + e.From + ")"
	}
	line := fmt.Sprintf("%s  %-17s  %s", e.At.In(at.env.Zone).Format(momentLayout), e.Action, who)
	if e.Subject != "" {
		line += "  " + e.Subject
	}
	if e.Detail != "" {
		line += "  " + strings.ReplaceAll(e.Detail, "\n", "\n    ")
	}
	return line
}

// asking notes who gives a command: the agent, where its own Bash runs this
// program, else the user.
func (p *process) asking(ctx context.Context) context.Context {
	actor := audit.User
	if p.getenv("CLAUDECODE") != "" { // set by the claude command for what it runs
		actor = audit.Agent
	}
	return audit.With(ctx, actor, "command line")
}

// record writes a decision of this command into the audit log.
func (p *process) record(at place, e audit.Entry) {
	from := audit.OriginOf(p.asking(context.Background()))
	e.Actor, e.From = from.Actor, from.From
	audit.New(audit.Options{Dir: at.dir, Log: p.log()}).Record(at.now, e)
}
