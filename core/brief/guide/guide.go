// Package guide owns the files that the program installs in a data directory for the
// agent: the first IDENTITY.md, documents about the directory's files, subagents and
// bundled skills. It never overwrites files that the user has changed. It must not know
// sessions, runs or engines. The texts are in files/.
package guide

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/skill"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// Options are the inputs of the texts.
type Options struct {
	UserName, BotName string
	Zone              string // IANA name of the configured zone
	// Google means that the user's account is connected, Webhooks that webhooks are on.
	Google, Webhooks bool
	NoMail           bool // Google is connected without permission to read mail
	Promises         bool // the agent proposes reminders for the user's promises
}

// Note is an event of the installation.
type Note struct {
	File string // relative to the data directory
	Text string // what was done, or what failed and the cure
	// Warning means that something was not done.
	Warning bool
}

// rule is how a file is updated.
type rule int

const (
	// once: written once, and not again after it was deleted.
	once rule = iota
	// keep: created if missing, never overwritten; newer versions are offered.
	keep
	// follow: updated with the program, unless the user has changed it.
	follow
)

// item is a file that is part of the program.
type item struct {
	path    string // relative to the data directory
	rule    rule
	text    string // with {USER_NAME} and {BOT_NAME} still in it
	version string // hash of text
	google  bool   // useful only while Google is connected
}

//go:embed files
var files embed.FS

const agentsFolder = ".claude/agents"

// items returns all files, sorted by path.
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
	it := item{path: name, rule: follow, text: string(data), version: routines.Digest(data)}
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

// maxName is the maximum length of a name inserted into a file, in characters.
const maxName = 80

// fill returns the file's text with the two names.
func (it item) fill(o Options) []byte {
	user, bot := clean.Cut(clean.Line(o.UserName), maxName), clean.Cut(clean.Line(o.BotName), maxName)
	user = cmp.Or(user, textTheUser)
	bot = cmp.Or(bot, textTheBot)
	return []byte(strings.NewReplacer("{USER_NAME}", user, "{BOT_NAME}", bot).Replace(it.text))
}

// bundled reports whether a skill is part of the program or was generated for a task.
func bundled(folder string) bool {
	return slices.Contains([]string{"setup", "job-config"}, folder) ||
		slices.ContainsFunc([]string{"routine-", "reminder-", "webhook-"}, func(p string) bool { return strings.HasPrefix(folder, p) })
}

// Default names.
const (
	textTheUser = "the user"
	textTheBot  = "the assistant"
)

// Notes of Install.
const (
	textInstalled    = "installed"
	textRefreshed    = "refreshed: this version of the program brings a newer one"
	textLinkReplaced = "put in the place of a link that led out of the data directory"
	textNotReached   = "left alone, because it cannot be read as a file of the data directory (%s)"
	textNotRecorded  = "what was installed could not be written down: %v"
	textNoLink       = "the link for the engine's skills could not be made (%s): until then skills work in tasks only"
)

// Texts of Offers, with the file's name twice.
const (
	textOffer       = "%s has a newer version in this program: move %s away, and the next start puts the new one in its place"
	textOfferEdited = "%s is your own version, and this program brings another one: keep yours, or move %s away, " +
		"and the next start puts ours in its place"
)

const textNoProfile = "[%s is there and cannot be read now. Tell the user.]"

// The profile. Only the user creates USER.md.
const (
	identityFile = "IDENTITY.md"
	userFile     = "USER.md"
)

// SystemPrompt returns the first text of every session, made from the current profile and
// skills. It reads the files at every call, so that changes apply to the next session; equal
// files give equal bytes.
func SystemPrompt(d *store.Dir, o Options) string { return system(d, o, false) }

// BriefPrompt is SystemPrompt for a model that has little room.
func BriefPrompt(d *store.Dir, o Options) string { return system(d, o, true) }

// Profile returns what the user has written for the system prompt.
func Profile(d *store.Dir) prompt.Profile {
	return prompt.Profile{Identity: profile(d, identityFile), User: profile(d, userFile)}
}

func system(d *store.Dir, o Options, brief bool) string {
	own := Profile(d)
	in := prompt.SystemInput{
		UserName: o.UserName, Zone: o.Zone, Google: o.Google, NoMail: o.NoMail, Webhooks: o.Webhooks, Promises: o.Promises,
		Identity: own.Identity, User: own.User, Brief: brief,
	}
	skills, _ := skill.List(d) // their problems are reported elsewhere
	for _, s := range skills {
		folder := path.Base(path.Dir(s.Path))
		if !bundled(folder) {
			in.Skills = append(in.Skills, prompt.SkillLine{Name: folder, Description: s.Description})
		}
	}
	return prompt.System(in)
}

// profile returns a profile file, or a line about why it cannot be read.
func profile(d *store.Dir, name string) string {
	data, err := d.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return fmt.Sprintf(textNoProfile, name)
	}
	return string(data)
}

// Subagent is the relevant content of a file in .claude/agents/. All text is cleaned.
type Subagent struct {
	Name  string // default: the file's name
	Model string // empty: the session's model
	Tools []string
	Path  string // relative to the data directory
}

// Subagents reads all subagents of the data directory, sorted by file. One without tools
// has those of the session. A file without front matter is not a subagent and gets a
// warning; so do patterns that allow too much.
func Subagents(d *store.Dir) ([]Subagent, []routines.Problem) {
	root, err := os.OpenRoot(d.Root())
	if err != nil {
		return nil, nil
	}
	defer root.Close()
	names, err := fs.Glob(root.FS(), agentsFolder+"/*.md")
	if err != nil {
		return nil, nil
	}
	slices.Sort(names)
	var list []Subagent
	var problems []routines.Problem
	for _, name := range names {
		there, err := inspect(root, d, name)
		if err != nil || there.is != ordinary {
			continue
		}
		s, found := ParseSubagent(name, there.data)
		list, problems = append(list, s...), append(problems, found...)
	}
	return list, problems
}

// ParseSubagent returns one subagent, or none and the reason.
func ParseSubagent(file string, data []byte) ([]Subagent, []routines.Problem) {
	p, ok := routines.Open("subagent", file, data)
	var list []Subagent
	if ok {
		stem := strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".md")
		s := Subagent{Name: cmp.Or(scalar(p.Doc, "name"), clean.Line(stem)), Model: scalar(p.Doc, "model"), Path: file}
		for _, v := range toolValues(p.Doc) {
			s.Tools = append(s.Tools, v.Text)
			if _, message := routines.CheckTool(v.Text); message != "" {
				p.Add(routines.Warning, v.Line, v.Column, "%s", message)
			}
		}
		list = []Subagent{s}
	}
	problems := p.Problems()
	for i := range problems {
		problems[i].Severity = routines.Warning // the engine decides whether it uses the file
	}
	return list, problems
}

// toolValues returns the patterns from a list or a comma-separated text.
func toolValues(doc frontmatter.Document) []frontmatter.Value {
	f, _ := doc.Get("tools")
	items := f.Value.Items
	if f.Value.Kind == frontmatter.Scalar {
		for part := range strings.SplitSeq(f.Value.Text, ",") {
			items = append(items, frontmatter.Value{Kind: frontmatter.Scalar, Text: part, Line: f.Value.Line, Column: f.Value.Column})
		}
	}
	var values []frontmatter.Value
	for _, v := range items {
		if v.Text = clean.Line(v.Text); v.Kind == frontmatter.Scalar && v.Text != "" {
			values = append(values, v)
		}
	}
	return values
}

func scalar(doc frontmatter.Document, key string) string {
	f, _ := doc.Get(key)
	return clean.Line(f.Value.Text)
}
