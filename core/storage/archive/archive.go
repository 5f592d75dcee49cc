package archive

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/safety/closed"
	"ollimbot/core/storage/store"
)

// format is the format that this version writes, and the newest that it reads.
const format = 1

// The entries of an archive.
const (
	headName     = "ollim-bot-export.json"
	manifestName = "manifest.json"
	dataPrefix   = "data/"
	sessPrefix   = "sessions/"
)

// Head describes an export.
type Head struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the program
	Made    time.Time `json:"made"`
	Dir     string    `json:"dir"` // the path of the data directory, to show to the user
	Secrets bool      `json:"secrets"`
}

// manifest is the last entry of an export.
type manifest struct {
	Files map[string]string `json:"files"` // SHA-256 in hexadecimal, by name
}

// Summary is the content of an export or import.
type Summary struct {
	Head
	Files, Sessions int   // of the data directory, and of the conversation
	Bytes           int64 // of all of them, unpacked
	// Left are the user's files that are not exported, relative to the data directory: links,
	// sockets and invalid names.
	Left []string
}

// Limits of an archive. A data directory of ten years has some hundred thousand files.
const (
	maxEntries = 2_000_000
	maxPath    = 1024 // bytes of a name
	maxDepth   = 64   // folders in a name
	// An archive can unpack to freeBytes plus maxRatio times its own size.
	freeBytes = 64 << 20
	maxRatio  = 200
)

// verdict says whether a file is exported.
type verdict int

const (
	travels verdict = iota
	secret          // exported only together with the secrets
	stays           // belongs to a running process, or to this machine
)

// runtimeFiles belong to a running bot.
var runtimeFiles = []string{
	"state/bot.pid", "state/bot.lock", "state/control.json", "state/control",
}

// remade are links that the bot recreates at each start.
var remade = []string{".claude/skills", "routine-reminder-spec.md", "webhook-spec.md"}

// keyFiles are secrets that the rules for the model's tools do not list.
var keyFiles = []string{"state/google_login.json", "state/ssh_host_*"}

// judge decides whether a file or folder is exported. A corrupt file that was set aside is
// as secret as the original.
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
	case closed.Secret(rel), slices.ContainsFunc(keyFiles, func(p string) bool { ok, err := path.Match(p, rel); return ok && err == nil }):
		return secret
	}
	return travels
}

// gitConfig is the configuration of the history. It can contain programs that git would run,
// and addresses with passwords.
const gitConfig = ".git/config"

// gitKeys are the settings that are exported: the format of the history.
var gitKeys = []string{"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "objectformat", "refstorage"}

// plainGitConfig drops everything but gitKeys from a git configuration.
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

// loose reports whether a file is a log that keeps growing, so that any prefix of it is good
// enough.
func loose(rel string) bool {
	return strings.HasPrefix(rel, "state/") && strings.Contains(path.Base(rel), ".log")
}

// shown cleans a name from outside for a message.
func shown(name string) string { return clean.Cut(clean.Line(name), 200) }

// fits reports whether a name is valid on every machine: relative, in its shortest form, and
// printable.
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
