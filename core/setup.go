package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
)

// setup begins the walk of /setup from its form: what needs no talk is set at once, the rest the agent asks.
type setup struct {
	dir       *store.Dir
	user, bot string // the current names
	do        func(context.Context, command.Value) (command.Outcome, error)
	follow    func(ctx context.Context, filled string) error

	mu   sync.Mutex
	last string // the key of the newest form that was carried out
}

// begin carries out a form, once. A bad value changes nothing and is named.
func (s *setup) begin(ctx context.Context, key string, c command.Click) (message string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == s.last {
		return "", errors.New(textSetupTwice)
	}
	filled := ""
	if quiet := c.Fields.Quiet; quiet != "" {
		if _, err := s.do(ctx, command.SetConfig{Key: "quiet_hours", Value: quiet, Sure: true}); err != nil {
			return "", err
		}
		filled += fmt.Sprintf(textSetupQuiet, quiet)
	}
	user, bot := c.Fields.User, c.Fields.Bot
	if user+bot != "" && (user != s.user || bot != s.bot) {
		user, bot = cmp.Or(user, s.user), cmp.Or(bot, s.bot)
		if user == "" || bot == "" {
			return "", errors.New(textSetupNames)
		}
		if err := config.SetNames(s.dir, user, bot); err != nil {
			return "", err
		}
		filled += fmt.Sprintf(textSetupNamed, user, bot)
	}
	if c.Words != "" {
		filled += fmt.Sprintf(textSetupAbout, c.Words)
	}
	if err := s.follow(ctx, filled); err != nil {
		return "", err
	}
	s.last = key
	return textSetupBegun, nil
}
