package process

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestABareEnvironmentGetsWhatABotNeeds(t *testing.T) {
	want := strings.Fields("CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS=1 CLAUDE_CODE_DISABLE_AUTO_MEMORY=1 CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1 " +
		"CLAUDE_CODE_DISABLE_BUNDLED_SKILLS=1 CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 " +
		"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1 CLAUDE_CODE_ENTRYPOINT=ollim-bot CLAUDE_CODE_FORK_SUBAGENT=0 CLAUDE_CODE_MAX_RETRIES=4 " +
		"DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 ENABLE_TOOL_SEARCH=false PATH=/usr/local/bin:/usr/bin:/bin")
	if diff := cmp.Diff(want, Environment(nil, Env{})); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAnEnvironmentGetsFromWhere(t *testing.T) {
	ours, theirs, empty := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(ours, program), "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(theirs, program), "#!/bin/sh\n", 0o755)
	exe := filepath.Join(ours, program)
	cloud := []string{"AWS_SESSION_TOKEN=a", "GOOGLE_CLOUD_PROJECT=g", "CLOUD_ML_REGION=r", "VERTEX_REGION_X=v"}
	for name, c := range map[string]struct {
		base []string
		env  Env
		want string // what differs from a bare one
	}{
		"the bot's own comes before the user's": {
			[]string{"CLAUDE_CONFIG_DIR=/theirs", "CLAUDE_CODE_MAX_RETRIES=9", "DISABLE_AUTOUPDATER=0", "TZ=UTC"},
			Env{ConfigDir: "/ours", DataDir: "/data", Timezone: "Europe/Berlin", Mark: "bot"},
			"CLAUDE_CODE_MAX_RETRIES=9 CLAUDE_CONFIG_DIR=/ours OLLIM_CLAUDE_PROCESS=bot OLLIM_DATA_DIR=/data OLLIM_TIMEZONE=Europe/Berlin TZ=Europe/Berlin",
		},
		"the user's own folder stays": {[]string{"CLAUDE_CONFIG_DIR=/theirs"}, Env{}, "CLAUDE_CONFIG_DIR=/theirs"},
		"what is extra comes last, without secrets": {
			nil, Env{Extra: []string{"BROWSER=/bin/true", "ENABLE_TOOL_SEARCH=", "DISCORD_TOKEN=x", "ANTHROPIC_API_KEY=k"}}, "-ENABLE_TOOL_SEARCH ANTHROPIC_API_KEY=k BROWSER=/bin/true",
		},
		"what is no variable changes nothing": {
			[]string{"HOME=/home", "USER=a\x00b"}, Env{Extra: []string{"HOME", "no equals sign", "1A=x", "A1=x", "A-B=x", "=x", "Z=\x00"}, Mark: "a\x00"}, "A1=x HOME=/home",
		},
		"places, the network and claude's settings pass": {
			strings.Fields(
				"HOME=0 LANG=0 LC_ALL=0 TZ=0 XDG_CONFIG_HOME=0 SSH_AUTH_SOCK=0 https_proxy=0 NO_PROXY=0 SSL_CERT_FILE=0 ANTHROPIC_API_KEY=0 USER=0 LOGNAME=0 SHELL=0 " +
					"TMPDIR=0 TERM=0 HTTP_PROXY=0 HTTPS_PROXY=0 ALL_PROXY=0 http_proxy=0 all_proxy=0 no_proxy=0 NODE_EXTRA_CA_CERTS=0 SSL_CERT_DIR=0 " +
					"ANTHROPIC_AUTH_TOKEN=0 ANTHROPIC_BASE_URL=0 CLAUDE_CODE_OAUTH_TOKEN=0 CLAUDE_CODE_TMPDIR=0 CLAUDE_CODE_USE_BEDROCK=0"),
			Env{},
			"ALL_PROXY=0 ANTHROPIC_API_KEY=0 ANTHROPIC_AUTH_TOKEN=0 ANTHROPIC_BASE_URL=0 CLAUDE_CODE_OAUTH_TOKEN=0 CLAUDE_CODE_TMPDIR=0 " +
				"CLAUDE_CODE_USE_BEDROCK=0 HOME=0 HTTPS_PROXY=0 HTTP_PROXY=0 LANG=0 LC_ALL=0 LOGNAME=0 NODE_EXTRA_CA_CERTS=0 NO_PROXY=0 SHELL=0 " +
				"SSH_AUTH_SOCK=0 SSL_CERT_DIR=0 SSL_CERT_FILE=0 TERM=0 TMPDIR=0 TZ=0 USER=0 XDG_CONFIG_HOME=0 all_proxy=0 http_proxy=0 https_proxy=0 no_proxy=0",
		},
		"traces of a Claude Code around the bot, secrets and what changes programs do not": {strings.Fields(strings.ReplaceAll(
			"CLAUDECODE CLAUDE_EFFORT CLAUDE_ENV_FILE CLAUDE_JOB_DIR CLAUDE_PROJECT_DIR CLAUDE_PROJECT_UUID CLAUDE_SKILL_DIR CLAUDE_CODE_ACTION "+
				"CLAUDE_CODE_AGENT CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_CONTAINER_ID CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_EXECPATH "+
				"CLAUDE_CODE_INCLUDE_PARTIAL_MESSAGES CLAUDE_CODE_INVOKED_SKILLS CLAUDE_CODE_IS_COWORK CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST "+
				"CLAUDE_CODE_REMOTE CLAUDE_CODE_REPL CLAUDE_CODE_SIMPLE CLAUDE_CODE_SPAWN_TIMESTAMP_MS CLAUDE_CODE_SSE_PORT CLAUDE_CODE_SUPERVISED "+
				"CLAUDE_CODE_TASK_LIST_ID CLAUDE_CODE_TEAMMATE_COMMAND CLAUDE_CODE_TEE_SDK_STDOUT CLAUDE_CODE_VERSION CLAUDE_CODE_WORKER_EPOCH CLAUDE_AGENT_X "+
				"CLAUDE_BG_X CLAUDE_BRIDGE_X CLAUDE_INTERNAL_X CLAUDE_PLUGIN_X CLAUDE_PTY_X CLAUDE_RUNNER_X CLAUDE_SESSION_X CLAUDE_SSH_X "+
				"CLAUDE_CODE_ENVIRONMENT_X CLAUDE_CODE_EXIT_AFTER_X CLAUDE_CODE_HOST_X CLAUDE_CODE_REMOTE_X CLAUDE_CODE_RESUME_X CLAUDE_CODE_SDK_X "+
				"CLAUDE_CODE_SESSION_X CLAUDE_CODE_TMUX_X CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR AI_AGENT DISCORD_TOKEN WEBHOOK_SECRET GITHUB_TOKEN "+
				"OPENAI_API_KEY XDG_ACTIVATION_TOKEN LC_PASSWORD XDG_CREDENTIALS LC_KEY XDG_CUSTOM_HEADERS AWS_SECRET_ACCESS_KEY "+
				"GOOGLE_APPLICATION_CREDENTIALS NODE_OPTIONS LD_PRELOAD BASH_ENV MCP_TOOL_TIMEOUT OLLIM_CLAUDE_PROCESS OLLIM_DATA_DIR", " ", "=0 ") + "=0"), Env{}, ""},
		"a cloud's keys pass if it is used": {append(cloud, "CLAUDE_CODE_USE_BEDROCK=1"), Env{}, "AWS_SESSION_TOKEN=a CLAUDE_CODE_USE_BEDROCK=1"},
		"a cloud's keys pass if the bot uses it": {
			cloud, Env{Extra: []string{"CLAUDE_CODE_USE_VERTEX= On "}}, "CLAUDE_CODE_USE_VERTEX= On  CLOUD_ML_REGION=r GOOGLE_CLOUD_PROJECT=g VERTEX_REGION_X=v",
		},
		"a cloud's keys stay if it is not used":      {append(cloud, "CLAUDE_CODE_USE_BEDROCK=0"), Env{}, "CLAUDE_CODE_USE_BEDROCK=0"},
		"the bot's folder leads PATH":                {[]string{"PATH=" + empty}, Env{Executable: exe}, "PATH=" + ours + ":" + empty},
		"the bot's folder leads the PATH of systems": {nil, Env{Executable: exe}, "PATH=" + ours + ":" + fallbackPath},
		"a bot on PATH adds nothing":                 {[]string{"PATH=" + empty + ":" + theirs}, Env{Executable: exe}, "PATH=" + empty + ":" + theirs},
		"a bot somewhere adds nothing":               {[]string{"PATH=" + empty}, Env{}, "PATH=" + empty},
		"a bot in a relative folder adds nothing":    {[]string{"PATH=" + empty}, Env{Executable: program}, "PATH=" + empty},
		"a bot of another name adds nothing":         {[]string{"PATH=" + empty}, Env{Executable: filepath.Join(empty, "ollim-bot.test")}, "PATH=" + empty},
	} {
		t.Run(name, func(t *testing.T) {
			bare, got := parse(Environment(nil, Env{})), Environment(c.base, c.env)
			var diff []string
			for name := range bare {
				if _, ok := parse(got)[name]; !ok {
					diff = append(diff, "-"+name)
				}
			}
			for _, v := range got {
				if name, value, _ := strings.Cut(v, "="); bare[name] != value {
					diff = append(diff, v)
				}
			}
			if got := strings.Join(diff, " "); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestASwitchIsReadAsClaudeReadsIt(t *testing.T) {
	for value, want := range map[string]bool{"1": true, "true": true, "YES": true, " on\n": true, "0": false, "false": false, "2": false, "": false} {
		if yes(value) != want {
			t.Errorf("%q is on: %v", value, !want)
		}
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
		if !slices.IsSortedFunc(got, func(a, b string) int {
			return strings.Compare(strings.Split(a, "=")[0], strings.Split(b, "=")[0])
		}) {
			r.Fatalf("not sorted: %q", got)
		}
		slices.Reverse(got)
		if again := Environment(append(got, base...), o); len(base) == 0 && len(again) != len(got) {
			r.Fatalf("built twice: %q, then %q", got, again)
		}
	})
}
