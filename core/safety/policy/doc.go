// Package policy decides what the agent's tools may do: tool patterns, tool-policy.yaml, permission
// modes, approvals, the closed places of the data directory, and the rights of the files that
// agents write. It must not know forks, conversations, surfaces or engines.
//
// Start with session.go: judge answers one call. Patterns and lists are in patterns.go and
// shell.go, closed places in paths.go and search.go, untrusted input in taint.go, and the rights of
// written files in grants.go, authors.go, running.go and provenance.go; before.go keeps the texts
// that stay in force while edits wait.
//
// # A tool call
//
// The hook (Session.PreTool) and the permission callback (Session.Permission) precede every tool
// call. Both ask Session.judge, which checks protected paths, the patterns of the run (command
// lines parsed as bash parses them), what the user allowed for this process, the permission mode,
// and what a written task, skill or webhook would contain. A call that is still undecided waits in
// the approval queue: the first answer from any surface counts, and after a minute without one the
// call is denied.
//
// # Rights are bound to bytes
//
// The author of a task is recorded by the digest of the file's bytes, not by its path. So a move, a
// link, a copy or another spelling changes nothing, and a change by the user makes the bytes
// theirs. The digest is recorded before the file exists, so that the schedule never sees a version
// of unknown origin. Whether a task waits for approval is derived from that and from the author's
// rights on every check, so there is no second file to keep consistent. The decision is repeated
// when a task fires (Guard.Bound): a pattern counts only if it is provably covered by one of the
// author's. `ollim-bot allow` is not a subcommand of `reminder`, because the agent may run those.
//
// # The bot's own globs
//
// In tool patterns, ** matches anything, even part of a name: ./**.md is every Markdown file at any
// depth, as in the original program. doublestar lets ** match only whole path elements, so such a
// list would forbid what it allows. tool-policy.yaml is parsed with positions and not into structs:
// every problem is reported with its line, and a bad pattern leaves the others in force.
package policy
