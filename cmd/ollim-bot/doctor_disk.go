package main

import (
	"io/fs"
	"os"
	"path/filepath"

	"ollimbot/core/words"
)

// kept are the parts of the data directory that grow, with what bounds them: the
// table of docs/data-directory.md.
var kept = []struct{ label, glob, rule string }{
	{"history", ".git", "git: packed when it pays; about 50 MB a year at 100 runs a day"},
	{"log", "state/bot.log*", "two files of 1 MB"},
	{"runs", "state/fork_runs.jsonl", "shortened to 1 MB beyond 4 MB"},
	{"output of runs", "state/forks", "the newest 200 runs, 64 MB at most"},
	{"deliveries", "state/webhooks.jsonl", "shortened beyond 1 MB"},
	{"conversation", "state/transcript.jsonl", "shortened to 0.5 MB beyond 1 MB"},
	{"pings", "state/pings.jsonl", "shortened beyond 1 MB"},
	{"sessions", "state/session_history.jsonl", "kept; about 8 MB a year at 100 runs a day"},
	{"trash", "state/trash", "a day"},
	{"set aside", "state/*.corrupt-*", "30 days"},
	{"downloads", "downloads", "kept until you remove them"},
}

// checkDisk tells how much room each part takes. Nothing here is a failure: what
// has a limit keeps to it by itself.
func checkDisk(r *report, at place) {
	for _, k := range kept {
		// The root may hold what a pattern is made of.
		paths, err := fs.Glob(os.DirFS(at.dir.Root()), k.glob)
		if err != nil {
			continue
		}
		var size int64
		for _, path := range paths {
			size += sizeOf(at.dir.Path(path))
		}
		r.add(pass, k.label, "%s; %s", words.Bytes(size), k.rule)
	}
}

// sizeOf is the size of a file, or of all files below a folder; what cannot be
// looked at counts as nothing.
func sizeOf(path string) (sum int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // it counts as nothing
		}
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
