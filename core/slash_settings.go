package core

import (
	"context"
	"fmt"
	"strings"

	"ollimbot/core/audit"
	"ollimbot/core/config"
	"ollimbot/core/policy"
)

// permissionModes in the order in which people are told of them.
var permissionModes = []string{
	string(policy.DontAsk), string(policy.Ask), string(policy.AcceptEdits), string(policy.BypassPermissions),
}

// slashPermissions shows or sets the permission mode: of the fork where there
// is one, else of the main session, for the life of the process.
func (b *Bot) slashPermissions(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return "permissions: " + string(b.main.mode()) + ".", nil
	}
	mode := ""
	for _, m := range permissionModes {
		if strings.EqualFold(m, args[0]) {
			mode = m
		}
	}
	if mode == "" {
		return "", fmt.Errorf("permissions must be one of: %s", strings.Join(permissionModes, ", "))
	}
	before := string(b.main.mode())
	if err := b.main.setMode(ctx, policy.Mode(mode)); err != nil {
		return "", err
	}
	b.record(ctx, audit.Entry{Action: audit.ModeChanged, Detail: before + " → " + mode})
	return "permissions: " + mode + ".", nil
}

// mode is the permission mode in force: the fork's own, the process's, or the
// configuration's.
func (c *conversation) mode() policy.Mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.fork != nil && c.fork.mode != "" && !c.behind:
		return c.fork.mode
	case c.chosenMode != "":
		return c.chosenMode
	}
	return policy.Mode(c.bot.runtime.Load().PermissionMode)
}

func (c *conversation) setMode(ctx context.Context, m policy.Mode) error {
	c.mu.Lock()
	f := c.fork
	if f != nil {
		f.mode = m
	} else {
		c.chosenMode = m
	}
	c.mu.Unlock()
	if f != nil {
		return f.session.Configure(ctx, c.settings(true))
	}
	return c.configure(ctx)
}

// slashConfig shows all settings, one of them, or sets one.
func (b *Bot) slashConfig(ctx context.Context, args []string) (string, error) {
	switch len(args) {
	case 0:
		var lines []string
		for _, l := range config.Show(*b.runtime.Load()) {
			lines = append(lines, l.String())
		}
		return strings.Join(lines, "\n"), nil
	case 1:
		l, err := config.ShowOne(*b.runtime.Load(), args[0])
		return l.String(), err
	}
	r, change, err := config.Set(b.dir, args[0], strings.Join(args[1:], " "))
	if err != nil {
		return "", err
	}
	b.record(ctx, audit.Entry{Action: audit.ConfigChanged, Subject: change.Key, Detail: change.Was + " → " + change.Is})
	b.runtime.Store(&r)
	if err := b.applyConfig(ctx, change.Key); err != nil {
		return "", err
	}
	l, err := config.ShowOne(r, change.Key)
	if err != nil || !strings.HasPrefix(change.Key, "thinking_") {
		return l.String(), err
	}
	return l.String() + b.thinkingHolds(b.main.settings(change.Key == "thinking_fork")), nil
}

// applyConfig makes a changed setting count at once, where it does not by
// itself when it is next read.
func (b *Bot) applyConfig(ctx context.Context, key string) error {
	c := b.main
	c.mu.Lock()
	switch key {
	case "model_main":
		c.model = ""
	case "thinking_main":
		c.thinking = ""
	case "permission_mode":
		c.chosenMode = ""
	}
	f := c.fork
	c.mu.Unlock()
	if err := c.configure(ctx); err != nil {
		return err
	}
	if f != nil {
		return f.session.Configure(ctx, c.settings(true))
	}
	return nil
}
