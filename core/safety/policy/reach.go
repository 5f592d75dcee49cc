package policy

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// docsPrefix begins the names of the tools that show this program's own documentation.
const docsPrefix = "mcp__docs__"

// downloadFolder contains files that others sent.
const downloadFolder = "downloads"

// maxLabeled is how many labeled files are told apart. With more of them, every search and
// every command counts as reading one.
const maxLabeled = 5_000

// reads returns the label of what a call can reach, however it is written: a file by its
// label, a search by the files that it may visit, a command by the labeled files that it can
// see and by the network. The bot's own commands are labeled by what they return
// (Session.Reads).
func (g *Guard) reads(x call) label.Label {
	switch {
	case x.tool == "WebFetch" || x.tool == "WebSearch":
		return label.From(labelWeb)
	case x.tool == "Read":
		return g.fileLabel(x.path)
	case x.tool == "Grep" || x.tool == "Glob":
		return g.searchLabel(x)
	case x.command != "":
		return g.commandLabel(x)
	case strings.HasPrefix(x.Name, toolset.Prefix), strings.HasPrefix(x.Name, docsPrefix):
		return ""
	}
	if server, ok := strings.CutPrefix(x.Name, "mcp__"); ok {
		name, _, _ := strings.Cut(server, "__")
		return label.From(fmt.Sprintf(labelServer, clean.Line(name)))
	}
	return ""
}

// commandLabel returns the label of what a command can reach.
func (g *Guard) commandLabel(x call) label.Label {
	if list, ok := words(x.arg); x.tool == "Bash" && ok && list[0] == ownProgram {
		if len(list) > 1 && list[1] == ownMail {
			return label.From(labelMail)
		}
		return ""
	}
	if g.o.Network() {
		return label.From(labelNetwork)
	}
	for _, f := range g.labeled() {
		return f.label.Via(labelCommand)
	}
	return ""
}

// searchLabel returns the label of the first labeled file that a search may visit.
func (g *Guard) searchLabel(x call) label.Label {
	folders, ok := g.tree.places(x.folder)
	if x.folder == "" {
		folders, ok = []string{g.tree.root}, true
	}
	for _, f := range g.labeled() {
		full := filepath.Join(g.tree.root, filepath.FromSlash(f.rel))
		if !ok || f.rel == "" {
			return f.label
		}
		for _, folder := range folders {
			rel, err := filepath.Rel(folder, full)
			if err == nil && filepath.IsLocal(rel) && mayVisit(x, filepath.ToSlash(rel)) {
				return f.label
			}
		}
	}
	return ""
}

// mayVisit reports whether a search with the call's glob may visit a file, by its path from
// the folder of the search. A glob that is more than names, * and ? may visit anything.
func mayVisit(x call, rel string) bool {
	glob := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(x.arg)), "./")
	if x.arg == "" || rel == "." || strings.ContainsAny(x.arg, "!{}[],\\ \t\r\n") || strings.HasPrefix(glob, "..") || filepath.IsAbs(glob) || strings.HasPrefix(glob, "~") {
		return true
	}
	match := routines.Glob(strings.ToLower(glob))
	for rest, more := strings.ToLower(rel), true; more; _, rest, more = strings.Cut(rest, "/") {
		if match.MatchString(rest) {
			return true
		}
		if x.tool == "Glob" {
			return false // it matches whole paths only
		}
	}
	return false
}

// labeledFile is a file of the data directory with untrusted content.
type labeledFile struct {
	rel   string // "" stands for any file
	label label.Label
}

// labeled lists the files with labels: those in downloads, and those that a labeled session
// wrote, as long as they have the bytes that it wrote.
func (g *Guard) labeled() []labeledFile {
	list := g.downloads()
	for digest, o := range g.provenance.labeled() {
		if data, err := g.o.Dir.Read(o.Path); err == nil && routines.Digest(data) == digest {
			list = append(list, labeledFile{o.Path, o.Writer.Label})
		}
	}
	return list
}

// downloads lists the files in the folder of downloads.
func (g *Guard) downloads() []labeledFile {
	var list []labeledFile
	for _, e := range g.entries("") {
		if !strings.EqualFold(e.Name(), downloadFolder) {
			continue
		}
		root := g.o.Dir.Path(e.Name())
		err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case len(list) > maxLabeled:
				return fs.SkipAll
			case !d.IsDir():
				rel, _ := g.tree.within(at)
				list = append(list, labeledFile{rel, download(rel)})
			}
			return nil
		})
		if err != nil || len(list) > maxLabeled {
			return []labeledFile{{"", label.From(labelDownloads)}}
		}
	}
	return list
}

func download(rel string) label.Label {
	return label.From(fmt.Sprintf(labelDownload, path.Base(rel)))
}

// fileLabel returns the label of a file, by its path, through its links, as another name of
// a labeled file, or by the bytes that a labeled session wrote.
func (g *Guard) fileLabel(file string) label.Label {
	places, ok := g.tree.places(file)
	if !ok {
		return label.From(labelUnknown)
	}
	for _, full := range append(places, g.tree.absolute(file)) {
		rel, inside := g.tree.within(full)
		first, _, _ := strings.Cut(rel, "/")
		if inside && strings.EqualFold(first, downloadFolder) {
			return download(rel)
		}
		if info, err := os.Stat(full); err == nil && otherNames(info) {
			for _, f := range g.labeled() {
				if other, err := os.Stat(g.o.Dir.Path(f.rel)); err == nil && os.SameFile(info, other) {
					return f.label
				}
			}
		}
		if data, err := g.o.Dir.Read(rel); inside && err == nil {
			if l := g.bytesLabel(routines.Digest(data)); l != "" {
				return l
			}
		}
	}
	return ""
}

// otherNames reports whether a file has other names.
func otherNames(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && !info.IsDir() && s.Nlink > 1
}

// bytesLabel returns the label of bytes that an agent wrote and the user has not approved.
func (g *Guard) bytesLabel(digest string) label.Label {
	o, known := g.provenance.Find(digest)
	if !known || !o.Approved.IsZero() {
		return ""
	}
	return o.Writer.Label
}

// TaskLabel returns the label of a task's file and of its skills, "" if all of them are the
// user's own or approved.
func (g *Guard) TaskLabel(t routines.Task) label.Label {
	l := g.bytesLabel(t.Digest)
	for _, name := range t.Skills {
		if s, ok := g.skill(name); ok {
			l = label.Join(l, g.bytesLabel(s.Digest))
		}
	}
	return l
}

// labelFile records the label of a file that a call is about to write.
func (s *Session) labelFile(x call) error {
	if s.Label() == "" || !writes(x.tool) {
		return nil
	}
	rel, data, ok := s.g.proposed(x)
	if !ok {
		return nil // its bytes are known once it is written
	}
	return s.labelBytes(rel, data)
}

func (s *Session) labelBytes(rel string, data []byte) error {
	return s.g.provenance.record(routines.Digest(data), Origin{Path: rel, Writer: s.Writer(), At: time.Now()})
}

// labelWritten records the labels of files that a call of this session has written since a
// time: one file, or for a command every file of the data directory that has changed.
func (s *Session) labelWritten(x call, since time.Time) {
	if s.Label() == "" {
		return
	}
	var rels []string
	if writes(x.tool) {
		rels = s.g.rels(x.path)
	} else if x.command != "" && !since.IsZero() {
		rels = s.g.changedFiles(since)
	}
	for _, rel := range rels {
		data, err := s.g.o.Dir.Read(rel)
		if err == nil {
			err = s.labelBytes(rel, data)
		}
		if err != nil {
			s.g.o.Log.Error("label of a file not recorded", "file", rel, "error", err)
		}
	}
}

// changedFiles lists the files of the data directory, outside of the bot's own, that have
// changed since a time.
func (g *Guard) changedFiles(since time.Time) []string {
	var list []string
	_ = filepath.WalkDir(g.tree.root, func(at string, d fs.DirEntry, err error) error {
		rel, inside := g.tree.within(at)
		switch {
		case err != nil: // it is gone, or closed to the bot itself
			return nil
		case d.IsDir() && (rel == store.StateDir || rel == ".git" || rel == downloadFolder):
			return fs.SkipDir
		case !inside || !d.Type().IsRegular() || len(list) > maxLabeled:
			return nil
		}
		if changed, ok := g.changedAt(rel); ok && !changed.Before(since.Add(-stampSlack)) {
			list = append(list, rel)
		}
		return nil
	})
	return list
}
