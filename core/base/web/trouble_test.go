package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// P10
func TestTroubleIsReportedWithoutAddressesAndPorts(t *testing.T) {
	at := func(err error) error {
		here, there := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 49152}, &net.TCPAddr{IP: net.IPv4(203, 0, 113, 9), Port: 443}
		return fmt.Errorf("get it: %w", &net.OpError{Op: "read", Net: "tcp", Source: here, Addr: there, Err: err})
	}
	for want, list := range map[string][]error{
		textNoName:    {at(&net.DNSError{Err: "no such host", Name: "discord.com", Server: "10.0.0.1:53"})},
		textRefused:   {at(os.NewSyscallError("connect", syscall.ECONNREFUSED))},
		textNoNetwork: {at(syscall.ENETUNREACH), at(syscall.EHOSTUNREACH), at(syscall.ENETDOWN)},
		textReset:     {at(os.NewSyscallError("read", syscall.ECONNRESET)), at(syscall.EPIPE), at(syscall.ECONNABORTED)},
		textTimeout:   {at(os.ErrDeadlineExceeded), at(syscall.ETIMEDOUT), context.DeadlineExceeded},
		textEnded:     {io.EOF, fmt.Errorf("read: %w", io.ErrUnexpectedEOF), at(net.ErrClosed)},
		textOther:     {at(errors.New("something new"))},
		"":            {nil, errors.New("not of the network"), context.Canceled},
	} {
		for _, err := range list {
			if got := Trouble(err); got != want || strings.ContainsAny(got, "0123456789") {
				t.Errorf("%v: %q, want %q", err, got, want)
			}
		}
	}
}
