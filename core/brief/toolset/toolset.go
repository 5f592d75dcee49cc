// Package toolset defines the tools that the agent calls, bound to one run: their names,
// descriptions and JSON schemas, the validation of their arguments, and the wording of
// their results. The run decides what a call does.
//
// It must not know forks, budgets or any surface.
package toolset

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
)

// Server is the name under which the tools are served; a tool's name on the
// wire is Prefix plus its own.
const (
	server = "discord"
	Prefix = "mcp__" + server + "__"
)

// The tools' bare names.
const (
	PingUser       = "ping_user"
	DiscordEmbed   = "discord_embed"
	SendFile       = "send_file"
	ReportUpdates  = "report_updates"
	FollowUpChain  = "follow_up_chain"
	SaveContext    = "save_context"
	EnterFork      = "enter_fork"
	ExitFork       = "exit_fork"
	UpdateNames    = "update_names"
	AddReminder    = "add_reminder"
	ListReminders  = "list_reminders"
	CancelReminder = "cancel_reminder"

	ProposeReminder = "propose_reminder"
	StopRoutine     = "stop_routine"
)

//go:embed schemas/*.json
var schemaFiles embed.FS

// tool is one entry of the list. Its handler gets valid arguments.
type tool struct {
	name, about string
	handle      func(ctx context.Context, c Caller, a arguments) agent.ToolResult
}

// tools is the list for every run, always the same so that an engine's prompt cache stays
// valid. Whether a run may use a tool is decided at the call.
var tools = []tool{
	{PingUser, aboutPing, ping},
	{DiscordEmbed, aboutEmbed, sendEmbed},
	{SendFile, aboutFile, sendFile},
	{ReportUpdates, aboutReport, report},
	{FollowUpChain, aboutFollowUp, func(ctx context.Context, c Caller, a arguments) agent.ToolResult {
		return c.FollowUp(ctx, a.Number("minutes_from_now"))
	}},
	{SaveContext, aboutSave, func(ctx context.Context, c Caller, _ arguments) agent.ToolResult { return c.SaveContext(ctx) }},
	{EnterFork, aboutEnter, func(ctx context.Context, c Caller, a arguments) agent.ToolResult {
		return c.EnterFork(ctx, cut(strings.TrimSpace(clean.Text(a.Text("topic"))), maxTopic), a.Number("idle_timeout"))
	}},
	{ExitFork, aboutExit, func(ctx context.Context, c Caller, _ arguments) agent.ToolResult { return c.ExitFork(ctx) }},
	{UpdateNames, aboutNames, updateNames},
	{AddReminder, aboutAdd, addReminder},
	{ListReminders, aboutList, listReminders},
	{CancelReminder, aboutCancel, cancelReminder},
	{ProposeReminder, aboutPropose, propose},
	{StopRoutine, aboutStop, stopRoutine},
}

// Tools returns the bot's fourteen tools bound to c. Invalid arguments are answered with
// the field and the cure; a panic in c becomes an error result. With a nil c the tools
// are only listed: every call is refused.
func Tools(c Caller) []agent.Tool {
	list := make([]agent.Tool, 0, len(tools))
	for _, t := range tools {
		schema, err := schemaFiles.ReadFile("schemas/" + t.name + ".json")
		if err != nil { // they are embedded next to this file, so only a broken build could fail
			schema = []byte(`{"type":"object"}`)
		}
		list = append(list, agent.Tool{
			Name: t.name, Description: t.about, Schema: schema,
			Call: func(ctx context.Context, a agent.Approved) agent.ToolResult { return t.call(ctx, c, a.Input()) },
		})
	}
	return list
}

func (t tool) call(ctx context.Context, c Caller, args json.RawMessage) (result agent.ToolResult) {
	defer fault.Rescue("a tool", func(f *fault.Error) {
		result = Refusal(fmt.Sprintf(textFault, t.name, f.Value))
	})
	if c == nil {
		return Refusal(textNobody)
	}
	a, problem := read(t.name, args)
	if problem != "" {
		return Refusal(problem)
	}
	return t.handle(ctx, c, a)
}

func ping(ctx context.Context, c Caller, a arguments) agent.ToolResult {
	message := Message(a.Text("message"))
	if Blank(message) {
		return Refusal(fmt.Sprintf(textEmptyField, "message"))
	}
	critical, quiet := a.Flag("critical"), a.Flag("quiet")
	if critical && quiet {
		return Refusal(textLoudAndQuiet)
	}
	return c.Ping(ctx, message, critical, quiet)
}

func sendEmbed(ctx context.Context, c Caller, a arguments) agent.ToolResult {
	e := cardOf(a)
	if Blank(e.Title) {
		return Refusal(fmt.Sprintf(textEmptyField, "title"))
	}
	for i, b := range e.Buttons {
		if err := b.CheckAgent(); err != nil {
			return Refusal(fmt.Sprintf(textBadAction, i, err))
		}
	}
	return c.Embed(ctx, e, a.Flag("critical"))
}

func sendFile(ctx context.Context, c Caller, a arguments) agent.ToolResult {
	path := a.Text("file_path")
	if clean.Line(path) == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "file_path"))
	}
	return c.SendFile(ctx, path, Message(a.Text("message")), a.Flag("critical"))
}

func report(ctx context.Context, c Caller, a arguments) agent.ToolResult {
	whole := strings.TrimSpace(clean.Text(a.Text("message")))
	message := cut(whole, maxUpdate)
	if message == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "message"))
	}
	r := c.Report(ctx, message)
	if message != whole && !r.IsError {
		r.Text += fmt.Sprintf(textReportCut, maxUpdate)
	}
	return r
}

func updateNames(ctx context.Context, c Caller, a arguments) agent.ToolResult {
	user, bot := clean.Line(a.Text("user_name")), clean.Line(a.Text("bot_name"))
	for _, n := range []struct{ field, name string }{{"user_name", user}, {"bot_name", bot}} {
		if n.name == "" {
			return Refusal(fmt.Sprintf(textEmptyField, n.field))
		}
		if len([]rune(n.name)) > maxPerson {
			return Refusal(fmt.Sprintf(textLongName, n.field, maxPerson))
		}
	}
	return c.UpdateNames(ctx, user, bot)
}
