package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatMustAppearNowhereIsKnownByValue(t *testing.T) {
	e := Env{
		DiscordToken: "discord.token", WebhookSecret: "1",
		Engine: []Secret{"ANTHROPIC_API_KEY=sk-from-file", "OLLIM_CLAUDE=/usr/bin/claude", "ANTHROPIC_BASE_URL=http://127.0.0.1"},
	}
	environ := []string{
		"CLAUDE_CODE_OAUTH_TOKEN=oauth-token", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=320000", "PATH=/usr/bin:/bin", "SSH_KEY=not-ours",
		"ANTHROPIC_AUTH_TOKEN=auth-token", "ANTHROPIC_CUSTOM_HEADERS=X-Key: abc", "nonsense", "DISCORD_TOKEN=",
	}
	want := []string{"discord.token", "oauth-token", "auth-token", "X-Key: abc", "sk-from-file"}
	if diff := cmp.Diff(want, e.Secrets(environ)); diff != "" {
		t.Error(diff)
	}
}
