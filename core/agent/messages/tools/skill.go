package tools

import (
	"context"
	"fmt"
	"os/exec"
	"path"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/config"
	"ollimbot/core/control"
	"ollimbot/core/skill"
)

// skill answers with a skill's text. Its commands are run as in a task's prompt; the
// words that it is called with are put in behind that, so that they never reach a
// command. A file that the text names with an "@" is not read.
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

// skills are the names of those that there are.
func (b *Box) skills() string {
	list, _ := skill.List(b.dir) // what is wrong with them is shown to the user
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = path.Base(path.Dir(s.Path))
	}
	if len(names) == 0 {
		return textNone
	}
	return clean.Cut(strings.Join(names, ", "), maxListed)
}

// maxListed is how much of a list an answer holds, in characters.
const maxListed = 2000
