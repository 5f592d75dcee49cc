package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// gitApart is how many changes get a commit each; more than these came in a
// burst and become one.
const gitApart = 4

// gitIndex begins the names of the indexes that commits are made in.
const gitIndex = "ollim-bot-"

// repo is a repository that holds files of ours.
type repo struct {
	git  *Git
	root string // absolute
}

func (r repo) meta(name string) string { return filepath.Join(r.root, ".git", name) }

// locate finds the repository of a file, and the file's path in it: the nearest
// parent with a .git directory. A link on the way is followed as long as it
// stays in the data directory.
func (g *Git) locate(rel string) (r repo, path string, ok bool) {
	if local(rel) != nil {
		return r, "", false
	}
	abs := g.dir.Path(rel)
	if folder, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		root, err := filepath.EvalSymlinks(g.dir.root)
		if err != nil {
			return r, "", false
		}
		if inside, err := filepath.Rel(root, folder); err != nil || !filepath.IsLocal(inside) {
			return r, "", false
		}
		abs = filepath.Join(folder, filepath.Base(abs))
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, ".git")); err == nil && info.IsDir() {
			path, err := filepath.Rel(dir, abs)
			return repo{git: g, root: dir}, filepath.ToSlash(path), err == nil
		}
		if dir == filepath.Dir(dir) {
			return r, "", false
		}
	}
}

// commit records the changes as the files are on disk now, and nothing else
// that may be staged. The index of the user is brought up to date first: should
// the rest fail, the files are staged, which a later try commits.
func (r repo) commit(ctx context.Context, changes []change) error {
	if err := r.free(); err != nil {
		return err
	}
	changes, err := r.withoutIgnored(ctx, changes)
	if err != nil || len(changes) == 0 {
		return err
	}
	entries := make([]string, len(changes))
	for i, c := range changes {
		if entries[i], err = r.entry(ctx, c.path); err != nil {
			return fmt.Errorf("record %s: %w", c.rel, err)
		}
	}
	if err := r.updateIndex(ctx, "", entries); err != nil {
		return err
	}
	head, err := r.head(ctx)
	if err != nil {
		return err
	}
	tip, last, err := r.grow(ctx, head, changes, entries)
	if err != nil || tip == head.commit {
		return err // nothing changed: files written as they were, or never known to git
	}
	old := head.commit
	if old == "" {
		old = strings.Repeat("0", len(tip))
	}
	_, err = r.run(ctx, call{}, "update-ref", "-m", "commit: "+last, "HEAD", tip, old)
	return r.orBusy(err)
}

// grow makes the commits and returns the last of them with its subject.
func (r repo) grow(ctx context.Context, head tip, changes []change, entries []string) (commit, subject string, err error) {
	index := r.meta(gitIndex + NewID() + ".index")
	defer func() { _ = os.Remove(index) }() // a leftover harms nobody, and Tidy removes it
	if head.commit != "" {
		if _, err := r.run(ctx, call{index: index}, "read-tree", head.commit); err != nil {
			return "", "", err
		}
	}
	each := 1
	if len(changes) > gitApart {
		each = len(changes)
	}
	who := r.author(ctx)
	for at := 0; at < len(changes); at += each {
		part := changes[at : at+each]
		if err := r.updateIndex(ctx, index, entries[at:at+each]); err != nil {
			return "", "", err
		}
		tree, err := r.run(ctx, call{index: index}, "write-tree")
		if err != nil {
			return "", "", err
		}
		if tree == head.tree || head.tree == "" && r.emptyTree(tree) {
			continue
		}
		args := []string{"commit-tree", tree, "--no-gpg-sign"}
		if head.commit != "" {
			args = append(args, "-p", head.commit)
		}
		message := says(part, entries[at:])
		commit, err := r.run(ctx, call{stdin: message, env: who}, append(args, "-F", "-")...)
		if err != nil {
			return "", "", err
		}
		head = tip{commit, tree}
		subject, _, _ = strings.Cut(message, "\n")
	}
	return head.commit, subject, nil
}

// says is the message of one commit.
func says(part []change, entries []string) string {
	lines := make([]string, len(part))
	for i, c := range part {
		switch gone := strings.HasPrefix(entries[i], "0 "); {
		case gone && c.removed != "":
			lines[i] = c.removed
		case gone:
			lines[i] = "remove " + c.rel
		case c.added != "":
			lines[i] = c.added
		default:
			lines[i] = "auto: write " + c.rel
		}
	}
	if len(lines) == 1 {
		return lines[0]
	}
	return fmt.Sprintf("%d changes\n\n%s\n", len(lines), strings.Join(lines, "\n"))
}

// tip is a commit and its tree, both empty before the first commit.
type tip struct{ commit, tree string }

func (r repo) head(ctx context.Context) (tip, error) {
	out, err := r.run(ctx, call{}, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if saidNo(err) {
		return tip{}, nil // no commit yet
	}
	if err != nil {
		return tip{}, err
	}
	tree, err := r.run(ctx, call{}, "rev-parse", "--verify", "--quiet", out+"^{tree}")
	return tip{out, tree}, err
}

// emptyTree recognises the tree without files, of either kind of hash.
func (r repo) emptyTree(tree string) bool {
	return tree == "4b825dc642cb6eb9a060e54bf8d69288fbee4904" ||
		tree == "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
}

// entry is a line for update-index: what a path holds at this moment.
func (r repo) entry(ctx context.Context, path string) (string, error) {
	abs := filepath.Join(r.root, filepath.FromSlash(path))
	info, err := os.Lstat(abs)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Sprintf("0 %s\t%s", strings.Repeat("0", 40), path), nil
	}
	if err != nil {
		return "", Bare(err)
	}
	var mode, content string
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		mode = "120000"
		content, err = os.Readlink(abs)
	case info.Mode()&0o100 != 0:
		mode = "100755"
		content, err = readText(abs)
	default:
		mode = "100644"
		content, err = readText(abs)
	}
	if err != nil {
		return "", Bare(err)
	}
	hash, err := r.run(ctx, call{stdin: content}, "hash-object", "-w", "--no-filters", "--stdin")
	return fmt.Sprintf("%s %s\t%s", mode, hash, path), err
}

func readText(path string) (string, error) {
	data, err := readRegular(path)
	return string(data), err
}

// updateIndex puts entries into an index, the user's where none is named.
func (r repo) updateIndex(ctx context.Context, index string, entries []string) error {
	_, err := r.run(ctx, call{index: index, stdin: strings.Join(entries, "\x00") + "\x00"}, "update-index", "-z", "--index-info")
	return r.orBusy(err)
}

// withoutIgnored leaves out new files that the user has told git to ignore.
func (r repo) withoutIgnored(ctx context.Context, changes []change) ([]change, error) {
	var paths strings.Builder
	for _, c := range changes {
		paths.WriteString("./" + c.path + "\x00") // a name that begins with a colon is no pattern then
	}
	out, err := r.run(ctx, call{stdin: paths.String()}, "check-ignore", "-z", "--stdin")
	if saidNo(err) {
		return changes, nil // none is
	}
	if err != nil {
		return nil, err
	}
	ignored := map[string]bool{}
	for path := range strings.SplitSeq(out, "\x00") {
		ignored[path] = true
	}
	var kept []change
	for _, c := range changes {
		if !ignored["./"+c.path] {
			kept = append(kept, c)
		}
	}
	return kept, nil
}
