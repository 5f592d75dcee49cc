package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

const (
	// maxTopic bounds a fork's topic, in UTF-16 units.
	maxTopic = 2000
	// maxPerson bounds a name of the user or the bot, in characters.
	maxPerson = 80
)

// Talk is the rest of what the tools act on: where the conversation goes, and
// what belongs to it alone. Methods may be called concurrently, block while
// they write or send, and answer with a text that the agent can act on.
type Talk interface {
	// SaveContext asks to make the interactive fork the main session.
	SaveContext(ctx context.Context) agent.ToolResult
	// EnterFork asks for an interactive fork; idleMinutes 0 means as configured.
	EnterFork(ctx context.Context, topic string, idleMinutes int) agent.ToolResult
	// ExitFork asks to discard the interactive fork.
	ExitFork(ctx context.Context) agent.ToolResult
	// SendFile sends a file. The path is as the agent wrote it: see File.
	SendFile(ctx context.Context, path, message string, critical bool) agent.ToolResult
	// UpdateNames stores how the user and the bot are called.
	UpdateNames(ctx context.Context, user, bot string) agent.ToolResult
}

// Caller is a run with all that the twelve tools need.
type Caller interface {
	Run
	Talk
}

func saveContext(ctx context.Context, c Caller, _ json.RawMessage) agent.ToolResult {
	return c.SaveContext(ctx)
}

func exitFork(ctx context.Context, c Caller, _ json.RawMessage) agent.ToolResult {
	return c.ExitFork(ctx)
}

func enterFork(ctx context.Context, c Caller, args json.RawMessage) agent.ToolResult {
	var a struct {
		Topic string      `json:"topic"`
		Idle  json.Number `json:"idle_timeout"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, EnterFork, err))
	}
	minutes := 0
	if a.Idle != "" {
		var err error
		if minutes, err = whole(a.Idle); err != nil {
			return Refusal(fmt.Sprintf(textUnreadable, EnterFork, err))
		}
	}
	return c.EnterFork(ctx, cut(strings.TrimSpace(clean.Text(a.Topic)), maxTopic), minutes)
}

func sendFile(ctx context.Context, c Caller, args json.RawMessage) agent.ToolResult {
	var a struct {
		Path     string `json:"file_path"`
		Message  string `json:"message"`
		Critical bool   `json:"critical"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, SendFile, err))
	}
	if clean.Line(a.Path) == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "file_path"))
	}
	return c.SendFile(ctx, a.Path, Message(a.Message), a.Critical)
}

func updateNames(ctx context.Context, c Caller, args json.RawMessage) agent.ToolResult {
	var a struct {
		User string `json:"user_name"`
		Bot  string `json:"bot_name"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return Refusal(fmt.Sprintf(textUnreadable, UpdateNames, err))
	}
	user, bot := clean.Line(a.User), clean.Line(a.Bot)
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
