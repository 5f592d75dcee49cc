package attach

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/term"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

// defaultPort is the port used if none is given.
const defaultPort = "2226"

// Place reads user@server:port; user and port may be left out.
func Place(text string) (user, address string, err error) {
	user, host, found := strings.Cut(text, "@")
	if !found {
		user, host = os.Getenv("USER"), text
	}
	port := defaultPort
	if h, p, err := net.SplitHostPort(host); err == nil {
		host, port = h, p
	}
	host = strings.Trim(host, "[]")
	if host == "" || strings.ContainsAny(host, " /") || strings.HasPrefix(host, "-") {
		return "", "", fmt.Errorf("--host takes user@server:port, not %q", text)
	}
	return user, net.JoinHostPort(host, port), nil
}

// Identity returns the user's keys: those of a file, else those of the agent and of ~/.ssh. It asks for the
// passphrase of a key on the terminal.
func Identity(file, home, agentSocket string, ask func(question string) (string, error)) (ssh.AuthMethod, error) {
	if file != "" {
		s, err := readKey(file, ask)
		return ssh.PublicKeys(s), err
	}
	var signers []ssh.Signer
	if conn, err := net.Dial("unix", agentSocket); agentSocket != "" && err == nil {
		signers, _ = agent.NewClient(conn).Signers() // an agent that is of no use has none
	}
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		path := filepath.Join(home, ".ssh", name)
		if _, err := os.Stat(path); err != nil || has(signers, path+".pub") {
			continue
		}
		if s, err := readKey(path, ask); err == nil {
			signers = append(signers, s)
		}
	}
	if len(signers) == 0 {
		return nil, errors.New(textNoKeys)
	}
	return ssh.PublicKeys(signers...), nil
}

// has reports whether the agent has the key of a public file.
func has(signers []ssh.Signer, path string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey(data)
	for _, s := range signers {
		if err == nil && string(s.PublicKey().Marshal()) == string(public.Marshal()) {
			return true
		}
	}
	return false
}

func readKey(path string, ask func(question string) (string, error)) (ssh.Signer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := ssh.ParsePrivateKey(data)
	if _, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		word, askErr := ask(fmt.Sprintf("Passphrase of %s: ", path))
		if askErr != nil {
			return nil, askErr
		}
		s, err = ssh.ParsePrivateKeyWithPassphrase(data, []byte(word))
	}
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", path, err)
	}
	return s, nil
}

// unknownKeyError is the unknown key of a bot. The user is asked about it after the connection is closed.
type unknownKeyError struct{ host, mark, file, line string }

func (e *unknownKeyError) Error() string {
	return fmt.Sprintf("the bot at %s is not known yet", e.host)
}

// settle saves the key once the user has accepted it.
func (e *unknownKeyError) settle(ask func(question string) (string, error)) error {
	word, err := ask(fmt.Sprintf(textNewKey, e.host, e.mark))
	if err != nil {
		return fmt.Errorf(textUnknownKey, e.host, e.mark, err)
	}
	if word != "yes" && word != "y" {
		return errors.New(textNotTrusted)
	}
	return keep(e.file, e.line)
}

// KnownHosts checks the key of a bot against this program's own file. Run asks about an unknown key; a key that
// differs from the saved one is rejected.
func KnownHosts(file string) ssh.HostKeyCallback {
	return func(host string, remote net.Addr, key ssh.PublicKey) error {
		known, err := knownhosts.New(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
			known = func(string, net.Addr, ssh.PublicKey) error { return &knownhosts.KeyError{} }
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		err = known(host, remote, key)
		var other *knownhosts.KeyError
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &other):
			return err
		case len(other.Want) > 0:
			return fmt.Errorf(textOtherKey, host, ssh.FingerprintSHA256(key), file, other.Want[0].Line)
		}
		return &unknownKeyError{host, ssh.FingerprintSHA256(key), file, knownhosts.Line([]string{host}, key)}
	}
}

func keep(file, line string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keep the key: %w", err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the key: %w", err)
	}
	_, err = io.WriteString(f, line+"\n")
	return errors.Join(err, f.Close())
}

// Ask asks on the terminal; a passphrase is not shown. Without a terminal it is an error.
func Ask(in *os.File, out io.Writer) func(question string) (string, error) {
	return func(question string) (string, error) {
		if !term.IsTerminal(in.Fd()) {
			return "", errors.New("there is no terminal to ask on")
		}
		if _, err := io.WriteString(out, question); err != nil {
			return "", err
		}
		if strings.HasPrefix(question, "Passphrase") {
			word, err := term.ReadPassword(in.Fd())
			_, _ = io.WriteString(out, "\n")
			return string(word), err
		}
		line, err := bufio.NewReader(io.LimitReader(in, 1<<10)).ReadString('\n')
		return strings.TrimSpace(line), err
	}
}

const (
	textNoKeys     = "there is no key to show: make one with ssh-keygen, or name one with -i"
	textNewKey     = "The bot at %s is not known yet. Its key is %s;\n`ollim-bot doctor` there says which it has. Is it the same? (yes or no) "
	textUnknownKey = "the bot at %s is not known yet, its key is %s: attach on a terminal once (%w)"
	textNotTrusted = "not attached: nothing was sent but the greeting"
	textOtherKey   = "the bot at %s shows another key than before, %s: it was recreated, or someone is intercepting the connection; " +
		"if it was, remove line %[4]d of %[3]s"
)
