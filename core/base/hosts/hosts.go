// Package hosts parses lists of reachable hosts and decides what they allow. It resolves
// no names and connects to nothing.
package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// List is a list of reachable hosts. An empty one allows nothing.
type List []rule

// rule allows one host, or all names below one.
type rule struct {
	name  string     // "example.org"; empty for an address
	below bool       // the names below it, excluding itself
	addr  netip.Addr // used if there is no name
	port  uint16     // 0 means any
}

const (
	maxHosts = 200 // in a list
	maxName  = 253 // characters of a name
	maxLabel = 63  // characters between two of its dots
)

// Parse parses hosts separated by commas: example.org, *.example.org, localhost:8080,
// 192.168.1.5, [::1]:8080. The error names the entry and the cure.
func Parse(text string) (List, error) {
	parts := strings.Split(text, ",")
	if len(parts) > maxHosts {
		return nil, fmt.Errorf(errTooMany, len(parts), maxHosts)
	}
	var l List
	for _, part := range parts {
		r, err := parse(strings.ToLower(strings.TrimSpace(part)))
		if err != nil {
			return nil, err
		}
		l = append(l, r)
	}
	return l, nil
}

// parse reads one entry, in lower case.
func parse(s string) (rule, error) {
	switch {
	case s == "":
		return rule{}, errors.New(errEmpty)
	case s == "*":
		return rule{}, errors.New(errAll)
	case s == "on" || s == "off":
		return rule{}, fmt.Errorf(errWord, s)
	case strings.Contains(s, "://"), strings.ContainsAny(s, "/@?#"):
		return rule{}, fmt.Errorf(errAddress, s)
	}
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return rule{addr: addr.Unmap()}.checked(s)
	}
	if at, err := netip.ParseAddrPort(s); err == nil {
		if at.Port() == 0 {
			return rule{}, fmt.Errorf(errPort, s)
		}
		return rule{addr: at.Addr().Unmap(), port: at.Port()}.checked(s)
	}
	host, port, hasPort := strings.Cut(s, ":")
	r := rule{name: host}
	if hasPort {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return rule{}, fmt.Errorf(errPort, s)
		}
		r.port = uint16(n)
	}
	r.name, r.below = strings.CutPrefix(strings.TrimSuffix(r.name, "."), "*.")
	return r.checked(s)
}

// checked rejects a rule that could not work, or that would allow more than it seems to.
func (r rule) checked(s string) (rule, error) {
	if r.addr.IsValid() {
		switch {
		case r.addr.IsUnspecified(), r.addr.IsMulticast(), r.addr.Zone() != "":
			return rule{}, fmt.Errorf(errNoHost, s)
		case r.addr.IsLoopback() && r.port == 0:
			return rule{}, fmt.Errorf(errNeedsPort, s, portOf(s))
		}
		return r, nil
	}
	if err := checkName(r.name, s); err != nil {
		return rule{}, err
	}
	switch suffix, _ := publicsuffix.PublicSuffix(r.name); {
	case r.below && suffix == r.name:
		return rule{}, fmt.Errorf(errWide, s, r.name, "example."+r.name)
	case !strings.Contains(r.name, ".") && r.port == 0:
		return rule{}, fmt.Errorf(errNoDot, s, portOf(s))
	}
	return r, nil
}

// portOf returns an entry with a port, as an example.
func portOf(s string) string {
	if strings.Contains(s, ":") {
		s = "[" + strings.Trim(s, "[]") + "]"
	}
	return s + ":8080"
}

// checkName rejects text that is not a host name.
func checkName(name, entry string) error {
	if strings.Contains(name, "*") {
		return fmt.Errorf(errStar, entry)
	}
	last := name
	for label := range strings.SplitSeq(name, ".") {
		last = label
		for _, c := range label {
			if c > 127 {
				return fmt.Errorf(errForeign, entry)
			}
		}
		if label == "" || len(label) > maxLabel || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return fmt.Errorf(errName, entry)
		}
	}
	// Some programs read 127.1 and 0x7f000001 as addresses.
	if len(name) > maxName || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return fmt.Errorf(errName, entry)
	}
	return nil
}

// Allows reports whether a port of a host, given as a name or an address, is on the list.
func (l List) Allows(host string, port uint16) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return l.AllowsAddr(addr, port)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, r := range l {
		if r.name == "" || r.port != 0 && r.port != port {
			continue
		}
		if !r.below && host == r.name {
			return true
		}
		if label, ok := strings.CutSuffix(host, "."+r.name); r.below && ok && label != "" {
			return true
		}
	}
	return false
}

// AllowsAddr reports whether a port of an address is on the list by address.
func (l List) AllowsAddr(addr netip.Addr, port uint16) bool {
	addr = addr.Unmap()
	for _, r := range l {
		if r.addr.IsValid() && r.addr == addr && (r.port == 0 || r.port == port) {
			return true
		}
	}
	return false
}

// String formats the list for Parse.
func (l List) String() string {
	parts := make([]string, len(l))
	for i, r := range l {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

func (r rule) String() string {
	host := r.name
	switch {
	case r.addr.Is6():
		host = "[" + r.addr.String() + "]"
	case r.addr.IsValid():
		host = r.addr.String()
	case r.below:
		host = "*." + host
	}
	if r.port == 0 {
		return host
	}
	return host + ":" + strconv.Itoa(int(r.port))
}

// Errors of an entry.
const (
	errTooMany   = "%d hosts are too many: list %d at most"
	errEmpty     = "an entry is empty: write hosts separated by single commas"
	errAll       = "* is every host: for the whole network set it to on"
	errWord      = "%s must be the only entry, not part of a list of hosts"
	errAddress   = "%q is more than a host: write its name alone, without https://, a path or a user"
	errPort      = "%q: the port must be a number from 1 to 65535"
	errNoHost    = "%q is not the address of one host"
	errNeedsPort = "%q needs a port, such as %s: without one every service of this machine would be open"
	errWide      = "%q is too wide, because anybody can have a name below %s: list names, or names below one, such as *.%s"
	errNoDot     = "%q has no dot: write the full name of the host, or add a port, such as %s"
	errStar      = "%q: a * may be at the start only, as in *.example.org"
	errForeign   = "%q: write a name with other letters in its xn-- form"
	errName      = "%q is not the name of a host, such as api.example.org"
)
