package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/control"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/frontmatter"
)

// Subagent is a task for a separate session.
type Subagent struct {
	Type   string // the requested type, or "general-purpose"
	About  string // a description of three to five words
	Prompt string // the task
	System string // the text of its file in .claude/agents; empty for general-purpose
	Model  string // the model set in its file; empty is the session's
	// Tools are patterns that limit its tools; nil allows all of the session's.
	Tools []string
}

const (
	agentsFolder = ".claude/agents"
	general      = "general-purpose"
	// maxAgentFile is the largest file of a subagent, in bytes.
	maxAgentFile = 256 << 10
)

func (b *Box) agent(ctx context.Context, c call) (Result, error) {
	s := Subagent{Type: c.Text("subagent_type"), About: clean.Cut(clean.Line(c.Text("description")), maxShown), Prompt: c.Text("prompt")}
	if s.Type == "" {
		s.Type = general
	}
	files := b.subagents()
	at := slices.IndexFunc(files, func(f agentFile) bool { return strings.EqualFold(f.name, s.Type) })
	switch {
	case at >= 0:
		s.Type, s.System, s.Model, s.Tools = files[at].name, files[at].text, files[at].model, files[at].tools
	case s.Type != general:
		var list strings.Builder
		for _, f := range files {
			fmt.Fprintf(&list, "\n- %s: %s", f.name, f.about)
		}
		return Result{}, fmt.Errorf(textNoAgent, clean.Cut(clean.Line(s.Type), maxShown), clean.Cut(list.String(), maxListed))
	}
	if b.o.Agent == nil {
		return Result{}, errors.New(textNoAgents)
	}
	return b.o.Agent(ctx, s), nil
}

// agentFile is a file in .claude/agents: front matter with a name, and the subagent's
// instructions.
type agentFile struct {
	name, about, model, text string
	tools                    []string
}

// subagents reads all files in order. Unreadable ones are left out: the dashboard reports their
// errors.
func (b *Box) subagents() []agentFile {
	root, err := os.OpenRoot(b.real)
	if err != nil {
		return nil
	}
	defer root.Close()
	names, err := fs.Glob(root.FS(), agentsFolder+"/*.md")
	if err != nil {
		return nil
	}
	slices.Sort(names)
	var list []agentFile
	for _, name := range names {
		folder, err := root.Open(path.Dir(name))
		if err != nil {
			continue
		}
		data, err := readIn(folder, path.Base(name), maxAgentFile)
		_ = folder.Close() // opened only for reading
		if err != nil {
			continue
		}
		if f, ok := parseAgent(path.Base(name), data); ok {
			list = append(list, f)
		}
	}
	return list
}

func parseAgent(file string, data []byte) (agentFile, bool) {
	doc, err := frontmatter.Parse(data)
	if err != nil {
		return agentFile{}, false
	}
	text := func(key string) string { f, _ := doc.Get(key); return clean.Line(f.Value.Text) }
	f := agentFile{name: text("name"), about: text("description"), model: text("model"), text: doc.Body}
	if f.name == "" {
		f.name = clean.Line(strings.TrimSuffix(file, ".md"))
	}
	if f.model == "inherit" {
		f.model = ""
	}
	list, there := doc.Get("tools")
	if !there || list.Value.Kind == frontmatter.Null {
		return f, true
	}
	f.tools = []string{}
	items := list.Value.Items
	if list.Value.Kind == frontmatter.Scalar {
		for part := range strings.SplitSeq(list.Value.Text, ",") {
			items = append(items, frontmatter.Value{Kind: frontmatter.Scalar, Text: part})
		}
	}
	for _, item := range items {
		if pattern := clean.Line(item.Text); item.Kind == frontmatter.Scalar && pattern != "" {
			f.tools = append(f.tools, pattern)
		}
	}
	return f, true
}

// skill returns a skill's text. Its commands are run as in a task's prompt. The arguments are
// inserted after that, so that they never reach a command. "@" in the text does not include a file.
func (b *Box) skill(ctx context.Context, c call) (Result, error) {
	name := strings.TrimPrefix(strings.TrimSpace(c.Text("skill")), "/")
	s, ok := skill.Read(b.dir, name)
	if !ok {
		return Result{}, fmt.Errorf(textNoSkill, clean.Cut(clean.Line(name), maxShown), b.skills())
	}
	how := skill.How{
		Sandbox: func(cmd *exec.Cmd) func() { return b.o.Sandbox(b.shell.tmp(), cmd) },
		Zone:    config.Lookup(b.o.Env, "TZ"),
	}
	for _, name := range []string{control.SocketVar, control.SessionVar} {
		if value := config.Lookup(b.o.Env, name); value != "" {
			how.Env = append(how.Env, name+"="+value)
		}
	}
	text, args := skill.Expand(ctx, b.dir, how, s.Body), c.Text("args")
	switch {
	case strings.Contains(text, "$ARGUMENTS"):
		text = strings.ReplaceAll(text, "$ARGUMENTS", args)
	case args != "":
		text += "\n\n" + fmt.Sprintf(textArguments, args)
	}
	return Result{Text: fmt.Sprintf(textSkill, path.Dir(s.Path)) + text}, nil
}

// skills returns the names of the available skills.
func (b *Box) skills() string {
	list, _ := skill.List(b.dir) // their errors are shown to the user
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = path.Base(path.Dir(s.Path))
	}
	if len(names) == 0 {
		return textNone
	}
	return clean.Cut(strings.Join(names, ", "), maxListed)
}

// maxListed is how much of a list an answer contains, in characters.
const maxListed = 2000
