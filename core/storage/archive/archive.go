// Package archive owns how a bot moves to another machine: the file that holds a data
// directory and the sessions of its conversation, what travels in it and what does
// not, how such a file is checked, and how it takes the place of a directory. It
// must not know what the files mean, nor who asks.
//
// An export is a tar archive, compressed with gzip and, where it holds secrets,
// encrypted with a passphrase (age). Its first entry says what it is, its last one names each
// file with its SHA-256; between them stand the files, below "data/" and "sessions/".
package archive

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
)

// format is what this version writes, and the newest that it reads.
const format = 1

// The entries of an archive.
const (
	headName     = "ollim-bot-export.json"
	manifestName = "manifest.json"
	dataPrefix   = "data/"
	sessPrefix   = "sessions/"
)

// Head is what an export says of itself.
type Head struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the program that made it
	Made    time.Time `json:"made"`
	Dir     string    `json:"dir"` // where the data directory was, as people read it
	Secrets bool      `json:"secrets"`
}

// manifest ends an export.
type manifest struct {
	Files map[string]string `json:"files"` // SHA-256 in hexadecimal, by name
}

// Summary is what an export or an import has carried.
type Summary struct {
	Head
	Files, Sessions int   // of the data directory; of the conversation
	Bytes           int64 // of all of them, unpacked
	// Left are the names, relative to the data directory, of what does not travel
	// although it is the user's: links, sockets, names that are no text.
	Left []string
}

// Limits of an archive. A data directory of ten years has some hundred thousand files.
const (
	maxEntries = 2_000_000
	maxPath    = 1024 // bytes of a name
	maxDepth   = 64   // folders in a name
	// freeBytes may be unpacked of any file, and beyond that maxRatio times what was
	// read of it.
	freeBytes = 64 << 20
	maxRatio  = 200
)

// verdict is what becomes of a file.
type verdict int

const (
	travels verdict = iota
	secret          // travels where secrets do
	stays           // belongs to a process that runs, or to this machine
)

// runtimeFiles are those of a bot that runs, in the data directory.
var runtimeFiles = []string{
	"state/bot.pid", "state/bot.lock", "state/control.json", "state/control.sock",
}

// remade are links that a start of the bot makes anew.
var remade = []string{".claude/skills", "routine-reminder-spec.md", "webhook-spec.md"}

// keyFiles are secrets that no rule for the model's tools names.
var keyFiles = []string{"state/google_login.json", "state/ssh_host_*"}

// judge says what becomes of a file or folder of a data directory. What was set aside
// because it could not be read is as secret as it was.
func judge(rel string) verdict {
	if before, _, aside := strings.Cut(path.Base(rel), ".corrupt-"); aside && byName(path.Join(path.Dir(rel), before)) == secret {
		return secret
	}
	return byName(rel)
}

func byName(rel string) verdict {
	base := path.Base(rel)
	inGit := rel == ".git" || strings.HasPrefix(rel, ".git/")
	switch {
	case slices.Contains(runtimeFiles, rel), strings.HasSuffix(base, ".sock"):
		return stays
	case strings.HasPrefix(rel, "state/.") && strings.HasSuffix(rel, ".lock"):
		return stays
	case store.IsTemp(base):
		return stays
	case inGit && (strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_") || strings.HasPrefix(rel, ".git/ollim-bot-")):
		return stays
	case rel == ".git/hooks", strings.HasPrefix(rel, ".git/hooks/"):
		return stays // programs, and git's own samples
	case inGit:
		return travels
	case policy.Secret(rel), slices.ContainsFunc(keyFiles, func(p string) bool { ok, err := path.Match(p, rel); return ok && err == nil }):
		return secret
	}
	return travels
}

// gitConfig is the file of settings of the history. It can name programs that git would
// run, and addresses with passwords in them.
const gitConfig = ".git/config"

// gitKeys are its settings that travel: what the history is made of.
var gitKeys = []string{"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "objectformat", "refstorage"}

// plainGitConfig is a git configuration without what runs programs or names places.
func plainGitConfig(data []byte) []byte {
	var out strings.Builder
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.ToLower(line)
			if section == "[core]" || section == "[extensions]" {
				out.WriteString(section + "\n")
			}
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		harmless := strings.TrimLeft(value, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
		if (section == "[core]" || section == "[extensions]") && slices.Contains(gitKeys, key) && harmless {
			out.WriteString("\t" + key + " = " + value + "\n")
		}
	}
	return []byte(out.String())
}

// loose reports whether a file is a log that lines are added to all the time: any
// beginning of it is as good as another.
func loose(rel string) bool {
	return strings.HasPrefix(rel, "state/") && strings.Contains(path.Base(rel), ".log")
}

// fits reports whether a name can be that of a file on every machine: relative, in
// the shortest form, of text.
func fits(name string) bool {
	if !fs.ValidPath(name) || name == "." || len(name) > maxPath || strings.Count(name, "/") >= maxDepth || strings.Contains(name, `\`) {
		return false
	}
	for _, element := range strings.Split(name, "/") {
		if len(element) > 255 {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' })
}
