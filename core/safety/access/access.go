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

// The files, in the data directory.
const (
	HostKeyFile = store.StateDir + "/ssh_host_ed25519_key"
	KeysFile    = "authorized_keys"
)

// maxKeys is how much of authorized_keys is read, in bytes.
const maxKeys = 256 << 10

// readOnly is the one option that a line of authorized_keys may have.
const readOnly = "read-only"

// HostKey is the key by which clients know the bot. The first call makes it; only the bot
// that holds the directory's lock calls it.
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

// Fingerprint is what a client shows of the host key, SHA256:...; empty while there is
// none, which is made when somebody first connects.
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

// Key is one that its user has let in.
type Key struct {
	Public   ssh.PublicKey
	Name     string // the comment of its line, cleaned; may be empty
	ReadOnly bool
}

// Keys reads authorized_keys. A line that is no key, or says more than is understood, lets
// nobody in and is a problem, one line each. A file that is not there holds none; one that
// others may write is an error.
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

// Find is the line of a key. Where one stands twice, the stricter line counts.
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

// What is said of files that cannot be used.
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

// folderName begins the names of the folders of all this user's sockets.
func folderName() string { return "ollim-attach-" + strconv.Itoa(os.Getuid()) + "-" }

// places are where the socket may be, the best first: in the data directory, or where
// that has too long a path in a folder named after its hash.
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

// ours refuses a folder that somebody else could have made, or can write.
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

// Listen opens the socket in the first place that takes it, and removes what a bot that
// was killed has left there: whoever calls holds the lock of the directory. Closing the
// listener removes it, and the folder that was made for it.
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

// foldered is a listener in a folder that was made for it.
type foldered struct {
	net.Listener
	folder string
}

// Close removes the socket and its folder.
func (f foldered) Close() error {
	err := f.Listener.Close()
	_ = os.Remove(f.folder) // stays while something else is in it
	return err
}

// sweep removes the folders of bots that were killed.
func sweep(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, folderName()+"*")) // tidying only
	for _, folder := range left {
		if unixsocket.Abandoned(filepath.Join(folder, filepath.Base(socketFile))) {
			_ = os.RemoveAll(folder) // another user's stays
		}
	}
}

// Dial reaches the bot of a directory. What is wrong is the error of the first place.
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
