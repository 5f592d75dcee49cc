package fork

import (
	"context"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/tail"
	"ollimbot/core/toolset"
)

// A run is what its tools act on.
var _ toolset.Caller = (*run)(nil)

// SaveContext is refused: a background run never becomes the main session.
func (r *run) SaveContext(context.Context) agent.ToolResult {
	return r.notHere(toolset.SaveContext, toolset.TextNoSave)
}

// EnterFork is refused: forks do not nest.
func (r *run) EnterFork(context.Context, string, int) agent.ToolResult {
	return r.notHere(toolset.EnterFork, toolset.TextNoEnter)
}

// ExitFork is refused: a background run ends when it has nothing more to do.
func (r *run) ExitFork(context.Context) agent.ToolResult {
	return r.notHere(toolset.ExitFork, toolset.TextNoExit+r.elsewhere())
}

// UpdateNames is refused: names are a matter between the user and the agent.
func (r *run) UpdateNames(context.Context, string, string) agent.ToolResult {
	return r.notHere(toolset.UpdateNames, toolset.TextNoNames)
}

func (r *run) notHere(tool, why string) agent.ToolResult {
	r.line(tail.Refuse, tool+" refused: "+clean.Cut(clean.Line(why), maxShown))
	return toolset.Refusal(why)
}

// SendFile sends a file under the rules of a ping. A file that cannot be sent
// costs nothing; whether pings are allowed is told first.
func (r *run) SendFile(ctx context.Context, path, text string, critical bool) agent.ToolResult {
	found, problem := toolset.File(r.m.o.Dir.Root(), path, func(full string) string { return r.guard.Send(ctx, full) })
	p := r.fromHere(critical)
	p.Text, p.Files = text, []string{found}
	m := message{kind: kindFile, post: p, critical: critical, problem: problem, done: toolset.FileSent(found)}
	if m.shown = m.done; text != "" {
		m.shown += " · " + clean.Line(text)
	}
	return r.send(ctx, m)
}
