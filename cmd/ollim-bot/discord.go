package main

import (
	"log/slog"

	"ollimbot/core"
	"ollimbot/discord"
)

// discord makes the surface of the user's direct messages, where a token is set.
// Without one it says how to get there; nothing is asked of the network yet.
func (p *process) discord(at place, log *slog.Logger, pending func() bool) (remote core.Remote, without string, err error) {
	if at.env.DiscordToken == "" {
		return nil, textNoDiscord, nil
	}
	d, err := discord.New(discord.Options{
		Token: at.env.DiscordToken, API: at.env.DiscordAPI, OwnerID: at.env.OwnerID, Log: log, Version: version,
		UserName: at.env.UserName, BotName: at.env.BotName, Dir: at.dir, Zone: at.env.Zone,
		LoginPending: pending,
	})
	if err != nil {
		return nil, "", err
	}
	return d, "", nil
}
