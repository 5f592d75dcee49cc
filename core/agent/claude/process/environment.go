package process

import (
	"crypto/rand"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// program is our own command's name, which the model calls in its shell.
const program = "ollim-bot"

// fallbackPath is for an environment without PATH, as a service may have.
const fallbackPath = "/usr/local/bin:/usr/bin:/bin"

// Env is what the environment of a process carries of ours. Empty fields carry
// nothing.
type Env struct {
	ConfigDir  string   // where claude keeps its state, instead of the user's own folder
	DataDir    string   // for the commands of ours that the model runs
	Timezone   string   // an IANA name, likewise, and the TZ of all that runs
	Executable string   // our own binary; its folder leads PATH where PATH has no ollim-bot
	Mark       string   // whose processes they are, one running program's alone; see CollectOrphans
	Extra      []string // NAME=value, the last word; an empty value takes a variable out
}

// Environment builds the environment of a claude process out of base, usually
// os.Environ(): what is on the list, without the traces of a Claude Code around
// us, then what a bot needs, then o.Extra. Tokens and
// secrets that claude has no use for never pass. The result is sorted and has no
// name twice; a variable without a value counts as not set.
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
		vars["CLAUDE_CODE_MAX_RETRIES"] = "4" // an outage or a bad key shows within seconds
	}
	maps.Copy(vars, always)
	for name, value := range map[string]string{
		"CLAUDE_CONFIG_DIR": o.ConfigDir, "OLLIM_DATA_DIR": o.DataDir, "OLLIM_TIMEZONE": o.Timezone, "TZ": o.Timezone, MarkName: o.Mark,
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

// set keeps what is there where there is no value, or one that the system would
// refuse.
func set(vars map[string]string, name, value string) {
	if value != "" && !strings.ContainsRune(value, 0) {
		vars[name] = value
	}
}

// parse reads NAME=value; the last of a name counts, as it does for os/exec.
// What no shell could have set is left out.
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

// searchPath is PATH with the folder of our binary in front, where the model
// would not find an ollim-bot otherwise.
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

// Lookup is the value of a variable, or empty; the last one of a name counts, as it
// does for os/exec.
func Lookup(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// MarkName is the variable that every process started here carries, and that
// its children inherit. Its value is the mark that was asked for with Env.Mark,
// a slash, and a word that belongs to one process alone.
const MarkName = "OLLIM_CLAUDE_PROCESS"

// ownMark makes the mark of one process from that of its environment. With a
// mark of its own, the end of one process never touches the children of
// another.
func ownMark(env []string) string {
	return strings.ReplaceAll(Lookup(env, MarkName), "\x00", "") + "/" + rand.Text()
}

// withMark is an environment in which the mark stands once.
func withMark(env []string, mark string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, MarkName+"=")
	})
	return append(out, MarkName+"="+mark)
}

// living are the marks of the commands that have not ended. A program has one set
// of children, whichever part of it has started them.
var living sync.Map

// CollectOrphans ends the processes that carry a mark and whose command is gone:
// SIGTERM, a moment, SIGKILL. The mark is what Env.Mark was in an earlier run of
// the program, which may have been killed without a chance to collect; the empty
// one is nobody's. The processes of commands that still run are left alone. n is
// how many were ended. An error is one line that names what does not end.
//
// It blocks for 3 s at most and only for as long as there is something to wait
// for. Where the system cannot tell (not Linux) it does nothing.
func CollectOrphans(mark string) (n int, err error) {
	if mark == "" {
		return 0, nil
	}
	return collect(0, func(own string) bool {
		at := strings.LastIndexByte(own, '/')
		_, lives := living.Load(own)
		return at >= 0 && own[:at] == mark && !lives
	})
}
