package closed

import "testing"

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
