package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// What of the environment a command sees. The engine's own is built by whoever
// starts it; git's by the data directory.
var (
	commandNames = []string{
		"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES", "TMPDIR", "PWD", "OLDPWD", "SHLVL",
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "GIT_EDITOR", "EDITOR", "NO_COLOR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
		"OLLIM_DATA_DIR", "OLLIM_TIMEZONE", "OLLIM_USER_NAME", "OLLIM_BOT_NAME", "OLLIM_CLAUDE_PROCESS", SocketVar, SessionVar,
	}
	commandPrefixes = []string{"LC_"}
	// proxyNames hold passwords at times, and are of use with a network only.
	proxyNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"}
)

// environment is that of a process in its fence.
func environment(p profile, env []string, network bool) []string {
	if env == nil {
		env = os.Environ()
	}
	if p != command {
		return slices.Clone(env)
	}
	names := passing(network)
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(names, name) &&
			!slices.ContainsFunc(commandPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	})
}

// passing are the names of what a command sees.
func passing(network bool) []string {
	if network {
		return slices.Concat(commandNames, proxyNames)
	}
	return commandNames
}

// with is an environment in which a variable has this value, once.
func with(env []string, name, text string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
	return append(out, name+"="+text)
}

// clearing begins a script that clears its environment by name.
func clearing(bash string, network bool) string {
	return fmt.Sprintf("#!%s -p\nfor n in $(compgen -e); do case $n in %s*|%s) ;; *) unset -v \"$n\" 2>/dev/null ;; esac; done\n",
		bash, strings.Join(commandPrefixes, "*|"), strings.Join(passing(network), "|"))
}
