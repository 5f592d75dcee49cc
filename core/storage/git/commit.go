package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/storage/store"
)

// maxSeparate is how many changes get a commit each. If there are more, they become one commit.
const maxSeparate = 4

const (
	// indexPrefix is the prefix of temporary indexes and of noted changes.
	indexPrefix = "ollim-bot-"
	// indexAge is the age above which such a file counts as left behind by a crash.
	indexAge = 10 * time.Minute
)

// removeOldIndexes removes temporary files of a crash from a .git folder.
func removeOldIndexes(folder string) {
	names, _ := filepath.Glob(filepath.Join(globbed(folder), indexPrefix+"*")) // the pattern is well formed
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) >= indexAge {
			_ = os.Remove(name) // a leftover is harmless
		}
	}
}

// commit records the current files of the changes, and nothing else that may be staged. It
// updates the user's index first: if the rest fails, the files are staged, and the next try
// commits them.
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
		if entries[i], err = r.entry(ctx, c); err != nil {
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
		return err // nothing changed: the same content, or files that git never tracked
	}
	old := head.commit
	if old == "" {
		old = strings.Repeat("0", len(tip))
	}
	_, err = r.run(ctx, call{}, "update-ref", "-m", "commit: "+last, "HEAD", tip, old)
	return r.orBusy(err)
}

// grow creates the commits and returns the last one with its subject.
func (r repo) grow(ctx context.Context, head tip, changes []change, entries []string) (commit, subject string, err error) {
	index := r.meta(indexPrefix + store.NewID() + ".index")
	defer func() { _ = os.Remove(index) }() // Init removes leftovers
	if head.commit != "" {
		if _, err := r.run(ctx, call{index: index}, "read-tree", head.commit); err != nil {
			return "", "", err
		}
	}
	each := 1
	if len(changes) > maxSeparate {
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
		if tree == head.tree || head.tree == "" && isEmptyTree(tree) {
			continue
		}
		args := []string{"commit-tree", tree, "--no-gpg-sign"}
		if head.commit != "" {
			args = append(args, "-p", head.commit)
		}
		message := messageOf(part, entries[at:])
		commit, err := r.run(ctx, call{stdin: message, env: who}, append(args, "-F", "-")...)
		if err != nil {
			return "", "", err
		}
		head = tip{commit, tree}
		subject, _, _ = strings.Cut(message, "\n")
	}
	return head.commit, subject, nil
}

// messageOf returns the message of one commit.
func messageOf(part []change, entries []string) string {
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

// isEmptyTree recognizes the empty tree, in either hash format.
func isEmptyTree(tree string) bool {
	return tree == "4b825dc642cb6eb9a060e54bf8d69288fbee4904" ||
		tree == "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
}

// entry returns a line for update-index with the current mode and content of a path.
func (r repo) entry(ctx context.Context, c change) (string, error) {
	abs := filepath.Join(r.root, filepath.FromSlash(c.path))
	info, err := os.Lstat(abs)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Sprintf("0 %s\t%s", strings.Repeat("0", 40), c.path), nil
	}
	if err != nil {
		return "", store.Bare(err)
	}
	var content []byte
	mode := "100644"
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		target, err = os.Readlink(abs)
		mode, content = "120000", []byte(target)
	case info.Mode()&0o100 != 0:
		mode = "100755"
		fallthrough
	default:
		content, err = store.ReadFile(abs)
	}
	if err != nil {
		return "", store.Bare(err)
	}
	hash, err := r.run(ctx, call{stdin: string(content)}, "hash-object", "-w", "--no-filters", "--stdin")
	return fmt.Sprintf("%s %s\t%s", mode, hash, c.path), err
}

// updateIndex adds entries to an index; "" means the user's.
func (r repo) updateIndex(ctx context.Context, index string, entries []string) error {
	_, err := r.run(ctx, call{index: index, stdin: strings.Join(entries, "\x00") + "\x00"}, "update-index", "-z", "--index-info")
	return r.orBusy(err)
}

// withoutIgnored drops new files that .gitignore excludes.
func (r repo) withoutIgnored(ctx context.Context, changes []change) ([]change, error) {
	var paths strings.Builder
	for _, c := range changes {
		paths.WriteString("./" + c.path + "\x00") // so that a leading colon is not special
	}
	out, err := r.run(ctx, call{stdin: paths.String()}, "check-ignore", "-z", "--stdin")
	if saidNo(err) {
		return changes, nil // no files are ignored
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
