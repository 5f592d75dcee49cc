package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Network errors, worded for a server.
const (
	textNoName    = "its address cannot be looked up; is this machine online?"
	textRefused   = "connection refused"
	textNoNetwork = "no route to it; is this machine online?"
	textReset     = "connection reset"
	textTimeout   = "it does not answer"
	textEnded     = "it ended the connection"
	textBadCert   = "its certificate is not valid here; is the clock right, or a proxy in between?"
	textOther     = "the network failed"
)

// Trouble describes a network error in fixed words, because the errors of package net
// contain the ports of both ends and so are never equal. It returns "" for other errors.
func Trouble(err error) string {
	var (
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		op      *net.OpError
		waiting net.Error
	)
	switch {
	case errors.As(err, &dns):
		return textNoName
	case errors.Is(err, syscall.ECONNREFUSED):
		return textRefused
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETDOWN):
		return textNoNetwork
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNABORTED), errors.Is(err, syscall.EPIPE):
		return textReset
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.As(err, &waiting) && waiting.Timeout():
		return textTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return textEnded
	case errors.As(err, &cert):
		return textBadCert
	case errors.As(err, &op):
		return textOther
	}
	return ""
}
