// Package skill owns the user's skills: skills/NAME/SKILL.md, texts that a
// task takes into its prompt, with the tools that they need. It
// reads them, says what is wrong with them, and runs the commands whose output
// stands in their texts. It never writes, and it must not know prompts, runs or
// which tools a run ends up with.
package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// Where skills lie in the data directory.
const (
	Folder = "skills"
	File   = "SKILL.md"
)

// maxFile is the largest SKILL.md that is read, in bytes: all of it would go
// into a prompt. What is larger belongs into files beside it.
const maxFile = 256 << 10

// Skill is one skill as its file tells it; all text is cleaned.
type Skill struct {
	Name        string // as the file has it; the folder's name is what tasks refer to
	Description string // one line
	Body        string // with its commands as they are written: Expand runs them
	// Tools are the patterns of allowed-tools, unchecked; see the function Tools.
	Tools []string
	Path  string // relative to the data directory, with forward slashes
	// Digest is that of the file's bytes: which version of it this is.
	Digest string
}

// List reads all skills, sorted by the names of their folders. Plain files and
// folders without SKILL.md are no skills. One that cannot be used is left out
// and told as an error; warnings tell what is odd about the others.
func List(d *store.Dir) ([]Skill, []routines.Problem) {
	root, err := os.OpenRoot(d.Path(Folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(Folder, err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, unreadable(Folder, err)
	}
	var skills []Skill
	var problems []routines.Problem
	for _, e := range entries {
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		s, found, ok := readIn(root, e.Name())
		problems = append(problems, found...)
		if ok {
			skills = append(skills, s)
		}
	}
	return skills, problems
}

// Read reads the skill in the folder of that name. It is false for one that is
// missing or cannot be used, and for a name that would lead anywhere else.
func Read(d *store.Dir, name string) (Skill, bool) {
	root, err := os.OpenRoot(d.Path(Folder))
	if err != nil {
		return Skill{}, false
	}
	defer root.Close()
	s, _, ok := readIn(root, name)
	return s, ok
}

// Load reads the named skills in the order of their names in the list, each
// once. Those that Read does not find are left out.
func Load(d *store.Dir, names []string) []Skill {
	var skills []Skill
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		if s, ok := Read(d, name); ok {
			skills = append(skills, s)
		}
	}
	return skills
}

// Tools are the patterns that the skills bring to a run, each once, in order.
// One that would hand over everything (an error to routines.CheckTool) is left
// out: a skill may come from a stranger.
func Tools(skills []Skill) []string {
	var tools []string
	for _, s := range skills {
		for _, pattern := range s.Tools {
			if severity, _ := routines.CheckTool(pattern); severity != routines.Error && !slices.Contains(tools, pattern) {
				tools = append(tools, pattern)
			}
		}
	}
	return tools
}

// readIn reads one folder of skills/. Not ok without a problem means that
// there is no skill.
func readIn(root *os.Root, name string) (Skill, []routines.Problem, bool) {
	file := Folder + "/" + clean.Line(name) + "/" + File
	if !single(name) {
		return Skill{}, fileProblem(file, textFolderName), false
	}
	data, err := readFile(root, name+"/"+File)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Skill{}, nil, false
	case err != nil:
		return Skill{}, unreadable(file, err), false
	}
	return parse(name, data)
}

// single reports whether a name is one folder and nothing else.
func single(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, `/\`) && clean.Line(name) == name
}

var (
	errNotPlain = errors.New("not an ordinary file")
	errTooLarge = errors.New("larger than 256 KiB")
)

// readFile reads a file that lies within root wherever its links lead, and
// refuses what would hang (a pipe) or is too large.
func readFile(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotPlain
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		return nil, errTooLarge
	}
	return data, err
}

// Parse reads the bytes of a SKILL.md as they would count in the folder of that
// name; false for a file that cannot be used.
func Parse(folder string, data []byte) (Skill, bool) {
	s, _, ok := parse(folder, data)
	return s, ok
}

// parse reads the file of the skill in that folder. It is not ok where the
// front matter cannot be read or lacks the name or the description.
func parse(folder string, data []byte) (Skill, []routines.Problem, bool) {
	path := Folder + "/" + folder + "/" + File
	p, ok := routines.Open("skill", path, data)
	if !ok {
		return Skill{}, p.Problems(), false
	}
	s := Skill{
		Path: path, Digest: routines.Digest(data), Body: strings.TrimSpace(clean.Text(p.Doc.Body)),
		Name: required(p, "name", fmt.Sprintf(textNoName, folder)), Description: required(p, "description", textNoDescription),
	}
	if routines.HasErrors(p.Problems()) {
		return Skill{}, p.Problems(), false
	}
	// A task finds the skill by the folder's name.
	switch f := p.Field("name"); {
	case s.Name != folder:
		p.AddAt(routines.Warning, f, textOtherName, s.Name, folder)
	case strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		p.AddAt(routines.Warning, f, textNameLetters)
	}
	s.Tools = tools(p)
	if s.Body == "" {
		p.Add(routines.Warning, p.Doc.BodyLine, 1, textNoBody)
	}
	return s, p.Problems(), true
}

// required is a key's text in one line; without one it is an error.
func required(p *routines.File, key, missing string) string {
	f := p.Field(key)
	text := clean.Line(f.Value.Text)
	switch {
	case f.Value.Kind == frontmatter.List || f.Value.Kind == frontmatter.Map:
		p.Add(routines.Error, f.Line, f.Column, textNotText, key)
	case text == "":
		p.Add(routines.Error, f.Line, f.Column, "%s", missing)
	}
	return text
}

// tools is the list of patterns. What is no pattern is left out with a warning;
// so will be those that Tools refuses, which is told here where it has a place.
func tools(p *routines.File) []string {
	f := p.Field("allowed-tools")
	switch f.Value.Kind {
	case frontmatter.Null:
		return nil
	case frontmatter.List:
	default:
		p.AddAt(routines.Warning, f, textNotAList)
		return nil
	}
	var tools []string
	for _, item := range f.Value.Items {
		pattern := clean.Line(item.Text)
		if item.Kind != frontmatter.Scalar || pattern == "" {
			p.Add(routines.Warning, item.Line, item.Column, textNotAPattern)
			continue
		}
		switch severity, message := routines.CheckTool(pattern); severity {
		case routines.Error:
			p.Add(routines.Warning, item.Line, item.Column, "%s", message+textLeftOut)
		case routines.Warning:
			p.Add(routines.Warning, item.Line, item.Column, "%s", message)
		}
		tools = append(tools, pattern)
	}
	return tools
}

// unreadable is an error that means all of a file.
func unreadable(file string, err error) []routines.Problem {
	return fileProblem(file, fmt.Sprintf(textUnreadable, store.Bare(err)))
}

func fileProblem(file, message string) []routines.Problem {
	return []routines.Problem{{File: file, Severity: routines.Error, Message: clean.Line(message)}}
}
