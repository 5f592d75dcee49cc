package attach

import (
	"crypto/subtle"
	"errors"
	"maps"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// What a connection was let in as, in its permissions: a key that was only shown and not
// proved must leave nothing behind.
const (
	permName     = "name"
	permReadOnly = "read-only"
	permKey      = "key"
)

// version is what both doors call themselves.
const version = "SSH-2.0-ollim-bot"

// socketConfig lets in who knows the token.
func (s *Server) socketConfig() *ssh.ServerConfig {
	return &ssh.ServerConfig{
		MaxAuthTries: authTries, ServerVersion: version,
		PasswordCallback: func(_ ssh.ConnMetadata, word []byte) (*ssh.Permissions, error) {
			token := s.o.Token()
			if token == "" || subtle.ConstantTimeCompare([]byte(token), word) != 1 {
				return nil, errors.New("another token")
			}
			return &ssh.Permissions{Extensions: map[string]string{permName: textLocal}}, nil
		},
	}
}

// portConfig lets in the keys of authorized_keys.
func (s *Server) portConfig() *ssh.ServerConfig {
	return &ssh.ServerConfig{
		MaxAuthTries: authTries, ServerVersion: version,
		PublicKeyAuthAlgorithms: ssh.SupportedAlgorithms().PublicKeyAuths, // none that is broken
		PublicKeyCallback: func(meta ssh.ConnMetadata, public ssh.PublicKey) (*ssh.Permissions, error) {
			mark := ssh.FingerprintSHA256(public)
			key, ok, err := s.o.Find(public)
			if err != nil || !ok {
				s.logUnknown(meta.RemoteAddr().String(), mark, err)
				return nil, errors.New("another key")
			}
			e := map[string]string{permName: strings.TrimSpace(key.Name + " " + mark[:len("SHA256:")+8]), permKey: mark}
			if key.ReadOnly {
				e[permReadOnly] = "yes"
			}
			return &ssh.Permissions{Extensions: e}, nil
		},
	}
}

// logUnknown says that somebody has shown a key that is not known, once for each address
// and hour. A client may show several.
func (s *Server) logUnknown(address, fingerprint string, err error) {
	host, _, _ := net.SplitHostPort(address)
	now := time.Now()
	s.mu.Lock()
	maps.DeleteFunc(s.unknown, func(_ string, at time.Time) bool { return now.Sub(at) >= unknownGap || len(s.unknown) > 10_000 })
	_, known := s.unknown[host]
	if !known {
		s.unknown[host] = now
	}
	s.mu.Unlock()
	switch {
	case known:
	case err != nil:
		s.o.Log.Error("a viewer was refused", "address", host, "error", err)
	default:
		s.o.Log.Warn("a viewer with an unknown key was refused", "address", host, "fingerprint", fingerprint)
	}
}
