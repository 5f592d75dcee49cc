// Package toolset is the tools that the agent calls, bound to one run: their
// names, descriptions and JSON schemas, the check of their arguments, and the
// words of their answers. What a call does is the run's business.
//
// It must not know forks, budgets or any surface.
package toolset

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/post"
)

// Server is the name under which the tools are served; a tool's name on the
// wire is Prefix plus its own.
const (
	Server = "discord"
	Prefix = "mcp__" + Server + "__"
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
)

// Run is what the tools of every run act on: one background run, an interactive
// fork, or the main session.
// Methods may be called concurrently, block while they write or send, and
// answer with a text that the agent can act on.
type Run interface {
	// Ping sends a plain text, Embed a card. Both are cleaned and within limits.
	Ping(ctx context.Context, message string, critical bool) agent.ToolResult
	Embed(ctx context.Context, e post.Embed, critical bool) agent.ToolResult
	// Report passes an update to the main session.
	Report(ctx context.Context, message string) agent.ToolResult
	// FollowUp schedules the next check of the running chain.
	FollowUp(ctx context.Context, minutes int) agent.ToolResult
	// Reminders is the book that the reminder tools write in.
	Reminders() ReminderBook
}

//go:embed schemas/*.json
var schemaFiles embed.FS

// handler acts on arguments that have passed the schema.
type handler func(ctx context.Context, c Caller, args json.RawMessage) agent.ToolResult

// tools is the one list: the same for every run, so that an engine's prompt
// cache holds. Which of them a run may use is decided when it calls them.
var tools = []struct {
	name, about string
	handle      handler
}{
	{PingUser, aboutPing, ping},
	{DiscordEmbed, aboutEmbed, sendEmbed},
	{SendFile, aboutFile, sendFile},
	{ReportUpdates, aboutReport, report},
	{FollowUpChain, aboutFollowUp, followUp},
	{SaveContext, aboutSave, saveContext},
	{EnterFork, aboutEnter, enterFork},
	{ExitFork, aboutExit, exitFork},
	{UpdateNames, aboutNames, updateNames},
	{AddReminder, aboutAdd, addReminder},
	{ListReminders, aboutList, listReminders},
	{CancelReminder, aboutCancel, cancelReminder},
}

// Tools is the bot's twelve tools bound to c. Bad arguments are answered with
// the field and the cure; a panic inside c becomes an error answer. A nil c
// lists the tools: every call is refused.
func Tools(c Caller) []agent.Tool {
	list := make([]agent.Tool, 0, len(tools))
	for _, t := range tools {
		schema, err := schemaFiles.ReadFile("schemas/" + t.name + ".json")
		if err != nil { // embedded beside this file: only a build without it could fail
			schema = []byte(`{"type":"object"}`)
		}
		list = append(list, agent.Tool{
			Name: t.name, Description: t.about, Schema: schema,
			Call: func(ctx context.Context, args json.RawMessage) agent.ToolResult {
				return call(ctx, c, t.name, args)
			},
		})
	}
	return list
}

func call(ctx context.Context, c Caller, name string, args json.RawMessage) (result agent.ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			result = Refusal(fmt.Sprintf(textFault, name, p))
		}
	}()
	if c == nil {
		return Refusal(textNobody)
	}
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	if problem := check(name, args); problem != "" {
		return Refusal(problem)
	}
	for _, t := range tools {
		if t.name == name {
			return t.handle(ctx, c, args)
		}
	}
	return Refusal(fmt.Sprintf(textUnknownTool, name))
}

// Said is the answer of a call that worked.
func Said(text string) agent.ToolResult { return agent.ToolResult{Text: text} }

// Refusal is the answer of a call that did not: its text says what to do instead.
func Refusal(text string) agent.ToolResult { return agent.ToolResult{Text: text, IsError: true} }

// NotSent is the answer where a surface did not take a message.
func NotSent(err error) agent.ToolResult {
	switch {
	case errors.Is(err, post.ErrNoChannel):
		return Refusal(TextNoChannel)
	case errors.Is(err, post.ErrUnknown):
		return Refusal(fmt.Sprintf(textPerhaps, err))
	}
	return Refusal(fmt.Sprintf(textNotSent, err))
}

func ping(ctx context.Context, c Caller, args json.RawMessage) agent.ToolResult {
	var a struct {
		Message  string `json:"message"`
		Critical bool   `json:"critical"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, PingUser, err))
	}
	message := Message(a.Message)
	if message == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "message"))
	}
	return c.Ping(ctx, message, a.Critical)
}

func sendEmbed(ctx context.Context, c Caller, args json.RawMessage) agent.ToolResult {
	e, critical, err := readEmbed(args)
	if err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, DiscordEmbed, err))
	}
	if e.Title == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "title"))
	}
	for i, b := range e.Buttons {
		if err := b.CheckAgent(); err != nil {
			return Refusal(fmt.Sprintf(textBadAction, i, err))
		}
	}
	return c.Embed(ctx, e, critical)
}

func report(ctx context.Context, c Caller, args json.RawMessage) agent.ToolResult {
	var a struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, ReportUpdates, err))
	}
	message := Update(a.Message)
	if message == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "message"))
	}
	return c.Report(ctx, message)
}

func followUp(ctx context.Context, c Caller, args json.RawMessage) agent.ToolResult {
	var a struct {
		Minutes json.Number `json:"minutes_from_now"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, FollowUpChain, err))
	}
	n, err := whole(a.Minutes)
	if err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, FollowUpChain, err))
	}
	return c.FollowUp(ctx, n)
}
