package access_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/access"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// public returns a fresh key, and its line.
func public(t testing.TB) (ssh.PublicKey, string) {
	t.Helper()
	p, _, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	key, err := ssh.NewPublicKey(p)
	must(t, err)
	return key, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func TestTheHostKeyIsMadeOnce(t *testing.T) {
	d := storetest.Prepared(t)
	if mark, err := access.Fingerprint(d); err != nil || mark != "" {
		t.Errorf("before there is a key: %q, %v", mark, err)
	}
	one, err := access.HostKey(d)
	must(t, err)
	two, err := access.HostKey(d)
	must(t, err)
	mark, err := access.Fingerprint(d)
	must(t, err)
	if want := ssh.FingerprintSHA256(one.PublicKey()); ssh.FingerprintSHA256(two.PublicKey()) != want || mark != want {
		t.Errorf("the key has changed: %s, %s", want, mark)
	}
	if info, err := os.Stat(d.Path(access.HostKeyFile)); err != nil || info.Mode().Perm() != 0o600 || one.PublicKey().Type() != ssh.KeyAlgoED25519 {
		t.Errorf("%v, %v, %s", info.Mode(), err, one.PublicKey().Type())
	}
	storetest.Put(t, d, access.HostKeyFile, "garbage")
	if _, err := access.HostKey(d); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("a damaged key gives %v", err)
	}
}

func TestOnlyLinesThatAreUnderstoodLetSomebodyIn(t *testing.T) {
	d := storetest.Prepared(t)
	full, fullLine := public(t)
	looks, looksLine := public(t)
	twice, twiceLine := public(t)
	limited, limitedLine := public(t)
	stranger, _ := public(t)
	storetest.Put(t, d, access.KeysFile, strings.Join([]string{
		"# whom I know", "", fullLine + " ada@laptop\x1b[31m", "read-only " + looksLine + " wall", twiceLine, "READ-ONLY " + twiceLine,
		`from="10.0.0.1" ` + limitedLine, "ssh-ed25519 garbage", "what is this",
	}, "\n"))
	must(t, os.Chmod(d.Path(access.KeysFile), 0o600))
	for _, c := range []struct {
		name         string
		key          ssh.PublicKey
		ok, readOnly bool
	}{
		{"a full key", full, true, false},
		{"a read-only key", looks, true, true},
		{"one that stands twice", twice, true, true},
		{"one with another option", limited, false, false},
		{"a stranger", stranger, false, false},
	} {
		if k, ok, err := access.Find(d, c.key); err != nil || ok != c.ok || k.ReadOnly != c.readOnly || strings.Contains(k.Name, "\x1b") {
			t.Errorf("%s: %+v, %v, %v", c.name, k, ok, err)
		}
	}
	_, problems, err := access.Keys(d)
	must(t, err)
	got := strings.Join(problems, "\n")
	for _, want := range []string{"authorized_keys:7: unknown option", "authorized_keys:8: this is no public key", "authorized_keys:9: "} {
		if !strings.Contains(got, want) {
			t.Errorf("the problems lack %q:\n%s", want, got)
		}
	}
	must(t, os.Chmod(d.Path(access.KeysFile), 0o622))
	if _, ok, err := access.Find(d, full); err == nil || ok || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others write lets in: %v, %v", ok, err)
	}
}

func dials(t *testing.T, d *store.Dir) {
	t.Helper()
	conn, err := access.Dial(d)
	must(t, err)
	must(t, conn.Close())
}

func TestASocketOfADeadBotIsReplacedAndItsOwnGoes(t *testing.T) {
	testkit.Alone(t)
	d := storetest.Prepared(t)
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: d.Path("state/attach.sock"), Net: "unix"})
	must(t, err)
	left.SetUnlinkOnClose(false) // as after a kill
	must(t, left.Close())
	if _, err := access.Dial(d); err == nil {
		t.Error("somebody answers on the socket of a dead bot")
	}
	l, err := access.Listen(d)
	must(t, err)
	dials(t, d)
	if info, err := os.Lstat(d.Path("state/attach.sock")); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("it has the mode %v, %v", info.Mode(), err)
	}
	must(t, l.Close())
	if _, err := os.Lstat(d.Path("state/attach.sock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestAPathThatIsTooLongMovesTheSocket(t *testing.T) {
	testkit.Alone(t)
	runtime, err := os.MkdirTemp("/tmp", "r") // t.TempDir is too long
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(runtime) })
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	d := storetest.At(t, filepath.Join(t.TempDir(), strings.Repeat("long", 30)))
	must(t, d.Prepare())
	ended, err := access.Listen(d)
	must(t, err)
	must(t, ended.Close())
	if left, _ := os.ReadDir(runtime); len(left) != 0 {
		t.Errorf("what is left: %v", left)
	}
	dead := filepath.Join(runtime, fmt.Sprintf("ollim-attach-%d-0123", os.Getuid()))
	must(t, os.Mkdir(dead, 0o700))
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dead, "attach.sock"), Net: "unix"})
	must(t, err)
	left.SetUnlinkOnClose(false) // as after a kill
	must(t, left.Close())
	l, err := access.Listen(d)
	must(t, err)
	defer l.Close()
	if _, err := os.Lstat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a bot that was killed is still there: %v", err)
	}
	if !strings.HasPrefix(l.Addr().String(), runtime+"/ollim-attach-") {
		t.Errorf("it is at %s", l.Addr())
	}
	dials(t, d)
	other := storetest.At(t, filepath.Join(t.TempDir(), strings.Repeat("wide", 30)))
	must(t, other.Prepare())
	if _, err := access.Dial(other); err == nil {
		t.Error("another directory is given the same socket")
	}
}

func TestAFolderThatOthersCanEnterIsNotTrusted(t *testing.T) {
	testkit.Alone(t)
	d := storetest.Prepared(t)
	l, err := access.Listen(d)
	must(t, err)
	defer l.Close()
	must(t, os.Chmod(d.Path("state"), 0o755))
	if _, err := access.Dial(d); err == nil || !strings.Contains(err.Error(), "not a folder of ours alone") {
		t.Errorf("a client trusts it: %v", err)
	}
}

// BenchmarkListen measures the cost at startup of a socket that is never used.
func BenchmarkListen(b *testing.B) {
	d := storetest.Prepared(b)
	for b.Loop() {
		l, err := access.Listen(d)
		must(b, err)
		must(b, l.Close())
	}
}
