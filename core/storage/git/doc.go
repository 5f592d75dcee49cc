// Package git records files of the data directory in a git repository. It owns the queue of commits
// and how git is run: with settings that keep it from starting other programs. It must not know
// what the files mean, and callers never wait for it.
//
// # Plumbing only
//
// A queued `git rm` once deleted a file that had been written again. Commits are made from blobs
// that this package reads itself, in a separate index (hash-object, update-index --index-info,
// write-tree, commit-tree). Git never sees the work tree, so it can neither change it nor run a
// filter on it.
package git
