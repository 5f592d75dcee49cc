package process

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ollimbot/core/base/procgroup"
)

// program is the name of the bot's own command, which the model calls in its shell.
const program = "ollim-bot"

// fallbackPath is used if PATH is missing, as in some services.
const fallbackPath = "/usr/local/bin:/usr/bin:/bin"

// Env is added to a process's environment. Empty fields add nothing.
type Env struct {
	ConfigDir  string   // where claude keeps its state, instead of the user's own folder
	DataDir    string   // for the bot's commands in the model's shell
	Timezone   string   // an IANA name, for the same, and the TZ of all processes
	Executable string   // the bot's own binary; its folder is put first if PATH has no ollim-bot
	Mark       string   // unique to one running program; see CollectOrphans
	Extra      []string // NAME=value, applied last; an empty value removes a variable
}

// Environment builds the environment of a claude process from base, usually os.Environ(): the
// allowed variables without those of a surrounding Claude Code, then the bot's own, then o.Extra.
// Secrets that claude does not need are never passed. The result is sorted and has unique names; a
// variable without a value counts as unset.
func Environment(base []string, o Env) []string {
	given, extra := parse(base), parse(o.Extra)
	vars := make(map[string]string)
	list := allowList(given, extra)
	for name, value := range given {
		if value != "" && list.passes(name) {
			vars[name] = value
		}
	}
	if vars["CLAUDE_CODE_MAX_RETRIES"] == "" {
		vars["CLAUDE_CODE_MAX_RETRIES"] = "4" // an outage or a bad key is reported within seconds
	}
	maps.Copy(vars, always)
	for name, value := range map[string]string{
		"CLAUDE_CONFIG_DIR": o.ConfigDir, "OLLIM_DATA_DIR": o.DataDir, "OLLIM_TIMEZONE": o.Timezone, "TZ": o.Timezone, procgroup.MarkName: o.Mark,
	} {
		set(vars, name, value)
	}
	set(vars, "PATH", searchPath(vars["PATH"], o.Executable))
	for name, value := range extra {
		switch {
		case value == "":
			delete(vars, name)
		case list.passes(name) || !secretName(name):
			set(vars, name, value)
		}
	}
	out := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out
}

// set sets a variable, unless the value is empty or invalid.
func set(vars map[string]string, name, value string) {
	if value != "" && !strings.ContainsRune(value, 0) {
		vars[name] = value
	}
}

// parse reads NAME=value. As in os/exec, the last of several equal names wins. Names that no shell
// could set are left out.
func parse(env []string) map[string]string {
	out := make(map[string]string, len(env))
	for _, v := range env {
		name, value, ok := strings.Cut(v, "=")
		if ok && plainName(name) && !strings.ContainsRune(value, 0) {
			out[name] = value
		}
	}
	return out
}

func plainName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// searchPath returns PATH, with the folder of the bot's binary in front if the model would not find
// ollim-bot otherwise.
func searchPath(path, executable string) string {
	if path == "" {
		path = fallbackPath
	}
	dir := filepath.Dir(executable)
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, filepath.ListSeparator) || !hasProgram(dir) {
		return path
	}
	if slices.ContainsFunc(filepath.SplitList(path), hasProgram) {
		return path
	}
	return dir + string(filepath.ListSeparator) + path
}

func hasProgram(dir string) bool {
	return filepath.IsAbs(dir) && runnable(filepath.Join(dir, program)) == nil
}

// always overrides the user's variables in every process. It turns off all traffic except the
// model's, updates of the command, and the command's own memory, git status, skills and subagents,
// so that every session starts with the same bytes and contains only the bot's and the user's
// parts. It requests events that report when a session is idle, and puts all tools into the prompt.
// Subagents and commands end before the turn does, so that a run ends with its work. The time
// limits of MCP tools are neither passed on nor set: a tool that asks the user must be able to
// wait.
var always = map[string]string{
	"CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS":  "1",
	"CLAUDE_CODE_ENTRYPOINT":                   program,
	"CLAUDE_CODE_DISABLE_AUTO_MEMORY":          "1",
	"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS":     "1",
	"CLAUDE_CODE_DISABLE_BUNDLED_SKILLS":       "1",
	"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS":     "1",
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
	"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS":    "1",
	"CLAUDE_CODE_FORK_SUBAGENT":                "0",
	"DISABLE_AUTOUPDATER":                      "1",
	"DISABLE_TELEMETRY":                        "1",
	"ENABLE_TOOL_SEARCH":                       "false",
}

// plainNames pass unchanged: locations, the user, the network.
var plainNames = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TERM", "SSH_AUTH_SOCK",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// plainPrefixes pass too, except names that look like secrets.
var plainPrefixes = []string{"LC_", "XDG_"}

// ownPrefixes are claude's own settings, including keys and tokens.
var ownPrefixes = []string{"ANTHROPIC_", "CLAUDE_"}

// clouds are cloud accounts with models, passed if claude is configured to use them.
var clouds = []struct {
	asked    string
	names    []string
	prefixes []string
}{
	{"CLAUDE_CODE_USE_BEDROCK", nil, []string{"AWS_"}},
	{"CLAUDE_CODE_USE_VERTEX", []string{"CLOUD_ML_REGION"}, []string{"GOOGLE_", "VERTEX_REGION_"}},
}

// tracesOf lists variables that Claude Code sets for its children or gets from its host. A bot
// started from such a shell must not inherit them; some would also change the protocol.
var tracesOf = struct{ names, prefixes, suffixes []string }{
	names: []string{
		"CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_JOB_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_PROJECT_UUID", "CLAUDE_SKILL_DIR",
		"CLAUDE_CODE_ACTION", "CLAUDE_CODE_AGENT", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_CONTAINER_ID", "CLAUDE_CODE_ENTRYPOINT",
		"CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_INCLUDE_PARTIAL_MESSAGES", "CLAUDE_CODE_INVOKED_SKILLS", "CLAUDE_CODE_IS_COWORK",
		"CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST", "CLAUDE_CODE_REMOTE", "CLAUDE_CODE_REPL", "CLAUDE_CODE_SIMPLE",
		"CLAUDE_CODE_SPAWN_TIMESTAMP_MS", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SUPERVISED", "CLAUDE_CODE_TASK_LIST_ID",
		"CLAUDE_CODE_TEAMMATE_COMMAND", "CLAUDE_CODE_TEE_SDK_STDOUT", "CLAUDE_CODE_VERSION", "CLAUDE_CODE_WORKER_EPOCH",
	},
	prefixes: []string{
		"CLAUDE_AGENT", "CLAUDE_BG_", "CLAUDE_BRIDGE_", "CLAUDE_INTERNAL_", "CLAUDE_PLUGIN_", "CLAUDE_PTY_", "CLAUDE_RUNNER_",
		"CLAUDE_SESSION_", "CLAUDE_SSH_", "CLAUDE_CODE_ENVIRONMENT_", "CLAUDE_CODE_EXIT_AFTER_", "CLAUDE_CODE_HOST_",
		"CLAUDE_CODE_REMOTE_", "CLAUDE_CODE_RESUME_", "CLAUDE_CODE_SDK_", "CLAUDE_CODE_SESSION_", "CLAUDE_CODE_TMUX_",
	},
	suffixes: []string{"_FILE_DESCRIPTOR"},
}

// allowed lists the names and prefixes that pass in addition to plainNames.
type allowed struct{ names, prefixes []string }

// allowList checks whether either environment uses a cloud.
func allowList(envs ...map[string]string) allowed {
	a := allowed{prefixes: slices.Clone(ownPrefixes)}
	for _, c := range clouds {
		if slices.ContainsFunc(envs, func(env map[string]string) bool { return yes(env[c.asked]) }) {
			a.names = append(a.names, c.names...)
			a.prefixes = append(a.prefixes, c.prefixes...)
		}
	}
	return a
}

// passes decides about a variable by its name.
func (a allowed) passes(name string) bool {
	trace := slices.Contains(tracesOf.names, name) || begins(name, tracesOf.prefixes) ||
		slices.ContainsFunc(tracesOf.suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
	switch {
	case trace:
		return false
	case slices.Contains(plainNames, name), slices.Contains(a.names, name), begins(name, a.prefixes):
		return true
	}
	return begins(name, plainPrefixes) && !secretName(name)
}

func begins(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// yes parses a switch the way claude does.
func yes(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// secretName reports whether a variable with this name contains a secret.
func secretName(name string) bool {
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(strings.ToUpper(name), part) })
}

// secretParts occur in the names of secrets.
var secretParts = []string{"TOKEN", "SECRET", "PASSW", "CREDENTIAL", "KEY", "CUSTOM_HEADERS"}
