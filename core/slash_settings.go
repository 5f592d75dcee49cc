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
		return "permissions: " + string(b.chat.Mode()) + ".", nil
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
	before := string(b.chat.Mode())
	if err := b.chat.SetMode(ctx, policy.Mode(mode)); err != nil {
		return "", err
	}
	b.record(ctx, audit.Entry{Action: audit.ModeChanged, Detail: before + " → " + mode})
	return "permissions: " + mode + ".", nil
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
	if err := b.chat.ConfigChanged(ctx, change.Key); err != nil {
		return "", err
	}
	l, err := config.ShowOne(r, change.Key)
	if err != nil || !strings.HasPrefix(change.Key, "thinking_") {
		return l.String(), err
	}
	return l.String() + b.thinkingHolds(b.chat.Settings(change.Key == "thinking_fork")), nil
}
