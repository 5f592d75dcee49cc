package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/session"
	"ollimbot/core/words"
)

func (b *Bot) logRestart(id string) error {
	return b.sessions.Log(b.now(), session.Event{SessionID: id, Event: session.Restarting})
}

// slashClear forgets the conversation.
func (b *Bot) slashClear(ctx context.Context, _ []string) (string, error) {
	forkToo, err := b.chat.Clear(ctx)
	switch {
	case err != nil:
		return "", err
	case forkToo:
		return "conversation cleared; the fork was discarded too.", nil
	}
	return "conversation cleared.", nil
}

// slashAttach takes a file along with the next message.
func (b *Bot) slashAttach(_ context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return "", errors.New("write the file behind it: /attach PATH")
	}
	return b.chat.Attach(strings.Join(args, " "))
}

// slashFork enters a fork; the card that it posts is the answer.
func (b *Bot) slashFork(_ context.Context, args []string) (string, error) {
	return "", b.chat.EnterFork(strings.Join(args, " "))
}

var models = []string{"opus", "sonnet", "haiku"}

func (b *Bot) slashModel(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return "model: " + orDefault(b.chat.Settings(b.chat.Banner() != nil).Model) + ".", nil
	}
	name := strings.ToLower(args[0])
	if !slices.Contains(models, name) {
		return "", fmt.Errorf("model must be one of: %s", strings.Join(models, ", "))
	}
	if err := b.chat.SetModel(ctx, name); err != nil {
		return "", err
	}
	return "switched to " + name + "." + b.thinkingHolds(b.chat.Settings(false)), nil
}

func (b *Bot) slashThinking(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		now := b.chat.Settings(b.chat.Banner() != nil)
		return "thinking: " + now.Thinking + "." + b.thinkingHolds(now), nil
	}
	mode := strings.ToLower(args[0])
	if mode != "off" && mode != "adaptive" && !isTokens(mode) {
		return "", errors.New("thinking must be off, adaptive or a number of tokens such as 8000")
	}
	if err := b.chat.SetThinking(ctx, mode); err != nil {
		return "", err
	}
	return "thinking: " + mode + "." + b.thinkingHolds(b.chat.Settings(false)), nil
}

// thinkingHolds says what of a setting of thinking the model does not obey;
// nothing where it does.
func (b *Bot) thinkingHolds(s agent.Settings) string {
	r, ok := b.o.Engine.(agent.Reporter)
	if !ok {
		return ""
	}
	m, _ := r.Status().Model(s.Model)
	switch {
	case s.Thinking == "off" && m.AlwaysThinks:
		return fmt.Sprintf(textAlwaysThinks, orDefault(s.Model))
	case isTokens(s.Thinking) && m.OwnMeasure:
		return fmt.Sprintf(textOwnMeasure, orDefault(s.Model))
	}
	return ""
}

func isTokens(s string) bool {
	return s != "" && s[0] != '0' && len(s) <= 7 && strings.Trim(s, "0123456789") == ""
}

func orDefault(s string) string {
	if s == "" {
		return "(default)"
	}
	return s
}

// slashCompact makes the main session's history shorter and answers with what
// came of it.
func (b *Bot) slashCompact(ctx context.Context, args []string) (string, error) {
	_, r, tokens, err := b.chat.Command(ctx, agent.Message{Command: agent.Compact, Text: strings.Join(args, " ")})
	if err != nil {
		return "", err
	}
	var stats []string
	if r.Turns > 0 {
		stats = append(stats, fmt.Sprintf("%d turns", r.Turns))
	}
	if at, ok := b.sessions.Created(); ok {
		stats = append(stats, words.HoursMinutes(b.now().Sub(at)))
	}
	if tokens > 0 {
		stats = append(stats, words.Thousand(tokens)+" tokens compacted")
	}
	return strings.Join(stats, " · "), nil
}

// slashCost asks the engine what the session has used.
func (b *Bot) slashCost(ctx context.Context, _ []string) (string, error) {
	text, _, _, err := b.chat.Command(ctx, agent.Message{Command: agent.Cost})
	if text == "" {
		text = "done."
	}
	return text, err
}
