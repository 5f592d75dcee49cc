// Package guide owns what the program brings into a data directory for the
// agent to work with: the first IDENTITY.md, the documents about its files, the
// subagents and the bundled skills. It knows which
// of them the user has made their own and leaves those alone. It must not know
// sessions, runs or engines; what the files tell the agent is in files/.
package guide

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ollimbot/core/clean"
)

// Options is what the texts depend on.
type Options struct {
	UserName, BotName string
	Zone              string // IANA name of the configured zone
	// Google says that the user's account is connected and the commands for it
	// exist, Webhooks that the bot listens for them.
	Google, Webhooks bool
	NoMail           bool // Google is connected, and reading mail is not allowed
}

// Note is something that happened while files were installed.
type Note struct {
	File string // relative to the data directory
	Text string // a sentence: what was done, or what could not be and the cure
	// Warning says that something was not done.
	Warning bool
}

// rule says what becomes of a file once it is there.
type rule int

const (
	// once: written a single time; whoever deletes it does not get it back.
	once rule = iota
	// keep: made where it is missing, never written over; newer versions are offered.
	keep
	// follow: refreshed with the program, as long as the user has not changed it.
	follow
)

// item is one file that comes with the program.
type item struct {
	path    string // relative to the data directory
	rule    rule
	text    string // with {USER_NAME} and {BOT_NAME} still in it
	version string // hash of text
	google  bool   // is of use only while Google is connected
}

//go:embed files
var files embed.FS

const agentsFolder = ".claude/agents"

// items are all files, in the order of their paths.
func items() ([]item, error) {
	var list []item
	err := fs.WalkDir(files, "files", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		list = append(list, newItem(strings.TrimPrefix(name, "files/"), data))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the files that come with the program: %w", err)
	}
	return list, nil
}

func newItem(name string, data []byte) item {
	it := item{path: name, rule: follow, text: string(data), version: hash(data)}
	switch {
	case name == identityFile:
		it.rule = once
	case strings.HasPrefix(name, "agents/"):
		it.path, it.rule = agentsFolder+strings.TrimPrefix(name, "agents"), keep
		it.google = name == "agents/gmail-reader.md"
	case strings.HasPrefix(name, "skills/"):
		it.rule = keep
	}
	return it
}

// maxName is the longest name that is written into a file, in characters.
const maxName = 80

// fill is the file's text for this user; nothing but the two names is replaced.
func (it item) fill(o Options) []byte {
	user, bot := clean.Cut(clean.Line(o.UserName), maxName), clean.Cut(clean.Line(o.BotName), maxName)
	user = cmp.Or(user, textTheUser)
	bot = cmp.Or(bot, textTheBot)
	return []byte(strings.NewReplacer("{USER_NAME}", user, "{BOT_NAME}", bot).Replace(it.text))
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// bundled reports whether a skill's folder came with the program or was
// generated for a task: such skills are not the user's own.
func bundled(folder string) bool {
	return slices.Contains([]string{"setup", "job-config"}, folder) ||
		slices.ContainsFunc([]string{"routine-", "reminder-", "webhook-"}, func(p string) bool { return strings.HasPrefix(folder, p) })
}

// Names where the user gave none.
const (
	textTheUser = "the user"
	textTheBot  = "the assistant"
)

// What Install tells.
const (
	textInstalled    = "installed"
	textRefreshed    = "refreshed: this version of the program brings a newer one"
	textLinkReplaced = "put in the place of a link that led out of the data directory"
	textNotReached   = "left alone, because it cannot be read as a file of the data directory (%s)"
	textNotRecorded  = "what was installed could not be written down: %v"
	textNoLink       = "the link for the engine's skills could not be made (%s): until then skills work in tasks only"
)

// What Offers tells, with the file's name twice.
const (
	textOffer       = "%s has a newer version in this program: move %s away, and the next start puts the new one in its place"
	textOfferEdited = "%s is your own version, and this program brings another one: keep yours, or move %s away, " +
		"and the next start puts ours in its place"
)

const textNoProfile = "[%s is there and cannot be read now. Tell the user.]"
