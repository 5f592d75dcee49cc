package core

import (
	"log/slog"

	"ollimbot/core/agent"
	"ollimbot/core/brief/docs"
	"ollimbot/core/brief/guide"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/live"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/google"
	pages "ollimbot/docs"
)

// manual is the agent's documentation of the bot and this machine: files in the data
// directory and the system prompt.
type manual struct {
	dir      *store.Dir
	log      *slog.Logger
	env      config.Env
	google   *google.Account
	webhooks *webhooks
	settings *live.Settings
}

func (m *manual) options() guide.Options {
	s := m.google.State()
	return guide.Options{
		UserName: m.env.GivenName(), BotName: m.env.BotName, Zone: m.env.ZoneName, Webhooks: m.webhooks.server != nil,
		Promises: m.settings.Load().Promises, Google: s.On(), NoMail: !s.May(google.Mail),
	}
}

// install writes those files. A file that cannot be written is logged and retried at the
// next start.
func (m *manual) install() {
	notes, err := guide.Install(m.dir, m.options())
	if err != nil {
		m.log.Warn("files for the agent were not installed", "error", err)
	}
	changed := 0
	for _, n := range notes {
		if n.Warning {
			m.log.Warn("file for the agent", "file", n.File, "note", n.Text)
			continue
		}
		changed++
		m.log.Debug("file for the agent", "file", n.File, "note", n.Text)
	}
	if changed > 0 {
		m.log.Info("files for the agent are in place", "changed", changed)
	}
}

// systemPrompt returns the profile, the skills and working instructions. It is built for
// each session, and byte-identical as long as nothing changes, so that prompt caching
// works.
func (m *manual) systemPrompt() string { return guide.SystemPrompt(m.dir, m.options()) }

// briefPrompt is the same for a model that has little room.
func (m *manual) briefPrompt() string { return guide.BriefPrompt(m.dir, m.options()) }

// library returns the documentation as tools of every session.
func library() []agent.Tool {
	tools := docs.New(pages.FS).Tools()
	for i := range tools {
		tools[i].Server = docs.Server
	}
	return tools
}
