package access

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/unixsocket"
	"ollimbot/core/storage/store"
)

// Files in the data directory.
const (
	HostKeyFile = store.StateDir + "/ssh_host_ed25519_key"
	KeysFile    = "authorized_keys"
)

// maxKeys is the maximum number of bytes read of authorized_keys.
const maxKeys = 256 << 10

// readOnly is the only option that a line of authorized_keys may have.
const readOnly = "read-only"

// HostKey returns the key that identifies the bot to clients. The first call creates it; only the
// bot that holds the directory's lock may call it.
func HostKey(d *store.Dir) (ssh.Signer, error) {
	data, err := d.Read(HostKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = makeHostKey(d)
	}
	if err != nil {
		return nil, fmt.Errorf("read the host key: %w", err)
	}
	key, err := ssh.ParsePrivateKey(data)
	if err != nil {
		return nil, fmt.Errorf(textBadHostKey, HostKeyFile, err)
	}
	return key, nil
}

func makeHostKey(d *store.Dir) ([]byte, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(key, "ollim-bot")
	if err != nil {
		return nil, err
	}
	data := pem.EncodeToMemory(block)
	return data, d.Write(HostKeyFile, data)
}

// Fingerprint returns the host key's fingerprint as clients show it, SHA256:... It is empty until
// the key is created, which happens when the first client connects.
func Fingerprint(d *store.Dir) (string, error) {
	if _, err := os.Lstat(d.Path(HostKeyFile)); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	key, err := HostKey(d)
	if err != nil {
		return "", err
	}
	return ssh.FingerprintSHA256(key.PublicKey()), nil
}

// Key is an authorized client's key.
type Key struct {
	Public   ssh.PublicKey
	Name     string // the comment of its line, cleaned; may be empty
	ReadOnly bool
}

// Keys reads authorized_keys. A line that is not a key or has unknown options authorizes no client
// and is a problem, one line each. A missing file has no keys; a file that other users can write is
// an error.
func Keys(d *store.Dir) (keys []Key, problems []string, err error) {
	info, err := os.Stat(d.Path(KeysFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("read %s: %w", KeysFile, err)
	case info.Mode().Perm()&0o022 != 0:
		return nil, nil, fmt.Errorf(textOthersWrite, KeysFile, info.Mode().Perm(), d.Path(KeysFile))
	case info.Size() > maxKeys:
		return nil, nil, fmt.Errorf(textLargeKeys, KeysFile, maxKeys>>10)
	}
	data, err := d.Read(KeysFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", KeysFile, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxKeys)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		k, err := readKey(line)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s:%d: %v", KeysFile, n, err))
			continue
		}
		keys = append(keys, k)
	}
	return keys, problems, nil
}

func readKey(line []byte) (Key, error) {
	public, comment, options, _, err := ssh.ParseAuthorizedKey(line)
	if err != nil {
		return Key{}, errors.New(textNoKey)
	}
	k := Key{Public: public, Name: clean.Cut(clean.Line(comment), 40)}
	for _, o := range options {
		if !strings.EqualFold(o, readOnly) {
			return Key{}, fmt.Errorf(textOption, clean.Cut(clean.Line(o), 40), readOnly)
		}
		k.ReadOnly = true
	}
	return k, nil
}

// Find returns the entry of a key. If it is listed twice, the stricter line applies.
func Find(d *store.Dir, public ssh.PublicKey) (found Key, ok bool, err error) {
	keys, _, err := Keys(d)
	for _, k := range keys {
		if !bytes.Equal(k.Public.Marshal(), public.Marshal()) {
			continue
		}
		if !ok || k.ReadOnly {
			found = k
		}
		ok = true
	}
	return found, ok, err
}

// Errors about unusable files.
const (
	textBadHostKey  = "%s is no key: move it away, and the bot makes another; its clients will be asked whether they know it (%w)"
	textOthersWrite = "%s admits no one: others may write it (mode %#o); run chmod 600 %s"
	textLargeKeys   = "%s admits no one: it is larger than %d KiB"
	textNoKey       = "this is no public key: a line is ssh-ed25519 AAAA... name, with read-only in front where it may only look"
	textOption      = "unknown option %q, so this key is not admitted: the only option is %s"
	textNoPlace     = "no folder has a path that is short enough for a socket, and is ours alone: set XDG_RUNTIME_DIR to one"
	textNotOurs     = "%s is not a folder of ours alone: remove it"
)

const socketFile = store.StateDir + "/attach.sock"

// folderName returns the prefix of the names of this user's socket folders.
func folderName() string { return "ollim-attach-" + strconv.Itoa(os.Getuid()) + "-" }

// places returns the possible paths of the socket, the best first: in the data directory or, if
// that path is too long, in a folder named after its hash.
func places(d *store.Dir) (paths []string) {
	sum := sha256.Sum256([]byte(d.Root()))
	name := folderName() + hex.EncodeToString(sum[:6])
	paths = append(paths, d.Path(socketFile))
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if filepath.IsAbs(parent) {
			paths = append(paths, filepath.Join(parent, name, "attach.sock"))
		}
	}
	var short []string
	for _, p := range paths {
		if len(p) <= unixsocket.MaxPath {
			short = append(short, p)
		}
	}
	return short
}

// ours returns an error for a folder that another user could have created or can write.
func ours(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ok || int(s.Uid) != os.Getuid() {
		return fmt.Errorf(textNotOurs, folder)
	}
	return nil
}

// Listen opens the socket in the first usable place and removes what a killed bot left there: the
// caller holds the lock of the directory. Closing the listener removes the socket, and the folder
// that was created for it.
func Listen(d *store.Dir) (net.Listener, error) {
	var errs []error
	for _, path := range places(d) {
		l, err := listen(path)
		if err == nil {
			return l, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(append(errs, errors.New(textNoPlace))...)
}

func listen(path string) (net.Listener, error) {
	folder := filepath.Dir(path)
	inTemp := strings.HasPrefix(filepath.Base(folder), folderName())
	if inTemp {
		sweep(filepath.Dir(folder))
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := ours(folder); err != nil {
		return nil, err
	}
	l, err := unixsocket.Listen(path)
	if err != nil || !inTemp {
		return l, err
	}
	return foldered{l, folder}, nil
}

// foldered is a listener in a folder that was created for it.
type foldered struct {
	net.Listener
	folder string
}

// Close removes the socket and its folder.
func (f foldered) Close() error {
	err := f.Listener.Close()
	_ = os.Remove(f.folder) // keeps a folder that contains anything else
	return err
}

// sweep removes the folders of killed bots.
func sweep(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, folderName()+"*")) // cleanup is best effort
	for _, folder := range left {
		if unixsocket.Abandoned(filepath.Join(folder, filepath.Base(socketFile))) {
			_ = os.RemoveAll(folder) // fails for other users' folders
		}
	}
}

// Dial connects to the bot of a directory. If all places fail, it returns the first error.
func Dial(d *store.Dir) (net.Conn, error) {
	var first error
	for _, path := range places(d) {
		err := ours(filepath.Dir(path))
		if err == nil {
			var conn net.Conn
			if conn, err = net.Dial("unix", path); err == nil {
				return conn, nil
			}
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = errors.New(textNoPlace)
	}
	return nil, first
}
