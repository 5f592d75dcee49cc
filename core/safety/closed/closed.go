// Package closed owns the list of files and folders that are closed to a model: those with secrets,
// those that belong to the bot, and those that configure programs. The same list applies to tools
// and commands. It must not know who asks, or how a place is kept closed.
package closed

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Kind is why a place is closed.
type Kind int

// The kinds of places.
const (
	Open         Kind = iota
	State             // the bot's own files
	Env               // the user's secrets
	Keys              // keys and logins of programs
	Git               // a repository's own folder
	Engine            // settings of the engine
	Servers           // MCP servers, whose entries may contain keys
	Instructions      // texts that the engine obeys as if the user had typed them
	Settings          // settings of the bot
	Programs          // settings of shells, editors and git, which can name programs to run
	System            // files of the kernel
)

// Where is the depth at which a place applies.
type Where int

// The depths.
const (
	Anywhere  Where = iota // at any depth, even outside the data directory
	BelowData              // at any depth of the data directory
	InData                 // an entry of the data directory itself
	InSystem               // an entry of the file system's root
)

// Place is a closed place. It includes everything below it.
type Place struct {
	Kind  Kind
	Where Where
	Names []string // names of one path element, in lower case, with at most one *
}

// Places lists all closed places. A token that was read stays in the conversation, and writing a
// program's configuration bypasses every decision about the model.
var Places = [...]Place{
	{State, InData, []string{"state"}},
	{Env, Anywhere, []string{".env", ".env*"}},
	{Git, Anywhere, []string{".git"}},
	{Engine, Anywhere, []string{".claude", ".claude.json"}},
	{Servers, Anywhere, []string{".mcp.json"}},
	{Instructions, Anywhere, []string{"claude.md", "claude.local.md"}},
	{Settings, InData, []string{"tool-policy.yaml", "prices.yaml", "providers.yaml", "keys.yaml"}},
	{Keys, Anywhere, []string{
		".ssh", ".gnupg", ".aws", ".kube", ".netrc", ".npmrc", ".pgpass", ".git-credentials", "authorized_keys",
		"*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "id_rsa*", "id_ed25519*", "id_ecdsa*", "id_dsa*",
		"credentials*.json", ".credentials*", "token*.json",
	}},
	{Programs, Anywhere, []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".gitconfig",
	}},
	{Programs, BelowData, []string{".gitattributes", ".gitignore", ".gitmodules", ".vscode", ".idea"}},
	// Their contents differ for each process that reads them, and include its environment and its
	// open files.
	{System, InSystem, []string{"proc", "dev", "sys"}},
}

// public lists files that match a name of Keys but are not secret: the certificates of the web's
// authorities.
var public = []string{"cacert.pem", "ca-bundle.pem", "ca-certificates.pem"}

// Holds reports whether a path, given as its folded elements, is in the place. within means that
// the path is relative to the data directory.
func (p Place) Holds(elements []string, within bool) bool {
	switch {
	case p.Where == Anywhere, p.Where == BelowData && within:
		return slices.ContainsFunc(elements, p.has)
	case len(elements) == 0:
		return false
	}
	return (p.Where == InData && within || p.Where == InSystem && !within) && p.has(elements[0])
}

func (p Place) has(name string) bool {
	if slices.Contains(public, name) {
		return false
	}
	return slices.ContainsFunc(p.Names, func(pattern string) bool {
		before, after, wild := strings.Cut(pattern, "*")
		if !wild {
			return name == pattern
		}
		return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
	})
}

// Of returns why a file of the data directory is closed, by the last matching name. rel is its path
// in the directory, with slashes.
func Of(rel string) Kind {
	folder, name := path.Split(rel)
	folded := []string{Fold(name)}
	for _, p := range Places {
		if (folder == "" || p.Where == Anywhere || p.Where == BelowData) && p.Holds(folded, true) {
			return p.Kind
		}
	}
	return Open
}

// Secret reports whether a file of the data directory contains a secret that no tool may read. rel
// is its path in the directory, with slashes.
func Secret(rel string) bool {
	elements := strings.Split(Fold(rel), "/")
	return slices.ContainsFunc(Places[:], func(p Place) bool { return p.Kind.Secret() && p.Holds(elements, true) })
}

// Secret reports whether files of this kind contain secrets.
func (k Kind) Secret() bool { return k == Env || k == Keys }

// Fold returns a name as seen by file systems that ignore case, invisible characters, or dots and
// spaces at the end.
func Fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, name)
	return strings.TrimRight(name, " .")
}
