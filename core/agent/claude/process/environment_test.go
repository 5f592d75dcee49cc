package process

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestABareEnvironmentGetsWhatABotNeeds(t *testing.T) {
	want := []string{
		"CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS=1",
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_DISABLE_BUNDLED_SKILLS=1",
		"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1",
		"CLAUDE_CODE_ENTRYPOINT=ollim-bot",
		"CLAUDE_CODE_FORK_SUBAGENT=0",
		"CLAUDE_CODE_MAX_RETRIES=4",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"ENABLE_TOOL_SEARCH=false",
		"PATH=/usr/local/bin:/usr/bin:/bin",
	}
	if diff := cmp.Diff(want, Environment(nil, Env{})); diff != "" {
		t.Error(diff)
	}
}

func TestOursIsAdded(t *testing.T) {
	got := parse(Environment([]string{"CLAUDE_CONFIG_DIR=/theirs", "CLAUDE_CODE_MAX_RETRIES=9", "DISABLE_AUTOUPDATER=0"}, Env{
		ConfigDir: "/ours", DataDir: "/data", Timezone: "Europe/Berlin", Mark: "bot",
		Extra: []string{"BROWSER=/bin/true", "ENABLE_TOOL_SEARCH=", "DISCORD_TOKEN=x", "no equals sign"},
	}))
	for name, want := range map[string]string{
		"CLAUDE_CONFIG_DIR": "/ours", "OLLIM_DATA_DIR": "/data", "OLLIM_TIMEZONE": "Europe/Berlin", "OLLIM_CLAUDE_PROCESS": "bot",
		"BROWSER": "/bin/true", "ENABLE_TOOL_SEARCH": "", "DISCORD_TOKEN": "", "CLAUDE_CODE_MAX_RETRIES": "9", "DISABLE_AUTOUPDATER": "1",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, not %q", name, got[name], want)
		}
	}
	if got := parse(Environment([]string{"CLAUDE_CONFIG_DIR=/theirs"}, Env{})); got["CLAUDE_CONFIG_DIR"] != "/theirs" {
		t.Errorf("the user's own folder became %q", got["CLAUDE_CONFIG_DIR"])
	}
}

func TestTheUsersSettingsPassAndOthersDoNot(t *testing.T) {
	pass := []string{
		"HOME", "LANG", "LC_ALL", "TZ", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "https_proxy", "NO_PROXY", "SSL_CERT_FILE",
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_TMPDIR", "CLAUDE_CODE_USE_BEDROCK",
	}
	stop := []string{
		"CLAUDECODE", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CLAUDE_CODE_CHILD_SESSION",
		"CLAUDE_CODE_EXECPATH", "CLAUDE_EFFORT", "CLAUDE_AGENT_SDK_MCP_NO_PREFIX", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
		"AI_AGENT", "DISCORD_TOKEN", "WEBHOOK_SECRET", "GITHUB_TOKEN", "OPENAI_API_KEY", "XDG_ACTIVATION_TOKEN", "AWS_SECRET_ACCESS_KEY",
		"GOOGLE_APPLICATION_CREDENTIALS", "NODE_OPTIONS", "LD_PRELOAD", "BASH_ENV", "MCP_TOOL_TIMEOUT", "OLLIM_CLAUDE_PROCESS", "OLLIM_DATA_DIR",
	}
	var base []string
	for _, name := range slices.Concat(pass, stop) {
		base = append(base, name+"=0")
	}
	got := parse(Environment(base, Env{}))
	for _, name := range pass {
		if got[name] != "0" {
			t.Errorf("%s does not pass", name)
		}
	}
	for _, name := range stop {
		if value, ok := got[name]; ok {
			t.Errorf("%s passes, as %q", name, value)
		}
	}
}

func TestACloudsKeysPassOnlyWhereTheCloudIsUsed(t *testing.T) {
	base := []string{"AWS_SESSION_TOKEN=a", "GOOGLE_CLOUD_PROJECT=g", "CLOUD_ML_REGION=r"}
	for asked, want := range map[string][]string{
		"":                          nil,
		"CLAUDE_CODE_USE_BEDROCK=1": {"AWS_SESSION_TOKEN"},
		"CLAUDE_CODE_USE_BEDROCK=0": nil,
		"CLAUDE_CODE_USE_VERTEX=on": {"CLOUD_ML_REGION", "GOOGLE_CLOUD_PROJECT"},
	} {
		for name, env := range map[string][]string{
			"base":  Environment(append([]string{asked}, base...), Env{}),
			"extra": Environment(base, Env{Extra: []string{asked}}),
		} {
			var got []string
			for _, v := range slices.Sorted(maps.Keys(parse(env))) {
				if strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "GOOGLE_") || v == "CLOUD_ML_REGION" {
					got = append(got, v)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q in %s:\n%s", asked, name, diff)
			}
		}
	}
}

func TestOurFolderLeadsThePathWhereTheCommandIsNotOnIt(t *testing.T) {
	ours, theirs, empty := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(ours, program), "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(theirs, program), "#!/bin/sh\n", 0o755)
	exe := filepath.Join(ours, program)
	for name, c := range map[string]struct{ path, exe, want string }{
		"not on it":       {empty, exe, ours + ":" + empty},
		"no path":         {"", exe, ours + ":" + fallbackPath},
		"on it":           {empty + ":" + theirs, exe, empty + ":" + theirs},
		"unknown":         {empty, "", empty},
		"relative":        {empty, program, empty},
		"of another name": {empty, filepath.Join(empty, "ollim-bot.test"), empty},
	} {
		t.Run(name, func(t *testing.T) {
			got := parse(Environment([]string{"PATH=" + c.path}, Env{Executable: c.exe}))["PATH"]
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestNothingForbiddenEverPassesAndNoNameTwice(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"DISCORD", "WEBHOOK", "GITHUB", "XDG", "LC", "CLAUDE_CODE_SESSION", "CLAUDE", "CLAUDE_CODE", "ANTHROPIC", "AWS", "PATH", "HOME", "OLLIM", "MY",
	})
	end := rapid.SampledFrom([]string{"", "_TOKEN", "_SECRET", "_ID", "_token", "_API_KEY", "_ENTRYPOINT", "_FILE_DESCRIPTOR"})
	variable := rapid.Custom(func(r *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(r, "kind") == 0 {
			return rapid.String().Draw(r, "anything")
		}
		return part.Draw(r, "part") + end.Draw(r, "end") + "=" + rapid.StringMatching(`[a-z\x00=\n]{0,5}`).Draw(r, "value")
	})
	testkit.Check(t, func(r *rapid.T) {
		base := rapid.SliceOf(variable).Draw(r, "base")
		o := Env{Mark: "bot", Extra: rapid.SliceOf(variable).Draw(r, "extra")}
		got := Environment(base, o)
		seen := make(map[string]bool)
		for _, v := range got {
			name, value, ok := strings.Cut(v, "=")
			if !ok || value == "" || seen[name] || !plainName(name) || strings.ContainsRune(v, 0) {
				r.Fatalf("%q is no variable, or there twice", v)
			}
			seen[name] = true
			own := strings.HasPrefix(name, "ANTHROPIC_") || strings.HasPrefix(name, "CLAUDE_") && !strings.HasPrefix(name, "CLAUDE_CODE_SESSION_")
			secret := strings.HasSuffix(strings.ToUpper(name), "_TOKEN") || strings.HasSuffix(strings.ToUpper(name), "_SECRET")
			if secret && !own || strings.HasSuffix(name, "_FILE_DESCRIPTOR") && slices.Contains(base, v) && !slices.Contains(o.Extra, v) {
				r.Fatalf("%s passed", name)
			}
		}
		if !slices.IsSorted(slices.Collect(func(yield func(string) bool) {
			for _, v := range got {
				name, _, _ := strings.Cut(v, "=")
				if !yield(name) {
					return
				}
			}
		})) {
			r.Fatalf("not sorted: %q", got)
		}
		slices.Reverse(got)
		if again := Environment(append(got, base...), o); len(base) == 0 && len(again) != len(got) {
			r.Fatalf("built twice: %q, then %q", got, again)
		}
	})
}
