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

// slashClear forgets the conversation. What runs is interrupted first, so that
// nobody waits for a turn that is about to be forgotten.
func (b *Bot) slashClear(ctx context.Context, _ []string) (string, error) {
	if err := b.main.interrupt(ctx); err != nil {
		b.log.Warn("turn was not interrupted", "error", err)
	}
	forkToo, err := b.main.clear(ctx)
	switch {
	case err != nil:
		return "", err
	case forkToo:
		return "conversation cleared; the fork was discarded too.", nil
	}
	return "conversation cleared.", nil
}

// slashFork enters a fork; the card that it posts is the answer.
func (b *Bot) slashFork(_ context.Context, args []string) (string, error) {
	if b.main.inFork() != nil {
		return "", errors.New(textAlreadyForked)
	}
	r := forkRequest{topic: cleanTopic(strings.Join(args, " "))}
	return "", b.main.later(func(ctx context.Context) error { return b.main.enter(ctx, r) })
}

var models = []string{"opus", "sonnet", "haiku"}

func (b *Bot) slashModel(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return "model: " + orDefault(b.main.settings(b.main.inFork() != nil).Model) + ".", nil
	}
	name := strings.ToLower(args[0])
	if !slices.Contains(models, name) {
		return "", fmt.Errorf("model must be one of: %s", strings.Join(models, ", "))
	}
	if b.main.inFork() != nil {
		return "", errors.New(textExitFirst)
	}
	b.main.mu.Lock()
	b.main.model = name
	b.main.mu.Unlock()
	if err := b.main.configure(ctx); err != nil {
		return "", err
	}
	return "switched to " + name + "." + b.thinkingHolds(b.main.settings(false)), nil
}

func (b *Bot) slashThinking(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		now := b.main.settings(b.main.inFork() != nil)
		return "thinking: " + now.Thinking + "." + b.thinkingHolds(now), nil
	}
	mode := strings.ToLower(args[0])
	if mode != "off" && mode != "adaptive" && !isTokens(mode) {
		return "", errors.New("thinking must be off, adaptive or a number of tokens such as 8000")
	}
	if b.main.inFork() != nil {
		return "", errors.New(textExitFirst)
	}
	b.main.mu.Lock()
	b.main.thinking = mode
	b.main.mu.Unlock()
	if err := b.main.configure(ctx); err != nil {
		return "", err
	}
	return "thinking: " + mode + "." + b.thinkingHolds(b.main.settings(false)), nil
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

// configure tells the open main session what has changed.
func (c *conversation) configure(ctx context.Context) error {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.Configure(ctx, c.settings(false))
}

// slashCompact makes the main session's history shorter and answers with what
// came of it.
func (b *Bot) slashCompact(ctx context.Context, args []string) (string, error) {
	var reply string
	err := b.main.locked(ctx, func(ctx context.Context) error {
		m := agent.Message{Command: agent.Compact, Text: strings.Join(args, " ")}
		var stats []string
		_, r, pre, err := b.main.local(ctx, m)
		if err != nil {
			return err
		}
		if r.Turns > 0 {
			stats = append(stats, fmt.Sprintf("%d turns", r.Turns))
		}
		if at, ok := b.sessions.Created(); ok {
			stats = append(stats, words.HoursMinutes(b.now().Sub(at)))
		}
		if pre > 0 {
			stats = append(stats, fmt.Sprintf("%dk tokens compacted", (pre+500)/1000))
		}
		reply = strings.Join(stats, " · ")
		return nil
	})
	return reply, err
}

// slashCost asks the engine what the session has used.
func (b *Bot) slashCost(ctx context.Context, _ []string) (string, error) {
	var reply string
	err := b.main.locked(ctx, func(ctx context.Context) error {
		text, _, _, err := b.main.local(ctx, agent.Message{Command: agent.Cost})
		if reply = text; text == "" {
			reply = "done."
		}
		return err
	})
	return reply, err
}

// local sends the engine one of its own commands, deliberately, and collects
// what it says. The caller holds the lock.
func (c *conversation) local(ctx context.Context, m agent.Message) (text string, r agent.Result, pre int, err error) {
	now := c.bot.now()
	c.begin(nil, now)
	defer c.end()
	s, err := c.open(ctx)
	if err != nil {
		return "", r, 0, err
	}
	c.begin(s, now)
	var parts []string
	for ev, err := range s.Send(ctx, m) {
		if err != nil {
			c.drop()
			return "", r, pre, err
		}
		switch ev := ev.(type) {
		case agent.Compacting:
			c.mu.Lock()
			c.compacting = !ev.Done
			c.mu.Unlock()
			pre = max(pre, ev.PreTokens)
			c.word(compactingText(ev))
		case agent.Notice:
			parts = append(parts, ev.Text)
		case agent.Text:
			text += ev.Delta
		case agent.Result:
			r = ev
			if text == "" {
				text = ev.Text
			}
			if err := c.bot.sessions.SaveMain(c.bot.now(), sessionID(ev, s)); err != nil {
				return "", r, pre, err
			}
		}
	}
	return strings.TrimSpace(strings.Join(append(parts, text), "\n")), r, pre, nil
}
