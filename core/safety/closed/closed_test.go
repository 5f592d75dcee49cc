package closed

import (
	"slices"
	"strings"
	"testing"
)

func TestAPlaceIsClosedByItsNameAtItsDepth(t *testing.T) {
	for rel, want := range map[string]Kind{
		"notes/a.md": Open, "state": State, "notes/state": Open, ".env": Env, "a/b/.ENV.local": Env, "envelope": Open,
		"sub/id_rsa": Keys, "token.json": Keys, "Server.PEM": Keys, "venv/certifi/cacert.pem": Open, "notes/CLAUDE.md": Instructions,
		"notes/claude.local.MD": Instructions, "keys.yaml": Settings, "notes/keys.yaml": Open, ".envrc": Env, "repo/.git": Git,
		"repo/.gitignore": Programs, "a/.bashrc": Programs, ".vscode": Programs, ".claude": Engine, "proc": Open, "x/.env. ": Env,
	} {
		if got := Of(rel); got != want {
			t.Errorf("%s is %d, not %d", rel, got, want)
		}
	}
	for rel, want := range map[string]bool{
		".ssh/config": true, "a/.aws/x/y": true, "notes/CLAUDE.md": false, "state/x": false, "a/token-1.json": true,
		"state/token.json": true, "keys.pem": true, "keys.yaml": false, ".git/config": false, "proc/x": false, ".ENV.local": true,
	} {
		if Secret(rel) != want {
			t.Errorf("%s: %v", rel, !want)
		}
	}
}

// Each name of the table closes its place, at its depth and at no other.
func TestEachNameOfTheTableIsClosedAtItsDepthOnly(t *testing.T) {
	want := map[Kind]string{
		State: "state", Git: ".git", Servers: ".mcp.json", Engine: ".claude .claude.json", Env: ".env .env.local", Instructions: "CLAUDE.md claude.local.md",
		Settings: "tool-policy.yaml prices.yaml providers.yaml keys.yaml",
		Keys: ".ssh .gnupg .aws .kube .netrc .npmrc .pgpass .git-credentials authorized_keys a.pem a.key a.p12 a.pfx a.kdbx id_rsa.old id_ed25519 id_ecdsa id_dsa " +
			"credentials.json credentials-1.json .credentials token.json token-2.json",
		Programs: ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .gitconfig .gitattributes .gitignore .gitmodules .vscode .idea",
	}
	for kind, names := range want {
		for name := range strings.FieldsSeq(names) {
			if got := Of(name); got != kind {
				t.Errorf("%s is %d, not %d", name, got, kind)
			}
			deep := "notes/" + name
			if got := Of(deep); (got == kind) != (kind != State && kind != Settings) {
				t.Errorf("%s is %d", deep, got)
			}
			if got := Secret(deep); got != (kind == Keys || kind == Env) {
				t.Errorf("%s is secret: %v", deep, got)
			}
		}
	}
	holds := func(path string, within bool) bool {
		return slices.ContainsFunc(Places[:], func(p Place) bool {
			return p.Holds(strings.FieldsFunc(path, func(r rune) bool { return r == '/' }), within)
		})
	}
	for path, want := range map[string]bool{
		"home/.env": true, "home/.git": true, "home/.claude/x": true, "home/.mcp.json": true, "home/claude.md": true, "home/.ssh/id": true, "home/.bashrc": true,
		"home/state": false, "state": false, "keys.yaml": false, "home/.gitignore": false, ".vscode": false, "": false,
		"proc/1": true, "dev": true, "sys/x": true, "home/dev": false,
	} {
		if holds(path, false) != want {
			t.Errorf("/%s, outside of the data directory: %v", path, !want)
		}
	}
	if holds("", true) || holds("proc", true) {
		t.Error("the data directory itself is closed, or a name of the kernel's in it")
	}
	for _, open := range []string{"ca-bundle.pem", "ca-certificates.pem", "cacert.pem", "pem", "token.jso", "my-token.json", "id_rs"} {
		if got := Of(open); got != Open {
			t.Errorf("%s is %d", open, got)
		}
	}
}

func TestANameIsFoldedAsFileSystemsSeeIt(t *testing.T) {
	for in, want := range map[string]string{".ENV. .": ".env", ".e\u200bn\x00v": ".env", "\u212aeys.yaml": "keys.yaml", "ſtate": "state", " a": " a"} {
		if got := Fold(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
