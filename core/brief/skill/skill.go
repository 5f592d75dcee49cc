// Package skill owns the user's skills: skills/NAME/SKILL.md, texts that a task adds to
// its prompt, with the tools they need. It reads and checks them, and runs the commands
// in their texts. It never writes, and must not know prompts, runs or the final tools of
// a run.
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

// The location of skills in the data directory.
const (
	Folder = "skills"
	File   = "SKILL.md"
)

// maxFile is the maximum size of a SKILL.md in bytes, because all of it goes into a prompt.
// Anything larger belongs in files next to it.
const maxFile = 256 << 10

// Skill is the content of a skill. All text is cleaned.
type Skill struct {
	Name        string // from the file; tasks use the folder's name
	Description string // one line
	Body        string // with its commands, which Expand runs
	// Tools are the patterns of allowed-tools, unchecked; see the function Tools.
	Tools []string
	Path  string // relative to the data directory, with forward slashes
	// Digest identifies the version of the file.
	Digest string
}

// List reads all skills, sorted by folder. Files and folders without SKILL.md are ignored. An
// unusable skill is left out and reported as an error; the others may have warnings.
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

// Read reads the skill in a folder. It returns false if the skill is missing or unusable, and
// for a name that is not a plain folder.
func Read(d *store.Dir, name string) (Skill, bool) {
	root, err := os.OpenRoot(d.Path(Folder))
	if err != nil {
		return Skill{}, false
	}
	defer root.Close()
	s, _, ok := readIn(root, name)
	return s, ok
}

// Load reads the named skills in the order of the list, each once, and skips those that Read
// does not find.
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

// Tools returns the patterns of the skills, each once, in order. Patterns that allow everything
// (an error of routines.CheckTool) are left out: a skill may be someone else's.
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

// readIn reads one folder of skills/. False without a problem means that there is no skill.
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
	return Parse(name, data)
}

// single reports whether a name is a single folder name.
func single(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, `/\`) && clean.Line(name) == name
}

var (
	errNotPlain = errors.New("not an ordinary file")
	errTooLarge = errors.New("larger than 256 KiB")
)

// readFile reads a regular file within root of at most maxFile bytes, even through links.
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

// Parse parses a SKILL.md as if it were in that folder. It returns false if the front matter is
// invalid or lacks the name or the description.
func Parse(folder string, data []byte) (Skill, []routines.Problem, bool) {
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

// required returns a key's text on one line; a missing one is an error.
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

// tools returns the list of patterns. An invalid item is left out with a warning. Patterns
// that Tools will leave out get their warning here, where the position is known.
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

// unreadable is an error of a whole file.
func unreadable(file string, err error) []routines.Problem {
	return fileProblem(file, fmt.Sprintf(textUnreadable, store.Bare(err)))
}

func fileProblem(file, message string) []routines.Problem {
	return []routines.Problem{{File: file, Severity: routines.Error, Message: clean.Line(message)}}
}
