package core

import (
	"ollimbot/core/agent"
	"ollimbot/core/docs"
	"ollimbot/core/google"
	"ollimbot/core/guide"
	pages "ollimbot/docs"
)

// library is the documentation that the agent reads, as tools. It is made once:
// every session lists the same.
func library() []agent.Tool {
	tools := docs.New(pages.FS).Tools()
	for i := range tools {
		tools[i].Server = docs.Server
	}
	return tools
}

// about is what the agent's files and its system prompt say of this machine.
func (b *Bot) about() guide.Options {
	s := b.google.state.Load()
	return guide.Options{
		UserName: b.o.Env.GivenName(), BotName: b.o.Env.BotName, Zone: b.o.Env.ZoneName, Webhooks: b.triggers != nil,
		Google: s.On(), NoMail: !s.May(google.Mail),
	}
}

// install puts the files that the agent reads into the data directory. What
// cannot be written is told, and made up for at the next start.
func (b *Bot) install() {
	notes, err := guide.Install(b.dir, b.about())
	if err != nil {
		b.log.Warn("files for the agent were not installed", "error", err)
	}
	changed := 0
	for _, n := range notes {
		if n.Warning {
			b.log.Warn("file for the agent", "file", n.File, "note", n.Text)
			continue
		}
		changed++
		b.log.Debug("file for the agent", "file", n.File, "note", n.Text)
	}
	if changed > 0 {
		b.log.Info("files for the agent are in place", "changed", changed)
	}
}

// SystemPrompt is what every session is told beside the engine's own prompt: the
// profile, the skills, how to work here. It is read anew for each session, and
// the same to the byte while nothing changes, so that a prompt cache holds.
func (b *Bot) SystemPrompt() string { return guide.SystemPrompt(b.dir, b.about()) }
