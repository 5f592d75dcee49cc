package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // git names its objects so
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CatchUp queues commits of a folder's .md files that have changed since the last commit, because
// they were pending when the process was killed. Missing files count as removed. Of the others only
// the bot's own are committed, because the user commits their own changes.
func (g *Recorder) CatchUp(ctx context.Context, folder string, ours func(data []byte) bool) error {
	r, inside, ok := g.locate(folder)
	if info, err := os.Lstat(g.dir.Path(folder)); !ok || err != nil || !info.IsDir() {
		return nil //nolint:nilerr // there is nothing to commit
	}
	committed, err := r.blobs(ctx, inside)
	if err != nil {
		return fmt.Errorf("compare %s with its history: %w", folder, err)
	}
	for path := range committed {
		rel := folder + strings.TrimPrefix(path, inside)
		if _, err := os.Lstat(g.dir.Path(rel)); os.IsNotExist(err) {
			g.Remove(rel, "remove "+rel)
		}
	}
	return fs.WalkDir(os.DirFS(g.dir.Root()), folder, func(rel string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil || !e.Type().IsRegular() || filepath.Ext(rel) != ".md" {
			return ctx.Err() // a file that cannot be read is skipped
		}
		data, err := g.dir.Read(rel)
		if err == nil && !isBlob(data, committed[inside+strings.TrimPrefix(rel, folder)]) && ours(data) {
			g.Add(rel, "write "+rel)
		}
		return nil
	})
}

// blobs returns the .md files of a folder in the last commit with their hashes, and those that an
// interrupted commit has only staged, with an empty hash.
func (r repo) blobs(ctx context.Context, folder string) (map[string]string, error) {
	found := map[string]string{}
	head, err := r.head(ctx)
	if err != nil {
		return nil, err
	}
	staged, err := r.run(ctx, call{env: []string{"GIT_LITERAL_PATHSPECS=1"}}, "ls-files", "-z", "--", folder+"/")
	if err != nil {
		return nil, err
	}
	for path := range strings.SplitSeq(staged, "\x00") {
		if filepath.Ext(path) == ".md" {
			found[path] = ""
		}
	}
	if head.commit == "" {
		return found, nil
	}
	out, err := r.run(ctx, call{}, "ls-tree", "-r", "-z", head.commit, "--", folder+"/")
	for entry := range strings.SplitSeq(out, "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); len(fields) == 3 && fields[1] == "blob" && filepath.Ext(path) == ".md" {
			found[path] = fields[2]
		}
	}
	return found, err
}

// isBlob reports whether name is the hash of data as a blob, in either hash format.
func isBlob(data []byte, name string) bool {
	h := sha1.New() //nolint:gosec // as above
	if len(name) == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	_, _ = fmt.Fprintf(h, "blob %d\x00%s", len(data), data) // a hash never fails
	return name == hex.EncodeToString(h.Sum(nil))
}
