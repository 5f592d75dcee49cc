package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/mcp"
	"ollimbot/routines"
)

type mcpCmds struct {
	List   mcpListCmd   `cmd:""`
	Test   mcpTestCmd   `cmd:""`
	Tools  mcpToolsCmd  `cmd:""`
	Allow  mcpAllowCmd  `cmd:""`
	Log    mcpLogCmd    `cmd:""`
	Login  mcpLoginCmd  `cmd:""`
	Logout mcpLogoutCmd `cmd:""`
}

// ofServer is the argument that names a server.
type ofServer struct {
	Name string `arg:"" help:"The name of a server in .mcp.json."`
	console.AsJSON
}

// find returns the server in the file with that name.
func (c *ofServer) find(p *process, at console.DataDir) (mcp.Server, error) {
	servers, problems, err := mcp.Read(at.Dir, p.Variables(at))
	if err != nil {
		return mcp.Server{}, err
	}
	i := slices.IndexFunc(servers, func(s mcp.Server) bool { return s.Name == c.Name || s.Given == c.Name })
	if i >= 0 {
		return servers[i], nil
	}
	for _, problem := range problems {
		console.Tell(p.Err, "%s", problemLine(problem))
	}
	return mcp.Server{}, fmt.Errorf(textNoMCPServer, c.Name)
}

type mcpListCmd struct{ console.AsJSON }

// Run lists the servers with their last known states.
func (c *mcpListCmd) Run(p *process, at console.DataDir) error {
	states, problems, err := mcp.Known(at.Dir, p.Variables(at))
	if err != nil {
		return err
	}
	var lines []string
	if len(states) == 0 && !routines.HasErrors(problems) { // a broken file may have some
		lines = append(lines, textNoMCPServers)
	}
	lines = append(lines, console.Each(states, mcp.State.String)...)
	box := p.Sandbox(at)
	defer box.Close()
	unreached := mcp.Unreached(states, box.State)
	lines = append(lines, unreached...)
	waits := mcp.NewEdits(at.Dir, nil).Waits()
	if waits != "" {
		lines = append(lines, waits)
	}
	for _, problem := range problems {
		lines = append(lines, problemLine(problem))
	}
	broken := slices.ContainsFunc(problems, func(p routines.Problem) bool { return p.Severity == routines.Error })
	return p.Verdict(broken, c.JSON, map[string]any{
		"servers": append([]mcp.State{}, states...), "problems": append([]routines.Problem{}, problems...), "unreached": append([]string{}, unreached...),
		"edit": waits,
	}, lines)
}

// serverHost creates a host of the servers for one command. say is called with the result of a login.
func serverHost(p *process, at console.DataDir, fence mcp.Fence, say func(text string)) *mcp.Host {
	return mcp.New(mcp.Options{
		Dir: at.Dir, Log: p.Log(), Lookup: p.Variables(at), Fence: fence, Version: version, Hide: p.Secrets.Hide, Redact: p.Secrets.Redact,
		OnDemand: true, Say: say,
	})
}

type mcpTestCmd struct{ ofServer }

// testPatience bounds a test: a first start may download the server.
const testPatience = 2 * time.Minute

// Run starts a server in its sandbox, lists its tools and stops it.
func (c *mcpTestCmd) Run(p *process, at console.DataDir) error {
	s, err := c.find(p, at)
	if err != nil {
		return err
	}
	if err := at.Dir.Prepare(); err != nil {
		return err
	}
	box := p.Sandbox(at)
	defer box.Close()
	host := serverHost(p, at, box, nil)
	ctx, stop := p.Context()
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, testPatience, errors.New(textMCPTooLong))
	defer cancel()
	began := time.Now()
	var g errgroup.Group
	g.Go(func() error { return host.Run(ctx) })
	err = host.Test(ctx, s.Name)
	took := time.Since(began)
	states := host.States()
	cancel()
	if err := errors.Join(err, g.Wait()); err != nil {
		return fmt.Errorf(textMCPFailed, s.Name, err, s.Name)
	}
	i := slices.IndexFunc(states, func(st mcp.State) bool { return st.Name == s.Name })
	return p.Answer(c.JSON, map[string]any{"server": s.Name, "tools": states[i].Tools, "waiting": states[i].Waiting, "milliseconds": took.Milliseconds()},
		[]string{fmt.Sprintf(textMCPWorks, s.Name, words.Count(states[i].Tools, "tool"), took.Round(time.Millisecond), box.State())})
}

type mcpToolsCmd struct{ ofServer }

// Run shows a server's tools as a model sees them, and tools awaiting approval.
func (c *mcpToolsCmd) Run(p *process, at console.DataDir) error {
	s, err := c.find(p, at)
	if err != nil {
		return err
	}
	records, err := mcp.Records(at.Dir)
	if err != nil {
		return err
	}
	r, known := records[s.Name]
	if !known || !r.Of(s) {
		return fmt.Errorf(textMCPUnknownTools, s.Name, s.Name)
	}
	var lines []string
	for _, t := range r.Tools {
		lines = append(lines, shownTool(s, t)...)
	}
	if changes := r.Changes(); len(changes) > 0 {
		heading := textMCPWaiting
		if len(r.Waiting()) == 0 {
			heading = textMCPRefused
		}
		lines = append(lines, "", heading)
		lines = append(lines, strings.Split(mcp.Diff(s.Name, changes), "\n")...)
		lines = append(lines, fmt.Sprintf(textMCPAllow, s.Name))
	}
	return p.Answer(c.JSON, map[string]any{"tools": r.Tools, "offered": r.Offered}, lines)
}

// shownTool formats a tool as a model sees it, with the server's claims.
func shownTool(s mcp.Server, t mcp.Tool) []string {
	name := "mcp__" + s.Name + "__" + t.Name
	if hint := t.Hint(); hint != "" {
		name += "  (" + hint + ")"
	}
	return append([]string{name}, indented(t.Description)...)
}

func indented(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, "    "+strings.TrimRight(line, "\n"))
	}
	return lines
}

type mcpAllowCmd struct {
	Name string `arg:"" help:"The name of a server in .mcp.json."`
	confirmation
}

// Run shows the tools that await approval or were refused, and allows what it has shown.
func (c *mcpAllowCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	if err := p.UsersOnly(); err != nil {
		return err
	}
	s, err := (&ofServer{Name: c.Name}).find(p, at)
	if err != nil {
		return err
	}
	records, err := mcp.Records(at.Dir)
	if err != nil {
		return err
	}
	r := records[s.Name]
	if !r.Of(s) || r.Version() == "" {
		return p.Lines(fmt.Sprintf(textMCPNothing, s.Name))
	}
	version := r.Version()
	if err := c.of(p, "mcp allow "+s.Name, version, textMCPChanges+"\n\n"+mcp.Diff(s.Name, r.Changes())); err != nil {
		return err
	}
	o, err := p.do(bot, command.AllowTask{ID: "mcp__" + s.Name, Version: version})
	if err != nil {
		return err
	}
	return p.Lines(o.Message)
}

type mcpLogCmd struct {
	Lines int `name:"number" aliases:"lines" short:"n" default:"50" placeholder:"N" help:"How many lines to show (${default})."`
	ofServer
}

// Run shows what a server has logged.
func (c *mcpLogCmd) Run(p *process, at console.DataDir) error {
	s, err := c.find(p, at)
	if err != nil {
		return err
	}
	lines, err := mcp.Log(at.Dir, s.Name, c.Lines)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return p.Answer(c.JSON, map[string]any{"lines": []string{}}, []string{fmt.Sprintf(textMCPNoLog, s.Name)})
	}
	return p.Answer(c.JSON, map[string]any{"lines": lines}, lines)
}

// Messages of these commands.
const (
	textNoMCPServers    = "There are no MCP servers: ollim-bot help mcp.md says how to add one."
	textNoMCPServer     = "no server %s in .mcp.json: ollim-bot mcp list shows those that are there"
	textMCPTooLong      = "it took more than two minutes"
	textMCPFailed       = "%s does not work: %w\nIts log: ollim-bot mcp log %s"
	textMCPWorks        = "%s works: %s, ready after %s; %s"
	textMCPUnknownTools = "the tools of %s are not known yet: ollim-bot mcp test %s asks for them"
	textMCPChanges      = "These tools are new or have changed:"
	textMCPWaiting      = "These wait for you:"
	textMCPRefused      = "These you have refused:"
	textMCPAllow        = "To allow them: ollim-bot mcp allow %s"
	textMCPNothing      = "Nothing of %s waits for you."
	textMCPNoLog        = "%s has logged nothing."
)

func problemLine(p routines.Problem) string { return p.Position() + ": " + p.Message }
